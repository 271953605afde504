package profile

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"quarry/internal/colour"
	"quarry/internal/render"
	"quarry/search"
)

// passage is a piece of a file in an answer: its location, then its unmodified text. It has
// no line numbers: they would take a tenth of its room (trials of November 2026), and edits
// are by text.
type passage struct {
	path       string // as in answers
	start, end int    // line range, including the comment before the definition
	kind, name string
	lines      []string
	hits       []int  // line numbers of hits, which are shown with some context in a long passage
	picked     []bool // which lines to show; nil shows as many as fit
}

const (
	// A comment before a definition is shown whole up to longDoc lines; of a longer one,
	// the first keptDoc lines are kept. Before, a comment of 60 lines could take the room
	// of the function of 6 lines below it.
	longDoc, keptDoc = 6, 4
	// A definition with hits is shown whole up to wholeDefinition lines; of a longer one,
	// its first lines and the context of each hit are shown.
	wholeDefinition     = 50
	hitBefore, hitAfter = 12, 18
)

func definitionPassage(s *search.Symbol, text string) passage {
	return passage{path: render.Path(s.Path), start: s.StartLine, end: s.EndLine, kind: s.Kind, name: qualified(s), lines: strings.Split(text, "\n")}
}

// place returns the location and kind of a passage. The kind of a function is omitted,
// because its text and name show it.
func (p *passage) place() string {
	at := p.path + ":" + itoa(p.start)
	if p.end > p.start {
		at += "-" + itoa(p.end)
	}
	switch {
	case p.name == "":
		return at
	case p.kind == "function" || p.kind == "method" || p.kind == "":
		return at + " " + render.Name(p.name)
	}
	return at + " " + p.kind + " " + render.Name(p.name)
}

// text returns the passage in no more than most lines, or slightly more if that shows all of
// it, because reading the rest costs another call. Long lines are cut around one of the
// words.
func (p *passage) text(most int, words ...string) string {
	var b strings.Builder
	b.WriteString("## " + p.place())
	lines, doc := p.lines, 0
	for len(lines) > 1 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	for own := commentLines(p.path, lines); doc < len(lines) && own[doc]; {
		doc++
	}
	if doc > longDoc && doc < len(lines) {
		for _, line := range lines[:keptDoc] {
			b.WriteString("\n" + aroundWord(line, words))
		}
		fmt.Fprintf(&b, "\n … %d lines", doc-keptDoc)
		lines = lines[doc:]
		most -= keptDoc
	} else {
		doc = 0
	}
	if len(lines) <= most+most/4 {
		most = len(lines)
	}
	omitted := 0
	for i, line := range lines {
		if p.picked == nil && i >= most || p.picked != nil && !p.picked[doc+i] || !p.wants(doc+i, doc) {
			omitted++
			continue
		}
		if omitted > 0 {
			b.WriteString(p.gap(doc+i-omitted, omitted))
			omitted = 0
		}
		b.WriteString("\n" + aroundWord(line, words))
	}
	if omitted > 0 {
		first := doc + len(lines) - omitted
		b.WriteString(p.gap(first, max(omitted, p.end-p.start+1-first)))
	}
	return b.String()
}

// pick selects no more than most lines of a long passage: its first lines, and the lines with
// the most words of the query, each with one line before and two after.
func (p *passage) pick(most int, words []string) {
	const head, before, after = 3, 1, 2
	own := commentLines(p.path, p.lines)
	doc := 0
	for doc < len(p.lines) && own[doc] {
		doc++
	}
	if len(p.lines)-doc <= most+most/4 {
		return
	}
	has := make([]int, len(p.lines))
	order := make([]int, 0, len(p.lines)) // lines that contain words, those with the most first
	for i, line := range p.lines[doc:] {
		line = strings.ToLower(line)
		for _, w := range words {
			if strings.Contains(line, w) {
				has[doc+i]++
			}
		}
		if has[doc+i] > 0 {
			order = append(order, doc+i)
		}
	}
	if len(order) == 0 || order[len(order)-1] < doc+most {
		return
	}
	slices.SortStableFunc(order, func(a, b int) int { return has[b] - has[a] })
	p.picked = make([]bool, len(p.lines))
	for i := range doc {
		p.picked[i] = true
	}
	left := most - doc
	if doc > longDoc {
		left = most - keptDoc
	}
	show := func(from, to int) {
		for i := max(from, doc); i < min(to, len(p.lines)) && left > 0; i++ {
			if !p.picked[i] {
				p.picked[i] = true
				left--
			}
		}
	}
	show(doc, doc+head)
	for _, i := range order {
		show(i-before, i+after+1)
	}
}

// signature returns the first line of a passage that is code.
func (p *passage) signature() string {
	own := commentLines(p.path, p.lines)
	for i, line := range p.lines {
		if line = strings.TrimSpace(line); line != "" && !own[i] && !strings.HasPrefix(line, "@") && !strings.HasPrefix(line, "#[") {
			return line
		}
	}
	return ""
}

// gap marks n omitted lines and gives their range, so that the caller can read them.
func (p *passage) gap(first, n int) string {
	if n == 1 {
		return fmt.Sprintf("\n … line %d", p.start+first)
	}
	return fmt.Sprintf("\n … lines %d-%d", p.start+first, p.start+first+n-1)
}

// wants reports whether line i is shown. i is relative to the first line; doc is the
// length of the comment. Lines near a hit are shown, and the first lines after the
// comment.
func (p *passage) wants(i, doc int) bool {
	if len(p.hits) == 0 || len(p.lines)-doc <= wholeDefinition || i < doc+keptDoc {
		return true
	}
	return slices.ContainsFunc(p.hits, func(n int) bool { return i >= n-p.start-hitBefore && i <= n-p.start+hitAfter })
}

// commentLines reports for each line whether it consists of comments only.
func commentLines(name string, lines []string) []bool {
	out := make([]bool, len(lines))
	lang := colour.For(path.Base(name))
	if lang == nil {
		return out
	}
	// A line is a comment if all its characters except white space are in one.
	has, other := make([]bool, len(lines)), make([]bool, len(lines))
	n := 0
	lang.Each(strings.Join(lines, "\n"), func(piece string, c colour.Class) bool {
		for len(piece) > 0 {
			part, rest, more := strings.Cut(piece, "\n")
			if c == colour.Comment {
				has[n] = true
			} else if strings.TrimSpace(part) != "" {
				other[n] = true
			}
			if !more {
				break
			}
			n++
			if piece = rest; c == colour.Comment {
				has[n] = true
			}
		}
		return n < len(lines)
	})
	for i := range out {
		out[i] = has[i] && !other[i]
	}
	return out
}

var licenceWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)copyright|licen[cs]e|SPDX-|all rights reserved`)
})

// licence counts the lines of a license comment at the beginning of a file, including the
// blank lines after it. It returns 0 if there is none or it is short.
func licence(own []bool, lines []string) int {
	n := 0
	for n < len(lines) && own[n] {
		n++
	}
	if n < foldFrom || !licenceWords().MatchString(strings.Join(lines[:n], "\n")) {
		return 0
	}
	for n < len(lines) && strings.TrimSpace(lines[n]) == "" {
		n++
	}
	return n
}
