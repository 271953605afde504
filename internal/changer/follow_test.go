package changer

import (
	"bytes"
	"context"
	"testing"
	"time"

	"quarry/change"
	"quarry/internal/rootfs"
)

// refs is an Extension for which "ref.txt" contains the path of a moved file. After
// reading ref.txt it calls meanwhile.
type refs struct {
	calls     int
	meanwhile func(call int)
}

func (r *refs) Trash() (change.TrashKind, error) { return "", nil }

func (r *refs) Follow(_ context.Context, moves []Move, _ change.LinkUpdate, read func(string) ([]byte, error)) (*Followed, error) {
	r.calls++
	from, to := moves[0].From.String(), moves[0].To.String()
	text, err := read("ref.txt")
	if err != nil {
		return nil, err
	}
	at := bytes.Index(text, []byte(from))
	r.meanwhile(r.calls)
	return &Followed{Links: change.LinkReport{Updated: 1}, Files: []Following{{Links: 1, Op: change.Op{
		Verb: change.EditFile, Path: "ref.txt", To: "ref.txt",
		Edits: []change.Edit{{Verb: change.ReplaceSpan, Start: at, End: at + len(from), New: to}},
	}}}}, nil
}

// A move locks only the moved and the edited files. If another change edits a file while
// the move is planned, the file is read again.
func TestMoveLocksWhatItTouches(t *testing.T) {
	w := changing(t, map[string]string{"a.txt": "a\n", "ref.txt": "see a.txt\n", "other.txt": "o\n"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	edit := func(path, old, new string) {
		t.Helper()
		if _, err := w.Apply(ctx, change.Set{Ops: []change.Op{{Verb: change.EditFile, Path: path, Edits: []change.Edit{{Old: old, New: new}}}}}); err != nil {
			t.Errorf("%s, while a move is planned: %v", path, err)
		}
	}
	r := &refs{meanwhile: func(call int) {
		edit("other.txt", "o\n", "oo\n") // would block forever if the move locked everything
		if call == 1 {
			edit("ref.txt", "see", "do see")
			return
		}
		// In the second attempt the move has locked the file.
		hold, err := w.state.locks.hold(ctx, resolved(t, w, "new.txt"))
		if err != nil {
			t.Error(err)
			return
		}
		defer hold.unlock()
		if hold.extend([]rootfs.Path{resolved(t, w, "ref.txt")}) {
			t.Error("the file that the move edits is not locked")
		}
	}}
	w.opts.Extension = r
	c, err := w.Apply(ctx, change.Set{Ops: []change.Op{{Verb: change.MovePath, Path: "a.txt", To: "b.txt"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, w, "ref.txt"); got != "do see b.txt\n" || text(t, w, "other.txt") != "ooo\n" || text(t, w, "b.txt") != "a\n" {
		t.Errorf("ref.txt %q, other.txt %q", got, text(t, w, "other.txt"))
	}
	if r.calls != 2 || c.Links.Updated != 1 || len(c.Links.Files) != 1 {
		t.Errorf("%d plans, links %+v", r.calls, c.Links)
	}
	if _, err := w.Undo(ctx, c.ID, change.Options{}); err != nil || text(t, w, "ref.txt") != "do see a.txt\n" {
		t.Errorf("undone: %q %v", text(t, w, "ref.txt"), err)
	}
}

// A hold can be extended only by paths that no other hold has, or requested earlier.
func TestHoldExtends(t *testing.T) {
	w := changing(t, map[string]string{"a/x": "", "b/x": "", "c/x": ""})
	at := func(p string) []rootfs.Path { return []rootfs.Path{resolved(t, w, p)} }
	l := &w.state.locks
	first, err := l.hold(t.Context(), at("a")...)
	if err != nil {
		t.Fatal(err)
	}
	second, err := l.hold(t.Context(), at("b")...)
	if err != nil {
		t.Fatal(err)
	}
	waiting := &pathHold{locks: l, paths: map[rootfs.Path]bool{at("a/x")[0]: true, at("c")[0]: true}, turn: make(chan struct{})}
	l.queue = append(l.queue, waiting)
	for _, c := range []struct {
		name string
		hold *pathHold
		path string
		want bool
	}{
		{"another has the folder above", first, "b/x", false},
		{"its own", first, "a/x", true},
		{"one that a later request waits for", second, "c/x", true},
		{"one that another has now", first, "c", false},
	} {
		if got := c.hold.extend(at(c.path)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	first.unlock()
	if waiting.held {
		t.Error("granted although the second holds a part of it")
	}
	second.unlock()
	if !waiting.held {
		t.Error("not granted although all is free")
	}
	third := &pathHold{locks: l, paths: map[rootfs.Path]bool{at("b")[0]: true}, held: true}
	l.queue = append(l.queue, third)
	waiting.held = false // as if it waited for an earlier hold
	if third.extend(at("c")) {
		t.Error("overtakes an earlier request")
	}
}
