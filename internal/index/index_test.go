package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
	"quarry/match"
)

// A tree changes at random, and its index is flushed, merged and reopened at random. At every moment the
// candidates contain all matches of a scan, and the files equal a walk's.
func TestIndexFollowsTheTree(t *testing.T) {
	for _, silent := range []bool{false, true} {
		run := stress.Start(t, fmt.Sprintf("index follows the tree, silent=%v", silent), 4, 400)
		ignored := 0
		for seed := range run.Cases() {
			t.Run(fmt.Sprintf("silent=%v/%d", silent, seed), func(t *testing.T) {
				w := newWorld(t, seed, silent)
				for range 30 {
					w.change()
				}
				w.open()
				ctx := context.Background()
				for range 60 {
					for range w.r.IntN(4) {
						w.change()
					}
					w.check()
					switch w.r.IntN(8) {
					case 0, 1, 2:
						if err := w.ix.Flush(ctx); err != nil {
							t.Fatal(err)
						}
						w.check()
					case 3:
						if err := w.ix.Merge(ctx); err != nil {
							t.Fatal(err)
						}
						w.check()
					case 4:
						w.reopen()
					}
				}
				ignored += w.ignoredAsks
			})
		}
		if ignored == 0 && stress.Thorough() {
			t.Error("no question was about ignored files: the test shows nothing of them")
		}
	}
}

func built(t *testing.T, files map[string]string) *world {
	t.Helper()
	w := newWorld(t, 1, true)
	for name, text := range files {
		w.write(name, text)
	}
	w.open()
	w.refresh()
	return w
}

