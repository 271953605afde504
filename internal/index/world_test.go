package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"quarry/internal/rootfs"
	"quarry/internal/scan"
	"quarry/internal/terms"
	"quarry/internal/textfile"
	"quarry/internal/walk"
	"quarry/match"
)

// world is a changing tree and its index. It is also the index's Source, since it knows its own changes.
type world struct {
	t        *testing.T
	r        *rand.Rand
	dir      string
	stateDir string
	root     *rootfs.Root
	state    *rootfs.Root
	ix       *Index
	silent   bool // don't report changes, so the index has to sweep
	// ignoredAsks counts the queries that included ignored files.
	ignoredAsks int
	pending     Changes
	fields      int // documents whose fields were compared
}

func newWorld(t *testing.T, seed uint64, silent bool) *world {
	t.Helper()
	w := &world{t: t, r: rand.New(rand.NewPCG(seed, 1)), dir: t.TempDir(), stateDir: memoryDir(t), silent: silent}
	var err error
	if w.root, err = rootfs.Open(w.dir, &rootfs.Options{AllowAny: true}); err != nil {
		t.Fatal(err)
	}
	w.state = openState(t, w.stateDir)
	t.Cleanup(func() {
		if w.ix != nil {
			w.ix.Close()
		}
		w.root.Close()
	})
	return w
}

// memoryDir is a folder on a file system in memory, if there is one: the tests sync
// thousands of files.
func memoryDir(t testing.TB) string {
	if runtime.GOOS == "windows" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "quarry-index-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (w *world) open() {
	w.t.Helper()
	// The clock of Linux file systems ticks every 10 ms at the slowest.
	opts := &Options{Fields: wordFields, Workers: 1 + w.r.IntN(3), racy: 25 * time.Millisecond, MaxIgnored: []int{0, 3, 12, 10_000}[w.r.IntN(4)]}
	if w.r.IntN(3) == 0 {
		opts.budget = 20 << 10 // many segments
	}
	if !w.silent {
		opts.Source = w
	}
	var err error
	if w.ix, err = Open(w.root, w.state, opts); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) reopen() {
	w.t.Helper()
	if err := w.ix.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.open()
}

// Barrier makes a world a Source.
func (w *world) Barrier(_ context.Context, apply func(Changes)) ([]rootfs.Path, error) {
	c := w.pending
	w.pending = Changes{}
	apply(c)
	return nil, nil
}

