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

// pathsAnswer is the answer of search_by_path.
type pathsAnswer struct {
	Matches []string `json:"matches"`
	Total   int      `json:"totalMatches"`
	Partial string   `json:"partial,omitempty"` // why not everything was looked at
	// In the profile quarry:
	NextOffset int      `json:"next_offset,omitempty"`
	Receipt    *receipt `json:"receipt,omitempty"`
	remark
}

const pathsSchema = `{"type":"object","properties":{"matches":{"type":"array","items":{"type":"string"}},"totalMatches":{"type":"integer"},"partial":{"type":"string"},"next_offset":{"type":"integer"},` + noteSchema + `},"required":["matches","totalMatches"]}`

var (
	searchByPath = action{pathsSchema, readOnly, findPaths}
	pathsAsJSON  = action{pathsSchema, readOnly, findIndexedPaths}
)

// pathQuery reads the query of a path search.
func (c *call) pathQuery(ctx context.Context) (search.FindQuery, error) {
	q := search.FindQuery{Scope: c.where(), Limit: c.Int("limit"), Offset: c.Int("offset")}
	q.Globs, q.Time = []string{c.localGlob(ctx, c.String("pattern"), "")}, c.o.Time
	return q, checkGlob(c.String("pattern"))
}

// pathMatches are the paths of an answer, as many as fit.
func (c *call) pathMatches(r *search.FindResult) *pathsAnswer {
	data := &pathsAnswer{Matches: []string{}, Total: r.Total, Partial: c.unfinished(&r.Summary)}
	limits, size := c.limitsUnless("limit"), 0
	for _, e := range r.Entries {
		name := render.Path(e.Path)
		if size += len(name) + 8; limits.Full(size) && len(data.Matches) > 0 {
			break
		}
		data.Matches = append(data.Matches, name)
	}
	return data
}

// findIndexedPaths answers in JSON, and only where there is an index.
func findIndexedPaths(ctx context.Context, c *call) (*answer, error) {
	q, err := c.pathQuery(ctx)
	if err != nil {
		return nil, err
	}
	if c.o.NoIndex { // the pattern is checked first, so that an invalid one is reported
		q.MaxDepth, q.Limit = 1, 1
	}
	r, err := c.ws.Find(ctx, q)
	if err != nil {
		return nil, badGlob(err, c.String("pattern"))
	}
	if c.o.NoIndex {
		return nil, &tool.Error{Code: fault.IndexNotFound, Message: "there is no index of this workspace", Hint: "Switch the index on, or use another profile: it is not needed there."}
	}
	data := c.pathMatches(r)
	text, err := marshal(data, "  ")
	return &answer{text: text, data: data}, err
}

// findPaths finds paths by a glob, else those that fit what is remembered of one.
func findPaths(ctx context.Context, c *call) (*answer, error) {
	q, err := c.pathQuery(ctx)
	if err != nil {
		return nil, err
	}
	pattern := c.String("pattern")
	r, err := c.ws.Find(ctx, q)
	if err != nil {
		return nil, badGlob(err, pattern)
	}
	fuzzy := false
	if r.Total == 0 && r.Stopped == "" && !strings.ContainsAny(pattern, "*?[{") && !strings.HasPrefix(pattern, "./") {
		if near, err := c.fuzzyPaths(ctx, q, pattern); err == nil && near.Total > 0 {
			r, fuzzy = near, true
		}
	}
	data := c.pathMatches(r)
	text, err := marshal(data, "  ")
	if err != nil {
		return nil, err
	}
	a := &answer{text: text, data: data}
	cut := ""
	if next := q.Offset + len(data.Matches); next < data.Total {
		cut, data.NextOffset = "paths", next
	}
	if data.Partial != "" {
		cut = "time"
	}
	r.Stopped = ""
	sum := c.sumUp(ctx, &r.Summary, cut)
	data.Receipt = &sum
	if data.Partial != "" {
		a.receipt = []string{"partial"}
		return a, nil
	}
	if data.Total == 0 {
		a.receipt = c.zeroPaths(ctx, q, &r.Summary)
		c.tellMissed(a, &r.Summary)
		return a, nil
	}
	by := byLimit
	if len(data.Matches) < len(r.Entries) {
		by = byBudget
	}
	a.receipt = c.page("paths", q.Offset, len(data.Matches), render.Total{N: data.Total}, by, "limit", false)
	if fuzzy {
		a.receipt = append(a.receipt, "no path is exactly that; these fit best")
		if q.Offset == 0 {
			a.receipt = append(a.receipt, c.hiddenMatches(ctx, q, &r.Summary)...)
		}
	}
	c.tellMissed(a, &r.Summary)
	return a, nil
}

// fuzzyPaths finds the paths that fit what is remembered of one, best first. Those
// that share only its letters would mislead a model.
func (c *call) fuzzyPaths(ctx context.Context, q search.FindQuery, words string) (*search.FindResult, error) {
	q.Globs, q.Fuzzy, q.Fits = nil, strings.TrimPrefix(words, "!"), true
	return c.ws.Find(ctx, q)
}

// checkGlob refuses what no dialect should take for a glob.
func checkGlob(pattern string) error {
	bad := func(reason string) error {
		return &tool.Error{Code: fault.InvalidPattern, Message: fmt.Sprintf("Invalid glob pattern %q: %s", pattern, reason), Hint: "Examples: *.ts, **/auth*.ts, src/**/*.md"}
	}
	if pattern == "" {
		return bad("it is empty")
	}
	if strings.TrimSpace(pattern) == "" {
		return bad("it is blank")
	}
	braces, class := 0, false
	for i := 0; i < len(pattern); i++ {
		switch ch := pattern[i]; {
		case ch == '\\':
			i++
		case class:
			class = ch != ']'
		case ch == '[':
			class = true
			// A ] right after the opening [ is a member of the class.
			if i+1 < len(pattern) && (pattern[i+1] == '!' || pattern[i+1] == '^') {
				i++
			}
			if i+1 < len(pattern) && pattern[i+1] == ']' {
				i++
			}
		case ch == '{':
			braces++
		case ch == '}':
			if braces--; braces < 0 {
				return bad("unbalanced }")
			}
		}
	}
	if class {
		return bad("unbalanced [")
	}
	if braces > 0 {
		return bad("unbalanced {")
	}
	return nil
}

