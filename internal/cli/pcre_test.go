package cli

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// pcreHay is a text for which the results of the patterns differ.
const pcreHay = `foo bar baz
Étude in É major, café naïve
ÉCLAIR éclair
aa bb abab aabb
tab	tab  two
x]y [z] {1} a{,3} aaa
one1 two22 three٣
"quoted" 'single' (paren)
foofoo barbar foobar
$5.00 100% a-b_c
ſtraße STRASSE K k
α β Γ γ Ω
a.b a*b a+b a?b a\b
12:34:56 2024-01-02
  indented
end of line.
line with   nbsp
日本語 text
`

// pcrePatternList has the patterns of TestPCRE, most of them from PCRE2's manual.
var pcrePatternList = strings.Fields(strings.ReplaceAll(`
foo \bfoo\b \Bar (?<=foo)bar (?<!foo)bar foo(?=bar) foo(?!bar) (foo)\1 (\w)\1 (\w+)\s+\1 (?<w>o)\k<w> (?<w>o)\k{w} (?<w>o)\k'w'
(?P<w>o)(?P=w) (?'w'o)\k<w> (o)\g1 (o)\g{1} (a)(b)\g{-1} (a)(b)\g{-2} \p{Lu} \p{Ll}+ \P{L} \pL+ \PL \p{^Lu} \p{L&} \p{N}+ \p{Nd} \p{Zs} \p{P} \p{S} \p{M}
\p{Greek} \p{Latin}+ \p{Any} \p{L}+ \x{C9} \xC9 \x41 \x{1F600} \o{101} \e \a \t \cI \x \N+ \h+ \H+ \v \V+ \R \X \C \K foo\Kbar \Q[z]\E \Qa.b\E \Qa*b
\d+ \D+ \w+ \W+ \s+ \S+ [[:alpha:]]+ [[:digit:]]+ [[:space:]]+ [[:upper:]]+ [[:lower:]]+ [[:alnum:]]+ [[:punct:]]+ [[:word:]]+ [[:blank:]]+ [[:xdigit:]]+ [[:^alpha:]]+ [[:foo:]]
[^]]x []x] x[]]y [^]] [a-c]+ [a\-c]+ [-a]+ [a-]+ [\w-]+ [\d.]+ [\]] [\[z] [[z]+ [a[b]+ [\x41-\x43]+ [É-é]+ [^\W\d]+ [\b] [\D]+ [^\s]+ [\p{Lu}x]+ [\Q^]\E]+ [\1] [\12] [a-\d] [z-a]
a{2} a{2,} a{2,3} a{,3} a{0,3}b a{ 1,2 } a{x} {1} a{1}{2} a++ a*+b a?+ a** a+? a*?b (a|b)+ (?:ab)+ (?:a|b)\b (a)?b\1 (a)|b\1 (a|(b))\2 (?:(a)|b)*\1 (a\1) \1(a) (a)\2 \2(a)
(?i)foo (?i:foo)bar foo(?i)BAR (?-i)foo (?i)étude (?i:É)tude (?s)foo.bar (?s). (?m)^foo (?x)f_o_o (?U)a+ (?J)a (?n)(a)
(?>foo)bar (?|a|b) (?#comment)foo foo(?#x)bar (?R) (?1) (a(?1)?b) (?&n) (?(1)a|b) (*FAIL) (*UTF)a (*ACCEPT) (?C1)a (?=a)* (?:a)*+ (?!foo)\w+ (?=.*bar)foo (?<=a|bc)d (?<=a+)b (?<!^)foo
^foo foo$ ^$ ^ $ line\.$ \Afoo foo\z foo\Z \Gfoo ^\s+ . .* .{3} é É [éÉ] α|γ \x{3b1} Ω (?i)ω (?i)STRASSE (?i)k (?i)ſ [^a-z]+ [^É]+日 日本語 \p{Han}+ \p{Lo}+
\. \* \+ \? \\ \( \) \[ \{ \} \| \^ \$ \/ \- \_ \" \' \% \# \@ \é \y \i \j \m \q \u0041 \U \L \E \08 \012 \0 \101 \377 \9
(\d+):(\d+):(\d+) (\d{4})-(\d\d)-(\d\d) (?<y>\d{4})-(?<m>\d\d) ((a)(b))\2 ((\w)\2) (\w)(\w)\2\1 (.)(.)\2\1 (?:(\w)\1)+ ([ab])\1 (a)\1* (a)\1{2} (a*)+\1 (a*)\1b (ab|a)\1 (|a)\1
\w+(?=\s) (?<=\s)\w+ (?<!\w)b\w* \b\p{Lu}\w* [A-ZÉ]\w+ (?<![\w.])\d+ \d{1,2}:\d{2} "[^"]*" '[^']+' \([^)]*\) \$\d+\.\d\d \b(\w)\w*\1\b (?=\w*a)\w*b\w*
(?:foo|bar){2} (?:foo|bar)baz? (?<=^|\s)two \S+$ ^\S+ [^\x00-\x7F]+ \p{L}\p{M}* (?i)[a-c]+ (?i)é (?i:ß) (?i)γ \bK\b [\p{L}\p{N}_]+ [^\p{L}\s]+ (\p{L})\1
a|b|c (a|ab)(c|bcd) foo||bar | (|foo) () (?:) [ a( a) a[b *a +a ?a (?< (?P (?P< \k \k< \g \p \p{ \p{Foo} \x{ \x{110000} \o{9} [[:alpha:] (?'n)a \c
`, "_", " "))

// withoutEmpty removes empty matches, which are a documented difference: see "Empty matches lie
// between characters".
func withoutEmpty(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if !strings.HasSuffix(line, ":\n") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestPCRE checks that -P either prints the same as ripgrep with PCRE2, or refuses the pattern.
func TestPCRE(t *testing.T) {
	rg, version := ripgrep(t)
	if err := exec.Command(rg, "--pcre2-version").Run(); err != nil || version < 14 {
		t.Skip("no ripgrep 14 or later with PCRE2 to compare with: set QUARRY_RG")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("hay", []byte(pcreHay), 0o666); err != nil {
		t.Fatal(err)
	}
	same, printed, refused, both := 0, 0, 0, 0
	for _, flags := range [][]string{{"-on"}, {"-n"}, {"-oni"}, {"-onw"}} {
		for _, p := range pcrePatternList {
			args := append([]string{"-P"}, append(flags, "-e", p, "hay")...)
			want := runSuite(rg, append([]string{"--no-config"}, args...), &suiteCommand{dir: dir}, "")
			got := runQuarry("", append([]string{"search"}, args...)...)
			switch {
			case got.code == exitError && want.code == exitError:
				both++
			case got.code == exitError:
				refused++
				if flags[0] == "-on" {
					t.Logf("refused: %s: %s", p, strings.TrimSpace(got.err))
				}
			case p == `\Afoo` && flags[0] != "-n": // docs/CONFORMANCE.md: \A with -o
			case withoutEmpty(got.out) != withoutEmpty(want.out) || got.code != want.code:
				t.Errorf("%s -P %q: %q, PCRE2 gives %q (%s)", flags, p, shortened(got.out), shortened(want.out), strings.TrimSpace(want.err))
			default:
				same++
				if want.out != "" {
					printed++
				}
			}
		}
	}
	t.Logf("%d patterns, each in 4 ways: %d the same, %d of them with output, %d refused here, %d by both", len(pcrePatternList), same, printed, refused, both)
	if printed < same/2 || same < 600 {
		t.Errorf("%d the same, %d with output: too few", same, printed)
	}
}
