package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry"
	"quarry/fault"
	"quarry/internal/render"
	"quarry/internal/script"
	"quarry/internal/usage"
	"quarry/match"
	"quarry/search"
)

// The values of functions. Their first field, "$", is the type of the record.
type (
	hit struct {
		Type   string            `json:"$"`
		Path   string            `json:"path"`
		Line   int               `json:"line"`
		Text   string            `json:"text"`
		Symbol string            `json:"symbol"`
		Holes  map[string]string `json:"holes,omitempty"` // of a structure
	}
	use struct {
		hit
		Test bool `json:"test"`
		Sure bool `json:"sure"`
	}
	line struct {
		Type string `json:"$"`
		Path string `json:"path"`
		Line int    `json:"line"`
		Text string `json:"text"`
	}
	symbol struct {
		Type      string `json:"$"`
		Path      string `json:"path"`
		Name      string `json:"name"`
		Container string `json:"container"`
		Kind      string `json:"kind"`
		Line      int    `json:"line"`
		Start     int    `json:"start"`
		End       int    `json:"end"`
		Signature string `json:"signature"`
	}
	definition struct {
		symbol
		Text   string   `json:"text"`
		Others []symbol `json:"others"`
	}
	piece struct {
		Type   string  `json:"$"`
		Path   string  `json:"path"`
		Start  int     `json:"start"`
		End    int     `json:"end"`
		Symbol string  `json:"symbol"`
		Kind   string  `json:"kind"`
		Text   string  `json:"text"`
		Score  float64 `json:"score"`
	}
)

// Most results that a function gives unless a limit is named, and at most.
const (
	mostHits  = 1000
	maxHits   = 100_000
	mostFiles = 10_000
)

var errEnough = errors.New("enough")

func (h *Host) search(ctx context.Context, a args) (any, error) {
	q, err := h.query(a)
	if err != nil {
		return nil, err
	}
	limit := a.number("limit", mostHits)
	if limit <= 0 || limit > maxHits {
		return nil, &script.Error{Message: fmt.Sprintf("limit is between 1 and %d", maxHits)}
	}
	q.Symbols, q.Spans = true, true
	hits := []hit{}
	block := -1
	sum, err := h.view.SearchEach(ctx, q, func(f *search.FileMatch) error {
		block = -1
		for i := range f.Lines {
			l := quarry.Decoded(f.Lines[i])
			if q.Structure != "" {
				for _, holes := range render.Holes(f.Lines, i) {
					if len(hits) == limit {
						return errEnough
					}
					hits = append(hits, hit{Type: "hit", Path: f.Path, Line: l.Number, Text: around(&l), Symbol: qualified(l.Symbol), Holes: holes})
				}
				continue
			}
			if !l.Hit || q.Match.Mode == match.Multiline && l.Block == block {
				continue
			}
			block = l.Block
			if len(hits) == limit {
				return errEnough
			}
			hits = append(hits, hit{Type: "hit", Path: f.Path, Line: l.Number, Text: around(&l), Symbol: qualified(l.Symbol)})
		}
		if h.change {
			h.view.Note(ctx, f.Path)
		}
		return nil
	})
	switch {
	case errors.Is(err, errEnough):
		h.stopped[fmt.Sprintf("search(%q) gave its first %d hits; limit=… gives more", fault.Clip(q.Pattern+q.Structure, 60), limit)] = true
	case err != nil:
		return nil, err
	default:
		h.sum(sum)
		if sum.Stopped != "" {
			h.stopped[fmt.Sprintf("search(%q) ended early: %s", fault.Clip(q.Pattern+q.Structure, 60), sum.Stopped)] = true
		}
	}
	return hits, nil
}

