package glob

import "fmt"

// Filter combines globs like ripgrep's -g flags. The last glob that matches a file decides. If
// some glob includes, files that no glob matches are excluded. Excluding a folder excludes
// everything below it. Unlike in ripgrep, a filter can't include ignored files.
//
// The nil Filter and one without globs accept everything. A Filter is immutable and safe for
// concurrent use.
type Filter struct {
	globs    []*Glob
	includes bool
	prunes   bool // only excludes folders; see Pruning
}

// NewFilter combines globs in the given order.
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

// Builder compiles the patterns of one Filter, with a common limit. Otherwise a list of
// patterns with many alternatives each could take gigabytes.
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
		return failure(pattern, 0, fmt.Sprintf("with the globs before it, it expands to more than %d patterns; give fewer globs or fewer alternatives", maxFilter))
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

// Pruning returns the filter for a walk that also lists folders. It accepts every entry,
// because a glob for a folder's own name doesn't apply to the folder's contents. It enters all
// folders that are not excluded.
func (f *Filter) Pruning() *Filter {
	if f == nil || f.OnlyIncludes() {
		return nil
	}
	return &Filter{globs: f.globs, prunes: true}
}

// ExcludesAbove reports whether a folder above path is excluded.
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

// MatchFile is Match for a walk that has already called Descend for all folders above the file.
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

// MatchDir reports whether the folder itself passes, for listings that include folders.
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

// Descend reports whether a file below the folder could pass. It may return true needlessly,
// but never false wrongly.
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

// OnlyIncludes reports whether no glob excludes. In that case the folders above an accepted
// file are accepted too.
func (f *Filter) OnlyIncludes() bool {
	for _, g := range f.globs {
		if g.negated {
			return false
		}
	}
	return true
}
