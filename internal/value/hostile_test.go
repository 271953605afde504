package value

import (
	"fmt"
	"strings"
	"testing"

	"quarry/fault"
)

// Texts designed to exhaust a parser take a fraction of a second each. Deep nesting is refused.
func TestHostile(t *testing.T) {
	deep := func(open, close string, n int) string {
		return strings.Repeat(open, n) + "1" + strings.Repeat(close, n)
	}
	many := func(n int, line string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, line, i)
		}
		return b.String()
	}
	const n = 4000
	for _, c := range []struct {
		name   string
		format Format
		text   string
		what   string
		made   bool
	}{
		{"deep objects", JSON, deep(`{"a":`, "}", 900), `b = 1`, true},
		{"too deep lists", JSON, deep(`[`, "]", 100_000), `[+] = 1`, false},
		{"deep brackets", YAML, deep(`[`, "]", n), `[+] = 1`, true},
		{"too deep brackets", YAML, deep(`[`, "]", 50_000), `[+] = 1`, false},
		{"dashes", YAML, strings.Repeat("- ", n) + "x\n", `[+] = 1`, true},
		{"aliases of aliases", YAML, "a: &a [x,x]\n" + many(40, "b%[1]d: [*a, *a]\n"), `b7 = 2`, true},
		{"documents", YAML, strings.Repeat("a: 1\n---\n", n), `[7].a = 2`, true},
		{"comments", YAML, strings.Repeat("# c\n", n) + "a: 1\n" + strings.Repeat("  # d\n", n), `a = 2`, true},
		{"lines of one text", YAML, "a: x\n" + strings.Repeat("  y\n", n), `a = 2`, true},
		{"one long line", YAML, "a: [" + strings.Repeat("x, ", n) + "y]\n", `- a[5]`, true},
		{"deep lists", TOML, "a = " + deep("[", "]", n) + "\n", `b = 1`, true},
		{"too deep lists of TOML", TOML, "a = " + deep("[", "]", 50_000) + "\n", `b = 1`, false},
		{"a long dotted key", TOML, strings.Repeat("a.", n) + "b = 1\n", `b = 1`, true},
		{"a long heading", TOML, "[" + strings.Repeat("a.", n) + "b]\n", `b = 1`, true},
		{"many tables of one", TOML, many(n, "[a.b%[1]d]\nx = 1\n\n[[l]]\ny = 2\n"), `- a`, true},
		{"many items", TOML, many(n, "[a.b%[1]d]\nx = 1\n\n[[l]]\ny = 2\n"), `- l`, true},
		{"many keys", INI, many(n, "key%[1]d = 1\n"), `key7 = 2`, true},
	} {
		got, err := change(t, c.format, c.text, c.what)
		if (err == nil && got != "") != c.made {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, format := range []Format{JSON, YAML, TOML, INI} {
		if _, err := Parse(format, make([]byte, MaxSize+1)); err == nil {
			t.Errorf("%d MB of %s are read", MaxSize>>20, format)
		}
	}
}

// A list of edits that would need hours of parsing is refused. Parsing of a slow text ends
// when it is stopped.
func TestStopped(t *testing.T) {
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, "key%d = 1\n", i)
	}
	text := []byte(b.String())
	edits := make([]Edit, 1000)
	for i := range edits {
		edits[i] = Edit{At: Keys(fmt.Sprint("key", i)), Value: Str("x")}
	}
	if _, err := Apply(TOML, text, edits...); fault.CodeOf(err) != fault.TooLarge {
		t.Errorf("1,000 edits of %d KB: %v", len(text)>>10, err)
	}
	for _, f := range []Format{JSON, YAML, TOML, INI} {
		asked := 0
		_, err := ParseUntil(func() bool { asked++; return asked > 1 }, f, map[Format][]byte{JSON: []byte("{}"), YAML: []byte(strings.ReplaceAll(b.String(), " =", ":"))}[f])
		if f == TOML || f == INI {
			_, err = ParseUntil(func() bool { asked++; return asked > 3 }, f, text)
		}
		if err != ErrStopped {
			t.Errorf("%v: %v after %d questions", f, err, asked)
		}
	}
}
