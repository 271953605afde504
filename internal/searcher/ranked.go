package searcher

import (
	"cmp"
	"context"
	"io"
	"slices"
	"sort"
	"strings"
	"time"

	"quarry/internal/rank"
	"quarry/internal/rootfs"
	"quarry/internal/textfile"
	"quarry/internal/walk"
	"quarry/match"
	"quarry/search"
)

// maxRanked is the largest file a ranked search looks at; larger ones are data.
const maxRanked = 8 << 20

// chunksAFile keeps one file from filling an answer.
const chunksAFile = 3

// SearchCode ranks pieces of files by how well they answer a query of words.
func (d *Folder) SearchCode(ctx context.Context, q search.CodeQuery) (*search.CodeResult, error) {
	return searchCode(ctx, d, q)
}

// SearchCode ranks pieces of files by how well they answer a query of words.
func (r *Servers) SearchCode(ctx context.Context, q search.CodeQuery) (*search.CodeResult, error) {
	return searchCode(ctx, r, q)
}

func searchCode(ctx context.Context, from texts, q search.CodeQuery) (*search.CodeResult, error) {
	started := time.Now()
	words, err := rank.NewQuery(q.Query)
	if err != nil {
		return nil, search.ErrNoWords
	}
	if q.Limit <= 0 {
		q.Limit = 10
	}
	type ranked struct {
		path string
		file *rank.File
	}
	var files []ranked
	out := &search.CodeResult{}
	corpus := rank.Corpus{}
	err = eachText(ctx, from, &q.Scope, &out.Summary, words.Pattern(), words.File,
		func(path string, f *rank.File) {
			corpus.Add(f)
			files = append(files, ranked{path, f})
		})
	if err != nil {
		return nil, err
	}
	corpus.Files = out.Stats.Searched
	for _, r := range files {
		var mine []search.Chunk
		for i := range r.file.Chunks {
			k := &r.file.Chunks[i]
			mine = append(mine, search.Chunk{Path: r.path, StartLine: k.First, EndLine: k.Last, Score: corpus.Score(r.file, k)})
		}
		sortChunks(mine)
		out.Chunks = append(out.Chunks, mine[:min(len(mine), chunksAFile)]...)
	}
	sortChunks(out.Chunks)
	out.Total, out.FilesMatched = len(out.Chunks), len(files)
	if len(out.Chunks) > q.Limit {
		out.Chunks = out.Chunks[:q.Limit]
		out.Stopped = search.StopLines
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

func sortChunks(list []search.Chunk) {
	sort.Slice(list, func(i, j int) bool {
		a, b := &list[i], &list[j]
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Path, b.Path), a.StartLine-b.StartLine) < 0
	})
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

// textWork works on the decoded text of one file; nil is no result.
type textWork func(m *match.Matcher, path string, text []byte) any

// texts is where texts come from: a Folder or Servers.
type texts interface {
	// eachText runs work on the decoded text of every file in scope that could
	// have a match of pattern, in parallel, and hands results on in path order.
	eachText(ctx context.Context, scope *search.Scope, sum *search.Summary, pattern *match.Pattern,
		work textWork, deliver func(path string, r any)) error
	Read(ctx context.Context, path string, opts *search.ReadOptions) (*search.Text, error)
}

// eachText is that of texts with the type of its results.
func eachText[T any](ctx context.Context, from texts, scope *search.Scope, sum *search.Summary, pattern *match.Pattern,
	work func(m *match.Matcher, path string, text []byte) *T, deliver func(path string, r *T)) error {
	return from.eachText(ctx, scope, sum, pattern, func(m *match.Matcher, path string, text []byte) any {
		if r := work(m, path, text); r != nil {
			return r
		}
		return nil
	}, func(path string, r any) { deliver(path, r.(*T)) })
}

func (d *Folder) eachText(ctx context.Context, scope *search.Scope, sum *search.Summary, pattern *match.Pattern,
	work textWork, deliver func(path string, r any)) error {
	f, err := d.filter(scope)
	if err != nil {
		return err
	}
	sum.Exact = true
	sum.SkippedCount = map[search.Reason]int{}
	type outcome struct {
		r    any
		skip search.Reason
	}
	matching := pattern.NewSearch(ctx)
	readers := make([]textReader, d.Workers)
	each := func(v *walk.Visit, e *rootfs.Entry) (outcome, bool) {
		k := &readers[v.Worker]
		if f.leavesOut(v.Shown, e.Name) {
			return outcome{}, false
		}
		if k.m == nil {
			k.m = matching.NewMatcher()
		}
		text, skip := k.read(d.Root, v, e)
		if skip != "" {
			return outcome{skip: skip}, skip != gone
		}
		k.searched++
		path := e.Name
		if v.Shown != "" {
			path = v.Shown + "/" + e.Name
		}
		r := work(k.m, path, text)
		return outcome{r: r}, r != nil
	}
	paths := scope.Paths
	if len(paths) == 0 {
		paths = []string{""}
	}
	for _, path := range paths {
		start, isFile, err := d.start(path)
		if err != nil {
			return err
		}
		opts := f.opts
		opts.Start = start
		work := each
		if isFile { // the file alone, by walking its folder
			opts = walk.Options{Start: start.Dir(), MaxDepth: 1, Hidden: true, NoIgnore: true, Workers: d.Workers}
			work = func(v *walk.Visit, e *rootfs.Entry) (outcome, bool) {
				if e.Name != start.Base() {
					return outcome{}, false
				}
				return each(v, e)
			}
		}
		report, err := walk.Each(ctx, d.Root, &opts, work, func(path string, o outcome) error {
			if o.skip != "" {
				sum.SkippedCount[o.skip]++
				addSkip(sum, search.Skip{Path: path, Reason: o.skip})
				return nil
			}
			deliver(path, o.r)
			return nil
		})
		if err != nil {
			return err
		}
		addReport(sum, &report)
	}
	for i := range readers {
		sum.Stats.Searched += readers[i].searched
	}
	return nil
}

// textReader reads whole files, one after the other.
type textReader struct {
	m        *match.Matcher
	buf      []byte
	searched int
	_        [64]byte
}

// gone is a file that vanished, which nobody needs to hear of.
const gone search.Reason = "vanished"

func (k *textReader) read(root *rootfs.Root, v *walk.Visit, e *rootfs.Entry) (text []byte, skip search.Reason) {
	f, err := openEntry(root, v, e)
	if err != nil {
		if rootfs.KindOf(err) == rootfs.NotFound {
			return nil, gone
		}
		return nil, search.Unreadable
	}
	defer f.Close()
	size := f.Info().Size
	if size > maxRanked {
		return nil, search.TooLarge
	}
	if int64(cap(k.buf)) < size+1 {
		k.buf = make([]byte, size+1)
	}
	n, err := io.ReadFull(f, k.buf[:size+1])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, search.Unreadable
	}
	if text, ok := decoded(k.buf[:n]); ok {
		return text, ""
	}
	return nil, search.Binary
}

// decoded is a content as text, if it is one.
func decoded(raw []byte) ([]byte, bool) {
	kind := textfile.Detect(raw)
	if kind.Binary {
		return nil, false
	}
	raw = raw[len(kind.Encoding.BOM()):]
	if kind.Encoding.IsUTF8() {
		return raw, true
	}
	text, _ := kind.Encoding.AppendDecoded(nil, raw, true)
	return text, true
}
