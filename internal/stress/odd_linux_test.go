package stress_test

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"quarry"
	"quarry/change"
	"quarry/internal/profile"
	"quarry/internal/stress"
	"quarry/search"
)

const (
	oddTime   = time.Minute // for each call, on a busy machine; otherwise the slowest takes about 2 s
	oddMemory = 64 << 20
)

// oddFiles creates files of kinds that have made programs hang or crash when reading them.
func oddFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	at := func(name string) string { names = append(names, name); return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	sparse := func(name, text string, size int64) {
		full := at(name)
		must(os.WriteFile(full, []byte(text), 0o644))
		if err := os.Truncate(full, size); err != nil {
			t.Skipf("no sparse files here: %v", err)
		}
	}
	must(os.WriteFile(at("plain.txt"), []byte("needle\n"), 0o644))
	sparse("sparse10G", "", 10<<30)
	sparse("line5G.txt", strings.Repeat("needle filler\n", 10_000), 5<<30)
	sparse("just-over.txt", strings.Repeat("needle\n", 300_000), 1<<30+1)
	must(os.WriteFile(at("oneline.md"), []byte("needle "+strings.Repeat("x", 17<<20)), 0o644))
	must(os.WriteFile(at("newlines.txt"), []byte(strings.Repeat("\n", 4<<20)), 0o644))
	must(unix.Mkfifo(at("fifo"), 0o666))
	socket, err := net.Listen("unix", at("sock"))
	must(err)
	t.Cleanup(func() { socket.Close() })
	for name, minor := range map[string]uint32{"null": 3, "zero": 5, "random": 8} {
		if err := unix.Mknod(at("dev-"+name), unix.S_IFCHR|0o666, int(unix.Mkdev(1, minor))); err != nil {
			names = names[:len(names)-1] // making this file needs root
		}
	}
	must(os.WriteFile(at("closed.txt"), []byte("needle\n"), 0))
	must(os.Mkdir(at("closed-folder"), 0))
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "closed-folder"), 0o755) })
	for name, target := range map[string]string{"ring1": "ring2", "ring2": "ring1", "self": "self", "here": ".", "up": "..", "dangling": "nowhere", "to-fifo": "fifo", "to-proc": "/proc/self/mem"} {
		must(os.Symlink(target, at(name)))
	}
	deep := strings.Repeat("deep/", 300)
	must(os.MkdirAll(filepath.Join(dir, deep), 0o755))
	must(os.WriteFile(at(deep+"f.txt"), []byte("needle\n"), 0o644))
	must(os.WriteFile(at(".gitignore"), []byte(strings.Repeat("**/a*b*c*d/\n", 20_000)), 0o644))
	must(os.WriteFile(at("bomb.canvas"), []byte(strings.Repeat("[", 1<<20)), 0o644))
	must(os.WriteFile(at("matter.md"), []byte("---\n"+strings.Repeat("a: &a [*a, *a]\n", 10_000)+"---\nneedle\n"), 0o644))
	must(os.WriteFile(at("links.md"), []byte(strings.Repeat("[[", 500_000)), 0o644))
	return names
}

