package owner

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"quarry/internal/ignore"
	"quarry/internal/index"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
	"quarry/internal/walk"
)

// View is a process's view of a root: the paths that its policy denies, and the ignore
// rules from outside the root. Since all views of a root share one index, a request
// contains the client's view, and the owner answers according to it.
type View struct {
	Trusted     bool // no policy
	Allow, Deny []string
	Rules       []ignore.File
}

// Key returns a string that differs between views.
func (v *View) Key() string {
	// Each string and list is preceded by its length, so different views give different
	// keys.
	b := []byte{0}
	if v.Trusted {
		b[0] = 1
	}
	for _, list := range [][]string{v.Allow, v.Deny} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, text := range list {
			b = appendText(b, text)
		}
	}
	for _, r := range v.Rules {
		b = appendText(b, r.Name)
		b = appendText(b, r.Above)
		b = appendText(b, string(r.Data))
	}
	sum := sha256.Sum256(b)
	return string(sum[:])
}

// Filter decides which indexed files a View shows. It is safe for concurrent use.
type Filter struct {
	root    *rootfs.Root // with the view's policy
	rules   []ignore.Set
	key     string
	outside *ignore.Frame // the rules from outside the root
	rescues bool          // one of these rules may include files that rules in the tree exclude

	mu     sync.Mutex
	judges map[bool]*walk.Judge // by whether hidden files are included
	gen    uint64               // the value of rulesGen when judges were made
	// opened has judges without the policy, by whether hidden and ignored files are
	// included. openGen is the value of rulesGen when they were made.
	opened  map[[2]bool]*walk.Judge
	openGen uint64
}

// NewFilter makes the filter of a view with its rules. root has the view's policy.
func NewFilter(v *View, root *rootfs.Root, rules []ignore.Set) *Filter {
	e := &Filter{root: root, rules: rules, key: v.Key(), judges: map[bool]*walk.Judge{}, opened: map[[2]bool]*walk.Judge{}}
	for _, set := range rules {
		if set.Rules != nil && set.Rules.Len() > 0 {
			e.outside = e.outside.Push("", false, set)
			e.rescues = e.rescues || set.Kind >= ignore.Dot && set.Rules.Negates()
		}
	}
	return e
}

// judge returns a judge for this view with the present rules.
func (e *Filter) judge(hidden bool, gen uint64) *walk.Judge {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gen != gen {
		clear(e.judges)
		e.gen = gen
	}
	j := e.judges[hidden]
	if j == nil {
		j = walk.NewJudge(e.root, &walk.Options{Rules: e.rules, Hidden: hidden})
		e.judges[hidden] = j
	}
	return j
}

// Filtered is the index of a Member, reduced to the files that a View shows.
type Filtered struct {
	*Member
	filter *Filter
}

// FilteredBy returns the index reduced by a filter.
func (m *Member) FilteredBy(e *Filter) Filtered { return Filtered{m, e} }

// Lens returns the lens for a search in this view, including hidden and ignored files if
// requested. It returns nil without an index.
func (s Filtered) Lens(hidden, ignored bool) *index.Lens {
	e := s.filter
	o := s.source()
	if o == nil {
		return nil
	}
	rules := e.root.Policy()
	l := &index.Lens{Key: e.key}
	if hidden {
		l.Key += "hidden"
	}
	byName := rules.ByPlace()
	denied := func(path string, f index.Flags) bool {
		if rules == nil || !byName && f&index.Secret == 0 {
			return false
		}
		p, err := e.root.Known(path)
		return err != nil || rules.Path(p.String(), false) != policy.Allowed
	}
	if rules != nil {
		e.counts(l, o, hidden, ignored)
	}
	if ignored { // then no rules apply, including those that show dot files
		l.Key += "ignored"
		l.Sees = func(path string, f index.Flags) bool {
			return (hidden || !dotted(path)) && !denied(path, f)
		}
		return l
	}
	var judge *walk.Judge
	var touched func(path string) bool
	if e.outside != nil {
		l.Version = o.rulesGen.Load()
		judge = e.judge(hidden, l.Version)
		touched = e.toucher()
	}
	l.Sees = func(path string, f index.Flags) bool {
		if denied(path, f) {
			return false
		}
		if touched != nil && touched(path) {
			return judge.Lists(path)
		}
		return f&index.Ignored == 0 && (hidden || f&index.Hidden == 0)
	}
	return l
}

// toucher returns a function that reports whether an ignore rule from outside the root
// matches a path or one of its parent folders. If none does, only the rules in the tree
// apply, which the index has applied. The function must be called with sorted paths, from
// one goroutine.
func (e *Filter) toucher() func(path string) bool {
	dirs := map[string]bool{"": false}
	var folder func(dir string) bool
	folder = func(dir string) bool {
		hit, known := dirs[dir]
		if !known {
			up := strings.LastIndexByte(dir, '/')
			hit = folder(dir[:max(up, 0)]) || e.outside.Answer(dir, dir[up+1:], true) != ignore.NoRule
			dirs[strings.Clone(dir)] = hit
		}
		return hit
	}
	return func(path string) bool {
		slash := strings.LastIndexByte(path, '/')
		return folder(path[:max(slash, 0)]) || e.outside.Answer(path, path[slash+1:], false) != ignore.NoRule
	}
}

// Covers reports whether the index has every file that a search of dir shows. It doesn't
// if dir is ignored: such a folder is not indexed, but is searched if the query names it.
// The rules above dir are read from disk, because without events the watcher's may be
// outdated. If ignored is set, Covers reports whether the index has ignored files.
func (s Filtered) Covers(snap *index.Snapshot, dir rootfs.Path, ignored bool) bool {
	e := s.filter
	if ignored || e.rescues {
		if !snap.Ignored() || ignored {
			return snap.Ignored()
		}
	}
	if e.root.Policy() == nil && s.showsProtected() {
		return false
	}
	if dir.IsRoot() {
		return true
	}
	judge := walk.NewJudge(e.root, &walk.Options{Rules: e.rules, Hidden: true})
	for ; !dir.IsRoot(); dir = dir.Dir() {
		if !judge.Enters(dir.Dir(), dir.Base()) {
			return false
		}
	}
	return true
}

// showsProtected reports whether a view without a policy shows a folder that is never
// indexed, such as .git, because a negated rule such as !*/ includes it.
func (s Filtered) showsProtected() bool {
	e := s.filter
	o := s.source()
	if o == nil {
		return true
	}
	closed, all := o.closed()
	judge := e.judge(false, o.rulesGen.Load())
	return !all || slices.ContainsFunc(closed, func(dir string) bool {
		if !judge.Visits(dir) {
			return false
		}
		p, err := e.root.Known(dir)
		if err != nil {
			return false
		}
		info, err := e.root.Stat(p)
		return err == nil && info.Type == rootfs.TypeDir
	})
}
