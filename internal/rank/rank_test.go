package rank

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestNewQuery(t *testing.T) {
	for _, c := range []struct {
		query string
		terms string
		asked []string
	}{
		{"how does the router match a path", "rout match path", nil},
		{"HandlerStack", "handl stack", []string{"handlerstack"}},
		{"res.send body", "res send body", []string{"send"}},
		{"Sinatra::Base", "sinatra bas", []string{"base"}},
		{"embeds_many for data", "emb many data", []string{"embedsmany"}},
		{"lock LOCK Lock", "lock", nil},
		{"how is it", "how is it", nil}, // nothing else to look for
		{"->", "", nil},
		{"", "", nil},
	} {
		q := NewQuery(c.query)
		var got []string
		var asked []string
		if q != nil {
			for _, t := range q.terms {
				got = append(got, t.text)
			}
			asked = q.asked
		}
		if strings.Join(got, " ") != c.terms || !slices.Equal(asked, c.asked) {
			t.Errorf("%q: terms %q, asked %q; want %q, %q", c.query, got, asked, c.terms, c.asked)
		}
	}
}

// order ranks files and returns "path:line" of the best piece of each.
func order(query string, files map[string]string) []string {
	q := NewQuery(query)
	tally := q.ReadTally()
	for path, text := range files {
		if k := q.Look(context.Background(), []byte(text)); k != nil {
			tally.Add(path, k)
		}
	}
	c := q.NewCorpus(tally)
	list, _ := c.Short()
	Beside(list)
	for i := range list {
		c.Examine(context.Background(), &list[i], []byte(files[list[i].Path]))
	}
	Order(list)
	var out []string
	for _, k := range list {
		out = append(out, fmt.Sprintf("%s:%d", k.Path, k.Pieces[0].First))
	}
	return out
}

