package ignore

import (
	"slices"
	"sort"
	"strings"
)

// Decision is the result of the rules for a path.
type Decision struct {
	Ignored bool
	Rule    Rule // the rule that decided; zero if none matched
}

// Rule names a line of an ignore file.
type Rule struct {
	Kind    Kind
	Source  string // as given to Parse; "" if no rule matched
	Line    int    // counted from 1
	Pattern string // as written
}

// Frame contains the rules that apply in one folder: its own and those of the folders above.
// If a folder has rule files, a walk makes its Frame from the parent's with Push; otherwise
// it uses the parent's. The nil Frame ignores nothing.
type Frame struct {
	chains [kinds]*link // deepest folder first
	used   uint16       // a bit for each kind that has a chain
	inRepo bool         // at or below the top of a git repository
}

// InRepo reports whether the folder is in a git repository whose top was pushed.
func (f *Frame) InRepo() bool { return f != nil && f.inRepo }

// A link is one rule file in a chain.
type link struct {
	rules *Rules
	up    *link
	cut   int    // length of the path of the rules' folder, including the slash
	above string // for a folder above the root: the path to prepend
}

// Set is the rules of one file, with their kind and place.
type Set struct {
	Kind  Kind
	Rules *Rules
	// Above is set for rules from a folder above the root. It is the path from that folder to
	// the root, such as "sub/project". These sets must precede those of the root, the topmost
	// first. Rules of info/exclude and the global file belong to the top of the repository.
	Above string
}

// Push returns the frame of the folder dir, "" for the root, which contains the sets. If repo
// is set, dir is the top of a git repository, in which .gitignore and info/exclude files from
// above don't apply.
func (f *Frame) Push(dir string, repo bool, sets ...Set) *Frame {
	if len(sets) == 0 && !repo {
		return f
	}
	g := &Frame{}
	if f != nil {
		*g = *f
	}
	cut := 0
	if dir != "" {
		cut = len(dir) + 1
	}
	if repo {
		g.inRepo = true
		for _, k := range [...]Kind{Git, Exclude} {
			if g.chains[k] = g.chains[k].own(cut); g.chains[k] == nil {
				g.used &^= 1 << k
			}
		}
	}
	for _, s := range sets {
		if s.Kind >= kinds || s.Rules == nil || s.Rules.Len() == 0 {
			continue
		}
		l := &link{rules: s.Rules, up: g.chains[s.Kind], cut: cut}
		if s.Above != "" {
			l.above = s.Above + "/"
		}
		g.chains[s.Kind] = l
		g.used |= 1 << s.Kind
	}
	return g
}

// own returns the part of a chain that belongs to the folder itself. Each folder in a chain
// is inside the next one, so the length cut identifies it.
func (l *link) own(cut int) *link {
	if l == nil || l.cut != cut || l.above != "" {
		return nil
	}
	return &link{rules: l.rules, up: l.up.own(cut), cut: cut}
}

// Answer is a Decision without its reasons.
type Answer uint8

const (
	NoRule Answer = iota // no rule matches
	Ignore
	Keep // a negated rule matches
)

// Answer decides about the entry at path, whose last part is name, without allocating. path is
// relative to the root. The entry must be in the frame's folder, or in a folder below it
// that has no rules of its own and is not ignored.
func (f *Frame) Answer(path, name string, isDir bool) Answer {
	if f == nil || f.used == 0 {
		return NoRule
	}
	l, i, _ := f.find(path, name, isDir)
	switch {
	case l == nil:
		return NoRule
	case l.rules.list[i].negated:
		return Keep
	}
	return Ignore
}

// Decide is like Answer, but also returns the rule that decided.
func (f *Frame) Decide(path string, isDir bool) Decision {
	if f == nil {
		return Decision{}
	}
	l, i, k := f.find(path, path[strings.LastIndexByte(path, '/')+1:], isDir)
	if l == nil {
		return Decision{}
	}
	u := &l.rules.list[i]
	return Decision{!u.negated, Rule{k, l.rules.source, int(u.line), u.text}}
}

func (f *Frame) find(path, name string, isDir bool) (*link, int32, Kind) {
	for k := kinds; k > 0; {
		k--
		if f.used&(1<<k) == 0 {
			continue
		}
		for l := f.chains[k]; l != nil; l = l.up {
			below := ""
			if l.rules.anchored {
				if below = path[l.cut:]; l.above != "" {
					below = l.above + below
				}
			}
			if i := l.rules.match(below, name, isDir); i >= 0 {
				return l, i, k
			}
		}
	}
	return nil, 0, 0
}

// Folder contains the rules of one folder, for a Matcher.
type Folder struct {
	Dir  string // relative to the root, "" for the root itself
	Repo bool   // the folder is the top of a git repository
	Sets []Set
}

// Matcher decides about any path. It checks the folders above the path first.
type Matcher struct {
	frames map[string]*Frame // frames of the folders that have rules
}

// NewMatcher combines the rules of all folders that have any.
func NewMatcher(folders []Folder) *Matcher {
	folders = slices.Clone(folders)
	sort.SliceStable(folders, func(i, j int) bool { return folders[i].Dir < folders[j].Dir })
	m := &Matcher{frames: make(map[string]*Frame, len(folders))}
	for _, d := range folders {
		up, ok := m.frames[d.Dir]
		if !ok {
			up = m.above(d.Dir)
		}
		m.frames[d.Dir] = up.Push(d.Dir, d.Repo, d.Sets...)
	}
	return m
}

// above returns the frame of the nearest folder above dir that has one.
func (m *Matcher) above(dir string) *Frame {
	for dir != "" {
		dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)]
		if f, ok := m.frames[dir]; ok {
			return f
		}
	}
	return nil
}

// Match decides about path. In an ignored folder, the rule that ignores the topmost ignored
// folder decides, and rule files in the folder don't apply.
func (m *Matcher) Match(path string, isDir bool) Decision {
	f := m.frames[""]
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		if d := f.Decide(path[:i], true); d.Ignored {
			return d
		}
		if own, ok := m.frames[path[:i]]; ok {
			f = own
		}
	}
	return f.Decide(path, isDir)
}
