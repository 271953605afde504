//go:build !windows

package main

import (
	"os/exec"
	"syscall"
)

// detach lets a process outlive the command that started it, and what ends that
// command's process group.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
