package dfa_test

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"quarry/internal/re/dfa"
	"quarry/internal/re/nfa"
	"quarry/internal/re/nfa/nfatest"
	"quarry/internal/stress"
)

const (
	unicodeWord  = `[\pL\pM\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}]`
	unicodeSpace = `[\t\v\f\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]`
)

// benchText returns up to 300 MB of C source from the tree named by QUARRY_BENCH_TREE, read
// once.
var benchText = sync.OnceValue(func() []byte {
	root := os.Getenv("QUARRY_BENCH_TREE")
	if root == "" {
		return nil
	}
	const size = 300 << 20
	text := make([]byte, 0, size+1<<20)
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || len(text) >= size {
			return nil
		}
		if ext := filepath.Ext(path); ext != ".c" && ext != ".h" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil && bytes.IndexByte(data, 0) < 0 {
			text = append(text, data...)
		}
		return nil
	})
	return text
})

func BenchmarkLines(b *testing.B) {
	text := benchText()
	if text == nil {
		b.Skip("set QUARRY_BENCH_TREE to a large folder")
	}
	if out := os.Getenv("QUARRY_BENCH_TEXT"); out != "" { // for running a peer on the same bytes
		if err := os.WriteFile(out, text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for _, c := range []struct{ name, pattern string }{
		{"words", unicodeWord + "{5}" + unicodeSpace + "+" + unicodeWord + "{5}" + unicodeSpace + "+" + unicodeWord + "{5}"},
		{"wordsASCII", `\w{5}\s+\w{5}\s+\w{5}`},
		{"suspend", `[A-Z]+_SUSPEND`},
		{"static", `^` + unicodeSpace + `*static` + unicodeSpace + `+(inline` + unicodeSpace + `+)?int` + unicodeSpace + `+` + unicodeWord + `+\(`},
		{"greek", `\p{Greek}`},
		{"fold4", `(?i)foobar|quuxes|kmalloc_node|spinlock_irq`},
		{"boundary", `\b[a-z]{3}_\d+\b`},
		{"every", `.`},
	} {
		p := nfatest.Compile(b, nfatest.MustParse(c.pattern), nfa.Options{NoCaptures: true})
		cache := dfa.NewLines(p, nil).NewCache(exact(p))
		var lines []dfa.Line
		for _, size := range []int{64 << 10, 4 << 20} {
			b.Run(c.name+map[bool]string{true: "/64K", false: "/4M"}[size < 1<<20], func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				count := 0
				best := time.Duration(math.MaxInt64)
				for b.Loop() {
					count = 0
					start := stress.CPU()
					for at := 0; at < len(text); {
						end := min(at+size, len(text))
						if n := bytes.LastIndexByte(text[at:end], '\n'); n >= 0 {
							end = at + n + 1
						}
						lines = cache.All(lines[:0], text[at:end])
						count += len(lines)
						at = end
					}
					best = min(best, stress.CPU()-start)
				}
				b.ReportMetric(float64(len(text))/best.Seconds()/1e9, "GB/cpu-s")
				b.ReportMetric(float64(count), "lines")
			})
		}
	}
}

// BenchmarkSpans finds every span of the first 30 MB, both line by line, as a caller does
// after Lines, and as one text.
func BenchmarkSpans(b *testing.B) {
	text := benchText()
	if text == nil {
		b.Skip("set QUARRY_BENCH_TREE to a large folder")
	}
	text = text[:bytes.LastIndexByte(text[:30<<20], '\n')]
	for _, pattern := range []string{`\w+_lock\b`, unicodeWord + `+\(`, `[A-Z]+_SUSPEND`} {
		node := nfatest.MustParse(pattern)
		fwd := nfatest.Compile(b, node, nfa.Options{NoCaptures: true})
		cache := dfa.NewFinder(fwd, nfatest.Compile(b, node, nfa.Options{Reverse: true}), nil).NewCache()
		all := func(hay []byte) (n int) {
			for at := 0; at <= len(hay); n++ {
				_, end, r := cache.Find(hay, at, len(hay), false)
				if r != dfa.Match {
					break
				}
				at = end
			}
			return n
		}
		for _, byLine := range []bool{true, false} {
			b.Run(map[bool]string{true: "lines/", false: "text/"}[byLine]+pattern, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				count := 0
				best := time.Duration(math.MaxInt64)
				for b.Loop() {
					count = 0
					start := stress.CPU()
					if byLine {
						for rest := text; len(rest) > 0; {
							line := rest
							if n := bytes.IndexByte(rest, '\n'); n >= 0 {
								line = rest[:n]
							}
							count += all(line)
							rest = rest[min(len(line)+1, len(rest)):]
						}
					} else {
						count = all(text)
					}
					best = min(best, stress.CPU()-start)
				}
				b.ReportMetric(float64(len(text))/best.Seconds()/1e9, "GB/cpu-s")
				b.ReportMetric(float64(count), "spans")
			})
		}
	}
}
