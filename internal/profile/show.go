package profile

import (
	"context"
	"fmt"
	"strings"

	"quarry/fault"
	"quarry/internal/render"
	"quarry/match"
	"quarry/search"
	"quarry/tool"
)

// Text searches show matching lines, or another form selected by the parameter show.

var paramShow = oneOf(str("show", "lines: with the name around; files: path and count; matches: each text once; definitions: their text"), "lines", "files", "count", "matches", "definitions")

// searchSpellings are search parameters of other tools that ours express differently.
var searchSpellings = []tool.Param{
	unlisted(oneOf(str("output_mode", ""), "content", "files_with_matches", "count")),
	unlisted(boolean("case_sensitive", "")),
	unlisted(boolean("is_regexp", "")),
	unlisted(str("type", "")),
	unlisted(tool.Param{Name: "exclude", Kind: tool.Strings}),
	unlisted(boolean("multiline", "")),
}

// typeEnds maps ripgrep's file types, which Claude Code's Grep accepts, to file name
// extensions, where they differ from the type's name.
var typeEnds = map[string]string{
	"js": "js,jsx,mjs,cjs", "javascript": "js,jsx,mjs,cjs", "ts": "ts,tsx,mts,cts", "typescript": "ts,tsx,mts,cts", "py": "py,pyi", "python": "py,pyi",
	"rust": "rs", "ruby": "rb", "markdown": "md,markdown,mdx", "md": "md,markdown,mdx", "c": "c,h", "cpp": "cpp,cc,cxx,hpp,hh,hxx,h,inl", "csharp": "cs",
	"kotlin": "kt,kts", "yaml": "yaml,yml", "html": "html,htm", "sh": "sh,bash,zsh", "go": "go", "perl": "pl,pm",
}

// shown returns the requested form: the parameter show, or its equivalent in Claude
// Code's Grep.
func (c *call) shown() string {
	switch c.String("output_mode") {
	case "files_with_matches":
		return "files"
	case "count":
		return "count"
	}
	return c.String("show")
}

// respell applies other tools' search parameters to a query.
func (c *call) respell(q *search.Query) {
	if c.Given("case_sensitive") && !c.Given("ignore_case") {
		q.Match.Case = match.Sensitive
		if !c.Bool("case_sensitive") {
			q.Match.Case = match.Insensitive
		}
	}
	if c.Given("is_regexp") && !c.Bool("is_regexp") || c.Bool("literal") {
		q.Match.Syntax = match.Literal
	}
	if name := c.String("type"); name != "" {
		q.Types = []string{"*." + strings.TrimPrefix(name, ".")}
		if ends := typeEnds[name]; ends != "" {
			q.Types = []string{"*.{" + ends + "}"}
		}
	}
	for _, g := range c.Strings("exclude") {
		q.Globs = append(q.Globs, "!"+strings.TrimPrefix(g, "!"))
	}
	if c.Bool("multiline") {
		q.Match.Mode = match.Multiline
	}
}

// showOther answers a search in a form other than lines. It returns nil if lines are
// requested.
func (c *call) showOther(ctx context.Context, q search.Query, filter string) (*answer, error) {
	switch c.shown() {
	case "files", "count":
		return c.showCounts(ctx, q, filter)
	case "matches":
		return c.showMatches(ctx, q, filter)
	case "definitions":
		return c.showDefinitions(ctx, q, filter)
	}
	return nil, nil
}

// matchCount words the totals, such as "43 matches in 20 files". It adds the number of
// lines if some lines have several matches.
func matchCount(s *search.Summary) string {
	n, more := max(s.Matches, s.LinesMatched), ""
	if !s.Exact {
		more = "+"
	}
	if n == 1 && more == "" {
		return "1 match in 1 file"
	}
	lines := ""
	if s.Exact && 0 < s.LinesMatched && s.LinesMatched < s.Matches {
		lines = fmt.Sprintf(" on %s", fault.Count(s.LinesMatched, "line"))
	}
	return fmt.Sprintf("%d%s matches%s in %s", n, more, lines, fault.Count(s.FilesMatched, "file"))
}

