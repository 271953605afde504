package rank

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"quarry/match"
)

const (
	// A chunk is what an answer shows: long enough to understand, short
	// enough to read.
	minChunk = 12
	maxChunk = 40

	// keepChunks of a file compete; the final score is known only when all
	// files are.
	keepChunks = 6
)

// Chunk is a piece of a file and what it has of the query.
type Chunk struct {
	First, Last int // lines, from 1
	Length      int // in bytes
	tf          []float64
	defined     []bool // a term is in the name something is defined by
	heading     []bool // a term is in a heading
}

// File is what a file has of the query.
type File struct {
	Chunks []Chunk
	has    []bool // which terms occur
	name   []bool // which are in the file's name
	weight float64
}

// Query is a parsed query. It is immutable.
type Query struct {
	Terms   []string
	pattern *match.Pattern
}

// NewQuery parses a query. It fails only when there is nothing to look for.
func NewQuery(query string) (*Query, error) {
	terms := Terms(query)
	p, err := match.Compile(strings.Join(terms, " "), match.Options{Syntax: match.Words})
	if err != nil {
		return nil, err
	}
	return &Query{Terms: terms, pattern: p}, nil
}

// Pattern matches any of the terms.
func (q *Query) Pattern() *match.Pattern { return q.pattern }

// File scores the text of a file, or returns nil when no term occurs.
func (q *Query) File(m *match.Matcher, path string, text []byte) *File {
	f := &File{has: make([]bool, len(q.Terms)), name: make([]bool, len(q.Terms)), weight: pathWeight(path)}
	c := chunker{q: q, m: m, f: f}
	m.Lines(text, func(start, _ int) bool {
		c.lines = append(c.lines, start)
		return true
	})
	if len(c.lines) == 0 {
		return nil
	}
	c.run(text)
	if generated(text) {
		f.weight *= 0.5
	}
	base := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
	for i, t := range q.Terms {
		f.name[i] = strings.Contains(base, t)
	}
	return f
}

// chunker cuts a text into chunks and counts the terms in each.
type chunker struct {
	q     *Query
	m     *match.Matcher
	f     *File
	lines []int // where matching lines start, those not seen yet
	cur   Chunk
	hits  bool
}

func (c *chunker) run(text []byte) {
	number := 0
	c.begin(1)
	for at := 0; at < len(text); {
		line, next := text[at:], len(text)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, next = line[:i], at+i+1
		}
		number++
		if n := number - c.cur.First; n >= maxChunk || n >= minChunk && opens(line) {
			c.end(number - 1)
			c.begin(number)
		}
		c.cur.Length += len(line) + 1
		if len(c.lines) > 0 && c.lines[0] == at {
			c.line(line)
			c.lines = c.lines[1:]
		}
		at = next
	}
	c.end(number)
}

// opens reports a line at which a new thought begins: text at the margin that
// isn't a closing bracket.
func opens(line []byte) bool {
	return len(line) > 0 && line[0] != ' ' && line[0] != '\t' && line[0] != '}' && line[0] != ')' && line[0] != ']'
}

func (c *chunker) begin(first int) {
	n := len(c.q.Terms)
	c.cur = Chunk{First: first, tf: make([]float64, n), defined: make([]bool, n), heading: make([]bool, n)}
	c.hits = false
}

func (c *chunker) end(last int) {
	if !c.hits {
		return
	}
	c.cur.Last = last
	kept := c.f.Chunks
	if len(kept) < keepChunks {
		c.f.Chunks = append(kept, c.cur)
		return
	}
	worst := 0
	for i := range kept {
		if kept[i].promise() < kept[worst].promise() {
			worst = i
		}
	}
	if c.cur.promise() > kept[worst].promise() {
		c.f.Chunks = append(slices.Delete(kept, worst, worst+1), c.cur)
	}
}

// promise orders the chunks of one file before the terms' weights are known.
func (k *Chunk) promise() float64 {
	p := 0.0
	for i, tf := range k.tf {
		if tf > 0 {
			p += 1 + tf/(tf+2)
		}
		if k.defined[i] || k.heading[i] {
			p++
		}
	}
	return p
}

