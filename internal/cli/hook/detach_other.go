//go:build !unix

package hook

import "os/exec"

// detach does nothing: on these systems a process outlives its parent.
func detach(*exec.Cmd) {}
