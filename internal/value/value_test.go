package value

import (
	"errors"
	"strings"
	"testing"

	"quarry/internal/splice"
)

// change makes one change, given in a short notation: "a.b = JSON", "- a.b", "a.b > name".
func change(t testing.TB, format Format, text, what string) (string, error) {
	t.Helper()
	out, err := Apply(format, []byte(text), parseChange(t, what))
	if err != nil {
		return "", err
	}
	after, err := splice.Apply([]byte(text), out)
	if err != nil {
		t.Fatal(err)
	}
	return string(after), nil
}

func parseChange(t testing.TB, what string) (e Edit) {
	t.Helper()
	at, rest, _ := strings.Cut(what, " = ")
	if path, ok := strings.CutPrefix(what, "- "); ok {
		at, e.Delete = path, true
	} else if path, name, ok := strings.Cut(what, " > "); ok {
		at, e.Rename = path, name
	} else {
		v, err := FromJSON([]byte(rest))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		e.Value = v
	}
	p, err := ParsePath(at)
	if err != nil {
		t.Fatal(err)
	}
	e.At = p
	return e
}

type changeCase struct{ name, before, what, after string }

func checkChanges(t *testing.T, format Format, cases []changeCase) {
	t.Helper()
	for _, c := range cases {
		got, err := change(t, format, c.before, c.what)
		if err != nil || got != c.after {
			t.Errorf("%s: %s\n  in %q\n got %q, %v\nwant %q", c.name, c.what, c.before, got, err, c.after)
		}
	}
}

// In each of TOML's four forms, a date remains a date if the new text is a date. A text
// remains a text, and texts that aren't dates are quoted.
func TestDates(t *testing.T) {
	const text = "d = 1979-05-27 # c\nl = [07:32:00, 1979-05-27T07:32:00Z]\ns = \"1979-05-27\"\n"
	checkChanges(t, TOML, []changeCase{
		{"date", text, `d = "2020-02-29"`, strings.Replace(text, "d = 1979-05-27", "d = 2020-02-29", 1)},
		{"with a time", text, `d = "2020-02-29 10:00:00.5"`, strings.Replace(text, "d = 1979-05-27", "d = 2020-02-29 10:00:00.5", 1)},
		{"time", text, `l[0] = "23:59:59.123"`, strings.Replace(text, "07:32:00,", "23:59:59.123,", 1)},
		{"offset", text, `l[1] = "2020-01-01T00:00:00-07:30"`, strings.Replace(text, "1979-05-27T07:32:00Z", "2020-01-01T00:00:00-07:30", 1)},
		{"no day of the calendar", text, `d = "2021-02-29"`, strings.Replace(text, "d = 1979-05-27", `d = "2021-02-29"`, 1)},
		{"no date", text, `d = "1979-05"`, strings.Replace(text, "d = 1979-05-27", `d = "1979-05"`, 1)},
		{"a time with an offset", text, `l[0] = "10:00:00Z"`, strings.Replace(text, "07:32:00,", `"10:00:00Z",`, 1)},
		{"a comma", text, `l[0] = "10:00:00,5"`, strings.Replace(text, "07:32:00,", `"10:00:00,5",`, 1)},
		{"empty", text, `d = ""`, strings.Replace(text, "d = 1979-05-27", `d = ""`, 1)},
		{"number", text, `d = 7`, strings.Replace(text, "d = 1979-05-27", `d = 7`, 1)},
		{"a text", text, `s = "2020-02-29"`, strings.Replace(text, `s = "1979-05-27"`, `s = "2020-02-29"`, 1)},
		{"a new key", "a = 1\n", `b = "2020-02-29"`, "a = 1\nb = \"2020-02-29\"\n"},
		{"dots in braces", "p = { a.b = 1, c = 2 }\n", `p.a.b = 4`, "p = { a.b = 4, c = 2 }\n"},
	})
}

