package rootfs

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"sync"

	"golang.org/x/sys/windows"
)

// self identifies this process by its number, its start time and the machine's name.
// Boots need not be distinguished: start times include the date.
var self = sync.OnceValue(func() owner {
	o := owner{boot: noBoot, space: machine(), pid: os.Getpid()}
	o.start, _ = beganAt(windows.CurrentProcess())
	return o
})

// machine identifies the computer, since several may use a network share.
func machine() string {
	name, err := os.Hostname()
	if err != nil {
		return noSpace
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:4])
}

func beganAt(process windows.Handle) (uint64, error) {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(process, &created, &exited, &kernel, &user); err != nil {
		return 0, err
	}
	return uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime), nil
}

// makerGone reports whether the process that made a temporary file has ended.
func makerGone(o owner) bool {
	if o.space != machine() || o.space == noSpace || o.start == 0 {
		return false
	}
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(o.pid))
	if err == windows.ERROR_INVALID_PARAMETER {
		return true // there is no such process
	}
	if err != nil {
		return false
	}
	defer windows.CloseHandle(process)
	began, err := beganAt(process)
	if err != nil {
		return false
	}
	if began != o.start {
		return true // another process has it now
	}
	state, err := windows.WaitForSingleObject(process, 0) // another program's handle keeps an ended process
	return err == nil && state == windows.WAIT_OBJECT_0
}
