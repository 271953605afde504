package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/internal/stress"
	"quarry/match"
)

// The table must agree with the plain lists it replaces.
func TestBlockTable(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		w := &docWriter{}
		docs := r.IntN(40)
		var owner []uint32 // of each block
		var starts [][]byte
		for id := range docs {
			var mine []byte
			if r.IntN(4) == 0 {
				for k := range r.IntN(5) {
					mine = binary.LittleEndian.AppendUint64(mine, uint64(10*k+1+r.IntN(9)))
				}
			}
			starts = append(starts, mine)
			for range len(mine)/8 + 1 {
				owner = append(owner, uint32(id))
			}
			w.add(fmt.Appendf(nil, "%04d", id), Stamp{Size: 100}, 0, mine, 0)
		}
		d := &docTable{docs, w.paths, w.restarts, w.stamps, w.flags, w.parts}
		table, err := openBlocks(append(w.blocks.entries, w.blocks.starts...), w.blocks.n, docs)
		if err == nil {
			err = table.check(d)
		}
		if err != nil || table.n != len(owner) {
			t.Fatalf("%d blocks, want %d: %v", table.n, len(owner), err)
		}
		var some, want []uint32
		for b, id := range owner {
			if r.IntN(3) > 0 {
				some, want = append(some, uint32(b)), append(want, id)
			}
		}
		if got := table.documents(nil, some); !slices.Equal(got, slices.Compact(want)) {
			t.Fatalf("documents(%v) = %v, want %v", some, got, want)
		}
		for id := range docs {
			first := slices.Index(owner, uint32(id))
			if table.first(id) != first || !bytes.Equal(table.startsOf(id), starts[id]) {
				t.Fatalf("document %d: first block %d, want %d; starts %x, want %x", id, table.first(id), first, table.startsOf(id), starts[id])
			}
			checkParts(t, &table, id, first, starts[id], some)
		}
		if table.first(docs) != len(owner) {
			t.Fatalf("first(%d) = %d, want %d", docs, table.first(docs), len(owner))
		}
	}
}

func checkParts(t *testing.T, table *blockTable, id, first int, starts []byte, some []uint32) {
	t.Helper()
	edges := []int64{0}
	for ; len(starts) > 0; starts = starts[8:] {
		edges = append(edges, int64(binary.LittleEndian.Uint64(starts)))
	}
	edges = append(edges, 100)
	var want []Part
	taken := 0
	for k := range len(edges) - 1 {
		if !slices.Contains(some, uint32(first+k)) {
			continue
		}
		taken++
		if n := len(want); n > 0 && want[n-1].Off+want[n-1].Len == edges[k] {
			want[n-1].Len += edges[k+1] - edges[k]
			continue
		}
		want = append(want, Part{edges[k], edges[k+1] - edges[k]})
	}
	if taken == len(edges)-1 {
		want = nil
	}
	if got := table.parts(id, 100, some); !slices.Equal(got, want) {
		t.Fatalf("parts of %d = %v, want %v", id, got, want)
	}
}

