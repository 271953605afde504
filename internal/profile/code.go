package profile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"quarry/fault"
	"quarry/internal/explain"
	"quarry/internal/render"
	"quarry/search"
	"quarry/tool"
)

// codeAnswer is the answer of search_code.
type codeAnswer struct {
	Results  []codeChunk `json:"results"`
	Total    int         `json:"totalResults"`
	Time     *int64      `json:"searchTimeMs,omitempty"`
	Partial  string      `json:"partial,omitempty"` // in smcp: why some files were not searched
	received             // in the profile quarry
	remark
}

type codeChunk struct {
	Path  string  `json:"path"`
	Text  *string `json:"text,omitempty"`
	Score float64 `json:"score"`
	Start int     `json:"startLine"`
	End   int     `json:"endLine"`
	// In the profile quarry: the definition shown, or the one that contains the passage.
	Symbol string `json:"symbol,omitempty"`
	Kind   string `json:"kind,omitempty"`
}

const codeSchema = `{"type":"object","properties":{"results":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"},"score":{"type":"number"},"startLine":{"type":"integer"},"endLine":{"type":"integer"}},"required":["path","score","startLine","endLine"]}},"totalResults":{"type":"integer"},"searchTimeMs":{"type":"integer"},"partial":{"type":"string"},` + noteSchema + `},"required":["results","totalResults"]}`

var (
	searchCode = act(codeSchema, readOnly, readCodeQuery, rankCode, writeRanked)
	bestOfCode = act(codeSchema, readOnly, readBestQuery, rankCode, writeBest)
	codeAsJSON = act(codeSchema, readOnly, readCodeQuery, rankCode, writeCodeJSON)
)

// readCodeQuery reads the arguments of search_code.
func readCodeQuery(ctx context.Context, c *call) (search.CodeQuery, error) {
	q := search.CodeQuery{Query: c.String("query"), Limit: c.Int("top_k"), Time: c.o.Time, Scope: c.where()}
	if c.Given("budget") && !c.Given("top_k") {
		q.Limit = 50
	}
	if p := c.file(ctx, "path"); p != "" && p != "." {
		q.Paths = []string{p}
	}
	return q, nil
}

// readBestQuery requests enough results to have several near the best score.
func readBestQuery(ctx context.Context, c *call) (search.CodeQuery, error) {
	q, err := readCodeQuery(ctx, c)
	q.Limit = max(q.Limit, 50)
	return q, err
}

// rankCode finds the passages that match a query best.
func rankCode(ctx context.Context, c *call, q search.CodeQuery) (*search.CodeResult, error) {
	r, err := c.ws.SearchCode(ctx, q)
	if errors.Is(err, search.ErrNoWords) {
		return nil, &tool.Error{Code: fault.InvalidArgument, Message: "query has no word to search for", Hint: "Give words or identifiers; for other characters use " + c.textSearch() + "."}
	}
	return r, err
}

// codeChunks returns the results as data.
func (c *call) codeChunks(q search.CodeQuery, r *search.CodeResult) *codeAnswer {
	data := &codeAnswer{Results: []codeChunk{}, Total: r.Total}
	words := queryWords(q.Query)
	for i := range r.Chunks {
		chunk := codeResult(&r.Chunks[i], words, c.Bool("compact"))
		if c.d.around {
			chunk.Symbol, chunk.Kind = r.Chunks[i].Symbol, r.Chunks[i].Kind
		}
		data.Results = append(data.Results, chunk)
	}
	return data
}

// fit drops the results that don't fit in an answer.
func (c *call) fit(data *codeAnswer) {
	limits, size := c.limitsUnless("top_k"), 0
	for i := range data.Results {
		if text, err := marshal(data.Results[i], "  "); err == nil {
			// JSON adds eight lines with two levels of indentation.
			if size += len(text) + 40; limits.Full(size) && i > 0 {
				data.Results = data.Results[:i]
				return
			}
		}
	}
}

// textSearch returns the name of the tool for text searches.
func (c *call) textSearch() string {
	if !c.d.json && !c.has("file_search") && c.has("search_files") {
		return "search_files"
	}
	return "file_search"
}

// writeCodeJSON answers in JSON, with the duration of the search.
func writeCodeJSON(_ context.Context, c *call, q search.CodeQuery, r *search.CodeResult) (*answer, error) {
	data := c.codeChunks(q, r)
	c.fit(data)
	ms := r.Stats.Elapsed.Milliseconds()
	data.Time, data.Partial = &ms, c.unfinished(&r.Summary)
	indent := "  "
	if c.Bool("compact") {
		indent = ""
	}
	text, err := marshal(data, indent)
	return &answer{text: text, data: data}, err
}

// writeRanked answers with as many results as fit a budget.
func writeRanked(ctx context.Context, c *call, q search.CodeQuery, r *search.CodeResult) (*answer, error) {
	data := c.codeChunks(q, r)
	c.fit(data)
	if budget := c.codeBudget(); budget > 0 {
		pack(data, budget)
	}
	a := &answer{data: data, text: c.codeText(data, r), sum: &r.Summary}
	if len(data.Results) < data.Total {
		a.cut = "results"
	}
	if partial := c.unfinished(&r.Summary); partial != "" {
		a.text, a.cut = append(a.text, "\n\n"+partial...), "time"
		return a, nil
	}
	r.Stopped = ""
	if data.Total == 0 {
		a.receipt = c.zeroCode(ctx, q, &r.Summary)
	} else {
		a.receipt = c.codeReceipt(data)
	}
	return a, nil
}