func (c *chunker) line(line []byte) {
	name, isDef := definedName(line)
	heading := len(line) > 1 && line[0] == '#' && (line[1] == '#' || line[1] == ' ')
	c.m.EachInLine(line, func(start, end int) bool {
		i := slices.Index(c.q.Terms, strings.ToLower(string(line[start:end])))
		if i < 0 {
			return true // a fold that lower case doesn't know
		}
		c.hits = true
		c.f.has[i] = true
		c.cur.tf[i] += quality(line, start, end)
		if isDef && start >= name[0] && end <= name[1] {
			c.cur.defined[i] = true
		}
		if heading {
			c.cur.heading[i] = true
		}
		return true
	})
}

// definition recognises the line that defines a name, in the languages people
// search most.
var definition = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|inline|extern|unsafe|pub(?:\([a-z]+\))?|const|virtual|override)\s+)*` +
		`(?:func(?:tion)?\*?|def|class|type|struct|interface|enum|fn|trait|impl|mod|module|macro_rules!|#\s*define|var|let|const|val|record|object|namespace|union|typedef)\s+` +
		`(?:\([^)]*\)\s*)?([\pL_$][\pL\pN_$]*)`)
})

// cFunction recognises a C function at the margin.
var cFunction = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z_][\w\s*]*?\b([A-Za-z_]\w*)\s*\([^;]*$`)
})

func definedName(line []byte) (span [2]int, ok bool) {
	if len(line) > 300 {
		return span, false
	}
	m := definition().FindSubmatchIndex(line)
	if m == nil && opens(line) {
		m = cFunction().FindSubmatchIndex(line)
	}
	if m == nil {
		return span, false
	}
	return [2]int{m[2], m[3]}, true
}

// pathWeight puts tests, vendored and generated code below what people write.
func pathWeight(path string) float64 {
	weight := 1.0
	lower := strings.ToLower(path)
	for dir := range strings.SplitSeq(lower, "/") {
		switch dir {
		case "test", "tests", "__tests__", "spec", "testdata", "fixtures", "mocks", "__mocks__", "e2e":
			weight = min(weight, 0.6)
		case "vendor", "node_modules", "third_party", "dist", "build", "out", "generated", "gen":
			weight = min(weight, 0.35)
		}
	}
	base := lower[strings.LastIndexByte(lower, '/')+1:]
	switch {
	case strings.Contains(base, "_test.") || strings.Contains(base, ".test.") || strings.Contains(base, ".spec.") || strings.HasPrefix(base, "test_"):
		weight = min(weight, 0.6)
	case strings.Contains(base, ".min.") || strings.HasSuffix(base, ".pb.go") || strings.HasSuffix(base, ".lock") || base == "package-lock.json" || base == "go.sum":
		weight = min(weight, 0.35)
	}
	return weight
}

// generated recognises the marker generators leave in the first lines.
func generated(text []byte) bool {
	head := text[:min(len(text), 2048)]
	return bytes.Contains(head, []byte("DO NOT EDIT")) || bytes.Contains(head, []byte("@generated"))
}

// Corpus is what scores need to know of all files.
type Corpus struct {
	Files  int   // searched
	with   []int // files that have each term
	chunks int
	length int // bytes of all chunks seen
}

// Add counts a file.
func (c *Corpus) Add(f *File) {
	if c.with == nil {
		c.with = make([]int, len(f.has))
	}
	for i, has := range f.has {
		if has {
			c.with[i]++
		}
	}
	for i := range f.Chunks {
		c.chunks++
		c.length += f.Chunks[i].Length
	}
}

// Score rates a chunk of a file against all that was seen: BM25, raised where
// a term names a definition, a heading or the file, and lowered where terms are
// missing.
func (c *Corpus) Score(f *File, k *Chunk) float64 {
	const k1, b = 1.2, 0.5
	average := float64(c.length) / float64(max(c.chunks, 1))
	norm := k1 * (1 - b + b*float64(k.Length)/average)
	score, present := 0.0, 0
	for i, tf := range k.tf {
		if tf == 0 && !f.name[i] {
			continue
		}
		n := float64(c.with[i])
		idf := math.Log(1 + (float64(max(c.Files, c.with[i]))-n+0.5)/(n+0.5))
		term := idf * tf * (k1 + 1) / (tf + norm)
		if k.defined[i] {
			term += 1.5 * idf
		}
		if k.heading[i] {
			term += 0.8 * idf
		}
		if f.name[i] {
			term += 0.5 * idf
		}
		score += term
		present++
	}
	coverage := float64(present) / float64(len(k.tf))
	return score * coverage * f.weight
}
