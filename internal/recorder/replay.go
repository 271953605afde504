package recorder

import (
	"slices"
	"strings"

	"quarry/internal/journal"
	"quarry/internal/rootfs"
)

// model is the baseline updated by later journal entries: our own changes, and outside
// changes that were recorded right before a crash.
type model struct {
	r     *Recorder
	cells map[string]*state // by path; nil means that nothing exists there
	// found has outside changes that happened before an entry of the log: the entry did
	// not find the state of the baseline.
	found []before
	// unknown has claims about trees, newest last: whether one of our own changes put
	// contents there that are not in the baseline.
	unknown []claim
	// ahead has the operations on each path that are still to be replayed.
	ahead map[string][]journal.Op
}

// claim tells whether the states of a path and everything below it are unknown.
type claim struct {
	path    string
	unknown bool
}

// before is an outside change, and the id of the entry that it precedes.
type before struct {
	id  journal.ID
	ops []journal.Op
}

func (r *Recorder) newModel() *model {
	return &model{r: r, cells: map[string]*state{}, ahead: map[string][]journal.Op{}}
}

func (m *model) at(path string) *state {
	s, known := m.cells[path]
	if !known {
		if e, ok := m.r.base.get(path); ok && !e.uncovered {
			s = m.r.stateOf(e)
		}
		m.cells[path] = s
	}
	return s
}

// stateOf converts an entry of the baseline to a state.
func (r *Recorder) stateOf(e entry) *state {
	s := &state{entry: e, version: e.version, anyMode: e.typ == rootfs.TypeDir}
	switch e.place {
	case inStore:
		s.load = func() ([]byte, error) { return r.base.read(&s.entry) }
	case inGit:
		s.load = func() ([]byte, error) { return r.blob(e.blob) }
	}
	return s
}

