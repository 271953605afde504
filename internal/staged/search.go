package staged

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"quarry"
	"quarry/internal/glob"
	"quarry/internal/lookup"
	"quarry/internal/textfile"
	"quarry/search"
)

// globDialects are the dialects of a scope as package glob names them.
var globDialects = map[search.Dialect]glob.Dialect{search.Gitignore: glob.Gitignore, search.Plain: glob.Plain, search.Minimatch: glob.Minimatch}

// inScope lists the staged files that a scope includes. A file that is on the disk
// is included where the search of the disk includes it; a new one by its path, the
// globs and its name: ignore files don't hide what was just written.
func (v *View) inScope(ctx context.Context, s search.Scope) ([]string, error) {
	all := v.paths()
	if len(all) == 0 {
		return nil, nil
	}
	filter, err := glob.CompileFilter(globDialects[s.Dialect], s.Globs...)
	if err != nil {
		return nil, err
	}
	old := map[string]bool{}
	if slices.ContainsFunc(all, func(p string) bool { return v.files[p].from == p }) {
		found, err := v.ws.Find(ctx, search.FindQuery{Scope: s})
		if err != nil {
			return nil, err
		}
		for _, e := range found.Entries {
			old[e.Path] = true
		}
	}
	var list []string
	for _, p := range all {
		f := v.files[p]
		switch {
		case f.from == p:
			if !old[p] {
				continue
			}
		case !below(p, s.Paths), !filter.Match(p), !s.IncludeHidden && hidden(p):
			continue
		}
		list = append(list, p)
	}
	return list, nil
}

func below(p string, paths []string) bool {
	if len(paths) == 0 {
		return true
	}
	return slices.ContainsFunc(paths, func(dir string) bool {
		dir = clean(dir)
		return dir == "" || p == dir || strings.HasPrefix(p, dir+"/")
	})
}

func hidden(p string) bool { return strings.HasPrefix(p, ".") || strings.Contains(p, "/.") }

// searchFolder refuses to search after a folder was moved or deleted.
func (v *View) searchFolder() error {
	if len(v.folders) > 0 {
		return &InFolderError{"the search", v.folders[0].Path}
	}
	return nil
}

// SearchEach answers a query on the files as they are after the changes, in the
// order of paths.
func (v *View) SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error) {
	if !v.Changed() {
		return v.ws.SearchEach(ctx, q, yield)
	}
	if q.Order == search.ByMatches {
		return search.MostMatches(q, yield, func(q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error) {
			return v.SearchEach(ctx, q, yield)
		})
	}
	if err := v.searchFolder(); err != nil {
		return nil, err
	}
	mine, err := v.inScope(ctx, q.Scope)
	if err != nil {
		return nil, err
	}
	if q.Symbols && q.Detail == search.Lines {
		yield = lookup.Enclosing(ctx, v, yield)
	}
	q.Symbols, q.Parts, q.Order = false, false, search.ByPath
	next := 0
	extra := search.Summary{Exact: true}
	// flush yields staged files whose path is before p.
	flush := func(p string, all bool) error {
		for ; next < len(mine) && (all || mine[next] < p); next++ {
			one, err := v.searchStaged(ctx, q, mine[next], yield)
			if err != nil {
				return err
			}
			extra.FilesMatched += one.FilesMatched
			extra.LinesMatched += one.LinesMatched
			extra.Matches += one.Matches
		}
		return nil
	}
	sum, err := v.ws.SearchEach(ctx, q, func(f *search.FileMatch) error {
		if err := flush(f.Path, false); err != nil {
			return err
		}
		if v.hides(f.Path) {
			extra.FilesMatched--
			extra.LinesMatched -= f.Matched
			extra.Matches -= f.Matches
			return nil
		}
		return yield(f)
	})
	if err != nil {
		return nil, err
	}
	if err := flush("", true); err != nil {
		return nil, err
	}
	sum.FilesMatched += extra.FilesMatched
	sum.LinesMatched += extra.LinesMatched
	sum.Matches += extra.Matches
	return sum, nil
}

// searchStaged searches the staged text of one file.
func (v *View) searchStaged(ctx context.Context, q search.Query, p string, yield func(*search.FileMatch) error) (*search.Summary, error) {
	doc, err := textfile.New(v.files[p].raw)
	if err != nil {
		return &search.Summary{}, nil // binary
	}
	q.Paths = []string{p}
	return quarry.SearchText(ctx, bytes.NewReader(doc.Text()), q, func(f *search.FileMatch) error {
		f.Path = p
		return yield(f)
	})
}

