package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
)

// If a few edits change a large file, the journal does not keep the whole old content.
// The entry has the edits that turn the new content back into the old. They suffice: an
// undo is refused unless the file has the new content, and after a crash either the old
// or the new file is complete. For an edit of 1 byte in 100 MB the journal writes about 1
// KB instead of 100 MB.
//
// The body of a back record is the diff for display, followed by the edits in the format
// of a diff record.

// maxShown is the largest diff stored with an entry. Callers pass much shorter ones.
const maxShown = 256 << 10

// preferEdits reports whether to keep the old content of a replacement, of size bytes, as
// edits. Contents up to maxInline are kept whole: that costs no more, and an undo then
// doesn't need the file.
func preferEdits(edits []rootfs.Edit, size int64) bool {
	if len(edits) == 0 || size <= maxInline {
		return false
	}
	cost := int64(0)
	for _, e := range edits {
		cost += e.Len + int64(len(e.Data)) + 2*10
	}
	return cost <= maxInline/2 && ordered(edits, size) // rootfs refuses unordered edits
}

// editsOnly decides whether the old content of op is kept as edits, and how many bytes
// that costs.
func (op *Op) editsOnly(size int64) (cost int64, ok bool) {
	if op.Lost != "" {
		return 0, false
	}
	if op.Edits == nil && op.OldData != nil && op.NewData != nil && size > maxInline {
		if s := span(op.OldData, op.NewData); preferEdits(s, size) {
			op.Edits = s
		}
	}
	if !preferEdits(op.Edits, size) {
		return 0, false
	}
	for _, e := range op.Edits {
		cost += e.Len + int64(len(e.Data))
	}
	op.old = ref{place: asEdits, size: size}
	return cost, true
}

// keepBack records the edits that undo a replacement. It reads the overwritten bytes from
// the file if the caller does not have them. It does not verify their hash, only that the
// file did not change meanwhile: the result of the edits is verified before it is used.
func (k *keeper) keepBack(i int, op *Op) (err error) {
	if op.OldData != nil {
		k.backs[i], err = reverse(op.Edits, bytes.NewReader(op.OldData))
		return err
	}
	p, err := k.moves.origin(op.Path)
	if err != nil {
		return err
	}
	f, err := k.ws.OpenFile(p)
	if err != nil {
		return err
	}
	defer f.Close()
	if k.backs[i], err = reverse(op.Edits, f); errors.Is(err, io.EOF) {
		return conflict(p)
	} else if err != nil {
		return err
	}
	return checkUnchanged(f, p, op.old.size)
}

// reverse returns the edits that undo the given edits of old.
func reverse(edits []rootfs.Edit, old io.ReaderAt) ([]rootfs.Edit, error) {
	back := make([]rootfs.Edit, len(edits))
	shift := int64(0)
	for i, e := range edits {
		data := make([]byte, e.Len)
		if n, err := old.ReadAt(data, e.Off); n < len(data) {
			return nil, err
		}
		back[i] = rootfs.Edit{Off: e.Off + shift, Len: int64(len(e.Data)), Data: data}
		shift += int64(len(e.Data)) - e.Len
	}
	return back, nil
}

// checkUnchanged returns a conflict if f was modified since it was opened.
func checkUnchanged(f *rootfs.File, p rootfs.Path, size int64) error {
	now, err := f.Stat()
	if err != nil {
		return err
	}
	if was := f.Info(); now.Size != size || !now.ModTime.Equal(was.ModTime) || !now.ChangeTime.Equal(was.ChangeTime) {
		return conflict(p)
	}
	return nil
}

func encodeBack(shown string, edits []rootfs.Edit) []byte {
	if len(shown) > maxShown {
		shown = ""
	}
	var e encoder
	e.str(shown)
	e.edits(edits)
	return e.b
}

// back reads the edits that undo the i-th operation of an entry.
func (j *Journal) back(e Entry, i int) (shown string, edits []rootfs.Edit, err error) {
	at := e.Ops[i].old
	body, err := j.body(e, extent{at.off, at.stored}, recBack)
	if err != nil {
		return "", nil, err
	}
	d := &decoder{b: body}
	shown, edits = d.str(), d.edits()
	if d.end() != nil {
		return "", nil, fmt.Errorf("%w: the old content of %s", ErrDamaged, e.ID)
	}
	return shown, edits, nil
}

// Shown returns the diff that was stored with the i-th operation of an entry because its
// old content was not. It returns "" if there is none.
func (j *Journal) Shown(e Entry, i int) (string, error) {
	if i < 0 || i >= len(e.Ops) || e.Ops[i].old.place != asEdits {
		return "", nil
	}
	shown, _, err := j.back(e, i)
	return shown, err
}

// Around returns the contents before and after the i-th operation of an entry. It
// computes them from now, the content of the given version. If now is neither of the two,
// it returns ErrNotKept.
func (j *Journal) Around(e Entry, i int, now []byte, version rootfs.Version) (before, after []byte, err error) {
	if i < 0 || i >= len(e.Ops) {
		return nil, nil, ErrNotFound
	}
	op := e.Ops[i]
	if op.old.place != asEdits || version != op.Old && version != op.New {
		return nil, nil, ErrNotKept
	}
	_, back, err := j.back(e, i)
	if err != nil {
		return nil, nil, err
	}
	if version == op.New {
		before, err = spliced(now, back)
		return before, now, verified(before, op.Old, e, err)
	}
	if !op.hasDiff {
		return nil, nil, ErrNotKept
	}
	body, err := j.diff(e, i)
	if err != nil {
		return nil, nil, err
	}
	after, err = decodeDiff(body, now)
	return now, after, verified(after, op.New, e, err)
}

func verified(data []byte, want rootfs.Version, e Entry, err error) error {
	if err != nil || version.Of(data) != want {
		return fmt.Errorf("%w: a content of %s", ErrDamaged, e.ID)
	}
	return nil
}
