package journal

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"quarry/internal/rootfs"
)

// BenchmarkEdit measures a durable edit of a 4 KB file with and without a journal entry.
// The difference is the cost of undo.
func BenchmarkEdit(b *testing.B) {
	text := strings.Repeat("some words of a note\n", 200)
	for _, c := range []struct {
		name      string
		journaled bool
	}{{"replace", false}, {"journal+replace", true}} {
		b.Run(c.name, func(b *testing.B) {
			w := newBench(b, nil)
			w.put("a.md", text)
			i := 0
			for b.Loop() {
				op := w.replace("a.md", text+strconv.Itoa(i))
				i++
				if c.journaled {
					w.change("edit", op)
				} else {
					w.must(do(w.ws, op))
				}
			}
		})
	}
}

// BenchmarkLargeEdit rewrites a 100 MB file: plainly, with a sync, with a one-byte
// splice, and with a splice and its journal entry.
func BenchmarkLargeEdit(b *testing.B) {
	const size = 100 << 20
	for _, how := range []string{"plain", "plain+sync", "splice", "journal+splice"} {
		b.Run(how, func(b *testing.B) {
			w := newBench(b, &Options{MaxBytes: 1 << 30})
			name := filepath.Join(w.dir, "a")
			w.put("a", strings.Repeat("0123456789abcde\n", size/16))
			_, version, _, err := w.ws.ReadFile(w.path("a"), 0)
			w.must(err)
			b.SetBytes(size)
			n := byte(0)
			for b.Loop() {
				n++
				if strings.HasPrefix(how, "plain") {
					data, err := os.ReadFile(name)
					w.must(err)
					data[size/2] = n
					f, err := os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
					w.must(err)
					_, err = f.Write(data)
					w.must(err)
					if how == "plain+sync" {
						w.must(f.Sync())
					}
					w.must(f.Close())
					continue
				}
				edits := []rootfs.Edit{{Off: size / 2, Len: 1, Data: []byte{n}}}
				if how == "journal+splice" {
					tx := w.begin("edit", Op{Kind: Replace, Path: w.path("a"), Old: version, Edits: edits})
					got, err := w.ws.Splice(w.path("a"), edits, version, nil)
					w.must(err)
					w.must(tx.Commit(Result{Op: 0, New: got.New}))
					version = got.New
					continue
				}
				got, err := w.ws.Splice(w.path("a"), edits, version, nil)
				w.must(err)
				version = got.New
			}
		})
	}
}

// BenchmarkOpen measures opening a journal whose last segment is full.
func BenchmarkOpen(b *testing.B) {
	w := newBench(b, nil)
	w.put("a.md", "")
	for i := range 500 {
		w.change("edit", w.replace("a.md", strings.Repeat(strconv.Itoa(i)+" words\n", 500)))
	}
	b.SetBytes(func() int64 { info, _ := os.Stat(w.lastSegment()); return info.Size() }())
	for b.Loop() {
		j, err := Open(w.st, nil)
		w.must(err)
		if list, err := j.List(20); err != nil || len(list) != 20 {
			b.Fatal(len(list), err)
		}
		j.Close()
	}
}
