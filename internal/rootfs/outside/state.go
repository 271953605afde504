package outside

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// ErrNoHome is returned if no home folder is known.
var ErrNoHome = errors.New("no home folder is known: set HOME, or XDG_STATE_HOME and XDG_CACHE_HOME")

// StateDir returns the folder for journals: data that must not be lost.
func StateDir(env func(string) string) (string, error) {
	return Folder(env, "XDG_STATE_HOME", ".local/state")
}

// JournalDir makes the folder for the undo log of a root, whose real path is given. It is
// private to the user, since it holds old contents of files.
func JournalDir(env func(string) string, realRoot string) (string, error) {
	base, err := StateDir(env)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, RootID(realRoot), "journal")
	return dir, os.MkdirAll(dir, 0o700)
}

// Folder returns the folder of Quarry below the path in an environment variable or, if that is
// not set, below fallback in the home folder.
func Folder(env func(string) string, name, fallback string) (string, error) {
	if dir := env(name); filepath.IsAbs(dir) {
		return filepath.Join(dir, "quarry"), nil
	}
	if runtime.GOOS == "windows" {
		if dir := env("LOCALAPPDATA"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "quarry", strings.TrimPrefix(filepath.Base(fallback), ".")), nil
		}
	}
	home := env("HOME")
	if home == "" {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return "", ErrNoHome
		}
	}
	if !filepath.IsAbs(home) {
		return "", ErrNoHome
	}
	return filepath.Join(home, filepath.FromSlash(fallback), "quarry"), nil
}

// RootID returns the name of a workspace in these folders: the last name of its path, for
// users, and a hash of the whole path and of more.
func RootID(realDir string, more ...string) string {
	h := sha256.New()
	h.Write([]byte(realDir))
	for _, m := range more {
		h.Write([]byte{0})
		h.Write([]byte(m))
	}
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, filepath.Base(realDir))
	name = strings.TrimLeft(name[:min(len(name), 24)], ".")
	return name + "-" + hex.EncodeToString(h.Sum(nil)[:8])
}
