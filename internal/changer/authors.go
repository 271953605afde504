package changer

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"quarry/change"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/textedit"
	"quarry/internal/textfile"
)

// maxAuthored is the largest file whose lines are traced.
const maxAuthored = 16 << 20

// Authors reports which change last touched each line of a text file. It follows the file
// through the log, across renames, starting from the oldest content kept, and compares
// successive contents as a diff does. A line without a change was written by another
// program, or is older than the log.
func (w *Changer) Authors(ctx context.Context, user string) (*change.Authors, error) {
	p, err := w.root.Resolve(user)
	if err != nil {
		return nil, err
	}
	data, version, _, err := w.root.ReadFile(p, maxAuthored)
	if err != nil {
		return nil, err
	}
	now, err := decodedLines(data)
	if err != nil {
		return nil, err
	}
	out := &change.Authors{Path: p.String(), Version: version.String()}
	t := &traced{}
	hidden := map[journal.ID]bool{}
	if w.state != nil {
		if err := w.belongs(); err != nil {
			return nil, err
		}
		entries, err := w.state.journal.List(0)
		if err != nil {
			return nil, err
		}
		for i, hides := range w.hidden(entries, 0) {
			hidden[entries[i].ID] = hides
		}
		for _, d := range slices.Backward(touching(entries, p)) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := w.trace(t, d); err != nil {
				return nil, err
			}
		}
	}
	t.become(now, "")
	out.Lines = t.who
	for _, e := range t.seen {
		if slices.Contains(out.Lines, string(e.ID)) {
			c := changeOf(e)
			if hidden[e.ID] {
				c = masked(c)
			}
			out.Changes = append(out.Changes, c)
		}
	}
	slices.Reverse(out.Changes) // newest first
	return out, nil
}

// decodedLines returns the lines of a text file, decoded, without line endings.
func decodedLines(raw []byte) ([][]byte, error) {
	d, err := textfile.New(raw)
	if err != nil {
		return nil, err
	}
	list := bytes.Split(d.Text(), []byte{'\n'})
	if n := len(list) - 1; len(list[n]) == 0 { // the text ends with a line break
		list = list[:n]
	}
	for i := range list {
		list[i] = bytes.TrimSuffix(list[i], []byte{'\r'})
	}
	return list, nil
}

// touching returns the operations on the content of the file now at p, newest first, back
// to its creation.
func touching(entries []journal.Entry, p rootfs.Path) (list []journal.Done) {
	back := false // the file was deleted and restored
	for _, e := range entries {
		if e.Status != journal.Committed {
			continue
		}
		for i, op := range slices.Backward(e.Ops) {
			switch {
			case op.Kind == journal.Rename && p.Beneath(op.To):
				if from, err := journal.Rebase(p, op.To, op.Path); err == nil {
					p = from
				}
			case op.Kind == journal.Replace && op.Path == p:
				list = append(list, journal.Done{Entry: e, Op: i})
			case (op.Kind == journal.Restore || op.Kind == journal.Create && (e.Undoes != "" || e.Reverts != nil)) && p.Beneath(op.Path):
				back = true
			case op.Kind == journal.Create && op.Path == p:
				return append(list, journal.Done{Entry: e, Op: i})
			case (op.Kind == journal.Trash || op.Kind == journal.Remove) && p.Beneath(op.Path):
				if !back {
					return list // the present file was made by another program
				}
				back = false
			}
		}
	}
	return list
}

// traced is a text with the author of each line.
type traced struct {
	known bool // lines is the file's content
	lines [][]byte
	who   []string
	seen  []journal.Entry // oldest first
}

// trace applies one operation to t.
func (w *Changer) trace(t *traced, d journal.Done) error {
	var old, now []byte
	var err error
	if d.Entry.Ops[d.Op].Kind == journal.Create {
		now, err = w.state.journal.After(d.Entry, d.Op)
	} else {
		old, now, err = w.contents(d.Entry, d.Op)
	}
	if errors.Is(err, journal.ErrNotKept) {
		t.known = false // continue with the next content that was kept
		return nil
	}
	if err != nil {
		return err
	}
	before, errOld := decodedLines(old)
	after, errNow := decodedLines(now)
	if errOld != nil || errNow != nil { // one of the contents was not text
		t.known = false
		return nil
	}
	t.become(before, "") // an edit from outside
	t.become(after, string(d.Entry.ID))
	t.seen = append(t.seen, d.Entry)
	return nil
}

// become replaces the text. Lines that a diff shows as added are attributed to by.
func (t *traced) become(lines [][]byte, by string) {
	who := make([]string, len(lines))
	if by != "" {
		for i := range who {
			who[i] = by
		}
	}
	if t.known {
		ids := map[string]int{}
		for _, s := range textedit.CommonLines(textedit.NumberLines(t.lines, ids), textedit.NumberLines(lines, ids)) {
			copy(who[s.B:s.B+s.N], t.who[s.A:s.A+s.N])
		}
	}
	t.lines, t.who, t.known = lines, who, true
}
