package walk

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// callTime is the time of a call on a simulated slow disk: opening a folder, reading it (twice,
// because the second read finds the end) and opening a rule file. In a synctest bubble only waiting
// takes time. So the bubble's clock shows how much of the waiting the workers share, independently
// of the machine and its load.
const callTime = time.Millisecond

// slowDisk returns a function that delays each folder of a walk. The folders in slow take a second
// more.
func slowDisk(dir string, slow ...string) func(shown string) {
	return func(shown string) {
		calls := 3
		if _, err := os.Lstat(filepath.Join(dir, shown, ".gitignore")); err == nil {
			calls++
		}
		time.Sleep(time.Duration(calls) * callTime)
		for _, s := range slow {
			if s == shown {
				time.Sleep(time.Second)
			}
		}
	}
}

// plainWalk lists a tree without rules or order. Its workers take folders from one stack, guarded
// by one lock.
func plainWalk(dir string, workers int, delay func(string)) (files int) {
	var mu sync.Mutex
	changed := sync.NewCond(&mu)
	stack, busy := []string{""}, 0
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			for {
				for len(stack) == 0 && busy > 0 {
					changed.Wait()
				}
				if len(stack) == 0 {
					return
				}
				at := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				busy++
				mu.Unlock()
				delay(at)
				list, _ := os.ReadDir(filepath.Join(dir, at))
				mu.Lock()
				for _, e := range list {
					if e.IsDir() {
						stack = append(stack, join(at, e.Name()))
					} else if !strings.HasPrefix(e.Name(), ".") {
						files++
					}
				}
				busy--
				changed.Broadcast()
			}
		})
	}
	all.Wait()
	return files
}

// wideTree has about 600 folders, a third of them with rules, and one large folder.
func wideTree(t *testing.T) string {
	dir := t.TempDir()
	for i := range 4 {
		for j := range 12 {
			for k := range 11 {
				at := filepath.Join(dir, fmt.Sprintf("top%d/mid%02d/low%02d", i, j, k))
				must(t, os.MkdirAll(at, 0o755))
				must(t, os.WriteFile(filepath.Join(at, "a.c"), nil, 0o644))
				if k%3 == 0 {
					must(t, os.WriteFile(filepath.Join(at, ".gitignore"), []byte("*.o\n!keep.o\n"), 0o644))
				}
			}
		}
	}
	return dir
}

// inBubble returns how long f takes by the clock of a synctest bubble.
func inBubble(t *testing.T, f func()) (took time.Duration) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		began := time.Now()
		f()
		took = time.Since(began)
	})
	return took
}

// Workers wait for folders and rule files concurrently. So more workers make a walk shorter,
// whether it is ordered or not, and it takes no longer than plainWalk.
func TestWorkersShareTheWaiting(t *testing.T) {
	dir := wideTree(t)
	r := openRoot(t, dir, nil)
	for _, n := range []int{1, 2, 4, 8, 16} {
		files := 0
		plain := inBubble(t, func() { files = plainWalk(dir, n, slowDisk(dir)) })
		opts := &Options{Workers: n, Before: slowDisk(dir)}
		report, listed := Report{}, 0
		unordered := inBubble(t, func() {
			var err error
			report, err = Walk(context.Background(), r, opts, func(*Visit) error { return nil })
			must(t, err)
		})
		ordered := inBubble(t, func() {
			_, err := Ordered(context.Background(), r, opts, false, func(Item) error { listed++; return nil })
			must(t, err)
		})
		t.Logf("%2d workers: plain %v, walk %v, in order %v", n, plain, unordered, ordered)
		if report.Files != files || listed != files {
			t.Errorf("%d workers: the plain walk lists %d files, Walk %d, Ordered %d", n, files, report.Files, listed)
		}
		for _, took := range []time.Duration{unordered, ordered} {
			if took > plain+plain/10+10*callTime {
				t.Errorf("%d workers: a walk takes %v, a plain one %v", n, took, plain)
			}
		}
	}
}

// All workers read the first folders in path order first, so a part of the output takes a
// proportional part of the time.
func TestOrderedOutputIsEven(t *testing.T) {
	dir := wideTree(t)
	r := openRoot(t, dir, nil)
	for _, n := range []int{1, 2, 4, 8} {
		var at []time.Duration
		inBubble(t, func() {
			began := time.Now()
			_, err := Ordered(context.Background(), r, &Options{Workers: n, Before: slowDisk(dir)}, false, func(Item) error {
				at = append(at, time.Since(began))
				return nil
			})
			must(t, err)
		})
		all := at[len(at)-1]
		for _, part := range []int{10, 4, 2} {
			got, want := at[len(at)/part], all/time.Duration(part)
			if got > want+want/5+20*callTime {
				t.Errorf("%d workers: a part of 1/%d comes after %v, all after %v", n, part, got, all)
			}
		}
	}
}

// The items before a slow folder are delivered while the folder is read. Those after it are
// delivered at once when it has been read, because other workers have continued.
func TestSlowFolderDelaysOnlyWhatFollows(t *testing.T) {
	dir := wideTree(t)
	r := openRoot(t, dir, nil)
	const slow = "top1/mid05/low05" // 37 % of the files come before it
	var before, after time.Duration // times of the last item before the folder, and of the last item
	inBubble(t, func() {
		began := time.Now()
		_, err := Ordered(context.Background(), r, &Options{Workers: 4, Before: slowDisk(dir, slow)}, false, func(it Item) error {
			if after = time.Since(began); it.Path < slow {
				before = after
			}
			return nil
		})
		must(t, err)
	})
	all := inBubble(t, func() { plainWalk(dir, 4, slowDisk(dir)) })
	if before > all/2 || after > time.Second+all/2 {
		t.Errorf("what comes before the slow folder took %v, all %v; without it %v", before, after, all)
	}
}

func TestPrecedes(t *testing.T) {
	sorted := []string{"", "a-b", "a", "a/b-c", "a/b", "a/b/c", "a0", "b"}
	for i, a := range sorted {
		for j, b := range sorted {
			if precedes(a, b) != (i < j) {
				t.Errorf("precedes(%q, %q) is %v", a, b, i >= j)
			}
		}
	}
}
