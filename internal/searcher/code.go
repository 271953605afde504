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

// SearchCode ranks pieces of files by how well they answer a query of words.
func (d *Folder) SearchCode(ctx context.Context, q search.CodeQuery) (*search.CodeResult, error) {
	followed, err := d.here(ctx)
	if err != nil {
		return nil, err
	}
	r, err := d.index().Code(ctx, &q)
	if err == nil && r == nil {
		r, err = searchCode(ctx, d, q)
	}
	if err != nil {
		return nil, err
	}
	r.Stats.Replaced = followed
	return r, nil
}

// SearchCode ranks pieces of files by how well they answer a query of words.
func (r *Servers) SearchCode(ctx context.Context, q search.CodeQuery) (*search.CodeResult, error) {
	return searchCode(ctx, r, q)
}

// searchCode lists the best piece of each file first, and further pieces after
// that.
func searchCode(ctx context.Context, from texts, q search.CodeQuery) (*search.CodeResult, error) {
	started := time.Now()
	words := rank.NewQuery(q.Query)
	if words == nil && len(wordParts(q.Query)) == 0 {
		return nil, search.ErrNoWords
	}
	if q.Limit <= 0 {
		q.Limit = 10
	}
	out := &search.CodeResult{}
	if words != nil { // else there are only words that are too long to be counted
		best, files, err := bestFiles(ctx, from, words, &q, &out.Summary)
		if err != nil {
			return nil, err
		}
		out.Chunks, out.Total = chunks(best), files
	}
	if len(out.Chunks) == 0 {
		var err error
		// No word occurs as a word. What is only a part of words is found, too, so
		// an empty answer means that a plain search finds nothing either.
		if out.Chunks, err = partChunks(ctx, from, &q, &out.Summary); err != nil {
			return nil, err
		}
	}
	if out.Total = max(out.Total, len(out.Chunks)); out.Total > q.Limit {
		out.Chunks = out.Chunks[:min(q.Limit, len(out.Chunks))]
		out.Stopped = cmp.Or(out.Stopped, search.StopLines)
	}
	for i := range out.Chunks {
		if err := fillChunk(ctx, from, &out.Chunks[i]); err != nil {
			return nil, err
		}
	}
	out.Chunks = slices.DeleteFunc(out.Chunks, func(c search.Chunk) bool { return c.Text == "" })
	out.Stats.Elapsed = time.Since(started)
	return out, nil
}

// bestFiles are the best files in scope, in order, with their best pieces: as many as
// the query asks for, of so many that were compared.
func bestFiles(ctx context.Context, from texts, words *rank.Query, q *search.CodeQuery, sum *search.Summary) (files []rank.Candidate, compared int, err error) {
	bounded, cancel := within(ctx, q.Time)
	defer cancel()
	counts, err := from.count(bounded, words, &q.Scope, sum)
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
	defining, err := definers(bounded, from, words, corpus, counts)
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
	if best, err = skimmed(ctx, from, corpus, best); err != nil {
		return nil, 0, err
	}
	files = corpus.Best(ctx, best, q.Limit, from.width())
	return files, len(best), ctx.Err()
}

// skimmed reads the best files. One that changed or went away since is dropped.
func skimmed(ctx context.Context, from texts, corpus *rank.Corpus, best []rank.Candidate) ([]rank.Candidate, error) {
	dropped := make([]bool, len(best))
	crew.Each(ctx, len(best), max(from.width(), 1), func(i int) {
		text, err := from.wholeText(ctx, best[i].Path)
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

func (r *Servers) count(ctx context.Context, words *rank.Query, scope *search.Scope, sum *search.Summary) (*counted, error) {
	return countRead(ctx, r, words, scope, sum)
}

func (d *Folder) width() int { return d.Workers }

func (r *Servers) width() int { return r.workers }

func (d *Folder) wholeText(_ context.Context, path string) ([]byte, error) {
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

func (r *Servers) wholeText(ctx context.Context, path string) ([]byte, error) {
	t, err := r.Read(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	return []byte(strings.Join(t.Lines, "\n") + "\n"), nil
}

// chunks lists the best piece of each file, then the second ones, and so on.
// Scores fall along the list.
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

// fillChunk reads a chunk's text. A file that changed or went away since it was
// ranked leaves it empty.
func fillChunk(ctx context.Context, from texts, c *search.Chunk) error {
	t, err := from.Read(ctx, c.Path, &search.ReadOptions{Start: c.StartLine, End: c.EndLine})
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return nil
	}
	c.Text = strings.Join(t.Lines, "\n")
	return nil
}
