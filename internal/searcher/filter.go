package searcher

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"quarry/internal/glob"
	"quarry/internal/ignore"
	"quarry/internal/rootfs"
	"quarry/internal/walk"
	"quarry/search"
)

// filter is a compiled Scope, ready for a walk.
type filter struct {
	opts    walk.Options
	types   *glob.Filter
	changes *changes // nil if unchanged files count too
}

// omits reports whether a walk omits a file because of Scope.Types or Scope.Changed.
func (f *filter) omits(folder, name string) bool {
	return f.types != nil && !f.types.MatchFile(name) || f.unchanged(folder, name)
}

// close releases the repositories that files were compared with.
func (f *filter) close() {
	if f.changes != nil {
		f.changes.close()
	}
}

// unchanged reports whether a file is omitted because it is unchanged.
func (f *filter) unchanged(folder, name string) bool {
	return f.changes != nil && !f.changes.has(joinPath(folder, name))
}

// start resolves a path of a scope to a folder to walk, or to a file.
func (d *Folder) start(path string) (p rootfs.Path, isFile bool, err error) {
	path = cmp.Or(path, ".")
	if p, err = d.Root.ResolveFold(path); err != nil {
		return p, false, err
	}
	info, err := d.Root.Stat(p)
	if err != nil {
		return p, false, err
	}
	return p, info.Type != rootfs.TypeDir, nil
}

// filter compiles the globs and ignore rules of a scope. ctx is the context of the
// search, used to compare files with their repositories. The caller must close the
// filter.
func (d *Folder) filter(ctx context.Context, s *search.Scope) (*filter, error) {
	f, err := newFilter(s, d.outlook().rules, d.Workers)
	if err != nil {
		return f, err
	}
	f.changes, err = newChanges(ctx, d, s)
	return f, err
}

