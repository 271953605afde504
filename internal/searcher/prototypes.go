package searcher

import (
	"cmp"
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

// isC reports whether a file is C or C++.
func isC(file string) bool {
	lang := symbols.Language(file, nil)
	return lang == "C" || lang == "C++"
}

// maxDefinitions limits the definitions of one name that are compared.
const maxDefinitions = 50

// define replaces the prototype in c by its definition, if there is one. Of
// several the nearest counts, and one in a source rather than a header.
func (d *Folder) define(ctx context.Context, c *search.Chunk, scope *search.Scope) error {
	r, err := d.symbols(ctx, &search.SymbolQuery{Name: c.Symbol, Kind: symbols.Function.String(), Scope: *scope, Limit: maxDefinitions})
	if err != nil {
		return err
	}
	r.Symbols = slices.DeleteFunc(r.Symbols, func(s search.Symbol) bool {
		return !isC(s.Path) || !sameFunction(c.Symbol, &s)
	})
	slices.SortStableFunc(r.Symbols, func(a, b search.Symbol) int { return cmp.Compare(nearness(b.Path, c.Path), nearness(a.Path, c.Path)) })
	r.Symbols = r.Symbols[:min(len(r.Symbols), 1)]
	if err := lookup.Describe(ctx, d, false, r); err != nil || len(r.Symbols) == 0 {
		return err
	}
	s := r.Symbols[0]
	c.Path, c.Kind, c.StartLine, c.EndLine = s.Path, s.Kind, s.StartLine, min(s.EndLine, s.StartLine+rank.MaxPiece-1)
	return nil
}

// sameFunction reports whether a definition can be that of a declared function: outside
// of its namespace a definition names fewer containers, or more of them.
func sameFunction(declared string, s *search.Symbol) bool {
	defined := s.Name
	if s.Container != "" {
		defined = s.Container + "." + s.Name
	}
	short, long := declared, defined
	if len(short) > len(long) {
		short, long = long, short
	}
	return short == long || strings.Contains(short, ".") && strings.HasSuffix(long, "."+short)
}

// nearness rates the file of a definition by the file of its declaration.
func nearness(defined, declared string) float64 {
	v := rank.PathWeight(defined) * 100
	if stem(defined) == stem(declared) {
		v += 40
	}
	if !strings.HasPrefix(path.Ext(defined), ".h") {
		v += 20
	}
	for i := 0; i < min(len(defined), len(declared)) && defined[i] == declared[i]; i++ {
		if defined[i] == '/' {
			v++
		}
	}
	return v
}

func stem(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }
