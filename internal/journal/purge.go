package journal

import (
	"context"
	"errors"
	"slices"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
)

const purgeDir = "outside.new"

// PurgeOutside removes the changes at and below a path from the log of outside changes,
// by rewriting the log. With path "" it removes everything. The baseline is removed too.
// No recorder may be running.
func PurgeOutside(ctx context.Context, state *rootfs.Root, path string, opts *Options) error {
	for _, dir := range []string{purgeDir, OutsideDir + ".old"} { // left by an interrupted purge
		if err := removeFolder(state, dir); err != nil {
			return err
		}
	}
	if path != "" {
		if err := copyWithout(ctx, state, path, opts); err != nil {
			return err
		}
	}
	err := state.Rename(state.Own(OutsideDir), state.Own(OutsideDir+".old"))
	if err != nil && !errors.Is(err, fault.NotFound) {
		return err
	}
	if path != "" {
		if err := state.Rename(state.Own(purgeDir), state.Own(OutsideDir)); err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
	}
	return removeFolder(state, OutsideDir+".old")
}

func removeFolder(state *rootfs.Root, dir string) error {
	if _, err := state.Stat(state.Own(dir)); errors.Is(err, fault.NotFound) {
		return nil
	}
	nodes, err := Scan(context.Background(), state, state.Own(dir))
	for _, n := range slices.Backward(nodes) {
		p := state.Own(dir)
		if n.Rel != "" {
			p = state.Own(dir + "/" + n.Rel)
		}
		err = errors.Join(err, state.Remove(p))
	}
	return err
}

func copyWithout(ctx context.Context, state *rootfs.Root, path string, opts *Options) error {
	from, in, err := openOutside(state, OutsideDir, false, opts)
	if err != nil || from == nil {
		return err
	}
	defer in.Close()
	defer from.Close()
	to, out, err := openOutside(state, purgeDir, true, opts)
	if err != nil {
		return err
	}
	defer out.Close()
	defer to.Close()
	gone, err := state.Known(path)
	if err != nil {
		return err
	}
	list, err := from.List(0)
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(list) {
		c := e.Change
		c.At, c.Ops = e.Time, nil
		for i, op := range e.Ops {
			if op.Path.Beneath(gone) {
				continue
			}
			if err := op.bring(from, e, i); err != nil {
				op.Lost = err.Error()
			}
			c.Ops = append(c.Ops, op)
		}
		if len(c.Ops) == 0 {
			continue
		}
		if len(c.Ops) < len(e.Ops) {
			if strings.Contains(c.Did.Text, gone.Base()) { // it quotes a command
				c.Did.Text = ""
			}
			c.Did = Summarize(c.Ops, c.Did.Text)
		}
		n, _ := e.ID.number()
		if _, err := to.Record(ctx, c, idOf(n+1), ""); err != nil {
			return err
		}
	}
	return nil
}

// bring adds the contents that Record requires.
func (op *Op) bring(j *Journal, e Entry, i int) (err error) {
	if op.old.place == inGit || len(op.Nodes) == 1 && op.Nodes[0].at.place == inGit {
		at := [2]ref{op.old, op.made}
		if op.Kind == Create {
			at = [2]ref{{}, op.Nodes[0].at}
		} else if op.Kind == Remove {
			at = [2]ref{op.Nodes[0].at, {}}
		}
		op.Blobs = [2]Blob{{at[0].git, at[0].size}, {at[1].git, at[1].size}}
		return nil
	}
	if op.Lost != "" {
		return errors.New(op.Lost)
	}
	file := op.Kind == Replace || (op.Kind == Remove || op.Kind == Create) && op.Nodes[0].Type == rootfs.TypeFile
	if file && op.Kind != Create {
		if op.OldData, err = j.Before(e, i); err != nil {
			return err
		}
	}
	if file && op.Kind != Remove {
		if op.NewData, err = j.After(e, i); errors.Is(err, ErrNotKept) {
			err = nil
		}
	}
	op.old, op.hasDiff = ref{}, false
	return err
}

// Summarize summarizes operations of other programs.
func Summarize(ops []Op, text string) change.Action {
	a := change.Action{Verb: change.Outside, Text: text}
	kinds := map[string]Kind{}
	for _, op := range ops {
		p := op.Path.String()
		if was, twice := kinds[p]; twice && was != op.Kind { // another kind of thing, or mode and text
			kinds[p] = Replace
			continue
		}
		kinds[p] = op.Kind
	}
	for p, k := range kinds {
		a.Count++
		switch k {
		case Create:
			a.Files++
		case Remove:
			a.Broken++
		}
		if a.Path == "" || p < a.Path {
			a.Path = p
		}
	}
	return a
}
