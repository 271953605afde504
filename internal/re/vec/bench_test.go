package vec

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/internal/stress"
)

// The benchmarks run on 300 MB of text: QUARRY_BENCH_TEXT names a file, or QUARRY_BENCH_TREE a
// folder whose text files are joined. If rg is on the path, or named by QUARRY_BENCH_RG, each
// line also has the ratio to rg's rate on the same bytes (one thread, no mmap, warm page cache),
// and the benchmark fails if the numbers of matching lines differ. Rates are per processor time:
//
//	QUARRY_BENCH_TREE=linux-6.1 go test -run '^$' -bench . -benchtime 5x ./internal/re/vec

const benchSize = 300 << 20

var benchText = sync.OnceValues(func() ([]byte, error) {
	if path := os.Getenv("QUARRY_BENCH_TEXT"); path != "" {
		text, err := os.ReadFile(path)
		return text[:min(len(text), benchSize)], err
	}
	root := os.Getenv("QUARRY_BENCH_TREE")
	if root == "" {
		return nil, errors.New("set QUARRY_BENCH_TEXT or QUARRY_BENCH_TREE")
	}
	text := make([]byte, 0, benchSize)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && bytes.IndexByte(data, 0) < 0 {
			text = append(text, data[:min(len(data), benchSize-len(text))]...)
		}
		if len(text) == benchSize {
			return fs.SkipAll
		}
		return err
	})
	return text, err
})

func loadText(b *testing.B) []byte {
	b.Helper()
	text, err := benchText()
	if err != nil {
		b.Skipf("needs the source of Go as text to search: install Go from go.dev: %v", err)
	}
	return text
}

// rg runs rg on text and returns its processor time, which includes reading the file, and the
// number of matching lines. Without rg the time is 0.
func rg(b *testing.B, text []byte, args ...string) (took time.Duration, lines int) {
	b.Helper()
	name := cmp.Or(os.Getenv("QUARRY_BENCH_RG"), "rg")
	path := filepath.Join(os.TempDir(), "quarry-vec-bench-"+strconv.Itoa(len(text))+".txt")
	if st, err := os.Stat(path); err != nil || st.Size() != int64(len(text)) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	cmd := exec.Command(name, slices.Concat([]string{"--no-config", "-j1", "--no-mmap", "-c", "-a"}, args, []string{path})...)
	out, _ := cmd.Output() // rg fails if no line matches
	if cmd.ProcessState == nil {
		return 0, 0
	}
	lines, _ = strconv.Atoi(strings.TrimSpace(string(out)))
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), lines
}

// countLines counts the lines in which find has a match, like rg -c.
func countLines(text []byte, find func([]byte, int) int) int {
	n := 0
	for pos := 0; pos < len(text); {
		i := find(text, pos)
		if i < 0 {
			break
		}
		n++
		if pos = IndexByte(text, '\n', i) + 1; pos == 0 {
			break
		}
	}
	return n
}

// benchLines measures counting lines with find. It alternates with rg, run with args, and
// compares the best of each.
func benchLines(b *testing.B, find func([]byte, int) int, args ...string) {
	text := loadText(b)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	best, theirs := time.Hour, time.Hour
	lines := 0
	for b.Loop() {
		start := stress.CPU()
		lines = countLines(text, find)
		best = min(best, stress.CPU()-start)
		if len(args) == 0 {
			continue
		}
		b.StopTimer()
		took, want := rg(b, text, args...)
		theirs = min(theirs, took)
		if took > 0 && lines != want {
			b.Fatalf("%d lines, rg has %d", lines, want)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(len(text))/best.Seconds()/1e9, "GB/s")
	b.ReportMetric(float64(lines), "lines")
	if len(args) > 0 && theirs > 0 {
		b.ReportMetric(theirs.Seconds()/best.Seconds(), "×rg")
	}
}

var benchNeedles = []struct{ name, needle string }{
	{"rare", "PM_RESUME"},
	{"none", "Zanzibar quux"},
	{"common", "struct"},
	{"word", "return"},
	{"two", "ze"},
	{"one", "Z"},
	{"long", "THIS SOFTWARE IS PROVIDED BY"},
}

func BenchmarkFinder(b *testing.B) {
	for _, c := range benchNeedles {
		needle := []byte(c.needle)
		for _, l := range levels() {
			b.Run(c.name+"/"+l.String(), func(b *testing.B) {
				benchLines(b, newFinder(needle, l).Find, "-F", "-e", c.needle)
			})
		}
		b.Run(c.name+"/bytes.Index", func(b *testing.B) {
			benchLines(b, func(hay []byte, from int) int { return shift(bytes.Index(hay[from:], needle), from) })
		})
	}
}

func BenchmarkFoldFinder(b *testing.B) {
	for _, c := range benchNeedles {
		for _, l := range levels() {
			b.Run(c.name+"/"+l.String(), func(b *testing.B) {
				benchLines(b, newFoldFinder([]byte(c.needle), l).Find, "-i", "--no-unicode", "-F", "-e", c.needle)
			})
		}
	}
}

// BenchmarkHot searches 256 KB that stay in the processor's cache.
func BenchmarkHot(b *testing.B) {
	for _, c := range benchNeedles {
		for _, l := range levels() {
			b.Run(c.name+"/"+l.String(), func(b *testing.B) {
				text := loadText(b)[200<<20:][:256<<10]
				find := newFinder([]byte(c.needle), l).Find
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					countLines(text, find)
				}
			})
		}
	}
}

