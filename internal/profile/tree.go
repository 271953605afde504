package profile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"quarry/internal/render"
	"quarry/search"
)

// tree lists what is below a folder down to a depth, with sizes, each folder
// before what is in it.
func (c *call) tree(ctx context.Context, q search.FindQuery, base string) (*answer, error) {
	limit, offset := q.Limit, q.Offset
	q.Order, q.Limit, q.Offset, q.MaxDepth, q.Stat = search.ByPath, 0, 0, c.Int("depth"), true
	if pattern := q.Globs[0]; pattern == "*" || pattern == "**" {
		q.Globs = nil
	} else {
		q.Kind = search.OnlyFiles // their folders are shown with them
	}
	q.Time = c.o.Time
	r, err := c.ws.Find(ctx, q)
	if err != nil {
		return nil, err
	}
	partial := c.unfinished(&r.Summary)
	entries := r.Entries
	if q.Kind == search.OnlyFiles {
		entries = withFolders(entries, base)
	}
	slices.SortFunc(entries, func(a, b search.Entry) int { return compareTree(a.Path, b.Path) })
	data := &listAnswer{Entries: []listEntry{}, Total: len(entries)}
	page := entries[min(offset, len(entries)):]
	page = page[:min(limit, len(page))]
	if len(entries) == 0 && partial != "" {
		data.Receipt = c.sumUp(ctx, &r.Summary, "time")
		return &answer{text: []byte("Found 0 item(s).\n\n" + partial), data: data}, nil
	}
	if len(entries) == 0 {
		data.Receipt = c.sumUp(ctx, &r.Summary, "")
		return &answer{text: []byte("No files or folders in " + quoted(base) + "."), data: data, receipt: c.zeroList(ctx, withGlob(q), &r.Summary)}, nil
	}
	text := fmt.Appendf(nil, "Found %d item(s):\n", len(entries))
	above := 0
	if base != "." {
		above = strings.Count(base, "/") + 1
	}
	text, n := render.Tree(text, page, above, c.limits())
	cut, by := "", byLimit
	if n < len(page) {
		by = byBudget
	}
	if offset+n < len(entries) {
		text = fmt.Appendf(text, "\n\nShowing %s of %d items%s", showing(offset, n), len(entries), c.advice(by, "a smaller depth", limit < maxEntries))
		cut, data.NextOffset = "entries", offset+n
	}
	for _, e := range page[:n] {
		if e.Folder {
			e.Size = 0
		}
		data.Entries = append(data.Entries, listEntry{pathOf(e.Path), e.Folder, e.Size, e.ModTime.UTC()})
	}
	if r.Stopped = ""; partial != "" {
		text, cut = append(text, "\n\n"+partial...), "time"
	}
	data.Receipt = c.sumUp(ctx, &r.Summary, cut)
	a := &answer{text: text, data: data, receipt: c.page("items", offset, n, render.Total{N: len(entries)}, by, "max_results", cut != "")}
	a.tellOmitted(&r.Summary)
	return a, nil
}

// withGlob is a query that has a glob to speak of.
func withGlob(q search.FindQuery) search.FindQuery {
	if len(q.Globs) == 0 {
		q.Globs = []string{"*"}
	}
	return q
}

// withFolders adds the folders below base that contain the files.
func withFolders(files []search.Entry, base string) []search.Entry {
	seen := map[string]bool{base: true}
	out := slices.Clone(files)
	for _, f := range files {
		for i := strings.LastIndexByte(f.Path, '/'); i > 0; i = strings.LastIndexByte(f.Path[:i], '/') {
			folder := f.Path[:i]
			if seen[folder] || base != "." && !strings.HasPrefix(folder, base+"/") {
				break
			}
			seen[folder] = true
			out = append(out, search.Entry{Path: folder, Folder: true})
		}
	}
	return out
}

// compareTree orders paths so that the content of a folder follows it.
func compareTree(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			switch {
			case a[i] == '/':
				return -1
			case b[i] == '/':
				return 1
			}
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}
