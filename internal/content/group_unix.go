//go:build unix

package content

import (
	"os"
	"os/exec"
	"syscall"
)

// inGroup gives a program its own process group, so that it can be killed with the
// processes it starts.
func inGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func killGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
