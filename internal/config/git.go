// Package config reads the environment and the configuration files outside the workspace:
// git's, and Quarry's quarry.toml. No other package reads them.
//
// It only returns values and makes no decisions about the workspace.
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

// Env returns the value of an environment variable. Outside tests it is os.Getenv.
type Env func(string) string

// GlobalExcludes returns the contents of the user's global git excludes, or nil if there
// are none. They are in the file named by core.excludesFile or in git/ignore in the
// user's configuration folder.
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
	// As in git, later files take precedence, and GIT_CONFIG_GLOBAL replaces both.
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

// excludesFile returns the value of core.excludesFile in a git configuration.
func excludesFile(text []byte) (value string, ok bool) {
	for key, v := range gitdir.Settings(text) {
		if key == "core.excludesfile" {
			value, ok = v, true
		}
	}
	return value, ok
}

// ExpandHome replaces ~/ at the start of a path by the home folder, like a shell.
func ExpandHome(name string, env Env) string { return expandHome(name, homeDir(env)) }

func expandHome(name, home string) string {
	if len(name) > 1 && name[0] == '~' && os.IsPathSeparator(name[1]) {
		return filepath.Join(home, name[2:])
	}
	return name
}

// RulesAbove reads the rule files in the folders above root, topmost first. As in
// ripgrep, .gitignore files apply only within root's repository, and the others in all
// folders above. If root is a worktree of a repository in another place, that
// repository's exclude file comes last, with an empty Above.
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

// excludes reads info/exclude of the repository whose top folder is dir. As in git, a
// worktree uses the file of its repository.
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

// isWorktree reports whether .git in a folder is a file.
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

// readSmall reads a regular file of at most maxFile bytes. It returns nil on error.
func readSmall(name string) []byte {
	data, _, err := outside.Read(name, maxFile)
	if err != nil {
		return nil
	}
	return data
}

// rootMarkers are names that make their folder a workspace.
var rootMarkers = []string{".git", ".obsidian", "go.mod", "package.json", "pyproject.toml", "Cargo.toml"}

// IsRoot reports whether dir has a root marker. As in git since CVE-2022-24765, markers
// that belong to another user don't count, for example in /tmp.
func IsRoot(dir string) bool {
	for _, m := range rootMarkers {
		if info, err := os.Lstat(filepath.Join(dir, m)); err == nil && outside.Ours(info) {
			return true
		}
	}
	return false
}

// FindRoot returns the workspace of dir: the nearest folder with a marker, at or above
// dir, or dir itself if there is none.
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
