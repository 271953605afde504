package review

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestMerge accepts random subsets of hunks. All hunks give the new text, none the old
// one, and a single hunk only its own change.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	endings := []string{"\n", "\r\n", ""}
	for range 3000 {
		var a, b bytes.Buffer
		for range r.IntN(60) {
			line := strings.Repeat(string(rune('a'+r.IntN(4))), r.IntN(3)) + endings[r.IntN(2)]
			switch r.IntN(12) {
			case 0:
				a.WriteString(line)
			case 1:
				b.WriteString(line)
			case 2:
				a.WriteString(line)
				b.WriteString("changed" + line)
			default:
				a.WriteString(line)
				b.WriteString(line)
			}
		}
		if r.IntN(3) == 0 {
			a.WriteString("last, without an ending")
		}
		if r.IntN(3) == 0 {
			b.WriteString("last, without an ending")
		}
		old, new := a.Bytes(), b.Bytes()
		hunks := hunksOf(old, new)
		decide := func(v func(int) Verdict) []Hunk {
			list := bytesClone(hunks)
			for i := range list {
				list[i].Verdict = v(i)
			}
			return list
		}
		if got := merge(old, decide(func(int) Verdict { return Yes })); !bytes.Equal(got, new) {
			t.Fatalf("all of %q to %q gives %q", old, new, got)
		}
		if got := merge(old, decide(func(int) Verdict { return No })); !bytes.Equal(got, old) {
			t.Fatalf("none of %q to %q gives %q", old, new, got)
		}
		for k := range hunks {
			one := merge(old, decide(func(i int) Verdict {
				if i == k {
					return Yes
				}
				return No
			}))
			// The remaining difference is the other hunks.
			rest := merge(old, decide(func(i int) Verdict {
				if i == k {
					return No
				}
				return Yes
			}))
			if len(hunks) > 1 && (bytes.Equal(one, old) || bytes.Equal(rest, new)) {
				t.Fatalf("hunk %d of %q to %q does nothing", k, old, new)
			}
			if len(one)+len(rest) != len(old)+len(new) {
				t.Fatalf("hunk %d of %q to %q: %q and the rest %q don't add up", k, old, new, one, rest)
			}
		}
	}
}

func bytesClone(list []Hunk) []Hunk { return append([]Hunk(nil), list...) }
