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

// Session and proposal are stored with an entry.
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

// A journal of an older format is refused, and the error says what to delete.
func TestOlderFormatIsRefused(t *testing.T) {
	b := newBench(t, nil)
	b.must(b.j.Close())
	m := marker{1, 2, 3}
	seg := filepath.Join(b.state, segmentName(1, m))
	b.must(os.WriteFile(seg, appendRecord(nil, m, 0, recStart, []byte{format - 1, 0, 0, 0, 0}), 0o600))
	j, err := Open(b.st, nil)
	if err == nil {
		_, err = j.List(0)
	}
	var hint interface{ Hint() string }
	if fault.CodeOf(err) != fault.Conflict || !errors.As(err, &hint) || !strings.Contains(hint.Hint(), b.st.RealDir()) {
		t.Errorf("an older log: %v, want a conflict whose hint names the folder", err)
	}
}

// A journal of a newer format is refused and not modified: neither when it is opened nor
// when a process that already had it open makes a change.
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

// No change is made while a process that writes another format has changes in progress.
func TestOtherVersionIsNotShared(t *testing.T) {
	b := newBench(t, nil)
	b.put("f", "one")
	b.must(os.MkdirAll(filepath.Join(b.state, "owners"), 0o700))
	p, err := b.st.Known("owners/0123456789abcdef")
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
