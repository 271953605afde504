package review

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"quarry/change"
	"quarry/internal/lineage"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
)

// Drift is a file that has changed since its proposal was made.
type Drift struct {
	Path string
	// Blocked has the indices of the hunks that can't be accepted, because later changes
	// overlap them. The other hunks can be merged with later changes, as in an undo.
	Blocked []int

	now   []byte
	edits [][]rootfs.Edit // each hunk's edits of the present content; nil for a blocked hunk
}

// BlockedPaths lists the files with blocked hunks.
func BlockedPaths(list []Drift) []string {
	var paths []string
	for _, d := range list {
		if len(d.Blocked) > 0 {
			paths = append(paths, d.Path)
		}
	}
	return paths
}

// drift compares a file with the version that the proposal is based on. It returns nil if
// they are equal.
func (f *File) drift(ctx context.Context, ws Files) *Drift {
	if f.Op == change.MakeFolder || f.Before == unknownVersion {
		return nil // Apply will report it
	}
	// If the file is closed to this workspace, it is unknown whether it changed.
	state := stateNow(ctx, ws, f.Path)
	if state == f.Before || state == unknownVersion {
		return nil
	}
	d := &Drift{Path: f.Path, edits: make([][]rootfs.Edit, len(f.Hunks))}
	if f.Old != nil && isVersion(state) {
		if now, err := ws.ReadBytes(ctx, f.Path, maxSplit+1); err == nil && splittable(now) {
			d.place(f, now)
		}
	}
	for j := range f.Hunks {
		if d.edits[j] == nil {
			d.Blocked = append(d.Blocked, j)
		}
	}
	return d
}

// place finds the positions of a file's hunks in its present content. It models a history:
// the text with all hunks, their undo, which gives the old content, and the later changes.
// A hunk is blocked if the later changes touch its undo.
func (d *Drift) place(f *File, now []byte) {
	var spans []lineage.Edit
	var hunk []int // the index of each edit's hunk
	shift := int64(0)
	for j, list := range f.edits() {
		for _, e := range list {
			spans = append(spans, lineage.Edit{Off: e.Off + shift, Was: e.Data, Data: e.Was})
			hunk = append(hunk, j)
			shift += int64(len(e.Data) - len(e.Was))
		}
	}
	text := lineage.New(int64(len(f.Old)) + shift)
	back := text.Apply(spans)
	if back.Len() != len(spans) {
		return
	}
	text.Align(f.Old, now)
	d.now = now
	blocked := map[int]bool{}
	for k, j := range hunk {
		state, e := text.Find(back, k)
		if blocked[j] = blocked[j] || state != lineage.Whole; !blocked[j] {
			d.edits[j] = append(d.edits[j], e)
		} else {
			d.edits[j] = nil
		}
	}
}

// edits returns each hunk's edits of the old content.
func (f *File) edits() [][]lineage.Edit {
	lines, at, off := splitAfter(f.Old), 0, int64(0)
	out := make([][]lineage.Edit, len(f.Hunks))
	for j := range f.Hunks {
		h := &f.Hunks[j]
		start := h.OldStart - 1
		if h.OldCount == 0 {
			start = h.OldStart // for an empty range, OldStart is the line before it
		}
		pass := func() {
			if at < len(lines) {
				off += int64(len(lines[at]))
				at++
			}
		}
		for at < start && at < len(lines) {
			pass()
		}
		open, last := false, byte(' ')
		for l := range strings.Lines(h.Text) {
			if l[0] == '-' || l[0] == '+' {
				if !open {
					out[j], open = append(out[j], lineage.Edit{Off: off}), true
				}
				e := &out[j][len(out[j])-1]
				if l[0] == '+' {
					e.Data = append(e.Data, l[1:]...)
				} else if at < len(lines) {
					e.Was = append(e.Was, lines[at]...)
					pass()
				}
			} else if l[0] == '\\' && last == '+' {
				e := &out[j][len(out[j])-1]
				e.Data = bytes.TrimSuffix(e.Data, []byte{'\n'})
			} else if l[0] != '\\' {
				open = false
				pass()
			}
			last = l[0]
		}
	}
	return out
}

// take applies the accepted hunks to the present content and records where each hunk is
// in it.
func (f *File) take(d *Drift) {
	at := 0
	f.At, f.text = make([]int, len(f.Hunks)), []byte{}
	for j, list := range d.edits {
		for i, e := range list {
			if i == 0 {
				f.At[j] = 1 + bytes.Count(d.now[:e.Off], []byte{'\n'})
			}
			if f.Hunks[j].Verdict == Yes {
				f.text = append(append(f.text, d.now[at:e.Off]...), e.Data...)
				at = int(e.Off + e.Len)
			}
		}
	}
	f.text = append(f.text, d.now[at:]...)
	f.on, f.Placed = version.Of(d.now).String(), version.Of(f.text).String()
}

// drifts returns a Drift for each file of the proposal, nil for those that have not
// changed.
func (s *Store) drifts(ctx context.Context, ws Files, p *Proposal) []*Drift {
	list := make([]*Drift, len(p.Files))
	for i := range p.Files {
		list[i] = p.Files[i].drift(ctx, ws)
	}
	return list
}

// fit applies the accepted hunks to the files that have changed since. It returns the
// files in which this is impossible.
func (s *Store) fit(ctx context.Context, ws Files, p *Proposal) (blocked []string) {
	for i, d := range s.drifts(ctx, ws, p) {
		f := &p.Files[i]
		if d == nil || f.accepted() == 0 {
			continue
		}
		if p.Whole() || slices.ContainsFunc(d.Blocked, func(j int) bool { return f.Hunks[j].Verdict == Yes }) {
			blocked = append(blocked, f.Path)
		} else {
			f.take(d)
		}
	}
	return blocked
}

// Stale lists the files that have changed since the proposal was made.
func (s *Store) Stale(ctx context.Context, ws Files, p *Proposal) []Drift {
	var list []Drift
	for i, d := range s.drifts(ctx, ws, p) {
		if d == nil {
			continue
		}
		if p.Whole() {
			d.Blocked = nil
			for j := range p.Files[i].Hunks {
				d.Blocked = append(d.Blocked, j)
			}
		}
		list = append(list, *d)
	}
	return list
}
