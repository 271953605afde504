package journal

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/change"
	"quarry/fault"
)

// openFormat4 opens a copy of a journal that a program of format 4 has written:
// two becomes TWO in a.txt, a.txt is moved to c.txt, one becomes ONE. The last
// record, the end of the third change, is missing if cut is set.
func openFormat4(t *testing.T, cut bool) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), state: t.TempDir()}
	const name = "00000001-38dfe40cd6ebd163.seg"
	data, err := os.ReadFile(filepath.Join("testdata", "format4", name))
	b.must(err)
	if cut {
		_, m, _ := parseSegmentName(name)
		f, last := &frames{m: m, data: data}, int64(0)
		for r, ok := f.next(); ok; r, ok = f.next() {
			last = r.at
		}
		data = data[:last]
	}
	b.must(os.WriteFile(filepath.Join(b.state, name), data, 0o600))
	head, err := os.ReadFile(filepath.Join("testdata", "format4", "00000001.head"))
	b.must(err)
	b.must(os.WriteFile(filepath.Join(b.state, "00000001.head"), head, 0o600))
	b.put("c.txt", "ONE\nTWO\nthree\n")
	b.open(nil)
	return b
}

// A journal of the program before is read whole, undone, and added to in a segment
// of its own.
func TestFormat4(t *testing.T) {
	b := openFormat4(t, false)
	list, err := b.j.List(0)
	b.must(err)
	if len(list) != 3 || list[1].Did.Verb != change.Moved || list[0].Client.Session != "" || list[0].Proposal != "" {
		t.Fatalf("entries: %+v", list)
	}
	if n, err := b.j.Damage(); n != 0 || err != nil {
		t.Errorf("damage %d, %v", n, err)
	}
	for _, e := range list {
		_, err := b.undo(e.ID)
		b.must(err)
	}
	if got := b.content("a.txt"); got != "one\ntwo\nthree\n" {
		t.Errorf("a.txt holds %q", got)
	}
	if strings.HasPrefix(filepath.Base(b.lastSegment()), "00000001-") {
		t.Error("the segment of format 4 was added to")
	}
}

// A change that the program before left unfinished is found and settled.
func TestFormat4Unfinished(t *testing.T) {
	b := openFormat4(t, true)
	list, err := b.j.Unfinished(b.ws)
	b.must(err)
	if len(list) != 1 || list[0].Done != 1 {
		t.Fatalf("unfinished: %+v", list)
	}
	b.must(b.j.Settle(list[0].ID, list[0].Done))
	_, err = b.undo(list[0].ID)
	b.must(err)
	if got := b.content("c.txt"); got != "one\nTWO\nthree\n" {
		t.Errorf("c.txt holds %q", got)
	}
}

// Session and proposal are kept.
func TestSessionAndProposal(t *testing.T) {
	b := newBench(t, nil)
	b.put("f", "one")
	tx, err := b.j.Begin(t.Context(), b.ws, Change{Tool: "t", Client: change.Client{Name: "n", Version: "1", Session: "s7"}, Proposal: "p-0003", Ops: []Op{b.replace("f", "two")}})
	b.must(err)
	b.must(tx.Abort())
	id := b.change("x", b.replace("f", "two"))
	b.must(b.j.Close())
	b.open(nil)
	list, err := b.j.List(0)
	b.must(err)
	if len(list) != 1 || list[0].ID != id || list[0].Proposal != "" {
		t.Fatalf("entries: %+v", list)
	}
	tx, err = b.j.Begin(t.Context(), b.ws, Change{Tool: "t", Client: change.Client{Name: "n", Version: "1", Session: "s7"}, Proposal: "p-0003", Ops: []Op{b.replace("f", "three")}})
	b.must(err)
	b.must(tx.Commit())
	b.must(b.j.Close())
	b.open(nil)
	e, err := b.j.Get(tx.ID())
	b.must(err)
	if e.Client.Session != "s7" || e.Proposal != "p-0003" || e.Client.Version != "1" {
		t.Errorf("client %+v, proposal %q", e.Client, e.Proposal)
	}
}

// A journal of a newer format is refused and not touched, neither by reading nor
// by changes of a process that had it open before.
func TestNewerFormatIsRefused(t *testing.T) {
	b := newBench(t, nil)
	b.put("f", "one")
	b.change("first", b.replace("f", "two"))
	m := marker{1, 2, 3}
	seg := filepath.Join(b.state, segmentName(2, m))
	data := appendRecord(nil, m, 0, recStart, []byte{format + 1, 0xff, 0xff})
	data = appendRecord(data, m, int64(len(data)), recIntent, []byte("what this version can't read"))
	b.must(os.WriteFile(seg, data, 0o600))
	before, err := os.ReadDir(b.state)
	b.must(err)
	if _, err := b.j.Begin(t.Context(), b.ws, Change{Tool: "t", Ops: []Op{b.replace("f", "three")}}); !errors.Is(err, ErrNewer) {
		t.Errorf("begin: %v", err)
	}
	if _, err := b.j.List(0); !errors.Is(err, ErrNewer) {
		t.Errorf("list: %v", err)
	}
	if _, err := Open(b.st, nil); !errors.Is(err, ErrNewer) {
		t.Errorf("open: %v", err)
	}
	after, err := os.ReadDir(b.state)
	b.must(err)
	if now, err := os.ReadFile(seg); err != nil || string(now) != string(data) || len(after) != len(before) {
		t.Errorf("the newer journal was touched: %v, %d names before, %d now", err, len(before), len(after))
	}
}

// While a program of another format changes files, this one does not.
func TestOtherVersionIsNotShared(t *testing.T) {
	b := newBench(t, nil)
	b.put("f", "one")
	b.must(os.MkdirAll(filepath.Join(b.state, "owners"), 0o700))
	p, err := b.st.Known("owners/0123456789abcdef") // as format 4 names them
	b.must(err)
	other, err := b.st.OpenLog(p, true)
	b.must(err)
	b.must(other.Lock(true))
	op := b.replace("f", "two")
	if _, err := b.j.Begin(t.Context(), b.ws, Change{Tool: "t", Ops: []Op{op}}); !errors.Is(err, ErrShared) {
		t.Fatalf("begin beside the other: %v", err)
	}
	b.must(other.Close())
	tx, err := b.j.Begin(t.Context(), b.ws, Change{Tool: "t", Ops: []Op{op}})
	b.must(err)
	b.must(tx.Abort())
	if _, err := b.st.Stat(p); !errors.Is(err, fault.NotFound) {
		t.Errorf("the file of the process that ended: %v", err)
	}
}
