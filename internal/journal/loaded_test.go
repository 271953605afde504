package journal

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// However much is recorded, listed and shown, only a few segments are in memory. Others
// are read again on demand, even while another process records changes.
func TestFewSegmentsStayLoaded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: run without -short")
	}
	b := newBench(t, &Options{MaxBytes: 2 << 20}) // segments of 128 KiB
	text := func(i int) string {                  // 4 KB that hardly compress
		var lines strings.Builder
		for r := rand.New(rand.NewPCG(1, uint64(i))); lines.Len() < 4000; {
			fmt.Fprintf(&lines, "%x\n", r.Uint64())
		}
		return lines.String()
	}
	b.put("a", text(0))
	const changes = 150
	for i := range changes {
		b.change(fmt.Sprint(i), b.replace("a", text(i+1)))
	}
	found, err := b.j.listSegments()
	b.must(err)
	if len(found) <= 2*maxLoaded {
		t.Fatalf("only %d segments: nothing would have to be unloaded", len(found))
	}
	few := func(when string) {
		t.Helper()
		if n := len(b.j.segs); n > maxLoaded {
			t.Errorf("%d segments of %d are in memory %s", n, len(found), when)
		}
		if n := len(b.j.synced); n > maxLoaded {
			t.Errorf("%d segments are remembered as synced %s", n, when)
		}
	}
	few("after recording")
	list, err := b.j.List(0)
	b.must(err)
	if len(list) != changes {
		t.Fatalf("%d entries", len(list))
	}
	few("after listing")

	var wait sync.WaitGroup
	wait.Go(func() {
		for i := range 20 {
			b.change("meanwhile", b.create(fmt.Sprint("b", i), text(i)))
		}
	})
	for n, k := range rand.New(rand.NewPCG(2, 2)).Perm(changes) {
		e, i := list[k], changes-1-k
		before, err := b.j.Before(e, 0)
		if err != nil || string(before) != text(i) {
			t.Fatalf("entry %d, the %dth asked for: before it %.20q, %v", i, n, before, err)
		}
		after, err := b.j.After(e, 0)
		if err != nil || string(after) != text(i+1) {
			t.Fatalf("entry %d, the %dth asked for: after it %.20q, %v", i, n, after, err)
		}
	}
	wait.Wait()
	few("after showing")
	for range changes {
		if e, err := b.j.Latest(); err != nil {
			t.Fatal(err)
		} else if _, err := b.undo(e.ID); err != nil {
			t.Fatal(err)
		}
	}
	few("after undoing")
}

// A change in progress in this process never counts as interrupted.
func TestOwnChangesAreNotUnfinished(t *testing.T) {
	b := newBench(t, nil)
	b.put("a", "0")
	done := make(chan struct{})
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if list, err := b.j.Unfinished(b.ws); err != nil || len(list) > 0 {
					t.Errorf("%d unfinished changes, %v", len(list), err)
					return
				}
			}
		})
	}
	for i := range 60 {
		b.change("x", b.replace("a", fmt.Sprint(i+1)))
	}
	close(done)
	wait.Wait()
}