func TestJSON(t *testing.T) {
	const doc = "{\n  // about it\n  \"name\": \"x\", // here\n  \"deps\": {\n    \"a\": \"1\",\n    \"b\": \"2\" /* last */\n  },\n  \"list\": [1, 2, 3],\n  \"on\": {\"x\":1,\"y\":2},\n  \"steps\": [\n    {\"name\": \"one\"},\n    {\"name\": \"two\", \"run\": \"r\"}\n  ]\n}\n"
	checkChanges(t, JSON, []changeCase{
		{"a text", doc, `name = "y"`, strings.Replace(doc, `"x"`, `"y"`, 1)},
		{"a new key", doc, `deps.c = "3"`, strings.Replace(doc, "\"2\" /* last */", "\"2\", /* last */\n    \"c\": \"3\"", 1)},
		{"a key away", doc, `- deps.a`, strings.Replace(doc, "    \"a\": \"1\",\n", "", 1)},
		{"the last key away", doc, `- deps.b`, strings.Replace(doc, ",\n    \"b\": \"2\" /* last */\n", "\n", 1)},
		{"an item", doc, `list[1] = 7`, strings.Replace(doc, "[1, 2, 3]", "[1, 7, 3]", 1)},
		{"an item more", doc, `list[+] = 4`, strings.Replace(doc, "[1, 2, 3]", "[1, 2, 3, 4]", 1)},
		{"an item away", doc, `- list[1]`, strings.Replace(doc, "[1, 2, 3]", "[1, 3]", 1)},
		{"the first item away", doc, `- list[0]`, strings.Replace(doc, "[1, 2, 3]", "[2, 3]", 1)},
		{"the last item away", doc, `- list[-1]`, strings.Replace(doc, "[1, 2, 3]", "[1, 2]", 1)},
		{"a list on its line", doc, `list = [9, 8]`, strings.Replace(doc, "[1, 2, 3]", "[9, 8]", 1)},
		{"a dense map", doc, `on.z = 3`, strings.Replace(doc, `"y":2}`, `"y":2,"z":3}`, 1)},
		{"by a field", doc, `steps[name=two].run = "q"`, strings.Replace(doc, `"r"`, `"q"`, 1)},
		{"a name", doc, `deps.a > z`, strings.Replace(doc, `"a": "1"`, `"z": "1"`, 1)},
		{"made on the way", doc, `x.y = 1`, strings.Replace(doc, "  ]\n}\n", "  ],\n  \"x\": {\n    \"y\": 1\n  }\n}\n", 1)},
		{"an empty file", "", `a.b = 1`, "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n"},
		{"the only key", `{"a": 1}`, `- a`, `{}`},
		{"the only item", "[\n  1\n]", `- [0]`, "[\n]"},
		{"a mark", mark + `{"a": 1}`, `a = 2`, mark + `{"a": 2}`},
		{"carriage returns", "{\r\n\t\"a\": 1\r\n}\r\n", `b = {"c": [1]}`, "{\r\n\t\"a\": 1,\r\n\t\"b\": {\r\n\t\t\"c\": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}\r\n"},
	})
}

