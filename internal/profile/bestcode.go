package profile

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"quarry/internal/render"
	"quarry/search"
)

const (
	// nearBest is how near to the best score a result has to be to be shown. Of
	// 60 functions of this project that were asked for by the words of their
	// comments, 48 were among the first ten, the lowest at 0.57 of the best score.
	nearBest = 0.5
	// blockLines is how many lines of one result are shown, so that one can't
	// take the answer.
	blockLines = 20
	// namedCode is how many results have a line each after those with their text.
	namedCode = 10
)

// bestCode shows the results that are worth reading: while they score near the
// best, the piece that does the work, tests and generated files last and only
// named.
func (c *call) bestCode(ctx context.Context, r *search.CodeResult, data *codeAnswer) *answer {
	data.Results = workFirst(data.Results, queryWords(c.String("query")))
	best := data.Results[0].Score
	var main, aside []codeChunk
	below := 0
	for _, k := range data.Results {
		switch {
		case declaresNothing(&k):
		case asideCode().MatchString(k.Path) && k.Score >= best*nearBest/5: // their scores are lowered
			aside = append(aside, k)
		case k.Score < best*nearBest:
			below++
		default:
			main = append(main, k)
		}
	}
	if len(main) == 0 {
		main, aside = aside, nil
	}
	if c.Given("top_k") {
		main = main[:min(len(main), c.Int("top_k"))]
	}
	a := &answer{data: data}
	left := c.codeBudget()
	if left == 0 || left > c.room() {
		left = c.room()
	}
	left -= receiptRoom / 4
	var named []codeChunk
	for i := range main {
		k := &main[i]
		text := blockText(k)
		if c.Bool("compact") || i > 0 && len(text) > left {
			named = append(named, *k)
			continue
		}
		a.text = append(a.text, text...)
		left -= len(text)
	}
	data.Results = main[:len(main):len(main)]
	for i := range named {
		line := "\n- " + codePlace(&named[i])
		if i == namedCode || len(line) > left && i > 0 {
			below += len(named) - i
			data.Results = slices.DeleteFunc(data.Results, func(k codeChunk) bool {
				return slices.ContainsFunc(named[i:], func(n codeChunk) bool { return n.Path == k.Path && n.Start == k.Start })
			})
			break
		}
		a.text = append(a.text, line...)
		left -= len(line)
	}
	a.text = []byte(strings.TrimLeft(string(a.text), "\n"))
	if len(aside) > 0 {
		a.text = fmt.Appendf(a.text, "\n\nAlso %s in tests, fixtures or generated files: ", render.Plural(len(aside), "passage", "passages"))
		for i := range aside[:min(len(aside), 3)] {
			if i > 0 {
				a.text = append(a.text, ", "...)
			}
			a.text = append(a.text, codePlace(&aside[i])...)
		}
	}
	sum := c.sumUp(ctx, &r.Summary, "")
	data.Receipt = &sum
	if below > 0 {
		a.receipt = append(a.receipt, "less relevant ones omitted; more words or a path narrow it")
	}
	c.tellMissed(a, &r.Summary)
	return a
}

// asideCode are paths of tests, fixtures, dependencies and generated files.
var asideCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|/)(tests?|testdata|__tests__|spec|fixtures?|mocks?|vendor|node_modules|third_party|dist|build|generated)/|` +
		`(_test|_spec|\.test|\.spec|_pb2|\.pb|\.gen|_gen|\.generated|\.min)\.\w+$|(^|/)test_[^/]*\.py$`)
})

// declaresNothing reports a piece that is only the name of a package.
func declaresNothing(k *codeChunk) bool {
	return k.Kind == "module" && k.End-k.Start < 3
}

// workFirst puts a method before the type it belongs to, if it has as many of
// the query's words: it does the work, and the type only names it.
func workFirst(list []codeChunk, words []string) []codeChunk {
	has := func(k *codeChunk) int {
		if k.Text == nil {
			return 0
		}
		text, n := strings.ToLower(*k.Text), 0
		for _, w := range words {
			if strings.Contains(text, w) {
				n++
			}
		}
		return n
	}
	for i := 0; i < len(list); i++ {
		k := &list[i]
		if k.Kind == "function" || k.Kind == "method" || k.Symbol == "" {
			continue
		}
		for j := i + 1; j < len(list); j++ {
			m := &list[j]
			if m.Path == k.Path && strings.HasPrefix(m.Symbol, k.Symbol+".") && has(m) >= has(k) {
				moved := *m
				moved.Score = max(moved.Score, k.Score)
				list = slices.Insert(slices.Delete(list, j, j+1), i, moved)
				break
			}
		}
	}
	return list
}

// codePlace is where a result is and what it is.
func codePlace(k *codeChunk) string {
	place := k.Path + ":" + itoa(k.Start)
	if k.End > k.Start {
		place += "-" + itoa(k.End)
	}
	if k.Symbol != "" {
		place += " " + k.Kind + " " + render.Name(k.Symbol)
	}
	return place
}

// blockText is a result with its first lines.
func blockText(k *codeChunk) string {
	var b strings.Builder
	b.WriteString("\n\n## " + codePlace(k))
	if k.Text == nil {
		return b.String()
	}
	lines := strings.Split(*k.Text, "\n")
	most := blockLines
	if len(lines) <= most+most/4 {
		most = len(lines)
	}
	for n, line := range lines[:most] {
		fmt.Fprintf(&b, "\n%d: %s", k.Start+n, line)
	}
	if len(lines) > most {
		fmt.Fprintf(&b, "\n … %s", render.Plural(len(lines)-most, "line", "lines"))
	}
	return b.String()
}