// showCounts lists the matching files with their numbers of matches, or only the total.
func (c *call) showCounts(ctx context.Context, q search.Query, filter string) (*answer, error) {
	offset := q.Offset
	q.Detail, q.Spans, q.Symbols, q.CountMatches, q.Offset = search.Counts, false, false, true, 0
	q.Before, q.After, q.Limits = 0, 0, search.Limits{Time: c.o.Time}
	data := &searchAnswer{Files: []foundFile{}}
	sum, err := c.ws.SearchEach(ctx, q, func(f *search.FileMatch) error {
		data.Files = append(data.Files, foundFile{foundPath: pathOf(f.Path), Matched: max(f.Matches, f.Matched), Lines: []foundLine{}})
		return nil
	})
	if err == nil {
		err = budgetError(sum)
	}
	if err != nil {
		return nil, err
	}
	data.Total, data.Exact = sum.FilesMatched, sum.Exact
	a := &answer{data: data, text: []byte(matchCount(sum)), sum: sum}
	partial := c.unfinished(sum)
	switch {
	case partial != "":
		a.text = append(a.text, "\n\n"+partial...)
	case sum.FilesMatched == 0:
		a.text = []byte("No matches.")
		a.receipt = c.whyEmpty(ctx, q, sum, filter)
	}
	total := len(data.Files)
	data.Files = data.Files[min(offset, total):]
	if c.shown() == "count" {
		data.Files = data.Files[:0]
	}
	page := data.Files
	if c.Given("max_results") {
		page = page[:min(len(page), c.Int("max_results"))]
	}
	var paths []string
	var counts []int
	for _, f := range page {
		paths, counts = append(paths, f.text()), append(counts, f.Matched)
	}
	if sum.Matches == sum.FilesMatched && sum.Exact {
		counts = nil // each file has one match, so the total says it all
	}
	fit := 0
	if a.text, fit = render.Paths(a.text, paths, c.limits(), counts); fit < len(data.Files) {
		data.Files, data.NextOffset = data.Files[:fit], offset+fit
		a.receipt = append(a.receipt, fmt.Sprintf("files %d-%d of %d; next: %s", offset+1, offset+fit, total, c.next(offset+fit)))
	}
	data.Shown = len(data.Files)
	if sum.Stopped == "" && sum.FilesMatched > 0 {
		if s := c.skipped(sum); s != "" {
			a.receipt = append(a.receipt, s)
		}
	}
	return a, nil
}

// maxDefinitions limits the definitions that one answer reads.
const maxDefinitions = 100

// showDefinitions shows the definitions that contain matches, each once and whole.
// Matches outside any definition are shown as lines.
func (c *call) showDefinitions(ctx context.Context, q search.Query, filter string) (*answer, error) {
	q.Before, q.After, q.Symbols, q.Spans, q.CountMatches = 0, 0, true, true, true
	limit := c.either("max_results", 500, maxBlocks)
	q.Limits.Lines, q.Limits.Blocks, q.Limits.CountTo = limit, 0, c.countTo(limit)
	r, err := c.run(ctx, q)
	if err != nil {
		return nil, err
	}
	data := &searchAnswer{Files: []foundFile{}, Exact: r.Exact}
	a := &answer{data: data, sum: &r.Summary, text: []byte(matchCount(&r.Summary))}
	if r.FilesMatched == 0 {
		a.text, a.receipt = []byte("No matches."), c.whyEmpty(ctx, q, &r.Summary, filter)
		return a, nil
	}
	var list []search.Symbol
	hits := map[int][]int{} // by the index of their definition
	loose := map[string][]search.Line{}
	for i := range r.Files {
		f := &r.Files[i]
		in := c.definitionsIn(ctx, f.Path)
		last := -1
		for j := range f.Lines {
			switch s := innermost(in, &f.Lines[j]); {
			case s == nil:
				loose[f.Path] = append(loose[f.Path], f.Lines[j])
			case s.StartLine != last:
				last = s.StartLine
				list = append(list, *s)
				list[len(list)-1].Path = f.Path
				fallthrough
			default:
				hits[len(list)-1] = append(hits[len(list)-1], f.Lines[j].Number)
			}
		}
	}
	left := c.limits().Budget - len(a.text)
	cut := 0
	for i := range list {
		s := &list[i]
		if data.Total++; i >= maxDefinitions || left <= 0 {
			cut++
			continue
		}
		t, err := c.ws.Read(ctx, s.Path, &search.ReadOptions{Start: s.StartLine, End: s.EndLine, MaxLines: c.d.limits.readLines, MaxBytes: max(left, 1)})
		if err != nil {
			continue
		}
		s.Text = strings.Join(t.Lines, "\n")
		text := "\n\n" + c.definition(s, t, hits[i], len(list))
		if len(text) > left && i > 0 {
			cut, left = cut+1, 0
			continue
		}
		a.text = append(a.text, text...)
		left -= len(text)
		data.Definitions = append(data.Definitions, symbolData(s))
	}
	data.Shown = len(data.Definitions)
	for i := range r.Files {
		if lines := loose[r.Files[i].Path]; len(lines) > 0 && left > 0 {
			head := "\n\n# " + render.Path(r.Files[i].Path)
			a.text = append(a.text, head...)
			left -= len(head)
			file := foundFile{foundPath: pathOf(r.Files[i].Path), Lines: []foundLine{}}
			for j := range lines {
				before := len(a.text)
				if a.text, left = c.appendLine(a.text, &lines[j], left); len(a.text) == before {
					break
				}
				file.Matched++
				file.Lines = append(file.Lines, foundLine{Line: lines[j].Number, Text: looseText(&lines[j])})
			}
			data.Files = append(data.Files, file)
		}
	}
	if len(list) > c.d.limits.wholeDefinitions && !c.Given("budget") {
		a.receipt = append(a.receipt, "of so many only the matching lines; budget shows bodies, read_file path#Name one")
	}
	if cut > 0 {
		a.receipt = append(a.receipt, fmt.Sprintf("%s not shown for want of room; narrow path or pattern", fault.Count(cut, "definition")))
	}
	if r.Stopped != "" {
		a.receipt = append(a.receipt, "not all matches were looked at: give a larger max_results")
	}
	c.tellMissed(a, &r.Summary)
	return a, nil
}

