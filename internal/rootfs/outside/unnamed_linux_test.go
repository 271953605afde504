package outside

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPrivateWithoutNames checks folders inside a user namespace, where the owner of folders
// further up has no name.
func TestPrivateWithoutNames(t *testing.T) {
	if dir := os.Getenv("OUTSIDE_UNNAMED"); dir != "" {
		unverified, err := CheckPrivate(dir)
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		t.Logf("unverified: %s", unverified)
		return
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(err)
	inside := func(dir string) string {
		t.Helper()
		cmd := exec.Command(os.Args[0], "-test.run=^TestPrivateWithoutNames$", "-test.v")
		cmd.Env = append(os.Environ(), "OUTSIDE_UNNAMED="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Pdeathsig:   syscall.SIGKILL,
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 1000, HostID: os.Getgid(), Size: 1}},
		}
		out, err := cmd.CombinedOutput()
		if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
			t.Skipf("no user namespaces here: %v", err)
		}
		for line := range strings.Lines(string(out)) {
			if _, said, ok := strings.Cut(line, "_test.go:"); ok {
				return said
			}
		}
		t.Fatalf("%v\n%s", err, out)
		return ""
	}
	tried := 0
	for _, c := range []struct {
		name  string
		above os.FileMode // of the folder above the state folder's parent
		owner int         // its owner; 0 is this user
		depth int         // its depth; 2 is the lowest that may belong to other users
		want  string
	}{
		{"a folder of nobody known", 0o755, 4711, 2, "unverified: "},
		{"a sticky one", 0o777 | os.ModeSticky, 4711, 2, "unverified: "},
		{"its group may write", 0o775, 4711, 2, "other users may write"},
		{"anyone may write", 0o777, 4711, 2, "other users may write"},
		{"the parent", 0o755, 4711, 1, "no name in this user namespace"},
		{"the folder itself", 0o755, 4711, 0, "no name in this user namespace"},
		{"ours, and its group may write", 0o775, 0, 2, "unverified: "}, // as / is, for anybody but root
	} {
		if c.owner != 0 && os.Getuid() != 0 {
			continue // only root can give a folder away
		}
		dir := filepath.Join(top, strings.ReplaceAll(c.name, " ", "-"))
		must(os.MkdirAll(dir+"/two/one/own", 0o755))
		at := []string{dir + "/two/one/own", dir + "/two/one", dir + "/two"}[c.depth]
		if c.owner != 0 {
			must(os.Chown(at, c.owner, c.owner))
		}
		must(os.Chmod(at, c.above))
		if got := inside(dir + "/two/one/own"); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		} else if c.owner != 0 && c.want == "unverified: " && strings.TrimSpace(got[strings.Index(got, c.want)+len(c.want):]) != at {
			t.Errorf("%s: %q, want %s", c.name, got, at)
		}
		tried++
	}
	t.Logf("%d folders judged", tried)
}
