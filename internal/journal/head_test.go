package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/stress"
)

// filled returns a closed journal with several segments.
func filled(t *testing.T, changes int) *bench {
	t.Helper()
	b := newBench(t, &Options{MaxBytes: 1 << 20}) // segments of 64 KiB
	r := rand.New(rand.NewPCG(1, 1))
	b.put("a", "start\n")
	for i := range changes {
		text := make([]byte, 6000) // incompressible
		for k := range text {
			text[k] = byte('!' + r.IntN(90))
		}
		b.change(fmt.Sprint("change ", i), b.replace("a", string(text)))
	}
	if lost := b.lost(); lost != 0 {
		t.Fatalf("%d lost of a whole journal", lost)
	}
	b.must(b.j.Close())
	return b
}

func (b *bench) lost() int {
	b.t.Helper()
	n, err := b.j.Lost()
	b.must(err)
	return n
}

// copied opens a copy of a closed journal after harm has modified the copy.
func (b *bench) copied(harm func(dir string)) *bench {
	b.t.Helper()
	state := b.t.TempDir()
	b.must(os.CopyFS(state, os.DirFS(b.state)))
	harm(state)
	c := &bench{t: b.t, dir: b.dir, state: state}
	c.open(&Options{MaxBytes: 1 << 20})
	return c
}

func segments(dir string) []string {
	found, _ := filepath.Glob(filepath.Join(dir, "*.seg"))
	slices.Sort(found)
	return found
}

// Wherever a segment is cut, missing entries are counted, even after new ones were made.
// Existing entries are not counted.
func TestCutSegmentsAreNoticed(t *testing.T) {
	b := filled(t, 40)
	segs := segments(b.state)
	if len(segs) < 3 {
		t.Fatalf("only %d segments", len(segs))
	}
	run := stress.Start(t, "journal: entries lost", 60, 3000)
	for seed := range run.Cases() {
		r := stress.Rand(seed)
		i := r.IntN(len(segs))
		info, err := os.Stat(segs[i])
		b.must(err)
		cut := r.Int64N(info.Size())
		c := b.copied(func(dir string) { b.must(os.Truncate(segments(dir)[i], cut)) })
		list, err := c.j.List(0)
		c.must(err)
		if lost := c.lost(); lost != 40-len(list) {
			run.Violation(seed, "segment %d cut to %d of %d bytes: %d lost, %d of 40 listed", i, cut, info.Size(), lost, len(list))
		}
		before := c.lost()
		for range 12 { // more entries than were cut off
			c.change("later", c.create(fmt.Sprint("new", seed, "-", r.Int()), strings.Repeat("x", 100)))
		}
		if after := c.lost(); after != before {
			run.Violation(seed, "segment %d cut to %d of %d bytes: %d lost, and %d after more changes", i, cut, info.Size(), before, after)
		}
		c.must(c.j.Close())
	}
}

// A segment that ends in zeros, because of bad blocks or a crash, is reported like a
// truncated one. An undo of the last change then reports that newer changes may be
// missing.
func TestZeroedEndsAreNoticed(t *testing.T) {
	b := filled(t, 40)
	segs := segments(b.state)
	run := stress.Start(t, "journal: ends of zeros", 60, 3000)
	for seed := range run.Cases() {
		r := stress.Rand(seed)
		i := r.IntN(len(segs))
		data, err := os.ReadFile(segs[i])
		b.must(err)
		from := r.IntN(len(data))
		if r.IntN(2) == 0 {
			from = max(0, len(data)-1-r.IntN(400))
		}
		clear(data[from:])
		if r.IntN(3) == 0 { // as if space had been allocated for a later write
			data = append(data, make([]byte, 1+r.IntN(5000))...)
		}
		c := b.copied(func(dir string) { b.must(os.WriteFile(segments(dir)[i], data, 0o600)) })
		list, err := c.j.List(0)
		c.must(err)
		damage, err := c.j.Damage()
		c.must(err)
		if lost := c.lost(); lost+len(list) != 40 && damage == 0 {
			run.Violation(seed, "segment %d of %d, zeros from %d of %d bytes: %d lost, %d of 40 listed", i, len(segs), from, len(data), lost, len(list))
		} else if _, err := c.j.Latest(); i == len(segs)-1 && lost > 0 && len(list) > 0 && !errors.Is(err, ErrNewestLost) {
			run.Violation(seed, "the last %d changes are missing, and the one before is taken for the last: %v", lost, err)
		}
		c.must(c.j.Close())
	}
}