// newFilter compiles a scope, except for Scope.Changed.
func newFilter(s *search.Scope, rules []ignore.Set, workers int) (*filter, error) {
	f := &filter{opts: walk.Options{
		Hidden:       s.IncludeHidden,
		StrictHidden: s.StrictHidden,
		NoIgnore:     s.IncludeIgnored,
		Rules:        rules,
		MaxDepth:     s.MaxDepth,
		Workers:      workers,

		FollowLinks: s.FollowLinks, OneFileSystem: s.OneFileSystem,
		RequireGit: s.Without.NoGit, Fd: s.Without.Fd,
		NoVCS: s.Without.VCS, NoDot: s.Without.Dot, NoExclude: s.Without.Exclude, NoParents: s.Without.Parent,
	}}
	if s.Without != (search.RuleFiles{}) {
		f.opts.Rules = slices.DeleteFunc(slices.Clone(rules), func(r ignore.Set) bool { return leavesUnread(&s.Without, r.Kind) })
	}
	if s.Without.NoGit && !s.Without.VCS {
		f.opts.GitRules = slices.DeleteFunc(slices.Clone(rules), func(r ignore.Set) bool { return r.Kind != ignore.Global || s.Without.Global })
	}
	if s.IncludeIgnored && len(s.Lowest) > 0 {
		// Only the rules given by the caller apply.
		f.opts.NoIgnore, f.opts.Rules = false, nil
		f.opts.NoVCS, f.opts.NoDot, f.opts.NoExclude, f.opts.NoParents = true, true, true, true
	}
	if len(s.Lowest) > 0 {
		named := ignore.Set{Kind: ignore.Named, Rules: ignore.Parse("query", []byte(strings.Join(s.Lowest, "\n")))}
		f.opts.Rules = append(f.opts.Rules[:len(f.opts.Rules):len(f.opts.Rules)], named)
	}
	for _, pattern := range s.Extra {
		f.opts.Rules = append(f.opts.Rules[:len(f.opts.Rules):len(f.opts.Rules)],
			ignore.Set{Kind: ignore.Extra, Rules: ignore.Parse("query", []byte(pattern))})
	}
	f.opts.Denied = func(shown, name string) bool { return !f.omits(shown, name) }
	var err error
	if len(s.Globs)+len(s.FoldedGlobs) > 0 {
		if f.opts.Filter, err = compileGlobs(s); err != nil {
			return nil, err
		}
	}
	if len(s.Types) > 0 {
		if f.types, err = glob.CompileFilter(glob.Gitignore, s.Types...); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// compileGlobs combines the include and exclude globs of a scope in one filter.
func compileGlobs(s *search.Scope) (*glob.Filter, error) {
	var b glob.Builder
	for _, kind := range []struct {
		globs   []string
		dialect glob.Dialect
	}{{s.Globs, GlobDialect(s.Dialect)}, {s.FoldedGlobs, glob.GitignoreFold}} {
		for _, pattern := range kind.globs {
			if filepath.Separator == '\\' && kind.dialect != glob.Minimatch {
				pattern = strings.ReplaceAll(pattern, `\`, "/") // as rg -g does on Windows
			}
			if err := b.Add(pattern, kind.dialect); err != nil {
				return nil, err
			}
		}
	}
	return b.Filter(), nil
}

// leavesUnread reports whether a query turns off the ignore rules of kind k that come from
// outside the root: global rules, and rules of folders above the root.
func leavesUnread(w *search.RuleFiles, k ignore.Kind) bool {
	switch k {
	case ignore.Global:
		return w.Global || w.VCS || w.NoGit
	case ignore.Exclude:
		return w.Exclude || w.VCS || w.Parent || w.NoGit
	case ignore.Git:
		return w.VCS || w.Parent || w.NoGit
	case ignore.Named, ignore.Extra: // rules of the caller
		return false
	}
	return w.Dot || w.Parent // .ignore and similar files
}

// GlobDialect converts a dialect of package search to one of package glob.
func GlobDialect(d search.Dialect) glob.Dialect {
	switch d {
	case search.Plain:
		return glob.Plain
	case search.Minimatch:
		return glob.Minimatch
	}
	return glob.Gitignore
}

// addReport adds a walk's report to a summary.
func addReport(s *search.Summary, r *walk.Report) {
	s.Stats.Considered += r.Files
	s.Denied += r.Denied
	s.AddSecrets(r.Secrets...)
	for why, reason := range map[walk.Reason]search.Reason{
		walk.Hidden: search.Hidden, walk.Protected: search.Protected, walk.Ignored: search.Ignored, walk.Filtered: search.Filtered,
		walk.Special: search.NotRegular, walk.Unreadable: search.Unreadable, walk.Vanished: search.Unreadable,
		walk.Loop: search.Loop, walk.Symlink: search.Symlink, walk.Outside: search.Outside,
	} {
		if n := r.Count(why); n > 0 {
			s.SkippedCount[reason] += n
		}
	}
	for i := range r.Skipped {
		addSkip(s, walkSkip(&r.Skipped[i]))
	}
}

func walkSkip(k *walk.Skip) search.Skip {
	skip := search.Skip{Path: k.Path, Reason: search.Unreadable, Detail: k.Reason.String()}
	if k.Err != nil {
		skip.Detail = detailOf(k.Err)
	}
	switch k.Reason {
	case walk.Loop:
		skip.Reason = search.Loop
	case walk.Outside:
		skip.Reason = search.Outside
	}
	return skip
}

// maxSkips limits the list of skips. The counts include all skipped files.
const maxSkips = 1000

// skipFile records a file whose text is not in the answer.
func skipFile(s *search.Summary, path string, why search.Reason) {
	if s.SkippedCount == nil {
		s.SkippedCount = map[search.Reason]int{}
	}
	s.SkippedCount[why]++
	if why == search.Protected {
		s.Denied++
	}
	addSkip(s, search.Skip{Path: path, Reason: why})
}

func addSkip(s *search.Summary, k search.Skip) {
	if len(s.Skipped) < maxSkips {
		s.Skipped = append(s.Skipped, k)
	}
}

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
