//go:build !linux && !darwin

package rootfs

import "errors"

func mkfifo(string) error   { return errors.ErrUnsupported }
func mkdevice(string) error { return errors.ErrUnsupported }
