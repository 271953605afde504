package changer

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"fmt"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
)

// Plans are stored in the state folder under their digests. A plan has the version of
// every file that it was made for, so applying it later does exactly what was shown, or
// nothing.

// maxPlansKept limits the number of stored plans; the oldest are deleted.
const maxPlansKept = 64

// maxPlan limits the size of a stored plan.
const maxPlan = 16 << 20

// textOf returns the number of text bytes in a set.
func textOf(set *change.Set) int {
	n := 0
	for _, op := range set.Ops {
		n += len(op.Content)
		for _, e := range op.Edits {
			n += len(e.Old) + len(e.New) + len(e.Hunk)
		}
	}
	return n
}

// plan is a stored set. gob omits pointers to false, so Cleared has the operations that
// clear the executable bits.
type plan struct {
	Set     change.Set
	Cleared []int
}

// storePlan stores a set under its digest.
func (w *Changer) storePlan(set *change.Set, versions map[int]string, digest string) error {
	kept := *set
	kept.Digest, kept.FullDiff, kept.AllLines = digest, false, false
	kept.Ops = append([]change.Op(nil), set.Ops...)
	for i, v := range versions {
		kept.Ops[i].Version = cmp.Or(kept.Ops[i].Version, v)
	}
	p := plan{Set: kept}
	for i, op := range kept.Ops {
		if op.Executable != nil && !*op.Executable {
			p.Cleared = append(p.Cleared, i)
		}
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(p); err != nil {
		return fmt.Errorf("keep plan: %w", err)
	}
	return w.state.keepPlan(digest, b.Bytes())
}

// loadPlan returns the set stored under a digest.
func (w *Changer) loadPlan(asked change.Set) (change.Set, error) {
	data, err := w.state.readPlan(asked.Digest)
	if err != nil {
		return asked, &planError{Digest: asked.Digest}
	}
	var p plan
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&p); err != nil {
		return asked, &planError{Digest: asked.Digest}
	}
	set := p.Set
	for _, i := range p.Cleared {
		set.Ops[i].Executable = new(false)
	}
	if asked.Summary != "" {
		set.Summary = asked.Summary
	}
	set.Proposal, set.Rule = asked.Proposal, asked.Rule
	set.Tool, set.Client, set.FullDiff, set.AllLines = toolOf(asked.Tool, set.Tool), asked.Client, asked.FullDiff, asked.AllLines
	return set, nil
}

func (s *state) keepPlan(digest string, data []byte) error {
	dir := s.root.Own("plans")
	if _, err := s.root.MkdirAll(dir); err != nil {
		return err
	}
	if err := s.dropPlans(dir); err != nil {
		return err
	}
	p, err := dir.Child(digest)
	if err != nil {
		return err
	}
	if _, _, err = s.root.Create(p, data, nil); rootfs.KindOf(err) == fault.AlreadyExists {
		return nil // the same plan
	}
	return err
}

func (s *state) readPlan(digest string) ([]byte, error) {
	p, err := s.root.Known("plans/" + digest)
	if err != nil {
		return nil, err
	}
	data, _, err := s.root.ReadContent(p, maxRead)
	return data, err
}

// dropPlans deletes the oldest plans to make room for a new one.
func (s *state) dropPlans(dir rootfs.Path) error {
	entries, err := s.root.List(dir)
	if err != nil || len(entries) < maxPlansKept {
		return err
	}
	var oldest rootfs.Path
	var age rootfs.Info
	for _, e := range entries {
		p, err := dir.Child(e.Name)
		if err != nil {
			return err
		}
		info, err := s.root.Stat(p)
		if err == nil && (oldest.IsRoot() || info.ModTime.Before(age.ModTime)) {
			oldest, age = p, info
		}
	}
	if oldest.IsRoot() {
		return nil
	}
	return s.root.Remove(oldest)
}
