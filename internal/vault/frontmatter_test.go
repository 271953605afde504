package vault

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"quarry/fault"
)

func TestFindFrontMatter(t *testing.T) {
	for _, c := range []struct {
		name, text, yaml, body string
		found                  bool
	}{
		{"plain", "---\na: 1\n---\nbody", "a: 1\n", "body", true},
		{"dots close", "---\na: 1\n...\nbody", "a: 1\n", "body", true},
		{"crlf and blanks", "---  \r\na: 1\r\n---\t\r\nbody", "a: 1\r\n", "body", true},
		{"byte order mark", "\ufeff---\na: 1\n---\n", "a: 1\n", "", true},
		{"empty", "---\n---\nbody", "", "body", true},
		{"closes at the end", "---\na: 1\n---", "a: 1\n", "", true},
		{"not first", "\n---\na: 1\n---\n", "", "\n---\na: 1\n---\n", false},
		{"unclosed", "---\na: 1\n", "", "---\na: 1\n", false},
		{"rule", "----\na\n---\n", "", "----\na\n---\n", false},
		{"alone", "---", "", "---", false},
		{"nothing", "", "", "", false},
	} {
		fm := FindFrontMatter([]byte(c.text))
		if fm.Found != c.found || string(fm.YAML.In([]byte(c.text))) != c.yaml || c.text[fm.Body:] != c.body {
			t.Errorf("%s: %+v", c.name, fm)
		}
	}
}

func TestSetProperty(t *testing.T) {
	for _, c := range []struct {
		name, text, key string
		value           any
		want            string
	}{
		{"number", "---\na: 1\nb: 2\n---\nx", "a", 7, "---\na: 7\nb: 2\n---\nx"},
		{"comment stays", "---\na:   1   # why\nb: 2\n---\n", "a", "new", "---\na:   new   # why\nb: 2\n---\n"},
		{"quoted", "---\na: \"x # y\" # c\n---\n", "a", 1, "---\na: 1 # c\n---\n"},
		{"string that looks like a number", "---\na: x\n---\n", "a", "12", "---\na: \"12\"\n---\n"},
		{"string with a colon", "---\na: x\n---\n", "a", "b: c", "---\na: 'b: c'\n---\n"},
		{"wikilink", "---\na: x\n---\n", "a", "[[n]]", "---\na: '[[n]]'\n---\n"},
		{"flow list to flow place", "---\na: [x, \"]\"] # c\nb: 1\n---\n", "a", "z", "---\na: z # c\nb: 1\n---\n"},
		{"scalar to list", "---\na: x\nb: 1\n---\n", "a", []string{"p", "q"}, "---\na:\n  - p\n  - q\nb: 1\n---\n"},
		{"list to list", "---\na:\n- x\n- y\n\n# about b\nb: 1\n---\n", "a", []string{"p"}, "---\na:\n  - p\n\n# about b\nb: 1\n---\n"},
		{"block text", "---\na: |\n  one\n\n  two\nb: 1\n---\n", "a", "z", "---\na: z\nb: 1\n---\n"},
		{"empty value", "---\na:\nb: 1\n---\n", "a", "z", "---\na: z\nb: 1\n---\n"},
		{"empty value with comment", "---\na: # c\nb: 1\n---\n", "a", "z", "---\na: z # c\nb: 1\n---\n"},
		{"date", "---\na: x # c\n---\n", "a", "2024-02-03", "---\na: 2024-02-03 # c\n---\n"},
		{"time", "---\na: x\n---\n", "a", []any{"2024-02-03T10:00:00"}, "---\na:\n  - 2024-02-03T10:00:00\n---\n"},
		{"true", "---\na: x\n---\n", "a", true, "---\na: true\n---\n"},
		{"null", "---\na: x\n---\n", "a", nil, "---\na: null\n---\n"},
		{"mapping", "---\na: {x: 1}\nb: 2\n---\n", "a", map[string]any{"z": 2}, "---\na:\n  z: 2\nb: 2\n---\n"},
		{"quoted key", "---\n\"a b\": 1\nb: 2\n---\n", "a b", 3, "---\n\"a b\": 3\nb: 2\n---\n"},
		{"unicode before", "---\né: 1\nü: ö\n---\n", "ü", "ä", "---\né: 1\nü: ä\n---\n"},
		{"crlf", "---\r\na: 1\r\nb: 2\r\n---\r\nx", "a", []string{"p"}, "---\r\na:\r\n  - p\r\nb: 2\r\n---\r\nx"},
		{"add", "---\na: 1\n---\nx", "b", "m", "---\na: 1\nb: m\n---\nx"},
		{"add, crlf", "---\r\na: 1\r\n---\r\n", "b", 2, "---\r\na: 1\r\nb: 2\r\n---\r\n"},
		{"add to empty", "---\n---\nx", "b", 2, "---\nb: 2\n---\nx"},
		{"add to a comment", "---\n# c\n---\nx", "b", 2, "---\n# c\nb: 2\n---\nx"},
		{"new block", "x", "b", 2, "---\nb: 2\n---\nx"},
		{"new block after a mark", "\ufeffx\r\n", "b", 2, "\ufeff---\r\nb: 2\r\n---\r\nx\r\n"},
		{"name in other case", "---\nState: 1\n---\n", "state", 2, "---\nState: 2\n---\n"},
		{"both cases", "---\nState: 1\nstate: 1\n---\n", "state", 2, "---\nState: 1\nstate: 2\n---\n"},
		{"nested key of the same name", "---\no:\n  a: 1\na: 2\n---\n", "a", 3, "---\no:\n  a: 1\na: 3\n---\n"},
	} {
		splices, err := SetProperty([]byte(c.text), c.key, c.value)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := ApplySplices([]byte(c.text), splices)
		if err != nil || string(got) != c.want {
			t.Errorf("%s\n got %q, %v\nwant %q", c.name, got, err, c.want)
		}
	}
}

