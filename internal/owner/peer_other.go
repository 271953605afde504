//go:build unix && !linux && !darwin

package owner

import (
	"errors"
	"net"
	"os"
	"runtime"
)

// errNoPeer means that this system can't identify the process at the other end of a
// socket.
var errNoPeer = errors.New("sharing one index between processes is not possible on " + runtime.GOOS)

// samePeer always fails on this system, so processes don't share indexes.
func samePeer(net.Conn) error { return errNoPeer }

func private(dir string) error {
	_, err := os.Lstat(dir)
	return err
}
