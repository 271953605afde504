package hook

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// parentOf returns the parent of a process; 0 if unknown.
func parentOf(pid int) int {
	all, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return 0
	}
	defer windows.CloseHandle(all)
	var p windows.ProcessEntry32
	p.Size = uint32(unsafe.Sizeof(p))
	for err = windows.Process32First(all, &p); err == nil; err = windows.Process32Next(all, &p) {
		if int(p.ProcessID) == pid {
			return int(p.ParentProcessID)
		}
	}
	return 0
}
