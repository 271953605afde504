package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"quarry/internal/config"
	"quarry/internal/rootfs/outside"
)

// ReadSettings reads a settings file. A missing file counts as empty.
func ReadSettings(file string) ([]byte, error) {
	const most = 64 << 20
	data, info, err := outside.Read(file, most)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil && info != nil && (!info.Mode().IsRegular() || info.Size() > most):
		return nil, fmt.Errorf("%s is not a settings file", file)
	}
	return data, err
}

// WriteSettings makes a backup and replaces a file atomically. It refuses if the file has
// changed since it was read. If the file is a symlink, as is common for dotfiles, its
// target is replaced.
func WriteSettings(file string, old, text []byte, now time.Time) (backup string, err error) {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		if mode = info.Mode().Perm(); mode&0o222 == 0 {
			return "", fmt.Errorf("%s is read-only, so nothing was changed", file)
		}
		if backup, err = writeBackup(file+".backup-"+now.Format("20060102-150405"), old, mode); err != nil {
			return "", fmt.Errorf("no backup, so nothing was changed: %w", err)
		}
	}
	temp := fmt.Sprintf("%s.quarry-%d", file, os.Getpid())
	if err := config.WriteNew(temp, text, mode); err != nil {
		return backup, err
	}
	if current, err := ReadSettings(file); err != nil || !bytes.Equal(current, old) {
		return backup, errors.Join(errors.New("the file was changed meanwhile: try again"), err, os.Remove(temp))
	}
	if err := os.Rename(temp, file); err != nil {
		return backup, errors.Join(err, os.Remove(temp))
	}
	return backup, nil
}

// writeBackup writes a backup. If the same second already has one, it appends a number.
func writeBackup(name string, data []byte, mode fs.FileMode) (string, error) {
	for n, at := 2, name; ; n++ {
		err := config.WriteNew(at, data, mode)
		if n > 100 || !errors.Is(err, fs.ErrExist) {
			return at, err
		}
		at = fmt.Sprintf("%s-%d", name, n)
	}
}
