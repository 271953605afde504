package scan

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"quarry/internal/stress"
	"quarry/match"
	"quarry/search"
)

// split groups the lines of a result into blocks.
func split(lines []search.Line) [][]search.Line {
	var blocks [][]search.Line
	for i, l := range lines {
		if i == 0 || l.Number != lines[i-1].Number+1 {
			blocks = append(blocks, nil)
		}
		blocks[len(blocks)-1] = append(blocks[len(blocks)-1], l)
	}
	return blocks
}

// Beyond the limit matching lines are counted, not reported.
func TestKeepHits(t *testing.T) {
	s := New(match.MustCompile("x", match.Options{}).NewMatcher())
	r, err := s.Bytes([]byte(strings.Repeat("x\n-\n-\n-\n", 10)), &Request{Before: 1, After: 1, KeepHits: 3})
	if err != nil || r.Matched != 10 {
		t.Fatalf("%d matches, %v", r.Matched, err)
	}
	var got []int
	for _, l := range r.Lines {
		got = append(got, l.Number)
	}
	if want := []int{1, 2, 4, 5, 6, 8, 9}; !slices.Equal(got[:len(want)], want) || len(got) > len(want)+1 {
		t.Errorf("lines %v, want %v", got, want)
	}
}

// With limits the counts are the same, and the kept lines are the start of each of the
// first blocks.
func TestBlockBounds(t *testing.T) {
	stress.SkipTiny(t)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var b strings.Builder
		long := rng.IntN(10) == 0
		for n := rng.IntN(400); n > 0; n-- {
			switch rng.IntN(6) {
			case 0:
				b.WriteString(strings.Repeat("x\n", 1+rng.IntN(30)))
			case 1:
				b.WriteString("x\n")
			default:
				b.WriteString(strings.Repeat("-\n", rng.IntN(6)))
				if long {
					b.WriteString(strings.Repeat("-", 3000) + "\n")
				}
			}
		}
		ctx := rng.IntN(3)
		full := Request{Before: ctx, After: ctx, Gap: 2*ctx + 1, Spans: rng.IntN(2) == 0}
		bound := full
		bound.KeepBlocks, bound.BlockLines = 1+rng.IntN(20), 1+rng.IntN(12)
		scan := func(req *Request) Result {
			s := New(match.MustCompile("x", match.Options{}).NewMatcher())
			r, err := s.File(bytes.NewReader([]byte(b.String())), int64(b.Len()), req)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		all, some := scan(&full), scan(&bound)
		blocks := split(all.Lines)
		if all.Blocks != len(blocks) || some.Blocks != all.Blocks || some.Matched != all.Matched {
			t.Fatalf("%d blocks, bounded %d, shown %d; %d and %d matches", all.Blocks, some.Blocks, len(blocks), all.Matched, some.Matched)
		}
		first, last := 0, 0
		for _, l := range all.Lines {
			if l.Hit && first == 0 {
				first = l.Number
			}
			if l.Hit {
				last = l.Number
			}
		}
		counts := bound
		counts.Detail, counts.Spans, counts.Before, counts.After = Count, false, 0, 0
		if r := scan(&counts); r.Blocks != all.Blocks || r.Matched != all.Matched || r.First != first || r.Last != last || r.Lines != nil {
			t.Fatalf("counted %d blocks and %d lines from %d to %d, want %d and %d from %d to %d", r.Blocks, r.Matched, r.First, r.Last, all.Blocks, all.Matched, first, last)
		}
		kept := split(some.Lines)
		if want := min(len(blocks), bound.KeepBlocks); len(kept) != want {
			t.Fatalf("%d blocks kept, not %d", len(kept), want)
		}
		for i, k := range kept {
			if len(k) < min(len(blocks[i]), bound.BlockLines) || len(k) > min(len(blocks[i]), bound.BlockLines+2*ctx+1) {
				t.Fatalf("block %d: %d lines kept of %d, bound %d", i, len(k), len(blocks[i]), bound.BlockLines)
			}
			for j := range k {
				if k[j].Number != blocks[i][j].Number || k[j].Hit != blocks[i][j].Hit {
					t.Fatalf("block %d: line %d is %d, not %d", i, j, k[j].Number, blocks[i][j].Number)
				}
			}
		}
	}
}