func TestRemoveProperty(t *testing.T) {
	for _, c := range []struct{ name, text, key, want string }{
		{"first", "---\na: 1 # c\nb: 2\n---\nx", "a", "---\nb: 2\n---\nx"},
		{"last", "---\na: 1\nb: 2\n---\nx", "b", "---\na: 1\n---\nx"},
		{"list", "---\na:\n  - x\n  - y\n# about b\nb: 2\n---\n", "a", "---\n# about b\nb: 2\n---\n"},
		{"crlf", "---\r\na: 1\r\nb: 2\r\n---\r\n", "a", "---\r\nb: 2\r\n---\r\n"},
		{"missing", "---\na: 1\n---\n", "b", "---\na: 1\n---\n"},
		{"no front matter", "x", "b", "x"},
		{"other case", "---\na: 1\nB: 2\n---\n", "b", "---\na: 1\n---\n"},
	} {
		splices, err := RemoveProperty([]byte(c.text), c.key)
		got, err2 := ApplySplices([]byte(c.text), splices)
		if err != nil || err2 != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v, %v, want %q", c.name, got, err, err2, c.want)
		}
	}
}

func TestPropertyRefusals(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       error
	}{
		{"list", "---\n- x\n---\n", ErrNotMapping},
		{"flow mapping", "---\n{a: 1, b: 2}\n---\n", ErrNotMapping},
		{"twice", "---\na: 1\na: 2\n---\n", ErrUnsafeSplice},
		{"an anchor others use", "---\na: &x 1\nb: *x\n---\n", ErrUnsafeSplice},
		{"explicit key", "---\n? a\n: 1\n---\n", ErrUnsafeSplice},
		{"broken", "---\na: [\n---\n", nil},
	} {
		_, err := SetProperty([]byte(c.text), "a", 9)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := SetProperty([]byte("x"), "a", func() {}); err == nil {
		t.Error("no error for a function")
	}
	if _, err := SetProperty([]byte("x"), " ", 1); err == nil {
		t.Error("no error for an empty key")
	}
}

