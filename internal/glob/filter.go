package glob

import "fmt"

// Filter combines globs as a series of -g flags does in ripgrep: the last one
// that matches decides, and if any includes, a file must be included by one. A
// folder that is excluded takes everything below with it. Unlike there, a
// filter only narrows: it can't include ignored files.
//
// The nil Filter and one without globs let everything pass. A Filter is
// immutable and safe for concurrent use.
type Filter struct {
	globs    []*Glob
	includes bool
	prunes   bool // only excludes folders: see Pruning
}

// NewFilter combines globs in the order they were given.
func NewFilter(globs ...*Glob) *Filter {
	f := &Filter{globs: globs}
	for _, g := range globs {
		if !g.negated {
			f.includes = true
		}
	}
	return f
}

// CompileFilter compiles patterns of one dialect into a Filter.
func CompileFilter(d Dialect, patterns ...string) (*Filter, error) {
	var b Builder
	for _, p := range patterns {
		if err := b.Add(p, d); err != nil {
			return nil, err
		}
	}
	return b.Filter(), nil
}

// Builder compiles the patterns of one Filter, with a limit for all of them: a list
// of patterns with many alternatives each would take gigabytes.
type Builder struct {
	globs []*Glob
	rows  int
}

// Add compiles the next pattern.
func (b *Builder) Add(pattern string, d Dialect) error {
	g, err := Compile(pattern, d)
	if err != nil {
		return err
	}
	if b.rows += len(g.rows) + len(g.dirRows) + len(g.exact); b.rows > maxFilter {
		return failure(pattern, 0, fmt.Sprintf("with the globs before it, it stands for more than %d patterns; give fewer globs or fewer alternatives", maxFilter))
	}
	b.globs = append(b.globs, g)
	return nil
}

// Filter combines the patterns.
func (b *Builder) Filter() *Filter { return NewFilter(b.globs...) }

// Match reports whether the file at path passes, and all folders above it.
func (f *Filter) Match(path string) bool {
	return !f.ExcludesAbove(path) && f.MatchFile(path)
}

// Pruning returns the filter of a walk that lists folders too. It lets every
// entry pass, because a glob on a folder's own name says nothing about what is in
// it, and enters all folders but those that are excluded.
func (f *Filter) Pruning() *Filter {
	if f == nil || f.OnlyIncludes() {
		return nil
	}
	return &Filter{globs: f.globs, prunes: true}
}

// ExcludesAbove reports whether a folder that path lies in is excluded.
func (f *Filter) ExcludesAbove(path string) bool {
	if f == nil || f.OnlyIncludes() {
		return false
	}
	for i := range len(path) {
		if path[i] == '/' && f.excludesDir(path[:i]) {
			return true
		}
	}
	return false
}

// MatchFile is Match for a walk that has asked Descend about the folders above.
func (f *Filter) MatchFile(path string) bool {
	if f == nil || len(f.globs) == 0 || f.prunes {
		return true
	}
	for i := len(f.globs) - 1; i >= 0; i-- {
		if g := f.globs[i]; g.Match(path) {
			return !g.negated
		}
	}
	return !f.includes
}

// MatchDir reports whether the folder itself passes, for listings that include
// folders.
func (f *Filter) MatchDir(path string) bool {
	if f == nil || len(f.globs) == 0 || f.prunes {
		return true
	}
	for i := len(f.globs) - 1; i >= 0; i-- {
		if g := f.globs[i]; g.MatchDir(path) {
			return !g.negated
		}
	}
	return !f.includes
}

// Descend reports whether a file below the folder could pass. It may return
// true wrongly, but never false.
func (f *Filter) Descend(dir string) bool {
	if f == nil || len(f.globs) == 0 || dir == "" {
		return true
	}
	if f.excludesDir(dir) {
		return false
	}
	if !f.includes {
		return true
	}
	for _, g := range f.globs {
		if !g.negated && g.CouldMatchBelow(dir) {
			return true
		}
	}
	return false
}

func (f *Filter) excludesDir(dir string) bool {
	for i := len(f.globs) - 1; i >= 0; i-- {
		if g := f.globs[i]; g.MatchDir(dir) {
			return g.negated
		}
	}
	return false
}

// OnlyIncludes reports that no glob excludes: the folders above a file that passes do,
// too.
func (f *Filter) OnlyIncludes() bool {
	for _, g := range f.globs {
		if g.negated {
			return false
		}
	}
	return true
}
