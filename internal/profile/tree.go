package profile

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"quarry/internal/render"
	"quarry/search"
)

// tree lists the entries below a folder up to a depth, with sizes. Each folder precedes
// its entries.
func (c *call) tree(ctx context.Context, shown search.FindQuery, base string) (*answer, error) {
	q := shown
	q.Order, q.Limit, q.Offset, q.MaxDepth, q.Stat = search.ByPath, 0, 0, c.Int("depth"), true
	if pattern := q.Globs[0]; pattern == "*" || pattern == "**" {
		q.Globs = nil
	} else {
		q.Kind = search.OnlyFiles // their folders are added later
	}
	r, err := c.ws.Find(ctx, q)
	if err != nil {
		return nil, err
	}
	entries := r.Entries
	if q.Kind == search.OnlyFiles {
		entries = withFolders(entries, base)
	}
	slices.SortFunc(entries, func(a, b search.Entry) int { return compareTree(a.Path, b.Path) })
	page := entries[min(shown.Offset, len(entries)):]
	page = page[:min(shown.Limit, len(page))]
	above := 0
	if base != "." {
		above = strings.Count(base, "/") + 1
	}
	if shown.MaxDepth, shown.Kind = q.MaxDepth, q.Kind; q.Globs == nil {
		shown.Globs = []string{"*"}
	}
	return c.listAnswer(ctx, shown, &listing{r, page, len(entries)}, "No files or folders in "+quoted(base)+".", "a smaller depth",
		func(dst []byte, list []search.Entry) ([]byte, int) { return render.Tree(dst, list, above, c.limits()) }), nil
}

// withFolders adds the folders below base that contain files.
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

// compareTree orders paths so that a folder precedes its contents.
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
