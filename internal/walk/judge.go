package walk

import (
	"strings"
	"sync"

	"quarry/internal/ignore"
	"quarry/internal/rootfs"
)

// Judge tells, one folder at a time, which folders a walk would enter. It
// decides by the same rules, read from the same files; it remembers them until
// Forget is called, so whoever changes a rule file, or hears of a change, does.
// It is safe for concurrent use.
type Judge struct {
	mu     sync.Mutex
	w      worker
	frames map[string]*ignore.Frame // by folder, "" for the root
}

// NewJudge returns a Judge for walks of the whole root with these options;
// Filter, Start and MaxDepth don't count.
func NewJudge(root *rootfs.Root, opts *Options) *Judge {
	w := newWalker(root, opts, nil)
	w.opts.Start, w.opts.Filter, w.opts.MaxDepth, w.below = rootfs.Path{}, nil, 0, 0
	return &Judge{w: worker{walker: w}, frames: map[string]*ignore.Frame{}}
}

// Enters reports whether a walk that has entered dir enters the folder called
// name in it.
func (j *Judge) Enters(dir rootfs.Path, name string) bool {
	if name == "" || j.w.policy.Entry(dir, name, true) != rootfs.Allowed {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	shown := plainPath(dir)
	answer := ignore.NoRule
	if !j.w.opts.NoIgnore {
		answer = j.frame(shown).Answer(join(shown, name), name, true)
	}
	if answer == ignore.Ignore {
		return false
	}
	return name[0] != '.' || j.w.opts.Hidden || answer == ignore.Keep && !j.w.opts.StrictHidden
}

// Forget makes the Judge read the rule files again.
func (j *Judge) Forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	clear(j.frames)
}

// frame gives the rules in force in a folder. j.mu is held.
func (j *Judge) frame(shown string) *ignore.Frame {
	if f, ok := j.frames[shown]; ok {
		return f
	}
	var f *ignore.Frame
	if shown == "" {
		f = f.Push("", false, j.w.opts.Rules...)
	} else {
		f = j.frame(shown[:max(strings.LastIndexByte(shown, '/'), 0)])
	}
	if dir, err := j.w.openAbove(shown); err == nil {
		f = j.w.pushNamed(f, dir, shown)
		dir.Close()
	}
	j.frames[shown] = f
	return f
}
