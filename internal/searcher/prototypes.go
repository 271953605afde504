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
// function's definition if that is in scope: the code answers more than its declaration.
func (d *Folder) firstChunks(ctx context.Context, r *search.CodeResult, n int, scope *search.Scope) error {
	var out []search.Chunk
	for _, c := range r.Chunks {
		if len(out) == n {
			break
		}
		if c.Kind == symbols.Prototype.String() && isC(c.Path) {
			if err := d.define(ctx, &c, scope); err != nil {
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

func isC(file string) bool { return strings.HasPrefix(symbols.Language(file, nil)+"+", "C+") }

// define replaces the prototype in c by its definition, if there is one: of several that in
// the source with the name of the header, else one in a source.
func (d *Folder) define(ctx context.Context, c *search.Chunk, scope *search.Scope) error {
	r, err := d.symbols(ctx, &search.SymbolQuery{Name: c.Symbol, Kind: symbols.Function.String(), Scope: *scope, Limit: 50})
	if err != nil {
		return err
	}
	var best *search.Symbol
	for i := range r.Symbols {
		s := &r.Symbols[i]
		// Outside of its namespace a definition names fewer containers.
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
	r.Symbols = []search.Symbol{*best}
	if err := lookup.Describe(ctx, d, false, r); err != nil || len(r.Symbols) == 0 {
		return err
	}
	s := r.Symbols[0]
	c.Path, c.Kind, c.StartLine, c.EndLine = s.Path, s.Kind, s.StartLine, min(s.EndLine, s.StartLine+rank.MaxPiece-1)
	return nil
}

// nearness rates the file of a definition by the file of its declaration. Before equal
// ones the order of names decides.
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