// definition formats one of several definitions for an answer: as unmodified text or as
// numbered lines.
func (c *call) definition(s *search.Symbol, t *search.Text, hits []int, of int) string {
	if c.d.plain {
		p := definitionPassage(s, s.Text)
		p.hits = hits
		if of <= c.d.limits.wholeDefinitions || c.Given("budget") {
			return p.text(len(t.Lines))
		}
		text := fmt.Sprintf("## %s:%d-%d %s\n%s", render.Path(s.Path), s.StartLine, s.EndLine, qualified(s), s.Signature)
		for _, n := range hits {
			if n != s.Line && n-t.First < len(t.Lines) {
				text += fmt.Sprintf("\n%d: %s", n, strings.TrimSpace(t.Lines[n-t.First]))
			}
		}
		return text
	}
	return fmt.Sprintf("## %s:%d-%d %s %s", render.Path(s.Path), s.StartLine, s.EndLine, s.Kind, qualified(s)) + numbered(t.Lines, t.First)
}

// definitionsIn returns the definitions of a file, or none if they can't be read.
func (c *call) definitionsIn(ctx context.Context, path string) []search.Symbol {
	r, err := c.ws.Symbols(ctx, search.SymbolQuery{Scope: search.Scope{Paths: []string{path}, IncludeHidden: true, IncludeIgnored: true}})
	if err != nil {
		return nil
	}
	return r.Symbols
}

// innermost returns the smallest definition that contains a line, even if it begins there;
// Line.Symbol is then the next larger one. Fields and one-line variables don't count.
func innermost(list []search.Symbol, l *search.Line) *search.Symbol {
	best := l.Symbol
	for i := range list {
		s := &list[i]
		if l.Number < s.StartLine || l.Number > s.EndLine {
			continue
		}
		switch s.Kind {
		case "module", "heading", "field", "member":
			continue
		case "variable", "constant":
			if s.EndLine == s.Line {
				continue
			}
		}
		if best == nil || s.EndLine-s.StartLine < best.EndLine-best.StartLine {
			best = s
		}
	}
	return best
}

func (c *call) appendLine(text []byte, l *search.Line, left int) ([]byte, int) {
	before := len(text)
	text = fmt.Appendf(text, "\n%d: %s", l.Number, looseText(l))
	if left -= len(text) - before; left < 0 {
		return text[:before], left
	}
	return text, left
}

// looseText formats a matching line outside any definition, cut around its match.
func looseText(l *search.Line) string {
	line, _, _ := render.Window(l, render.BlockLine)
	return strings.TrimRight(strings.ToValidUTF8(string(line), "\uFFFD"), " \t")
}

// numbered joins lines with their numbers. Each is preceded by a line feed.
func numbered(lines []string, first int) string {
	var b strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&b, "\n%d: %s", first+i, line)
	}
	return b.String()
}

// qualified returns a symbol's name with its container.
func qualified(s *search.Symbol) string {
	if s.Container != "" {
		return s.Container + "." + s.Name
	}
	return s.Name
}
