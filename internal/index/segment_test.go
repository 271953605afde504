package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
	"quarry/internal/trigram"
)

func TestDocumentTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		set := map[string]bool{}
		for range r.IntN(200) {
			var parts []string
			for range 1 + r.IntN(4) {
				parts = append(parts, []string{"a", "b", "src", "src.d", "src-x", "long_name_of_a_folder", "ünï", "src0"}[r.IntN(8)])
			}
			set[strings.Join(parts, "/")] = true
		}
		var paths []string
		for p := range set {
			paths = append(paths, p)
		}
		slices.Sort(paths)
		w := &docWriter{}
		for i, p := range paths {
			w.add([]byte(p), Stamp{Ino: uint64(i), Size: -1, MTime: int64(i) << 40, CTime: 7}, Flags(i%8), nil, uint32(i))
		}
		d := &docTable{len(paths), w.paths, w.restarts, w.stamps, w.flags, w.parts}
		if err := d.check(); err != nil {
			t.Fatal(err)
		}
		rd := pathReader{t: d}
		for range 50 {
			if len(paths) == 0 {
				break
			}
			id := r.IntN(len(paths))
			rd.seek(id)
			if got := string(rd.next()); got != paths[id] {
				t.Fatalf("path %d is %q, want %q", id, got, paths[id])
			}
			if d.find([]byte(paths[id])) != id || d.stamp(id).Ino != uint64(id) {
				t.Fatalf("find(%q) = %d, want %d", paths[id], d.find([]byte(paths[id])), id)
			}
		}
		for _, dir := range []string{"", "a", "src", "src/src", "nowhere", "zz"} {
			lo, hi := d.folder(dir)
			var want []string
			for _, p := range paths {
				if dir == "" || strings.HasPrefix(p, dir+"/") {
					want = append(want, p)
				}
			}
			if !slices.Equal(paths[lo:hi], want) {
				t.Fatalf("folder(%q) = %q, want %q", dir, paths[lo:hi], want)
			}
		}
		if d.find([]byte("src/nothing")) >= 0 {
			t.Fatal("found what isn't there")
		}
	}
}

// The gram table agrees with a map.
func TestGramTable(t *testing.T) {
	stress.SkipShort(t)
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, groupLen, groupLen + 1, 1000, 300000} {
		set := map[trigram.Gram]gramEntry{}
		for len(set) < n {
			g := trigram.Gram(r.IntN(trigram.Grams))
			set[g] = gramEntry{gram: g, n: 1 + r.IntN(3)}
		}
		var w gramWriter
		lists := uint64(0)
		keys := slices.Sorted(maps.Keys(set))
		for _, g := range keys {
			e := set[g]
			value := uint64(r.IntN(100))
			if e.where = value; e.n > 1 {
				e.where, e.size = lists, int(value)
				lists += value
			}
			set[g] = e
			w.add(g, e.n, value)
		}
		table := gramTable{n: n, heads: w.heads, entries: w.entries}
		if err := table.check(100, int(lists)); err != nil {
			t.Fatal(err)
		}
		for _, g := range keys {
			if got := table.find(g); got != set[g] {
				t.Fatalf("%d grams: find(%d) = %+v, want %+v", n, g, got, set[g])
			}
		}
		c, i := table.from(0), 0
		for ; c.next(); i++ {
			if c.gramEntry != set[keys[i]] {
				t.Fatalf("%d grams: the %dth is %+v", n, i, c.gramEntry)
			}
		}
		if i != n {
			t.Fatalf("read %d of %d grams", i, n)
		}
		for range 1000 {
			g := trigram.Gram(r.IntN(trigram.Grams))
			if _, ok := set[g]; !ok && table.find(g).n > 0 {
				t.Fatalf("%d grams: found %d", n, g)
			}
		}
		if n > 1 && (table.check(100, int(lists)-1) == nil || (&gramTable{n: n, heads: w.heads, entries: w.entries[:len(w.entries)-1]}).check(100, int(lists)) == nil) {
			t.Errorf("%d grams: damage was not seen", n)
		}
	}
}

// goRoot returns the folder of the Go sources.
func goRoot(t *testing.T) string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command, install Go: ", err)
	}
	return strings.TrimSpace(string(out))
}

