package searcher

import (
	"context"
	"path"
	"slices"
	"strings"

	"quarry/internal/lookup"
	"quarry/internal/rank"
	"quarry/internal/symbols"
	"quarry/search"
)

// firstChunks cuts the chunks to the first n. In C and C++ it replaces a prototype by the
// function's definition if that is in scope, because the code is more useful.
func (d *Folder) firstChunks(ctx context.Context, r *search.CodeResult, n int, scope *search.Scope) error {
	var out []search.Chunk
	known := map[string][]search.Symbol{}
	for i, c := range r.Chunks {
		if len(out) == n {
			break
		}
		if isPrototype(&c) {
			if _, ok := known[c.Symbol]; !ok {
				if err := d.definitions(ctx, r.Chunks[i:min(i+n-len(out), len(r.Chunks))], scope, known); err != nil {
					return err
				}
			}
			if err := d.define(ctx, &c, known[c.Symbol]); err != nil {
				return err
			}
		}
		if slices.ContainsFunc(out, func(o search.Chunk) bool {
			return o.Path == c.Path && o.StartLine <= c.EndLine && c.StartLine <= o.EndLine
		}) {
			r.Total--
			continue
		}
		out = append(out, c)
	}
	r.Chunks = out
	return nil
}

func isPrototype(c *search.Chunk) bool { return c.Kind == symbols.Prototype.String() && isC(c.Path) }

func isC(file string) bool { return strings.HasPrefix(symbols.Language(file, nil)+"+", "C+") }

// definitions finds the functions that the prototypes among the chunks declare. Without an
// index, every file is read once for all of them.
func (d *Folder) definitions(ctx context.Context, chunks []search.Chunk, scope *search.Scope, known map[string][]search.Symbol) error {
	var runs symbolRuns
	for i := range chunks {
		c := &chunks[i]
		if _, ok := known[c.Symbol]; ok || !isPrototype(c) {
			continue
		}
		known[c.Symbol] = nil
		q := &search.SymbolQuery{Name: c.Symbol, Kind: symbols.Function.String(), Scope: *scope, Limit: 50}
		name, err := lookup.Compile(q)
		if err != nil {
			return err
		}
		runs = append(runs, &symbolRun{folder: d, q: q, name: name})
	}
	give, err := d.turns.take(ctx)
	if err != nil {
		return err
	}
	defer give()
	if err := runs.run(ctx); err != nil {
		return err
	}
	for _, s := range runs {
		known[s.q.Name] = s.result().Symbols
	}
	return nil
}

// define replaces the prototype in c by its definition, if there is one. Of several, it takes
// the one with the highest nearness.
func (d *Folder) define(ctx context.Context, c *search.Chunk, found []search.Symbol) error {
	var best *search.Symbol
	for i := range found {
		s := &found[i]
		// Outside of its namespace, a definition may have fewer containers.
		short, long := "."+c.Symbol, "."+strings.TrimPrefix(s.Container+"."+s.Name, ".")
		if len(short) > len(long) {
			short, long = long, short
		}
		if isC(s.Path) && strings.HasSuffix(long, short) && (short == long || strings.Count(short, ".") > 1) {
			if best == nil || nearness(s.Path, c.Path) > nearness(best.Path, c.Path) {
				best = s
			}
		}
	}
	if best == nil {
		return nil
	}
	r := &search.SymbolResult{Symbols: []search.Symbol{*best}}
	if err := lookup.Describe(ctx, d, false, r); err != nil || len(r.Symbols) == 0 {
		return err
	}
	s := r.Symbols[0]
	c.Path, c.Kind, c.StartLine, c.EndLine = s.Path, s.Kind, s.StartLine, min(s.EndLine, s.StartLine+rank.MaxPiece-1)
	return nil
}

// nearness rates the file of a definition: source files are better than headers, and a file
// with the name of the declaration's file is better than others.
func nearness(defined, declared string) float64 {
	v, ext := rank.PathWeight(defined), path.Ext(defined)
	if strings.HasPrefix(ext, ".h") {
		return v - 0.1
	}
	if stem := strings.TrimSuffix(path.Base(defined), ext); strings.HasPrefix(path.Base(declared), stem+".") {
		v += 0.1
	}
	return v
}