// refresh updates the index: no file is dirty after it.
func (w *world) refresh() {
	w.t.Helper()
	if err := w.ix.Sweep(context.Background(), rootfs.Path{}); err != nil {
		w.t.Fatal(err)
	}
	if err := w.ix.Flush(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	if st := w.ix.Status(); st.Dirty != 0 {
		w.t.Fatalf("%d files are dirty after a flush", st.Dirty)
	}
}

// calm flushes until no file is suspected of a change.
func (w *world) calm() {
	w.t.Helper()
	for {
		if err := w.ix.Sweep(context.Background(), rootfs.Path{}); err != nil {
			w.t.Fatal(err)
		}
		if w.ix.Status().Dirty == 0 {
			return
		}
		if err := w.ix.Flush(context.Background()); err != nil {
			w.t.Fatal(err)
		}
	}
}

// candidates returns the candidates of the current state, without a sweep.
func (w *world) candidates(expr string, a Ask) []string {
	w.t.Helper()
	snap, err := w.ix.Snapshot()
	if err != nil {
		w.t.Fatal(err)
	}
	defer snap.Close()
	a.Need = match.MustCompile(expr, match.Options{}).Need()
	c, err := snap.Candidates(a)
	if err != nil {
		w.t.Fatal(err)
	}
	var got []string
	if err := c.Each(func(d *Doc) bool { got = append(got, d.Path()); return true }); err != nil {
		w.t.Fatal(err)
	}
	return got
}

// A large text is always a candidate in multiline mode, and one with a wide line also with
// lines of context: a scan may give up on them and must report that.
func TestLargeAndWideTexts(t *testing.T) {
	stress.SkipShort(t)
	short := strings.Repeat("nothing to see here\n", largeText/20+1)
	line := strings.Repeat("x", WideLine)
	w := built(t, map[string]string{
		"large": short, "wide": short + line + "x\n", "wide at its end": short + line + "x",
		"not quite": short + line + "\n", "small": line + "xx\n", "needle": "needle\n",
		"utf16": utf16Text(short+line+"x\n", binary.LittleEndian, "\xFF\xFE"),
	})
	for _, c := range []struct {
		also Flags
		want []string
	}{
		{0, []string{"needle"}},
		{Wide, []string{"needle", "utf16", "wide", "wide at its end"}},
		{Large, []string{"large", "needle", "not quite", "utf16", "wide", "wide at its end"}},
	} {
		if got := w.candidates("needle", Ask{Also: c.also}); !slices.Equal(got, c.want) {
			t.Errorf("candidates with flags %b: %q, want %q", c.also, got, c.want)
		}
	}
}

func TestCandidates(t *testing.T) {
	filler := strings.Repeat("nothing to see here\n", 20)
	w := built(t, map[string]string{
		"a/one.go": "func needle() {}\n" + filler, "a/two.go": "func haystack() {}\n" + filler, "b.go": "NEEDLE\n" + filler,
		".dot": "needle\n" + filler, "bin": "needle\x00" + filler, "utf16": utf16Text("x needle\n", binary.LittleEndian, "\xFF\xFE"),
		"long": "needle" + strings.Repeat("y", longLine+10), "other1": filler, "other2": filler, "other3": filler,
	})
	for _, c := range []struct {
		name, expr string
		ask        Ask
		want       []string
	}{
		{"a rare word, in any case and encoding", "(?i)needle", Ask{}, []string{"a/one.go", "b.go", "long", "utf16"}},
		{"with its case", "needle", Ask{}, []string{"a/one.go", "long", "utf16"}},
		{"with its case, capitals", "NEEDLE", Ask{}, []string{"b.go", "long"}},
		{"absent: only what grams can't speak for", "not_there", Ask{}, []string{"long"}},
		{"hidden when asked for", "needle", Ask{Hidden: true}, []string{".dot", "a/one.go", "long", "utf16"}},
		{"binary when asked for", "not_there", Ask{Also: Binary}, []string{"bin", "long"}},
		{"below a folder", "func", Ask{Under: w.path("a")}, []string{"a/one.go", "a/two.go"}},
		{"below a folder, one", "haystack", Ask{Under: w.path("a")}, []string{"a/two.go"}},
		{"both words", "func.*needle", Ask{}, []string{"a/one.go", "long"}},
		{"one of two words", "needle|haystack", Ask{Under: w.path("a")}, []string{"a/one.go", "a/two.go"}},
	} {
		if got := w.candidates(c.expr, c.ask); !slices.Equal(got, c.want) {
			t.Errorf("%s: candidates of %q = %q, want %q", c.name, c.expr, got, c.want)
		}
	}
}

// A changed file is a candidate for every query until it is flushed.
func TestDirtyFilesAreCandidates(t *testing.T) {
	filler := strings.Repeat("nothing to see here\n", 20)
	w := built(t, map[string]string{"a": "alpha\n" + filler, "b": "beta\n" + filler, "c": filler, "d": filler})
	w.calm() // a file that was just written is suspected to change again
	w.write("b", "gamma\n"+filler)
	w.write("new", "gamma\n"+filler)
	os.Remove(filepath.Join(w.dir, "c"))
	if err := w.ix.Sweep(context.Background(), rootfs.Path{}); err != nil {
		t.Fatal(err)
	}
	if got := w.candidates("zzz_not_there", Ask{}); !slices.Equal(got, []string{"b", "new"}) {
		t.Errorf("dirty candidates = %q", got)
	}
	w.refresh()
	if got := w.candidates("gamma", Ask{}); !slices.Equal(got, []string{"b", "new"}) {
		t.Errorf("candidates after the flush = %q, want b and new", got)
	}
	if got := w.candidates("beta", Ask{}); got != nil {
		t.Errorf("the old text of b is still found: %q", got)
	}
}

// The time of change reveals a rewrite that keeps size and modification time.
func TestSweepSeesARewriteThatKeepsSizeAndTime(t *testing.T) {
	w := built(t, map[string]string{"a": "alpha\n"})
	info, err := os.Stat(filepath.Join(w.dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	w.write("a", "gamma\n")
	os.Chtimes(filepath.Join(w.dir, "a"), info.ModTime(), info.ModTime())
	snap, err := w.ix.Fresh(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if d, ok := snap.Lookup("a"); !ok || !d.Dirty {
		t.Errorf("Lookup(a) = %+v, %v; want it dirty", d, ok)
	}
}

func TestSnapshotOutlivesChanges(t *testing.T) {
	w := built(t, map[string]string{"a": "alpha needle\n", "b": "beta needle\n"})
	snap, err := w.ix.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	for i := range 12 { // enough for merges
		w.write(fmt.Sprintf("n%d", i), "needle\n")
		os.Remove(filepath.Join(w.dir, "a"))
		w.refresh()
	}
	if err := w.ix.Merge(context.Background()); err != nil {
		t.Fatal(err)
	}
	if st := w.ix.Status(); st.Segments > 2*tierSize || st.Documents != 13 {
		t.Errorf("after merging: %+v", st)
	}
	if err := w.ix.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := snap.Candidates(Ask{Need: match.MustCompile("needle", match.Options{}).Need()})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := c.Each(func(d *Doc) bool { got = append(got, d.Path()); return true }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the old snapshot has %q, want a and b", got)
	}
	if _, err := w.ix.Fresh(context.Background()); !errors.Is(err, rootfs.ErrClosed) {
		t.Errorf("Fresh of a closed index: %v", err)
	}
}

func TestOneWriter(t *testing.T) {
	w := built(t, map[string]string{"a": "alpha\n"})
	if _, err := Open(w.root, w.state, nil); !errors.Is(err, ErrOwned) {
		t.Errorf("a second Open: %v, want ErrOwned", err)
	}
	reader, err := Open(w.root, w.state, &Options{ReadOnly: true, Fields: wordFields})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	w.write("b", "beta\n")
	snap, err := reader.Fresh(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if d, ok := snap.Lookup("b"); !ok || !d.Dirty {
		t.Errorf("a reader knows %+v, %v of a new file", d, ok)
	}
	if err := reader.Flush(context.Background()); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Flush of a reader: %v", err)
	}
}

// Verify finds no fault in a valid index; it finds a missing gram or term, a wrong flag, and
// a file unknown to the index.
func TestVerify(t *testing.T) {
	stress.SkipTiny(t)
	w := manyFiles(t)
	w.calm()
	none := func(path, what string) { t.Errorf("%s: %s", path, what) }
	v, err := w.ix.Verify(context.Background(), none, nil)
	if err != nil || v.Files != len(w.listed(true, false)) || v.Changed != 0 {
		t.Fatalf("Verify: %+v, %v", v, err)
	}
	// Break it in memory, since damage on disk would be noticed.
	w.write("zz.c", "int needle_one_two(void);\n")
	w.calm()
	h := w.ix.segs[len(w.ix.segs)-1]
	id := h.seg.docs.find([]byte("zz.c"))
	if id < 0 {
		t.Fatal("zz.c is not in the last segment")
	}
	h.seg.grams = gramTable{}
	h.seg.terms = termTable{}
	h.seg.defs.n = 0
	h.seg.fields, h.seg.fieldTerms = fieldTable{}, termTable{}
	h.seg.docs.flags = append([]byte(nil), h.seg.docs.flags...)
	h.seg.docs.flags[2*id] ^= byte(Large)
	w.ix.forgetSnapshot()
	faults := map[string]int{}
	if _, err := w.ix.Verify(context.Background(), func(path, _ string) { faults[path]++ }, nil); err != nil {
		t.Fatal(err)
	}
	if faults["zz.c"] != 6 {
		t.Errorf("faults of zz.c: %d, want its flags, its grams, its terms, its definitions, its fields and their keys", faults["zz.c"])
	}
}

// An unreadable folder is reported, and found again when it becomes readable.
func TestUnreadableFolder(t *testing.T) {
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("permissions don't stop this user: run it as another than root")
	}
	w := newWorld(t, 1, false)
	w.write("a", "needle\n")
	w.write("shut/b", "needle\n")
	dir := filepath.Join(w.dir, "shut")
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	w.open()
	w.pending = Changes{}
	for _, c := range []struct {
		mode    os.FileMode
		skipped int
		files   []string
	}{{0, 1, []string{"a"}}, {0o755, 0, []string{"a", "shut/b"}}, {0, 1, []string{"a"}}} {
		if err := os.Chmod(dir, c.mode); err != nil {
			t.Fatal(err)
		}
		if c.skipped > 0 {
			w.tellTree("shut")
		}
		snap, err := w.ix.Fresh(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if got := len(snap.Skipped()); got != c.skipped {
			t.Errorf("mode %o: %d skipped, want %d", c.mode, got, c.skipped)
		}
		if got := w.candidates("needle", Ask{}); !slices.Equal(got, c.files) {
			t.Errorf("mode %o: candidates %q, want %q", c.mode, got, c.files)
		}
		snap.Close()
	}
}

// A dirty file that a rule shows, and later doesn't, must be hidden at once, like its old
// document.
func TestRulesChangeWhileAFileIsDirty(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(".note", "text\n")
	root, err := rootfs.Open(dir, &rootfs.Options{AllowAny: true})
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ctx := context.Background()
	ix, err := Open(root, openState(t, memoryDir(t)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	shown := func() (shown bool) {
		t.Helper()
		snap, err := ix.Fresh(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer snap.Close()
		d, ok := snap.Lookup(".note")
		if !ok {
			t.Fatal("the file is not in the index")
		}
		return d.Flags&Hidden == 0
	}
	if shown() {
		t.Error("shown without a rule")
	}
	if err := ix.Flush(ctx); err != nil { // its document says hidden
		t.Fatal(err)
	}
	write(".gitignore", "!.note\n")
	if !shown() {
		t.Error("hidden, though a rule shows it")
	}
	write(".gitignore", "\n")
	if shown() {
		t.Error("still shown after the rule went")
	}
}
