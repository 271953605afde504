package journal

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
	"quarry/internal/stress"
)

// largeEdit returns an edit of an incompressible 3 MB file, in the form in which the
// workspace passes it.
func (b *bench) largeEdit(name string, edits ...rootfs.Edit) Op {
	b.t.Helper()
	data, old, _, err := b.ws.ReadFile(b.path(name), 0)
	b.must(err)
	return Op{Kind: Replace, Path: b.path(name), Old: old, New: version.SumOf(data).Edited(edits), OldData: data,
		Edits: edits, Shown: "the diff\n"}
}

func (b *bench) putLarge(name string) string {
	data := make([]byte, 3<<20)
	rand.NewChaCha8([32]byte{1}).Read(data)
	b.put(name, string(data))
	return string(data)
}

func (b *bench) content(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	b.must(err)
	return string(data)
}

func (b *bench) splice(op Op) {
	b.t.Helper()
	_, err := b.ws.Splice(op.Path, op.Edits, op.Old, &rootfs.ReplaceOptions{Want: op.New})
	b.must(err)
}

// For a large file only the bytes overwritten by an edit are kept. They suffice to roll
// it back, to redo it, and to show its diff.
func TestLargeEditKeepsItsSpans(t *testing.T) {
	stress.SkipTiny(t)
	b := newBench(t, nil)
	old := b.putLarge("f")
	op := b.largeEdit("f", rootfs.Edit{Off: 0, Len: 2, Data: []byte("first")}, rootfs.Edit{Off: 1 << 20, Len: 0, Data: []byte("second")},
		rootfs.Edit{Off: int64(len(old)) - 3, Len: 3, Data: nil})
	tx := b.begin("edit", op)
	b.splice(op)
	b.must(tx.Commit())
	want := "first" + old[2:1<<20] + "second" + old[1<<20:len(old)-3]
	if b.content("f") != want {
		t.Fatal("the edit went wrong")
	}
	if n := diskUse(t, b.state); n > 10<<10 {
		t.Errorf("the journal takes %d bytes", n)
	}
	for _, now := range []string{want, old} {
		e, err := b.j.Get(tx.ID())
		b.must(err)
		before, after, err := b.j.Around(e, 0, []byte(now), version.Of([]byte(now)))
		if err != nil || string(before) != old || string(after) != want {
			t.Errorf("Around: %v", err)
		}
		if shown, err := b.j.Shown(e, 0); shown != "the diff\n" || err != nil {
			t.Errorf("Shown = %q, %v", shown, err)
		}
		if _, err := b.j.Before(e, 0); !errors.Is(err, ErrNotKept) {
			t.Errorf("Before: %v", err)
		}
	}
	undo, err := b.undo(tx.ID())
	b.must(err)
	if b.content("f") != old {
		t.Error("undo does not give back the old content")
	}
	_, err = b.undo(undo)
	b.must(err)
	if b.content("f") != want {
		t.Error("the undo of the undo does not give the new content")
	}
	if n := diskUse(t, b.state); n > 20<<10 {
		t.Errorf("with the undos the journal takes %d bytes", n)
	}
}

// Rewriting a large file with a small difference is treated like an edit. With a large
// difference the old content is kept.
func TestLargeWriteKeepsTheDifference(t *testing.T) {
	stress.SkipShort(t)
	b := newBench(t, nil)
	old := b.putLarge("f")
	id := b.change("write", b.replace("f", old[:1000]+"x"+old[1001:]))
	if n := diskUse(t, b.state); n > 10<<10 {
		t.Errorf("the journal takes %d bytes", n)
	}
	id2 := b.change("write", b.replace("f", strings.ToUpper(old)))
	if n := diskUse(t, b.state); n < 3<<20 {
		t.Errorf("the journal takes %d bytes, less than the content", n)
	}
	for _, id := range []ID{id2, id} {
		_, err := b.undo(id)
		b.must(err)
	}
	if b.content("f") != old {
		t.Error("undo does not give back the old content")
	}
}

// A change of two large files is rolled back if the process died after the first.
func TestLargeEditCutShort(t *testing.T) {
	b := newBench(t, nil)
	old := b.putLarge("f")
	b.putLarge("g")
	edit := rootfs.Edit{Off: 7, Len: 1, Data: []byte("xyz")}
	ops := []Op{b.largeEdit("f", edit), b.largeEdit("g", edit)}
	b.begin("edit", ops...)
	b.splice(ops[0])
	b.must(b.j.Close())
	b.open(nil)
	list, err := b.j.Unfinished(b.ws)
	b.must(err)
	if len(list) != 1 || list[0].Done != 1 {
		t.Fatalf("unfinished: %+v", list)
	}
	p, err := b.j.Rollback(context.Background(), b.ws, list[0])
	b.must(err)
	defer p.Close()
	b.must(p.TakeBack(context.Background(), b.ws, nil))
	if b.content("f") != old || b.content("g") != old {
		t.Error("not rolled back")
	}
}

// If the record of an undo's edits is damaged, nothing is changed.
func TestDamagedBack(t *testing.T) {
	b := newBench(t, nil)
	old := b.putLarge("f")
	op := b.largeEdit("f", rootfs.Edit{Off: 100, Len: 4, Data: []byte("NEWS")})
	tx := b.begin("edit", op)
	b.splice(op)
	b.must(tx.Commit())
	now := b.content("f")
	b.must(b.j.Close())
	seg := b.lastSegment()
	data, err := os.ReadFile(seg)
	b.must(err)
	at := bytes.Index(data, []byte(old[100:104]))
	if at < 0 {
		t.Fatal("the old bytes are not in the segment")
	}
	data[at] ^= 1
	b.must(os.WriteFile(seg, data, 0o600))
	b.open(nil)
	if _, err := b.undo(tx.ID()); !errors.Is(err, ErrDamaged) {
		t.Errorf("undo: %v", err)
	}
	if b.content("f") != now {
		t.Error("the file was changed")
	}
}
