package env

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"quarry"
	"quarry/internal/config"
)

// Personal returns the options for a person's own commands: every file of the folder may be
// searched, and the ignore rules of git and ripgrep apply.
func Personal(root string, workers int) *quarry.Options {
	opts := &quarry.Options{Trusted: true, AllowAny: true, Workers: workers}
	config.Follow(root, os.Getenv, opts)
	return opts
}

// IndexPlace returns where the index of a folder is, for this program.
func IndexPlace(root string) (*quarry.IndexOptions, error) {
	place, err := config.IndexPlace(root, os.Getenv)
	if err == nil {
		place.Frugal, place.Version, place.Program = true, Version(), ThisProgram()
	}
	return place, err
}

// Asking lets a short-lived command query the index of the process that owns it.
func Asking(root string, opts *quarry.Options) {
	if place, err := IndexPlace(root); err == nil {
		place.Ask = true
		opts.Index = place
	}
}

// stamped is the version, set by release builds: -ldflags "-X
// quarry/internal/cli/env.stamped=v1.2.3".
var stamped string

// Version returns the stamped version, else the version that the Go tool recorded in the binary,
// else "devel".
func Version() string {
	if stamped != "" {
		return stamped
	}
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// ThisProgram returns the path of the running program, or "".
func ThisProgram() string {
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	return name
}

// RefuseHuge prevents indexing the top of the file system or the home folder by accident.
func RefuseHuge(root string, force bool) error {
	if force {
		return nil
	}
	home, _ := os.UserHomeDir()
	if filepath.Dir(root) == root || root == home {
		return fmt.Errorf("%s is very large to index: name a folder in it with --root, or add --force", root)
	}
	return nil
}