func TestReadProperties(t *testing.T) {
	text := []byte("---\nAliases: [One, Two words]\ntags: a, '#b/c' d\nn: 3\n---\n#body")
	m, err := ReadHead(ctx, text).Properties()
	if err != nil || m["n"] != 3 || len(m) != 3 {
		t.Errorf("%v, %v", m, err)
	}
	odd, err := ReadHead(ctx, []byte("---\na: {1: x, b: [{2: y}]}\nl: [[N], {c: 1.10}]\n---\n")).Properties()
	if got := ShowValue(odd["a"]) + ShowValue(odd["l"]); err != nil || got != `{"1":"x","b":[{"2":"y"}]}[["N"],{"c":"1.10"}]` {
		t.Errorf("%s, %v", got, err)
	}
	if got := ReadHead(ctx, text).Aliases(); !slices.Equal(got, []string{"One", "Two words"}) {
		t.Errorf("aliases %q", got)
	}
	if got := ReadHead(ctx, []byte("---\ntags:\n  - a\n  - '#b/c'\n  -\n---\n")).Tags(); !slices.Equal(got, []string{"a", "b/c"}) {
		t.Errorf("tags %q", got)
	}
	if got := ReadHead(ctx, []byte("---\ntag: a, b c\n---\n")).Tags(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("tags %q", got)
	}
	if m, err := ReadHead(ctx, []byte("no front matter")).Properties(); m != nil || err != nil {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := ReadHead(ctx, []byte("---\na: b: c\n---\n")).Properties(); err == nil {
		t.Error("no error for broken YAML")
	}
}

// A value that a person types keeps its text.
func TestTypedValues(t *testing.T) {
	for _, typed := range []string{"5", "-5", "1.5", "0", "true", "false", "null", "2026-11-01", "2026-11-01T10:00", "1.2.3", "v1.10", "NaN", "it's"} {
		checkTyped(t, "---\na: x\n---\n", typed, "---\na: "+typed+"\n---\n")
	}
	for _, typed := range []string{"0301234", "007", "00", "1.10", "1.", ".5", "1_000", "1,000", "0x1f", "0o17", "0b11", "1e3", "+5", "-0", "0.0000001", "True", "Null", "~", "yes", "no", "on", "",
		"12345678901234567890123", "9007199254740993", "0.1000000000000000055511", "2026-1-5", "2026-11-01 10:00", "2026-11-01T10:00:00Z", "22:22", ".inf", "685_230.15"} {
		checkTyped(t, "---\na: x\n---\n", typed, "---\na: \""+typed+"\"\n---\n")
		checkTyped(t, "---\na:\n  - x\n---\n", "[x, \""+typed+"\"]", "---\na:\n  - x\n  - \""+typed+"\"\n---\n")
		if typed != "" && typed != "1,000" {
			checkTyped(t, "---\na: x\n---\n", "["+typed+", 5]", "---\na:\n  - \""+typed+"\"\n  - 5\n---\n")
			checkTyped(t, "---\na: "+typed+" # c\n---\n", typed, "---\na: "+typed+" # c\n---\n")
			checkTyped(t, "---\na:\n  - "+typed+"\n  - x\n---\n", "["+typed+", x]", "---\na:\n  - "+typed+"\n  - x\n---\n")
		}
	}
	for _, c := range [][2]string{
		{"a # c", "'a # c'"}, {"[a]b", "'[a]b'"}, {"!tag x", "'!tag x'"}, {"&x y", "'&x y'"}, {"|", "'|'"}, {"?", "'?'"}, {"-", "'-'"}, {"Dune: Part Two", "'Dune: Part Two'"},
		{"{{title}}", "'{{title}}'"}, {"[[A]]", "'[[A]]'"}, {"{a: 1, a: 2}", "'{a: 1, a: 2}'"}, {"'y z'", "'y z'"}, {`"5"`, `"5"`}, {"# Title\n5", "|-\n  # Title\n  5"}, {"! []", "'! []'"}, {"two\nlines", "|-\n  two\n  lines"}, {"x\n---\ny", "|-\n  x\n  ---\n  y"},
		{"[]", "[]"}, {"{b: 01, a: [2]}", "\n  b: \"01\"\n  a:\n    - 2"}, {"[ [[A]], x]", "\n  - '[[A]]'\n  - x"}, {"[[[A]], [[B]]]", "\n  - '[[A]]'\n  - '[[B]]'"}, {"- x\n- z: 1", "\n  - x\n  - z: 1"},
	} {
		checkTyped(t, "---\na: x\n---\n", c[0], strings.Replace("---\na: "+c[1]+"\n---\n", ": \n", ":\n", 1))
	}
	for _, source := range []string{"&x y", "!!str 5", "[[1, 2], [3]]", "{a: 01}", "'5'", "[a, [b, 1.10]]"} {
		checkTyped(t, "---\na: "+source+" # c\n---\n", source, "---\na: "+source+" # c\n---\n")
	}
	// A value that is shown, too.
	for _, text := range []string{"0301234", "1.10", "2026-1-5", "2026-11-01 10:00:00", "1e3", "5", "12345678901234567890123"} {
		m, err := ReadHead(ctx, []byte("---\na: "+text+"\nl: ["+text+"]\n---\n")).Properties()
		if err != nil || fmt.Sprint(m["a"])+fmt.Sprint(" ", m["l"]) != text+" ["+text+"]" {
			t.Errorf("%s is shown as %v, %v", text, m, err)
		}
	}
}

// Random texts are read back as they were typed, unless they are quoted or a collection, and
// typing them again changes nothing.
func TestRandomTypedValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	parts := strings.Split("a b 1 0 . , - : # ' \" [ ] { } & * ! | > % @ ` x _ e + true null ~ 2026-11-01 é \\ ? < = / [[ ]]", " ")
	parts = append(parts, " ", "- ", ": ", " #", "\n", "\t")
	const text = "---\nq: 1\na: x\nz: 2\n---\nbody\n"
	for range 1000 {
		typed := ""
		for range 1 + r.IntN(7) {
			typed += parts[r.IntN(len(parts))]
		}
		splices, err := SetProperty([]byte(text), "a", ParseValue(typed))
		if err != nil {
			t.Errorf("%q: %v", typed, err)
			continue
		}
		out, _ := ApplySplices([]byte(text), splices)
		m, err := ReadHead(ctx, out).Properties()
		want := strings.TrimSpace(typed)
		switch v := m["a"].(type) {
		case []any, map[string]any:
		case nil:
			if want != "null" || err != nil {
				t.Errorf("%q: %q has no value, %v", typed, out, err)
			}
		default:
			if fmt.Sprint(v) != want && !strings.ContainsAny(want[:1], "'\"|>") {
				t.Errorf("%q is read as %q", typed, v)
			}
		}
		if again, err := SetProperty(out, "a", ParseValue(typed)); err != nil || len(again) > 0 {
			t.Errorf("%q again changes %q: %v, %v", typed, out, again, err)
		}
	}
}

