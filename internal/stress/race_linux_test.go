package stress_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"quarry"
	"quarry/change"
	"quarry/internal/stress"
)

// swaps are pairs of names in one folder of a fortress. Attackers exchange a folder or file with a
// symlink to something outside or closed.
var swaps = []struct{ dir, a, b string }{
	{".", "notes", "to-outside"}, {".", "notes", "to-git"}, {".", "notes", "to-parent"}, {"notes", "deep", "up"},
	{".", "a.txt", "to-file"}, {".", "a.txt", "to-env"}, {".", "fine", "to-outside"}, {".", "fine", "to-git"},
}

// attackers starts goroutines that exchange names until stop is called. They always swap back,
// which restores the fortress unless a tool interfered. They use open folders, because by name one
// attacker would follow another's links and change files outside.
func (f *fortress) attackers(seed uint64) (stop func()) {
	fds := map[string]int{}
	for _, s := range swaps {
		if _, ok := fds[s.dir]; ok {
			continue
		}
		fd, err := unix.Open(filepath.Join(f.dir, s.dir), unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			f.t.Fatal(err)
		}
		fds[s.dir] = fd
	}
	var done atomic.Bool
	var wait sync.WaitGroup
	for i := range 2 {
		wait.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			for !done.Load() {
				s := swaps[rng.IntN(len(swaps))]
				for range 2 {
					unix.Renameat2(fds[s.dir], s.a, fds[s.dir], s.b, unix.RENAME_EXCHANGE)
					for range rng.IntN(6) {
						runtime.Gosched()
					}
				}
			}
		})
	}
	return func() {
		done.Store(true)
		wait.Wait()
		for _, fd := range fds {
			unix.Close(fd)
		}
	}
}

// naive reads a file in the usual unsafe way: resolve the path, check the prefix, open.
func (f *fortress) naive(name string) string {
	full, err := filepath.EvalSymlinks(filepath.Join(f.dir, name))
	if err != nil || !strings.HasPrefix(full, f.dir+"/") || strings.Contains(full, "/.git") || strings.Contains(full, ".env") {
		return ""
	}
	b, _ := os.ReadFile(full)
	return string(b)
}

// Every tool of every profile is called while folders, files and symlinks are exchanged. Nothing
// closed is shown or changed. A naive reader must be deceived at least once, which proves that the
// race occurs.
func TestSymlinkRaceOfEveryTool(t *testing.T) {
	stress.SkipTiny(t)
	for _, c := range []struct {
		name  string
		index bool
	}{{"scanning", false}, {"with an index", true}} {
		t.Run(c.name, func(t *testing.T) {
			opts := quarry.Options{Trash: change.TrashLocal}
			if c.index {
				opts.Index = &quarry.IndexOptions{Dir: stress.FastDir(t)}
			}
			f := newFortress(t, opts)
			run := stress.StartFor(t, "symlink race: every tool, "+c.name, 10*time.Second)
			fell, answered := 0, map[string]int{}
			for seed := range run.Cases() {
				fell += f.raceRound(run, seed, answered)
			}
			for end := time.Now().Add(10 * time.Second); fell == 0 && stress.Thorough() && time.Now().Before(end); {
				fell += f.naiveRound()
			}
			t.Logf("the naive reader fell for it %d times; calls that succeeded: %v", fell, answered)
			if !stress.Thorough() {
				return // with few tries, the checks below may fail by chance
			}
			if fell == 0 {
				t.Error("the naive reader never fell for it: the race proves nothing")
			}
			for _, tl := range f.tools {
				if answered[tl.Name] == 0 {
					t.Errorf("%s never succeeded: the race proves nothing for it", tl.Name)
				}
			}
		})
	}
}

var raceTargets = []string{"a.txt", "notes/b.md", "notes/deep/c.txt", "fine/b.md", "notes/made.md", "notes", "."}

// raceRound calls every tool on one target under attack. It returns how often the naive reader read
// a secret meanwhile.
func (f *fortress) raceRound(run *stress.Run, seed uint64, answered map[string]int) (fell int) {
	target := raceTargets[seed%uint64(len(raceTargets))]
	stop := f.attackers(seed)
	for _, tl := range f.tools {
		if strings.Contains(f.naive(target), secret) {
			fell++
		}
		for _, args := range callsWith(tl, target) {
			res := tl.Execute(context.Background(), json.RawMessage(args))
			run.Tried(1)
			if what := f.breach(res, args); what != "" {
				run.Violation(seed, "%s %s %s", tl.Name, args, what)
			}
			if !res.IsError {
				answered[tl.Name]++
			}
		}
		if len(tl.Params) == 0 || tl.Name == "undo_change" || tl.Name == "list_changes" || tl.Name == "search_code" || tl.Name == "search_notes" {
			args := `{"query":"inside SECRET"}`
			if tl.Name != "search_code" && tl.Name != "search_notes" {
				args = `{}`
			}
			res := tl.Execute(context.Background(), json.RawMessage(args))
			run.Tried(1)
			if what := f.breach(res, args); what != "" {
				run.Violation(seed, "%s %s %s", tl.Name, args, what)
			}
			if !res.IsError {
				answered[tl.Name]++
			}
		}
	}
	stop()
	if what := f.disturbed(); what != "" {
		run.Violation(seed, "on %s changed closed content: %s", target, what)
	}
	f.refill()
	return fell
}

func (f *fortress) naiveRound() (fell int) {
	stop := f.attackers(0)
	for range 1000 {
		for _, target := range raceTargets[:4] {
			if strings.Contains(f.naive(target), secret) {
				fell++
			}
		}
	}
	stop()
	f.refill()
	return fell
}
