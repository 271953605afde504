package quarry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"quarry/change"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/layer"
	regime "quarry/internal/stress"
)

// hit makes one system call of a change fail. The call may be in the workspace, the undo log or the
// trash.
type hit struct {
	at      int // number of the call that fails
	err     error
	forever bool // all later calls fail too
}

var faultKinds = []error{unix.ENOSPC, unix.EIO, unix.EACCES, unix.EROFS, unix.EMFILE, unix.EXDEV, layer.ErrShort}

// breaker is a layer that counts system calls and makes some of them fail.
type breaker struct {
	mu     sync.Mutex
	on     bool
	seen   int
	faults []hit
	hit    []string // the calls that failed
}

func (b *breaker) layer() *rootfs.Layer {
	l := &rootfs.Layer{Before: b.before}
	if len(b.faults) > 0 && b.faults[0].forever {
		l.Boot = "0badb007" // simulates a reboot before the next opening
	}
	return l
}

func (b *breaker) before(call string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.on {
		return nil
	}
	n := b.seen
	b.seen++
	for _, f := range b.faults {
		if (f.at == n || f.forever && f.at < n) && possible(call, f.err) {
			if inTrash() {
				call += " in a trash"
			}
			b.hit = append(b.hit, call)
			return f.err
		}
	}
	return nil
}

// inTrash reports whether the current call is about a trash. After a failure there, other trashes
// are tried, and the record of a restored file may remain.
func inTrash() bool {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "quarry/internal/trash.") {
			return true
		}
		if !more {
			return false
		}
	}
}

// possible reports whether call can return err on a real system.
func possible(call string, err error) bool {
	switch err {
	case layer.ErrShort:
		return call == "write"
	case unix.EXDEV:
		return call == "rename" || call == "link"
	}
	return true
}

func (b *breaker) turn(on bool) {
	b.mu.Lock()
	b.on = on
	b.mu.Unlock()
}

// faulty is a change to test, and the acts to do before it.
type faulty struct {
	act
	before []int // numbers of these acts
}

// faultyActs returns every kind of change, and its undo.
func faultyActs() []faulty {
	var list []faulty
	all := acts()
	undo := len(all) - 1
	beneath, twin, set := undo-1, 6, 7
	list = append(list, faulty{all[beneath], []int{twin, set}}, faulty{all[beneath], []int{set, twin}})
	for i, a := range all[:beneath] {
		list = append(list, faulty{act: a})
		list = append(list, faulty{act{"undo of " + a.name, all[undo].do}, []int{i}})
	}
	list = append(list, faulty{act{"delete to the desktop's trash", func(w *Workspace, _ int) (*change.Change, error) {
		return w.Delete(context.Background(), "trash/1.txt", &change.DeleteOptions{Trash: change.TrashSystem})
	}}, nil})
	list = append(list, faulty{act{"redo", func(w *Workspace, _ int) (*change.Change, error) {
		log, err := w.Changes(context.Background(), 1)
		if err != nil {
			return nil, err
		}
		return w.Undo(context.Background(), log.Changes[0].ID, nil)
	}}, []int{3, undo}})
	return list
}

