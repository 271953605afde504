package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/change"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
	"quarry/internal/stress"
)

// A flipped bit makes at most one entry unreadable, is detected, and never changes an
// entry's contents.
func TestFlippedBits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: run without -short")
	}
	b := newBench(t, nil)
	contents := []string{"zero\n", strings.Repeat("one\n", 200), "two\n", "three\n", strings.Repeat("four\n", 100)}
	b.put("a", contents[0])
	var ids []ID
	for _, text := range contents[1:] {
		ids = append(ids, b.change("edit", b.replace("a", text)))
	}
	whole, err := os.ReadFile(b.lastSegment())
	b.must(err)
	unusable, noticed := 0, 0
	step := 1
	if testing.Short() {
		step = 7
	}
	for at := 0; at < len(whole); at += step {
		data := append([]byte(nil), whole...)
		data[at] ^= 1 << (at % 8)
		c := b.with(data)
		list, err := c.j.List(0)
		c.must(err)
		bad := len(ids) - len(list)
		for _, e := range list {
			i := 0
			for i < len(ids) && ids[i] != e.ID {
				i++
			}
			if i == len(ids) {
				t.Fatalf("bit at %d: unknown entry %s", at, e.ID)
			}
			if e.Status == Damaged {
				bad++
				if _, err := c.j.Plan(context.Background(), e.ID); !errors.Is(err, ErrDamaged) {
					t.Fatalf("bit at %d: plan of a damaged entry: %v", at, err)
				}
				continue
			}
			old, errOld := c.j.Before(e, 0)
			now, errNew := c.j.After(e, 0)
			if errOld == nil && string(old) != contents[i] || errNew == nil && string(now) != contents[i+1] {
				t.Fatalf("bit at %d: entry %d lies", at, i)
			}
			if errOld != nil {
				bad++
				if _, err := c.j.Plan(context.Background(), e.ID); err == nil {
					t.Fatalf("bit at %d: entry without its content can be undone", at)
				}
			}
		}
		// An edit's new content is the next edit's old content, so two entries may use
		// one blob. But the old content of each entry is a blob of its own.
		if bad > 1 {
			t.Fatalf("bit at %d: %d entries lost", at, bad)
		}
		unusable += bad
		n, err := c.j.Damage()
		c.must(err)
		if n > 0 {
			noticed++
		}
		c.j.Close()
		c.st.Close()
		c.ws.Close()
		os.RemoveAll(c.state)
	}
	t.Logf("%d flips: %d noticed, %d cost an entry", len(whole)/step, noticed, unusable)
	if noticed*10 < len(whole)/step*9 {
		t.Errorf("only %d of %d flips were noticed", noticed, len(whole)/step)
	}
}

func TestDamagedAndMissingPacks(t *testing.T) {
	b := newBench(t, nil)
	big := strings.Repeat("0123456789abcde\n", 100_000)
	b.put("a", big)
	id := b.change("edit", b.replace("a", "small"))
	b.change("another", b.replace("a", "smaller"))
	packs, _ := filepath.Glob(filepath.Join(b.state, "packs", "*"))
	if len(packs) != 1 {
		t.Fatalf("packs: %v", packs)
	}
	data, err := os.ReadFile(packs[0])
	b.must(err)
	data[len(data)/2] ^= 1
	b.must(os.WriteFile(packs[0], data, 0o600))
	if _, err := b.j.Plan(context.Background(), id); !errors.Is(err, ErrDamaged) {
		t.Errorf("flipped bit in a pack: %v", err)
	}
	b.must(os.Truncate(packs[0], 1000))
	if _, err := b.j.Plan(context.Background(), id); !errors.Is(err, ErrDamaged) {
		t.Errorf("cut pack: %v", err)
	}
	b.must(os.Remove(packs[0]))
	if _, err := b.j.Plan(context.Background(), id); !errors.Is(err, ErrDamaged) {
		t.Errorf("missing pack: %v", err)
	}
	e, err := b.j.Latest()
	b.must(err)
	if _, err := b.undo(e.ID); err != nil {
		t.Errorf("the other entry: %v", err)
	}
}

func diskUse(t *testing.T, dir string) int64 {
	t.Helper()
	total := int64(0)
	filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total
}

