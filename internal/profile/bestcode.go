package profile

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"quarry/search"
)

const (
	// nearBest is the lowest score shown, as a share of the best score. Of 60 functions
	// of this project, searched by the words of their comments, 48 were among the first
	// ten results; the lowest of these had 0.57 of the best score.
	nearBest = 0.5
	// textNear is the lowest score whose text is shown, as a share of the best score. In
	// nine trials, agents read the text of the first result but needed only the names of
	// the others.
	textNear = 0.85
	// blockLines limits the lines shown of one result, so that one result can't fill the
	// answer.
	blockLines = 20
	// Further results are listed by name only: nextCode of them always, and up to
	// namedCode if they score near the best. nextRoom estimates the bytes of such a line
	// besides its path and name.
	nextCode, namedCode, nextRoom = 6, 10, 24
)

// writeBest answers with the results that score near the best, each reduced to the piece
// that does the work. Tests and generated files come last, by name only.
func writeBest(ctx context.Context, c *call, q search.CodeQuery, r *search.CodeResult) (*answer, error) {
	if r.Total == 0 || r.Stopped == search.StopTime {
		return writeRanked(ctx, c, q, r)
	}
	data := c.codeChunks(q, r)
	words := queryWords(c.String("query"))
	if some := slices.DeleteFunc(slices.Clone(data.Results), func(k codeChunk) bool { return declaresNothing(&k) }); len(some) > 0 {
		data.Results = some
	}
	data.Results = onceEach(workFirst(data.Results, words))
	best := data.Results[0].Score
	var main, below, aside []codeChunk
	for _, k := range data.Results {
		switch {
		case asideCode().MatchString(k.Path) && k.Score >= best*nearBest/5: // such files are ranked with a lowered score
			aside = append(aside, k)
		case k.Score < best*nearBest:
			below = append(below, k)
		default:
			main = append(main, k)
		}
	}
	// A definition's name tells more than the name of a text fragment.
	slices.SortStableFunc(below, func(a, b codeChunk) int { return cmp.Compare(min(len(b.Symbol), 1), min(len(a.Symbol), 1)) })
	if len(main) == 0 {
		main, aside = aside, nil
	}
	if c.Given("top_k") {
		main = main[:min(len(main), c.Int("top_k"))]
	}
	a := &answer{data: data, sum: &r.Summary}
	left := c.codeBudget()
	if left == 0 || left > c.room() {
		left = c.room()
	}
	// The next results are always named: the wanted one is often among them.
	next := nextCode
	if c.Given("top_k") {
		next, below, aside = 0, nil, nil
	}
	all := slices.Concat(main, below, aside)
	for i := 1; i < min(len(all), 1+next); i++ {
		left -= len(all[i].Path) + len(all[i].Symbol) + nextRoom
	}
	shown := 0
	places := c.String("show") == "places"
	for shown < len(main) && !places && !c.Bool("compact") && main[shown].Score >= best*textNear {
		p := all[shown].passage()
		p.pick(blockLines, words)
		text := p.text(blockLines, words...)
		if shown > 0 && len(text) > left {
			break
		}
		if shown > 0 {
			a.text = append(a.text, "\n\n"...)
		}
		a.text = append(a.text, text...)
		left -= len(text)
		shown++
	}
	named := shown
	for ; named < len(all); named++ {
		p := all[named].passage()
		line := "\n- " + p.place()
		if signature := p.signature(); places && p.name != "" && signature != "" {
			line += ": " + aroundWord(signature, words)
		}
		if i := named - shown; i >= next && (i == namedCode || named >= len(main) || len(line) > left) {
			break
		}
		if named == shown && shown > 0 {
			a.text = append(a.text, '\n')
		}
		a.text = append(a.text, line...)
		left -= len(line)
		all[named].Text = nil
	}
	data.Results = all[:named]
	a.text = []byte(strings.TrimLeft(string(a.text), "\n"))
	c.tellMissed(a, &r.Summary)
	return a, nil
}

func (k *codeChunk) passage() *passage {
	p := &passage{path: k.Path, start: k.Start, end: k.End, kind: k.Kind, name: k.Symbol}
	if k.Text != nil {
		p.lines = strings.Split(*k.Text, "\n")
	}
	return p
}

// asideCode matches paths of tests, fixtures, dependencies and generated files.
var asideCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(^|/)(tests?|testdata|__tests__|spec|fixtures?|mocks?|vendor|node_modules|third_party|dist|build|generated)/|` +
		`(_test(_\w+)?|_spec|\.test|\.spec|_pb2|\.pb|\.gen|_gen|\.generated|\.min)\.\w+$|(^|/)test_[^/]*\.py$|\.\w*test$`)
})

// onceEach keeps the best piece of each definition, since long definitions are ranked in
// pieces. The kept piece is extended to the end of the adjoining pieces after it.
func onceEach(list []codeChunk) (out []codeChunk) {
	at := map[[2]string]int{}
	for _, k := range list {
		key := [2]string{k.Path, k.Symbol}
		if i, again := at[key]; again && k.Symbol != "" {
			if k.Start > out[i].Start {
				out[i].End = max(out[i].End, k.End)
			}
			continue
		}
		at[key] = len(out)
		out = append(out, k)
	}
	return out
}

// declaresNothing reports whether a piece is only a package clause.
func declaresNothing(k *codeChunk) bool {
	return k.Kind == "module" && k.End-k.Start < 3
}

// workFirst moves a method before its type if it contains as many words of the query: the
// method does the work, the type only names it.
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
