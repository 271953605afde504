package changer

import (
	"errors"
	"io"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
	"quarry/internal/textedit"
	"quarry/internal/textfile"
)

// large reports whether the contents of e.Ops[i] are too large to be held in memory for a
// diff.
func (w *Changer) large(e journal.Entry, i int) bool {
	op := e.Ops[i]
	if e.BeforeSize(i) > w.largeFrom {
		return true
	}
	if op.Kind == journal.Remove {
		return false
	}
	info, err := w.root.Stat(op.Path)
	return err == nil && info.Size > w.largeFrom
}

// largeDiff returns the diff of an operation on large contents. It reads them a page at a
// time, from the journal, or from the file if that is unchanged since the operation.
func (w *Changer) largeDiff(e journal.Entry, i int, d change.PathDiff, reverse bool, opts *textedit.DiffOptions) (change.PathDiff, error) {
	op := e.Ops[i]
	shown, err := w.state.journal.Shown(e, i)
	if err != nil {
		return d, err
	}
	if shown != "" {
		if d.Hunks = shown; reverse {
			d.Hunks = reverseHunks(shown)
		}
		return d, nil
	}
	notKept := func(err error) (change.PathDiff, error) {
		if !errors.Is(err, journal.ErrNotKept) && rootfs.KindOf(err) != fault.NotFound {
			return d, err
		}
		d.Kind = change.DiffNotKept
		d.Old, d.New = op.Path.String(), op.Path.String()
		return d, nil
	}
	old, new := textfile.Verbatim(nil), textfile.Verbatim(nil)
	if op.Kind != journal.Create {
		kept, err := w.openBefore(e, i)
		if err != nil {
			return notKept(err)
		}
		defer kept.Close()
		version := op.Old
		if op.Kind == journal.Remove {
			version = op.Nodes[0].Version
		}
		if old, err = versionText(kept, kept.Size, version); err != nil {
			return binaryOr(d, notKept, err)
		}
	}
	if op.Kind != journal.Remove {
		f, err := w.root.OpenFile(op.Path)
		if err != nil {
			return notKept(err)
		}
		defer f.Close()
		if new, err = versionText(f, f.Info().Size, op.New); err != nil {
			return binaryOr(d, notKept, err)
		}
	}
	if reverse {
		old, new = new, old
	}
	d.Hunks, d.Cut = textedit.DiffLarge(old, new, opts)
	return d, errors.Join(old.Err(), new.Err())
}

// openBefore opens the content before an operation, which may be small even if the
// content after it is large.
func (w *Changer) openBefore(e journal.Entry, i int) (*journal.Kept, error) {
	kept, err := w.state.journal.OpenBefore(e, i)
	if !errors.Is(err, journal.ErrNotKept) || e.BeforeSize(i) > w.largeFrom {
		return kept, err
	}
	data, err := w.state.journal.Before(e, i)
	if err != nil {
		return nil, err
	}
	return journal.KeptBytes(data), nil
}

// versionText reads a content as text. It fails unless the content has the version want.
func versionText(r io.ReaderAt, size int64, want rootfs.Version) (*textfile.Text, error) {
	sum := version.NewRunningSum()
	text, err := textfile.Scan(r, size, sum)
	if v := sum.Version(); err == nil && v != want {
		return nil, journal.ErrNotKept
	}
	return text, err
}

// binaryOr returns d, without lines, if err means that a content is not text, and
// otherwise(err) if not.
func binaryOr(d change.PathDiff, otherwise func(error) (change.PathDiff, error), err error) (change.PathDiff, error) {
	var binary *textfile.BinaryError
	if !errors.As(err, &binary) {
		return otherwise(err)
	}
	d.Kind = change.DiffBinary
	return d, nil
}

// reverseHunks returns the hunks of the opposite change.
func reverseHunks(hunks string) string {
	var b, removed, added strings.Builder
	var last *strings.Builder // the builder of the previous line
	flush := func() {
		b.WriteString(removed.String())
		b.WriteString(added.String())
		removed.Reset()
		added.Reset()
	}
	for line := range strings.Lines(hunks) {
		switch line[0] {
		case '+':
			removed.WriteString("-" + line[1:])
			last = &removed
		case '-':
			added.WriteString("+" + line[1:])
			last = &added
		case '\\':
			if last == nil {
				last = &b
			}
			last.WriteString(line)
		case '@':
			flush()
			last = &b
			b.WriteString(reverseHeader(line))
		default:
			flush()
			last = &b
			b.WriteString(line)
		}
	}
	flush()
	return b.String()
}

// reverseHeader swaps the sides of "@@ -1,2 +3,4 @@".
func reverseHeader(line string) string {
	f := strings.Fields(line)
	if len(f) != 4 {
		return line
	}
	return "@@ -" + f[2][1:] + " +" + f[1][1:] + " @@\n"
}
