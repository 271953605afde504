package replacer

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs/version"
)

// FindAll computes the edits of several replacements as one set. A structure can't be combined
// with others. Each replacement refers to the current files, not to the result of another one.
// Expected of the first replacement counts the matches of all. A replacement without matches
// is skipped if another one has some, and Each shows that it has none.
func FindAll(ctx context.Context, files Files, list []Query) (*Found, error) {
	if len(list) == 1 {
		return Find(ctx, files, list[0])
	}
	all := &Found{Each: make([]int, len(list))}
	each := make([]*replacing, len(list))
	var searches []Query // one search for all replacements with the same options
	for i, q := range list {
		r, done, err := newReplacing(ctx, &q)
		if err != nil {
			return nil, err
		}
		defer done()
		each[i] = r
		k := slices.IndexFunc(searches, func(s Query) bool { return s.Match == q.Match })
		if k < 0 {
			q.Patterns = slices.Clip(q.Patterns)
			searches = append(searches, q)
			continue
		}
		searches[k].Patterns = append(append(searches[k].Patterns, q.Pattern), q.Patterns...)
	}
	var paths []string
	for _, q := range searches {
		found, err := all.search(ctx, files, q)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	slices.Sort(paths)
	var out editing
	for _, path := range slices.Compact(paths) {
		if err := all.file(ctx, files, path, list, each, &out); err != nil {
			return nil, err
		}
	}
	for _, r := range each {
		if r.m.Err() != nil {
			return nil, r.m.Err()
		}
		all.Samples, all.Forms = append(all.Samples, r.forms.samples()...), all.Forms+len(r.forms.order)
	}
	return all, all.asExpected(&list[0])
}

// spot is a match of one of several replacements.
type spot struct {
	start, end, of int
	new            string
}

// file makes all replacements in one file.
func (f *Found) file(ctx context.Context, files Files, path string, list []Query, each []*replacing, out *editing) error {
	doc, err := textOf(ctx, files, path)
	if doc == nil {
		return err
	}
	text, size := doc.Text(), out.size
	var spots []spot
	for i, r := range each {
		r.each(text, func(start, end int, new string) bool {
			size += len(new)
			spots = append(spots, spot{start, end, i, new})
			return size <= maxText && (len(spots)&0xFFFF != 0 || ctx.Err() == nil)
		})
	}
	switch {
	case size > maxText:
		return ErrTooMuch
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case len(spots) == 0:
		return nil
	}
	slices.SortStableFunc(spots, func(a, b spot) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	for i, s := range spots {
		if i > 0 && (s.start < spots[i-1].end || s.end == spots[i-1].start) { // they overlap, or are at the same position
			a, b := min(s.of, spots[i-1].of), max(s.of, spots[i-1].of)
			return &OverlapError{Path: path, A: list[a].Given(), B: list[b].Given()}
		}
		out.add(text, s.start, s.end, s.new)
		f.Each[s.of]++
	}
	f.add(change.Op{Verb: change.EditFile, Path: path, Edits: out.take(), Version: version.Of(doc.Raw()).String()}, len(spots))
	return nil
}

// OverlapError refuses replacements that overlap, or that insert at the same position.
type OverlapError struct{ Path, A, B string }

func (e *OverlapError) Error() string {
	return fmt.Sprintf("in %s %q and %q match the same text; nothing was changed", fault.Printable(e.Path), e.A, e.B)
}

// Unwrap returns the error code.
func (e *OverlapError) Unwrap() error { return fault.Conflict }

// Hint returns advice on how to proceed.
func (e *OverlapError) Hint() string {
	return "write patterns that exclude each other, as \\bname\\b does, or replace one after the other"
}