func TestYAML(t *testing.T) {
	const doc = "# top\non:\n  push: # why\n    branches: [main, 'x']\nenv:\njobs:\n  build:\n    runs-on: ubuntu # os\n    steps:\n      - uses: a@v1\n      # about it\n      - name: two\n        run: |\n          one\n\n          two\n      - name: three\n        with: {k: v, \"l\": 2}\n  # the end\nversion: \"3\"\n"
	checkChanges(t, YAML, []changeCase{
		{"a text", doc, `jobs.build.runs-on = "mac"`, strings.Replace(doc, "ubuntu #", "mac #", 1)},
		{"quotes stay", doc, `version = "4"`, strings.Replace(doc, `"3"`, `"4"`, 1)},
		{"in brackets", doc, `on.push.branches[1] = "y"`, strings.Replace(doc, "'x'", "'y'", 1)},
		{"an item in brackets", doc, `on.push.branches[+] = "a, b"`, strings.Replace(doc, "'x']", "'x', 'a, b']", 1)},
		{"an item out of brackets", doc, `- on.push.branches[0]`, strings.Replace(doc, "main, ", "", 1)},
		{"a key in braces", doc, `jobs.build.steps[name=three].with.m = true`, strings.Replace(doc, `"l": 2}`, `"l": 2, m: true}`, 1)},
		{"no value yet", doc, `env.A = 1`, strings.Replace(doc, "env:\n", "env:\n  A: 1\n", 1)},
		{"a value for none", doc, `env = "x"`, strings.Replace(doc, "env:\n", "env: x\n", 1)},
		{"a block text", doc, `jobs.build.steps[1].run = "make"`, strings.Replace(doc, "|\n          one\n\n          two\n", "make\n", 1)},
		{"a step more", doc, `jobs.build.steps[+] = {"name": "four", "run": "x\ny\n"}`, strings.Replace(doc, "\"l\": 2}\n", "\"l\": 2}\n      - name: four\n        run: |\n          x\n          y\n", 1)},
		{"a step away", doc, `- jobs.build.steps[0]`, strings.Replace(doc, "      - uses: a@v1\n", "", 1)},
		{"the last step away", doc, `- jobs.build.steps[2]`, strings.Replace(doc, "      - name: three\n        with: {k: v, \"l\": 2}\n", "", 1)},
		{"a key beside the dash", doc, `- jobs.build.steps[1].name`, strings.Replace(doc, "name: two\n        run", "run", 1)},
		{"a name", doc, `jobs.build > compile`, strings.Replace(doc, "  build:", "  compile:", 1)},
		{"a list for a text", doc, `jobs.build.runs-on = ["a", "b"]`, strings.Replace(doc, "runs-on: ubuntu # os\n", "runs-on: # os\n      - a\n      - b\n", 1)},
		{"a text for a map", doc, `on.push = "x"`, strings.Replace(doc, "push: # why\n    branches: [main, 'x']\n", "push: x # why\n", 1)},
		{"the only key", "a:\n  b: 1\nc: 2\n", `- a.b`, "a: {}\nc: 2\n"},
		{"the only item", "a:\n- b\nc: 2\n", `- a[0]`, "a: []\nc: 2\n"},
		{"the only item below a comment", "a:\n  # about b\n  - b\nc: 2\n", `- a[0]`, "a: []\n  # about b\nc: 2\n"},
		{"a list below a comment", "a: # x\r\n  # y\r\n- b\r\nc: 2\r\n", `a = ["p"]`, "a: # x\r\n  # y\r\n  - p\r\nc: 2\r\n"},
		{"a folded plain text", "a: one\n  two\n\n  three\nb: 2\n", `a = "x"`, "a: x\nb: 2\n"},
		{"two documents", "kind: A\nx: 1\n---\nkind: B\nx: 2\n", `[kind=B].x = 3`, "kind: A\nx: 1\n---\nkind: B\nx: 3\n"},
		{"carriage returns", "a:\r\n  b: 1\r\n", `a.c = ["x"]`, "a:\r\n  b: 1\r\n  c:\r\n    - x\r\n"},
		{"no last line ending", "a: 1", `b = 2`, "a: 1\nb: 2"},
		{"a mark", mark + "a: 1\n", `a = 2`, mark + "a: 2\n"},
		{"comments alone", "# x\n", `a = 2`, "# x\na: 2\n"},
		{"a number as a text", "a: x\n", `a = "12"`, "a: \"12\"\n"},
		{"lists in lists", "- - a\n  - b\n- c\n", `- [0][0]`, "- - b\n- c\n"},
		{"an unused anchor", "a: &x 1\nb: 2\n", `a = 3`, "a: 3\nb: 2\n"},
		{"the key of an anchor", "a: &x 1\nb: *x\n", `a > c`, "c: &x 1\nb: *x\n"},
		{"an alias", "a: &x 1\nb: *x\n", `b = 3`, "a: &x 1\nb: 3\n"},
	})
}