// tree describes a tree like shape, but without conflict copies. These save content that may be
// valuable if the rollback of a change fails too. A single fault never causes one; rootfs tests
// this.
func tree(t testing.TB, dir string) string {
	var b strings.Builder
	for line := range strings.Lines(shape(t, dir)) {
		if !strings.Contains(line, ".conflict-") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// run makes the change with the given faults and returns any problem afterwards. Without faults, it
// sets want to the outcomes to expect.
func (f faulty) run(t testing.TB, faults []hit, want *outcome) (b *breaker, problem error) {
	tr := newTrial(t)
	defer os.RemoveAll(tr.base)
	b = &breaker{faults: faults}
	w, err := Open(tr.dir(), tr.options(b.layer()))
	check(t, err)
	defer w.Close()
	first := tree(t, tr.dir())
	for n, i := range f.before {
		_, err := acts()[i].do(w, n)
		check(t, err)
	}
	old := tree(t, tr.dir())
	b.turn(true)
	c, err := f.do(w, 0)
	b.turn(false)
	now := tree(t, tr.dir())
	if len(faults) == 0 {
		check(t, err)
		*want = outcome{now, b.seen}
		return b, nil
	}
	var partial *change.PartialError
	stuck := errors.As(err, &partial)
	switch {
	case err == nil && now != want.shape:
		return b, fmt.Errorf("success, and not the new tree:\n%s", now)
	case err == nil && len(c.Warnings) == 0 && durable(b.hit, faults):
		return b, errors.New("false success: a sync or a write failed")
	case stuck && len(faults) == 1 && !faults[0].forever:
		return b, fmt.Errorf("not rolled back: %w", err)
	case err != nil && !stuck && now != old:
		return b, fmt.Errorf("error %w, and not the old tree:\n%s", err, now)
	}
	if err != nil && !stuck && !faults[0].forever {
		if _, again := f.do(w, 0); again != nil {
			return b, fmt.Errorf("the answer was %w; the second try: %w", err, again)
		}
		if now := tree(t, tr.dir()); now != want.shape {
			return b, fmt.Errorf("the second try gives\n%s", now)
		}
	}
	check(t, w.Close())
	if problem := f.after(t, tr, first, partial); problem != nil {
		return b, fmt.Errorf("the answer was %v; then %w", err, problem)
	}
	return b, nil
}

type outcome struct {
	shape string
	calls int
}

// durable reports whether one of the failed calls was for durability.
func durable(calls []string, faults []hit) bool {
	for _, f := range faults {
		if f.err == unix.ENOSPC {
			return false // the call is retried after freeing space
		}
	}
	for _, c := range calls {
		if c == "fsync" || c == "fsyncdir" || c == "close" || c == "truncate" {
			return true
		}
	}
	return false
}

// after opens the workspace again and checks that everything can be undone and nothing remains.
func (f faulty) after(t testing.TB, tr trial, first string, partial *change.PartialError) error {
	w, err := Open(tr.dir(), tr.options(&rootfs.Layer{}))
	if err != nil {
		return fmt.Errorf("does not open: %w", err)
	}
	defer w.Close()
	if err := noTemps(tr.base); err != nil {
		return err
	}
	if partial != nil { // the applied part is an entry unless opening rolled it back
		if _, err := w.Undo(context.Background(), partial.ID, nil); err != nil && !errors.Is(err, journal.ErrNotFound) {
			return fmt.Errorf("undo of a part: %w", err)
		}
	}
	for {
		_, err := w.Undo(context.Background(), "", nil)
		if errors.Is(err, journal.ErrNotFound) {
			break
		}
		if err != nil {
			return fmt.Errorf("undo: %w", err)
		}
	}
	if now := tree(t, tr.dir()); now != first {
		return fmt.Errorf("undone:\n%s\nat first:\n%s", now, first)
	}
	return nil
}

func handles(t testing.TB) int {
	entries, err := os.ReadDir("/proc/self/fd")
	check(t, err)
	return len(entries)
}

// dropVolumeTrash removes the volume's trash if it is empty. The trash is created if the desktop's
// trash fails.
func dropVolumeTrash() {
	trash := fmt.Sprintf("/dev/shm/.Trash-%d", os.Getuid())
	for _, dir := range []string{trash + "/files", trash + "/info", trash} {
		os.Remove(dir)
	}
}

// atEveryCall makes every change repeatedly, with each system call failing in turn and with each
// kind of error. It passes the result to check.
func atEveryCall(t *testing.T, kinds []error, forever bool, check func(t *testing.T, at string, made func() (*breaker, error))) {
	t.Cleanup(dropVolumeTrash)
	for _, f := range faultyActs() {
		t.Run(f.name, func(t *testing.T) {
			var want outcome
			if _, err := f.run(t, nil, &want); err != nil {
				t.Fatal(err)
			}
			for n := range want.calls {
				for k, kind := range kinds {
					if !regime.Takes(n*len(kinds) + k) {
						continue
					}
					check(t, fmt.Sprintf("call %d of %d fails with %v", n, want.calls, kind), func() (*breaker, error) {
						return f.run(t, []hit{{n, kind, forever}}, &want)
					})
				}
			}
		})
	}
}

// Every system call of every change fails once with every possible error. Then the tree must be the
// old or the new one, as reported. A second attempt succeeds, everything can be undone, and no
// handle or temporary file is left.
func TestNthFault(t *testing.T) {
	regime.SkipTiny(t)
	run := regime.Start(t, "nth fault: every call of every change", 1, 1)
	atEveryCall(t, faultKinds, false, func(t *testing.T, at string, made func() (*breaker, error)) {
		open := handles(t)
		b, err := made()
		if err != nil {
			t.Fatalf("%s (%s): %v", at, strings.Join(b.hit, ", "), err)
		}
		if now := handles(t); now != open {
			t.Fatalf("%s (%s): %d handles leaked", at, strings.Join(b.hit, ", "), now-open)
		}
		run.Tried(1)
	})
}

// Two calls fail. If a part can't be rolled back, this is reported, and the part can be undone.
func TestTwoFaults(t *testing.T) {
	run := regime.Start(t, "nth fault: pairs", 300, 50_000)
	t.Cleanup(dropVolumeTrash)
	list := faultyActs()
	wants := make([]outcome, len(list))
	for i, f := range list {
		_, err := f.run(t, nil, &wants[i])
		check(t, err)
	}
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for seed := range run.Cases() {
				rng := regime.Rand(seed)
				k := rng.IntN(len(list))
				faults := []hit{
					{at: rng.IntN(wants[k].calls), err: faultKinds[rng.IntN(len(faultKinds))]},
					{at: rng.IntN(wants[k].calls + 10), err: faultKinds[rng.IntN(len(faultKinds))]},
				}
				if b, err := list[k].run(t, faults, &wants[k]); err != nil {
					run.Violation(seed, "%s, %v (%s): %v", list[k].name, faults, strings.Join(b.hit, ", "), err)
				}
			}
		})
	}
	wait.Wait()
}

// All calls fail from some call on, as when the disk fails or becomes read-only. The answer reports
// the state as far as it is known. When the disk works again, everything can be undone.
func TestDiskDies(t *testing.T) {
	regime.SkipTiny(t)
	run := regime.Start(t, "nth fault: all calls from one on", 1, 1)
	atEveryCall(t, []error{unix.EIO, unix.EROFS, unix.ENOSPC}, true, func(t *testing.T, at string, made func() (*breaker, error)) {
		if b, err := made(); err != nil {
			t.Fatalf("%s, and all after it (%s): %v", at, b.hit[0], err)
		}
		run.Tried(1)
	})
}
