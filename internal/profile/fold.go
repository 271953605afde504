package profile

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/search"
)

// foldFrom is the length in lines of the shortest body that is folded. Folding a shorter
// one saves nothing, because the fold marker itself takes a line.
const foldFrom = 4

// folding reports whether to show a file with its bodies folded.
func (c *call) folding(p *part) bool {
	return c.takes("fold") && p.whole() && (c.Bool("fold") || c.String("expand") != "")
}

// folded reads a file with the bodies of its functions folded, except those that expand
// names. If the result is still too long, only the lines that begin a definition are
// shown. folded returns nil for a file without definitions, such as a log. Its answer has
// no version, so that it can't be mistaken for the whole file.
func (c *call) folded(ctx context.Context, path string, most int) (*answer, error) {
	t, err := c.ws.Read(ctx, path, &search.ReadOptions{MaxBytes: maxFolded})
	if err != nil {
		return c.unread(ctx, err, path)
	}
	q := search.SymbolQuery{Scope: search.Scope{Paths: []string{t.Path}, IncludeHidden: true, IncludeIgnored: true}, Limit: 20000}
	r, err := c.ws.Symbols(ctx, q)
	if err != nil || len(r.Symbols) == 0 {
		return nil, err
	}
	open, err := c.expanded(ctx, t, r.Symbols)
	if err != nil {
		return nil, err
	}
	text, bodies := foldText(t, r.Symbols, open, isNote(t.Path)) // for a note, its headings
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(text) > most {
		text, bodies = foldText(t, r.Symbols, open, true)
	}
	if bodies == 0 && !c.Bool("fold") {
		return nil, nil // folding saves nothing
	}
	note := fmt.Sprintf("%s, %s folded: path#Name,Name reads them, fold: false all", fault.Count(t.Total, "line"), fault.Count(bodies, "body", "bodies"))
	if cut := strings.LastIndexByte(text[:min(len(text), most)], '\n'); len(text) > most && cut > 0 {
		text = text[:cut]
		note += "; cut, path:lines reads the rest"
	}
	data := &readAnswer{foundPath: pathOf(t.Path), Start: 1, End: t.Total, Total: t.Total, Cut: true, Encoding: t.Encoding, Ending: t.Ending, Lines: strings.Split(text, "\n")}
	return &answer{text: []byte(text), data: data, receipt: []string{note}}, nil
}

// maxFolded is the size in bytes of the largest text that is folded.
const maxFolded = 4 << 20

// expanded selects the definitions that stay unfolded. expand holds comma-separated names
// or a regular expression; the expression is tried on the names and, if none matches, on
// the text.
func (c *call) expanded(ctx context.Context, t *search.Text, list []search.Symbol) (func(s *search.Symbol) bool, error) {
	given := strings.TrimSpace(c.String("expand"))
	if given == "" {
		return func(*search.Symbol) bool { return false }, nil
	}
	names := strings.FieldsFunc(given, func(r rune) bool { return r == ',' || r == ' ' })
	re, err := regexp.Compile("^(?:" + given + ")$")
	if err != nil {
		return nil, invalid("Invalid expand %q: give names with commas between them, or a regular expression.", given)
	}
	named := func(s *search.Symbol) bool {
		return slices.Contains(names, s.Name) || slices.Contains(names, qualified(s)) || re.MatchString(s.Name) || re.MatchString(qualified(s))
	}
	if slices.ContainsFunc(list, func(s search.Symbol) bool { return named(&s) }) {
		return named, nil
	}
	inText := regexp.MustCompile(given)
	fits := map[int]bool{} // by first line
	for i, line := range t.Lines {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !inText.MatchString(line) {
			continue
		}
		if s := innermost(list, &search.Line{Number: i + 1}); s != nil {
			fits[s.StartLine] = true
		}
	}
	return func(s *search.Symbol) bool { return fits[s.StartLine] }, nil
}

// foldText folds the bodies of a text and returns how many it folded. Comments are
// reduced to their first line. The license and blank lines are omitted, which shows in
// the line numbers. If bare is set, only lines that begin a definition are kept.
func foldText(t *search.Text, list []search.Symbol, open func(*search.Symbol) bool, bare bool) (string, int) {
	const shown, folded, hidden = 1, 2, 3
	lines := make([]byte, len(t.Lines)+1) // by line number, from 1
	mark := func(from, to int, as byte) {
		for n := max(from, 1); n <= min(to, len(t.Lines)); n++ {
			lines[n] = as
		}
	}
	// markAll marks the given lines of all definitions. Definitions may be nested, but each
	// line is marked once.
	markAll := func(lines func(*search.Symbol) (from, to int), as byte) {
		depth := make([]int, len(t.Lines)+2)
		for i := range list {
			from, to := lines(&list[i])
			if from, to = max(from, 1), min(to, len(t.Lines)); from <= to {
				depth[from]++
				depth[to+1]--
			}
		}
		in := 0
		for n := 1; n <= len(t.Lines); n++ {
			if in += depth[n]; in > 0 {
				mark(n, n, as)
			}
		}
	}
	own := commentLines(t.Path, t.Lines)
	for i, line := range t.Lines {
		if strings.TrimSpace(line) == "" || own[i] && i > 0 && own[i-1] {
			lines[i+1] = hidden
		}
	}
	mark(1, licence(own, t.Lines), hidden)
	if bare {
		mark(1, len(t.Lines), folded)
	}
	markAll(func(s *search.Symbol) (from, to int) {
		if !bare && (s.Kind == "function" || s.Kind == "method" || s.Kind == "test") && s.EndLine-s.Line >= foldFrom {
			return s.Line + 1, s.EndLine
		}
		return 1, 0
	}, folded)
	for i := range list {
		s := &list[i]
		if slices.Contains(outlined, s.Kind) {
			mark(s.Line, s.Line, shown)
		}
	}
	markAll(func(s *search.Symbol) (from, to int) {
		if open(s) {
			return s.StartLine, s.EndLine
		}
		return 1, 0
	}, shown)
	var b strings.Builder
	bodies := 0
	for n := 1; n <= len(t.Lines); n++ {
		switch lines[n] {
		case hidden:
			continue
		case folded:
		default:
			fmt.Fprintf(&b, "\n%d: %s", n, t.Lines[n-1])
			continue
		}
		from := n
		for n < len(t.Lines) && lines[n+1] == folded {
			n++
		}
		bodies++
		if b.Len() == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, " … %s", fault.Count(n-from+1, "line"))
	}
	return strings.TrimPrefix(b.String(), "\n"), bodies
}