func TestHeader(t *testing.T) {
	const doc = "---\ntitle: x # t\ntags:\n- a\n---\n# T\ntitle: y\n"
	checkChanges(t, Header, []changeCase{
		{"a text", doc, `title = "z"`, strings.Replace(doc, "x #", "z #", 1)},
		{"a tag", doc, `tags[+] = "b"`, strings.Replace(doc, "- a\n", "- a\n- b\n", 1)},
		{"a new key", doc, `d = 1`, strings.Replace(doc, "- a\n", "- a\nd: 1\n", 1)},
		{"no front matter", "# T\n", `d = 1`, "---\nd: 1\n---\n# T\n"},
		{"away", doc, `- tags`, strings.Replace(doc, "tags:\n- a\n", "", 1)},
	})
}

func TestTOML(t *testing.T) {
	const doc = "# top\nname = \"x\" # n\nd.e = 1\nd.f = 2\n\n[deps]\na = \"1\"\nb = { version = '2', features = [\"x\"] } # b\nlist = [\n  \"p\", # first\n  \"q\",\n]\n\n# about it\n[[bin]]\nname = \"one\"\n\n[[bin]]\nname = \"two\"\n[bin.sub]\nx = 1\n\n[tool.y]\nz = 1\n"
	checkChanges(t, TOML, []changeCase{
		{"a text", doc, `name = "y"`, strings.Replace(doc, `"x" # n`, `"y" # n`, 1)},
		{"quotes stay", doc, `deps.b.version = "3"`, strings.Replace(doc, `'2'`, `'3'`, 1)},
		{"a key in braces", doc, `deps.b.optional = true`, strings.Replace(doc, `["x"] }`, `["x"], optional = true }`, 1)},
		{"a key out of braces", doc, `- deps.b.version`, strings.Replace(doc, `version = '2', `, "", 1)},
		{"the last key out of braces", doc, `- deps.b.features`, strings.Replace(doc, `, features = ["x"]`, "", 1)},
		{"an item more", doc, `deps.list[+] = "r"`, strings.Replace(doc, "  \"q\",\n", "  \"q\",\n  \"r\",\n", 1)},
		{"an item away", doc, `- deps.list[0]`, strings.Replace(doc, "  \"p\", # first\n", "", 1)},
		{"a new key", doc, `deps.c = 1`, strings.Replace(doc, "  \"q\",\n]\n", "  \"q\",\n]\nc = 1\n", 1)},
		{"a new map beside maps in braces", doc, `deps.c = {"version": "1"}`, strings.Replace(doc, "  \"q\",\n]\n", "  \"q\",\n]\nc = { version = \"1\" }\n", 1)},
		{"dotted keys", doc, `d.g = 3`, strings.Replace(doc, "d.f = 2\n", "d.f = 2\nd.g = 3\n", 1)},
		{"a dotted key away", doc, `- d`, strings.Replace(doc, "d.e = 1\nd.f = 2\n", "", 1)},
		{"at the top", doc, `z = 3`, strings.Replace(doc, "d.f = 2\n", "d.f = 2\nz = 3\n", 1)},
		{"at the top without pairs", "# c\n\n# about a\n[a]\n", `z = 3`, "# c\n\nz = 3\n\n# about a\n[a]\n"},
		{"a new table", doc, `new.t.k = 1`, doc + "\n[new.t]\nk = 1\n"},
		{"in a list of tables", doc, `bin[name=two].sub.x = 2`, strings.Replace(doc, "x = 1\n", "x = 2\n", 1)},
		{"a table more in a list", doc, `bin[+] = {"name": "three"}`, strings.Replace(doc, "[bin.sub]\nx = 1\n", "[bin.sub]\nx = 1\n\n[[bin]]\nname = \"three\"\n", 1)},
		{"a table out of a list", doc, `- bin[1]`, strings.Replace(doc, "\n[[bin]]\nname = \"two\"\n[bin.sub]\nx = 1\n", "", 1)},
		{"a table away", doc, `- tool`, strings.Replace(doc, "\n[tool.y]\nz = 1\n", "", 1)},
		{"a name in all headings", doc, `bin > prog`, strings.NewReplacer("[[bin]]", "[[prog]]", "[bin.sub]", "[prog.sub]").Replace(doc)},
		{"a name of dotted keys", doc, `d > q`, strings.NewReplacer("d.e", "q.e", "d.f", "q.f").Replace(doc)},
		{"a key that needs quotes", doc, `deps."x.y" = 1`, strings.Replace(doc, "  \"q\",\n]\n", "  \"q\",\n]\n\"x.y\" = 1\n", 1)},
		{"a whole table", doc, `tool.y = {"a": 1, "b": [2]}`, strings.Replace(doc, "z = 1\n", "a = 1\nb = [2]\n", 1)},
	})
}

