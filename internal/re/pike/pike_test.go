package pike_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"quarry/internal/re/hir"
	"quarry/internal/re/nfa"
	"quarry/internal/re/nfa/nfatest"
	"quarry/internal/re/pike"
	"quarry/internal/stress"
)

func find(p *nfa.Prog, hay string, from int) []int {
	var c pike.Cache
	slots := make([]int, p.Slots)
	if c.Find(p, pike.Input{Hay: []byte(hay), From: from, To: len(hay)}, slots) != pike.Match {
		return nil
	}
	return slots
}

func TestPreference(t *testing.T) {
	for _, c := range []struct {
		name, pattern, hay string
		want               []int
	}{
		{"the first alternative wins", "a|ab", "xab", []int{1, 2}},
		{"greedy takes more", "a+", "xaaa", []int{1, 4}},
		{"lazy takes less", "a+?", "xaaa", []int{1, 2}},
		{"groups of the last round", "(a|b)+", "ab", []int{0, 2, 1, 2}},
		{"a group outside the match is unset", "(a)|b", "b", []int{0, 1, -1, -1}},
		{"literals keep their order through the trie", "abc|ab|abcd", "abcd", []int{0, 3}},
		{"a shorter literal first", "ab|abc|abd", "abd", []int{0, 2}},
		{"a shorter literal first, but it has to fit", "(?:ab|abc|abd)x", "abdx", []int{0, 4}},
		{"an empty round doesn't end the loop", "(?:|a)+", "aaa", []int{0, 0}},
		{"no match", "q", "abc", nil},
		{"scalar values", "[☃-☄]é", "a☃é", []int{1, 6}},
		{"a class never matches a broken encoding", "(?s:.)", "\xff\xe2\x98é", []int{3, 5}},
	} {
		p := nfatest.Compile(t, nfatest.MustParse(c.pattern), nfa.Options{})
		if got := find(p, c.hay, 0); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %q on %q = %v, want %v", c.name, c.pattern, c.hay, got, c.want)
		}
	}
}

func TestStdlibAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	cases, matched := 0, 0
	for range stress.Fewer(6000) {
		pattern := nfatest.Pattern(r, 4)
		std, err := regexp.Compile(pattern)
		if err != nil {
			continue
		}
		p := nfatest.Compile(t, nfatest.MustParse(pattern), nfa.Options{UTF8: true})
		for range 4 {
			hay := nfatest.Text(r, r.IntN(14), false)
			want := std.FindStringSubmatchIndex(hay)
			got := find(p, hay, 0)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%q on %q = %v, stdlib %v", pattern, hay, got, want)
			}
			if cases++; want != nil {
				matched++
			}
		}
	}
	if t.Logf("%d texts compared, the standard library matches %d", cases, matched); matched < cases/4 {
		t.Error("too few of them match")
	}
}

func FuzzStdlib(f *testing.F) {
	for _, s := range []string{"(a+)+$", "(a|aa)+b?", `\bab\B`, "(?i)ſk", "(?m)^a|b$", "(|a)*", "(?:a??){2,3}"} {
		f.Add(s, "aab\nſK a")
	}
	f.Fuzz(func(t *testing.T, pattern, hay string) {
		hay = strings.ToValidUTF8(hay, "")
		std, err := regexp.Compile(pattern)
		if err != nil || len(hay) > 200 || len(pattern) > 100 {
			return
		}
		p, err := nfa.Compile(nfatest.MustParse(pattern), nfa.Options{UTF8: true, SizeLimit: 4 << 20})
		if err != nil {
			return
		}
		want := std.FindStringSubmatchIndex(hay)
		if got := find(p, hay, 0); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q on %q = %v, stdlib %v", pattern, hay, got, want)
		}
	})
}

func look(l hir.Look) *hir.Node { return &hir.Node{Op: hir.OpLook, Look: l} }

