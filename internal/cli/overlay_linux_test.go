package cli

import (
	"os/exec"
	"strings"
	"testing"
)

// doctor says that a root is an overlay, and what is not seen there.
func TestDoctorKnowsOverlays(t *testing.T) {
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("needs unshare (util-linux)")
	}
	dir := t.TempDir()
	self := program(t, dir, "doctor", "--root", "merged")
	cmd := exec.Command("unshare", "-rm", "sh", "-c", `mkdir low up work merged && echo a > low/a.txt &&
mount -t overlay overlay -o userxattr,lowerdir=low,upperdir=up,workdir=work merged || { echo no overlay; exit 0; }
"$@"; "$1" doctor --root low`, "sh")
	cmd.Args, cmd.Dir, cmd.Env = append(cmd.Args, self.Args...), dir, self.Env
	cmd.Args[5] = self.Path
	out, _ := cmd.CombinedOutput() // doctor may have other findings
	if strings.Contains(string(out), "no overlay") || strings.Contains(string(out), "unshare:") {
		t.Skipf("no overlay can be mounted here: %s", out)
	}
	said := strings.Join(strings.Fields(string(out)), " ") // doctor wraps lines
	if n := strings.Count(said, "is on an overlay"); n != 1 || !strings.Contains(said, "Writes through the mount are seen") {
		t.Errorf("%d of 2 folders are called an overlay: %s", n, out)
	}
}
