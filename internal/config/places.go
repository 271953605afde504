package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"quarry"
	"quarry/internal/rootfs/outside"
)

// ErrNoHome means that the home folder is unknown.
var ErrNoHome = outside.ErrNoHome

// CacheDir returns the folder of indexes, which can be rebuilt.
func CacheDir(env Env) (string, error) { return outside.Folder(env, "XDG_CACHE_HOME", ".cache") }

// StateDir returns the folder of journals, which must not be lost.
func StateDir(env Env) (string, error) { return outside.StateDir(env) }

// DataDir returns the user's data folder, where the desktop keeps its trash.
func DataDir(env Env) (string, error) {
	dir, err := outside.Folder(env, "XDG_DATA_HOME", ".local/share")
	return strings.TrimSuffix(dir, string(filepath.Separator)+"quarry"), err
}

// TrashHome returns the folder that contains the user's trash, or "" if it is unknown.
func TrashHome(env Env) string {
	switch runtime.GOOS {
	case "darwin":
		return env("HOME")
	case "windows":
		return "" // every volume has its own recycle bin
	}
	dir, err := DataDir(env)
	if err != nil {
		return ""
	}
	return dir
}

// RuntimeDir returns the folder of sockets. It prefers the system's folder for sockets,
// because a socket's path must be short.
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

// IndexPlace returns where the index of a folder is. All processes share one index, whatever files
// they may see.
func IndexPlace(root string, env Env) (*quarry.IndexOptions, error) {
	cache, err := CacheDir(env)
	if err != nil {
		return nil, err
	}
	runtime, err := RuntimeDir(env)
	if err != nil {
		return nil, err
	}
	id, home := RootID(root), filepath.Join(cache, "index")
	return &quarry.IndexOptions{Home: home, Dir: filepath.Join(home, id), Socket: filepath.Join(runtime, id+".sock")}, nil
}

// MakeIndexDir makes the folder of the index. Its error tells how to choose another folder.
func MakeIndexDir(place *quarry.IndexOptions) error {
	if err := os.MkdirAll(place.Dir, 0o700); err != nil {
		return fmt.Errorf("%w\n  indexes are kept there: make it writable, or set XDG_CACHE_HOME to a folder of yours", err)
	}
	if _, err := outside.CheckPrivate(place.Dir); err != nil {
		return fmt.Errorf("%w\n  indexes are kept there, and others could tamper with them: set XDG_CACHE_HOME to a folder of yours", err)
	}
	return nil
}

// Own returns Quarry's own files and folders: configuration, state, indexes and sockets.
// Tools never access them.
func Own(env Env) []string {
	var places []string
	// Include the default location even if QUARRY_CONFIG is set: the next process may not
	// have the variable.
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

// RootID returns the name of a workspace's subfolder in these folders.
func RootID(realDir string, more ...string) string { return outside.RootID(realDir, more...) }

// ExistingDir returns the nearest existing folder at or above dir.
func ExistingDir(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
