package vault

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/text"
)

// bigVault makes n notes of about 1 KB with five links each.
func bigVault(n int) memory {
	rng := rand.New(rand.NewPCG(1, 1))
	m := memory{}
	path := func(i int) string { return fmt.Sprintf("Area %d/Topic %d/Note %d.md", i%37, i%211, i) }
	for i := range n {
		var s strings.Builder
		for range 5 {
			fmt.Fprintf(&s, "%s see [[%s]] and `code`.\n\n", strings.Repeat("words of text ", 10), stem(path(rng.IntN(n))))
		}
		m[path(i)] = s.String()
	}
	return m
}

// BenchmarkScan compares Scan with goldmark's parser on the same text.
func BenchmarkScan(b *testing.B) {
	var s strings.Builder
	for p, t := range bigVault(200) {
		s.WriteString("# " + stem(p) + "\n\n" + t + "- [a](b%20c.md)\n\n```\ncode\n```\n\n")
	}
	src := []byte(s.String())
	b.Run("vault", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			scanNote(src)
		}
	})
	b.Run("goldmark", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			goldmark.DefaultParser().Parse(text.NewReader(src))
		}
	})
}

func BenchmarkGraph(b *testing.B) {
	for _, n := range []int{5000, 100000} {
		m := bigVault(n)
		paths := m.Paths()
		g, err := NewGraph(ctx, m, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("open/%d", n), func(b *testing.B) {
			for b.Loop() {
				_, _ = NewGraph(ctx, m, nil)
			}
		})
		b.Run(fmt.Sprintf("move/%d", n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				from := paths[i%len(paths)]
				i++
				if _, err := g.Plan(ctx, m, []Move{{from, "Elsewhere/Renamed " + base(from)}}, PlanOptions{Update: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("folder/%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := g.Plan(ctx, m, []Move{{"Area 3", "Elsewhere"}}, PlanOptions{Update: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