// Search answers a query.
func (v *View) Search(ctx context.Context, q search.Query) (*search.Result, error) {
	r := &search.Result{}
	q.Parts = false
	sum, err := v.SearchEach(ctx, q, func(f *search.FileMatch) error {
		one := *f
		one.Lines = slices.Clone(f.Lines)
		for i := range one.Lines {
			one.Lines[i].Text = bytes.Clone(one.Lines[i].Text)
		}
		r.Files = append(r.Files, one)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.Summary = *sum
	return r, nil
}

// Find lists paths after the changes, in their order.
func (v *View) Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error) {
	if !v.Changed() {
		return v.ws.Find(ctx, q)
	}
	if err := v.searchFolder(); err != nil {
		return nil, err
	}
	limit, offset := q.Limit, q.Offset
	q.Limit, q.Offset = 0, 0
	r, err := v.ws.Find(ctx, q)
	if err != nil {
		return nil, err
	}
	mine, err := v.inScope(ctx, q.Scope)
	if err != nil {
		return nil, err
	}
	r.Entries = slices.DeleteFunc(r.Entries, func(e search.Entry) bool { return v.hides(e.Path) })
	for _, p := range mine {
		r.Entries = append(r.Entries, search.Entry{Path: p, Size: int64(len(v.files[p].raw))})
	}
	if q.Fuzzy == "" && q.Order == search.ByPath {
		slices.SortFunc(r.Entries, func(a, b search.Entry) int { return cmp.Compare(a.Path, b.Path) })
	}
	r.Total = len(r.Entries)
	r.Entries = r.Entries[min(offset, len(r.Entries)):]
	if limit > 0 {
		r.Entries = r.Entries[:min(limit, len(r.Entries))]
	}
	return r, nil
}

// Remember remembers as long as nothing was changed here.
func (v *View) Remember(ctx context.Context, key string, make func(context.Context) (any, error)) (any, error) {
	if !v.Changed() {
		return v.ws.Remember(ctx, key, make)
	}
	return make(ctx)
}

// EachText gives the texts of a scope after the changes.
func (v *View) EachText(ctx context.Context, q search.TextQuery, look func(path string, text []byte) any, yield func(path string, found any)) (*search.Summary, error) {
	if !v.Changed() {
		return v.ws.EachText(ctx, q, look, yield)
	}
	if err := v.searchFolder(); err != nil {
		return nil, err
	}
	mine, err := v.inScope(ctx, q.Scope)
	if err != nil {
		return nil, err
	}
	found := map[string]any{}
	if of := q.Fields; of != nil {
		q.Fields = &search.FieldQuery{Keys: of.Keys, Want: of.Want, Look: func(p string, values []byte, counts []uint8) any {
			if v.hides(p) {
				return nil
			}
			return of.Look(p, values, counts)
		}}
	}
	sum, err := v.ws.EachText(ctx, q, func(p string, text []byte) any {
		if v.hides(p) {
			return nil
		}
		return look(p, text)
	}, func(p string, one any) { found[p] = one })
	if err != nil {
		return nil, err
	}
	for _, p := range mine {
		if doc, err := textfile.New(v.files[p].raw); err == nil {
			if one := look(p, doc.Text()); one != nil {
				found[p] = one
			}
		}
	}
	var paths []string
	for p := range found {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		yield(p, found[p])
	}
	return sum, nil
}

// Symbols finds definitions after the changes.
func (v *View) Symbols(ctx context.Context, q search.SymbolQuery) (*search.SymbolResult, error) {
	if !v.Changed() {
		return v.ws.Symbols(ctx, q)
	}
	r, err := lookup.Searched(ctx, v, &q)
	if err == nil && q.Name != "" {
		err = lookup.Describe(ctx, v, q.Text, r)
	}
	return r, err
}

// SearchCode ranks pieces. Those of files that were changed are left out where
// their text is not there any more: words are ranked by the files on the disk.
func (v *View) SearchCode(ctx context.Context, q search.CodeQuery) (*search.CodeResult, error) {
	r, err := v.ws.SearchCode(ctx, q)
	if err != nil || !v.Changed() {
		return r, err
	}
	r.Chunks = slices.DeleteFunc(r.Chunks, func(c search.Chunk) bool {
		f, ok := v.staged(c.Path)
		if !ok {
			return v.inFolder(c.Path) != nil
		}
		return f.gone || !bytes.Contains(f.raw, []byte(c.Text))
	})
	for i := range r.Chunks {
		c := &r.Chunks[i]
		if f, ok := v.staged(c.Path); ok {
			at := bytes.Index(f.raw, []byte(c.Text))
			first := 1 + bytes.Count(f.raw[:at], []byte("\n"))
			c.StartLine, c.EndLine = first, first+c.EndLine-c.StartLine
		}
	}
	return r, nil
}
