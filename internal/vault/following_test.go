package vault

import "slices"

// Tests of thousands of moves update one graph, which is fast. The program makes a new
// graph for each move.

// Apply updates the graph after a plan was applied. A file whose new extension makes it a
// note has no links until [Graph.Set] is called.
func (g *Graph) Apply(p *Plan) {
	moved := make(map[string]*source, len(p.Moves))
	for _, m := range p.Moves {
		g.index.Remove(m.From)
		if s := g.sources[m.From]; s != nil {
			moved[m.To] = s
			delete(g.sources, m.From)
		}
	}
	for _, m := range p.Moves {
		g.index.Add(m.To)
		s := moved[m.To]
		switch {
		case s == nil:
		case HasLinks(m.To):
			s.path = m.To
			g.sources[m.To] = s
		default: // no longer a note, so it has no links
			g.sources[m.To] = s
			g.setLinks(m.To, nil)
		}
	}
	for _, e := range p.Files {
		if HasLinks(e.To) {
			g.setLinks(e.To, e.links)
		}
	}
}

// Remove removes a file if the index has it.
func (ix *Index) Remove(path string) {
	e := newEntry(path)
	at, ok := slices.BinarySearch(ix.paths[e.folded], path)
	if !ok {
		return
	}
	ix.paths[e.folded] = slices.Delete(ix.paths[e.folded], at, at+1)
	if len(ix.paths[e.folded]) == 0 {
		delete(ix.paths, e.folded)
	}
	name := base(e.folded)
	if at, ok = slices.BinarySearchFunc(ix.names[name], e, compareEntries); ok {
		ix.names[name] = slices.Delete(ix.names[name], at, at+1)
	}
	if len(ix.names[name]) == 0 {
		delete(ix.names, name)
	}
}
