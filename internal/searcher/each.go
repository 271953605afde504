package searcher

import (
	"context"
	"errors"
	"io"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/scan"
	"quarry/match"
	"quarry/search"
)

// A search for files that contain each of several patterns, or lack some, tries one
// pattern after the other until a file is ruled out. Most files lack the first pattern.
// Only files that pass are searched as usual.

// jointly holds the patterns that must all match in a file, followed by at most one that
// must not match. It is nil if one match is enough.
type jointly struct {
	patterns []*match.Pattern
	searches []*match.Search
	musts    int // the number of patterns that must match
}

// compileQuery compiles the patterns of a query under one budget.
func compileQuery(ctx context.Context, q *search.Query) (*match.Pattern, *jointly, error) {
	list, c := patterns(q), match.NewCompiler(ctx, q.Match)
	pattern, err := c.Any(list)
	if err != nil {
		return nil, nil, err
	}
	each := q.Each && len(list) > 1
	if !each && len(q.Lacking) == 0 {
		return pattern, nil, nil
	}
	if q.Invert || q.FilesWithoutMatch || q.AllFiles || q.Passthru {
		return nil, nil, errEach
	}
	j := &jointly{patterns: []*match.Pattern{pattern}}
	if each {
		if j.patterns, err = c.Each(list); err != nil {
			return nil, nil, err
		}
	}
	j.musts = len(j.patterns)
	if len(q.Lacking) > 0 {
		not, err := c.Any(q.Lacking)
		if err != nil {
			return nil, nil, err
		}
		j.patterns = append(j.patterns, not)
	}
	return pattern, j, nil
}

// start prepares the patterns for a search. The search lasts until ctx is done or stop is
// called.
func (j *jointly) start(ctx context.Context) (stop func()) {
	if j == nil {
		return func() {}
	}
	var stops []func()
	for _, p := range j.patterns {
		s := p.NewSearch()
		j.searches = append(j.searches, s)
		stops = append(stops, s.StopWith(ctx))
	}
	return func() {
		for _, f := range stops {
			f()
		}
	}
}

// need returns the conditions that a matching file's contents meet. A nil j means that a
// match of pattern is enough.
func (j *jointly) need(pattern *match.Pattern) match.Need {
	if j == nil {
		return pattern.Need()
	}
	need := match.Need{Op: match.NeedAll}
	for _, p := range j.patterns[:j.musts] {
		need.Subs = append(need.Subs, p.Need())
	}
	return need
}

var (
	errEach = fault.New(fault.InvalidArgument, "files that have each of several patterns, or lack one, can't be asked for together with lines or files that don't match",
		"search for the patterns without inverting, or for one pattern")
	errEachText = fault.New(fault.InvalidArgument, "that a file has each of several patterns, or lacks one, can't be asked of a text that is no file", "search files")
)

// ends reports whether an error ends the whole search, not only that of one file.
func ends(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, match.ErrBudget) || errors.Is(err, rootfs.ErrClosed)
}

// lacks looks for each pattern in a file, without moving its position. If the file is
// ruled out, it returns an outcome. Otherwise it returns nil, and the file must be
// searched; that search also determines whether the file is skipped.
func (r *searchRun) lacks(k *worker, f *rootfs.File, path string) (*found, error) {
	if r.jointly == nil {
		return nil, nil
	}
	info := f.Info()
	length := info.Size
	if length == 0 { // for example, a file in /proc
		length = 1 << 62
	}
	out, err := r.jointly.missing(r.q, k, info.Size, func() (io.Reader, func() error, error) {
		text := io.NewSectionReader(f, 0, length)
		if r.q.Text == nil {
			return text, nil, nil
		}
		made, err := r.q.Text(path, text)
		if err != nil {
			return nil, nil, err
		}
		return made, made.Close, nil
	})
	if out != nil {
		out.info = info
	}
	return out, err
}

// missing does for any text what lacks does for a file. open returns a reader at the
// start of the text.
func (j *jointly) missing(q *search.Query, k *worker, size int64, open func() (io.Reader, func() error, error)) (*found, error) {
	if q.Text != nil {
		size = 0 // unknown for the output of a program
	}
	if k.each == nil {
		k.each, k.matchers = &scan.Scanner{}, make([]*match.Matcher, len(j.searches))
	}
	for i, s := range j.searches {
		if k.matchers[i] == nil {
			k.matchers[i] = s.NewMatcher()
		}
		k.each.Use(k.matchers[i])
		text, done, err := open()
		if err != nil {
			return nil, nil // the search of the file will report the error
		}
		res, err := k.each.File(text, size, &scan.Request{Detail: scan.Exists, Binary: q.Binary, NUL: q.NUL, Raw: q.Raw})
		if done != nil {
			done()
		}
		if ends(err) {
			return nil, err
		}
		if err != nil || res.Skip != scan.NotSkipped {
			return nil, nil
		}
		if (res.Matched > 0) != (i < j.musts) {
			return &found{res: scan.Result{Bytes: res.Bytes}}, nil
		}
	}
	return nil, nil
}
