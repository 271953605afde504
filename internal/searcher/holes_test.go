package searcher_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"quarry"
	regime "quarry/internal/stress"
	"quarry/search"
)

// hole is a case that other indexers miss.
type hole struct {
	name   string
	before func(w *holeTree) // before the index is built
	after  func(w *holeTree) // after the index is built
	want   string            // files that contain a needle, in order
}

// holeTree is a workspace to be written to.
type holeTree struct {
	scanned []string // results of holeQueries by a scan, in order
	t       *testing.T
	dir     string // the workspace; ../out is a folder outside it
	rng     *rand.Rand
}

func (w *holeTree) full(name string) string { return filepath.Join(w.dir, name) }

func (w *holeTree) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *holeTree) write(name string, text ...string) {
	w.t.Helper()
	w.must(os.MkdirAll(filepath.Dir(w.full(name)), 0o755))
	w.must(os.WriteFile(w.full(name), []byte(strings.Join(text, "")), 0o644))
}

func (w *holeTree) rename(from, to string) {
	w.t.Helper()
	w.must(os.Rename(w.full(from), w.full(to)))
}

// rows returns text of whole lines with the given size in bytes.
func rows(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "row %d upon row of ordinary text\n", i)
	}
	return b.String()
}

// noise returns text with many different grams: random letters and symbols of several
// alphabets.
func (w *holeTree) noise(size int) string {
	var b strings.Builder
	for b.Len() < size {
		switch w.rng.IntN(20) {
		case 0:
			b.WriteByte('\n')
		case 1:
			b.WriteRune(rune(0x400 + w.rng.IntN(0x2000)))
		default:
			b.WriteByte(byte(' ' + w.rng.IntN(95)))
		}
	}
	return b.String()
}

func utf16Text(s string, order binary.ByteOrder) string {
	b := []byte{0, 0}
	order.PutUint16(b, 0xFEFF)
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, 0, 0)
		order.PutUint16(b[len(b)-2:], u)
	}
	return string(b)
}

const needle = "xyzzyNeedle42"