func (h *Host) query(a args) (search.Query, error) {
	q := search.Query{Pattern: a.text("pattern"), Scope: h.scope(a)}
	if q.Pattern == "" {
		return q, &script.Error{Message: "the pattern is empty"}
	}
	if a.flag("literal") {
		q.Match.Syntax = match.Literal
	}
	if a.flag("ignore_case") {
		q.Match.Case = match.Insensitive
	}
	if a.flag("multiline") {
		q.Match.Mode = match.Multiline
	}
	if a.flag("structure") {
		q.Structure, q.Pattern, q.Match = q.Pattern, "", match.Options{Mode: match.Multiline}
	}
	return q, nil
}

// maxLine is how many characters of a line a hit has, around its match.
const maxLine = 200

func around(l *search.Line) string {
	text := strings.ToValidUTF8(string(l.Text), "\uFFFD")
	if utf8.RuneCountInString(text) <= maxLine {
		return text
	}
	at := 0
	if len(l.Spans) > 0 {
		at = utf8.RuneCountInString(text[:min(l.Spans[0].Start, len(text))])
	}
	runes := []rune(text)
	from := max(0, min(at-maxLine/4, len(runes)-maxLine))
	to := min(len(runes), from+maxLine)
	out := string(runes[from:to])
	if from > 0 {
		out = "…" + out
	}
	if to < len(runes) {
		out += "…"
	}
	return out
}

func qualified(s *search.Symbol) string {
	switch {
	case s == nil:
		return ""
	case s.Container != "":
		return s.Container + "." + s.Name
	}
	return s.Name
}

func symbolOf(s *search.Symbol, kind string) symbol {
	signature := strings.TrimSpace(strings.ToValidUTF8(s.Signature, "\uFFFD"))
	if signature == "" || !strings.Contains(signature, s.Name) {
		signature = s.Kind + " " + s.Name
	}
	return symbol{kind, s.Path, s.Name, s.Container, s.Kind, s.Line, s.StartLine, s.EndLine, signature}
}

// Outlined are the kinds that an outline shows: what a reader navigates by.
var Outlined = []string{
	"function", "method", "class", "struct", "interface", "enum", "type", "module", "macro", "impl", "test", "table", "heading", "constant",
}

func (h *Host) symbols(ctx context.Context, a args) (any, error) {
	q := search.SymbolQuery{Name: strings.TrimSpace(a.text("name")), Kind: a.text("kind"), Scope: h.scope(a), Limit: 20_000}
	if q.Name == "" && len(q.Paths) == 0 && len(q.Globs) == 0 {
		return nil, &script.Error{Message: "symbols() needs a name, a path or a glob"}
	}
	r, err := h.view.Symbols(ctx, q)
	if err != nil {
		return nil, err
	}
	h.sum(&r.Summary)
	list := r.Symbols
	if q.Kind == "" && q.Name == "" {
		list = slices.DeleteFunc(slices.Clone(list), func(s search.Symbol) bool { return !slices.Contains(Outlined, s.Kind) })
		if len(list) == 0 {
			list = r.Symbols
		}
	}
	out := []symbol{}
	for i := range list {
		out = append(out, symbolOf(&list[i], "symbol"))
	}
	return out, nil
}

func (h *Host) definition(ctx context.Context, a args) (any, error) {
	name := strings.TrimSuffix(strings.TrimSpace(a.text("name")), "()")
	if name == "" {
		return nil, &script.Error{Message: "the name is empty"}
	}
	q := search.SymbolQuery{Name: name, Kind: a.text("kind"), Limit: 10, Text: true}
	for _, p := range a.list("path") {
		q.Paths = append(q.Paths, h.path(p))
	}
	r, err := h.view.Symbols(ctx, q)
	if err != nil {
		return nil, err
	}
	if len(r.Symbols) == 0 {
		q.Fuzzy = true
		hint := "search() finds words."
		if near, err := h.view.Symbols(ctx, q); err == nil && len(near.Symbols) > 0 {
			var names []string
			for i := range near.Symbols {
				names = append(names, qualified(&near.Symbols[i]))
			}
			hint = "Similar: " + strings.Join(slices.Compact(names), ", ") + ". " + hint
		}
		return nil, &script.Error{Message: fmt.Sprintf("no definition of %s", fault.Clip(name, 100)), Hint: hint, Code: string(fault.NotFound)}
	}
	h.sum(&r.Summary)
	d := definition{symbol: symbolOf(&r.Symbols[0], "definition"), Text: strings.ToValidUTF8(r.Symbols[0].Text, "\uFFFD"), Others: []symbol{}}
	for i := range r.Symbols[1:] {
		d.Others = append(d.Others, symbolOf(&r.Symbols[i+1], "symbol"))
	}
	if h.change {
		h.view.Note(ctx, d.Path)
	}
	return d, nil
}

