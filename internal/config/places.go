package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"quarry/internal/rootfs/outside"
)

// ErrNoHome is returned if no home folder is known.
var ErrNoHome = outside.ErrNoHome

// CacheDir is where indexes live: what can always be made again.
func CacheDir(env Env) (string, error) { return outside.Folder(env, "XDG_CACHE_HOME", ".cache") }

// StateDir is where journals live: what must not be lost.
func StateDir(env Env) (string, error) { return outside.StateDir(env) }

// DataDir is the user's data folder, where the desktop keeps its trash.
func DataDir(env Env) (string, error) {
	dir, err := outside.Folder(env, "XDG_DATA_HOME", ".local/share")
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
		places = append(places, filepath.Dir(name), name)
	}
	for _, dir := range []func(Env) (string, error){StateDir, CacheDir, RuntimeDir} {
		if name, err := dir(env); err == nil {
			places = append(places, name)
		}
	}
	return places
}

// RootID is the name a workspace has in these folders.
func RootID(realDir string, more ...string) string { return outside.RootID(realDir, more...) }

// ExistingDir is the nearest folder at or above dir that exists.
func ExistingDir(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
