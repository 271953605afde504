package profile

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"quarry/fault"
	"quarry/internal/render"
	"quarry/search"
	"quarry/tool"
)

// listAnswer is the answer of list_files.
type listAnswer struct {
	Entries    []listEntry `json:"entries"`
	Total      int         `json:"total"`
	NextOffset int         `json:"next_offset,omitempty"`
	received
	remark
}

type listEntry struct {
	foundPath
	Folder   bool      `json:"folder,omitempty"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
}

const listSchema = `{"type":"object","properties":{"entries":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"folder":{"type":"boolean"},"size":{"type":"integer"},"modified":{"type":"string"}},"required":["path"]}},"total":{"type":"integer"},"next_offset":{"type":"integer"},"receipt":` + receiptSchema + `,` + noteSchema + `},"required":["entries","total","receipt"]}`

const maxEntries = 1000

var listFiles = action{listSchema, readOnly, list}

// listing is the contents of a folder.
type listing struct {
	*search.FindResult
	entries []search.Entry // of this page
	total   int
}

func list(ctx context.Context, c *call) (*answer, error) {
	pattern, base, err := c.listed(ctx)
	if err != nil {
		return nil, err
	}
	q := search.FindQuery{
		Scope: c.where(base),
		Kind:  search.FilesAndFolders, Order: search.ByModTime, Limit: min(c.Int("max_results"), maxEntries), Offset: c.Int("offset"),
	}
	q.Globs, q.Time = []string{pattern}, c.o.Time
	if c.Given("depth") {
		return c.tree(ctx, q, base)
	}
	if q.Dialect == search.Gitignore && !strings.Contains(pattern, "/") && !strings.Contains(pattern, "**") {
		q.MaxDepth = 1 // a name alone lists only direct entries, as in the vault
	}
	r, err := c.ws.Find(ctx, q)
	if err != nil {
		return nil, err
	}
	where := c.d.top
	if base != "." {
		where = quoted(base)
	}
	return c.listAnswer(ctx, q, &listing{r, r.Entries, r.Total}, "No files or folders match the pattern "+quoted(pattern)+" in "+where+".", "a narrower pattern",
		func(dst []byte, list []search.Entry) ([]byte, int) {
			return render.Entries(dst, list, c.o.Zone, c.limitsUnless("max_results"))
		}), nil
}

// listed returns the pattern of a listing and the folder it starts in.
func (c *call) listed(ctx context.Context) (pattern, base string, err error) {
	pattern, path := c.String("pattern"), c.path(ctx, "path")
	if c.d.localGlobs {
		pattern = strings.TrimPrefix(pattern, "./")
	}
	pattern = cmp.Or(pattern, "*")
	if strings.TrimSpace(path) == "" {
		return pattern, ".", nil
	}
	info, err := c.ws.Stat(ctx, path)
	if err != nil {
		return "", "", err
	}
	if !info.Folder {
		return "", "", &tool.Error{Code: fault.InvalidArgument, Message: "Path is not a folder: " + quoted(path), Hint: c.hint("read_file", "Use get_file_info or read_file for a file.")}
	}
	return pattern, info.Path, nil
}

// listAnswer words a listing. draw appends the entries, none is the text for an empty
// listing, and narrower says how to list fewer entries.
func (c *call) listAnswer(ctx context.Context, q search.FindQuery, l *listing, none, narrower string, draw func([]byte, []search.Entry) ([]byte, int)) *answer {
	data := &listAnswer{Entries: []listEntry{}, Total: l.total}
	a := &answer{data: data, sum: &l.Summary}
	partial := c.unfinished(&l.Summary)
	if l.total == 0 {
		if a.text = []byte(none); partial != "" {
			a.text = []byte("Found 0 item(s).\n\n" + partial)
		} else if c.d.explains {
			a.receipt = c.zeroList(ctx, q, &l.Summary)
		}
		return a
	}
	p := &page{what: "items", limit: "max_results", offset: q.Offset, total: render.Total{N: l.total}, by: byLimit}
	a.text, p.shown.Results = draw(fmt.Appendf(nil, "Found %d item(s):\n", l.total), l.entries)
	if p.shown.Results < len(l.entries) {
		p.by = byBudget
	}
	if p.more = p.next() < l.total; p.more {
		a.text = fmt.Appendf(a.text, "\n\nShowing %s of %d items%s", showing(p.offset, p.shown.Results), l.total, c.advice(p.by, narrower, q.Limit < maxEntries))
		p.cut, data.NextOffset = "entries", p.next()
	}
	for _, e := range l.entries[:p.shown.Results] {
		if e.Folder {
			e.Size = 0 // a folder's own size is meaningless
		}
		data.Entries = append(data.Entries, listEntry{pathOf(e.Path), e.Folder, e.Size, e.ModTime.UTC()})
	}
	if l.Stopped = ""; partial != "" {
		a.text, p.cut = append(a.text, "\n\n"+partial...), "time"
	}
	a.cut, a.receipt = p.cut, c.page(p, p.cut != "")
	a.tellOmitted(&l.Summary, p.cut == "" && p.offset == 0)
	return a
}
