package owner

import (
	"strings"

	"quarry/internal/index"
	"quarry/internal/policy"
	"quarry/internal/walk"
)

// counts makes a lens count the files that the view's policy denies.
func (e *Filter) counts(l *index.Lens, o *owned, hidden, ignored bool) {
	rules := e.root.Policy()
	// If a judge without the policy accepts a file, the policy is the only reason to hide
	// it.
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
		case n < len(path): // not denied; or a parent folder is, for which Enters is called
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

// open returns a judge for this view without its policy.
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

// refused returns the length of the prefix of path that a policy denies, by a rule or as
// the name of a secret: the whole path or a parent folder. It is 0 if nothing is denied.
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
