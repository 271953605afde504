package terms

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A Counter gives the same result as counting each part separately, however the text is
// split at its lines.
func TestCounter(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	words := strings.Fields("getUserName get_user_names HTTPServer x Parser parsing größe 0x1F __init__ mutex MUTEX a1b2 URLs")
	c := NewCounter()
	for range 200 {
		var b strings.Builder
		for range rng.IntN(300) {
			w := words[rng.IntN(len(words))]
			if rng.IntN(4) == 0 {
				w = fmt.Sprintf("%s%dw%x", w, rng.IntN(100), rng.IntN(1000))
			}
			b.WriteString(w)
			b.WriteString([]string{" ", "\n", "(", "_", ".\n"}[rng.IntN(5)])
		}
		text := b.String()
		want := map[Key]int{}
		parts := 0
		EachPart([]byte(text), func(s, e int, _ bool) {
			parts++
			want[KeyOf(Append(nil, []byte(text[s:e])))]++
		})
		for k := range want {
			want[k] = min(want[k], MaxCount)
		}
		c.Reset()
		for rest := text; rest != ""; {
			n := strings.IndexByte(rest, '\n') + 1
			if n == 0 || rng.IntN(5) == 0 {
				n = len(rest)
			}
			c.Add([]byte(rest[:n]))
			rest = rest[n:]
		}
		got := map[Key]int{}
		c.Each(func(k Key, n int) { got[k] = min(got[k]+n, MaxCount) })
		if c.Parts() != parts {
			t.Fatalf("%q has %d parts, want %d", text, c.Parts(), parts)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q:\n%s", text, diff)
		}
	}
}

func BenchmarkCounter(b *testing.B) {
	text := []byte(strings.Repeat("static int nf_register_net_hook(struct net *net, const struct nf_hook_ops *reg)\n{\n\tint err = 0;\n\treturn err;\n}\n", 200))
	c := NewCounter()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		c.Reset()
		c.Add(text)
	}
}