var holes = []hole{
	{"a file over 64 KB, at its end", func(w *holeTree) { w.write("f", rows(80<<10), needle, "\n") }, nil, "f"},
	{"a file over 1 MB, at its end", func(w *holeTree) { w.write("f", rows(1<<20+5), needle, "\n") }, nil, "f"},
	{"a file over 10 MB, at its end", func(w *holeTree) { w.write("f", rows(10<<20+5), needle) }, nil, "f"},
	{"a file added after the build", func(w *holeTree) {}, func(w *holeTree) { w.write("new/deep/f", needle) }, "new/deep/f"},
	{"a large file added after the build", func(w *holeTree) {}, func(w *holeTree) { w.write("f", rows(2<<20), needle) }, "f"},
	{"a text of very many grams", func(w *holeTree) {
		w.write("f", w.noise(regime.N(3<<20)), "\n", needle, "\n", w.noise(regime.N(3<<20)))
	}, nil, "f"},
	{"a single line of 5 MB, at its end", func(w *holeTree) { w.write("f", strings.Repeat("abc ", 5<<18), needle) }, nil, "f"},
	{"a single line of 12 MB, at its end", func(w *holeTree) { w.write("f", strings.Repeat("abc ", 12<<18), needle) }, nil, "f"},
	{"many short lines, in the middle", func(w *holeTree) {
		w.write("f", strings.Repeat("a\n", 1<<20), needle, "\n", strings.Repeat("b\n", 1<<20))
	}, nil, "f"},
	{"at every border of blocks", func(w *holeTree) {
		// Lines of 64 bytes. Each line around a multiple of 8 KiB contains a needle.
		var b strings.Builder
		for i := range 4096 {
			line := fmt.Sprintf("%d ", i)
			if i%128 < 2 || i%128 > 125 {
				line += needle
			}
			fmt.Fprintf(&b, "%-63s\n", line)
		}
		w.write("f", b.String())
	}, nil, "f"},
	{"a UTF-16 file, little end first", func(w *holeTree) { w.write("f", utf16Text("ähm "+needle+"\n", binary.LittleEndian)) }, nil, "f"},
	{"a UTF-16 file, big end first", func(w *holeTree) {
		w.write("f", utf16Text(rows(100<<10)+needle, binary.BigEndian))
	}, nil, "f"},
	{"a UTF-8 mark before the needle", func(w *holeTree) { w.write("f", "\xEF\xBB\xBF", needle) }, nil, "f"},
	{"bytes that are no UTF-8 around it", func(w *holeTree) { w.write("f", "\xe9\xff", needle, "\xc3\n") }, nil, "f"},
	{"a NUL behind the first 64 KB", func(w *holeTree) { w.write("f", rows(70<<10), "\x00\n", needle) }, nil, "f"},
	{"an empty file that got text", func(w *holeTree) { w.write("f") }, func(w *holeTree) { w.write("f", needle) }, "f"},
	{"a text that became binary", func(w *holeTree) { w.write("f", needle); w.write("g", needle) }, func(w *holeTree) { w.write("f", "\x00", needle) }, "g"},
	{"a binary that became text", func(w *holeTree) { w.write("f", "\x00", needle) }, func(w *holeTree) { w.write("f", needle) }, "f"},
	{"a rewrite that keeps size and time", func(w *holeTree) { w.write("f", strings.ToLower(needle)) }, func(w *holeTree) {
		info, err := os.Stat(w.full("f"))
		w.must(err)
		w.write("f", needle)
		w.must(os.Chtimes(w.full("f"), info.ModTime(), info.ModTime()))
	}, "f"},
	{"a file set back to an older time", func(w *holeTree) { w.write("f", "old\n") }, func(w *holeTree) {
		info, err := os.Stat(w.full("f"))
		w.must(err)
		w.write("f", needle)
		w.must(os.Chtimes(w.full("f"), info.ModTime().AddDate(-9, 0, 0), info.ModTime().AddDate(-9, 0, 0)))
	}, "f"},
	{"an append", func(w *holeTree) { w.write("f", rows(100<<10)) }, func(w *holeTree) {
		f, err := os.OpenFile(w.full("f"), os.O_APPEND|os.O_WRONLY, 0)
		w.must(err)
		_, err = f.WriteString(needle)
		w.must(err)
		w.must(f.Close())
	}, "f"},
	{"a write in the middle", func(w *holeTree) { w.write("f", rows(1<<20)) }, func(w *holeTree) {
		f, err := os.OpenFile(w.full("f"), os.O_WRONLY, 0)
		w.must(err)
		_, err = f.WriteAt([]byte("\n"+needle+"\n"), 500_000)
		w.must(err)
		w.must(f.Close())
	}, "f"},
	{"a truncation that takes it away", func(w *holeTree) { w.write("f", rows(1<<10), needle); w.write("g", needle) }, func(w *holeTree) {
		w.must(os.Truncate(w.full("f"), 1<<10))
	}, "g"},
	{"a file renamed", func(w *holeTree) { w.write("f", needle) }, func(w *holeTree) { w.rename("f", "g") }, "g"},
	{"a file renamed over another", func(w *holeTree) { w.write("f", needle); w.write("g", "plain") }, func(w *holeTree) { w.rename("f", "g") }, "g"},
	{"two files exchanged", func(w *holeTree) { w.write("f", needle); w.write("g", "plain") }, func(w *holeTree) {
		w.rename("f", "tmp")
		w.rename("g", "f")
		w.rename("tmp", "g")
	}, "g"},
	{"a folder moved in", func(w *holeTree) { w.write("../out/d/e/f", needle) }, func(w *holeTree) { w.rename("../out/d", "d") }, "d/e/f"},
	{"a folder moved out", func(w *holeTree) { w.write("d/e/f", needle); w.write("g", needle) }, func(w *holeTree) { w.rename("d", "../out/d") }, "g"},
	{"a folder moved out, changed and moved back", func(w *holeTree) { w.write("d/e/f", "plain") }, func(w *holeTree) {
		w.rename("d", "../out/d")
		w.write("../out/d/e/f", needle)
		w.rename("../out/d", "d")
	}, "d/e/f"},
	{"a folder renamed, and a file written there", func(w *holeTree) { w.write("d/e/f", "plain") }, func(w *holeTree) {
		w.rename("d", "b")
		w.write("b/e/f", needle)
	}, "b/e/f"},
	{"a folder deleted and made again", func(w *holeTree) { w.write("d/f", "plain") }, func(w *holeTree) {
		w.must(os.RemoveAll(w.full("d")))
		w.write("d/f", needle)
	}, "d/f"},
	{"a file in a folder's place", func(w *holeTree) { w.write("d/f", "plain") }, func(w *holeTree) {
		w.must(os.RemoveAll(w.full("d")))
		w.write("d", needle)
	}, "d"},
	{"a folder in a file's place", func(w *holeTree) { w.write("d", needle); w.write("g", needle) }, func(w *holeTree) {
		w.must(os.Remove(w.full("d")))
		w.write("d/f", needle)
	}, "d/f g"},
	{"a symlink in a file's place", func(w *holeTree) { w.write("f", needle); w.write("g", needle) }, func(w *holeTree) {
		w.must(os.Remove(w.full("f")))
		if os.Symlink("g", w.full("f")) != nil {
			w.t.Skip("no symlinks here")
		}
	}, "g"},
	{"a write through a second name", func(w *holeTree) { w.write("f", "plain\n") }, func(w *holeTree) {
		if os.Link(w.full("f"), w.full("g")) != nil {
			w.t.Skip("no hard links here")
		}
		w.write("g", needle)
	}, "f g"},
	{"a write through a second name that is gone again", func(w *holeTree) { w.write("f", "plain\n") }, func(w *holeTree) {
		if os.Link(w.full("f"), w.full("g")) != nil {
			w.t.Skip("no hard links here")
		}
		w.write("g", needle)
		w.must(os.Remove(w.full("g")))
	}, "f"},
	{"an ignored folder that no rule ignores any more", func(w *holeTree) {
		w.write(".gitignore", "out\n")
		w.write("out/f", needle)
	}, func(w *holeTree) { w.write(".gitignore", "") }, "out/f"},
	{"a change in an ignored folder, then the rule goes", func(w *holeTree) {
		w.write(".gitignore", "out\n")
		w.write("out/f", "plain")
	}, func(w *holeTree) {
		w.write("out/f", needle)
		w.must(os.Remove(w.full(".gitignore")))
	}, "out/f"},
	{"a rule that comes", func(w *holeTree) { w.write("out/f", needle); w.write("g", needle) }, func(w *holeTree) { w.write(".gitignore", "out\n") }, "g"},
	{"a name that is no UTF-8, spaces and line feeds", func(w *holeTree) {}, func(w *holeTree) {
		w.write("a b/c\nd", needle)
		w.write("x\xff", needle)
	}, "a b/c\nd x\xff"},
	{"a thousand files at once", func(w *holeTree) {}, func(w *holeTree) {
		for i := range 1000 {
			w.write(fmt.Sprintf("d%d/f%d", i%50, i), "plain")
		}
		w.write("d7/z", needle)
	}, "d7/z"},
}