func (h *Host) references(ctx context.Context, a args) (any, error) { return h.uses(ctx, a, false) }

func (h *Host) callers(ctx context.Context, a args) (any, error) { return h.uses(ctx, a, true) }

func (h *Host) uses(ctx context.Context, a args, calls bool) (any, error) {
	r, err := usage.Find(ctx, h.view, usage.Query{Name: a.text("name"), Scope: h.scope(a), Calls: calls, Limit: maxHits})
	if err != nil {
		return nil, err
	}
	h.sum(&r.Summary)
	out := []use{}
	for _, u := range r.Uses {
		out = append(out, use{hit{Type: "use", Path: u.Path, Line: u.Line, Text: fault.Clip(strings.ToValidUTF8(u.Text, "\uFFFD"), maxLine), Symbol: u.Symbol}, u.Test, u.Sure})
		if h.change {
			h.view.Note(ctx, u.Path)
		}
	}
	return out, nil
}

func (h *Host) rank(ctx context.Context, a args) (any, error) {
	q := search.CodeQuery{Query: a.text("query"), Limit: a.number("k", 10)}
	if q.Limit < 1 || q.Limit > 50 {
		return nil, &script.Error{Message: "k is between 1 and 50"}
	}
	for _, p := range a.list("path") {
		q.Paths = append(q.Paths, h.path(p))
	}
	r, err := h.view.SearchCode(ctx, q)
	if err != nil {
		return nil, err
	}
	h.sum(&r.Summary)
	out := []piece{}
	for _, c := range r.Chunks {
		out = append(out, piece{"piece", c.Path, c.StartLine, c.EndLine, c.Symbol, c.Kind, strings.ToValidUTF8(c.Text, "\uFFFD"), c.Score})
	}
	return out, nil
}

func (h *Host) files(ctx context.Context, a args) (any, error) {
	limit := a.number("limit", mostFiles)
	if limit <= 0 || limit > maxHits {
		return nil, &script.Error{Message: fmt.Sprintf("limit is between 1 and %d", maxHits)}
	}
	r, err := h.view.Find(ctx, search.FindQuery{Scope: h.scope(a), Limit: limit})
	if err != nil {
		return nil, err
	}
	h.sum(&r.Summary)
	if r.Total > len(r.Entries) {
		h.stopped[fmt.Sprintf("files() gave the first %d of %d; limit=… gives more", limit, r.Total)] = true
	}
	out := []string{}
	for _, e := range r.Entries {
		out = append(out, e.Path)
	}
	return out, nil
}

