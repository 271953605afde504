package notefields

import (
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/index"
	"quarry/internal/vault"
)

// Facts from the index equal facts from the text.
func TestKnownEqualsOf(t *testing.T) {
	for path, text := range map[string]string{
		"a.md":         "---\ntags: [x, y/z]\naliases: other\ndue: 2024-01-02\nlist: [1, true, a b]\n---\n# Title\n\n[[b]] [[b#c|d]] ![[b.png]] [e](b/c%20d.md) [f](b/c%20e.md#x) [g](https://h) [[#own]] #tag\n\n## Second\n",
		"tasks.md":     "- [ ] a 📅 2024-01-02\n- [x] b [completion:: 2024-02-03]\n- [-] c\nkey:: 1\n[key:: two] (Other:: 3)\n",
		"empty.md":     "",
		"merged.md":    "---\nbase: &b\n  x: 1\n  y: [2, 3]\n<<: *b\nempty: []\n---\n",
		"twice.md":     "---\na: 1\na: 2\n---\n",
		"broken.md":    "---\na: [\n---\n[[x]]\n",
		"Board.canvas": `{"nodes":[{"id":"1","type":"file","file":"a.md"},{"id":"2","type":"text","text":"[[b]]"}]}`,
	} {
		var out index.Fields
		extract(path, []byte(text), &out)
		of, known := Of(path, []byte(text)), new(Facts).Know(path, out.Values())
		for name, of := range map[string][2]any{
			"headings": {of.Headings(t.Context()), known.Headings(t.Context())}, "tags": {of.Tags(t.Context()), known.Tags(t.Context())}, "names": {of.PropertyNames(t.Context()), known.PropertyNames(t.Context())},
			"properties": {of.Properties(t.Context()), known.Properties(t.Context())}, "inline": {of.Inline(t.Context()), known.Inline(t.Context())}, "tasks": {tasksOf(t, of), tasksOf(t, known)}, "links": {linksOf(t, of), linksOf(t, known)},
		} {
			if isNote(path) || name == "links" {
				if diff := cmp.Diff(of[0], of[1], cmpopts.IgnoreUnexported(vault.Link{}), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s, %s:\n%s", path, name, diff)
				}
			}
		}
	}
}

func tasksOf(t *testing.T, f *Facts) (out []vault.Task) {
	f.EachTask(t.Context(), func(task *vault.Task) bool {
		out = append(out, vault.Task{Open: task.Open, Done: task.Done, Dates: task.Dates}) // an index stores only these
		return true
	})
	return out
}

func linksOf(t *testing.T, f *Facts) (out []vault.Link) {
	f.EachLink(t.Context(), func(_ int, l *vault.Link) bool {
		out = append(out, *l)
		return true
	})
	return out
}

// Forged links that each share the whole previous path must not exhaust memory.
func TestForgedLinks(t *testing.T) {
	data := binary.AppendUvarint([]byte{0, 0}, 1<<20)
	data = append(data, strings.Repeat("p", 1<<20)+"\x00"...)
	for range 100 {
		data = append(binary.AppendUvarint(append(data, 0), 1<<20), 0, 0)
	}
	n, text := 0, 0
	readLinks(data, func(_ int, l *vault.Link) bool {
		n, text = n+1, text+len(l.Path)
		return true
	})
	if n == 0 || text > maxLinkText {
		t.Errorf("%d links of %d bytes are read, want some, of %d at most", n, text, maxLinkText)
	}
}

// TestMeasureSizes prints the size of each value, relative to the text of the notes in
// QUARRY_NOTES_CORPUS.
func TestMeasureSizes(t *testing.T) {
	dir := os.Getenv("QUARRY_NOTES_CORPUS")
	if dir == "" {
		t.Skip("set QUARRY_NOTES_CORPUS to a folder of notes to measure what an index keeps of them")
	}
	var sizes [values]int
	total, largest := 0, 0
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(p) != ".md" {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		var out index.Fields
		extract(p, text, &out)
		total += len(text)
		known := index.Values(out.Values())
		largest = max(largest, len(known))
		for i := range sizes {
			sizes[i] += len(known.Next())
		}
		return nil
	})
	if err != nil || total == 0 {
		t.Fatal("no notes:", err)
	}
	t.Logf("%-10s %d bytes", "largest", largest)
	for i, name := range []string{"links", "words", "headings", "tags", "names", "values"} {
		t.Logf("%-10s %.2f %%", name, 100*float64(sizes[i])/float64(total))
	}
}
