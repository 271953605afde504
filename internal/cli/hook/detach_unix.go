//go:build unix

package hook

import (
	"os/exec"
	"syscall"
)

// detach keeps a process alive when its client ends.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