// below loads the baseline's states of a path and everything below it.
func (m *model) below(path string) (paths []string) {
	for _, dir := range m.r.base.under(path) {
		for _, e := range m.r.base.folder(dir) {
			m.at(join(dir, e.name))
		}
	}
	m.at(path)
	for p := range m.cells {
		if beneath(p, path) {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}

// replay applies entries, oldest first.
func (m *model) replay(entries []journal.Entry) {
	for _, e := range entries {
		for _, op := range e.Ops {
			m.ahead[op.Path.String()] = append(m.ahead[op.Path.String()], op)
		}
	}
	for _, e := range entries {
		b := before{id: e.ID}
		for i := range e.Ops {
			m.step(e, i, &b)
		}
		if len(b.ops) > 0 {
			m.found = append(m.found, b)
		}
	}
}

func (m *model) step(e journal.Entry, i int, b *before) {
	op := e.Ops[i]
	path := op.Path.String()
	m.ahead[path] = m.ahead[path][1:]
	s := m.at(path)
	switch op.Kind {
	case journal.Rename:
		m.folders(op.To.String(), b)
	case journal.Create, journal.Restore, journal.Replace:
		m.folders(path, b)
	}
	switch op.Kind {
	case journal.Replace:
		if s != nil && m.includes(s, op) {
			return
		}
		unknown := m.isUnknown(path)
		if s = m.noFolder(path, s, b); m.r.versionOf(s) != op.Old && !unknown {
			m.outside(path, s, &state{entry: entry{typ: rootfs.TypeFile}, anyMode: true, version: op.Old, load: func() ([]byte, error) { return m.r.journal.Before(e, i) }}, b)
		}
		next := &state{entry: entry{typ: rootfs.TypeFile}, anyMode: true, version: op.New, load: func() ([]byte, error) { return m.r.journal.After(e, i) }}
		if s != nil && !unknown {
			next.mode, next.anyMode = s.mode, s.anyMode
		}
		m.cells[path] = next
		m.setKnown(path)
	case journal.Chmod:
		if s != nil {
			if !s.anyMode && s.mode != op.Mode.Perm() && s.mode != op.NewMode.Perm() {
				b.ops = append(b.ops, journal.Op{Kind: journal.Chmod, Path: op.Path, Mode: s.mode, NewMode: op.Mode.Perm()})
			}
			next := *s
			next.mode, next.anyMode = op.NewMode.Perm(), false
			m.cells[path] = &next
		}
	case journal.Create, journal.Restore:
		m.made(e, i, s, b)
	case journal.Remove, journal.Trash:
		if s != nil && len(op.Nodes) > 0 && op.Nodes[0].Type == rootfs.TypeFile && s.typ == rootfs.TypeFile && m.r.versionOf(s) != op.Nodes[0].Version && !op.Nodes[0].Version.IsZero() {
			m.outside(path, s, &state{entry: entry{typ: rootfs.TypeFile}, anyMode: true, version: op.Nodes[0].Version, load: func() ([]byte, error) { return m.r.journal.Before(e, i) }}, b)
		}
		for _, p := range m.below(path) {
			m.cells[p] = nil
		}
		m.setKnown(path)
	case journal.Rename:
		to := op.To.String()
		moved := append([]claim{{path, m.isUnknown(path)}}, m.unknown...)
		for _, p := range m.below(path) {
			if e, _ := m.r.base.get(p); e.uncovered {
				moved = append(moved, claim{p, true})
			}
			m.cells[to+strings.TrimPrefix(p, path)], m.cells[p] = m.cells[p], nil
		}
		for _, c := range moved {
			if (len(moved) > 1 || c.unknown) && beneath(c.path, path) {
				m.unknown = append(m.unknown, claim{to + strings.TrimPrefix(c.path, path), c.unknown})
			}
		}
		m.setKnown(path)
	}
}

// folders records parent folders of a path that the baseline lacks: another program made
// them, because our own operation found them.
func (m *model) folders(path string, b *before) {
	for i := range path {
		if path[i] != '/' {
			continue
		}
		dir := path[:i]
		if s := m.at(dir); (s == nil || s.typ != rootfs.TypeDir) && !m.isUnknown(dir) {
			made := &state{entry: entry{typ: rootfs.TypeDir}, anyMode: true}
			m.outside(dir, s, made, b)
			m.cells[dir] = made
		}
	}
}

// noFolder records that another program removed a folder of the baseline, with its
// contents, before one of our own operations put a file there.
func (m *model) noFolder(path string, s *state, b *before) *state {
	if s == nil || s.typ != rootfs.TypeDir {
		return s
	}
	for _, p := range m.below(path) {
		m.outside(p, m.at(p), nil, b)
		m.cells[p] = nil
	}
	return nil
}

// made updates the model for an operation that writes to a path.
func (m *model) made(e journal.Entry, i int, s *state, b *before) {
	op := e.Ops[i]
	if s != nil && m.includes(s, op) {
		return
	}
	if op.Kind == journal.Restore || len(op.Nodes) == 0 {
		m.unknown = append(m.unknown, claim{op.Path.String(), true})
		return
	}
	if s != nil && s.typ != rootfs.TypeDir {
		m.outside(op.Path.String(), s, nil, b)
	} else if op.Nodes[0].Type != rootfs.TypeDir {
		m.noFolder(op.Path.String(), s, b)
	}
	m.setKnown(op.Path.String())
	for _, n := range op.Nodes {
		next := &state{entry: entry{typ: n.Type, mode: n.Mode.Perm(), target: n.Target}, anyMode: n.Mode == 0 || n.Type != rootfs.TypeFile, version: n.Version, size: n.Size}
		if n.Type == rootfs.TypeFile && n.Rel == "" {
			next.load = func() ([]byte, error) { return m.r.journal.After(e, i) }
		}
		path := op.Path.String()
		if n.Rel != "" {
			path += "/" + n.Rel
		}
		m.cells[path] = next
	}
}

// includes reports whether the baseline was read after an operation: it has the state
// left by the operation, or by a later one on the same path.
func (m *model) includes(s *state, op journal.Op) bool {
	if s.name == "" { // not from the baseline
		return false
	}
	if s.typ == rootfs.TypeSymlink {
		return len(op.Nodes) > 0 && op.Nodes[0].Type == s.typ && op.Nodes[0].Target == s.target
	}
	v := m.r.versionOf(s)
	leaves := func(op journal.Op) bool {
		return (op.Kind == journal.Replace || op.Kind == journal.Create) && op.New == v && !v.IsZero()
	}
	return op.Old != v && (leaves(op) || slices.ContainsFunc(m.ahead[op.Path.String()], leaves))
}

// outside adds an outside change from one state to another.
func (m *model) outside(path string, was, now *state, b *before) {
	ops, _ := m.r.compare(path, was, now, false)
	b.ops = append(b.ops, ops...)
}

// isUnknown reports whether the expected state of a path is unknown. That includes paths that
// were not covered: their files may have existed before the rules changed.
func (m *model) isUnknown(path string) bool {
	for _, c := range slices.Backward(m.unknown) {
		if beneath(path, c.path) {
			return c.unknown
		}
	}
	return !m.r.base.covered(path)
}

// setKnown records that the state of a path is known again.
func (m *model) setKnown(path string) {
	if len(m.unknown) > 0 {
		m.unknown = append(m.unknown, claim{path, false})
	}
}
