// Package config is the only reader of the environment and of configuration
// files outside the workspace: git's and our own, quarry.toml.
//
// It returns values; it decides nothing about the workspace.
package config

import (
	"os"
	"path/filepath"

	"quarry"
	"quarry/internal/gitdir"
	"quarry/internal/ignore"
	"quarry/internal/rootfs/outside"
)

// maxFile limits how much of a configuration file is read.
const maxFile = 4 << 20

// Env looks up variables; os.Getenv outside tests.
type Env func(string) string

// GlobalExcludes returns the user's global git excludes, nil if there are none: the file named
// by core.excludesFile, or else git/ignore in the user's configuration folder.
func GlobalExcludes(env Env) []byte { return (&consulted{}).globalExcludes(env) }

func (c *consulted) globalExcludes(env Env) []byte {
	home := env("HOME")
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	xdg := env("XDG_CONFIG_HOME")
	if xdg == "" && home != "" {
		xdg = filepath.Join(home, ".config")
	}
	name := ""
	if xdg != "" {
		name = filepath.Join(xdg, "git", "ignore")
	}
	// Later files win, as in git. GIT_CONFIG_GLOBAL replaces both.
	files := []string{filepath.Join(xdg, "git", "config"), filepath.Join(home, ".gitconfig")}
	if named := env("GIT_CONFIG_GLOBAL"); named != "" {
		files = []string{named}
	}
	for _, conf := range files {
		if v, ok := excludesFile(c.read(conf)); ok {
			name = expandHome(v, home)
		}
	}
	if name == "" || !filepath.IsAbs(name) {
		return nil
	}
	return c.read(name)
}

// excludesFile finds core.excludesFile in the text of a git configuration.
func excludesFile(text []byte) (value string, ok bool) {
	for key, v := range gitdir.Settings(text) {
		if key == "core.excludesfile" {
			value, ok = v, true
		}
	}
	return value, ok
}

// ExpandHome replaces ~/ at the start of a path, like a shell.
func ExpandHome(name string, env Env) string { return expandHome(name, homeDir(env)) }

func expandHome(name, home string) string {
	if len(name) > 1 && name[0] == '~' && os.IsPathSeparator(name[1]) {
		return filepath.Join(home, name[2:])
	}
	return name
}

// RulesAbove reads the rule files in the folders above root, topmost first. .gitignore counts
// only up to the top of root's repository; the others count all the way, as in ripgrep. If
// root is a worktree of a repository elsewhere, that repository's exclude file comes last,
// with an empty Above.
func RulesAbove(root string) []quarry.IgnoreFile { return (&consulted{}).rulesAbove(root) }

func (c *consulted) rulesAbove(root string) []quarry.IgnoreFile {
	var found []quarry.IgnoreFile
	inRepo := !c.isRepo(root) && c.repoAbove(root)
	above := ""
	for dir := root; ; {
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		above = joinSlash(filepath.Base(dir), above)
		dir = parent
		var here []quarry.IgnoreFile
		top := c.isRepo(dir)
		for _, name := range ignore.FileNames {
			if kind, _ := ignore.FileKind(name); kind == ignore.Git && !inRepo {
				continue
			}
			if data := c.read(filepath.Join(dir, name)); len(data) > 0 {
				here = append(here, quarry.IgnoreFile{Name: name, Above: above, Data: data})
			}
		}
		if inRepo && top {
			if data := c.excludes(dir); len(data) > 0 {
				here = append(here, quarry.IgnoreFile{Name: "info/exclude", Above: above, Data: data})
			}
			inRepo = false
		}
		found = append(here, found...)
	}
	if c.isWorktree(root) {
		if data := c.excludes(root); len(data) > 0 {
			found = append(found, quarry.IgnoreFile{Name: "info/exclude", Data: data})
		}
	}
	return found
}

// excludes reads the info/exclude of the repository whose top is dir. A worktree uses its
// repository's, as in git; gitdir knows its possible locations.
func (c *consulted) excludes(dir string) []byte {
	top, err := gitdir.View(dir)
	if err != nil {
		return nil
	}
	defer top.Close()
	git, err := gitdir.Open(top)
	if err != nil {
		return nil
	}
	defer git.Close()
	c.stat(filepath.Join(git.Own.RealDir(), "commondir"))
	c.stat(filepath.Join(git.Common.RealDir(), "info", "exclude"))
	data, err := gitdir.Read(git.Common, "info/exclude")
	if err != nil {
		return nil
	}
	return data
}

// isWorktree reports whether the .git of a folder is a file.
func (c *consulted) isWorktree(dir string) bool {
	info, err := c.stat(filepath.Join(dir, ".git"))
	return err == nil && info.Mode().IsRegular()
}

func joinSlash(a, b string) string {
	if b == "" {
		return a
	}
	return a + "/" + b
}

func (c *consulted) isRepo(dir string) bool {
	_, err := c.stat(filepath.Join(dir, ".git"))
	return err == nil
}

func (c *consulted) repoAbove(dir string) bool {
	for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		if c.isRepo(parent) {
			return true
		}
	}
	return false
}

// readSmall reads a regular file of limited size, or nothing.
func readSmall(name string) []byte {
	data, _, err := outside.Read(name, maxFile)
	if err != nil {
		return nil
	}
	return data
}

// rootMarkers make a folder a workspace.
var rootMarkers = []string{".git", ".obsidian", "go.mod", "package.json", "pyproject.toml", "Cargo.toml"}

// IsRoot reports whether dir has its own marker. A marker created by another user, as in
// /tmp, does not count: git takes the same care since CVE-2022-24765.
func IsRoot(dir string) bool {
	for _, m := range rootMarkers {
		if info, err := os.Lstat(filepath.Join(dir, m)); err == nil && outside.Ours(info) {
			return true
		}
	}
	return false
}

// FindRoot returns the workspace of dir: the nearest folder at or above it with a marker,
// else dir itself.
func FindRoot(dir string) string {
	for d := dir; ; {
		if IsRoot(d) {
			return d
		}
		parent := filepath.Dir(d)
		if parent == d {
			return dir
		}
		d = parent
	}
}
