package quarry

import (
	"strings"

	"quarry/internal/ignore"
	"quarry/internal/rootfs"
	"quarry/internal/zoekt"
)

// remoteScope decides about paths on servers as a walk of the same files would:
// by policy, ignore files, hidden names, globs and depth. The names of the
// repositories themselves are never ignored or hidden.
type remoteScope struct {
	f      *filter
	policy *rootfs.Policy
	start  string // the searched folder; "" is the top
	below  int    // bytes of a path that lie above what globs see

	// Of the repository asked about last; its folders come one after the other.
	repo   string
	facts  *repoFacts
	frames map[string]*ignore.Frame
	dirs   map[string]verdict
}

type verdict struct {
	why  Reason // "" is to go on
	path rootfs.Path
}

func newRemoteScope(f *filter, policy *rootfs.Policy, start string) *remoteScope {
	s := &remoteScope{f: f, policy: policy, start: start}
	if start != "" {
		s.below = len(start) + 1
	}
	return s
}

// enter begins with a repository.
func (s *remoteScope) enter(repo string, facts *repoFacts) {
	s.repo, s.facts = repo, facts
	s.frames = map[string]*ignore.Frame{}
	s.dirs = map[string]verdict{}
}

// file says why a file is left out, "" if it isn't.
func (s *remoteScope) file(rel string) Reason {
	full := s.repo + "/" + rel
	slash := strings.LastIndexByte(full, '/')
	dir := s.dir(full[:slash])
	if dir.why != "" {
		return dir.why
	}
	name := full[slash+1:]
	if why := s.entry(dir.path, full, name, false); why != "" {
		return why
	}
	if !s.narrowed(full, name) {
		return Filtered
	}
	return ""
}

// narrowed applies globs, types and depth to a file whose folders were entered.
func (s *remoteScope) narrowed(full, name string) bool {
	shown := full[s.below:]
	o := &s.f.opts
	return (o.MaxDepth <= 0 || strings.Count(shown, "/") < o.MaxDepth) &&
		(o.Filter == nil || o.Filter.MatchFile(shown)) && (s.f.types == nil || s.f.types.MatchFile(name))
}

// dir decides whether a folder is entered, after those above it.
func (s *remoteScope) dir(full string) verdict {
	if v, known := s.dirs[full]; known {
		return v
	}
	v := s.judgeDir(full)
	s.dirs[full] = v
	return v
}

func (s *remoteScope) judgeDir(full string) (v verdict) {
	slash := strings.LastIndexByte(full, '/')
	if slash >= 0 {
		if v = s.dir(full[:slash]); v.why != "" {
			return v
		}
	}
	up, name := v.path, full[slash+1:]
	p, err := up.Child(name)
	if err != nil {
		return verdict{why: Unreadable}
	}
	v.path = p
	// What was named is searched, and so is what leads there.
	if full == s.start || strings.HasPrefix(s.start, full+"/") {
		return v
	}
	if len(full) > len(s.repo) {
		if v.why = s.entry(up, full, name, true); v.why != "" {
			return v
		}
	}
	if o := &s.f.opts; o.Filter != nil && len(full) > s.below && !o.Filter.Descend(full[s.below:]) {
		v.why = Filtered
	}
	return v
}

// entry applies the rules that hold for every entry of a folder.
func (s *remoteScope) entry(dir rootfs.Path, full, name string, isDir bool) Reason {
	if v := s.policy.Entry(dir, name, isDir); v != rootfs.Allowed {
		return Protected
	}
	answer := ignore.NoRule
	if !s.f.opts.NoIgnore {
		answer = s.frame(full[:len(full)-len(name)-1]).Answer(full, name, isDir)
	}
	switch {
	case answer == ignore.Ignore:
		return Ignored
	case name[0] == '.' && !s.f.opts.Hidden && (answer != ignore.Keep || s.f.opts.StrictHidden):
		return Hidden
	}
	return ""
}

// frame is the rules in force in a folder.
func (s *remoteScope) frame(full string) *ignore.Frame {
	if f, known := s.frames[full]; known {
		return f
	}
	var f *ignore.Frame
	if len(full) <= len(s.repo) {
		f = f.Push("", false, s.f.opts.Rules...)
		f = f.Push(s.repo, true, s.facts.rules[""]...)
	} else {
		f = s.frame(full[:strings.LastIndexByte(full, '/')])
		f = f.Push(full, false, s.facts.rules[full[len(s.repo)+1:]]...)
	}
	s.frames[full] = f
	return f
}

// pathQuery is what a server can tell of a scope by the path in the repository:
// a condition that every file of the scope fulfils.
func pathQuery(q *Scope) zoekt.Query {
	return zoekt.And(globsQuery(q.Types, Gitignore), globsQuery(q.Globs, q.Dialect))
}

// globsQuery is a condition on paths that whatever passes the globs fulfils, or
// none where that isn't plain. A glob is anchored at the searched folder, which
// may lie above the repository, so only what it ends in counts.
func globsQuery(globs []string, dialect Dialect) zoekt.Query {
	var any []zoekt.Query
	for _, g := range globs {
		if strings.HasPrefix(g, "!") {
			if dialect == Minimatch {
				return zoekt.Query{} // it turns the glob round
			}
			continue // an exclusion lets less pass
		}
		re, ok := globEnd(g)
		if !ok {
			return zoekt.Query{}
		}
		any = append(any, zoekt.PathMatch(re, dialect == Vault))
	}
	if len(any) == 0 {
		return zoekt.Query{}
	}
	return zoekt.Or(any...)
}

// globEnd is an expression for the last part of a glob: *.go says that a name,
// of the file or of a folder above it, ends in .go.
func globEnd(g string) (string, bool) {
	g = strings.TrimSuffix(g, "/")
	last := g[strings.LastIndexByte(g, '/')+1:]
	if last == "" || strings.ContainsAny(last, `\[]{}()!@+|`) || strings.Contains(g, "{") && strings.Contains(g, "/") {
		return "", false
	}
	var b strings.Builder
	b.WriteString("(^|/)")
	for _, r := range last {
		switch r {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		default:
			b.WriteString(zoekt.QuoteRE(string(r)))
		}
	}
	return b.String() + "(/|$)", true
}
