package searcher

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"quarry/fault"
	"quarry/internal/crew"
	"quarry/internal/rank"
	"quarry/search"
)

// SearchCode ranks pieces of files by relevance to a query.
func (d *Folder) SearchCode(ctx context.Context, q search.CodeQuery) (*search.CodeResult, error) {
	followed, err := d.here(ctx)
	if err != nil {
		return nil, err
	}
	r, err := d.index().Code(ctx, &q)
	if err == nil && r == nil {
		r, err = d.searchCode(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	r.Stats.Replaced = followed
	return r, nil
}

// searchCode lists the best piece of each file first, then further pieces of the files.
func (d *Folder) searchCode(ctx context.Context, q search.CodeQuery) (*search.CodeResult, error) {
	started := time.Now()
	words := rank.NewQuery(q.Query)
	if words == nil && len(wordParts(q.Query)) == 0 {
		return nil, search.ErrNoWords
	}
	if q.Limit <= 0 {
		q.Limit = 10
	}
	out := &search.CodeResult{}
	if words != nil { // nil if all words are too long to be counted
		best, files, err := d.bestFiles(ctx, words, &q, &out.Summary)
		if err != nil {
			return nil, err
		}
		out.Chunks, out.Total = chunks(best), files
	}
	if len(out.Chunks) == 0 {
		var err error
		// No word of the query occurs as a whole word, so match parts of words. After
		// that, an empty answer means that a plain search finds nothing either.
		if out.Chunks, err = d.partChunks(ctx, &q, &out.Summary); err != nil {
			return nil, err
		}
	}
	out.Total = max(out.Total, len(out.Chunks))
	if err := d.firstChunks(ctx, out, q.Limit, &q.Scope); err != nil {
		return nil, err
	}
	if out.Total > q.Limit {
		out.Stopped = cmp.Or(out.Stopped, search.StopLines)
	}
	for i := range out.Chunks {
		if err := d.fillChunk(ctx, &out.Chunks[i]); err != nil {
			return nil, err
		}
	}
	out.Chunks = slices.DeleteFunc(out.Chunks, func(c search.Chunk) bool { return c.Text == "" })
	out.Stats.Elapsed = time.Since(started)
	return out, nil
}

// bestFiles returns the best files in scope, in order, with their best pieces. It returns
// as many files as the query asks for, and the number of files compared.
func (d *Folder) bestFiles(ctx context.Context, words *rank.Query, q *search.CodeQuery, sum *search.Summary) (files []rank.Candidate, compared int, err error) {
	bounded, cancel := within(ctx, q.Time)
	defer cancel()
	counts, err := d.count(bounded, words, &q.Scope, sum)
	if err = partly(ctx, sum, err); err != nil {
		return nil, 0, err
	}
	defer counts.done()
	corpus := words.NewCorpus(counts.tallies...)
	sum.FilesMatched = corpus.Matched()
	best, err := corpus.Short()
	if err != nil {
		return nil, 0, err
	}
	defining, err := d.definers(bounded, words, corpus, counts)
	if err = partly(ctx, sum, err); err != nil {
		return nil, 0, err
	}
	in := map[string]bool{}
	for i := range best {
		in[best[i].Path] = true
	}
	for _, k := range defining {
		if !in[k.Path] {
			best = append(best, k)
		}
	}
	rank.Beside(best)
	if best, err = d.skimmed(ctx, corpus, best); err != nil {
		return nil, 0, err
	}
	files = corpus.Best(ctx, best, q.Limit, d.Workers)
	return files, len(best), ctx.Err()
}

// skimmed reads the best files. Files that have since changed or vanished are
// dropped.
func (d *Folder) skimmed(ctx context.Context, corpus *rank.Corpus, best []rank.Candidate) ([]rank.Candidate, error) {
	dropped := make([]bool, len(best))
	crew.Each(ctx, len(best), max(d.Workers, 1), func(i int) {
		text, err := d.wholeText(best[i].Path)
		if dropped[i] = err != nil; err == nil {
			corpus.Skim(&best[i], text)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	kept := best[:0]
	for i := range best {
		if !dropped[i] {
			kept = append(kept, best[i])
		}
	}
	return kept, nil
}

// wholeText reads the decoded text of one file.
func (d *Folder) wholeText(path string) ([]byte, error) {
	p, err := d.Root.Resolve(path)
	if err != nil {
		return nil, err
	}
	data, _, err := d.Root.ReadContent(p, maxRanked)
	if err != nil {
		return nil, err
	}
	text, ok := decoded(data)
	if !ok {
		return nil, fault.ErrNotText
	}
	return text, nil
}

// chunks lists the best piece of each file, then the second best of each, and so on.
// Scores decrease along the list.
func chunks(files []rank.Candidate) []search.Chunk {
	var out []search.Chunk
	for round := 0; ; round++ {
		before := len(out)
		for i := range files {
			if round >= len(files[i].Pieces) {
				continue
			}
			p := files[i].Pieces[round]
			c := search.Chunk{Path: files[i].Path, StartLine: p.First, EndLine: p.Last, Symbol: p.Symbol, Score: files[i].Score / float64(uint(1)<<(4*round))}
			if p.Symbol != "" {
				c.Kind = p.Kind.String()
			}
			if n := len(out); n > 0 {
				c.Score = min(c.Score, out[n-1].Score)
			}
			out = append(out, c)
		}
		if len(out) == before {
			return out
		}
	}
}

// fillChunk reads a chunk's text. The text remains empty if the file changed or vanished
// after it was ranked.
func (d *Folder) fillChunk(ctx context.Context, c *search.Chunk) error {
	t, err := d.Read(ctx, c.Path, &search.ReadOptions{Start: c.StartLine, End: c.EndLine})
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return nil
	}
	c.Text = strings.Join(t.Lines, "\n")
	return nil
}
