package searcher

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/internal/index"
	"quarry/internal/owner"
	"quarry/internal/rootfs"
	"quarry/internal/scan"
	"quarry/match"
	"quarry/search"
)

// The parts listed by the index are used only if the file is still the indexed one.
func TestPartsOfAnotherFile(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("nothing\n", 10000) + "needle\n"
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d := openFolder(t, dir)
	pattern := match.MustCompile("needle", match.Options{})
	r := &searchRun{folder: d, q: &search.Query{Pattern: "needle"}, pattern: pattern, matching: pattern.NewSearch()}
	p, err := d.Root.Known("f")
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Root.OpenFile(p)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	now := stampFor(f)
	stamp := func(change func(s *index.Stamp)) index.Stamp {
		s := now
		change(&s)
		return s
	}
	first, last := index.Part{Off: 0, Len: 800}, index.Part{Off: 79200, Len: int64(len(text)) - 79200}
	for _, c := range []struct {
		name  string
		stamp index.Stamp
		parts []index.Part
		told  bool // the parts are enough, whether the lines or their number is needed
		count bool // the parts are enough for the number of lines
	}{
		{"a part without a match", now, []index.Part{first}, true, true},
		{"a part with one", now, []index.Part{first, last}, false, true},
		{"another file", stamp(func(s *index.Stamp) { s.Ino++ }), []index.Part{first}, false, false},
		{"another size", stamp(func(s *index.Stamp) { s.Size-- }), []index.Part{first}, false, false},
		{"written since", stamp(func(s *index.Stamp) { s.MTime-- }), []index.Part{first}, false, false},
		{"changed since", stamp(func(s *index.Stamp) { s.CTime-- }), []index.Part{first}, false, false},
		{"a part beyond the end", now, []index.Part{{Off: int64(len(text)) - 3, Len: 10}}, false, false},
	} {
		for _, detail := range []scan.Detail{scan.Lines, scan.Count, scan.Exists} {
			r.request.Detail = detail
			want := c.told
			if detail != scan.Lines {
				want = c.count
			}
			res, ok := r.byParts(&worker{}, f, &candidate{path: "f", parts: c.parts, stamp: c.stamp})
			if ok != want {
				t.Errorf("%s: parts tell %v of detail %v, want %v", c.name, ok, detail, want)
			}
			if hits := len(c.parts) - 1; ok && res.Matched != hits {
				t.Errorf("%s: %d lines match, want %d", c.name, res.Matched, hits)
			}
		}
	}
	r.request.Detail = scan.Lines
	file, _ := r.candidate(&worker{}, &candidate{path: "f", parts: []index.Part{first}, stamp: stamp(func(s *index.Stamp) { s.CTime-- })})
	if file == nil || file.res.Matched != 1 {
		t.Errorf("a file that changed: %+v, want its match", file)
	}
}

func stampFor(f *rootfs.File) index.Stamp {
	info := f.Info()
	return index.Stamp{Ino: info.Ino, Size: info.Size, MTime: info.ModTime.UnixNano(), CTime: info.ChangeTime.UnixNano()}
}

func openFolder(t *testing.T, dir string) *Folder {
	t.Helper()
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return &Folder{Root: root, Workers: 2, Logger: slog.New(slog.DiscardHandler), Index: (*owner.Member)(nil).FilteredBy(nil)}
}
