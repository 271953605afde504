//go:build linux || darwin

package owner

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// samePeer returns an error if the process at the other end belongs to another user.
func samePeer(conn net.Conn) error {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return err
	}
	var uid uint32
	var credErr error
	if err := raw.Control(func(fd uintptr) { uid, credErr = peerUser(int(fd)) }); err != nil {
		return err
	}
	if credErr != nil {
		return credErr
	}
	if int(uid) != os.Getuid() {
		return fmt.Errorf("the other end belongs to user %d", uid)
	}
	return nil
}

// private returns an error if other users can enter a folder.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(st.Uid) != os.Getuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s: not a folder of our own with mode 0700", dir)
	}
	return nil
}