// badGlob words the library's refusal of a glob as checkGlob does.
func badGlob(err error, pattern string) error {
	if fault.CodeOf(err) != fault.InvalidPattern {
		return err
	}
	return &tool.Error{Code: fault.InvalidPattern, Message: fmt.Sprintf("Invalid glob pattern %q: %s", pattern, reasonOf(err))}
}

// listAnswer is the answer of list_files.
type listAnswer struct {
	Entries    []listEntry `json:"entries"`
	Total      int         `json:"total"`
	NextOffset int         `json:"next_offset,omitempty"`
	Receipt    receipt     `json:"receipt"`
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

func list(ctx context.Context, c *call) (*answer, error) {
	pattern, path := c.String("pattern"), c.path(ctx, "path")
	if c.d.localGlobs {
		pattern = strings.TrimPrefix(pattern, "./")
	}
	pattern = cmp.Or(pattern, "*")
	base := "."
	if strings.TrimSpace(path) != "" {
		info, err := c.ws.Stat(ctx, path)
		if err != nil {
			return nil, err
		}
		if !info.Folder {
			return nil, &tool.Error{Code: fault.InvalidArgument, Message: "Path is not a folder: " + quoted(path), Hint: c.hint("read_file", "Use get_file_info or read_file for a file.")}
		}
		base = info.Path
	}
	q := search.FindQuery{
		Scope: c.where(base),
		Kind:  search.FilesAndFolders, Order: search.ByModTime, Limit: min(c.Int("max_results"), maxEntries), Offset: c.Int("offset"),
	}
	q.Globs = []string{pattern}
	if c.Given("depth") {
		return c.tree(ctx, q, base)
	}
	if q.Dialect == search.Gitignore && !strings.Contains(pattern, "/") && !strings.Contains(pattern, "**") {
		q.MaxDepth = 1 // a name alone means the folder's own entries, as in the vault
	}
	q.Time = c.o.Time
	r, err := c.ws.Find(ctx, q)
	if err != nil {
		return nil, err
	}
	data := &listAnswer{Entries: []listEntry{}, Total: r.Total}
	partial := c.unfinished(&r.Summary)
	if r.Total == 0 && partial != "" {
		data.Receipt = c.sumUp(ctx, &r.Summary, "time")
		return &answer{text: []byte("Found 0 item(s).\n\n" + partial), data: data}, nil
	}
	if r.Total == 0 {
		where := c.d.top
		if base != "." {
			where = quoted(base)
		}
		data.Receipt = c.sumUp(ctx, &r.Summary, "")
		a := &answer{text: []byte("No files or folders match the pattern " + quoted(pattern) + " in " + where + "."), data: data}
		if c.d.explains {
			a.receipt = c.zeroList(ctx, q, &r.Summary)
		}
		return a, nil
	}
	text := fmt.Appendf(nil, "Found %d item(s):\n", r.Total)
	text, n := render.Entries(text, r.Entries, c.o.Zone, c.limitsUnless("max_results"))
	cut, by := "", byLimit
	if n < len(r.Entries) {
		by = byBudget
	}
	if q.Offset+n < r.Total {
		text = fmt.Appendf(text, "\n\nShowing %s of %d items%s", showing(q.Offset, n), r.Total, c.advice(by, "a narrower pattern", q.Limit < maxEntries))
		cut, data.NextOffset = "entries", q.Offset+n
	}
	for _, e := range r.Entries[:n] {
		if e.Folder {
			e.Size = 0 // what a folder takes says nothing
		}
		data.Entries = append(data.Entries, listEntry{pathOf(e.Path), e.Folder, e.Size, e.ModTime.UTC()})
	}
	if r.Stopped = ""; partial != "" {
		text, cut = append(text, "\n\n"+partial...), "time"
	}
	data.Receipt = c.sumUp(ctx, &r.Summary, cut)
	a := &answer{text: text, data: data, receipt: c.page("items", q.Offset, n, render.Total{N: r.Total}, by, "max_results", cut != "")}
	a.tellOmitted(&r.Summary)
	return a, nil
}

// infoAnswer is the answer of get_file_info.
type infoAnswer struct {
	foundPath
	Folder   bool      `json:"folder"`
	Size     int64     `json:"size"`
	Created  time.Time `json:"created,omitzero"`
	Modified time.Time `json:"modified"`
}

const infoSchema = `{"type":"object","properties":{"path":{"type":"string"},"folder":{"type":"boolean"},"size":{"type":"integer"},"created":{"type":"string"},"modified":{"type":"string"}},"required":["path","folder","size","modified"]}`

var getFileInfo = action{infoSchema, readOnly, describe}

func describe(ctx context.Context, c *call) (*answer, error) {
	path, err := c.givenFile(ctx, "path")
	if err != nil {
		return nil, err
	}
	info, err := c.ws.Stat(ctx, path)
	if err != nil {
		return nil, err
	}
	if info.Folder {
		info.Size = 0
	}
	data := &infoAnswer{pathOf(info.Path), info.Folder, info.Size, utc(info.Created), info.ModTime.UTC()}
	return &answer{text: render.Info(nil, info, c.o.Zone), data: data}, nil
}

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC()
}
