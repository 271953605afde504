package rootfs

import (
	"os"
	"os/exec"
	"testing"
)

// A temporary file is left over as soon as its maker has ended, or another process has
// its number.
func TestMakerGone(t *testing.T) {
	if makerGone(self()) {
		t.Error("this process is said to be gone")
	}
	other := self()
	other.start++
	if !makerGone(other) {
		t.Error("the process that had our number before is said to live")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	other = self()
	other.pid = cmd.Process.Pid
	if !makerGone(other) {
		t.Error("a process that ended is said to live")
	}
	other.space = "deadbeef"
	if makerGone(other) {
		t.Error("a process of another machine can't be known to be gone")
	}
}
