package cli

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"quarry/internal/stress"
)

// pcreASCII and pcreMore are texts for random patterns. Empty matches are compared only in
// pcreASCII.
const (
	pcreASCII = "foo bar baz\naa bb abab aabb\n\nab\tab  ba\n_a1 b22 c-d.e\nfoofoo barfoo\nxxx yyy x\n  ab\nab  \nABC aBc\n"
	pcreMore  = "é ab É\nαβγ ab\n日本 ab ab\nab é1\nΔ δ ab\n"
)

// pcreRandom returns a random pattern. groups is the number of groups so far.
func pcreRandom(rng *rand.Rand, depth int, groups *int) string {
	if depth == 0 {
		return pick(rng, "a", "b", "ab", "foo", "o", "x", ".", `\w`, `\d`, `\s`, `\W`, "[a-c]", "[^a]", `[\w-]`, `\b`, `\B`, "^", "$", " ", "bar", `\x61`, `\S`, "é", `\p{L}`, `\p{Lu}`, "[[:alpha:]]", "")
	}
	sub := func() string { return pcreRandom(rng, depth-1, groups) }
	switch rng.IntN(19) {
	case 0, 1, 2, 3:
		return sub() + sub()
	case 4, 5:
		return "(?:" + sub() + "|" + sub() + ")"
	case 6:
		*groups++
		return "(" + sub() + ")"
	case 7, 8, 9:
		return "(?:" + sub() + ")" + pick(rng, "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}", "{2,}")
	case 10:
		return pick(rng, "a", `\w`, "[ab]", ".", `\s`) + pick(rng, "*", "+", "?", "+?", "{2}", "*+", "++", "?+")
	case 11, 12:
		return pick(rng, "(?=", "(?!") + sub() + ")"
	case 13:
		return pick(rng, "(?<=", "(?<!") + pick(rng, "a", "b", "ab", `\w`, "[^a]", "foo", "a|b", "^") + ")"
	case 14:
		if *groups > 0 {
			return fmt.Sprintf(`\%d`, 1+rng.IntN(*groups))
		}
		return sub()
	case 15:
		return "(?>" + sub() + ")" + pick(rng, "", "", "?")
	case 16:
		return pick(rng, "(?i:", "(?s:", "(?i)", "(?-i:", "(?m:") + sub() + ")"
	case 17:
		return pick(rng, `\A`, `\z`, `\Z`) + sub()
	}
	return sub() + "|" + sub()
}

func pcrePattern(rng *rand.Rand) string {
	groups := 0
	p := pcreRandom(rng, 1+rng.IntN(4), &groups)
	if rng.IntN(12) == 0 { // often results in an invalid pattern
		at := rng.IntN(len(p) + 1)
		p = p[:at] + pick(rng, "(", ")", "[", "*", "{2}", `\`, "?", "(?i)", "]", "{,2}", "+") + p[at:]
	}
	return p
}

// pcreExplained returns the line of docs/CONFORMANCE.md that explains a difference of -P, or "".
func pcreExplained(p, file string, flags []string) string {
	has := func(s string) bool { return strings.Contains(strings.Join(flags, ""), s) }
	shown := runQuarry("", "rg", "-P", "-on", "-e", p, file)
	empty := shown.code == exitError || strings.Contains(shown.out, ":\n")
	switch {
	case has("crlf") && !has("U"):
		return "line feed of a line that ends in it alone"
	case strings.Contains(p, `\A`) && (has("o") || has("count-matches")):
		return `\A with -o`
	case empty && (file == "more" || has("U")):
		return "empty matches lie between characters"
	}
	return ""
}

// TestPCRERandom compares random patterns of -P with PCRE2.
func TestPCRERandom(t *testing.T) {
	stress.SkipShort(t)
	rg, version := ripgrep(t)
	if err := exec.Command(rg, "--pcre2-version").Run(); err != nil || version < 15 {
		t.Skip("no ripgrep 15 with PCRE2 to compare with: set QUARRY_RG")
	}
	inDocs := documented(t)
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{"ascii": pcreASCII, "more": pcreMore} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	n := *rgCases
	if n == 0 {
		n = stress.Size(250, 5000)
	}
	same, printed, refused, both, wrong := 0, 0, 0, 0, 0
	reasons := map[string]int{}
	explained := map[string]int{}
	for seed := range n {
		rng := rand.New(rand.NewPCG(uint64(seed), 2))
		p := pcrePattern(rng)
		file := pick(rng, "ascii", "ascii", "more")
		flags := pick(rng, []string{"-on"}, []string{"-n"}, []string{"-oni"}, []string{"-c"}, []string{"--count-matches"}, []string{"-onU"}, []string{"-cU"}, []string{"-nU"}, []string{"-onw"}, []string{"-nv"}, []string{"-nx"}, []string{"-onU", "--multiline-dotall"}, []string{"-on", "--crlf"}, []string{"-onU", "--crlf"})
		args := append(append([]string{"-P", "--no-mmap"}, flags...), "-e", p, file)
		want := runSuite(rg, append([]string{"--no-config"}, args...), &suiteCommand{dir: dir}, "")
		got := runQuarry("", append([]string{"rg"}, args...)...)
		if file == "more" && slices.ContainsFunc(flags, func(f string) bool { return strings.Contains(f, "o") }) {
			want.out, got.out = withoutEmpty(want.out), withoutEmpty(got.out)
		}
		switch {
		case got.code == exitError && want.code == exitError:
			both++
		case got.code == exitError:
			refused++
			reason, _, _ := strings.Cut(got.err, "\n")
			reasons[reason]++
		case got.out != want.out || got.code != want.code:
			if line := pcreExplained(p, file, flags); line != "" {
				explained[line]++
				continue
			}
			wrong++
			t.Errorf("seed %d: %s -P %q %s: %s", seed, flags, p, file, firstDifference(want, got))
		default:
			same++
			if want.out != "" {
				printed++
			}
		}
	}
	t.Logf("%d pairs: %d the same, %d of them with output, %d refused here, %d by both, %d differ, explained %v", n, same, printed, refused, both, wrong, explained)
	if printed < n/3 {
		t.Errorf("%d pairs have output and are the same: too few of %d", printed, n)
	}
	inDocs(slices.Collect(maps.Keys(explained)))
	for r, k := range reasons {
		if k > n/200 {
			t.Log(k, r)
		}
	}
}
