package page

import (
	"context"
	"strings"
	"sync"
	"time"

	"quarry/internal/colour"
)

const (
	// maxColoured is the size of the largest text that is coloured as a whole, which takes about 10
	// ms. Of a larger text only the shown part is coloured. The colours may then be wrong, for
	// example inside a long comment.
	maxColoured  = 1 << 20
	colourBudget = 400 * time.Millisecond
	maxCachedTxt = 64
)

// colourRun is a piece of a line with one colour; its length is in UTF-16 units.
type colourRun struct {
	n     int
	class string
}

// coloured holds the colours of lines. A line is a list of pairs, each a length and a class.
type coloured [][]any

func pairs(runs []colourRun) []any {
	out := make([]any, 0, 2*len(runs))
	for _, r := range runs {
		out = append(out, r.n, r.class)
	}
	return out
}

// colourLines colours the lines of a text. It returns nil if the language is unknown, the deadline
// passes or the request ends.
func colourLines(ctx context.Context, name string, texts []string, deadline time.Time) coloured {
	lang := colour.For(name)
	if lang == nil || len(texts) == 0 || time.Now().After(deadline) {
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
	count, late := 0, false
	lang.Each(strings.Join(texts, "\n")+"\n", func(rest string, c colour.Class) bool {
		if count++; count%1024 == 0 && (ctx.Err() != nil || time.Now().After(deadline)) {
			late = true
			return false
		}
		class := ""
		if c != colour.Plain {
			class = string(rune(c))
		}
		for {
			text, after, more := strings.Cut(rest, "\n")
			add(text, class)
			if !more {
				break
			}
			out, line, rest = append(out, pairs(line)), nil, after
		}
		return len(out) < len(texts)
	})
	if late {
		return nil
	}
	for len(out) < len(texts) {
		out, line = append(out, pairs(line)), nil
	}
	return out
}

// colours caches the colours of recently shown texts.
type colours struct {
	mu    sync.Mutex
	lines map[string]coloured // by path and version; guarded by mu
	order []string            // oldest first; guarded by mu
	slot  chan struct{}       // held while colouring, so that only one text is coloured at a time
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