func (w *world) path(name string) rootfs.Path {
	if name == "" {
		return rootfs.Path{}
	}
	p, err := w.root.Known(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) tellFile(name string) {
	w.pending.Files = append(w.pending.Files, w.path(name))
}

func (w *world) tellTree(name string) {
	w.pending.Trees = append(w.pending.Trees, w.path(name))
}

func (w *world) write(name string, text string) {
	w.t.Helper()
	full := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if info, err := os.Lstat(full); err == nil && !info.Mode().IsRegular() {
		os.Remove(full) // writing through a symlink would change another file
	}
	// A new folder is reported as a tree, by its topmost new part; reporting an existing one
	// does no harm.
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
	if d := filepath.ToSlash(filepath.Dir(name)); d != "." && w.r.IntN(4) == 0 {
		w.tellTree(d)
	}
	w.tellFile(name)
}

var words = []string{
	"alpha", "beta", "gamma", "Delta", "EPSILON", "mutex_lock", "mutex_unlock", "needle", "Straße", "naïve", "日本語", "привет",
	"\u212Aelvin", "kelvin", "ſtrange", "return", "0xdeadbeef", "\t\t", "  ", "(int)", "->next", "\xE9t\xE9", "caf\xE9", "\x93q\x94", "x",
}

func (w *world) text() string {
	var b strings.Builder
	for range w.r.IntN(30) {
		for range w.r.IntN(8) {
			b.WriteString(words[w.r.IntN(len(words))])
			b.WriteString([]string{" ", "", "_", ";"}[w.r.IntN(4)])
		}
		b.WriteString([]string{"\n", "\r\n", "\n\n"}[w.r.IntN(3)])
	}
	s := b.String()
	switch w.r.IntN(16) {
	case 0:
		return "\xEF\xBB\xBF" + s
	case 1:
		return utf16Text(s, binary.LittleEndian, "\xFF\xFE")
	case 2:
		return utf16Text(s, binary.BigEndian, "\xFE\xFF")
	case 3:
		return s + "\x00" + s // binary
	case 4: // a NUL after the part that decides the type
		return s + strings.Repeat("filler line\n", 6000) + "\x00 late needle\n" + s
	case 5:
		return strings.Repeat("a long line of text ", 20000) + s
	case 6:
		if w.r.IntN(4) == 0 {
			return w.largeText(80<<10 + w.r.IntN(300<<10))
		}
	}
	return s
}

// largeText returns a text of several blocks, with few of the words in each.
func (w *world) largeText(size int) string {
	var b strings.Builder
	if w.r.IntN(3) == 0 {
		b.WriteString("\xEF\xBB\xBF")
	}
	for b.Len() < size {
		b.WriteString(strings.Repeat(fmt.Sprintf("row %d of many\n", w.r.IntN(1000)), w.r.IntN(4000)))
		switch w.r.IntN(12) {
		case 0:
			b.WriteString(strings.Repeat("wide ", w.r.IntN(30000))) // a line of several blocks
		case 1:
			b.WriteString("\r\n\xE9\r\n")
		}
		b.WriteString(words[w.r.IntN(len(words))] + " " + words[w.r.IntN(len(words))] + "\n")
	}
	return b.String()
}

func utf16Text(s string, order binary.AppendByteOrder, bom string) string {
	b := []byte(bom)
	for _, u := range utf16.Encode([]rune(strings.ToValidUTF8(s, "?"))) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

var names = []string{"a", "b", "c.go", "d.txt", "Makefile", ".hidden", ".config", "with space", "brack[et]", star, "ünï", "x!y", "#hash", "e"}

// star is a name with a star, if the system allows it.
var star = map[bool]string{true: "star+", false: "star*"}[runtime.GOOS == "windows"]

func (w *world) name() string {
	parts := make([]string, 1+w.r.IntN(3))
	for i := range parts {
		parts[i] = names[w.r.IntN(len(names))]
		if i < len(parts)-1 {
			parts[i] += "d"
		}
	}
	return strings.Join(parts, "/")
}

// all lists every entry below the root, with or without folders, as the file system has it.
func (w *world) all(folders bool) []string {
	var out []string
	filepath.WalkDir(w.dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && p != w.dir && d.IsDir() == folders {
			rel, _ := filepath.Rel(w.dir, p)
			out = append(out, filepath.ToSlash(rel))
		}
		return nil
	})
	return out
}

func (w *world) pick(list []string) string { return list[w.r.IntN(len(list))] }

// change makes one change to the tree, like another program.
func (w *world) change() {
	w.t.Helper()
	files, folders := w.all(false), w.all(true)
	full := func(name string) string { return filepath.Join(w.dir, name) }
	switch k := w.r.IntN(13); {
	case k < 5 || len(files) < 5:
		w.write(w.name(), w.text())
	case k == 5:
		f := w.pick(files)
		os.Remove(full(f))
		w.tellFile(f)
	case k == 6: // rewrite with the same size and time
		f := w.pick(files)
		info, err := os.Lstat(full(f))
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			return
		}
		text := []byte(strings.Repeat("needle gamma ", int(info.Size())/12+1))[:info.Size()]
		os.WriteFile(full(f), text, 0o644)
		os.Chtimes(full(f), info.ModTime(), info.ModTime())
		w.tellFile(f)
	case k == 7:
		from, to := w.pick(files), w.name()
		os.MkdirAll(filepath.Dir(full(to)), 0o755)
		if os.Rename(full(from), full(to)) == nil {
			w.tellFile(from)
		}
		if d := filepath.ToSlash(filepath.Dir(to)); d != "." {
			w.tellTree(d)
		} else {
			w.tellFile(to)
		}
	case k == 8 && len(folders) > 0:
		from, to := w.pick(folders), w.name()+"moved"
		os.MkdirAll(filepath.Dir(full(to)), 0o755)
		if os.Rename(full(from), full(to)) == nil {
			w.tellTree(from)
			w.tellTree(to)
		}
	case k == 9 && len(folders) > 0:
		d := w.pick(folders)
		os.RemoveAll(full(d))
		w.tellTree(d)
	case k == 10:
		w.write([]string{".gitignore", "ad/.ignore", "bd/.gitignore", ".rgignore"}[w.r.IntN(4)],
			[]string{"*.go\n", "!.hidden\n", "ad/\n", "", "!.configd\n*.txt\n", "/b\n"}[w.r.IntN(6)])
	case k == 11: // a file becomes a symlink or the other way round
		f := w.pick(files)
		os.Remove(full(f))
		os.Symlink(filepath.Base(w.pick(files)), full(f))
		w.tellFile(f)
	case k == 12:
		f, err := os.OpenFile(full(w.pick(files)), os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			f.WriteString("appended needle\n")
			f.Close()
			rel, _ := filepath.Rel(w.dir, f.Name())
			w.tellFile(filepath.ToSlash(rel))
			if target, err := filepath.EvalSymlinks(f.Name()); err == nil {
				real, _ := filepath.EvalSymlinks(w.dir)
				if rel, err := filepath.Rel(real, target); err == nil {
					w.tellFile(filepath.ToSlash(rel))
				}
			}
		}
	}
}

