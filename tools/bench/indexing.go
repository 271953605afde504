package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"quarry"
	"quarry/match"
	"quarry/search"
)

// indexCases are the queries of the index table. Quarry must be faster by the given factor than
// ripgrep is at counting all matching lines.
var indexCases = []struct {
	name    string
	pattern string
	fold    bool
	first   int // number of lines to return; 0 counts all lines
	target  float64
}{
	{"PM_RESUME, all lines", "PM_RESUME", false, 1 << 20, 100},
	{"PM_RESUME, count", "PM_RESUME", false, 0, 100},
	{"zzyzxqq, count", "zzyzxqq", false, 0, 100},
	{"-i linus, count", "linus", true, 0, 0},
	{"mutex_lock, first 100", "mutex_lock", false, 100, 40},
	{"mutex_lock, count", "mutex_lock", false, 0, 8},
	{"[A-Z]+_SUSPEND, count", "[A-Z]+_SUSPEND", false, 0, 0},
	{`\w+\s+PM_RESUME, count`, `\w+\s+PM_RESUME`, false, 0, 0},
	{`\w{5}\s+\w{5}\s+\w{5}, first 100`, `\w{5}\s+\w{5}\s+\w{5}`, false, 100, 20},
	{`\w{5}\s+\w{5}\s+\w{5}, count`, `\w{5}\s+\w{5}\s+\w{5}`, false, 0, 1},
	{`^\s*static\s+(inline\s+)?int\s+\w+\(, first 100`, `^\s*static\s+(inline\s+)?int\s+\w+\(`, false, 100, 20},
	{`^\s*static\s+(inline\s+)?int\s+\w+\(, count`, `^\s*static\s+(inline\s+)?int\s+\w+\(`, false, 0, 1},
}

// indexing measures the index: the time to build it and to restart, and answers by the owner and
// through its socket.
func (b *bench) indexing() error {
	exe, cache, err := b.cached("cache")
	if err != nil {
		return err
	}
	defer func() { b.env = nil }()
	if err := errors.Join(os.RemoveAll(cache), os.MkdirAll(cache, 0o700)); err != nil {
		return err
	}
	if err := b.indexBuild("making and opening it", exe, cache, 12, 8); err != nil {
		return err
	}
	restart, err := b.restart(cache)
	if err != nil {
		return err
	}
	fmt.Printf("%-48s %8.0f ms   (asked: 250)\n", "restart to the first indexed answer", restart.Seconds()*1000)
	if err := b.opening(exe, cache); err != nil {
		return err
	}
	if err := b.answers(exe, cache); err != nil {
		return err
	}
	return b.manyFiles()
}

// cached builds the program and sets b.env so that it uses a cache of its own.
func (b *bench) cached(name string) (exe, cache string, err error) {
	if exe, err = b.build(); err != nil {
		return "", "", err
	}
	if cache, err = filepath.Abs(filepath.Join(b.work, name)); err != nil {
		return "", "", err
	}
	b.env = append(os.Environ(), "XDG_CACHE_HOME="+cache, "XDG_STATE_HOME="+cache, "XDG_RUNTIME_DIR="+cache)
	return exe, cache, os.MkdirAll(cache, 0o700)
}

func indexesBelow(cache string) ([]string, error) {
	return filepath.Glob(filepath.Join(cache, "quarry", "index", "*"))
}

// opening measures the first search with a stored index, in the process that is opening it, and by
// a command when no other process has it open. Both are compared with ripgrep.
func (b *bench) opening(exe, cache string) error {
	best := time.Duration(1 << 62)
	for range b.rounds {
		start := time.Now()
		ws, err := b.open(cache, false)
		if err != nil {
			return err
		}
		sum, err := ws.SearchEach(context.Background(), search.Query{Pattern: "PM_RESUME", Detail: search.Counts}, ignoreFile)
		took := time.Since(start)
		if err == nil && !sum.Stats.Plan.Indexed() {
			err = fmt.Errorf("a search while opening was answered by %s", sum.Stats.Plan.Kind)
		}
		if err = errors.Join(err, ws.Close()); err != nil {
			return err
		}
		best = min(best, took)
	}
	stored, rg, err := b.compare([]string{exe, "search", "-c", "PM_RESUME"}, []string{b.rg, "--no-config", "--no-require-git", "-c", "PM_RESUME"})
	if err != nil {
		return err
	}
	for _, row := range []struct {
		name string
		took time.Duration
	}{{"first answer while opening", best}, {"a command, index stored, no owner", stored.wall}} {
		fmt.Printf("%-48s %8.0f ms   %.2f of ripgrep's %d ms\n", row.name, row.took.Seconds()*1000, row.took.Seconds()/rg.wall.Seconds(), rg.wall.Milliseconds())
	}
	return nil
}