// In the Go sources, as one segment and as many that are merged, every gram has the same
// documents.
func TestMergedEqualsBuilt(t *testing.T) {
	stress.SkipQuick(t)
	src := filepath.Join(goRoot(t), "src", "cmd")
	if _, err := os.Stat(src); err != nil {
		t.Skip("no Go sources: ", err)
	}
	root, err := rootfs.Open(src, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var content [2]string
	for i, budget := range []int64{runBudget, 1 << 20} {
		ix, err := Open(root, openState(t, memoryDir(t)), &Options{budget: budget, racy: time.Nanosecond})
		if err != nil {
			t.Fatal(err)
		}
		defer ix.Close()
		if err := ix.Sweep(context.Background(), rootfs.Path{}); err != nil {
			t.Fatal(err)
		}
		if err := ix.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			if len(ix.segs) < 2 {
				t.Fatalf("%d segments, want several", len(ix.segs))
			}
			if err := ix.join(context.Background(), ix.segs); err != nil {
				t.Fatal(err)
			}
		}
		if len(ix.segs) != 1 {
			t.Fatalf("%d segments, want 1", len(ix.segs))
		}
		content[i] = dump(t, ix.segs[0].seg)
		st := ix.Status()
		t.Logf("%d files, %d KB of text, %d KB on disk: %.1f %%", st.Documents, st.Text>>10, st.Bytes>>10, 100*float64(st.Bytes)/float64(st.Text))
		foot, _, err := parseFooter(ix.segs[0].seg.mapping.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []struct {
			name        string
			first, last int
			most        float64 // bound, in % of the text of these small files
		}{
			{"grams and paths", secPostings, secSums, 10.5}, // 10.3 measured
			{"terms", secTerms, secParts, 4.8},              // 4.6 measured
			{"definitions", secDefs, secDefCountRestarts, 2.6},
			{"fields", secFields, secFieldTermSums, 0.01}, // there is no extractor
		} {
			size := uint64(0)
			for _, s := range foot.table[part.first : part.last+1] {
				size += s.size
			}
			took := 100 * float64(size) / float64(st.Text)
			t.Logf("%-15s %.2f %%", part.name, took)
			if took > part.most {
				t.Errorf("%s take %.2f %% of the text, want at most %.2f", part.name, took, part.most)
			}
		}
	}
	if content[0] != content[1] {
		t.Error("merging made another index than building")
	}
}

// dump returns the content of a segment: paths and stamps, and a sum of the lists.
func dump(t *testing.T, s *segment) string {
	var b bytes.Buffer
	sum := crc32.New(castagnoli())
	r := pathReader{t: &s.docs}
	for id := range s.docs.n {
		r.seek(id)
		fmt.Fprintf(&b, "%s %v %d %x\n", r.next(), s.docs.stamp(id), s.docs.flag(id), s.blocks.startsOf(id))
	}
	for c := s.grams.from(0); c.next(); {
		g := c.gram
		ids, err := s.listOf(&c.gramEntry).Append(nil, 0, uint32(s.blocks.n))
		if err != nil {
			t.Fatal(err)
		}
		binary.Write(sum, binary.LittleEndian, uint32(g))
		binary.Write(sum, binary.LittleEndian, ids)
	}
	fmt.Fprintf(&b, "%x\n", sum.Sum32())
	return b.String()
}

// Files that other indexers omit: over 64 KB or 1 MB, with many grams, with long lines, added
// after the build.
func TestNoFileIsTooMuch(t *testing.T) {
	stress.SkipShort(t)
	r := rand.New(rand.NewPCG(8, 8))
	var noise strings.Builder
	for noise.Len() < 3<<20 {
		fmt.Fprintf(&noise, "%x %c%c%c\n", r.Uint64(), r.IntN(0x3000), r.IntN(0x3000), r.IntN(0x3000))
	}
	text := strings.ReplaceAll(noise.String(), "\x00", "")
	w := built(t, map[string]string{
		"plain":    "nothing\n",
		"over64k":  strings.Repeat("filler\n", 10000) + "the_needle\n",
		"over1M":   strings.Repeat("filler\n", 200000) + "the_needle\n",
		"many":     text + "the_needle\n",
		"longline": strings.Repeat("filler ", 300000) + "the_needle" + strings.Repeat(" filler", 300000),
	})
	w.write("later", "the_needle\n")
	w.refresh()
	if got, want := w.candidates("the_needle", Ask{}), []string{"later", "longline", "many", "over1M", "over64k"}; !slices.Equal(got, want) {
		t.Errorf("candidates = %q, want %q", got, want)
	}
}

// A file that changes while it is read, or right after, stays dirty.
func TestChangesDuringAFlush(t *testing.T) {
	w := newWorld(t, 3, false)
	w.write("a", "alpha\n")
	w.write("b", "beta\n")
	ix, err := Open(w.root, w.state, &Options{Source: w, Workers: 1, Progress: func(int, int64) {
		w.write("a", "gamma\n")
		w.ix.MarkDirty(w.path("a"))
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.ix = ix
	w.pending = Changes{}
	if err := ix.Sweep(context.Background(), rootfs.Path{}); err != nil {
		t.Fatal(err)
	}
	if err := ix.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	snap, err := ix.Fresh(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if d, ok := snap.Lookup("a"); !ok || !d.Dirty {
		t.Errorf("a = %+v, %v; want it dirty", d, ok)
	}
	if d, ok := snap.Lookup("b"); !ok || d.Dirty {
		t.Errorf("b = %+v, %v; want it clean", d, ok)
	}
	if got := w.candidates("gamma", Ask{}); !slices.Equal(got, []string{"a"}) {
		t.Errorf("candidates = %q, want a once", got)
	}
}

// A file that changed right before it was read may change again within a tick of the clock,
// so the next sweep reads it again; an older one is trusted.
func TestRacyFilesAreReadAgain(t *testing.T) {
	for _, c := range []struct {
		window time.Duration
		dirty  int
	}{{time.Hour, 1}, {time.Nanosecond, 0}} {
		w := newWorld(t, 1, true)
		w.write("a", "alpha\n")
		ix, err := Open(w.root, w.state, &Options{racy: c.window})
		if err != nil {
			t.Fatal(err)
		}
		w.ix = ix
		w.refresh()
		if err := ix.Sweep(context.Background(), rootfs.Path{}); err != nil {
			t.Fatal(err)
		}
		if got := ix.Status().Dirty; got != c.dirty {
			t.Errorf("window %v: %d dirty after a second sweep, want %d", c.window, got, c.dirty)
		}
	}
}

// Searches, changes, flushes and merges at once, for the race detector.
func TestConcurrentUse(t *testing.T) {
	stress.SkipTiny(t)
	w := built(t, map[string]string{"a": "alpha\n", "b/c": "beta\n"})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 3)
	go func() { done <- w.ix.Maintain(ctx) }()
	go func() {
		for ctx.Err() == nil {
			w.ix.MarkDirty(w.path("a"))
			w.ix.MarkTree(w.path("b"))
			if err := w.ix.Flush(ctx); err != nil {
				break
			}
			w.ix.Merge(ctx)
		}
		done <- nil
	}()
	go func() {
		for ctx.Err() == nil {
			snap, err := w.ix.Snapshot()
			if err != nil {
				done <- err
				return
			}
			snap.Lookup("a")
			snap.Close()
		}
		done <- nil
	}()
	for range 60 {
		w.check()
	}
	cancel()
	for range 3 {
		if err := <-done; err != nil && err != context.Canceled {
			t.Error(err)
		}
	}
}

// Names with the special characters of globs are judged literally.
func TestOddNames(t *testing.T) {
	stress.NeedsUnix(t, "names with * and ?")
	w := newWorld(t, 1, false)
	w.write("plain", "x")
	w.open()
	w.check()
	for _, dir := range []string{"brack[et]", "st*r", "q?", "{a,b}", "!not", "#hash", " lead", "trail ", "back\\slash", "ünï"} {
		w.write(dir+"/"+dir, "needle\n")
		if err := os.MkdirAll(filepath.Join(w.dir, dir, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		w.pending = Changes{} // only the file, as if the folder had been there
		w.tellFile(dir + "/" + dir)
		w.check()
		w.write(dir+"/sub/"+dir, "needle\n")
		w.pending = Changes{}
		w.tellTree(dir + "/sub")
		w.check()
	}
	var n int
	filepath.WalkDir(w.dir, func(_ string, d fs.DirEntry, _ error) error {
		if !d.IsDir() {
			n++
		}
		return nil
	})
	if st := w.ix.Status(); st.Documents != n {
		t.Errorf("%d files known, want %d", st.Documents, n)
	}
}
