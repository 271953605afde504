package profile

import (
	"context"
	"fmt"
	"strings"

	"quarry/fault"
	"quarry/internal/render"
	"quarry/search"
	"quarry/tool"
)

// pathsAnswer is the answer of search_by_path.
type pathsAnswer struct {
	Matches []string `json:"matches"`
	Total   int      `json:"totalMatches"`
	Partial string   `json:"partial,omitempty"` // why some files were not searched
	// In the profile quarry:
	NextOffset int `json:"next_offset,omitempty"`
	received
	remark
}

const pathsSchema = `{"type":"object","properties":{"matches":{"type":"array","items":{"type":"string"}},"totalMatches":{"type":"integer"},"partial":{"type":"string"},"next_offset":{"type":"integer"},` + noteSchema + `},"required":["matches","totalMatches"]}`

var (
	searchByPath = act(pathsSchema, readOnly, readPathQuery, findPaths, writePaths)
	pathsAsJSON  = act(pathsSchema, readOnly, readPathQuery, findIndexedPaths, writePathsJSON)
)

// foundPaths is the result of a search by glob or by partial path.
type foundPaths struct {
	*search.FindResult
	fuzzy bool
}

// readPathQuery reads the query of a path search.
func readPathQuery(ctx context.Context, c *call) (search.FindQuery, error) {
	q := search.FindQuery{Scope: c.where(), Limit: c.Int("limit"), Offset: c.Int("offset")}
	q.Globs, q.Time = []string{c.localGlob(ctx, c.String("pattern"), "")}, c.o.Time
	return q, checkGlob(c.String("pattern"))
}

// pathMatches returns as many paths as fit an answer.
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

// findIndexedPaths finds paths by a glob. It fails if there is no index.
func findIndexedPaths(ctx context.Context, c *call, q search.FindQuery) (foundPaths, error) {
	if c.o.NoIndex { // check the pattern first, so that an invalid one is reported
		q.MaxDepth, q.Limit = 1, 1
	}
	r, err := c.ws.Find(ctx, q)
	if err == nil && c.o.NoIndex {
		err = &tool.Error{Code: fault.IndexNotFound, Message: "there is no index of this workspace", Hint: "Switch the index on, or use another profile: it is not needed there."}
	}
	return foundPaths{r, false}, badGlob(err, c.String("pattern"))
}

func writePathsJSON(_ context.Context, c *call, _ search.FindQuery, r foundPaths) (*answer, error) {
	data := c.pathMatches(r.FindResult)
	text, err := marshal(data, "  ")
	return &answer{text: text, data: data}, err
}

// findPaths finds paths by a glob or, if the query has none, by a partial path.
func findPaths(ctx context.Context, c *call, q search.FindQuery) (foundPaths, error) {
	pattern := c.String("pattern")
	r, err := c.ws.Find(ctx, q)
	if err != nil {
		return foundPaths{}, badGlob(err, pattern)
	}
	if r.Total == 0 && r.Stopped == "" && !strings.ContainsAny(pattern, "*?[{") && !strings.HasPrefix(pattern, "./") {
		if near, err := c.fuzzyPaths(ctx, q, pattern); err == nil && near.Total > 0 {
			return foundPaths{near, true}, nil
		}
	}
	return foundPaths{r, false}, nil
}

// writePaths answers in JSON, as search-mcp's document says, followed by a receipt.
func writePaths(ctx context.Context, c *call, q search.FindQuery, r foundPaths) (*answer, error) {
	data := c.pathMatches(r.FindResult)
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
	a.sum, a.cut = &r.Summary, cut
	if data.Partial != "" {
		a.receipt = []string{"partial"}
		return a, nil
	}
	if data.Total == 0 {
		a.receipt = c.zeroPaths(ctx, q, &r.Summary)
		c.tellMissed(a, &r.Summary)
		return a, nil
	}
	p := &page{what: "paths", limit: "limit", offset: q.Offset, total: render.Total{N: data.Total}, more: data.NextOffset > 0, by: byLimit}
	if p.shown.Results = len(data.Matches); p.shown.Results < len(r.Entries) {
		p.by = byBudget
	}
	a.receipt = c.page(p, false)
	if r.fuzzy {
		a.receipt = append(a.receipt, "no path is exactly that; these fit best")
		if q.Offset == 0 {
			a.receipt = append(a.receipt, c.hiddenMatches(ctx, q, &r.Summary)...)
		}
	}
	c.tellMissed(a, &r.Summary)
	return a, nil
}

// fuzzyPaths finds the paths that match a partial path, best first. Paths that only share
// its letters are omitted, because they would mislead a model.
func (c *call) fuzzyPaths(ctx context.Context, q search.FindQuery, words string) (*search.FindResult, error) {
	q.Globs, q.Fuzzy, q.Fits = nil, strings.TrimPrefix(words, "!"), true
	return c.ws.Find(ctx, q)
}

// checkGlob rejects patterns that are not globs in any dialect.
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
			// A ] directly after the opening [ is a member of the class.
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

// badGlob words the library's error for a glob as checkGlob does.
func badGlob(err error, pattern string) error {
	if err == nil || fault.CodeOf(err) != fault.InvalidPattern {
		return err
	}
	return &tool.Error{Code: fault.InvalidPattern, Message: fmt.Sprintf("Invalid glob pattern %q: %s", pattern, reasonOf(err))}
}
