package dfa_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry/internal/re/dfa"
	"quarry/internal/re/hir"
	"quarry/internal/re/nfa"
	"quarry/internal/re/nfa/nfatest"
	"quarry/internal/stress"
)

// randomWords returns words that are distinct enough for a large trie.
func randomWords(n int) []string {
	r := rand.New(rand.NewPCG(3, 4))
	words := make([]string, n)
	for i := range words {
		b := make([]byte, 4+r.IntN(8))
		for j := range b {
			b[j] = byte('a' + r.IntN(26))
		}
		words[i] = string(b)
	}
	return words
}

// Patterns that make other engines hang or exhaust memory, on a megabyte of unfavourable text.
// All answers of line mode must be right, within the limits of time and memory.
func TestCatastrophic(t *testing.T) {
	stress.SkipShort(t)
	words := randomWords(10000)
	plain, folded := &hir.Node{Op: hir.OpAlt}, &hir.Node{Op: hir.OpAlt}
	for _, w := range words {
		plain.Subs = append(plain.Subs, &hir.Node{Op: hir.OpLiteral, Lit: []byte(w)})
		folded.Subs = append(folded.Subs, nfatest.MustParse("(?i:"+w+")"))
	}
	literal := &hir.Node{Op: hir.OpLiteral, Lit: []byte(strings.Join(randomWords(1<<17), ""))}
	text := func(line string) []byte { return []byte(strings.Repeat(line+"\n", 1<<20/len(line))) }
	all := strings.Repeat("a", 4000)
	r := rand.New(rand.NewPCG(5, 5))
	letters := make([]byte, 1<<20)
	for i := range letters {
		letters[i] = "abcdefghijklmnopqrstuvwxyz     \n"[r.IntN(32)]
	}
	for _, c := range []struct {
		name string
		node *hir.Node
		hay  []byte
		want int // lines; -1 for any number
	}{
		{"(a+)+$", nfatest.MustParse("(a+)+$"), text(all + "b"), 0},
		{"(x+x+)+y", nfatest.MustParse("(x+x+)+y"), text(strings.ReplaceAll(all, "a", "x")), 0},
		{"(a|aa)+$", nfatest.MustParse("(a|aa)+$"), text(all + "!"), 0},
		{"[a-q][^u-z]{13}x", nfatest.MustParse("[a-q][^u-z]{13}x"), letters, -1},
		{"a 1 MB literal", literal, text(string(literal.Lit[:1000])), 0},
		{"10,000 words", plain, letters, -1},
		{"10,000 words without case", folded, letters, -1},
		{"a long line", nfatest.MustParse(`\pL+\d\pL`), []byte(strings.Repeat("a", 4<<20)), 0},
	} {
		start := stress.CPU()
		p := nfatest.Compile(t, c.node, nfa.Options{NoCaptures: true})
		compiled := stress.CPU() - start
		match := exact(p)
		cache := dfa.NewLines(p, nil).NewCache(match)
		got := cache.All(nil, c.hay)
		took := stress.CPU() - start
		t.Logf("%-26s compile %7.1f ms, scan %7.1f ms, %d lines", c.name, compiled.Seconds()*1e3, (took-compiled).Seconds()*1e3, len(got))
		if c.want >= 0 && len(got) != c.want {
			t.Errorf("%s: %d lines, want %d", c.name, len(got), c.want)
		}
		if took > 15*time.Second {
			t.Errorf("%s took %v", c.name, took)
		}
		if c.want < 0 {
			part := c.hay[:32<<10]
			if got, want := cache.All(nil, part), naive(part, match); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %d lines of the first 32 KB, pike %d", c.name, len(got), len(want))
			}
		}
	}
}

// A cache stays within its size, plus or minus the scratch of one state.
func TestCacheIsBounded(t *testing.T) {
	p := nfatest.Compile(t, nfatest.MustParse(`[a-q][^u-z]{11}x`), nfa.Options{NoCaptures: true})
	r := rand.New(rand.NewPCG(6, 6))
	hay := make([]byte, 1<<20)
	for i := range hay {
		hay[i] = "abcdefghijklmnopqrst\n"[r.IntN(21)]
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cache := dfa.NewLines(p, &dfa.Options{CacheSize: 1 << 20}).NewCache(func([]byte) bool { return false })
	cache.All(nil, hay)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int(after.HeapAlloc) - int(before.HeapAlloc); grown > 5<<20 {
		t.Errorf("a cache of 1 MB holds %d KB", grown>>10)
	}
	runtime.KeepAlive(cache)
}

func FuzzEnginesAgree(f *testing.F) {
	for _, s := range []string{"(a+)+$", "(a|aa)+b?", `\bab\B`, "(?i)ſk", "(?m)^a|b$", "(|a)*", "(?:a??){2,3}", "(?i:ab|abc|k)$"} {
		f.Add(s, "aab\nſK a\xff", uint64(1), byte(0))
	}
	f.Fuzz(func(t *testing.T, pattern, hay string, seed uint64, tiny byte) {
		node, err := nfatest.Parse(pattern)
		if err != nil || len(hay) > 400 || len(pattern) > 100 {
			return
		}
		if seed%2 == 0 {
			node = nfatest.WithLooks(rand.New(rand.NewPCG(seed, 0)), node)
		}
		p, err := nfa.Compile(node, nfa.Options{SizeLimit: 1 << 20, UTF8: seed%3 == 0})
		if err != nil {
			return
		}
		rev, err := nfa.Compile(node, nfa.Options{SizeLimit: 4 << 20, Reverse: true})
		if err != nil {
			return
		}
		opt := &dfa.Options{CacheSize: int(tiny) << 8}
		checkFind(t, pattern, dfa.NewFinder(p, rev, opt).NewCache(), p, []byte(hay), 0, len(hay), false)
		match := exact(p)
		got := dfa.NewLines(p, opt).NewCache(match).All(nil, []byte(hay))
		if want := naive([]byte(hay), match); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q on %q: lines %v, want %v", pattern, hay, got, want)
		}
	})
}
