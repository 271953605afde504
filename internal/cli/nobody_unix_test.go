//go:build unix

package cli

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// asNobody makes a command run as an unprivileged user.
func asNobody(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534, NoSetGroups: true}}
}

// -t x lists the files that the current user may execute; what other users may do doesn't count.
func TestExecutableByUser(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may execute what anyone may")
	}
	t.Chdir(t.TempDir())
	for name, mode := range map[string]os.FileMode{"mine": 0o700, "others": 0o601} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{"fd", "find"} {
		if got := runQuarry("", command, "-t", "x"); got.out != "mine\n" || got.code != exitFound {
			t.Errorf("quarry %s -t x: %q, %s", command, got.out, got.err)
		}
	}
}
