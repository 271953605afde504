package index

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/symbols"
	"quarry/internal/textfile"
)

// Names survive a round trip, and similar names take half the space.
func TestNameCode(t *testing.T) {
	var samples [][]byte
	for i := range 2000 {
		samples = append(samples, []byte("REG_"+string(rune('A'+i%26))+"__STATUS_MASK"), []byte("_SHIFT"))
	}
	c := trainCode(samples)
	if len(c.symbols) < 20 {
		t.Fatalf("%d symbols: %q", len(c.symbols), c.symbols)
	}
	again, err := decodeNameCode(c.encode())
	if err != nil {
		t.Fatal(err)
	}
	raw, coded := 0, 0
	for _, s := range samples {
		raw, coded = raw+len(s), coded+len(c.append(nil, s))
	}
	if coded*2 > raw {
		t.Errorf("%d bytes are coded in %d", raw, coded)
	}
	for i := range 256 {
		samples = append(samples, []byte{byte(i)}, []byte{'x', byte(i), byte(i)})
	}
	for _, s := range append(samples, nil, []byte("größe")) {
		if got := again.appendText(nil, c.append(nil, s)); string(got) != string(s) {
			t.Fatalf("%q comes back as %q", s, got)
		}
	}
}

// decoded1252 returns a text as a scan reads it.
func decoded1252(raw string) []byte {
	doc, _ := textfile.New([]byte(raw))
	return doc.Text()
}

// definingText returns a random text in some language.
func definingText(r *rand.Rand, name string) string {
	word := func() string {
		parts := []string{"REG", "status", "Mask", "open", "dev", "größe", "x1", "SHIFT", "handler", "_", "__"}
		s := parts[r.IntN(5)]
		for range r.IntN(5) {
			s += parts[r.IntN(len(parts))]
		}
		return s
	}
	var b strings.Builder
	for range r.IntN(40) {
		switch filepath.Ext(name) {
		case ".c":
			fmt.Fprintf(&b, []string{"#define %s 1\n", "int %s(void)\n{\n}\n", "struct %s {\n\tint a, b;\n};\n"}[r.IntN(3)], word())
		case ".py":
			fmt.Fprintf(&b, "class %s:\n    def %s(self):\n        pass\n", word(), word())
		case ".md":
			fmt.Fprintf(&b, "# %s and %s.%s\r\n", word(), word(), word())
		default:
			b.WriteString(word() + "\n")
		}
	}
	if r.IntN(10) == 0 {
		b.WriteString("\xe9\n") // Windows-1252
	}
	return b.String()
}