// manyFiles measures building and opening an index of 300,000 small files.
func (b *bench) manyFiles() error {
	big := *b
	if big.tree = b.many; b.many == "" {
		var err error
		if big.tree, err = b.pieces(300_000); err != nil {
			return err
		}
	}
	exe, cache, err := big.cached("cache-many")
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(cache), os.MkdirAll(cache, 0o700)); err != nil {
		return err
	}
	if err := big.indexBuild("300,000 files", exe, cache, 0, 0); err != nil {
		return err
	}
	restart, err := big.restart(cache)
	if err != nil {
		return err
	}
	fmt.Printf("%-48s %8.0f ms\n", "restart to the first indexed answer", restart.Seconds()*1000)
	return big.opening(exe, cache)
}

// indexBuild runs quarry index build. seconds, and share as a percentage of the text, are limits to
// show in the table; 0 shows no limit.
func (b *bench) indexBuild(title, exe, cache string, seconds, share int) error {
	fmt.Printf("\nindex: %s\n", title)
	c, err := b.once([]string{exe, "index", "build", "--quiet"})
	if err != nil {
		return err
	}
	size, err := treeSize(cache)
	if err != nil {
		return err
	}
	text, err := treeSize(b.tree)
	if err != nil {
		return err
	}
	asked := func(n int) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("   (asked: %d)", n)
	}
	fmt.Printf("%-48s %8.1f s %s\n", "build", c.wall.Seconds(), asked(seconds))
	fmt.Printf("%-48s %8.1f s\n", "processor time of it", c.cpu.Seconds())
	fmt.Printf("%-48s %8d MB%s\n", "peak memory of it, mapped files included", c.memory>>10, asked(250))
	fmt.Printf("%-48s %8.2f %% %s\n", "size, of all bytes in the tree", 100*float64(size)/float64(text), asked(share))
	return nil
}

