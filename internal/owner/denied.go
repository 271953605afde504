package owner

import (
	"strings"

	"quarry/internal/index"
	"quarry/internal/policy"
	"quarry/internal/walk"
)

// counts lets a lens count the files that the view's policy denies.
func (e *Filter) counts(l *index.Lens, o *owned, hidden, ignored bool) {
	rules := e.root.Policy()
	// A judge without the policy shows whether the policy is the only reason.
	var open *walk.Judge
	judge := func() *walk.Judge {
		if open == nil {
			open = e.open(o, hidden, ignored)
		}
		return open
	}
	byName := rules.ByPlace()
	l.Denied = func(path string, f index.Flags) int {
		if !byName && f&index.Secret == 0 {
			return 0
		}
		n := refused(rules, path)
		switch {
		case n < len(path): // not denied, or a folder, for which Enters is called
			return n
		case ignored && (hidden || !dotted(path)):
			return n
		case ignored:
			return 0
		case e.outside != nil:
			if !judge().Lists(path) {
				return 0
			}
		case f&index.Ignored != 0 || f&index.Hidden != 0 && !hidden:
			return 0
		}
		return n
	}
	l.Enters = func(dir string) bool { return judge().Visits(dir) }
}

// open returns the judge of this view as if its policy denied nothing.
func (e *Filter) open(o *owned, hidden, ignored bool) *walk.Judge {
	e.mu.Lock()
	defer e.mu.Unlock()
	gen := o.rulesGen.Load()
	if e.openGen != gen {
		clear(e.opened)
		e.openGen = gen
	}
	key := [2]bool{hidden, ignored}
	j := e.opened[key]
	if j == nil {
		j = walk.NewOpenJudge(e.root, &walk.Options{Rules: e.rules, Hidden: hidden, NoIgnore: ignored})
		e.opened[key] = j
	}
	return j
}

// refused returns the length of the part of a path that a policy denies, by a rule or as a
// secret's name: the whole path, a folder above it, or 0 if nothing is denied.
func refused(rules *policy.Policy, path string) int {
	for start := 0; ; {
		end := strings.IndexByte(path[start:], '/')
		isDir := end >= 0
		if end += start; !isDir {
			end = len(path)
		}
		dir := "."
		if start > 0 {
			dir = path[:start-1]
		}
		switch rules.Entry(dir, path[start:end], isDir) {
		case policy.Secret, policy.Denied:
			return end
		}
		if !isDir {
			return 0
		}
		start = end + 1
	}
}

func dotted(path string) bool { return path[0] == '.' || strings.Contains(path, "/.") }
