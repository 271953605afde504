package page

import (
	"context"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

const (
	// maxColoured is the largest text that is coloured as a whole. chroma reads
	// about 0.4 MB a second here: 64 KB take 150 ms. Larger ones are coloured by
	// the part that is shown, which may mistake the inside of a long comment.
	maxColoured  = 64 << 10
	colourBudget = 400 * time.Millisecond
	maxCachedTxt = 64
)

// colour classes are those of the style sheet, one letter each: keyword,
// string, comment, function, number, type.
func classOf(t chroma.TokenType) string {
	switch {
	case t.InCategory(chroma.Comment):
		return "c"
	case t == chroma.KeywordType, t == chroma.NameClass, t == chroma.NameBuiltin, t == chroma.NameNamespace && false:
		return "t"
	case t.InCategory(chroma.Keyword), t == chroma.OperatorWord, t == chroma.NameTag:
		return "k"
	case t.InSubCategory(chroma.LiteralString):
		return "s"
	case t.InSubCategory(chroma.LiteralNumber):
		return "n"
	case t == chroma.NameFunction, t == chroma.NameFunctionMagic, t == chroma.NameDecorator, t == chroma.GenericHeading, t == chroma.GenericSubheading:
		return "f"
	case t == chroma.NameAttribute, t == chroma.NameVariable, t == chroma.NameConstant, t == chroma.LiteralDate:
		return "n"
	}
	return ""
}

// run is a piece of a line with one colour; its length is in UTF-16 units.
type colourRun struct {
	n     int
	class string
}

// coloured are the lines of a text, each as pairs of length and class: the form
// the page gets.
type coloured [][]any

func pairs(runs []colourRun) []any {
	out := make([]any, 0, 2*len(runs))
	for _, r := range runs {
		out = append(out, r.n, r.class)
	}
	return out
}

// colourLines colours the lines of a text; nil if the language is unknown, the
// text can't be read by its lexer, it takes too long, or nobody waits any more.
func colourLines(ctx context.Context, name string, texts []string, deadline time.Time) coloured {
	lexer := lexerFor(name)
	if lexer == nil || time.Now().After(deadline) {
		return nil
	}
	it, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root", EnsureLF: false}, strings.Join(texts, "\n")+"\n")
	if err != nil {
		return nil
	}
	out := make(coloured, 0, len(texts))
	var line []colourRun
	add := func(text, class string) {
		n := units([]byte(text))
		if n == 0 {
			return
		}
		if k := len(line) - 1; k >= 0 && line[k].class == class {
			line[k].n += n
			return
		}
		line = append(line, colourRun{n, class})
	}
	count := 0
	for tok := it(); tok != chroma.EOF && len(out) < len(texts); tok = it() {
		if count++; count%128 == 0 && (ctx.Err() != nil || time.Now().After(deadline)) {
			return nil
		}
		class, rest := classOf(tok.Type), tok.Value
		for {
			text, after, more := strings.Cut(rest, "\n")
			add(text, class)
			if !more {
				break
			}
			out, line, rest = append(out, pairs(line)), nil, after
		}
	}
	for len(out) < len(texts) {
		out, line = append(out, pairs(line)), nil
	}
	return out
}

// lexerFor finds a language by the file's name. A name is matched against
// several hundred patterns, so answers are kept by extension.
func lexerFor(name string) chroma.Lexer {
	base := path.Base(name)
	key := path.Ext(base)
	if key == "" || key == base {
		key = base
	}
	lexerMu.Lock()
	defer lexerMu.Unlock()
	l, known := lexerOf[key]
	if !known {
		if l = lexers.Match(base); l != nil {
			l = chroma.Coalesce(l)
		}
		if len(lexerOf) > 1000 {
			clear(lexerOf)
		}
		lexerOf[key] = l
	}
	return l
}

var (
	lexerMu sync.Mutex
	lexerOf = map[string]chroma.Lexer{} // guarded by lexerMu
)

// colours keeps the colours of texts that were shown last.
type colours struct {
	mu    sync.Mutex
	lines map[string]coloured // by path and version; guarded by mu
	order []string            // oldest first; guarded by mu
	slot  chan struct{}       // one text at a time: chroma is the slowest thing here
}

func newColours() *colours {
	return &colours{lines: map[string]coloured{}, slot: make(chan struct{}, 1)}
}

func (c *colours) get(key string) (coloured, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.lines[key]
	return l, ok
}

func (c *colours) put(key string, l coloured) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.lines[key]; !ok {
		c.order = append(c.order, key)
	}
	c.lines[key] = l
	for len(c.order) > maxCachedTxt {
		delete(c.lines, c.order[0])
		c.order = c.order[1:]
	}
}