func TestOrder(t *testing.T) {
	filler := strings.Repeat("\tx = y\n", 60)
	for _, c := range []struct {
		name, query string
		files       map[string]string
		want        string
	}{
		{"a definition before its uses", "open file", map[string]string{
			"use.go": "package a\n\nfunc x() {\n\topenFile(a)\n\topenFile(b)\n\topenFile(c)\n}\n", "def.go": "package a\n\nfunc openFile(name string) {\n}\n",
		}, "def.go:3"},
		{"both words before one often", "mutex lock", map[string]string{
			"one.c": strings.Repeat("void f(void) { lock(x); }\n", 20), "both.c": "void g(void) { mutex_lock(x); }\n",
		}, "both.c:1"},
		{"tests come later", "parse date", map[string]string{
			"tests/date.js": "function parseDate(s) {}\n", "src/date.js": "function parseDate(s) {}\n",
		}, "src/date.js:1"},
		{"vendored code comes later", "parse date", map[string]string{
			"vendor/d.go": "func parseDate() {}\n", "d.go": "func parseDate() {}\n",
		}, "d.go:1"},
		{"the right part of a file", "needle", map[string]string{"a.txt": filler + "needle\n" + filler}, "a.txt:41"},
		{"a heading before prose", "setup", map[string]string{
			"a.md": "the setup is a setup\n", "b.md": "# Setup\n\nRun it.\n",
		}, "b.md:1"},
		{"the file's name counts", "journal", map[string]string{"x.go": "func a() { journal() }\n", "journal.go": "func a() { journal() }\n"}, "journal.go:1"},
		{"a rare word weighs more", "common zebra", map[string]string{
			"a.c": "common common common\n", "b.c": "common zebra\n", "c.c": "zebra\n", "d.c": "common\n", "e.c": "common\n",
		}, "b.c:1"},
		// Formerly "for" was found first and hid "format".
		{"a short word hides no longer one", "format date", map[string]string{
			"a.go": "func formatDate() {}\n", "b.go": "func date() {\n\tfor {\n\t}\n}\n",
		}, "a.go:1"},
		// Words match at the start of a part only: "art" is not in "start".
		{"not inside of words", "art", map[string]string{"a.go": "func start() { start() }\n", "b.go": "// art\n"}, "b.go:1"},
		{"def self.x is x", "find_by_sql", map[string]string{
			"a.rb": "class A\n  def self.find_by_sql(q)\n  end\nend\n", "b.rb": "class B\n  def y\n    find_by_sql(1)\n    find_by_sql(2)\n  end\nend\n",
		}, "a.rb:2"},
		{"another style of the name", "rateLimiter", map[string]string{
			"a.py": "def rate_limiter():\n    pass\n", "b.py": "def f():\n    return rate + limiter\n",
		}, "a.py:1"},
		{"short forms of words", "authentication", map[string]string{
			"auth.py": "def auth():\n    pass\n", "b.py": "x = 1\n",
		}, "auth.py:1"},
		{"a source before its header", "open file", map[string]string{
			"file.h": "/* Opens a file. */\nint open_file(const char *name)\n{\n\treturn 0;\n}\n", "file.c": "/* Opens. */\nint open_file(const char *name)\n{\n\treturn 0;\n}\n",
		}, "file.c:1"},
		{"a newer version before an older one", "parse date", map[string]string{
			"api/v9/date.js": "function parseDate(s) {}\n", "api/v8/date.js": "function parseDate(s) {}\n",
		}, "api/v9/date.js:1"},
		{"what the query begins with counts more", "jump to folders", map[string]string{
			"folders.sh": "jump folders\n", "jump.sh": "jump folders\n",
		}, "jump.sh:1"},
		{"what is less deep", "parse date", map[string]string{
			"a/b/c/date.js": "function parseDate(s) {}\n", "z/date.js": "function parseDate(s) {}\n",
		}, "z/date.js:1"},
		{"text that documents", "retry after failure", map[string]string{
			"z.py": "def run():\n    \"\"\"Retry after a failure.\"\"\"\n    x = 1\n    pass\n", "b.py": "def run():\n    x = 'retry after a failure.'\n    pass\n",
		}, "z.py:1"},
		// Formerly the package line was shown, as a definition that the query names.
		{"more than the name of a package", "binding", map[string]string{
			"form.go": "package binding\n\n// Bind is the binding of a form.\nfunc Bind() {\n}\n",
		}, "form.go:3"},
		{"more than the names of modules", "retry limits", map[string]string{
			"lib.rs": "mod retry;\nmod limits;\nmod other;\n" + strings.Repeat("\n", 50) + "// retry\nfn f() {}\n",
		}, "lib.rs:41"},
		{"what follows a licence", "date", map[string]string{
			"a.c": "#ifndef A\n/*\n * Copyright 2020 Date Ltd.\n */\n\nint date;\n",
		}, "a.c:6"},
		{"a licence that is asked for", "licence of date", map[string]string{
			"a.go": "// Copyright 2020 Date Ltd.\n// Licence: none.\n\npackage a\n",
		}, "a.go:1"},
		{"the comment after a licence", "dates", map[string]string{
			"a.go": "// Copyright 2020\n\n// Package a has dates.\npackage a\n",
		}, "a.go:3"},
		{"a rare word before a file named by a common one", "inspect the app over telnet", map[string]string{
			"app.py": "def serve():\n    app()\n    app()\n", "debug.py": "def serve():\n    app()  # telnet\n", "b.py": "app()\n", "c.py": "app()\n", "d.py": "app()\n", "e.py": "inspect()\n",
		}, "debug.py:1"},
		{"verbs of a change say little", "add a limit", map[string]string{
			"add.go": "func add() { add(); add() }\n", "limit.go": "func limit() {}\n",
		}, "limit.go:1"},
		{"the name of a test, whatever file it is in", "TestOpenLocked", map[string]string{
			"open_test.go": "func TestOpenLocked(t *testing.T) {\n}\n", "open.go": "// Open is tested by locked tests.\nfunc Open() { test(locked) }\n",
			"notes.md": "TestOpenLocked, TestOpenLocked\n",
		}, "open_test.go:1"},
		{"a definition before its prototype", "open_file", map[string]string{
			"include/api.h": "/* open_file opens a file. */\nint open_file(const char *open_file);\n", "z/io.c": "int open_file(const char *name)\n{\n\treturn 0;\n}\n",
		}, "z/io.c:1"},
		{"no include guard", "file_cache_h", map[string]string{
			"file_cache.h": "#ifndef FILE_CACHE_H\n#define FILE_CACHE_H\nstruct cache;\n\nint drop(struct cache *file);\n#endif\n", "b.c": "int file_cache_h;\n",
		}, "b.c:1"},
		{"a qualified name", "Session.close", map[string]string{
			"a.py": "class File:\n    def close(self):\n        pass\n", "b.py": "class Session:\n    def close(self):\n        pass\n",
		}, "b.py:2"},
	} {
		got := order(c.query, c.files)
		if len(got) == 0 || got[0] != c.want {
			t.Errorf("%s: %v, want %s first", c.name, got, c.want)
		}
	}
}

