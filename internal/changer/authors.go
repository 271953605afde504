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
// through the log, also under earlier names, from the oldest content kept; two contents
// are compared as in a diff. Lines that no logged change has touched were not made through
// Quarry, or are older than the log.
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
	if n := len(list) - 1; len(list[n]) == 0 { // no line begins at the end of the text
		list = list[:n]
	}
	for i := range list {
		list[i] = bytes.TrimSuffix(list[i], []byte{'\r'})
	}
	return list, nil
}

// touching finds the operations on the content of the file now called p, newest first,
// back to its creation.
func touching(entries []journal.Entry, p rootfs.Path) (list []journal.Done) {
	back := false // it was deleted and restored
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
					return list // the present file came from outside
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

// trace applies one operation.
func (w *Changer) trace(t *traced, d journal.Done) error {
	var old, now []byte
	var err error
	if d.Entry.Ops[d.Op].Kind == journal.Create {
		now, err = w.state.journal.After(d.Entry, d.Op)
	} else {
		old, now, err = w.contents(d.Entry, d.Op)
	}
	if errors.Is(err, journal.ErrNotKept) {
		t.known = false // start again from the next known content
		return nil
	}
	if err != nil {
		return err
	}
	before, errOld := decodedLines(old)
	after, errNow := decodedLines(now)
	if errOld != nil || errNow != nil { // it was not text then
		t.known = false
		return nil
	}
	t.become(before, "") // an edit from outside
	t.become(after, string(d.Entry.ID))
	t.seen = append(t.seen, d.Entry)
	return nil
}

// become replaces the text; lines that a diff shows as new are attributed to by.
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