// table returns all facts of the tables about the selected documents, in order.
func (w *world) table(snap *Snapshot) (names, kinds []string) {
	w.t.Helper()
	counted, err := snap.Counted(Ask{Hidden: true})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, v := range counted.Views {
		last := ""
		err := v.Names(NameQuery{Between: anyKey}, func(d *Defined) bool {
			if place := string(d.Key) + "\x00" + string(d.Name); place <= last && last != "" {
				w.t.Errorf("%q comes after %q", place, last)
			} else {
				last = place
			}
			d.Each(func(id int, kind symbols.Kind, container uint32) {
				in, err := v.Container(container)
				paths, err2 := v.Paths([]int{id})
				if err != nil || err2 != nil {
					w.t.Fatal(err, err2)
				}
				names = append(names, fmt.Sprintf("%s: %s %s in %q", paths[0], kind, d.Name, in))
			})
			if len(names)%8 != 0 {
				return true
			}
			found := false
			err := v.Named(d.Key, func(same *Defined) { found = found || string(same.Name) == string(d.Name) })
			if err != nil || !found {
				w.t.Errorf("%q is not found by its key, %v", d.Name, err)
			}
			return true
		})
		if err != nil {
			w.t.Fatal(err)
		}
		for id := range v.Documents() {
			if !v.Shows(id) {
				continue
			}
			paths, _ := v.Paths([]int{id})
			if _, err := v.Kinds(id, func(k symbols.Kind, n int) { kinds = append(kinds, fmt.Sprintf("%s: %d %s", paths[0], n, k)) }); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	slices.Sort(names)
	slices.Sort(kinds)
	return names, kinds
}

// The ends of runs do not affect the table, not even the order of a file's definitions of
// one name.
func TestDefinitionsInSeveralRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const jobs = 40
	table := func(seed uint64, cuts bool) []byte {
		r := rand.New(rand.NewPCG(seed, seed))
		b := &build{outcomes: make([]outcome, jobs)}
		var d defCollector
		end := func() {
			if len(d.items) > 0 {
				b.defRuns = append(b.defRuns, d.finish())
			}
		}
		for job := range jobs {
			b.outcomes[job].state = indexed
			for range r.IntN(30) {
				d.take(job, []string{"open", "Open", "close", "o_pen"}[r.IntN(4)], symbols.Kind(1+r.IntN(6)), []string{"", "file", "pipe"}[r.IntN(3)])
				if r.IntN(4) == 0 && cuts {
					end()
				}
			}
		}
		end()
		if n := len(b.defRuns); cuts && n < jobs || !cuts && n != 1 {
			t.Fatalf("%d runs", n)
		}
		var out bytes.Buffer
		w, err := newSegmentWriter(&out, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.defs(w, jobs, jobs); err != nil {
			t.Fatal(err)
		}
		return append(append(out.Bytes(), w.defs.counts...), w.defs.containerData...)
	}
	for range 20 {
		seed := r.Uint64()
		whole, cut := table(seed, false), table(seed, true)
		if len(whole) < 500 || !bytes.Equal(whole, cut) {
			t.Errorf("seed %d: %d bytes of one run, %d of many, or others", seed, len(whole), len(cut))
		}
	}
}

// TestDefinitionsOfLargeTexts tests the largest texts whose definitions are indexed. Their
// size excludes the byte order mark of UTF-8.
func TestDefinitionsOfLargeTexts(t *testing.T) {
	w := newWorld(t, 3, true)
	text := func(size int) string { return "#define same 1\n" + strings.Repeat("\n", size-15) }
	const most = symbols.MaxText - 1
	for name, content := range map[string]string{"fits.c": text(most), "marked.c": "\ufeff" + text(most), "over.c": text(most + 1), "markedover.c": "\ufeff" + text(most+1), "far.c": text(2 * most)} {
		w.write(name, content)
	}
	w.open()
	w.calm()
	snap, err := w.ix.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	counted, err := snap.Counted(Ask{Hidden: true})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, v := range counted.Views {
		for id := range v.Documents() {
			paths, err := v.Paths([]int{id})
			if err != nil {
				t.Fatal(err)
			}
			got[paths[0]] = -1
			known, err := v.Kinds(id, func(k symbols.Kind, n int) { got[paths[0]] = n })
			if err != nil || known != (got[paths[0]] > 0) {
				t.Errorf("%s: %v, %v", paths[0], known, err)
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"fits.c": 1, "marked.c": 1, "over.c": -1, "markedover.c": -1, "far.c": -1}, got); diff != "" {
		t.Error(diff)
	}
}

// The tables of definitions match the definitions in each file's text: after it was read, after merges, and
// after the index is reopened.
func TestDefinitions(t *testing.T) {
	w := newWorld(t, 3, true)
	r := rand.New(rand.NewPCG(3, 3))
	files := map[string]string{}
	write := func(n int) {
		for range n {
			name := fmt.Sprintf("d%d/f%d%s", r.IntN(4), r.IntN(60), []string{".c", ".py", ".md", ".txt"}[r.IntN(4)])
			files[name] = definingText(r, name)
			w.write(name, files[name])
		}
	}
	write(150)
	w.open()
	total := 0
	for round := range 6 {
		w.calm()
		var names, kinds []string
		for path, text := range files {
			counts := map[symbols.Kind]int{}
			for _, s := range symbols.Of(path, DefinitionText(decoded1252(text))) {
				names = append(names, fmt.Sprintf("%s: %s %s in %q", path, s.Kind, s.Name, s.Container))
				counts[s.Kind]++
			}
			for k, n := range counts {
				kinds = append(kinds, fmt.Sprintf("%s: %d %s", path, n, k))
			}
		}
		slices.Sort(names)
		slices.Sort(kinds)
		snap, err := w.ix.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		gotNames, gotKinds := w.table(snap)
		snap.Close()
		if diff := cmp.Diff(names, gotNames); diff != "" {
			t.Fatalf("round %d:\n%s", round, diff)
		}
		if diff := cmp.Diff(kinds, gotKinds); diff != "" {
			t.Fatalf("round %d:\n%s", round, diff)
		}
		total += len(names)
		v, err := w.ix.Verify(context.Background(), func(path, what string) { t.Errorf("%s: %s", path, what) }, nil)
		if err != nil || v.Files == 0 {
			t.Fatal(v, err)
		}
		switch round % 3 {
		case 0:
			write(20)
			for name := range files {
				os.Remove(filepath.Join(w.dir, name))
				delete(files, name)
				break
			}
		case 1:
			for range 5 {
				write(2)
				w.calm()
			}
			if err := w.ix.Merge(context.Background()); err != nil {
				t.Fatal(err)
			}
		case 2:
			w.reopen()
		}
	}
	if total < 5_000 {
		t.Errorf("only %d definitions were compared", total)
	}
}