// Tables that a writer can't make are refused.
func TestBadBlockTables(t *testing.T) {
	d := &docWriter{}
	for i := range 4 {
		d.add(fmt.Appendf(nil, "%d", i), Stamp{Size: 100}, 0, nil, 0)
	}
	docs := &docTable{4, d.paths, d.restarts, d.stamps, d.flags, d.parts}
	entry := func(doc, before uint32) []byte {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, doc), before)
	}
	start := func(at uint64) []byte { return binary.LittleEndian.AppendUint64(nil, at) }
	for _, c := range []struct {
		name   string
		blocks int
		data   [][]byte
		ok     bool
	}{
		{"none", 4, nil, true},
		{"one", 6, [][]byte{entry(1, 0), start(10), start(20)}, true},
		{"two", 6, [][]byte{entry(1, 0), entry(3, 1), start(10), start(20)}, true},
		{"fewer blocks than documents", 3, nil, false},
		{"starts that nobody has", 5, [][]byte{start(10)}, false},
		{"an entry without starts", 4, [][]byte{entry(1, 0)}, false},
		{"a document that isn't there", 5, [][]byte{entry(4, 0), start(10)}, false},
		{"documents out of order", 6, [][]byte{entry(2, 0), entry(1, 1), start(10), start(20)}, false},
		{"a document twice", 6, [][]byte{entry(2, 0), entry(2, 1), start(10), start(20)}, false},
		{"the first doesn't begin at the first", 6, [][]byte{entry(2, 1), start(10), start(20)}, false},
		{"nothing for the second", 5, [][]byte{entry(1, 0), entry(2, 1), start(10)}, false},
		{"more before than there are", 6, [][]byte{entry(1, 0), entry(2, math.MaxUint32), start(10), start(20)}, false},
		{"starts out of order", 6, [][]byte{entry(1, 0), start(20), start(10)}, false},
		{"an empty block", 6, [][]byte{entry(1, 0), start(20), start(20)}, false},
		{"a block at 0", 5, [][]byte{entry(1, 0), start(0)}, false},
		{"a block at the end", 5, [][]byte{entry(1, 0), start(100)}, false},
		{"a block far outside", 5, [][]byte{entry(1, 0), start(math.MaxUint64)}, false},
		{"half an entry", 5, [][]byte{entry(1, 0), start(10), {1, 2, 3}}, false},
		{"too many blocks", maxDocs + 1, nil, false},
	} {
		data := bytes.Join(c.data, nil)
		table, err := openBlocks(data, c.blocks, 4)
		if err == nil {
			err = table.check(docs)
		}
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// parts returns the parts of one file.
func (w *world) parts(expr, name string, byLine bool) (parts []Part, candidate bool) {
	w.t.Helper()
	snap, err := w.ix.Snapshot()
	if err != nil {
		w.t.Fatal(err)
	}
	defer snap.Close()
	c, err := snap.Candidates(Ask{Need: match.MustCompile(expr, match.Options{}).Need(), ByLine: byLine})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := c.Each(func(d *Doc) bool {
		if d.Path() == name {
			parts, candidate = d.Parts, true
		}
		return true
	}); err != nil {
		w.t.Fatal(err)
	}
	return parts, candidate
}

// mark puts a unique word on the first and last line of every block.
func (w *world) mark(name string) map[string]int64 {
	w.t.Helper()
	full := filepath.Join(w.dir, name)
	data, err := os.ReadFile(full)
	if err != nil {
		w.t.Fatal(err)
	}
	h, id := w.ix.find(name)
	if h == nil {
		w.t.Fatalf("%s is not in the index", name)
	}
	edges := []int64{0}
	for s := h.seg.blocks.startsOf(id); len(s) > 0; s = s[8:] {
		edges = append(edges, int64(binary.LittleEndian.Uint64(s)))
	}
	edges = append(edges, int64(len(data)))
	words := map[string]int64{}
	put := func(at int64) {
		word := fmt.Sprintf("Qq%c%c%cqQ", 'a'+len(words)/26, 'a'+len(words)%26, 'a'+len(words)%7)
		if int(at)+len(word) <= len(data) && !bytes.ContainsAny(data[at:int(at)+len(word)], "\r\n") {
			copy(data[at:], word)
			words[word] = at
		}
	}
	for k := range len(edges) - 1 {
		if edges[k] > 0 || !bytes.HasPrefix(data, []byte("\xEF\xBB\xBF")) {
			put(edges[k])
		} else {
			put(3)
		}
		if end := int64(len(bytes.TrimRight(data[:edges[k+1]], "\r\n"))); end >= edges[k]+14 {
			put(end - 7)
		}
	}
	w.write(name, string(data))
	w.refresh()
	return words
}

// Files of several blocks in all shapes: words at the edges of blocks are found,
// each in the one block that has it.
func TestBlockEdges(t *testing.T) {
	stress.SkipTiny(t)
	line := "some text of no interest at all, just enough to fill\n"
	lines := strings.Repeat(line, 8*blockTarget/len(line))
	wide := strings.Repeat("wide ", blockTarget)
	files := map[string]string{
		"plain":      lines,
		"bom":        "\xEF\xBB\xBF" + lines,
		"crlf":       strings.ReplaceAll(lines, "\n", "\r\n"),
		"noend":      strings.TrimSuffix(lines, "\n"),
		"latin1":     strings.ReplaceAll(lines, "no interest", "no int\xE9r\xEAt"),
		"brokenedge": strings.ReplaceAll(lines, "fill\n", "f \xE2\x82\n"),
		"widelines":  lines + wide + "\n" + lines + wide + "\n" + lines,
		"widefirst":  wide + "\n" + lines,
		"widelast":   lines + wide,
		"empty":      lines + strings.Repeat("\n", 3*blockTarget) + lines,
	}
	w := built(t, files)
	for name := range files {
		words := w.mark(name)
		if len(words) < 6 {
			t.Errorf("%s: only %d words placed: the test shows little", name, len(words))
		}
		for word, at := range words {
			parts, ok := w.parts(word, name, true)
			if !ok || len(parts) != 1 || at < parts[0].Off || at+7 > parts[0].Off+parts[0].Len {
				t.Errorf("%s: %q at %d is not in the parts %v (candidate: %v)", name, word, at, parts, ok)
			}
			if parts, ok := w.parts(word, name, false); !ok || parts != nil {
				t.Errorf("%s: %q anywhere in the file: %v, %v; want the whole file", name, word, parts, ok)
			}
		}
		w.compareParts(match.MustCompile("wide|Qq", match.Options{}), name, nilParts(w, name))
	}
}

// nilParts returns all of a file, block by block.
func nilParts(w *world, name string) []Part {
	h, id := w.ix.find(name)
	first, end := h.seg.blocks.first(id), h.seg.blocks.first(id+1)
	var out []Part
	for b := first; b < end; b++ {
		out = append(out, h.seg.blocks.parts(id, h.seg.docs.stamp(id).Size, []uint32{uint32(b)})...)
	}
	return out
}

// Files with one block: small files, one line of any length, UTF-16.
func TestFilesOfOneBlock(t *testing.T) {
	w := built(t, map[string]string{
		"small":   strings.Repeat("line\n", (splitFrom-1)/5),
		"oneline": strings.Repeat("x y ", 4*blockTarget),
		"utf16":   utf16Text(strings.Repeat("line\n", blockTarget), binary.LittleEndian, "\xFF\xFE"),
		"binary":  "\x00" + strings.Repeat("line\n", blockTarget),
		"void":    "",
		"several": strings.Repeat("line\n", blockTarget),
	})
	for name, want := range map[string]bool{"small": true, "oneline": true, "utf16": true, "binary": true, "void": true, "several": false} {
		h, id := w.ix.find(name)
		if n := h.seg.blocks.first(id+1) - h.seg.blocks.first(id); (n == 1) != want {
			t.Errorf("%s has %d blocks", name, n)
		}
	}
}

// Two words in different blocks are together in the file, not in a line.
func TestNeedsAcrossBlocks(t *testing.T) {
	filler := strings.Repeat("filler\n", blockTarget)
	w := built(t, map[string]string{"a": "needle\n" + filler + "haystack\n", "b": filler + "needle haystack\n"})
	if got := w.candidates("needle.*haystack", Ask{ByLine: true}); !slices.Equal(got, []string{"b"}) {
		t.Errorf("in a line: %q, want b", got)
	}
	if got := w.candidates("needle.*haystack", Ask{}); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("anywhere: %q, want a and b", got)
	}
}

// A text has a bounded number of blocks.
func TestBlockLength(t *testing.T) {
	for _, size := range []int64{splitFrom, 1 << 20, 1 << 30, 1 << 40, 1 << 60} {
		n := blockLength(size)
		if count := (size + n - 1) / n; count < 2 && size > splitFrom || count > maxBlocks || n < blockTarget/2 {
			t.Errorf("%d bytes: %d blocks of %d", size, count, n)
		}
	}
}
