package hir_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"

	. "quarry/internal/re/hir"
	"quarry/internal/re/hir/hirtest"
	"quarry/internal/stress"
)

// backtrack is the simplest possible matcher. It calls k for every way in which n can match
// text from offset i, in order of preference, with the groups so far. An empty iteration ends
// its loop. The search ends when steps reaches 0.
func backtrack(n *Node, text string, i int, groups []int, steps *int, k func(end int, groups []int)) {
	if *steps--; *steps <= 0 {
		return
	}
	switch n.Op {
	case OpEmpty:
		k(i, groups)
	case OpLiteral:
		if len(text)-i >= len(n.Lit) && text[i:i+len(n.Lit)] == string(n.Lit) {
			k(i+len(n.Lit), groups)
		}
	case OpClass:
		if i == len(text) {
			return
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if n.Class.Bytes {
			r, size = rune(text[i]), 1
		}
		if n.Class.Contains(r) {
			k(i+size, groups)
		}
	case OpLook:
		if n.Look == LookStart && i == 0 || n.Look == LookEnd && i == len(text) {
			k(i, groups)
		}
	case OpCapture:
		backtrack(n.Subs[0], text, i, groups, steps, func(end int, groups []int) {
			groups = slices.Clone(groups)
			groups[2*n.Cap], groups[2*n.Cap+1] = i, end
			k(end, groups)
		})
	case OpConcat:
		var next func(j, i int, groups []int)
		next = func(j, i int, groups []int) {
			if j == len(n.Subs) {
				k(i, groups)
				return
			}
			backtrack(n.Subs[j], text, i, groups, steps, func(end int, groups []int) { next(j+1, end, groups) })
		}
		next(0, i, groups)
	case OpAlt:
		for _, s := range n.Subs {
			backtrack(s, text, i, groups, steps, k)
		}
	case OpRepeat:
		var loop func(count, i int, groups []int)
		loop = func(count, i int, groups []int) {
			if count >= n.Min && !n.Greedy {
				k(i, groups)
			}
			if n.Max == Unlimited || count < n.Max {
				backtrack(n.Subs[0], text, i, groups, steps, func(end int, groups []int) {
					if end > i || count < n.Min {
						loop(count+1, end, groups)
					} else {
						k(end, groups)
					}
				})
			}
			if count >= n.Min && n.Greedy {
				k(i, groups)
			}
		}
		loop(0, i, groups)
	}
}

// outcomes lists each end of a match once, with the groups of the preferred way to it. ok is
// false if there are too many ways.
func outcomes(n *Node, text string) (out []string, ok bool) {
	seen := map[int]bool{}
	steps := 3000
	backtrack(n, text, 0, make([]int, 8), &steps, func(end int, groups []int) {
		if !seen[end] {
			seen[end] = true
			out = append(out, fmt.Sprint(end, groups))
		}
	})
	return out, steps > 0
}

// randomTree builds one expression twice: with the constructors, which simplify, and node by
// node as written.
func randomTree(rng *rand.Rand, depth int, groups *int) (built, plain *Node) {
	leaf := func(n *Node) (*Node, *Node) { return n, n }
	op := rng.IntN(10)
	if depth == 0 {
		op = rng.IntN(5)
	}
	switch op {
	case 0:
		return leaf(Empty())
	case 1, 2:
		return leaf(Literal([]byte([]string{"a", "b", "ab", "é", "\xff"}[rng.IntN(5)])))
	case 3:
		return leaf(OneOf([]*Class{NewClass(Range{'a', 'b'}), NewClass(Range{'a', 'é'}), NewByteClass(Range{0x80, 0xFF}), NewClass()}[rng.IntN(4)]))
	case 4:
		return leaf(Assert([]Look{LookStart, LookEnd}[rng.IntN(2)]))
	case 5, 6:
		b, p := randomTree(rng, depth-1, groups)
		bounds := [][2]int{{0, 1}, {0, Unlimited}, {1, Unlimited}, {0, 0}, {1, 1}, {2, 3}, {2, Unlimited}, {0, 2}}[rng.IntN(8)]
		greedy := rng.IntN(3) > 0
		return Repeat(b, bounds[0], bounds[1], greedy),
			&Node{Op: OpRepeat, Min: bounds[0], Max: bounds[1], Greedy: greedy, Subs: []*Node{p}}
	case 7:
		if *groups == 3 {
			return leaf(Empty())
		}
		*groups++
		index := *groups
		b, p := randomTree(rng, depth-1, groups)
		return Capture(b, index, ""), Capture(p, index, "")
	}
	var bs, ps []*Node
	for range 2 + rng.IntN(2) {
		b, p := randomTree(rng, depth-1, groups)
		bs, ps = append(bs, b), append(ps, p)
	}
	if op == 8 {
		return Concat(bs...), &Node{Op: OpConcat, Subs: ps}
	}
	return Alt(bs...), &Node{Op: OpAlt, Subs: ps}
}

// TestSimplificationKeepsTheOrder compares the constructors with trees that were not
// simplified: same ends, same order, same groups.
func TestSimplificationKeepsTheOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	texts := []string{"", "a", "ab", "aab", "abab", "éa", "aé\xffb", "bbaa"}
	simplified, compared := 0, 0
	for range stress.Fewer(10_000) {
		groups := 0
		built, plain := randomTree(rng, 4, &groups)
		if err := hirtest.Check(built); err != nil {
			t.Fatal(err)
		}
		if numCaptures(built) != groups {
			t.Fatalf("%v of %v lost a group", hirtest.Show(built), hirtest.Show(plain))
		}
		if !hirtest.Equal(built, plain) {
			simplified++
		}
		least := built.MinLen()
		most, bounded := built.MaxLen()
		for _, text := range texts {
			got, ok := outcomes(built, text)
			want, ok2 := outcomes(plain, text)
			if !ok || !ok2 {
				continue
			}
			compared++
			if !slices.Equal(got, want) {
				t.Fatalf("on %q\n%v gives %q\n%v gives %q", text, hirtest.Show(plain), want, hirtest.Show(built), got)
			}
			for _, o := range got {
				var end int
				fmt.Sscan(o, &end)
				if end < least || bounded && end > most {
					t.Fatalf("%v takes %d bytes of %q, not %d to %d", hirtest.Show(built), end, text, least, most)
				}
			}
		}
	}
	if simplified < stress.Fewer(2900) || compared < stress.Fewer(50_000) {
		t.Errorf("only %d trees were simplified, %d results compared", simplified, compared)
	}
}

// numCaptures returns the largest group index in the tree, 0 without groups.
func numCaptures(n *Node) int {
	most := n.Cap
	for _, sub := range n.Subs {
		most = max(most, numCaptures(sub))
	}
	return most
}