func TestDeletedSegmentsAreNoticed(t *testing.T) {
	b := filled(t, 40)
	n := len(segments(b.state))
	for i := range n {
		c := b.copied(func(dir string) { b.must(os.Remove(segments(dir)[i])) })
		list, err := c.j.List(0)
		c.must(err)
		if lost := c.lost(); lost == 0 || lost != 40-len(list) {
			t.Errorf("segment %d of %d deleted: %d lost, %d listed", i, n, lost, len(list))
		}
		before := c.lost()
		for range 30 {
			c.change("later", c.create(fmt.Sprint("later", i, "-", rand.Int()), strings.Repeat("y", 100)))
		}
		if after := c.lost(); after != before {
			t.Errorf("segment %d of %d deleted: %d lost, and %d after more changes", i, n, before, after)
		}
		c.must(c.j.Close())
	}
}

// Dropped entries are not reported as lost. A journal without a head, or with a damaged
// one, does not report losses.
func TestNothingIsLostInVain(t *testing.T) {
	stress.SkipTiny(t)
	b := filled(t, 300)
	whole := b.copied(func(string) {})
	if dropped, _, err := whole.j.Dropped(); dropped == 0 || err != nil {
		t.Fatalf("the caps dropped nothing (%v): the test proves nothing", err)
	}
	heads, _ := filepath.Glob(filepath.Join(b.state, "*.head"))
	if len(heads) != 1 {
		t.Fatalf("heads %v", heads)
	}
	data, err := os.ReadFile(heads[0])
	b.must(err)
	head := func(data []byte) func(string) {
		return func(dir string) { b.must(os.WriteFile(filepath.Join(dir, filepath.Base(heads[0])), data, 0o600)) }
	}
	for name, harm := range map[string]func(string){
		"none":          func(string) {},
		"no head":       func(dir string) { b.must(os.Remove(filepath.Join(dir, filepath.Base(heads[0])))) },
		"an empty head": head(nil),
		"zeros":         head(make([]byte, len(data))),
		"a torn record": head(append(slices.Clone(data), data[:13]...)),
	} {
		c := b.copied(harm)
		if lost := c.lost(); lost != 0 {
			t.Errorf("%s: %d lost", name, lost)
		}
		for range 30 {
			c.change("later", c.create(fmt.Sprint("vain", rand.Int()), strings.Repeat("z", 5000)))
		}
		if lost := c.lost(); lost != 0 {
			t.Errorf("%s: %d lost after more changes", name, lost)
		}
		c.must(c.j.Close())
		segs := segments(c.state)
		b.must(os.Remove(segs[len(segs)-1]))
		c.open(&Options{MaxBytes: 1 << 20})
		if c.lost() == 0 {
			t.Errorf("%s: a segment deleted later goes unnoticed", name)
		}
	}
}

// If the only segment is lost, its changes are still counted after new ones are made, and
// no process reuses an id within the same second.
func TestLostSegmentsKeepTheirNumbers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps a file that is deleted while it is open")
	}
	for _, c := range []struct {
		name   string
		reopen bool
	}{{"the same process", false}, {"another process", true}} {
		now := time.Now()
		opts := &Options{Now: func() time.Time { return now }}
		b := newBench(t, opts)
		given := map[ID]bool{}
		for i := range 5 {
			given[b.change("before", b.create(fmt.Sprint("f", i), "x"))] = true
		}
		for _, seg := range segments(b.state) {
			b.must(os.Remove(seg))
		}
		if c.reopen {
			b.must(b.j.Close())
			b.open(opts)
		}
		for i := range 7 {
			id := b.change("after", b.create(fmt.Sprint("g", i), "x"))
			if given[id] {
				t.Errorf("%s: the id %s is given again", c.name, id)
			}
			given[id] = true
			if lost := b.lost(); lost != 5 {
				t.Errorf("%s: %d lost after %d more changes, want 5", c.name, lost, i+1)
			}
		}
	}
}
