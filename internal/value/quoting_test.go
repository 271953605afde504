package value

import (
	"errors"
	"strings"
	"testing"
)

// A text that YAML 1.1 or 1.2 would read as another type is quoted everywhere: as a value, an
// item or a key, in a block or in brackets.
func TestAmbiguousTexts(t *testing.T) {
	for _, s := range []string{
		"22:22", "1:30:00", "8080:80", "190:20:30.15", "yes", "No", "on", "OFF", "y", "N", "true", "~", "null", "", "=", "<<",
		"0o14", "014", "0x1F", "0b11", "1_000", "1,000", "685.230_15e+03", ".5", "1.", "1e3", "+12", "-.inf", ".NaN", "2001-12-15", "2001-1-1 1:02:03", "2001-12-14t21:59:43.10-05:00",
	} {
		quoted := `"` + s + `"`
		checkChanges(t, YAML, []changeCase{
			{"value", "a: x\n", "a = " + quoted, "a: " + quoted + "\n"},
			{"item", "a:\n  - x\n", "a[+] = " + quoted, "a:\n  - x\n  - " + quoted + "\n"},
			{"in brackets", "a: [x]\n", "a[+] = " + quoted, "a: [x, " + quoted + "]\n"},
			{"new key", "a: x\n", "b = " + quoted, "a: x\nb: " + quoted + "\n"},
			{"nested", "a: x\n", `b = {"c": [` + quoted + "]}", "a: x\nb:\n  c:\n    - " + quoted + "\n"},
		})
		checkChanges(t, Header, []changeCase{{"front matter", "---\na: x\n---\n", "a = " + quoted, "---\na: " + quoted + "\n---\n"}})
		if s != "" && !strings.ContainsAny(s, ">") {
			checkChanges(t, YAML, []changeCase{{"key", "a: x\n", "a > " + s, quoted + ": x\n"}})
		}
	}
	for _, s := range []string{"a", "yesterday", "none", "1.2.3", "v1", "10.0.0.1", "12px", "3 apples", "2001-12-15 at noon", "-x", "e5", "a:b", "_1", "onn"} {
		checkChanges(t, YAML, []changeCase{{"plain", "a: x\n", `a = "` + s + `"`, "a: " + s + "\n"}})
	}
	checkChanges(t, YAML, []changeCase{
		{"a bare word", "a: no # c\n", `a = "no"`, "a: \"no\" # c\n"},
		{"bare words in a list", "a: [no, x]\n", `a = ["no", "x"]`, "a:\n  - \"no\"\n  - x\n"},
		{"the quotes of the old text", "a: 'x'\n", `a = "no"`, "a: 'no'\n"},
		{"an exponent", "a: x\n", `a = 1e3`, "a: 1.0e+3\n"},
		{"a small exponent", "a: x\n", `a = [1.5E-3]`, "a:\n  - 1.5e-3\n"},
	})
}

// A file may declare its YAML version. Version 1.2 is parsed like 1.1.
func TestVersionDirective(t *testing.T) {
	const doc = "# SPDX\n%YAML 1.2\n---\na: 1 # c\nb:\n  - x\n"
	checkChanges(t, YAML, []changeCase{
		{"a value", doc, "a = 2", strings.Replace(doc, "1 #", "2 #", 1)},
		{"an item", doc, `b[+] = "z"`, doc + "  - z\n"},
		{"a new key", doc, `c = "on"`, doc + "c: \"on\"\n"},
		{"two documents", "%YAML 1.2\n---\na: 1\n...\n%YAML 1.2\n---\na: 2\n", "[1].a = 3", "%YAML 1.2\n---\na: 1\n...\n%YAML 1.2\n---\na: 3\n"},
		{"carriage returns", "%YAML 1.2\r\n---\r\na: 1\r\n", "a = 2", "%YAML 1.2\r\n---\r\na: 2\r\n"},
		{"a text", "a: |\n  x\n  %YAML 1.2\nb: 1\n", `b = 2`, "a: |\n  x\n  %YAML 1.2\nb: 2\n"},
	})
	if _, err := Parse(YAML, []byte("%YAML 2.0\n---\na: 1\n")); err == nil {
		t.Error("YAML 2.0 is read")
	}
}

// A document keeps its type when its last entry is removed. A header may become empty.
func TestLastEntry(t *testing.T) {
	checkChanges(t, YAML, []changeCase{
		{"key", "# top\na: 1 # c\n# end\n", "- a", "# top\n{}\n# end\n"},
		{"key without a line ending", "a: 1", "- a", "{}"},
		{"item", "- a\n", "- [0]", "[]\n"},
		{"one of two documents", "a: 1\n---\nb:\n  c: 1\n", "- [1].b", "a: 1\n---\n{}\n"},
		{"carriage returns", "a:\r\n  b: 1\r\n", "- a", "{}\r\n"},
	})
	checkChanges(t, Header, []changeCase{{"front matter", "---\na: 1\n---\nx\n", "- a", "---\n---\nx\n"}})
	checkChanges(t, TOML, []changeCase{
		{"a table that only a deeper heading names", "x = 1\n\n[a.b]\nc = 1\n", "- a.b", "x = 1\n"},
		{"a table with a heading", "[a]\n\n[a.b]\nc = 1\n", "- a.b", "[a]\n"},
	})
}

// A list of edits can't assign two values to the same path.
func TestTwoValues(t *testing.T) {
	for _, c := range [][]string{
		{"a = 1", "a = 2"},
		{"l[0] = 1", "l[-1] = 2"},
		{"l[name=x].v = 1", "l[0].v = 2"},
		{"m.k = 1", `m = {"j": 1}`},
		{"new.k = 1", `new = 2`},
		{"a = 1", "- a"},
		{"l[+] = 1", "l = [2]"},
	} {
		var edits []Edit
		for _, what := range c {
			edits = append(edits, parseChange(t, what))
		}
		_, err := Apply(YAML, []byte("a: 0\nl:\n  - name: x\nm:\n  k: 0\n"), edits...)
		r, _ := errors.AsType[*Refused](err)
		if r == nil || r.Reason != Twice || r.Path.String() != edits[1].At.String() {
			t.Errorf("%v: %v", c, err)
		}
	}
	for _, c := range [][]string{{"l[+] = 1", "l[+] = 1"}, {"a = 1", "a > b"}, {"a > b", "a = 1"}, {"m = {}", "m.k = 1"}, {"l[+].k = 1", "l[+].k = 1"}} {
		if _, err := Apply(YAML, []byte("a: 0\nl:\n  - name: x\nm:\n  k: 0\n"), parseChange(t, c[0]), parseChange(t, c[1])); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}