// listed returns the files that a plain walk shows.
func (w *world) listed(hidden, ignored bool) []string {
	w.t.Helper()
	var out []string
	_, err := walk.Ordered(context.Background(), w.root, &walk.Options{Hidden: hidden, NoIgnore: ignored}, false, func(it walk.Item) error {
		out = append(out, it.Path)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

var patterns = []string{
	"needle", "mutex_(un)?lock", "alpha.*beta", "(?i)straße", "(?i)STRASSE|KELVIN", "na.ve", "é", "café", "日本", "ПРИВЕТ", `\w+_lock`, "ret", "xx",
	"->next;", "0x[a-f]+", "late needle", "“q”", "gamma|delta", "appended", `\(int\)\s+alpha`, "zzz_not_there", "long line of text",
}

// check compares the index with a scan of every file.
func (w *world) check() {
	w.t.Helper()
	snap, err := w.ix.Fresh(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	defer snap.Close()
	hidden := w.r.IntN(2) == 0
	ignored := snap.Ignored() && w.r.IntN(2) == 0
	listed := w.listed(hidden, ignored)
	expr := patterns[w.r.IntN(len(patterns))]
	p, err := match.Compile(expr, match.Options{Case: match.Case(w.r.IntN(2)), Mode: match.Mode(w.r.IntN(2))})
	if err != nil {
		w.t.Fatal(err)
	}
	under := rootfs.Path{}
	if folders := w.all(true); w.r.IntN(3) == 0 && len(folders) > 0 {
		under = w.path(w.pick(folders))
		listed = slices.DeleteFunc(listed, func(f string) bool { return !strings.HasPrefix(f, under.String()+"/") })
	}
	binary := w.r.IntN(3) == 0
	ask := Ask{Need: p.Need(), Under: under, Hidden: hidden, ByLine: p.Mode() == match.Lines && w.r.IntN(4) > 0}
	if binary {
		ask.Also = Binary
	}
	if ignored {
		ask.Lens = &Lens{Key: fmt.Sprint("ignored, hidden ", hidden), Sees: func(path string, _ Flags) bool { return hidden || !isDotted(path) }}
		w.ignoredAsks++
	}
	c, err := snap.Candidates(ask)
	if err != nil {
		w.t.Fatal(err)
	}
	w.compare(c, p, listed, binary)
	w.compareCounted(snap, ask)
	w.compareFields(snap, ask)
	w.comparePieces(snap, ask, expr)
}

// comparePieces checks that looking up documents in pieces results in the same candidates.
func (w *world) comparePieces(snap *Snapshot, ask Ask, expr string) {
	w.t.Helper()
	seen := func(ask Ask, most int) (list []string, plan Plan) {
		c, err := snap.Candidates(ask)
		if err != nil {
			w.t.Fatal(err)
		}
		if err := c.Each(func(d *Doc) bool {
			list = append(list, fmt.Sprint(d.Path(), d.Stamp, d.Flags, d.Parts, d.Dirty))
			return len(list) < most
		}); err != nil {
			w.t.Fatal(err)
		}
		return list, c.Plan
	}
	want, whole := seen(ask, math.MaxInt)
	ask.Gradual, ask.piece = true, 1+w.r.IntN(4)
	got, plan := seen(ask, math.MaxInt)
	// In a piece with very few candidates left, fewer lists are read.
	extra := slices.DeleteFunc(slices.Clone(got), func(d string) bool { return slices.Contains(want, d) })
	if len(got)-len(extra) != len(want) || len(extra) > 0 && whole.Lists <= enoughRead {
		w.t.Fatalf("%q in pieces of %d: candidates %q, and all at once %q", expr, ask.piece, got, want)
	}
	if plan.Partial || plan.Documents != whole.Documents || plan.Candidates != whole.Candidates+len(extra) {
		w.t.Fatalf("%q: plan in pieces %+v, all at once %+v", expr, plan, whole)
	}
	if len(got) > 0 {
		n := 1 + w.r.IntN(len(got))
		if some, plan := seen(ask, n); !slices.Equal(some, got[:n]) || plan.Candidates > whole.Candidates+len(extra) {
			w.t.Fatalf("%q in pieces, the first %d: %q, want %q", expr, n, some, got[:n])
		}
	}
}

// compareCounted compares the term counts of all indexed files.
func (w *world) compareCounted(snap *Snapshot, ask Ask) {
	w.t.Helper()
	counted, err := snap.Counted(ask)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, v := range counted.Views {
		had := map[int]map[terms.Key]int{} // document to the counts in the index
		keys := map[terms.Key]bool{}
		want := map[int]map[terms.Key]int{}
		err := v.Each(func(id int, path []byte, flags Flags) bool {
			if parts, ok := v.Parts(id); v.Shows(id) && ok && flags&Binary == 0 {
				want[id] = w.countTerms(string(path), parts)
				for k := range want[id] {
					keys[k] = true
				}
			}
			return true
		})
		if err != nil {
			w.t.Fatal(err)
		}
		for k := range keys {
			ids, counts, err := v.Postings(k, nil, nil)
			if err != nil {
				w.t.Fatal(err)
			}
			for i, id := range ids {
				if had[int(id)] == nil {
					had[int(id)] = map[terms.Key]int{}
				}
				had[int(id)][k] = int(counts[i])
			}
		}
		for id := range want {
			if !maps.Equal(want[id], had[id]) {
				w.t.Fatalf("document %d has %v, the index says %v", id, want[id], had[id])
			}
		}
	}
}

// countTerms counts the terms of a file that is not dirty; its text must be UTF-8 or UTF-16.
func (w *world) countTerms(path string, parts int) map[terms.Key]int {
	w.t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.dir, path))
	if err != nil {
		w.t.Fatal(err)
	}
	kind := textfile.Detect(raw)
	text, _ := kind.Encoding.AppendDecoded(nil, raw[len(kind.Encoding.BOM()):], true)
	counts := map[terms.Key]int{}
	n := 0
	terms.EachPart(text, func(s, e int, _ bool) {
		n++
		k := terms.KeyOf(terms.Append(nil, text[s:e]))
		counts[k] = min(counts[k]+1, terms.MaxCount)
	})
	if n != parts {
		w.t.Fatalf("%s has %d parts, the index says %d", path, n, parts)
	}
	return counts
}

func (w *world) compare(c *Candidates, p *match.Pattern, listed []string, binary bool) {
	w.t.Helper()
	var got, files []string
	parts := map[string][]Part{}
	if err := c.Each(func(d *Doc) bool {
		got = append(got, d.Path())
		if d.Parts != nil {
			parts[d.Path()] = d.Parts
		}
		return true
	}); err != nil {
		w.t.Fatal(err)
	}
	var marked []string
	err := c.Files(func(d *Doc, may bool) bool {
		files = append(files, d.Path())
		if may {
			marked = append(marked, d.Path())
		}
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if !slices.Equal(files, listed) {
		w.t.Fatalf("the index has %d files, a walk lists %d: %s", len(files), len(listed), differences(files, listed))
	}
	if !slices.Equal(got, marked) {
		w.t.Fatalf("Each and Files disagree: %s", differences(got, marked))
	}
	for _, name := range listed {
		if _, ok := slices.BinarySearch(got, name); !ok && w.scan(p, name, binary) {
			w.t.Fatalf("%q matches %s, which is no candidate; %v", p, name, c.Plan)
		}
	}
	for name, list := range parts {
		w.compareParts(p, name, list)
	}
}

// compareParts checks that no line outside the parts matches.
func (w *world) compareParts(p *match.Pattern, name string, parts []Part) {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	var rest []byte
	at := int64(0)
	for _, part := range append(slices.Clone(parts), Part{Off: int64(len(data))}) {
		for _, edge := range []int64{part.Off, part.Off + part.Len} {
			if edge > 0 && edge < int64(len(data)) && data[edge-1] != '\n' {
				w.t.Fatalf("%s: a part ends at %d, within a line", name, edge)
			}
		}
		rest = append(rest, data[at:part.Off]...)
		at = part.Off + part.Len
	}
	rest = bytes.TrimPrefix(rest, []byte("\xEF\xBB\xBF"))
	res, err := scan.New(p.NewMatcher()).Bytes(rest, &scan.Request{Detail: scan.Exists})
	if err != nil || res.Matched > 0 {
		w.t.Fatalf("%q matches %s outside of %v (%v)", p, name, parts, err)
	}
}

// scan reports whether a scan of the file finds a match.
func (w *world) scan(p *match.Pattern, name string, binary bool) bool {
	w.t.Helper()
	f, err := w.root.OpenFile(w.path(name))
	if err != nil {
		return false
	}
	defer f.Close()
	res, err := scan.New(p.NewMatcher()).File(f, f.Info().Size, &scan.Request{Detail: scan.Exists, Binary: binary})
	if err != nil {
		w.t.Fatal(err)
	}
	return res.Matched > 0
}

func differences(a, b []string) string {
	var out []string
	for _, s := range a {
		if !slices.Contains(b, s) {
			out = append(out, "+"+s)
		}
	}
	for _, s := range b {
		if !slices.Contains(a, s) {
			out = append(out, "-"+s)
		}
	}
	return fmt.Sprintf("%q", out[:min(len(out), 10)])
}
