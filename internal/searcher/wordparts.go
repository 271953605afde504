package searcher

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/rank"
	"quarry/internal/terms"
	"quarry/match"
	"quarry/search"
)

const (
	// maxPartWords limits the words searched as parts of other words.
	maxPartWords = 64
	// partLines is the number of context lines before and after the first line with the
	// most words.
	partLines = 3
)

// wordPart is a text to look for inside words.
type wordPart struct {
	text   string // in lower case
	weight float64
}

// wordParts returns the words of a query. In scripts without spaces a whole sentence is
// one word, so for these it adds each pair of neighboring characters.
func wordParts(query string) (parts []wordPart) {
	seen := map[string]bool{}
	add := func(text string) {
		text = strings.ToLower(text)
		if n := utf8.RuneCountInString(text); n > 0 && !seen[text] && len(parts) < maxPartWords {
			seen[text] = true
			parts = append(parts, wordPart{text, float64(n)})
		}
	}
	words := strings.FieldsFunc(query, func(r rune) bool { return unicode.IsSpace(r) })
	for i, w := range words {
		words[i] = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
		add(words[i])
	}
	for _, w := range words {
		letters := []rune(w)
		for i := 0; i+1 < len(letters); i++ {
			if terms.WithoutSpaces(letters[i]) && terms.WithoutSpaces(letters[i+1]) {
				add(string(letters[i : i+2]))
			}
		}
	}
	return parts
}

// partChunks ranks files by the query words that occur in them as parts of words.
func (d *Folder) partChunks(ctx context.Context, q *search.CodeQuery, sum *search.Summary) ([]search.Chunk, error) {
	parts := wordParts(q.Query)
	if len(parts) == 0 {
		return nil, nil
	}
	quoted := make([]string, len(parts))
	for i, p := range parts {
		quoted[i] = regexp.QuoteMeta(p.text)
	}
	text := search.Query{Pattern: strings.Join(quoted, "|"), Match: match.Options{Case: match.Insensitive}, Scope: q.Scope}
	text.Limits.LineBytes, text.Limits.Time = 4<<10, q.Time
	var list []search.Chunk
	found, err := d.SearchEach(ctx, text, func(f *search.FileMatch) error {
		if c, ok := partChunk(f, parts); ok {
			list = append(list, c)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sum.FilesMatched, sum.Stopped = len(list), cmp.Or(sum.Stopped, found.Stopped)
	slices.SortStableFunc(list, func(a, b search.Chunk) int { return cmp.Compare(b.Score, a.Score) })
	return list, nil
}

// partChunk returns the line of a file that contains the most parts, with context lines.
// The score counts the parts that occur anywhere in the file.
func partChunk(f *search.FileMatch, parts []wordPart) (search.Chunk, bool) {
	all := make([]bool, len(parts))
	at, most := 0, 0.0
	for i := range f.Lines {
		line := strings.ToLower(string(f.Lines[i].Text))
		here := 0.0
		for k, p := range parts {
			if strings.Contains(line, p.text) {
				all[k] = true
				here += p.weight
			}
		}
		if f.Lines[i].Hit && (here > most || at == 0) {
			at, most = f.Lines[i].Number, here
		}
	}
	if at == 0 {
		return search.Chunk{}, false
	}
	score := 0.1
	for k, p := range parts {
		if all[k] {
			score += p.weight
		}
	}
	return search.Chunk{Path: f.Path, StartLine: max(1, at-partLines), EndLine: at + partLines, Score: score * rank.PathWeight(f.Path)}, true
}
