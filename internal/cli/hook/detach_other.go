//go:build !unix

package hook

import "os/exec"

// detach does nothing: elsewhere a process outlives the one that started it.
func detach(*exec.Cmd) {}
