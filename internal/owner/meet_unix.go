//go:build unix

package owner

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"time"
)

// listenAt listens on a socket, whose folder must be private to this user. It replaces a
// socket left by a dead owner.
func listenAt(socket string) (net.Listener, error) {
	dir := filepath.Dir(socket)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := private(dir); err != nil {
		return nil, err
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
}

// dialAt connects to the owner at a socket.
func dialAt(socket string, timeout time.Duration) (net.Conn, error) {
	return net.DialTimeout("unix", socket, timeout)
}