// Each case that other indexers miss is tested in its own tree: the index and a scan must
// give the same answers, and the index must have been used. The comparison is repeated
// after changed files were read again, and after the index was reopened.
func TestHolesOfOthers(t *testing.T) {
	for i, h := range holes {
		if part := regime.Size(3, 1); i%part != 0 || testing.Short() && i%8 != 0 {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			base := regime.FastDir(t)
			w := &holeTree{t: t, dir: filepath.Join(base, "ws"), rng: rand.New(rand.NewPCG(uint64(i), 2))}
			for _, d := range []string{"ws", "out", "index"} {
				w.must(os.Mkdir(filepath.Join(base, d), 0o700))
			}
			for i := range 30 { // the index omits these files
				w.write(fmt.Sprintf("other/%d.txt", i), rows(100*i))
			}
			h.before(w)
			opts := &quarry.Options{Index: &quarry.IndexOptions{Dir: filepath.Join(base, "index")}}
			with, err := quarry.Open(w.dir, opts)
			w.must(err)
			defer func() { with.Close() }()
			w.must(with.Index().Wait(ctx))
			if h.after != nil {
				w.checkHole(with, "before the change", "")
				h.after(w)
				w.scanned = nil
			}
			w.checkHole(with, "at once", h.want)
			w.must(with.Index().Wait(ctx)) // waits until the changed files are read
			w.checkHole(with, "read anew", h.want)
			with.Close()
			with, err = quarry.Open(w.dir, opts)
			w.must(err)
			w.must(with.Index().Wait(ctx))
			w.checkHole(with, "reopened", h.want)
		})
	}
}

// holeQueries are run in every case.
var holeQueries = []search.Query{
	{Pattern: needle}, {Pattern: needle, Detail: search.Files}, {Pattern: needle, Detail: search.Counts},
	{Pattern: `xyzzy\w+\d`, Before: 1}, {Pattern: needle, Detail: search.Files, FilesWithoutMatch: true},
}

// scan answers holeQueries with a scan, once for each state of the tree.
func (w *holeTree) scan() []string {
	w.t.Helper()
	if w.scanned == nil {
		ws, err := quarry.Open(w.dir, nil)
		w.must(err)
		defer ws.Close()
		for _, q := range holeQueries {
			w.scanned = append(w.scanned, answer(w.t, ws, q))
		}
	}
	return w.scanned
}

// checkHole compares searches with and without the index. An empty want is not checked.
func (w *holeTree) checkHole(with *quarry.Workspace, when, want string) {
	w.t.Helper()
	scan := w.scan()
	for i, q := range holeQueries {
		r, err := with.Search(ctx, q)
		if got := answerText(r, err); got != scan[i] {
			w.t.Errorf("%s, %s: by index\n%.2000s\nby scan\n%.2000s", when, q.Pattern, got, scan[i])
			continue
		}
		if !r.Stats.Plan.Indexed() {
			w.t.Errorf("%s, %s: answered by %q", when, q.Pattern, r.Stats.Plan.Kind)
		}
		if got := paths(r); !q.FilesWithoutMatch && want != "" && got != want {
			w.t.Errorf("%s, %s: %q, want %q", when, q.Pattern, got, want)
		}
	}
}

func paths(r *search.Result) string {
	var list []string
	for _, f := range r.Files {
		list = append(list, f.Path)
	}
	return strings.Join(list, " ")
}