func TestINI(t *testing.T) {
	const doc = "root = true\n\n; c\n[*.go]\nindent=tab\n# d\n[a \"b\"]\n\turl = x\n\tfetch = y\n"
	checkChanges(t, INI, []changeCase{
		{"at the top", doc, `root = false`, strings.Replace(doc, "true", "false", 1)},
		{"in a section", doc, `["*.go"].indent = 4`, strings.Replace(doc, "=tab", "=4", 1)},
		{"a new key", doc, `'a "b"'.z = "q"`, strings.Replace(doc, "fetch = y\n", "fetch = y\n\tz = q\n", 1)},
		{"a key away", doc, `- 'a "b"'.url`, strings.Replace(doc, "\turl = x\n", "", 1)},
		{"a section away", doc, `- ["*.go"]`, strings.Replace(doc, "[*.go]\nindent=tab\n", "", 1)},
		{"a new section", doc, `s.k = "v"`, doc + "\n[s]\nk = v\n"},
		{"a name", doc, `root > top`, strings.Replace(doc, "root", "top", 1)},
		{"several lines", "[a]\nx = 1\n  2\ny = 3\n", `a.x = 9`, "[a]\nx = 9\ny = 3\n"},
	})
}

// Changes that would touch more than the value are refused with a reason.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		format     Format
		text, what string
		want       Reason
	}{
		{YAML, "a: &x 1\nb: *x\n", `a = 2`, Anchored},
		{YAML, "a: &x\n  k: 1\nb: *x\n", `a.k = 2`, Anchored},
		{YAML, "a: &x\n  k: 1\nb: *x\n", `b.k = 2`, Anchored},
		{YAML, "o:\n  a: &x 1\nb: *x\n", `- o`, Anchored},
		{YAML, "a: 1\na: 2\n", `a = 3`, Twice},
		{YAML, "? a\n: 1\n", `a = 2`, Cramped},
		{YAML, "a: !!omap\n- b: 1\n", `a[0].b = 2`, Cramped},
		{YAML, "a: 1\rb: 2\r", `a = 2`, Cramped},
		{YAML, "? a\n: 1\n", `- a`, Cramped},
		{YAML, "{a:, b: 1}\n", `a = 2`, Cramped},
		{YAML, "x: {a:}\n", `x.a = 2`, Cramped},
		{YAML, "x: [a:, b]\n", `x[0].a = 2`, Cramped},
		{YAML, "- a: 1 # c\n  # d\n  b: 2\n", `- [0].a`, Cramped},
		{YAML, "a: 1\n---\nb: 2\n", `c = 2`, Shape},
		{YAML, "a: 1\n", `a.b = 2`, Shape},
		{JSON, `{"a": 1, "a": 2}`, `a = 3`, Twice},
		{JSON, `{"a": 1, "b": 2}`, `a > b`, Twice},
		{TOML, "a = 1\n", `a = null`, Unwritable},
		{TOML, "a = 1\n", `b = [null]`, Unwritable},
		{TOML, "[[a]]\n[[a]]\n", `a[+] = 1`, Unwritable},
		{INI, "a = 1\n", `a = "x\ny"`, Unwritable},
		{INI, "a = 1 ; c\n", `a = 2`, Cramped},
		{INI, "a = 1\n", `a = [1]`, Unwritable},
		{INI, "a = 1 \\\n2\nb = 3\n", `a = 4`, Cramped},
		{INI, "a = 1 \\\nb = 3\n", `b = 4`, Cramped},
		{INI, "a = 1 \\\nb = 3\n", `- a`, Cramped},
		{INI, "a = 1 \\\n", `c = 4`, Cramped},
		{Header, "+++\na = 1\n+++\n", `a = 4`, Cramped},
	} {
		got, err := change(t, c.format, c.text, c.what)
		r, _ := errors.AsType[*Refused](err)
		if r == nil || r.Reason != c.want {
			t.Errorf("%s of %q: %q, %v; want a refusal for %s", c.what, c.text, got, err, c.want)
		}
	}
}

