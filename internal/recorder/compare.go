package recorder

import (
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
)

// versionOf returns the version of a state's content, or zero if it is unknown.
func (r *Recorder) versionOf(s *state) rootfs.Version {
	if s == nil || s.typ != rootfs.TypeFile {
		return rootfs.Version{}
	}
	if s.version.IsZero() && s.load != nil {
		if data, err := s.content(); err == nil {
			s.version = version.Of(data)
		}
	}
	return s.version
}

// content returns the content of a state. compare keeps it: reading it from git takes a
// tenth of the time needed to record a change.
func (s *state) content() (data []byte, err error) {
	if s.data == nil {
		data, err = s.load()
		s.data = data
	}
	return s.data, err
}

// same reports whether two states of a file have the same content.
func (r *Recorder) same(a, b *state) bool {
	if a.place == inGit && b.place == inGit {
		return a.blob == b.blob
	}
	if a.load == nil && b.load == nil && a.version.IsZero() && b.version.IsZero() {
		return a.stamp == b.stamp && a.stamp != 0 || a.why != kept && a.why == b.why
	}
	return r.versionOf(a) == r.versionOf(b) && !r.versionOf(a).IsZero()
}

// compare returns the journal operations that lead from the state was to the state now.
// uncovered is set if content changed that is not kept. There is no operation for that.
// byGit means that git made the change, so contents in git need not be stored.
func (r *Recorder) compare(path string, was, now *state, byGit bool) (ops []journal.Op, uncovered bool) {
	for _, s := range []*state{was, now} {
		if s != nil {
			defer func() { s.data = nil }()
		}
	}
	p, err := r.disk.root.Known(path)
	if err != nil || was == nil && now == nil {
		return nil, false
	}
	if was != nil && (now == nil || now.typ != was.typ) {
		op, ok := r.removed(p, was, byGit)
		if !ok {
			return nil, true
		}
		ops, was = append(ops, op), nil
	}
	if now == nil {
		return ops, false
	}
	if was == nil {
		op, ok := r.created(p, now, byGit)
		if !ok {
			return ops, true
		}
		return append(ops, op), false
	}
	switch {
	case now.typ == rootfs.TypeSymlink && now.target != was.target:
		return []journal.Op{
			{Kind: journal.Remove, Path: p, Nodes: []journal.Node{{Type: was.typ, Target: was.target}}},
			{Kind: journal.Create, Path: p, Nodes: []journal.Node{{Type: now.typ, Target: now.target}}},
		}, false
	case now.typ != rootfs.TypeFile:
		return nil, false
	case !r.same(was, now):
		op, ok := r.replaced(p, was, now, byGit)
		if !ok {
			return nil, true
		}
		ops = append(ops, op)
	}
	if !was.anyMode && !now.anyMode && was.mode != now.mode {
		ops = append(ops, journal.Op{Kind: journal.Chmod, Path: p, Mode: was.mode, NewMode: now.mode})
	}
	return ops, false
}

func (r *Recorder) replaced(p rootfs.Path, was, now *state, byGit bool) (journal.Op, bool) {
	op := journal.Op{Kind: journal.Replace, Path: p, Old: r.versionOf(was), New: r.versionOf(now), Mode: was.mode}
	if was.load == nil || now.load == nil || op.Old.IsZero() || op.New.IsZero() {
		return op, false
	}
	old, err := was.content()
	if err != nil {
		return op, false
	}
	data, err := now.content()
	if err != nil {
		return op, false
	}
	if byGit && was.place == inGit && now.place == inGit {
		op.Blobs = [2]journal.Blob{{ID: was.blob, Size: int64(len(old))}, {ID: now.blob, Size: int64(len(data))}}
	} else {
		op.OldData, op.NewData = present(old), present(data)
	}
	return op, true
}

// removed returns the operation that removes the entry at a path.
func (r *Recorder) removed(p rootfs.Path, was *state, byGit bool) (journal.Op, bool) {
	n := journal.Node{Type: was.typ, Mode: was.mode, Target: was.target}
	if was.typ == rootfs.TypeDir {
		n.Mode = 0o755
	}
	op := journal.Op{Kind: journal.Remove, Path: p}
	if was.typ == rootfs.TypeFile {
		if was.load == nil {
			return op, false
		}
		old, err := was.content()
		if err != nil {
			return op, false
		}
		n.Version, n.Size = r.versionOf(was), int64(len(old))
		if byGit && was.place == inGit {
			op.Blobs[0] = journal.Blob{ID: was.blob, Size: n.Size}
		} else {
			op.OldData = present(old)
		}
	}
	op.Nodes = []journal.Node{n}
	return op, true
}

// created returns the operation that makes the entry at a path.
func (r *Recorder) created(p rootfs.Path, now *state, byGit bool) (journal.Op, bool) {
	n := journal.Node{Type: now.typ, Mode: now.mode, Target: now.target, ModTime: now.time}
	op := journal.Op{Kind: journal.Create, Path: p}
	if now.typ == rootfs.TypeFile {
		if now.load == nil {
			return op, false
		}
		data, err := now.content()
		if err != nil {
			return op, false
		}
		n.Version, n.Size = r.versionOf(now), int64(len(data))
		if byGit && now.place == inGit {
			op.Blobs[1] = journal.Blob{ID: now.blob, Size: n.Size}
		} else {
			op.NewData = present(data)
		}
	}
	op.Nodes = []journal.Node{n}
	return op, true
}

// present returns data, but never nil.
func present(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}
