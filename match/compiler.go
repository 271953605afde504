package match

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"quarry/internal/re/literal"
	"quarry/internal/re/nfa"
	"quarry/internal/re/syntax"
)

// Compiler compiles the patterns of one call. Together they have one memory budget, Options.SizeLimit,
// which also limits the time. Compiling stops when the context ends. So do the patterns: a Matcher
// that is used later may report the context's error. A Compiler must be used by one goroutine only.
type Compiler struct {
	opts  Options
	limit int
	left  int // remainder of limit, for automata
	trees *syntax.Budget
	stop  func() error
	call  *atomic.Int64 // see OneCall; nil means no limit
}

// OneCall returns a context for one call. All Compilers with this context together may do the
// work for eight patterns of the default SizeLimit, about two seconds. This bounds calls with
// a list of patterns that are compiled separately.
func OneCall(ctx context.Context) context.Context {
	left := &atomic.Int64{}
	left.Store(8 * nfa.DefaultSizeLimit)
	return context.WithValue(ctx, callKey{}, left)
}

type callKey struct{}

// NewCompiler returns a Compiler for patterns with the given options.
func NewCompiler(ctx context.Context, opts Options) *Compiler {
	c := &Compiler{opts: opts, limit: opts.SizeLimit, stop: ctx.Err}
	if c.limit <= 0 {
		c.limit = nfa.DefaultSizeLimit
	}
	c.call, _ = ctx.Value(callKey{}).(*atomic.Int64)
	c.left, c.trees = c.limit, syntax.NewBudget(max(c.limit, nfa.DefaultSizeLimit), c.stop)
	return c
}

// Any compiles several expressions into one pattern, as CompileAny does.
func (c *Compiler) Any(exprs []string) (*Pattern, error) { return c.compile(exprs, c.opts, 0) }

// Each compiles each expression into its own pattern. Case Smart considers all expressions
// together, as in CompileAny.
func (c *Compiler) Each(exprs []string) ([]*Pattern, error) {
	opts := c.opts
	if opts.Case == Smart {
		opts.Case = Sensitive
		if foldCase(exprs, Options{Case: Smart, Syntax: opts.Syntax}) {
			opts.Case = Insensitive
		}
	}
	cache := 0
	if len(exprs) > manyPatterns {
		cache = max(eachCaches/len(exprs), minEachCache)
	}
	list := make([]*Pattern, len(exprs))
	for i := range exprs {
		if c.left -= patternBytes; c.left <= 0 {
			return nil, c.tooMany()
		}
		p, err := c.compile(exprs[i:i+1:i+1], opts, cache)
		if err != nil {
			return nil, err
		}
		list[i] = p
	}
	return list, nil
}

// From manyPatterns patterns on, Each lets their matchers share eachCaches bytes for states, with
// at least minEachCache for each. patternBytes is the memory of a pattern without its states.
const (
	manyPatterns = 8
	eachCaches   = 32 << 20
	minEachCache = 16 << 10
	patternBytes = 32 << 10
)

// compile compiles one pattern from exprs. cache limits the memory of its matchers' states; 0
// means the default.
func (c *Compiler) compile(exprs []string, opts Options, cache int) (*Pattern, error) {
	if len(exprs) == 0 {
		return nil, &Error{Reason: "no pattern given"}
	}
	if err := c.stop(); err != nil {
		return nil, err
	}
	if c.call != nil && c.call.Load() <= 0 {
		return nil, c.tooMany()
	}
	before := c.left + c.trees.Left()
	defer func() {
		if c.call != nil {
			c.call.Add(int64(c.left + c.trees.Left() - before - patternBytes))
		}
	}()
	src, err := c.parseAll(exprs, opts)
	if err != nil {
		return nil, c.explain(err)
	}
	found := literal.Extract(src.root)
	found.Also(src.ahead)
	plan, err := newPlan(src, found, opts, limits{size: c.left, cache: cache, stop: c.stop})
	if err != nil {
		err = c.explain(err)
		c.left = 0 // the failed work counts too
		return nil, err
	}
	c.left -= plan.size
	p := &Pattern{opts: opts, exprs: exprs, names: src.names, plan: plan}
	plan.cutter = sync.OnceValue(p.newCutter)
	p.need = publicNeed(found.Need)
	if opts.Syntax == Words {
		p.need = allOf(found.Exact)
	}
	return p, nil
}

// explain returns the error that applies to all patterns, if there is one: the context has
// ended, or the patterns are too large together. Otherwise it returns err.
func (c *Compiler) explain(err error) error {
	if stopped := c.stop(); stopped != nil {
		return stopped
	}
	several := c.left < c.limit
	if errors.Is(c.trees.Err(), syntax.ErrTooLarge) || several && errors.Is(err, nfa.ErrTooLarge) {
		return c.tooMany()
	}
	if errors.Is(err, nfa.ErrTooLarge) {
		return &Error{Reason: err.Error(), Hint: "Use smaller repetition counts, or (?-u) where Unicode classes aren't needed."}
	}
	return err
}

func (c *Compiler) tooMany() error {
	return &Error{
		Reason: fmt.Sprintf("the patterns of this call are too large together: they need more than %d MB once their repetitions are written out", c.limit>>20),
		Hint:   "Search for fewer or shorter patterns, or use smaller repetition counts.",
	}
}
