package rank

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTerms(t *testing.T) {
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"mutex lock", []string{"mutex", "lock"}},
		{"getUserName", []string{"get", "user", "name"}},
		{"HTTPServer_id2", []string{"http", "server", "id2"}},
		{"lock LOCK Lock", []string{"lock"}},
		{"foo.bar(baz)", []string{"foo", "bar", "baz"}},
		{"größe", []string{"größe"}},
		{"-> ", []string{"->"}},
		{"", nil},
	} {
		if diff := cmp.Diff(c.want, Terms(c.query)); diff != "" {
			t.Errorf("Terms(%q):\n%s", c.query, diff)
		}
	}
}

func TestQuality(t *testing.T) {
	for _, c := range []struct {
		line, term string
		want       float64
	}{
		{"get_user_name()", "user", 1},
		{"getUserName()", "User", 1},
		{"HTTPServer", "Server", 1},
		{"users", "user", 0.6},
		{"superuser", "user", 0.25},
		{"user1", "user", 1},
	} {
		i := strings.Index(c.line, c.term)
		if got := quality([]byte(c.line), i, i+len(c.term)); got != c.want {
			t.Errorf("%s in %s: %v, want %v", c.term, c.line, got, c.want)
		}
	}
}

func TestDefinedName(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"func Open(dir string) error {", "Open"},
		{"func (w *Workspace) Search(ctx context.Context) {", "Search"},
		{"export default async function loadUser(id) {", "loadUser"},
		{"    def __init__(self):", "__init__"},
		{"pub(crate) struct Finder {", "Finder"},
		{"static inline int mutex_trylock(struct mutex *lock)", "mutex_trylock"},
		{"#define PM_RESUME 3", "PM_RESUME"},
		{"\tx := open(dir)", ""},
		{"\treturn mutex_lock(x);", ""},
	} {
		span, ok := definedName([]byte(c.line))
		if got := c.line[span[0]:span[1]]; ok != (c.want != "") || got != c.want {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
}

// best returns the path and first line of the best chunk.
func best(t *testing.T, query string, files map[string]string) string {
	t.Helper()
	q, err := NewQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	m := q.Pattern().NewMatcher()
	corpus := Corpus{Files: len(files)}
	scored := map[string]*File{}
	for path, text := range files {
		if f := q.File(m, path, []byte(text)); f != nil {
			scored[path] = f
			corpus.Add(f)
		}
	}
	top, name := -1.0, ""
	for path, f := range scored {
		for i := range f.Chunks {
			if s := corpus.Score(f, &f.Chunks[i]); s > top {
				top, name = s, fmt.Sprintf("%s:%d", path, f.Chunks[i].First)
			}
		}
	}
	return name
}

func TestScore(t *testing.T) {
	filler := strings.Repeat("\tx = y\n", 50)
	for _, c := range []struct {
		name, query string
		files       map[string]string
		want        string
	}{
		{"a definition before its uses", "open file", map[string]string{
			"use.go": "\topenFile(a)\n\topenFile(b)\n\topenFile(c)\n", "def.go": "func openFile(name string) {\n}\n",
		}, "def.go:1"},
		{"both words before one often", "mutex lock", map[string]string{
			"one.c": strings.Repeat("\tlock(x);\n", 20), "both.c": "\tmutex_lock(x);\n",
		}, "both.c:1"},
		{"tests come later", "parse date", map[string]string{
			"tests/date.js": "function parseDate(s) {}\n", "src/date.js": "function parseDate(s) {}\n",
		}, "src/date.js:1"},
		{"vendored code comes later", "parse date", map[string]string{
			"vendor/d.go": "func parseDate() {}\n", "d.go": "\tparseDate()\n",
		}, "d.go:1"},
		{"the right part of a file", "needle", map[string]string{
			"a.txt": filler + "needle\n" + filler,
		}, "a.txt:41"},
		{"a heading before prose", "setup", map[string]string{
			"a.md": "the setup is a setup\n", "b.md": "# Setup\n\nRun it.\n",
		}, "b.md:1"},
		{"the file's name counts", "journal", map[string]string{
			"x.go": "\tjournal()\n", "journal.go": "\tjournal()\n",
		}, "journal.go:1"},
		{"a rare word weighs more", "the zebra", map[string]string{
			"a": "the the the the\n", "b": "the zebra\n", "c": "zebra\n", "d": "the\n", "e": "the\n",
		}, "b:1"},
	} {
		if got := best(t, c.query, c.files); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
