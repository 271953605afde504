package walk

import (
	"strings"
	"sync"

	"quarry/internal/ignore"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
)

// Judge reports for single paths whether a walk would enter a folder or list a file. It applies the
// same rules, read from the same files. It caches them, so a caller that changes a rule file, or
// learns of a change, must call Forget. A Judge is safe for concurrent use.
type Judge struct {
	mu     sync.Mutex
	w      worker
	frames map[string]*ignore.Frame // by folder, "" for the root
	enters map[string]bool          // by folder, whether a walk reaches it
}

// NewJudge returns a Judge for walks of the whole root with the given options. It ignores Filter,
// Start and MaxDepth.
func NewJudge(root *rootfs.Root, opts *Options) *Judge {
	w := newWalker(root, opts, nil)
	w.opts.Start, w.opts.Filter, w.opts.MaxDepth, w.below = rootfs.Path{}, nil, 0, 0
	return &Judge{w: worker{walker: w}, frames: map[string]*ignore.Frame{}, enters: map[string]bool{}}
}

// NewOpenJudge returns a Judge for walks without the root's policy, so that no entry is denied. It
// still doesn't read rule files that the policy denies.
func NewOpenJudge(root *rootfs.Root, opts *Options) *Judge {
	j := NewJudge(root, opts)
	j.w.policy = nil
	return j
}

// Enters reports whether a walk that visits dir also enters its subfolder name.
func (j *Judge) Enters(dir rootfs.Path, name string) bool {
	if name == "" || j.w.policy.Entry(dir.String(), name, true) != policy.Allowed {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.shows(plainPath(dir), name, true)
}

// Lists reports whether a walk would list the file path, assuming that it exists.
func (j *Judge) Lists(path string) bool {
	dir, name := split(path)
	j.mu.Lock()
	defer j.mu.Unlock()
	return name != "" && j.reaches(dir) && j.allowed(dir, name, false) && j.shows(dir, name, false)
}

// Visits reports whether a walk would enter the folder dir, assuming that it exists.
func (j *Judge) Visits(dir string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.reaches(dir)
}

func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// reaches reports whether a walk enters the folder dir, "" for the root. The caller must hold j.mu.
func (j *Judge) reaches(dir string) bool {
	if dir == "" {
		return true
	}
	in, known := j.enters[dir]
	if !known {
		above, name := split(dir)
		in = j.reaches(above) && j.allowed(above, name, true) && j.shows(above, name, true)
		j.enters[dir] = in
	}
	return in
}

func (j *Judge) allowed(dir, name string, isDir bool) bool {
	if j.w.policy == nil {
		return true
	}
	var p rootfs.Path
	if dir != "" && j.w.policy.ByPlace() {
		var err error
		if p, err = j.w.root.Known(dir); err != nil {
			return false
		}
	}
	return j.w.policy.Entry(p.String(), name, isDir) == policy.Allowed
}

// shows reports whether the rules allow the entry name of the folder dir. The caller must hold
// j.mu.
func (j *Judge) shows(dir, name string, isDir bool) bool {
	answer := ignore.NoRule
	if !j.w.opts.NoIgnore {
		answer = j.frame(dir).Answer(join(dir, name), name, isDir)
	}
	if answer == ignore.Ignore {
		return false
	}
	return name[0] != '.' || j.w.opts.Hidden || answer == ignore.Keep && !j.w.opts.StrictHidden
}

// Learn reads the rules of a folder whose listing is known. If the listing contains no rule files,
// this saves the Judge five system calls.
func (j *Judge) Learn(dir *rootfs.Dir, entries []rootfs.Entry) {
	shown := plainPath(dir.Path())
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, known := j.frames[shown]; !known && shown != "" {
		above, _ := split(shown)
		j.frames[shown] = j.w.pushRules(j.frame(above), dir, shown, entries)
	}
}

// Forget discards the cached rules, so that the rule files are read again.
func (j *Judge) Forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	clear(j.frames)
	clear(j.enters)
}

// frame returns the rules that apply in a folder. The caller must hold j.mu.
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