// TestOrderLanguages expects definitions first in the other languages too.
func TestOrderLanguages(t *testing.T) {
	for _, c := range []struct{ file, query, text string }{
		{"a.kt", "fetchUser", "class A {\n    suspend fun fetchUser(id: Int): User = get(id)\n}\n"},
		{"a.swift", "Drawable", "protocol Drawable {\n    func draw()\n}\n"},
		{"a.ex", "render_page", "defmodule Web do\n  defp render_page(x), do: x\nend\n"},
		{"a.hs", "parseDate", "parseDate :: String -> Date\nparseDate s = go s\n"},
		{"a.sh", "load_env", "load_env() {\n  true\n}\n"},
		{"A.java", "computeTotal", "class A {\n  int computeTotal(int x) {\n    return x;\n  }\n}\n"},
		{"A.cs", "ComputeTotal", "class A {\n  public int ComputeTotal(int x) => x;\n}\n"},
	} {
		use := "x = " + c.query + "(1)\ny = " + c.query + "(2)\n"
		got := order(c.query, map[string]string{c.file: c.text, "use.py": use, "zz.py": "pass\n"})
		if len(got) == 0 || !strings.HasPrefix(got[0], c.file) {
			t.Errorf("%s: %v, want %s first", c.query, got, c.file)
		}
	}
}

// TestOrderIsStable checks that the order of reading files doesn't change the result.
func TestOrderIsStable(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("d%d/f.go", i)] = "func lookUp() {}\n"
	}
	first := order("look up", files)
	for range 5 {
		if diff := cmp.Diff(first, order("look up", files)); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestNamedByOtherForms finds a name by a query word that is another form of an earlier
// word.
func TestNamedByOtherForms(t *testing.T) {
	text := []byte("func parse_cfg() {}\n")
	for _, query := range []string{"parse_cfg", "config parse_cfg", "cfg parse_config parse_cfg"} {
		q := NewQuery(query)
		k := q.Look(context.Background(), text)
		if !k.Named {
			t.Errorf("%q is not named", query)
		}
		tally := q.ReadTally()
		tally.Add("a.go", k)
		list, _ := q.NewCorpus(tally).Naming(func(int, int) bool { return true })
		if len(list) != 1 {
			t.Errorf("%q: %d files may define it, want 1", query, len(list))
		}
	}
}

func FuzzLook(f *testing.F) {
	f.Add("open file", "a.go", "func openFile() {}\n")
	f.Add("Größe", "ü.c", "int \xff größe;")
	f.Fuzz(func(t *testing.T, query, path, text string) {
		q := NewQuery(query)
		if q == nil || !utf8.ValidString(text) { // texts are decoded
			return
		}
		k := q.Look(context.Background(), []byte(text))
		if k == nil {
			return
		}
		if q.Asks() {
			p, err := q.Names()
			if err != nil {
				t.Fatal(err)
			}
			if got := q.Named(p.NewMatcher(), []byte(text)); got != k.Named {
				t.Fatalf("the text has a name: %v by counting, %v by searching", k.Named, got)
			}
		}
		tally := q.ReadTally()
		tally.Add(path, k)
		c := q.NewCorpus(tally)
		list, _ := c.Short()
		if len(list) == 0 {
			return
		}
		c.Examine(context.Background(), &list[0], []byte(text))
		lines := strings.Count(text, "\n") + 1
		for _, p := range list[0].Pieces {
			if p.First < 1 || p.Last < p.First || p.Last > lines || p.Last-p.First >= MaxPiece {
				t.Fatalf("piece %+v of %d lines", p, lines)
			}
		}
	})
}

// TestPathWeights recognizes tests, declarations and generated files by language and
// layout.
func TestPathWeights(t *testing.T) {
	for _, path := range []string{
		"src/StoreTest.java", "src/commonTest/kotlin/Store.kt", "core/StoreSpec.scala", "App.Tests/Store.cs", "t/store.t", "t/lib-store.sh", "spec/store_spec.rb",
		"store_test.go", "pkg/test_store.py", "conftest.py", "web/store.spec.ts", "serde-tests/a.rs", "Tests/StoreTests.swift",
	} {
		if w := PathWeight(path); w != testWeight {
			t.Errorf("%s counts %v, want %v, as a test", path, w, testWeight)
		}
	}
	for _, path := range []string{"lib/store.d.ts", "store.pyi", "basic.stub.php", "basic_arginfo.h", "api.pb.go", "zz_generated.deepcopy.go", "store_generated.go"} {
		if w := PathWeight(path); w > declaresWeight {
			t.Errorf("%s counts %v, want %v at most", path, w, declaresWeight)
		}
	}
	for _, path := range []string{"src/Latest.java", "src/contest.py", "t/store.go", "manifest/Store.kt", "attest.c", "src/Unit.cs", "src/generator.go"} {
		if w := PathWeight(path); w != 1 {
			t.Errorf("%s counts %v, want 1", path, w)
		}
	}
}