func noise(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

func TestCapBySize(t *testing.T) {
	stress.SkipShort(t)
	for _, c := range []struct {
		name    string
		cap     int64
		content int
		n       int
	}{
		{"small contents", 400 << 10, 10 << 10, 150},
		{"large contents in packs", 8 << 20, 3 << 20, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, &Options{MaxBytes: c.cap})
			r := rand.New(rand.NewPCG(5, 6))
			b.put("a", noise(r, c.content))
			var last ID
			for range c.n {
				last = b.change("edit", b.replace("a", noise(r, c.content)))
			}
			list, err := b.j.List(0)
			b.must(err)
			count, newest, err := b.j.Dropped()
			b.must(err)
			if count+len(list) != c.n || len(list) == 0 || list[0].ID != last || count == 0 {
				t.Errorf("%d listed, %d dropped, want %d together and the newest there", len(list), count, c.n)
			}
			if newest.IsZero() || newest.After(list[len(list)-1].Time) {
				t.Errorf("newest dropped %v, oldest kept %v", newest, list[len(list)-1].Time)
			}
			if use := diskUse(t, b.state); use > c.cap {
				t.Errorf("%d bytes kept, cap %d", use, c.cap)
			} else if use < c.cap/4 {
				t.Errorf("only %d bytes kept of %d allowed", use, c.cap)
			}
			// The remaining entries are usable, and the count of dropped ones survives
			// reopening.
			b.open(&Options{MaxBytes: c.cap})
			for _, e := range list {
				p, err := b.j.Plan(context.Background(), e.ID)
				b.must(err)
				b.must(p.Close())
			}
			if n, _, err := b.j.Dropped(); n != count || err != nil {
				t.Errorf("reopened: %d dropped, want %d, %v", n, count, err)
			}
		})
	}
}

func TestCapByAge(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := newBench(t, &Options{MaxAge: 30 * 24 * time.Hour, Now: func() time.Time { return now }})
	b.put("a", "")
	for i := range 60 {
		b.change("edit", b.replace("a", fmt.Sprint(i)))
		now = now.Add(24 * time.Hour)
	}
	list, err := b.j.List(0)
	b.must(err)
	count, _, err := b.j.Dropped()
	b.must(err)
	if count+len(list) != 60 || len(list) < 30 || len(list) > 33 {
		t.Errorf("%d listed, %d dropped", len(list), count)
	}
	now = now.Add(365 * 24 * time.Hour)
	b.change("much later", b.replace("a", "x"))
	if list, err = b.j.List(0); err != nil || len(list) != 1 {
		t.Errorf("a year later: %d entries, %v", len(list), err)
	}
}

func TestTooLargeToKeep(t *testing.T) {
	b := newBench(t, &Options{MaxBytes: 1 << 20})
	b.put("d/a", strings.Repeat("x", 900<<10))
	before := diskUse(t, b.state)
	_, err := b.j.Begin(context.Background(), b.ws, Change{Ops: []Op{b.remove("d")}})
	var large *TooLargeError
	if !errors.As(err, &large) || large.Size != 900<<10 {
		t.Fatalf("Begin: %v", err)
	}
	if use := diskUse(t, b.state); use != before {
		t.Errorf("a refused change left %d bytes", use-before)
	}
	op := b.remove("d")
	op.Lost = "too large for the journal"
	id := b.change("remove all the same", op)
	if _, err := b.j.Plan(context.Background(), id); !errors.Is(err, ErrNotKept) || !strings.Contains(err.Error(), "too large for") {
		t.Errorf("plan: %v", err)
	}
}

