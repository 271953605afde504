package index

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/crew"
	"quarry/internal/rootfs"
	"quarry/internal/terms"
	"quarry/internal/textfile"
)

// wordFields extracts two values of a text, its first line and its length, and counts its
// words. Files with an odd name have no fields.
var wordFields = &Extractor{
	Version: 3,
	Has:     func(path string) bool { return len(path)%2 == 0 },
	Extract: func(path string, text []byte, out *Fields) {
		line, _, _ := bytes.Cut(text, []byte("\n"))
		out.Add(append([]byte(path+":"), line...))
		out.Add([]byte{byte(len(text)), byte(len(text) >> 8)})
		counts := map[terms.Key]int{}
		for _, word := range bytes.Fields(text) {
			counts[terms.KeyOf(word)]++
		}
		for k, n := range counts {
			out.Count(k, n)
		}
	},
}

// compareFields compares the fields of all files in the index with the fields of their texts.
func (w *world) compareFields(snap *Snapshot, ask Ask) {
	w.t.Helper()
	counted, err := snap.Counted(ask)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, v := range counted.Views {
		want, had := map[int]map[terms.Key]int{}, map[int]map[terms.Key]int{}
		keys := map[terms.Key]bool{}
		var ids []int
		var values []string
		err := v.Each(func(id int, path []byte, flags Flags) bool {
			if !v.Shows(id) || !v.Known(id) {
				return true
			}
			ids = append(ids, id)
			if flags&Binary != 0 || !wordFields.Has(string(path)) {
				values = append(values, "")
				return true
			}
			w.fields++
			raw, err := os.ReadFile(filepath.Join(w.dir, string(path)))
			if err != nil {
				w.t.Fatal(err)
			}
			doc, err := textfile.New(raw)
			if err != nil {
				w.t.Fatal(err)
			}
			var f Fields
			wordFields.Extract(string(path), doc.Text(), &f)
			values = append(values, string(f.values))
			want[id] = map[terms.Key]int{}
			f.each(func(k terms.Key, n int) { want[id][k] = n; keys[k] = true })
			return true
		})
		if err != nil {
			w.t.Fatal(err)
		}
		err = v.Fields(ids, AllValues, func(id int, got Values) bool {
			if string(got) != values[0] {
				w.t.Fatalf("document %d has the fields %q, the index says %q", id, values[0], got)
			}
			values = values[1:]
			return true
		})
		if err != nil {
			w.t.Fatal(err)
		}
		for k := range keys {
			list, counts, err := v.Counted(k, nil, nil)
			if err != nil {
				w.t.Fatal(err)
			}
			for i, id := range list {
				if had[int(id)] == nil {
					had[int(id)] = map[terms.Key]int{}
				}
				had[int(id)][k] = int(counts[i])
			}
		}
		for id := range want {
			if !maps.Equal(want[id], had[id]) && len(want[id])+len(had[id]) > 0 {
				w.t.Fatalf("document %d has the keys %v, the index says %v", id, want[id], had[id])
			}
		}
	}
}

// A document whose values are too large is unknown, and its index is valid.
func TestUnlisted(t *testing.T) {
	w := newWorld(t, 5, true)
	w.write("small1", strings.Repeat("x", maxValues/2)+"\n")
	w.write("large2", strings.Repeat("x", maxValues+1)+"\n")
	w.write("small3", "word\n")
	w.open()
	w.calm()
	snap, err := w.ix.Fresh(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	w.compareFields(snap, Ask{Hidden: true})
	if w.fields != 2 {
		t.Errorf("%d documents have fields, want 2", w.fields)
	}
	report, err := w.ix.Verify(context.Background(), func(path, what string) { t.Errorf("%s: %s", path, what) }, nil)
	if err != nil || report.Files == 0 {
		t.Errorf("verify: %v, %v", report, err)
	}
}

// An index made with another extractor is rebuilt; an index made without one has no fields.
func TestExtractorVersion(t *testing.T) {
	w := newWorld(t, 5, true)
	for _, name := range []string{"aa", "bb", "cc"} {
		w.write(name, "some text")
	}
	w.open()
	w.calm()
	if w.ix.Status().Segments == 0 {
		t.Fatal("nothing was indexed")
	}
	w.ix.Close()
	newer := *wordFields
	newer.Version++
	for _, c := range []struct {
		fields *Extractor
		want   bool
	}{{wordFields, true}, {&newer, false}, {nil, false}} {
		ix, err := Open(w.root, w.state, &Options{ReadOnly: true, Fields: c.fields})
		if err != nil {
			t.Fatal(err)
		}
		if n := ix.Status().Segments; (n > 0) != c.want {
			t.Errorf("version %d: %d segments are used, want some: %v", c.fields.version(), n, c.want)
		}
		ix.Close()
	}
	w.open()
}

// A file on which the extractor panics fails the build but not the program: unread files stay pending, and
// searches read them directly.
func TestExtractorPanics(t *testing.T) {
	w := newWorld(t, 5, true)
	for _, name := range []string{"aa", "bb", "cc"} {
		w.write(name, "some text")
	}
	bad := *wordFields
	bad.Extract = func(path string, text []byte, out *Fields) {
		if path == "bb" {
			panic("planted")
		}
		wordFields.Extract(path, text, out)
	}
	ix, err := Open(w.root, w.state, &Options{Fields: &bad})
	if err != nil {
		t.Fatal(err)
	}
	if err := ix.Sweep(t.Context(), rootfs.Path{}); err != nil {
		t.Fatal(err)
	}
	var p *crew.Panic
	if err := ix.Flush(t.Context()); !errors.As(err, &p) || p.Value != "planted" {
		t.Errorf("flush: %v", err)
	}
	if s := ix.Status(); s.Dirty != 3 || s.Segments != 0 {
		t.Errorf("%d files are dirty and there are %d segments, want 3 and 0", s.Dirty, s.Segments)
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	w.open()
	w.calm()
	if s := w.ix.Status(); s.Segments == 0 || s.Dirty != 0 {
		t.Errorf("after it was mended: %+v", s)
	}
}
