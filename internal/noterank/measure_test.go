package noterank

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/internal/vault"
)

// known is a query with the note it should find.
type known struct{ query, want string }

// corpus is a folder of notes, with queries made from its links: the text of a link is a
// person's name for the target note.
type corpus struct {
	paths []string
	texts map[string][]byte
	ix    *vault.Index

	notes []*note
	terms map[string][]cached // by text: the words are found once, not for each query
}

type cached struct {
	start, end int
	term       []byte
}

func (c *corpus) each(text []byte, f func(start, end int, term []byte)) {
	key := string(text)
	if len(text) > 0 {
		key = fmt.Sprintf("%p %d", &text[0], len(text))
	}
	if len(text) < 200 {
		key = string(text)
	}
	list, ok := c.terms[key]
	if !ok {
		eachTerm(context.Background(), text, func(start, end int, term []byte) { list = append(list, cached{start, end, slices.Clone(term)}) })
		c.terms[key] = list
	}
	for _, w := range list {
		f(w.start, w.end, w.term)
	}
}

func readCorpus(t *testing.T) *corpus {
	t.Helper()
	dir := os.Getenv("QUARRY_NOTES_CORPUS")
	if dir == "" {
		t.Skip("set QUARRY_NOTES_CORPUS to a folder of at least 1,000 linked notes to measure the order of notes")
	}
	c := &corpus{texts: map[string][]byte{}, terms: map[string][]cached{}}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(p) != ".md" {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		rel = filepath.ToSlash(rel)
		c.paths = append(c.paths, rel)
		c.texts[rel], err = os.ReadFile(p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(c.paths)
	c.ix = vault.NewIndex(c.paths)
	for _, p := range c.paths {
		scan, err := vault.Scan(t.Context(), c.texts[p])
		if err != nil {
			t.Fatal(err)
		}
		c.notes = append(c.notes, takeApart(p, c.texts[p], scan, vault.ReadHead(t.Context(), c.texts[p])))
	}
	return c
}

// target finds the note that a link leads to. On web sites a path may name a folder of the
// corpus that has its own page.
func (c *corpus) target(source string, l *vault.Link) string {
	if p, ok := c.ix.ResolveLink(source, l); ok && strings.HasSuffix(p, ".md") {
		return p
	}
	site := strings.Trim(path.Clean("/"+l.Path), "/")
	if !strings.HasPrefix(l.Path, "/") || site == "" {
		return ""
	}
	// An address may begin with a part that is not in the corpus, such as a language.
	for range 3 {
		for _, try := range []string{site + ".md", site + "/_index.md", site + "/index.md"} {
			if p, ok := c.ix.Resolve("", try); ok {
				return p
			}
		}
		var more bool
		if _, site, more = strings.Cut(site, "/"); !more {
			break
		}
	}
	return ""
}

// queries returns at most n link texts of at least two words, one for each target note.
func (c *corpus) queries(n int) []known {
	byTarget := map[string][]string{}
	for _, p := range c.paths {
		links, err := vault.ScanLinks(context.Background(), "a.md", c.texts[p])
		if err != nil {
			panic(err) // ctx never ends
		}
		for _, l := range links {
			if l.External || l.Embed || l.Alias == "" || l.Subpath != "" {
				continue
			}
			to := c.target(p, &l)
			words := 0
			eachWord([]byte(l.Alias), nil, func(_, _ int, w []byte) bool {
				if !stopWords[string(w)] {
					words++
				}
				return true
			})
			if to != "" && to != p && words >= 2 && words <= 8 && !strings.ContainsAny(l.Alias, "[]{}<>`") {
				byTarget[to] = append(byTarget[to], l.Alias)
			}
		}
	}
	rng := rand.New(rand.NewPCG(11, 12))
	var out []known
	for _, to := range c.paths {
		if texts := byTarget[to]; len(texts) > 0 {
			out = append(out, known{texts[rng.IntN(len(texts))], to})
		}
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:min(n, len(out))]
}

// inflect gives one word of a query another form that the note doesn't have.
func inflect(q known, text []byte) (known, bool) {
	lower := strings.ToLower(string(text) + q.want)
	words := strings.Fields(q.query)
	for i := len(words) - 1; i >= 0; i-- {
		w := strings.ToLower(words[i])
		if len(w) < 4 || stopWords[w] || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
			continue
		}
		var forms []string
		switch {
		case strings.HasSuffix(w, "ing"):
			forms = []string{w[:len(w)-3] + "ed", w[:len(w)-3] + "es"}
		case strings.HasSuffix(w, "ies"):
			forms = []string{w[:len(w)-3] + "y"}
		case strings.HasSuffix(w, "ed"):
			forms = []string{w[:len(w)-2] + "ing"}
		case strings.HasSuffix(w, "s"):
			forms = []string{w[:len(w)-1], w[:len(w)-1] + "ing"}
		case strings.HasSuffix(w, "e"):
			forms = []string{w + "s", w[:len(w)-1] + "ing"}
		default:
			forms = []string{w + "s", w + "ing"}
		}
		for _, f := range forms {
			if !strings.Contains(lower, f) {
				words[i] = f
				return known{strings.Join(words, " "), q.want}, true
			}
		}
	}
	return q, false
}

// measure returns the shares of queries whose note comes first, and is among the first ten.
func (c *corpus) measure(queries []known, rank func(query string) []string) (first, ten float64) {
	for _, q := range queries {
		list := rank(q.query)
		at := slices.Index(list, q.want)
		if at == 0 {
			first++
		}
		if at >= 0 && at < 10 {
			ten++
		}
	}
	return first / float64(len(queries)), ten / float64(len(queries))
}

func (c *corpus) ours(query string) []string {
	q := New(query)
	var docs []*Doc
	var paths []string
	for i, p := range c.paths {
		if d, ok := q.countNote(context.Background(), c.notes[i], c.each); ok {
			docs, paths = append(docs, d), append(paths, p)
		}
	}
	return ranked(q, paths, docs, len(c.paths))
}

// ranked orders notes like a search for ten.
func ranked(q *Query, paths []string, docs []*Doc, notes int) []string {
	w := q.Weigh(docs, notes)
	var first []string
	var scores []float64
	for _, at := range w.First(docs, 30) {
		first, scores = append(first, paths[at]), append(scores, w.Score(docs[at]))
	}
	return sorted(first, scores)
}

func sorted(paths []string, scores []float64) []string {
	order := make([]int, len(paths))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	out := make([]string, len(paths))
	for i, at := range order {
		out[i] = paths[at]
	}
	return out
}

// plain is BM25 over unchanged words, with path and text as one field, as in other programs.
type plain struct {
	c      *corpus
	counts []map[string]int
	length []int
	mean   float64
	with   map[string]int
}

func newPlain(c *corpus) *plain {
	p := &plain{c: c, with: map[string]int{}}
	for _, path := range c.paths {
		m := map[string]int{}
		n := 0
		eachWord([]byte(path+"\n"+string(c.texts[path])), nil, func(_, _ int, w []byte) bool { m[string(w)]++; n++; return true })
		for w := range m {
			p.with[w]++
		}
		p.counts, p.length = append(p.counts, m), append(p.length, n)
		p.mean += float64(n) / float64(len(c.paths))
	}
	return p
}

func (p *plain) rank(query string) []string {
	scores := make([]float64, len(p.c.paths))
	eachWord([]byte(query), nil, func(_, _ int, w []byte) bool {
		n := p.with[string(w)]
		idf := math.Log(1 + (float64(len(scores)-n)+0.5)/(float64(n)+0.5))
		for i, m := range p.counts {
			if tf := float64(m[string(w)]); tf > 0 {
				scores[i] += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*float64(p.length[i])/p.mean))
			}
		}
		return true
	})
	return sorted(p.c.paths, scores)
}

// TestMeasureOrder makes the measurements in docs/NOTES.md.
func TestMeasureOrder(t *testing.T) {
	c := readCorpus(t)
	queries := c.queries(150)
	if len(queries) < 100 {
		t.Fatalf("%d notes make only %d queries", len(c.paths), len(queries))
	}
	var other []known
	for _, q := range queries {
		if o, ok := inflect(q, c.texts[q.want]); ok {
			other = append(other, o)
		}
	}
	reference := newPlain(c)
	t.Logf("%d notes, %d queries, %d with a word in another form", len(c.paths), len(queries), len(other))
	first, ten := c.measure(queries, reference.rank)
	t.Logf("plain BM25: %.2f first, %.2f in ten", first, ten)
	first, ten = c.measure(other, reference.rank)
	t.Logf("plain BM25, another form: %.2f first, %.2f in ten", first, ten)
	first, ten = c.measure(queries, c.ours)
	t.Logf("ours: %.2f first, %.2f in ten", first, ten)
	f2, t2 := c.measure(other, c.ours)
	t.Logf("ours, another form: %.2f first, %.2f in ten", f2, t2)
	if first < 0.80 || t2 < 0.85 {
		t.Errorf("want at least 0.80 first, and 0.85 in ten for other forms")
	}
}