// Every tool is called with every odd file and with all of them together. Nothing hangs or crashes,
// and memory stays within 64 MB.
func TestOddFiles(t *testing.T) {
	stress.SkipTiny(t)
	dir := t.TempDir() // on disk, because memory has no space for devices and sparse files
	names := append(oddFiles(t, dir), ".", "growing.txt", "shrinking.txt")
	stop := restless(t, dir)
	defer stop()
	// Use one worker, because the limit is for one file, and each worker reads one at a time.
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: stress.FastDir(t), Trash: change.TrashLocal, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	type call struct {
		tool, args string
		most       int64
		exec       func() string
	}
	var calls []call
	for _, p := range []string{"quarry", "vault"} {
		reg, err := profile.New(ws, &profile.Options{Profile: p})
		if err != nil {
			t.Fatal(err)
		}
		for _, tl := range reg.Tools() {
			if tl.Name == "delete_file" || tl.Name == "move_file" || tl.Name == "organize_note" || tl.Name == "undo_change" || tl.Name == "create_folder" {
				continue // these calls read no files, and would change those needed by the next call
			}
			for _, name := range names {
				for _, args := range callsWith(tl, name) {
					if strings.Contains(args, `"path":"a.txt"`) {
						continue
					}
					args = strings.ReplaceAll(args, "inside|SEC[R]ET", "needle")
					most := int64(oddMemory)
					if !tl.Hints.ReadOnly && p == "quarry" { // dry run
						args = strings.TrimSuffix(args, "}") + `,"dry_run":true}`
						most *= 2 // an edit needs memory for the file before and after; the largest file has 24 MB
					} else if !tl.Hints.ReadOnly {
						continue
					}
					calls = append(calls, call{p + " " + tl.Name, args, most, func() string { return tl.Execute(context.Background(), json.RawMessage(args)).Text }})
				}
			}
		}
	}
	stress.Rand(1).Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] }) // the short form tries the first of them
	run := stress.Start(t, "odd files: every tool", len(calls)/5, len(calls))
	slowest, largest := time.Duration(0), int64(0)
	for seed := range run.Cases() {
		c := calls[int((seed-1)%uint64(len(calls)))]
		began := time.Now()
		var text string
		more := grown(func() { text = c.exec() })
		took := time.Since(began)
		if more > c.most { // repeat, since on a busy machine the garbage collector may have been late
			more = min(more, grown(func() { text = c.exec() }))
		}
		slowest, largest = max(slowest, took), max(largest, more)
		if took > oddTime || more > c.most {
			run.Violation(seed, "%s %s: %v and %d MB, then %.200s", c.tool, c.args, took, more>>20, text)
		}
		if took > 2*time.Second {
			t.Logf("%s %s: %v", c.tool, c.args, took)
		}
		if strings.Contains(text, "failed unexpectedly") {
			run.Violation(seed, "%s %s panicked: %s", c.tool, c.args, text)
		}
	}
	t.Logf("at most %v and %d MB", slowest, largest>>20)
}

// An index of odd files is built and updated within the same limits, and gives the same answers as
// a scan.
func TestOddFilesIndexed(t *testing.T) {
	stress.SkipShort(t)
	dir := t.TempDir()
	oddFiles(t, dir)
	run := stress.Start(t, "odd files: index", 1, 1)
	for seed := range run.Cases() {
		var ws *quarry.Workspace
		more := grown(func() {
			var err error
			if ws, err = quarry.Open(dir, &quarry.Options{Index: &quarry.IndexOptions{Dir: stress.FastDir(t)}}); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 2*oddTime)
			defer cancel()
			if err := ws.Index().Wait(ctx); err != nil {
				t.Fatal(err)
			}
		})
		defer ws.Close()
		if more > 2*oddMemory {
			run.Violation(seed, "%d MB to index odd files", more>>20)
		}
		scan := search.Scope{NoIndex: true}
		a, err := ws.Search(context.Background(), search.Query{Pattern: "needle", Detail: search.Counts})
		if err != nil {
			t.Fatal(err)
		}
		b, err := ws.Search(context.Background(), search.Query{Pattern: "needle", Detail: search.Counts, Scope: scan})
		if err != nil {
			t.Fatal(err)
		}
		if a.LinesMatched != b.LinesMatched || a.FilesMatched != b.FilesMatched {
			run.Violation(seed, "by index %d lines in %d files, by scan %d in %d", a.LinesMatched, a.FilesMatched, b.LinesMatched, b.FilesMatched)
		}
		t.Logf("%d MB, %d files with matches, %v", more>>20, a.FilesMatched, a.SkippedCount)
	}
}

// restless makes one file grow and another shrink until stop is called.
func restless(t *testing.T, dir string) (stop func()) {
	t.Helper()
	line := []byte(strings.Repeat("needle bar\n", 6000))
	var done atomic.Bool
	var wait sync.WaitGroup
	for _, name := range []string{"growing.txt", "shrinking.txt"} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		f.Write(line)
		wait.Go(func() {
			defer f.Close()
			for size := int64(0); !done.Load(); {
				switch {
				case name == "growing.txt" && size < 24<<20:
					f.WriteAt(line, size)
					size += int64(len(line))
				case name == "growing.txt":
					// Stop growing, because reading and editing hold the file in memory.
					f.Truncate(0)
					size = 0
				case size < 1000:
					size = int64(len(line))
					f.WriteAt(line, 0)
				default:
					size /= 2
					f.Truncate(size)
				}
			}
		})
	}
	return func() { done.Store(true); wait.Wait() }
}