func checkTyped(t *testing.T, text, typed, want string) {
	t.Helper()
	splices, err := SetProperty([]byte(text), "a", ParseValue(typed))
	got, err2 := ApplySplices([]byte(text), splices)
	if err != nil || err2 != nil || string(got) != want {
		t.Errorf("%q typed for %q\n got %q, %v, %v\nwant %q", typed, text, got, err, err2, want)
	}
}

func FuzzFrontMatter(f *testing.F) {
	for _, s := range []string{"a: 1\n", "a: [x, y] # c\nb: |\n  x\n", "a: &x {b: 1}\nc: *x\n", "\"a\": 'x''y'\r\nb:\r\n- 1\r\n", "? a\n: b\n", "a: \"[[x]]\"\n", "é: \u2028[[x]]\n"} {
		f.Add(s, "a", "new: value\n- x")
	}
	f.Fuzz(func(t *testing.T, yml, key, value string) {
		text := []byte("---\n" + yml + "\n---\nbody [[x]]\n")
		before, err := ReadHead(ctx, text).Properties()
		splices, serr := SetProperty(text, key, value)
		for _, l := range scanNote(text).Links {
			_ = l.PathSpan.In(text)
		}
		if serr != nil || err != nil {
			return
		}
		out, err := ApplySplices(text, splices)
		if err != nil {
			t.Fatal(err)
		}
		after, err := ReadHead(ctx, out).Properties()
		if err != nil {
			t.Fatalf("%q became unreadable %q: %v", text, out, err)
		}
		if !strings.HasSuffix(string(out), string(text[FindFrontMatter(text).Body:])) {
			t.Fatalf("the body changed: %q", out)
		}
		delete(before, key)
		delete(after, key)
		if len(before)+len(after) > 0 && !reflect.DeepEqual(before, after) && !strings.Contains(yml, ".nan") && !strings.Contains(strings.ToLower(yml), ".nan") {
			t.Fatalf("other keys changed: %q → %q", text, out)
		}
	})
}

