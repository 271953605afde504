package config

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
var ErrNoHome = errors.New("no home folder is known: set HOME, or the XDG folders")

// CacheDir is where indexes live: what can always be made again.
func CacheDir(env Env) (string, error) { return xdg(env, "XDG_CACHE_HOME", ".cache") }

// StateDir is where journals live: what must not be lost.
func StateDir(env Env) (string, error) { return xdg(env, "XDG_STATE_HOME", ".local/state") }

// DataDir is the user's data folder, where the desktop keeps its trash.
func DataDir(env Env) (string, error) {
	dir, err := xdg(env, "XDG_DATA_HOME", ".local/share")
	return strings.TrimSuffix(dir, string(filepath.Separator)+"quarry"), err
}

// TrashHome is the folder that holds the user's own trash; "" when it is not
// known.
func TrashHome(env Env) string {
	switch runtime.GOOS {
	case "darwin":
		return env("HOME")
	case "windows":
		return "" // every volume has a recycle bin of its own
	}
	dir, err := DataDir(env)
	if err != nil {
		return ""
	}
	return dir
}

// RuntimeDir is where sockets live. A socket's path has to be short, so this is
// the system's folder for sockets if there is one.
func RuntimeDir(env Env) (string, error) {
	if dir := env("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return filepath.Join(dir, "quarry"), nil
		}
	}
	cache, err := CacheDir(env)
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "run"), nil
}

func xdg(env Env, name, fallback string) (string, error) {
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

// Own are the files and folders of Quarry itself: configuration, state, indexes and
// sockets. No tool touches them, wherever they lie.
func Own(env Env) []string {
	var places []string
	// The usual place too if QUARRY_CONFIG names another: the next start may be without.
	usual := func(name string) string {
		if name == "QUARRY_CONFIG" {
			return ""
		}
		return env(name)
	}
	if name, given, err := FilePath(env); err == nil && given {
		places = append(places, name)
	}
	if name, _, err := FilePath(usual); err == nil {
		places = append(places, filepath.Dir(name))
	}
	for _, dir := range []func(Env) (string, error){StateDir, CacheDir, RuntimeDir} {
		if name, err := dir(env); err == nil {
			places = append(places, name)
		}
	}
	return places
}

// RootID is the name a workspace has in these folders: the last name of its
// path, for people, and a hash of the whole path and of more.
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

// ExistingDir is the nearest folder at or above dir that exists.
func ExistingDir(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
