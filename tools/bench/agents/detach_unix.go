//go:build !windows

package main

import (
	"os/exec"
	"syscall"
)

// detach lets a process outlive the command that started it, even if that command's
// process group is killed.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