// codeBudget returns how many bytes an answer should have; 0 means no separate limit.
func (c *call) codeBudget() int {
	switch {
	case c.Given("budget"):
		return c.Int("budget") * tokenBytes
	case !c.Given("top_k") && !c.Bool("compact"):
		return c.d.limits.codeTokens * tokenBytes
	}
	return 0
}

// pack reduces data to a budget of bytes: as many one-line results as fit. The best
// results also keep their text while there is room.
func pack(data *codeAnswer, budget int) {
	const receipt = 120
	left := budget - receipt
	for i := range data.Results {
		k := &data.Results[i]
		if left -= len(k.Path) + len(k.Symbol) + len(k.Kind) + 16; left < 0 && i > 0 {
			data.Results = data.Results[:i]
			break
		}
		// A third of the budget is reserved for results without text.
		if k.Text != nil && i > 0 && left < budget/3 {
			k.Text = nil
		}
		if k.Text != nil {
			size := len(*k.Text) + 6*(k.End-k.Start+1)
			if size > left {
				k.Text = nil
				continue
			}
			left -= size
		}
	}
}

// codeText returns the answer as text: passages with numbered lines.
func (c *call) codeText(data *codeAnswer, r *search.CodeResult) []byte {
	if data.Total == 0 {
		return []byte("No results found for " + quoted(c.String("query")) + ".")
	}
	text := fmt.Appendf(nil, "Found %s in %s, best first:\n", fault.Count(data.Total, "result"), fault.Count(r.FilesMatched, "file"))
	for i := range data.Results {
		k := &data.Results[i]
		lines := itoa(k.Start)
		if k.End > k.Start {
			lines += "-" + itoa(k.End)
		}
		if k.Symbol != "" {
			lines += " " + k.Kind + " " + render.Name(k.Symbol)
		}
		if k.Text == nil {
			text = fmt.Appendf(text, "\n- %s:%s", k.Path, lines)
			continue
		}
		text = fmt.Appendf(text, "\n## %s:%s", k.Path, lines)
		for n, line := range strings.Split(*k.Text, "\n") {
			text = fmt.Appendf(text, "\n%3d | %s", k.Start+n, line)
		}
		text = append(text, '\n')
	}
	return bytes.TrimRight(text, "\n")
}

func (c *call) codeReceipt(data *codeAnswer) []string {
	switch {
	case c.codeBudget() > 0 && len(data.Results) < data.Total:
		if !c.Given("budget") {
			return []string{fmt.Sprintf("the best %d of %d results in %d tokens; for more give top_k or budget", len(data.Results), data.Total, c.d.limits.codeTokens)}
		}
		return []string{fmt.Sprintf("the best %d of %d results, as many as the budget holds", len(data.Results), data.Total)}
	case len(data.Results) < min(data.Total, c.Int("top_k")):
		return []string{fmt.Sprintf("the best %d of %d results, as many as an answer holds; compact gives more of them", len(data.Results), data.Total)}
	case len(data.Results) < data.Total && c.Int("top_k") < 50:
		return []string{fmt.Sprintf("the best %d of %d results; for more give a larger top_k (up to 50)", len(data.Results), data.Total)}
	case len(data.Results) < data.Total:
		return []string{fmt.Sprintf("the best %d of %d results; for others give more words", len(data.Results), data.Total)}
	}
	return []string{"all results shown"}
}

const (
	// codeLimit limits the bytes of one result's text. codeLine limits the characters of
	// each of its lines; longer ones are cut around a word of the query.
	codeLimit = 8 << 10
	codeLine  = 500
)

func codeResult(k *search.Chunk, words []string, compact bool) codeChunk {
	out := codeChunk{Path: render.Path(k.Path), Score: math.Round(k.Score*10000) / 10000, Start: k.StartLine, End: k.EndLine}
	if compact {
		return out
	}
	var b strings.Builder
	for i, line := range strings.Split(k.Text, "\n") {
		if b.Len() > codeLimit {
			b.WriteString(" [truncated...]")
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(aroundWord(line, words))
	}
	text := b.String()
	out.Text = &text
	return out
}

// aroundWord returns a line; if it is long, only the part around one of the words.
func aroundWord(line string, words []string) string {
	if len(line) <= codeLine {
		return line
	}
	l := search.Line{Text: []byte(line)}
	at, lower := -1, strings.ToLower(line)
	for _, w := range words {
		if i := strings.Index(lower, w); i >= 0 && (at < 0 || i < at) && len(lower) == len(line) {
			at = i
			l.Spans = []search.Span{{Start: i, End: i + len(w)}}
		}
	}
	text, before, after := render.Window(&l, codeLine)
	out := strings.ToValidUTF8(string(text), "\uFFFD")
	if before > 0 {
		out = "... " + out
	}
	if before > 0 || after > 0 {
		out += " [truncated...]"
	}
	return out
}

// queryWords returns the words of a query and the parts of its identifiers, in lower
// case.
func queryWords(query string) []string {
	var words []string
	add := func(w string) {
		if w = strings.ToLower(w); len(w) > 1 && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	for _, w := range strings.FieldsFunc(query, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		add(w)
		for _, part := range explain.Parts(w) {
			add(part)
		}
	}
	return words
}