func treeSize(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// open opens the tree with the index below cache. The workspace is the owner or, if ask is set, a
// client of the owner.
func (b *bench) open(cache string, ask bool) (*quarry.Workspace, error) {
	dirs, err := indexesBelow(cache)
	if err != nil || len(dirs) != 1 {
		return nil, fmt.Errorf("%d indexes below %s: %w", len(dirs), cache, err)
	}
	index := &quarry.IndexOptions{Dir: dirs[0], Ask: ask}
	if ask {
		index.Socket = filepath.Join(cache, "quarry", filepath.Base(dirs[0])+".sock")
	}
	return quarry.Open(b.tree, &quarry.Options{Trusted: true, Index: index})
}

// restart returns the time from opening a workspace until its index has answered.
func (b *bench) restart(cache string) (time.Duration, error) {
	best := time.Duration(1 << 62)
	for range b.rounds {
		start := time.Now()
		ws, err := b.open(cache, false)
		if err != nil {
			return 0, err
		}
		err = ws.Index().Wait(context.Background())
		var sum *search.Summary
		if err == nil {
			sum, err = ws.SearchEach(context.Background(), search.Query{Pattern: "PM_RESUME", Detail: search.Counts}, ignoreFile)
		}
		took := time.Since(start)
		if err == nil && !sum.Stats.Plan.Indexed() {
			err = fmt.Errorf("answered by %s", sum.Stats.Plan.Kind)
		}
		if err = errors.Join(err, ws.Close()); err != nil {
			return 0, err
		}
		best = min(best, took)
	}
	return best, nil
}

func ignoreFile(*search.FileMatch) error { return nil }

// answers compares queries of a warm index with ripgrep: by the owner, through the owner's socket,
// and by a process started for each query.
func (b *bench) answers(exe, cache string) error {
	type times struct{ library, socket, process, rg time.Duration }
	measured := make([]times, len(indexCases))
	err := b.serving(exe, cache, func(ws *quarry.Workspace) error {
		for i, c := range indexCases {
			theirs := []string{b.rg, "--no-config", "--no-require-git", "-c", c.pattern}
			ours := []string{exe, "search", "-c", c.pattern}
			if c.fold {
				theirs, ours = append(theirs, "-i"), append(ours, "-i")
			}
			process, rg, err := b.compare(ours, theirs)
			if err != nil {
				return err
			}
			if measured[i].rg = rg.wall; c.first == 0 {
				measured[i].process = process.wall
			}
			if measured[i].socket, err = b.asked(ws, c.pattern, c.fold, c.first); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	ws, err := b.open(cache, false)
	if err != nil {
		return err
	}
	defer ws.Close()
	if err := ws.Index().Wait(context.Background()); err != nil {
		return err
	}
	fmt.Printf("\nindex: answers, and how many times faster than rg -c\n%-48s %9s %19s %19s %19s\n", "", "ripgrep", "library", "socket", "process")
	for i, c := range indexCases {
		m := &measured[i]
		if m.library, err = b.asked(ws, c.pattern, c.fold, c.first); err != nil {
			return err
		}
		fmt.Printf("%-48s %6d ms", c.name, m.rg.Milliseconds())
		for _, t := range []time.Duration{m.library, m.socket, m.process} {
			if t == 0 {
				fmt.Printf(" %19s", "")
				continue
			}
			fmt.Printf(" %8.1f ms %6.1fx", t.Seconds()*1000, m.rg.Seconds()/t.Seconds())
		}
		if c.target > 0 {
			fmt.Printf("  (asked: %.0f)", c.target)
		}
		fmt.Println()
	}
	return b.pathSearch(ws)
}

// serving runs quarry serve and calls f with a workspace that is its client.
func (b *bench) serving(exe, cache string, f func(*quarry.Workspace) error) error {
	cmd := exec.Command(exe, "serve", "--quiet")
	cmd.Dir, cmd.Env, cmd.Stderr = b.tree, b.env, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	}()
	ws, err := b.open(cache, true)
	if err != nil {
		return err
	}
	defer ws.Close()
	for range 1000 {
		if st, err := ws.Index().Status(context.Background()); err == nil && st.Remote && st.State == "ready" {
			return f(ws)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.New("quarry serve did not become ready")
}

// asked returns the best time of a query in this process. It makes many rounds, because a query
// takes only a few milliseconds and times vary.
func (b *bench) asked(ws *quarry.Workspace, pattern string, fold bool, first int) (time.Duration, error) {
	q := search.Query{Pattern: pattern, Detail: search.Counts}
	if fold {
		q.Match.Case = match.Insensitive
	}
	if first > 0 {
		q.Detail, q.Limits.Lines = search.Lines, first
	}
	best := time.Duration(1 << 62)
	for start, i := time.Now(), 0; i < b.rounds || time.Since(start) < time.Second; i++ {
		from := time.Now()
		sum, err := ws.SearchEach(context.Background(), q, ignoreFile)
		if err != nil {
			return 0, err
		}
		best = min(best, time.Since(from))
		if !sum.Stats.Plan.Indexed() {
			return 0, fmt.Errorf("%s was answered by %s", pattern, sum.Stats.Plan.Kind)
		}
	}
	return best, nil
}

// pathSearch measures listing paths by glob, and the memory of the server.
func (b *bench) pathSearch(ws *quarry.Workspace) error {
	best := time.Duration(1 << 62)
	for range 10 * b.rounds {
		from := time.Now()
		if _, err := ws.Find(context.Background(), search.FindQuery{Scope: search.Scope{Globs: []string{"**/*mutex*.c"}}}); err != nil {
			return err
		}
		best = min(best, time.Since(from))
	}
	fmt.Printf("%-48s %20.1f ms   (asked: 3)\n", "path search, **/*mutex*.c", best.Seconds()*1000)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("%-48s %20d MB   (asked: 64)\n", "heap when serving", m.HeapInuse>>20)
	return nil
}