func TestLooks(t *testing.T) {
	for _, c := range []struct {
		name string
		look hir.Look
		hay  string
		want []int // offsets where it holds
	}{
		{"start of text", hir.LookStart, "a\nb", []int{0}},
		{"end of text", hir.LookEnd, "a\nb", []int{3}},
		{"start of line", hir.LookStartLine, "a\nb\n", []int{0, 2, 4}},
		{"end of line", hir.LookEndLine, "a\nb\n", []int{1, 3, 4}},
		{"start after CRLF, lone CR and LF", hir.LookStartCRLF, "a\r\nb\rc\n", []int{0, 3, 5, 7}},
		{"end before CRLF, lone CR and LF", hir.LookEndCRLF, "a\r\nb\rc\n", []int{1, 4, 6, 7}},
		{"JavaScript's line starts", hir.LookStartLineJS, "a\r\nb\u2028c", []int{0, 2, 3, 7}},
		{"JavaScript's line ends", hir.LookEndLineJS, "a\r\nb\u2029c", []int{1, 2, 4, 8}},
		{"ASCII word edges ignore é", hir.LookWordASCII, "aé b", []int{0, 1, 4, 5}},
		{"ASCII inside or outside", hir.LookNotWordASCII, "aé b", []int{2, 3}},
		{"Unicode word edges", hir.LookWordUnicode, "aé b", []int{0, 3, 4, 5}},
		{"Unicode \\B, not within é", hir.LookNotWordUnicode, "aé b", []int{1}},
		{"\\b beside an invalid byte", hir.LookWordUnicode, "\xffa\xff", []int{1, 2}},
		{"\\B never beside an invalid byte", hir.LookNotWordUnicode, "\xff\xff a", []int{}},
		{"word starts", hir.LookWordStartUnicode, "é b", []int{0, 3}},
		{"word ends", hir.LookWordEndUnicode, "é b", []int{2, 4}},
		{"ASCII word starts", hir.LookWordStartASCII, "é b", []int{3}},
		{"ASCII word ends", hir.LookWordEndASCII, "é b", []int{4}},
		{"half starts", hir.LookWordStartHalfASCII, "ab ", []int{0, 3}},
		{"half ends", hir.LookWordEndHalfASCII, "ab ", []int{2, 3}},
		{"Unicode half starts, not within é", hir.LookWordStartHalfUnicode, "é ", []int{0, 3}},
		{"Unicode half ends, not beside an invalid byte", hir.LookWordEndHalfUnicode, "é \xff", []int{2, 4}},
	} {
		p := nfatest.Compile(t, look(c.look), nfa.Options{})
		got := []int{}
		for at := range len(c.hay) + 1 {
			var cache pike.Cache
			if cache.Find(p, pike.Input{Hay: []byte(c.hay), From: at, To: at, Anchored: true}, nil) == pike.Match {
				got = append(got, at)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: holds in %q at %v, want %v", c.name, c.hay, got, c.want)
		}
	}
}

func TestContextAndWindow(t *testing.T) {
	hay := []byte("foobar foo")
	p := nfatest.Compile(t, nfatest.MustParse(`\bfoo|bar$|bar`), nfa.Options{})
	var c pike.Cache
	slots := make([]int, 2)
	for _, x := range []struct {
		name       string
		in         pike.Input
		start, end int // -1 if there is no match
	}{
		{"from the middle", pike.Input{From: 3, To: 10}, 3, 6},
		{"assertions see the text before From", pike.Input{From: 4, To: 10}, 7, 10},
		{"a match ends by To", pike.Input{From: 4, To: 9}, -1, -1},
		{"anchored", pike.Input{From: 1, To: 10, Anchored: true}, -1, -1},
		{"anchored and there", pike.Input{From: 3, To: 10, Anchored: true}, 3, 6},
		{"out of bounds", pike.Input{From: 3, To: 99}, -1, -1},
	} {
		x.in.Hay = hay
		got := c.Find(p, x.in, slots)
		if (got == pike.Match) != (x.start >= 0) || got == pike.Match && (slots[0] != x.start || slots[1] != x.end) {
			t.Errorf("%s: %v %v, want %d %d", x.name, got, slots, x.start, x.end)
		}
	}
	p = nfatest.Compile(t, nfatest.MustParse("a+"), nfa.Options{})
	if c.Find(p, pike.Input{Hay: []byte("xaaa"), To: 4, Earliest: true}, slots) != pike.Match || slots[1] != 2 {
		t.Errorf("earliest end %v, want 2", slots)
	}
}

func TestEmptyMatchDoesNotSplit(t *testing.T) {
	hay := "é\xc3☃"
	for _, c := range []struct {
		utf8 bool
		want string
	}{{true, "[0 2 3 6]"}, {false, "[0 1 2 3 4 5 6]"}} {
		p := nfatest.Compile(t, nfatest.MustParse("q*"), nfa.Options{UTF8: c.utf8})
		var got []int
		for at := 0; at <= len(hay); {
			m := find(p, hay, at)
			if m == nil {
				break
			}
			got = append(got, m[0])
			at = m[1] + 1
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("UTF8 %v: empty matches at %v, want %v", c.utf8, got, c.want)
		}
	}
}

func TestCancel(t *testing.T) {
	p := nfatest.Compile(t, nfatest.MustParse("(a|b|c)*z"), nfa.Options{})
	hay := []byte(strings.Repeat("abc", 1<<20))
	asked := 0
	var c pike.Cache
	got := c.Find(p, pike.Input{Hay: hay, To: len(hay), Done: func(int, int) bool { asked++; return asked == 3 }}, make([]int, 2))
	if got != pike.Cancelled || asked != 3 {
		t.Errorf("result %v after %d questions, want cancelled after 3", got, asked)
	}
}

func TestWarmCacheAllocatesNothing(t *testing.T) {
	p := nfatest.Compile(t, nfatest.MustParse(`(\w+)\s+(\d*)`), nfa.Options{UTF8: true})
	hay := []byte("hello  123 été")
	var c pike.Cache
	slots := make([]int, p.Slots)
	run := func() { c.Find(p, pike.Input{Hay: hay, To: len(hay)}, slots) }
	run()
	if n := testing.AllocsPerRun(50, run); n != 0 {
		t.Errorf("%v allocations a search, want none", n)
	}
}

// Patterns that make other engines hang or exhaust memory.
func TestCatastrophic(t *testing.T) {
	stress.SkipTiny(t)
	words := make([]string, 10000)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range words {
		b := make([]byte, 4+r.IntN(8))
		for j := range b {
			b[j] = byte('a' + r.IntN(26))
		}
		words[i] = string(b)
	}
	lit := func(s string) *hir.Node { return &hir.Node{Op: hir.OpLiteral, Lit: []byte(s)} }
	alternates := &hir.Node{Op: hir.OpAlt}
	for _, w := range words {
		alternates.Subs = append(alternates.Subs, lit(w))
	}
	times := func(n *hir.Node, k int) *hir.Node {
		return &hir.Node{Op: hir.OpRepeat, Min: k, Max: k, Greedy: true, Subs: []*hir.Node{n}}
	}
	group := func(n *hir.Node) *hir.Node { return &hir.Node{Op: hir.OpCapture, Cap: 1, Subs: []*hir.Node{n}} }
	// The text must not be periodic: a period of 16 would keep 65,536 threads alive. That is
	// still linear in states times bytes, but takes an hour.
	random := make([]byte, 1<<20)
	for i := range random {
		random[i] = byte('a' + r.IntN(26))
	}
	megabyte := string(random)
	empty := &hir.Node{Op: hir.OpConcat, Subs: []*hir.Node{{Op: hir.OpEmpty}, {Op: hir.OpEmpty}}}
	for _, c := range []struct {
		name     string
		node     *hir.Node
		hay      string
		want     bool
		tooLarge bool
	}{
		{name: "(a+)+$", node: nfatest.MustParse("(a+)+$"), hay: strings.Repeat("a", 20000) + "b"},
		{name: "(x+x+)+y", node: nfatest.MustParse("(x+x+)+y"), hay: strings.Repeat("x", 20000)},
		{name: "(a|aa)+$", node: nfatest.MustParse("(a|aa)+$"), hay: strings.Repeat("a", 20000) + "!"},
		{name: "[a-q][^u-z]{13}x", node: nfatest.MustParse("[a-q][^u-z]{13}x"), hay: strings.Repeat("abcdefgh", 2500)},
		{name: "(x{1000}){1000}", node: times(group(times(lit("x"), 1000)), 1000), tooLarge: true},
		{name: "empty{1000}{1000}{1000}{1000}", node: times(times(times(times(empty, 1000), 1000), 1000), 1000), tooLarge: true},
		{name: "1 MB literal", node: lit(megabyte), hay: "--" + megabyte, want: true},
		{name: "10,000 alternates", node: alternates, hay: strings.Repeat("QQ", 20000) + words[7777], want: true},
	} {
		start := stress.CPU()
		p, err := nfa.Compile(c.node, nfa.Options{})
		if errors.Is(err, nfa.ErrTooLarge) != c.tooLarge {
			t.Errorf("%s: compile error %v, want too large: %v", c.name, err, c.tooLarge)
		}
		if err == nil {
			var cache pike.Cache
			got := cache.Find(p, pike.Input{Hay: []byte(c.hay), To: len(c.hay)}, make([]int, 2)) == pike.Match
			if got != c.want {
				t.Errorf("%s: match %v, want %v", c.name, got, c.want)
			}
		}
		if d := stress.CPU() - start; d > 5*time.Second {
			t.Errorf("%s took %v", c.name, d)
		}
	}
}

// Alternatives of case-insensitive words share their prefixes and keep their order.
func TestFoldedAlternatives(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	words := []string{"a", "ab", "abk", "abc", "kK", "ſs", "b", "[a-c]", "é", "[é☃]k", "", "ba", "[^a]b"}
	for range 3000 {
		// The tree is built here because Go's parser would share prefixes itself.
		alt := &hir.Node{Op: hir.OpAlt}
		var alts []string
		for range 3 + r.IntN(5) {
			w := words[r.IntN(len(words))]
			alts = append(alts, w)
			alt.Subs = append(alt.Subs, nfatest.MustParse("(?i:"+w+")"))
		}
		tail := []string{"", "b", "$", "k?a"}[r.IntN(4)]
		pattern := "(?i:" + strings.Join(alts, "|") + ")" + tail
		std := regexp.MustCompile(pattern)
		node := &hir.Node{Op: hir.OpConcat, Subs: []*hir.Node{alt, nfatest.MustParse(tail)}}
		p := nfatest.Compile(t, node, nfa.Options{UTF8: true})
		for range 4 {
			hay := nfatest.Text(r, r.IntN(8), false)
			want := std.FindStringIndex(hay)
			if got := find(p, hay, 0); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%q on %q = %v, stdlib %v", pattern, hay, got, want)
			}
		}
	}
}
