package symbols

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"quarry/internal/stress"
)

// Every language reads every shape at 4 MB within two seconds of processor time, and
// stops within 100 ms when told to.
func TestShapes(t *testing.T) {
	seen := map[*language]bool{}
	share := stress.Size(24, 1)
	size, tried := 4<<20/stress.Size(8, 1), 0
	for _, ext := range slices.Sorted(maps.Keys(byExtension())) {
		l := byExtension()[ext]
		if seen[l] {
			continue
		}
		seen[l] = true
		for i, shape := range stress.Shapes {
			if i%share != len(seen)%share {
				continue
			}
			tried++
			text := []byte(strings.Repeat(shape, size/len(shape)+1))
			began := stress.CPU()
			Of("a"+ext, text)
			if took := stress.CPU() - began; took > 2*time.Second {
				t.Errorf("%s, %q: %v for %d KB", ext, shape, took, len(text)>>10)
			}
			var told time.Duration
			_, _ = Until(func() bool {
				if told == 0 {
					told = stress.CPU()
				}
				return true
			}, "a"+ext, text)
			if took := stress.CPU() - told; told != 0 && took > 100*time.Millisecond {
				t.Errorf("%s, %q: goes on for %v after it was told to end", ext, shape, took)
			}
		}
	}
	t.Logf("%d texts of %d KB", tried, size>>10)
}

// A text that takes too long, or has too many definitions, is reported as read in part.
func TestReadInPart(t *testing.T) {
	for _, c := range []struct {
		name, path, text string
		whole            bool
	}{
		{"plain", "a.go", "package a\n\nfunc f() {}\n", true},
		{"no language", "a.xyz", "f()", true},
		{"looks ahead", "a.java", strings.Repeat("a<b<", 1<<17), false},
		{"many definitions", "a.js", strings.Repeat("var a;", maxSymbols+1), false},
		{"too large", "a.go", strings.Repeat("//\n", maxText/3+1), false},
	} {
		list, whole := Until(nil, c.path, []byte(c.text))
		var names Names
		if again := names.Read(c.path, []byte(c.text)); whole != c.whole || again != c.whole {
			t.Errorf("%s: whole %v and %v with %d symbols, want %v", c.name, whole, again, len(list), c.whole)
		}
	}
}

// Many definitions below many comments take linear time.
func TestManyBelowComments(t *testing.T) {
	stress.SkipRace(t)
	text := strings.Repeat("// c\n", 1<<18) + strings.Repeat("var a;", 1<<18)
	began := stress.CPU()
	list := Of("a.js", []byte(text))
	if took := stress.CPU() - began; took > 2*time.Second || len(list) < 1000 || list[999].DocLine != 1 {
		t.Errorf("%v for %d symbols", took, len(list))
	}
}

// A text may begin or end anywhere, because a file is often read while it is written. A
// panic would end the process that builds an index.
func TestCutTexts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d samples: %v", len(files), err)
	}
	tried := 0
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		step := stress.Size(17, 1)
		for end := i % step; end <= min(len(text), 6000); end += step {
			tried += 2
			if p := readText(nil, file, text[:end]); p.failed != nil {
				t.Errorf("%s, the first %d bytes: %v", file, end, p.failed)
			}
			if p := readText(nil, file, text[end:]); p.failed != nil {
				t.Errorf("%s, without the first %d bytes: %v", file, end, p.failed)
			}
		}
	}
	t.Logf("%d texts of %d files", tried, len(files))
}

// Words and signs may occur in any order. A reader must not rely on an expected token after
// a word.
func TestTokensInAnyOrder(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d samples: %v", len(files), err)
	}
	signs := strings.Fields("{ } ( ) [ ] < > ; : , . = => -> == :: / // /* */ # ## @ $ % & * + - _ ! ? | ~ ^ \\ \" ' ` `` \"\" \"\"\" ''' :\" x A 0 --")
	signs = append(signs, strings.Repeat("long", maxName), " ", "\n", "\n\n", "\n  ", "\t")
	each := stress.Size(1_000, 200_000)
	tried, found := 0, 0
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.FieldsFunc(string(text), func(r rune) bool { return r != '_' && !unicode.IsLetter(r) })
		rng := stress.Rand(uint64(i))
		var b []byte
		for range each {
			b = b[:0]
			for range 1 + rng.IntN(8) {
				from := signs
				if rng.IntN(2) == 0 && len(words) > 0 {
					from = words
				}
				b = append(b, from[rng.IntN(len(from))]...)
				if rng.IntN(2) == 0 {
					b = append(b, ' ')
				}
			}
			p := readText(nil, file, b)
			if p.failed != nil {
				t.Fatalf("%s, %q: %v", file, b, p.failed)
			}
			tried++
			found += min(1, len(p.out))
		}
	}
	if t.Logf("%d of %d texts have definitions", found, tried); found < tried/50 {
		t.Error("too few")
	}
}