// part is a part of a file: lines, a definition, or all of it.
func (h *Host) part(ctx context.Context, a args) (*search.Text, error) {
	p, err := h.existing(ctx, a.text("path"))
	if err != nil {
		return nil, err
	}
	opts := &search.ReadOptions{Start: a.number("start", 0), End: a.number("end", 0), MaxBytes: maxRead}
	if opts.Start < 0 || opts.End < 0 {
		return nil, &script.Error{Message: "lines count from 1"}
	}
	if name := a.text("symbol"); name != "" {
		if opts.Start, opts.End, err = h.within(ctx, p, name); err != nil {
			return nil, err
		}
	}
	t, err := h.view.Read(ctx, p, opts)
	if err != nil {
		return nil, err
	}
	if opts.Start > max(t.Total, 1) {
		return nil, &script.Error{Message: fmt.Sprintf("%s has %d lines, so there is no line %d", p, t.Total, opts.Start)}
	}
	if t.Cut {
		return nil, &script.Error{Message: fmt.Sprintf("%s has more than %d MB of text there", p, maxRead>>20), Hint: "Read some of its lines: read(path, start, end).", Code: string(fault.TooLarge)}
	}
	return t, nil
}

// maxRead bounds what one read gives.
const maxRead = 4 << 20

// within gives the lines of a definition in a file.
func (h *Host) within(ctx context.Context, p, name string) (first, last int, err error) {
	q := search.SymbolQuery{Name: name, Scope: search.Scope{Paths: []string{p}, IncludeHidden: true, IncludeIgnored: true}, Limit: 1}
	r, err := h.view.Symbols(ctx, q)
	if err != nil {
		return 0, 0, err
	}
	if len(r.Symbols) == 0 {
		q.Fuzzy, q.Limit = true, 5
		hint := `symbols(path="` + p + `") lists what it defines.`
		if near, err := h.view.Symbols(ctx, q); err == nil && len(near.Symbols) > 0 {
			var names []string
			for i := range near.Symbols {
				names = append(names, qualified(&near.Symbols[i]))
			}
			hint = "Similar: " + strings.Join(names, ", ") + ". " + hint
		}
		return 0, 0, &script.Error{Message: fmt.Sprintf("%s defines no %s", p, fault.Clip(name, 100)), Hint: hint, Code: string(fault.NotFound)}
	}
	return r.Symbols[0].StartLine, r.Symbols[0].EndLine, nil
}

func (h *Host) exists(ctx context.Context, a args) (any, error) {
	p := h.path(a.text("path"))
	if p == "" {
		return nil, &script.Error{Message: "the path is empty"}
	}
	_, err := h.view.Stat(ctx, p)
	if errors.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

func (h *Host) read(ctx context.Context, a args) (any, error) {
	t, err := h.part(ctx, a)
	if err != nil {
		return nil, err
	}
	text := strings.ToValidUTF8(strings.Join(t.Lines, "\n"), "\uFFFD")
	if len(t.Lines) > 0 && t.Ending != "none" {
		text += "\n"
	}
	return text, nil
}

func (h *Host) lines(ctx context.Context, a args) (any, error) {
	t, err := h.part(ctx, a)
	if err != nil {
		return nil, err
	}
	out := []line{}
	for i, l := range t.Lines {
		out = append(out, line{"line", t.Path, t.First + i, strings.ToValidUTF8(l, "\uFFFD")})
	}
	return out, nil
}

func (h *Host) findall(_ context.Context, a args) (any, error) {
	p, err := match.Compile(a.text("pattern"), match.Options{Mode: match.Text})
	if err != nil {
		return nil, err
	}
	m := p.NewMatcher()
	text := []byte(a.text("text"))
	out := []any{}
	var slots []int
	for at := 0; at <= len(text) && len(out) < maxHits; {
		var ok bool
		if slots, ok = m.Captures(text, at, slots); !ok {
			break
		}
		if len(slots) <= 2 {
			out = append(out, string(text[slots[0]:slots[1]]))
		} else {
			groups := []string{}
			for g := 2; g+1 < len(slots); g += 2 {
				s := ""
				if slots[g] >= 0 {
					s = string(text[slots[g]:slots[g+1]])
				}
				groups = append(groups, s)
			}
			if len(groups) == 1 {
				out = append(out, groups[0])
			} else {
				out = append(out, groups)
			}
		}
		at = slots[1]
		if slots[0] == slots[1] {
			at++
		}
	}
	return out, m.Err()
}
