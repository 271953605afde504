package cli

import (
	"os/exec"
	"strings"
	"testing"

	"quarry/internal/stress"
)

// The doctor reports that a root is on an overlay, and which changes can't be noticed there.
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

// On an overlay, the first answer that relies on file events names in its receipt the changes that
// can't be noticed. Later answers do not repeat it, and on other file systems no answer has it.
func TestReceiptNamesOverlay(t *testing.T) {
	if _, err := exec.LookPath("unshare"); err != nil {
		t.Skip("needs unshare (util-linux)")
	}
	const sentence = "the workspace is on an overlay: a file that is written beneath the mount may not be seen"
	for root, want := range map[string]int{"merged": 1, "low": 0} {
		t.Run(root, func(t *testing.T) {
			dir := t.TempDir()
			cmd := program(t, dir, "mcp", "--root", root)
			inside := []string{"unshare", "-rm", "sh", "-c", `mkdir low up work merged && echo needle > low/a.txt &&
mount -t overlay overlay -o userxattr,lowerdir=low,upperdir=up,workdir=work merged || { echo no overlay; exit 0; }
exec "$@"`, "sh", cmd.Path}
			unshare, err := exec.LookPath("unshare")
			if err != nil {
				t.Fatal(err)
			}
			cmd.Path, cmd.Args = unshare, append(inside, cmd.Args[1:]...)
			l := leave(t, cmd)
			l.send(helloLine)
			answer := func() string {
				t.Helper()
				line, err := l.out.ReadString('\n')
				if strings.Contains(line, "no overlay") || err != nil && line == "" {
					t.Skip("no overlay can be mounted here")
				}
				return line
			}
			answer()
			id := 0
			ask := func(name, args string) string {
				id++
				l.call(id, name, args)
				return answer()
			}
			if !stress.Becomes(func() bool { return strings.Contains(ask("get_index_status", "{}"), `"event`) }) {
				t.Fatalf("no index that rests on events: %s", ask("get_index_status", "{}"))
			}
			first, second := ask("search_files", `{"regex":"needle"}`), ask("search_files", `{"regex":"needle"}`)
			for _, text := range []string{first, second} {
				if !strings.Contains(text, "a.txt") {
					t.Fatalf("nothing found: %s", text)
				}
			}
			if strings.Count(first, sentence) != want || strings.Contains(second, sentence) {
				t.Errorf("first answer %s, second answer %s", first, second)
			}
		})
	}
}