// words returns n different words of text, of at least 5 letters, spread over it.
func words(text []byte, n int) []string {
	seen := map[string]bool{}
	var ws []string
	for pos := 0; len(ws) < n && pos < len(text); pos += len(text) / (4 * n) {
		for _, f := range bytes.Fields(text[pos:min(pos+200, len(text))])[1:] {
			w := string(f)
			if len(w) >= 5 && len(w) < 30 && !seen[w] && strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
				seen[w] = true
				ws = append(ws, w)
				break
			}
		}
	}
	return ws
}

func BenchmarkMulti(b *testing.B) {
	text := loadText(b)
	for _, c := range []struct {
		name string
		lits []string
		fold bool
	}{
		{"alt5", []string{"ERR_SYS", "PME_TURN_OFF", "LINK_REQ_RST", "CFG_BME_EVT", "PM_RESUME"}, false},
		{"alt4fold", []string{"ERR_SYS", "PME_TURN_OFF", "LINK_REQ_RST", "CFG_BME_EVT"}, true},
		{"alt5words", []string{"Sherlock", "kmalloc", "mutex_lock", "EXPORT_SYMBOL", "spin_unlock"}, false},
		{"alt4wordsfold", []string{"kmalloc", "mutex_lock", "EXPORT_SYMBOL", "spin_unlock"}, true},
		{"short3", []string{"ifx", "qz", "zzz"}, false},
		{"words8", words(text, 8), false},
		{"words16", words(text, 16), false},
		{"words32", words(text, 32), false},
		{"words64", words(text, 64), false},
		{"words64fold", words(text, 64), true},
		{"words200", words(text, 200), false},
		{"words1000", words(text, 1000), false},
		{"words5000", words(text, 5000), false},
	} {
		lits := make([][]byte, len(c.lits))
		args := []string{"--no-unicode"}
		for i, l := range c.lits {
			lits[i] = []byte(l)
			args = append(args, "-e", l)
		}
		if c.fold {
			args = append(args, "-i")
		}
		for _, l := range levels() {
			b.Run(c.name+"/"+l.String(), func(b *testing.B) {
				m := newMulti(lits, c.fold, l)
				benchLines(b, func(hay []byte, from int) int {
					pos, _ := m.Find(hay, from)
					return pos
				}, args...)
			})
		}
	}
}

func BenchmarkNewTeddy(b *testing.B) {
	for _, n := range []int{4, 16, 64} {
		lits := [][]byte{}
		for _, w := range words(loadText(b), n) {
			lits = append(lits, []byte(w))
		}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				newTeddy(newLitSet(lits, true), current())
			}
		})
	}
}

// BenchmarkTeddyHot measures the kernels alone: 256 KB in the cache, no candidate.
func BenchmarkTeddyHot(b *testing.B) {
	text := bytes.Repeat([]byte("all in lower case, nothing to see here\n"), 7000)[:256<<10]
	for _, c := range []struct{ name, lits string }{
		{"slim", "QXZ_A|JKLM|WXYZ|VVVV"},
		{"fat", "QXZ_A|JKLM|WXYZ|VVVV|0123|4567|8901|ABCD|EFGH|NOPQ"},
	} {
		for _, l := range levels() {
			b.Run(c.name+"/"+l.String(), func(b *testing.B) {
				m := newMulti(split(c.lits), false, l)
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					m.Find(text, 0)
				}
			})
		}
	}
}

// BenchmarkByteSet searches for bytes that don't occur in the cached text.
func BenchmarkByteSet(b *testing.B) {
	text := bytes.Repeat([]byte("all in lower case, nothing to see here\n"), 7000)[:256<<10]
	for _, members := range []string{"Q", "QX", "QXZ", "QXZJK\xce\xcf"} {
		var set [256]bool
		for _, c := range []byte(members) {
			set[c] = true
		}
		for _, l := range levels() {
			b.Run(strconv.Itoa(len(members))+"/"+l.String(), func(b *testing.B) {
				s := newByteSet(&set, l)
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					s.Find(text, 0)
				}
			})
		}
	}
}

// BenchmarkBytes measures the single-byte functions on the same text, and the corresponding
// functions of the standard library.
func BenchmarkBytes(b *testing.B) {
	text := bytes.Repeat([]byte("all in lower case, nothing to see here\n"), 7000)[:256<<10]
	run := func(name string, text []byte, f func([]byte)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				f(text)
			}
		})
	}
	run("CountByte", text, func(t []byte) { CountByte(t, '\n') })
	for _, size := range []int{30, 100, len(text)} {
		run("LastIndexByte/std/"+strconv.Itoa(size), text[:size], func(t []byte) { bytes.LastIndexByte(t, 'Q') })
		for _, l := range levels() {
			run("LastIndexByte/"+l.String()+"/"+strconv.Itoa(size), text[:size], func(t []byte) { lastIndexByte(l, t, 'Q') })
		}
	}
	for _, l := range levels() {
		run("IndexNonASCII/"+l.String(), text, func(t []byte) { indexNonASCII(l, t) })
	}
}
