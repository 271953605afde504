package rust

import (
	"strings"
	"testing"

	"quarry/internal/re/hir/hirtest"
	"quarry/internal/re/syntax"
	"quarry/internal/stress"
)

func TestParse(t *testing.T) {
	const anyChar = `[\x00-\x{D7FF}\x{E000}-\x{10FFFF}]`
	const notLF = `[\x00-\x09\x0B-\x{D7FF}\x{E000}-\x{10FFFF}]`
	for _, c := range []struct{ pattern, want string }{
		// literals and concatenation
		{``, `empty`},
		{`abc`, `"abc"`},
		{`añ☃`, `"añ☃"`},
		{`]}`, `"]}"`},
		{`a|b|c`, `[a-c]`},
		{`ab|cd`, `(alt "ab" "cd")`},
		{`ab|`, `(alt "ab" empty)`},
		{`|`, `(alt empty empty)`},
		{`a(?:b|)c`, `(cat "a" (alt "b" empty) "c")`},
		{`(?:ab)c`, `"abc"`},

		// groups
		{`()`, `(cap 1 empty)`},
		{`(a)(b(c))`, `(cat (cap 1 "a") (cap 2 (cat "b" (cap 3 "c"))))`},
		{`(?P<x>a)(?<y_1.[0]>b)`, `(cat (cap 1 x "a") (cap 2 y_1.[0] "b"))`},
		{`(?<ñé>a)`, `(cap 1 ñé "a")`},
		{`(a)|b`, `(alt (cap 1 "a") "b")`},

		// repetitions
		{`a*`, `(rep 0 inf "a")`},
		{`a+?`, `(rep? 1 inf "a")`},
		{`ab?`, `(cat "a" (rep 0 1 "b"))`},
		{`aé??`, `(cat "a" (rep? 0 1 "é"))`},
		{`a{3}`, `(rep 3 3 "a")`},
		{`a{3,}`, `(rep 3 inf "a")`},
		{`a{3,5}?`, `(rep? 3 5 "a")`},
		{`a{ 3 , 5 }`, `(rep 3 5 "a")`},
		{`(?:ab){0}c`, `"c"`},
		{`(?:ab){1}c`, `"abc"`},
		{`a**`, `(rep 0 inf "a")`},
		{`(?U)a*b*?`, `(cat (rep? 0 inf "a") (rep 0 inf "b"))`},
		{`^*`, `(rep 0 1 start)`},
		{`\b{2}`, `word`},
		{`(?:)*`, `empty`},
		{`a{1001}`, `(rep 1001 1001 "a")`},

		// escapes
		{`\\\.\+\*\?\(\)\|\[\]\{\}\^\$\#\&\-\~`, `"\\.+*?()|[]{}^$#&-~"`},
		{`\!\"\%\'\,\/\:\;\=\@\_` + "\\`" + `\ `, `"!\"%',/:;=@_` + "`" + ` "`},
		{`\a\f\t\n\r\v`, `"\a\f\t\n\r\v"`},
		{`\x41\u0042\U00000043\x{44}\u{45}\U{46}`, `"ABCDEF"`},
		{`\x{1F600}`, `"😀"`},
		{`\xFF`, `"ÿ"`},

		// assertions
		{`^a$`, `(cat start "a" end)`},
		{`(?m)^a$`, `(cat start-line "a" end-line)`},
		{`(?mR)^a$`, `(cat start-crlf "a" end-crlf)`},
		{`(?R)^a$`, `(cat start "a" end)`},
		{`(?m)\Aa\z`, `(cat start "a" end)`},
		{`\b\B`, `(cat word not-word)`},
		{`\b{start}\b{end}\b{start-half}\b{end-half}`, `(cat word-start word-end word-start-half word-end-half)`},
		{`\<\>`, `(cat word-start word-end)`},
		{`(?-u)\b\B\<\>\b{start-half}\b{end-half}`, `(cat word-ascii not-word-ascii word-start-ascii word-end-ascii word-start-half-ascii word-end-half-ascii)`},
		{`(?x)\b{ start - half }`, `word-start-half`},

		// dot
		{`.`, notLF},
		{`(?s).`, anyChar},
		{`(?R).`, `[\x00-\x09\x0B\x0C\x0E-\x{D7FF}\x{E000}-\x{10FFFF}]`},
		{`(?-u).`, `b[\x00-\x09\x0B-\xFF]`},
		{`(?s-u).`, `b[\x00-\xFF]`},
		{`(?s)(?-s).`, notLF},

		// flags
		{`(?i)k`, `[Kk\x{212A}]`},
		{`(?i)1k2`, `(cat "1" [Kk\x{212A}] "2")`},
		{`(?i-u)ké`, `(cat b[Kk] "é")`},
		{`a(?i)b(?-i)c`, `(cat "a" [Bb] "c")`},
		{`(?i:b)b`, `(cat [Bb] "b")`},
		{`(a(?i)b)b`, `(cat (cap 1 (cat "a" [Bb])) "b")`},
		{`ab(?i)|cd`, `(alt "ab" (cat [Cc] [Dd]))`},
		{`(?i)σ`, `[\x{3A3}\x{3C2}\x{3C3}]`},
		{`(?i)ß`, `[\xDF\x{1E9E}]`},
		{`(?x) a b # comment` + "\n c", `"abc"`},
		{`(?x)a\ b[ c d ]\#`, `(cat "a b" [cd] "#")`},
		{`(?x: a ) b`, `"a b"`},
		{`(?x)a {2 , 3} ?`, `(rep? 2 3 "a")`},
		{`(?x)( ?i: a )`, `[Aa]`},
		{`(?x)\x 4 1`, `"A"`},
		{`((?i))a`, `(cat (cap 1 empty) "a")`},

		// classes
		{`[abc]`, `[a-c]`},
		{`[a]`, `"a"`},
		{`[^\x00-\x{10FFFF}]`, `fail`},
		{`[]a]`, `[\]a]`},
		{`[^]a]`, `[\x00-\\^-` + "`" + `b-\x{D7FF}\x{E000}-\x{10FFFF}]`},
		{`[-a]`, `[\-a]`},
		{`[--a]`, `[\-a]`},
		{`[a-]`, `[\-a]`},
		{`[a-c-]`, `[\-a-c]`},
		{`[\]\-\\]`, `[\-\\\]]`},
		{`[^a]`, `[\x00-` + "`" + `b-\x{D7FF}\x{E000}-\x{10FFFF}]`},
		{`[a-z&&[^aeiou]]`, `[b-df-hj-np-tv-z]`},
		{`[a-z--aeiou]`, `[b-df-hj-np-tv-z]`},
		{`[a-g~~e-j]`, `[a-dh-j]`},
		{`[a-z&&b-y--c-x]`, `[by]`},
		{`[^a-z&&a-b]`, `[\x00-` + "`" + `c-\x{D7FF}\x{E000}-\x{10FFFF}]`},
		{`[&&a]`, `fail`},
		{`[a&]`, `[&a]`},
		{`[~a]`, `[a~]`},
		{`[a[b[c]]d]`, `[a-d]`},
		{`[[:alpha:]_]`, `[A-Z_a-z]`},
		{`[[:^space:]&&[:ascii:]]`, `[\x00-\x08\x0E-\x1F!-\x7F]`},
		{`[[:word:]]`, `[0-9A-Z_a-z]`},
		{`[[:foo:]]`, `[:fo]`},
		{`[[:alpha]]`, `[:ahlp]`},
		{`[:alpha:]`, `[:ahlp]`},
		{`(?i)[a-c]`, `[A-Ca-c]`},
		{`(?i)[^k]`, `[\x00-JL-jl-\x{2129}\x{212B}-\x{D7FF}\x{E000}-\x{10FFFF}]`},
		{`(?i)[[:lower:]&&k]`, `[Kk\x{212A}]`},
		{`[\n\t\x41\u{42}]`, `[\x09\x0AAB]`},
		{`[\d&&[:ascii:]]`, `[0-9]`},
		{`[a\pN&&[:ascii:]]`, `[0-9a]`},
		{`(?x)[ a - c ]`, `[a-c]`},
		{`[.^$*]`, `[$*.^]`},

		// Unicode classes
		{`\p{ASCII_Hex_Digit}`, `[0-9A-Fa-f]`},
		{`\p{ahex}`, `[0-9A-Fa-f]`},
		{`[\p{Nd}&&\p{ASCII}]`, `[0-9]`},
		{`[\pL&&\p{ASCII}]`, `[A-Za-z]`},
		{`[\p{Lu}&&\p{gc=L}&&\p{ASCII}]`, `[A-Z]`},
		{`[\P{Lu}&&\p{L}&&\p{ASCII}]`, `[a-z]`},
		{`[\p{gc!=Lu}&&\p{L}&&\p{ASCII}]`, `[a-z]`},
		{`[\P{gc!=Lu}&&\p{ASCII}]`, `[A-Z]`},
		{`(?i)[\p{Lu}&&\p{ASCII}]`, `[A-Za-z\x{17F}\x{212A}]`},
		{`\p{Zl}`, `"\u2028"`},
		{`\p{gc:Zl}`, `"\u2028"`},
		{`\P{any}`, `fail`},
		{`(?x)\p{ Zl }`, `"\u2028"`},
		{`[\s&&[:ascii:]]`, `[\x09-\x0D\x20]`},
		{`[\w&&[\x00-\xFF]]`, `[0-9A-Z_a-z\xAA\xB5\xBA\xC0-\xD6\xD8-\xF6\xF8-\xFF]`},

		// bytes
		{`(?-u)\xFF`, `"\xff"`},
		{`(?-u)\x{FF}`, `"ÿ"`},
		{`(?-u)☃`, `"☃"`},
		{`(?-u:\xFF)\xFF`, `"\xffÿ"`},
		{`(?-u)[\x80-\xFF]`, `b[\x80-\xFF]`},
		{`(?-u)[^a]`, `b[\x00-` + "`" + `b-\xFF]`},
		{`(?-u)\d\s\w`, `(cat b[0-9] b[\x09-\x0D\x20] b[0-9A-Z_a-z])`},
		{`(?-u)\D`, `b[\x00-/:-\xFF]`},
		{`(?-u)\xE2(?u)\x{2603}`, `"\xe2☃"`},
	} {
		got, err := Parse(c.pattern, Flags{})
		if err != nil {
			t.Errorf("Parse(%q): %v", c.pattern, err)
			continue
		}
		if hirtest.Show(got.Root) != c.want {
			t.Errorf("Parse(%q) = %s, want %s", c.pattern, hirtest.Show(got.Root), c.want)
		}
		if err := hirtest.Check(got.Root); err != nil {
			t.Errorf("Parse(%q): %v", c.pattern, err)
		}
	}
}