func TestAddToProperty(t *testing.T) {
	for _, c := range []struct {
		name, text string
		value      any
		first      bool
		want       string
	}{
		{"item", "---\na:\n- x # why\nb: 1\n---\n", "v", false, "---\na:\n- x # why\n- v\nb: 1\n---\n"},
		{"items, indented", "---\na:\n    - 2024-01-02\n    - 'q'\n---\n", []any{"v", 3}, false, "---\na:\n    - 2024-01-02\n    - 'q'\n    - v\n    - 3\n---\n"},
		{"flow list", "---\na: [x, y] # c\n---\n", "z", false, "---\na: [x, y, z] # c\n---\n"},
		{"a date", "---\na:\n  - 2024-01-02\n---\n", "2024-01-03", false, "---\na:\n  - 2024-01-02\n  - 2024-01-03\n---\n"},
		{"typed digits", "---\na:\n  - x\n---\n", ParseValue("007"), false, "---\na:\n  - x\n  - \"007\"\n---\n"},
		{"text with a blank", "---\na: x # c\n---\n", ParseValue(" 5\n"), false, "---\na: x 5 # c\n---\n"},
		{"the name in other case", "---\nA:\n  - x\n---\n", "v", false, "---\nA:\n  - x\n  - v\n---\n"},
		{"first", "---\na:\n  - x\n---\n", "v", true, "---\na:\n  - v\n  - x\n---\n"},
		{"crlf", "---\r\na:\r\n  - x\r\n---\r\n", "v", false, "---\r\na:\r\n  - x\r\n  - v\r\n---\r\n"},
		{"text", "---\na: x # c\n---\n", "y", false, "---\na: xy # c\n---\n"},
		{"missing", "---\nb: 1\n---\n", []any{"v"}, false, "---\nb: 1\na:\n  - v\n---\n"},
		{"empty", "---\na:\n---\n", "v", false, "---\na: v\n---\n"},
		{"no front matter", "text\n", "v", false, "---\na: v\n---\ntext\n"},
	} {
		splices, err := AddToProperty([]byte(c.text), "a", c.value, c.first)
		got, err2 := ApplySplices([]byte(c.text), splices)
		if err != nil || err2 != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v, %v, want %q", c.name, got, err, err2, c.want)
		}
	}
	for _, c := range []struct{ text, key, want string }{
		{"---\ntags: one, two three # c\n---\n", "tags", "---\ntags: # c\n  - one\n  - two\n  - three\n  - v w\n---\n"},
		{"---\nAliases: One Two\n---\n", "aliases", "---\nAliases:\n  - One Two\n  - v w\n---\n"},
	} {
		splices, err := AddToProperty([]byte(c.text), c.key, ParseValue("v w"), false)
		if got, _ := ApplySplices([]byte(c.text), splices); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.key, got, err, c.want)
		}
	}
	if _, err := AddToProperty([]byte("---\na: 1\n---\n"), "a", 2, false); !errors.Is(err, ErrNotMergeable) {
		t.Errorf("a number to a number: %v", err)
	}
}

func TestRenameProperty(t *testing.T) {
	for _, c := range []struct{ name, text, to, want string }{
		{"plain", "---\n# c\na:   1 # why\nb: 2\n---\nx", "z z", "---\n# c\nz z:   1 # why\nb: 2\n---\nx"},
		{"quoted", "---\n\"a\": [1]\n---\n", "z", "---\nz: [1]\n---\n"},
		{"needs quotes", "---\na: 1\n---\n", "x: y", "---\n'x: y': 1\n---\n"},
		{"missing", "---\nb: 1\n---\n", "z", "---\nb: 1\n---\n"},
		{"other case", "---\nA: 1\n---\n", "z", "---\nz: 1\n---\n"},
		{"only case", "---\na: 1\n---\n", "A", "---\nA: 1\n---\n"},
		{"block", "---\r\na:\r\n  - x\r\nb: 1\r\n---\r\n", "z", "---\r\nz:\r\n  - x\r\nb: 1\r\n---\r\n"},
	} {
		splices, err := RenameProperty([]byte(c.text), "a", c.to)
		got, err2 := ApplySplices([]byte(c.text), splices)
		if err != nil || err2 != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v, %v, want %q", c.name, got, err, err2, c.want)
		}
	}
	for _, to := range []string{"b", "B"} {
		if _, err := RenameProperty([]byte("---\na: 1\nb: 2\n---\n"), "a", to); !errors.Is(err, ErrUnsafeSplice) {
			t.Errorf("onto another: %v", err)
		}
	}
}

// Errors of the YAML parser have the line in the note and a code.
func TestFrontMatterErrors(t *testing.T) {
	for text, want := range map[string]string{
		"---\na: [1\nb: 2\n---\n": "line 2: ", "---\na: 1\na: 2\n---\n": `line 3: mapping key "a" already defined`, "---\na: {{title}}\n---\n": "a key is a list or a map",
	} {
		_, err := ReadHead(ctx, []byte(text)).Properties()
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, fault.InvalidArgument) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
