package colour

import (
	"strings"
	"testing"
)

// render formats the pieces of a text, with the class of each and the piece in brackets.
func render(name, text string) string {
	var b strings.Builder
	For(name).Each(text, func(piece string, c Class) bool {
		if c == Plain {
			b.WriteString(piece)
		} else {
			b.WriteString("[" + string(rune(c)) + " " + piece + "]")
		}
		return true
	})
	return b.String()
}

func TestEach(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.go", "func f(x int) { return \"a\\\"b\" } // end\n", `[k func] [f f](x [t int]) { [k return] [s "a\"b"] } [c // end]` + "\n"},
		{"a.go", "s := `raw\\`+'\\''", "s := [s `raw\\`]+[s '\\'']"},
		{"a.c", "#include <x.h>\n/* a\nb */ int x = 0x1F;", "[k #include] <x.h>\n[c /* a\nb */] [t int] x = [n 0x1F];"},
		{"a.rs", "fn f<'a>(s: &'a str) -> Vec<u8> { 'x' } /* a /* b */ c */ 1", `[k fn] f<'a>(s: &'a [t str]) -> [t Vec]<[t u8]> { [s 'x'] } [c /* a /* b */ c */] [n 1]`},
		{"a.py", "@app.route('/')\ndef f(self):\n    \"\"\"two\nlines\"\"\"\n    return None # x", "[f @app.route]([s '/'])\n[k def] [f f]([k self]):\n    [s \"\"\"two\nlines\"\"\"]\n    [k return] [k None] [c # x]"},
		{"a.sh", "echo \"$x\" ${#a} # c\nif [ -z $y ]; then", "echo [s \"$x\"] ${#a} [c # c]\n[k if] [ -z [n $y] ]; [k then]"},
		{"a.json", `{"a": "b", "n": 1.5, "t": true}`, `{[k "a"]: [s "b"], [k "n"]: [n 1.5], [k "t"]: [k true]}`},
		{"a.yaml", "key: value # c\nother-key: 'x'\n", "[k key]: value [c # c]\n[k other-key]: [s 'x']\n"},
		{"a.html", `<!-- c --><a href="x">t &lt; u</a>`, `[c <!-- c -->][k <a] [n href]=[s "x"][k >]t &lt; u[k </a>]`},
		{"a.md", "# Head\ntext `code` [[link]]\n- item\n```go\nx := 1\n```\n> quote\n", "[f # Head]\ntext [s `code`] [n [[link]]]\n[k -] item\n[s ```go]\n[s x := 1]\n[s ```]\n[c > quote]\n"},
		{"a.sql", "SELECT count(*) FROM t -- c", "[k SELECT] [f count](*) [k FROM] t [c -- c]"},
		{"Makefile", "all: $(X)\n", "[k all]: $(X)\n"},
		{"a.diff", "@@ -1 +1 @@\n-a\n+b\n c", "[f @@ -1 +1 @@]\n[c -a]\n[s +b]\n c"},
	} {
		if got := render(c.name, c.text); got != c.want {
			t.Errorf("%s %q\n got %s\nwant %s", c.name, c.text, got, c.want)
		}
	}
}

func TestFor(t *testing.T) {
	for name, want := range map[string]bool{
		"x/Main.JAVA": true, "a.test.ts": true, "CMakeLists.txt": true, "Dockerfile": true, "a.unknown": false, "README": false, "": false,
	} {
		if got := For(name) != nil; got != want {
			t.Errorf("For(%q) known: %v, want %v", name, got, want)
		}
	}
}

// In every language, the pieces of a text joined together are the text.
func FuzzEach(f *testing.F) {
	all := languages()
	for i := range all {
		f.Add(uint8(i), "func f() { \"a\n'b /* c // d\n--[[ <a b='c'> `x` [[y]] **z** # @k $v")
		f.Add(uint8(i), "'\\")
		f.Add(uint8(i), "---\na: b\n---\n```\n~~~\n<![CDATA[")
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		e := all[int(which)%len(all)]
		var b strings.Builder
		e.language().Each(text, func(piece string, c Class) bool {
			if piece == "" {
				t.Fatalf("%s: an empty piece", e.Files)
			}
			b.WriteString(piece)
			return true
		})
		if b.String() != text {
			t.Fatalf("%s: pieces of %q make %q", e.Files, text, b.String())
		}
	})
}
