package config

import (
	"os"
	"sync"
	"time"

	"quarry"
)

// Outside watches the ignore rules outside a root: the user's global file, those in
// folders above, and those of a worktree's repository. It is safe for concurrent use.
type Outside struct {
	root string
	env  Env

	mu   sync.Mutex
	seen consulted
}

// consulted records the files that were looked up, including missing ones.
type consulted struct{ files map[string]fileStamp }

// fileStamp changes whenever a file changes. It is zero if the file doesn't exist.
type fileStamp struct {
	size  int64
	mtime time.Time
	mode  os.FileMode
}

func stampOf(info os.FileInfo) fileStamp {
	return fileStamp{info.Size(), info.ModTime(), info.Mode()}
}

func (c *consulted) stat(name string) (os.FileInfo, error) {
	info, err := os.Lstat(name)
	if c.files != nil {
		c.files[name] = fileStamp{}
		if err == nil && !info.IsDir() {
			c.files[name] = stampOf(info)
		} else if err == nil { // changes inside a folder don't matter
			c.files[name] = fileStamp{mode: info.Mode()}
		}
	}
	return info, err
}

func (c *consulted) read(name string) []byte {
	if c.files != nil {
		c.files[name] = fileStamp{}
		if info, err := os.Stat(name); err == nil {
			c.files[name] = stampOf(info)
		}
	}
	return readSmall(name)
}

// changed reports whether any of the files has changed. It makes one system call for
// each.
func (c *consulted) changed() bool {
	for name, was := range c.files {
		now := fileStamp{}
		info, err := os.Lstat(name)
		if err == nil && info.Mode()&os.ModeSymlink != 0 {
			info, err = os.Stat(name)
		}
		switch {
		case err != nil:
		case info.IsDir():
			now.mode = info.Mode()
		default:
			now = stampOf(info)
		}
		if now != was {
			return true
		}
	}
	return false
}

// FollowOutside returns an Outside for a root. The first call of Rules returns all rules.
func FollowOutside(root string, env Env) *Outside { return &Outside{root: root, env: env} }

// Follow makes a workspace follow the rules outside its root.
func Follow(root string, env Env, opts *quarry.Options) {
	opts.Outside = FollowOutside(root, env).Rules
	opts.GlobalIgnore, opts.IgnoreAbove, _ = opts.Outside()
}

// Rules returns the rules, with changed set, if they have changed since the last call.
func (o *Outside) Rules() (global []byte, above []quarry.IgnoreFile, changed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen.files != nil && !o.seen.changed() {
		return nil, nil, false
	}
	o.seen.files = map[string]fileStamp{}
	global, above = o.seen.globalExcludes(o.env), o.seen.rulesAbove(o.root)
	return global, above, true
}