// A format that isn't supported is not mistaken for a supported one.
func TestNotRead(t *testing.T) {
	for _, name := range []string{"a.json5", "a.properties", "a.xml", "a.plist", "a.hcl", "a.json5.txt"} {
		if f := FormatOf(name); f != None {
			t.Errorf("%s is read as %s", name, f)
		}
	}
	d, err := Parse(Header, []byte("+++\na = 1\n+++\ntext\n"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParsePath("a")
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Find(p)
	if e, ok := errors.AsType[*MissingError](err); !ok || e.Hint() != tomlHeader {
		t.Errorf("%v", err)
	}
}

func TestParsePath(t *testing.T) {
	for _, s := range []string{".", "a", "a.b", "a[2].b", "a[-1]", "a[name=x].b", `a."b.c".d`, `"a b"`, "a[+]", "[0].a", "a.@types/node", "a[k=\"]\"]"} {
		p, err := ParsePath(s)
		if err != nil {
			t.Errorf("%s: %v", s, err)
			continue
		}
		again, err := ParsePath(p.String())
		if err != nil || again.String() != p.String() {
			t.Errorf("%s is %s, then %s, %v", s, p, again, err)
		}
	}
	for _, s := range []string{"a..b", ".a", "a.", "a[", "a[x]", "a[1", `a."b`, "a[1]b", `"a"b`, "a[=x]", "a[1]."} {
		if p, err := ParsePath(s); err == nil {
			t.Errorf("%s is %s", s, p)
		}
	}
}

// Paths of several changes refer to the original text.
func TestApplySeveral(t *testing.T) {
	text := "a:\n  - x\n  - y\n  - z\nb: 1\n"
	var edits []Edit
	for _, what := range []string{"- a[0]", `a[1] = "Z"`, "- a[2]", "b > c", "b = 2", `d.e = 1`, `d.f = 2`} {
		edits = append(edits, parseChange(t, what))
	}
	out, err := Apply(YAML, []byte(text), edits...)
	if err != nil {
		t.Fatal(err)
	}
	after, err := splice.Apply([]byte(text), out)
	if want := "a:\n  - Z\nc: 2\nd:\n  e: 1\n  f: 2\n"; err != nil || string(after) != want {
		t.Errorf("%q, %v; want %q", after, err, want)
	}
	if _, err := Apply(YAML, []byte(text), parseChange(t, "- a[0]"), parseChange(t, "a[0] = 1")); err == nil {
		t.Error("an item that is deleted is set")
	}
}
