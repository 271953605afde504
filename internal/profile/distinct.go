package profile

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/replacer"
	"quarry/match"
	"quarry/search"
)

// distinctMatch is a matched text and its number of occurrences.
type distinctMatch struct {
	Text  string `json:"text"`
	Count int    `json:"count"`
	Texts int    `json:"texts,omitempty"` // number of texts merged into this one; they differ only in strings
	// The place of the first occurrence.
	foundPath
	Line int `json:"line"`
}

const (
	// maxDistinct limits the distinct texts counted separately.
	maxDistinct = 10_000
	// matchText limits the characters shown of a matched text.
	matchText = 160
)

// showMatches answers with the distinct matched texts and their counts, the most frequent
// first, like rg -o | sort | uniq -c. In trials, agents read 121 lines to learn that a
// function is called in five ways.
func (c *call) showMatches(ctx context.Context, q search.Query, filter string) (*answer, error) {
	q.Before, q.After, q.Symbols, q.Spans, q.CountMatches, q.Offset = 0, 0, false, true, true, 0
	q.Limits = search.Limits{Time: c.o.Time}
	whole := q.Match.Mode != match.Lines || q.Structure != ""
	seen := map[string]*distinctMatch{}
	var list []*distinctMatch
	others := 0 // matches of texts found after maxDistinct was reached
	sum, err := c.ws.SearchEach(ctx, q, func(f *search.FileMatch) error {
		for i := range f.Lines {
			for _, text := range matchedTexts(f.Lines[i:], whole) {
				m := seen[string(text)]
				switch {
				case m != nil:
					m.Count++
				case len(list) == maxDistinct:
					others++
				default:
					m = &distinctMatch{Text: string(text), Count: 1, foundPath: pathOf(f.Path), Line: f.Lines[i].Number}
					seen[m.Text] = m
					list = append(list, m)
				}
			}
		}
		return nil
	})
	if err == nil {
		err = budgetError(sum)
	}
	if err != nil {
		return nil, err
	}
	data := &searchAnswer{Files: []foundFile{}, Total: len(list), Exact: sum.Exact && others == 0}
	a := &answer{data: data, sum: sum}
	partial := c.unfinished(sum)
	if len(list) == 0 {
		a.text = []byte("No matches.")
		if partial == "" {
			a.receipt = c.whyEmpty(ctx, q, sum, filter)
		} else {
			a.text = append(a.text, "\n\n"+partial...)
		}
		return a, nil
	}
	a.text = fmt.Appendf(nil, "%s, %d different", matchCount(sum), len(list))
	if len(list) > c.d.limits.distinct && !c.Given("budget") {
		if few := exceptStrings(list); len(few) < len(list) {
			list = few
			a.receipt = append(a.receipt, "texts that differ only in strings are one; budget lists them all")
		}
	}
	slices.SortStableFunc(list, func(a, b *distinctMatch) int { return cmp.Compare(b.Count, a.Count) })
	lim := c.limits()
	for _, m := range list {
		mark := len(a.text)
		like := ""
		if m.Texts > 0 {
			like = "like "
		}
		a.text = fmt.Appendf(a.text, "\n%d %s%s", m.Count, like, fault.Clip(strings.ReplaceAll(m.Text, "\n", `\n`), matchText))
		if m.Count == 1 {
			a.text = fmt.Appendf(a.text, "  %s:%d", m.text(), m.Line)
		}
		if lim.Full(len(a.text)) {
			a.text = a.text[:mark]
			break
		}
		data.Distinct = append(data.Distinct, *m)
	}
	if len(list) == 1 && list[0].Count > 1 && q.Match.Syntax != match.Literal {
		a.receipt = append(a.receipt, "the pattern matches nothing else; with .* at its end the forms of what follows are listed")
	}
	data.Shown = len(data.Distinct)
	if left := len(list) - data.Shown; left > 0 {
		a.receipt = append(a.receipt, fmt.Sprintf("%s not shown, less frequent; narrow the pattern, or raise budget", fault.Count(left, "text")))
	}
	if others > 0 {
		a.receipt = append(a.receipt, fmt.Sprintf("%s of still other texts", fault.Count(others, "match", "matches")))
	}
	if partial != "" {
		a.text = append(a.text, "\n\n"+partial...)
	}
	c.tellMissed(a, sum)
	return a, nil
}

// exceptStrings merges texts that differ only inside quotes: in trials, agents read 90
// lines with the same call and different messages.
func exceptStrings(list []*distinctMatch) (out []*distinctMatch) {
	byForm := map[string]*distinctMatch{}
	for _, m := range list {
		form := replacer.Unquoted(m.Text)
		first := byForm[form]
		if first == nil {
			one := *m
			byForm[form] = &one
			out = append(out, &one)
			continue
		}
		first.Count += m.Count
		first.Texts = max(first.Texts, 1) + 1
	}
	return out
}

// matchedTexts returns the texts of the matches that begin in the first of lines. If
// whole is set, a match may end in a later line.
func matchedTexts(lines []search.Line, whole bool) (out [][]byte) {
	l := &lines[0]
	if !whole {
		for _, s := range l.Spans {
			out = append(out, l.Text[s.Start:s.End])
		}
		return out
	}
	var text []byte
	for _, s := range l.Whole {
		for i := 0; len(text) < s.End && i < len(lines); i++ {
			if i == 0 {
				text = text[:0]
			}
			text = append(append(text, lines[i].Text...), lines[i].Ending...)
		}
		found := bytes.ToValidUTF8(text[min(s.Start, len(text)):min(s.End, len(text))], []byte("\uFFFD"))
		out = append(out, bytes.ReplaceAll(found, []byte("\r\n"), []byte("\n")))
	}
	return out
}
