package repos

import (
	"strings"

	"quarry/internal/glob"
	"quarry/internal/ignore"
	"quarry/internal/policy"
	"quarry/internal/remote"
	"quarry/internal/rootfs"
	"quarry/internal/walk"
	"quarry/match"
)

// Want says which files are wanted.
type Want struct {
	// Walk says what a walk of the same files would leave out: its switches for
	// hidden and ignored files, Rules, Filter and MaxDepth count.
	Walk walk.Options
	// Types narrows by a file's name; nil is all.
	Types *glob.Filter
	// Globs, in their Dialect, are those of Filter, and TypeGlobs those of
	// Types. They are sent to the servers, which then return fewer files.
	Globs     []string
	Dialect   glob.Dialect
	TypeGlobs []string
	// Need is what a file must contain; the zero Need is nothing.
	Need match.Need
}

// Everything is a want without conditions on single paths: globs, types and
// depth. These don't apply to the folders that contain files.
func (w Want) Everything() Want {
	w.Walk.Filter, w.Walk.MaxDepth, w.Types, w.Globs, w.TypeGlobs = nil, 0, nil, nil, nil
	return w
}

// Narrow reports whether servers can tell by their indexes which files could
// have what is needed. If not, they return all files.
func (w *Want) Narrow() bool { return !needQuery(w.Need).Trivial() }

// query is the part of a want that a server can check: a condition that every
// wanted file meets.
func (w *Want) query() remote.Query {
	return remote.And(globsQuery(w.TypeGlobs, glob.Gitignore), globsQuery(w.Globs, w.Dialect), needQuery(w.Need))
}

// Judge decides about paths on servers as a walk of the same files would: by
// policy, ignore files, hidden names, globs and depth. The names of the
// repositories themselves are never ignored or hidden.
type Judge struct {
	// Top is the number of bytes of a path that globs don't see.
	Top int

	want   *Want
	policy *policy.Policy
	at     *Place // what is searched

	// For the repository that was asked about last, because its folders come in
	// a row.
	repo   string
	facts  facts
	frames map[string]*ignore.Frame
	dirs   map[string]verdict
}

type verdict struct {
	out  bool
	why  walk.Reason // if it is left out
	path rootfs.Path
}

// Judge is for the files below a place.
func (q *Question) Judge(at *Place, want *Want) *Judge {
	j := &Judge{want: want, policy: q.tree.policy, at: at}
	if at.Path != "" {
		j.Top = len(at.Path) + 1
	}
	return j
}

// enter begins with a repository.
func (j *Judge) enter(repo string, f facts) {
	j.repo, j.facts = repo, f
	j.frames = map[string]*ignore.Frame{}
	j.dirs = map[string]verdict{}
}

// file says whether a file is left out, and why.
func (j *Judge) file(rel string) (why walk.Reason, out bool) {
	full := j.repo + "/" + rel
	slash := strings.LastIndexByte(full, '/')
	dir := j.dir(full[:slash])
	if dir.out {
		return dir.why, true
	}
	name := full[slash+1:]
	if why, out := j.entry(dir.path, full, name, false); out {
		return why, true
	}
	return walk.Filtered, !j.narrowed(full, name)
}

// narrowed applies globs, types and depth to a file whose folders were entered.
func (j *Judge) narrowed(full, name string) bool {
	shown, o := full[j.Top:], &j.want.Walk
	return (o.MaxDepth <= 0 || strings.Count(shown, "/") < o.MaxDepth) &&
		(o.Filter == nil || o.Filter.MatchFile(shown)) && (j.want.Types == nil || j.want.Types.MatchFile(name))
}

// Passes applies globs and types to a file of a checkout; its folders were not
// asked about yet.
func (j *Judge) Passes(full, name string) bool {
	f := j.want.Walk.Filter
	return (f == nil || f.Match(full[j.Top:])) && (j.want.Types == nil || j.want.Types.MatchFile(name))
}

// dir decides whether a folder is entered, after those above it.
func (j *Judge) dir(full string) verdict {
	if v, known := j.dirs[full]; known {
		return v
	}
	v := j.judgeDir(full)
	j.dirs[full] = v
	return v
}

func (j *Judge) judgeDir(full string) (v verdict) {
	slash := strings.LastIndexByte(full, '/')
	if slash >= 0 {
		if v = j.dir(full[:slash]); v.out {
			return v
		}
	}
	up, name := v.path, full[slash+1:]
	p, err := up.Child(name)
	if err != nil {
		return verdict{out: true, why: walk.Unreadable}
	}
	v.path = p
	// A path that was named is searched, and so are the folders above it.
	if full == j.at.Path || strings.HasPrefix(j.at.Path, full+"/") {
		return v
	}
	if len(full) > len(j.repo) {
		if v.why, v.out = j.entry(up, full, name, true); v.out {
			return v
		}
	}
	if f := j.want.Walk.Filter; f != nil && len(full) > j.Top && !f.Descend(full[j.Top:]) {
		v.why, v.out = walk.Filtered, true
	}
	return v
}

// entry applies the rules that hold for every entry of a folder.
func (j *Judge) entry(dir rootfs.Path, full, name string, isDir bool) (why walk.Reason, out bool) {
	if v := j.policy.Entry(dir.String(), name, isDir); v != policy.Allowed {
		return walk.Protected, true
	}
	o := &j.want.Walk
	answer := ignore.NoRule
	if !o.NoIgnore {
		answer = j.frame(full[:len(full)-len(name)-1]).Answer(full, name, isDir)
	}
	if answer == ignore.Ignore {
		return walk.Ignored, true
	}
	return walk.Hidden, name[0] == '.' && !o.Hidden && (answer != ignore.Keep || o.StrictHidden)
}

// frame is the rules in force in a folder.
func (j *Judge) frame(full string) *ignore.Frame {
	if f, known := j.frames[full]; known {
		return f
	}
	var f *ignore.Frame
	if len(full) <= len(j.repo) {
		f = f.Push("", false, j.want.Walk.Rules...)
		f = f.Push(j.repo, true, j.facts.rules[""]...)
	} else {
		f = j.frame(full[:strings.LastIndexByte(full, '/')])
		f = f.Push(full, false, j.facts.rules[full[len(j.repo)+1:]]...)
	}
	j.frames[full] = f
	return f
}
