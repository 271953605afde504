package main

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// bm25 ranks passages of text by plain BM25, for comparison. Words are letters, digits and
// underscores, in lower case. It uses no other information.
type bm25 struct {
	texts []passage
	with  map[string]int // number of passages that contain each word
	mean  float64        // mean number of words in a passage
	cut   func(text string) []string
}

type passage struct {
	path        string
	first, last int // lines
	words       map[string]int
	length      int
}

const (
	k1 = 1.2
	b  = 0.75
)

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// readTexts reads the files below dir for which wanted returns true. It splits them into passages
// of the given number of lines; 0 means whole files. cut splits a text into words.
func readTexts(dir string, lines int, wanted func(path string) bool, cut func(text string) []string) (*bm25, error) {
	out := &bm25{with: map[string]int{}, cut: cut}
	total := 0
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, p)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && rel != ".":
			return fs.SkipDir
		case !d.Type().IsRegular() || !wanted(rel):
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil || bytes.IndexByte(text, 0) >= 0 || len(text) > 1<<20 {
			return err
		}
		all := strings.SplitAfter(string(text), "\n")
		for at := 0; at < len(all); {
			n := len(all) - at
			if lines > 0 {
				n = min(n, lines)
			}
			s := passage{path: rel, first: at + 1, last: at + n, words: map[string]int{}}
			for _, w := range cut(strings.Join(all[at:at+n], "")) {
				s.words[w]++
				s.length++
			}
			for w := range s.words {
				out.with[w]++
			}
			total += s.length
			out.texts = append(out.texts, s)
			at += n
		}
		return nil
	})
	out.mean = float64(total) / float64(max(len(out.texts), 1))
	return out, err
}

// best returns the highest ranked passages for a query.
func (p *bm25) best(query string, limit int) []passage {
	words := p.cut(query)
	slices.Sort(words)
	words = slices.Compact(words)
	scores := make([]float64, len(p.texts))
	order := make([]int, len(p.texts))
	for i := range p.texts {
		order[i] = i
		t := &p.texts[i]
		for _, w := range words {
			if n := float64(t.words[w]); n > 0 {
				idf := math.Log(1 + (float64(len(p.texts)-p.with[w])+0.5)/(float64(p.with[w])+0.5))
				scores[i] += idf * n * (k1 + 1) / (n + k1*(1-b+b*float64(t.length)/p.mean))
			}
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case scores[i] > scores[j]:
			return -1
		case scores[i] < scores[j]:
			return 1
		}
		return 0
	})
	var out []passage
	for _, i := range order[:min(limit, len(order))] {
		if scores[i] > 0 {
			out = append(out, p.texts[i])
		}
	}
	return out
}