func TestFlags(t *testing.T) {
	nul := byte(0)
	for _, c := range []struct {
		pattern string
		flags   Flags
		want    string
	}{
		{`k`, Flags{CaseInsensitive: true}, `[Kk\x{212A}]`},
		{`(?-i)k`, Flags{CaseInsensitive: true}, `"k"`},
		{`^$`, Flags{MultiLine: true}, `(cat start-line end-line)`},
		{`^$`, Flags{MultiLine: true, CRLF: true}, `(cat start-crlf end-crlf)`},
		{`.`, Flags{DotMatchesNewLine: true, NoUnicode: true}, `b[\x00-\xFF]`},
		{`a*`, Flags{SwapGreed: true}, `(rep? 0 inf "a")`},
		{`\xFF\w`, Flags{NoUnicode: true}, `(cat "\xff" b[0-9A-Z_a-z])`},
		{`a b`, Flags{IgnoreWhitespace: true}, `"ab"`},
		{`.`, Flags{LineTerminator: &nul}, `[\x01-\x{D7FF}\x{E000}-\x{10FFFF}]`},
		{`[a-z]\b`, Flags{NoUnicode: true, UTF8: true}, `(cat b[a-z] word-ascii)`},
	} {
		got, err := Parse(c.pattern, c.flags)
		if err != nil || hirtest.Show(got.Root) != c.want {
			t.Errorf("Parse(%q, %+v) = %v, %v, want %s", c.pattern, c.flags, got, err, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	got, err := Parse(`(a)(?<x>b(?:c)(?P<y>d))`, Flags{})
	if err != nil || strings.Join(got.Names, ",") != ",,x,y" || got.Superset {
		t.Errorf("%q, %v", got.Names, err)
	}
}

func TestErrors(t *testing.T) {
	high := byte(0xFF)
	for _, c := range []struct {
		pattern string
		flags   Flags
		offset  int
		reason  string
		hint    string // a part of the hint
	}{
		// groups
		{`a(b`, Flags{}, 1, "unclosed group", `\(`},
		{`a(b|c`, Flags{}, 1, "unclosed group", ""},
		{`(a(b)`, Flags{}, 0, "unclosed group", ""},
		{`(?`, Flags{}, 0, "unclosed group", ""},
		{`a)`, Flags{}, 1, "unopened group", `\)`},
		{`a|b)`, Flags{}, 3, "unopened group", ""},
		{`(?=a)`, Flags{}, 0, "look-around", "JavaScript"},
		{`x(?!a)`, Flags{}, 1, "look-around", "JavaScript"},
		{`(?<=a)`, Flags{}, 0, "look-around", "JavaScript"},
		{`(?<!a)`, Flags{}, 0, "look-around", "JavaScript"},
		{`(?>a)`, Flags{}, 0, "unsupported group", "(?:"},
		{`(?|a)`, Flags{}, 0, "unsupported group", "(?:"},
		{`(?#a)`, Flags{}, 0, "unsupported group", "flag x"},
		{`(?P=x)`, Flags{}, 2, "unknown flag", "JavaScript"},
		{`(?P<>a)`, Flags{}, 4, "empty group name", ""},
		{`(?<1>a)`, Flags{}, 3, "invalid character in a group name", ""},
		{`(?<a-b>a)`, Flags{}, 4, "invalid character in a group name", ""},
		{`(?<a`, Flags{}, 3, "unclosed group name", ""},
		{`(?<a>x)(?P<a>y)`, Flags{}, 11, "duplicate group name", ""},
		{`(?i`, Flags{}, 3, "unclosed flags", ""},
		{`(?)`, Flags{}, 1, "repetition of nothing", ""},
		{`(?z)`, Flags{}, 2, "unknown flag", "x."},
		{`(?ii)`, Flags{}, 3, "duplicate flag", ""},
		{`(?i-i)`, Flags{}, 4, "duplicate flag", ""},
		{`(?i-)`, Flags{}, 3, "nothing after -", ""},
		{`(?-)`, Flags{}, 2, "nothing after -", ""},
		{`(?i-s-m)`, Flags{}, 5, "a second -", ""},

		// repetitions
		{`*.go`, Flags{}, 0, "repetition of nothing", `glob; as a regular expression it is ^[^/]*\.go$`},
		{`**/*.go`, Flags{}, 0, "repetition of nothing", "glob"},
		{`*`, Flags{}, 0, "repetition of nothing", `\*`},
		{`a|+b`, Flags{}, 2, "repetition of nothing", `\+`},
		{`(?i)*`, Flags{}, 4, "repetition of nothing", ""},
		{`(?:?)`, Flags{}, 3, "repetition of nothing", ""},
		{`{`, Flags{}, 0, "repetition of nothing", `\{`},
		{`{2}`, Flags{}, 0, "repetition of nothing", `\{`},
		{`func() {`, Flags{}, 7, "unclosed repetition count", `\{`},
		{`a{`, Flags{}, 1, "unclosed repetition count", `\{`},
		{`a{2`, Flags{}, 1, "unclosed repetition count", ""},
		{`a{2,`, Flags{}, 1, "unclosed repetition count", ""},
		{`a{2,3`, Flags{}, 1, "unclosed repetition count", ""},
		{`a{2;}`, Flags{}, 1, "unclosed repetition count", ""},
		{`a{}`, Flags{}, 1, "repetition count without a number", `\{`},
		{`a{b}`, Flags{}, 1, "repetition count without a number", `\{`},
		{`a{,3}`, Flags{}, 1, "repetition count without a number", "{0,m}"},
		{`a{3,2}`, Flags{}, 1, "repetition count {3,2} is reversed", ""},
		{`a{4294967296}`, Flags{}, 2, "repetition count is too large", ""},
		{`a{4294967295}`, Flags{}, 1, "pattern is too large", ""},
		{`((x{1000}){1000}){1000}`, Flags{}, 17, "pattern is too large", ""},
		{`(?:(?:ab){1000}){1000}`, Flags{SizeLimit: 1000}, 9, "pattern is too large", ""},

		// escapes
		{`a\`, Flags{}, 1, "unfinished escape", `\\`},
		{`(a)\1`, Flags{}, 3, "backreferences aren't supported", "JavaScript"},
		{`\0`, Flags{}, 0, "backreferences aren't supported", `\x00`},
		{`[\8]`, Flags{}, 1, "backreferences aren't supported", ""},
		{`\y`, Flags{}, 0, `unknown escape \y`, ""},
		{`\Z`, Flags{}, 0, `unknown escape \Z`, `\z`},
		{`\☃`, Flags{}, 0, `unknown escape \☃`, ""},
		{`\x`, Flags{}, 0, "unfinished hexadecimal escape", ""},
		{`\x4`, Flags{}, 0, "unfinished hexadecimal escape", ""},
		{`\xzz`, Flags{}, 2, `"z" isn't a hexadecimal digit`, ""},
		{`\x{`, Flags{}, 0, "unfinished hexadecimal escape", ""},
		{`\x{}`, Flags{}, 0, "empty hexadecimal escape", ""},
		{`\x{110000}`, Flags{}, 3, "isn't a Unicode scalar value", ""},
		{`\uD800`, Flags{}, 2, "isn't a Unicode scalar value", ""},
		{`\b{foo}`, Flags{}, 3, "unknown word boundary", "start-half"},
		{`\b{start`, Flags{}, 2, "unclosed word boundary", ""},
		{`\b{`, Flags{}, 0, "unclosed word boundary or repetition", ""},
		{`\p`, Flags{}, 0, "unfinished Unicode class", ""},
		{`\p{Greek`, Flags{}, 0, "unfinished Unicode class", ""},
		{`\p\`, Flags{}, 2, "invalid Unicode class", ""},
		{`a\p{Foo}`, Flags{}, 1, "unknown Unicode property", ""},
		{`\p{^Greek}`, Flags{}, 0, "unknown Unicode property", `\P`},
		{`\p{sc=Foo}`, Flags{}, 0, "unknown value", "sc"},
		{`(?-u)\pL`, Flags{}, 5, "Unicode class isn't allowed", ""},

		// classes
		{`[a`, Flags{}, 0, "unclosed character class", `\[`},
		{`[`, Flags{}, 0, "unclosed character class", ""},
		{`[]`, Flags{}, 0, "unclosed character class", "first place"},
		{`[^]`, Flags{}, 0, "unclosed character class", ""},
		{`[a[b]`, Flags{}, 0, "unclosed character class", ""},
		{`[a-`, Flags{}, 0, "unclosed character class", ""},
		{`[z-a]`, Flags{}, 1, "reversed character range", `\-`},
		{`[a-\d]`, Flags{}, 3, "only a character can bound a range", `\-`},
		{`[\d-a]`, Flags{}, 1, "only a character can bound a range", ""},
		{`[a\b]`, Flags{}, 2, "an assertion isn't allowed", ""},
		{`(?-u)[☃]`, Flags{}, 6, "outside ASCII", `\xNN`},

		// bytes where text is required
		{`(?-u)\xFF`, Flags{UTF8: true}, 5, "invalid UTF-8", ""},
		{`(?-u).`, Flags{UTF8: true}, 5, "invalid UTF-8", ""},
		{`(?-u)[^a]`, Flags{UTF8: true}, 5, "invalid UTF-8", ""},
		{`(?-u)\W`, Flags{UTF8: true}, 5, "invalid UTF-8", ""},
		{`.`, Flags{LineTerminator: &high}, 0, "line terminator", ""},
		{"a\xff", Flags{}, 1, "pattern isn't valid UTF-8", `\xNN`},
	} {
		_, err := Parse(c.pattern, c.flags)
		e, ok := err.(*syntax.Error)
		if !ok {
			t.Errorf("Parse(%q): %v, want %q", c.pattern, err, c.reason)
			continue
		}
		if !strings.Contains(e.Reason, c.reason) || e.Offset != c.offset || !strings.Contains(e.Hint, c.hint) ||
			e.Pattern != c.pattern || e.Offset+e.Length > len(c.pattern) {
			t.Errorf("Parse(%q): %q at %d+%d, hint %q; want %q at %d, hint %q", c.pattern, e.Reason, e.Offset, e.Length, e.Hint, c.reason, c.offset, c.hint)
		}
	}
}

func TestNestLimit(t *testing.T) {
	for _, c := range []struct {
		name    string
		pattern string
		want    bool
	}{
		{"250 groups", strings.Repeat("(", 250) + "a" + strings.Repeat(")", 250), true},
		{"251 groups", strings.Repeat("(", 251) + "a" + strings.Repeat(")", 251), false},
		{"250 groups of two", strings.Repeat("(", 250) + "ab" + strings.Repeat(")", 250), false},
		{"125 groups in concatenations", strings.Repeat("(a", 125) + strings.Repeat(")", 125), true},
		{"126 groups in concatenations", strings.Repeat("(a", 126) + strings.Repeat(")", 126), false},
		{"250 stars", "a" + strings.Repeat("*", 250), true},
		{"251 stars", "a" + strings.Repeat("*", 251), false},
		{"250 classes", strings.Repeat("[", 250) + "a" + strings.Repeat("]", 250), true},
		{"251 classes", strings.Repeat("[", 251) + "a" + strings.Repeat("]", 251), false},
		{"249 operators", "[a" + strings.Repeat("&&a", 249) + "]", true},
		{"250 operators", "[a" + strings.Repeat("&&a", 250) + "]", false},
		{"many flags", strings.Repeat("(?i)", 300), true},
	} {
		if _, err := Parse(c.pattern, Flags{}); (err == nil) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestLarge parses large and hostile patterns. It would time out if parsing weren't linear.
func TestLarge(t *testing.T) {
	stress.SkipShort(t)
	var words strings.Builder
	for i := range 10_000 {
		words.WriteString("|word")
		words.WriteString(strings.Repeat("x", i%7))
		words.WriteByte(byte('a' + i%26))
	}
	mega := stress.Size(1<<18, 1<<20)
	for _, c := range []struct {
		name    string
		pattern string
		want    bool
	}{
		{"a long text", strings.Repeat("a", mega), true},
		{"a long text without case", "(?i)" + strings.Repeat("k", mega), true},
		{"10,000 alternatives", words.String()[1:], true},
		{"many groups", strings.Repeat("()", mega/2), true},
		{"many open groups", strings.Repeat("(", mega), false},
		{"many open classes", strings.Repeat("[", mega), false},
		{"many stars", "a" + strings.Repeat("*", mega), false},
		{"many bars", strings.Repeat("|", mega), true},
		{"many of \\w", strings.Repeat(`\w`, mega/2), true},
		{"many of \\w in a class", "[" + strings.Repeat(`\w`, mega/2) + "]", true},
		{"many properties", strings.Repeat(`\p{Greek}`, mega/10), true},
		{"many nested classes", "[" + strings.Repeat(`[\w]`, mega/50) + "]", true},
		{"many nested classes, each large", "[" + strings.Repeat(`[a\w]`, 100_000) + "]", false},
		{"a long class", "[" + strings.Repeat("az", mega/2) + "]", true},
		{"half-open posix classes", "[" + strings.Repeat("[:", 200), false},
		{"nested counts", "((x{1000}){1000}){1000}", false},
		{"nested counts within the limit", "(x{1000}){1000}", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Parse(c.pattern, Flags{}); (err == nil) != c.want {
				t.Errorf("%.100v", err)
			}
		})
	}
}

func TestHints(t *testing.T) {
	for _, c := range []struct{ pattern, want string }{
		{`foo|bar`, ""},
		{`foo\|bar`, `\|`},
		{`foo\(x\)`, ""},
		{`\(ab\)*`, `\(`},
		{`\(a\|b\)`, `\|`},
		{`a\{2,3\}`, `\{`},
		{`a\{x\}`, ""},
		{`/foo.*/`, "slashes"},
		{`/foo/i`, "(?i)"},
		{`/usr/bin`, ""},
		{`/usr/`, ""},
		{`src/**/*.go`, "glob"},
	} {
		if got := strings.Join(Hints(c.pattern), " "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("Hints(%q) = %q, want %q", c.pattern, got, c.want)
		}
	}
}