// Content that looks like a record is never read as one, even if a damaged head makes the
// reader search for the next record: the content lacks the secret marker and can't
// contain its own offset.
func TestForgedRecordsInContent(t *testing.T) {
	forged := encodeIntent(&Entry{ID: "zzzzzzzz", Change: Change{Did: change.Action{Verb: change.Noted, Text: "forged"}, Ops: []Op{{Kind: Trash}}}})
	for _, c := range []struct {
		name          string
		marker, place bool // known to the forger
		want          bool
	}{
		{"neither", false, false, false},
		{"the marker", true, false, false},
		{"the place", false, true, false},
		{"both, as a control", true, true, true},
	} {
		b := newBench(t, nil)
		b.put("a", "0")
		b.change("make a segment", b.replace("a", "1"))
		_, m, ok := parseSegmentName(filepath.Base(b.lastSegment()))
		if !ok {
			t.Fatal("no segment")
		}
		if !c.marker {
			m[0] ^= 1
		}
		// The file is short, so the log has its content unchanged, after the record's
		// head, the version, the codec and the size.
		info, err := os.Stat(b.lastSegment())
		b.must(err)
		at := info.Size() + headLen + 18
		if !c.place {
			at++
		}
		content := string(appendRecord(nil, m, at, recIntent, forged))
		b.put("a", content)
		b.change("keep the forgery", b.replace("a", "2"))
		whole, err := os.ReadFile(b.lastSegment())
		b.must(err)
		whole[info.Size()] ^= 1 // damages the head of the surrounding record
		j := b.with(whole)
		list, err := j.j.List(0)
		b.must(err)
		found := false
		for _, e := range list {
			found = found || e.Did.Text == "forged"
		}
		if found != c.want {
			t.Errorf("knowing %s: forged entry found %v, want %v", c.name, found, c.want)
		}
	}
}

func FuzzSegment(f *testing.F) {
	root, err := rootfs.Open(f.TempDir(), &rootfs.Options{Trusted: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { root.Close() })
	m := marker{1, 2, 3, 4, 5, 6, 7, 8}
	p, _ := root.Known("a/b")
	en := &Entry{ID: "2pe8tc12", Time: time.Unix(1, 2), owner: "x", pack: "y", Change: Change{Tool: "t", Did: change.Action{Verb: change.Noted, Text: "s"}, Ops: []Op{
		{Kind: Replace, Path: p, old: ref{inSegment, deflated, 1, 2, 3, "", nil}, hasDiff: true},
		{Kind: Remove, Path: p, Nodes: []Node{{Type: rootfs.TypeDir}, {Rel: "x", Type: rootfs.TypeSymlink, Target: "t"}}}}}}
	blob, _, _ := encodeBlob(version.Of([]byte("x")), []byte(strings.Repeat("x", 1000)))
	var all []byte
	for _, r := range []struct {
		t recType
		b []byte
	}{
		{recStart, start{last: "2pe8tc11", open: []openEntry{{"2pe8tc10", 1}}}.encode()},
		{recBlob, blob},
		{recDiff, encodeDiff("2pe8tc12", 0, []rootfs.Edit{{Off: 1, Len: 2, Data: []byte("new")}})},
		{recIntent, encodeIntent(en)},
		{recCommit, commit{"2pe8tc12", 2, []Result{{Op: 1, Where: "w"}}}.encode()},
		{recAbort, []byte{8, 'a'}},
		{recDrop, dropped{3, time.Unix(3, 0)}.encode()},
	} {
		all = appendRecord(all, m, int64(len(all)), r.t, r.b)
		f.Add(byte(r.t), r.b, all)
	}
	f.Fuzz(func(t *testing.T, typ byte, body, raw []byte) {
		// Try any body with a correct checksum, and any bytes as a segment.
		for _, data := range [][]byte{appendRecord(nil, m, 0, recType(typ), body), raw} {
			s := newSegment(1, m, nil)
			fr := &frames{m: m, data: data}
			for {
				r, ok := fr.next()
				if !ok {
					break
				}
				if r.body != nil {
					s.take(root, r)
				}
				if r.typ == recDiff && r.body != nil {
					decodeDiff(r.body, []byte("some old content"))
				}
			}
			for _, e := range s.entries {
				// Encoding and decoding an accepted entry again doesn't change it.
				again, err := decodeIntent(root, encodeIntent(e))
				if err != nil {
					t.Fatalf("%+v: %v", e, err)
				}
				again.seg = e.seg
				if fmt.Sprintf("%+v", again) != fmt.Sprintf("%+v", e) {
					t.Fatalf("%+v\nbecame\n%+v", e, again)
				}
				expect(e.Ops)
			}
		}
	})
}
