package structure

import (
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"quarry/internal/stress"
)

// A search of a hostile text ends within two seconds of processor time, or soon after it is
// stopped. Deep nesting doesn't overflow the stack, which would end the process.
func TestHostileTexts(t *testing.T) {
	stress.SkipRace(t)
	stress.SkipTiny(t)
	size := stress.Size(1<<15, 4<<20)
	shapes := append([]string{
		"*", "[]", "chan ", "func() ", "map[a]", "(a)", "(a)(b)", "a + ", "a.", "lambda: ", "|| ", "|a| ", "\"a\" ", "a(", "((", "{ ", "if a { ", "a ? ", "a ? b : ", "- ", "not ", "new ",
		"a<", "a<b>", "f(a, ", "a, ", "a; ", "a = ", "a\n", "  a:\n", "a -> ", "a => ", "x!", "&mut ", "match a { ", "!",
	}, stress.Shapes...)
	patterns := []string{"$A + $B", "$A + $A", "$A($B)", "$A($$X)", "var $A $T", "($T)$X", "foo($A, $$REST)", "if $A { $$B }", "$A = $B", "$A.$B($$C)", "$$X; $A", "lambda $A: $B"}
	languages := []string{".go", ".c", ".cpp", ".py", ".rs", ".js", ".ts", ".java", ".rb", ".swift"}
	at, tried, partly, longest := 0, 0, 0, time.Duration(0)
	for _, ext := range languages {
		for _, shape := range shapes {
			text := []byte("var x = " + strings.Repeat(shape, size/len(shape)))
			for _, expr := range patterns {
				if at++; !stress.Takes(at) {
					continue
				}
				p, err := Compile(expr, 0)
				if err != nil {
					t.Fatal(err)
				}
				tried++
				began := stress.CPU()
				if code := NewText(nil, "a"+ext, text); code != nil {
					if _, complete := p.Find(code); !complete {
						partly++
					}
				}
				took := stress.CPU() - began
				longest = max(longest, took)
				if took > 2*time.Second {
					t.Errorf("%s in %q as %s: %v for %d KB", expr, shape, ext, took, size>>10)
				}
				var told time.Duration
				if code := NewText(nil, "a"+ext, text); code != nil {
					code.stop = func() bool { told = max(told, stress.CPU()); return true }
					p.Find(code)
				}
				if after := stress.CPU() - told; told != 0 && after > 100*time.Millisecond {
					t.Errorf("%s in %q as %s: %v after it was told to end", expr, shape, ext, after)
				}
			}
		}
	}
	t.Logf("%d searches in %d KB, %v at most, %d ended early", tried, size>>10, longest.Round(time.Millisecond), partly)
	if tried == 0 || partly == 0 && stress.Thorough() {
		t.Error("nothing was hard")
	}
	// Each star took 72 bytes of stack, and 12 MB of stars overflowed it.
	defer debug.SetMaxStack(debug.SetMaxStack(32 << 20))
	if p, err := Compile("var $A $T", 0); err != nil {
		t.Error(err)
	} else if code := NewText(nil, "a.go", []byte("var x "+strings.Repeat("*", 1<<20)+"int\n")); code != nil {
		p.Find(code)
	}
}

// A replacement in code nested thousands of levels deep also ends early, or when it is
// stopped: the text of each match includes all inner matches.
func TestDeepReplacements(t *testing.T) {
	stress.SkipRace(t)
	stress.SkipTiny(t)
	const n = 6000
	p, err := Compile("foo($A, $B)", 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Template("bar($B, $A)", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, open, end string }{
		{"made", "foo(", ", 2)"}, {"refused", "foo(/* a */ ", ", 2)"}, {"on the right", "foo(2, ", ")"},
	} {
		text := []byte(strings.Repeat(c.open, n) + "1" + strings.Repeat(c.end, n))
		for _, told := range []bool{false, true} {
			code := NewText(nil, "a.js", text)
			limit := 4 * time.Second
			asked := 0
			if told {
				limit /= 4
				code.stop = func() bool { asked++; return asked > 20 }
			}
			began := stress.CPU()
			_, _, count, complete := r.Replace(code)
			if took := stress.CPU() - began; took > limit || told && complete {
				t.Errorf("%s: told to end %v: %v, %d matches, complete %v", c.name, told, took, count, complete)
			}
		}
	}
	// Code that nests thirty levels is quick.
	text := []byte(strings.Repeat(strings.Repeat("foo(", 30)+"1"+strings.Repeat(", 2)", 30)+";\n", 500))
	if _, _, count, complete := r.Replace(NewText(nil, "a.js", text)); count != 15_000 || !complete {
		t.Errorf("%d matches, complete %v", count, complete)
	}
}

// Replacing by a template that repeats a hole thousands of times ends within two seconds of
// processor time. Without the limit it took a minute and a half.
func TestRepeatedHoles(t *testing.T) {
	stress.SkipRace(t)
	stress.SkipTiny(t)
	p, err := Compile("f($X)", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, new, text string
		complete        bool
	}{
		{"one", strings.Repeat("$X ", 2000), "f(a);", true},
		{"many", strings.Repeat("$X ", 2000), strings.Repeat("f(a + b);\n", 3000), false},
		{"long", strings.Repeat("$X ", 2000), "f(" + strings.Repeat("a + ", 5000) + "b);\n", false},
		{"nested", strings.Repeat("$X ", 2000), strings.Repeat("f(", 20) + "a" + strings.Repeat(")", 20), false},
		{"doubled", "g($X, $X)", strings.Repeat("f(", 25) + "a" + strings.Repeat(")", 25), false},
	} {
		r, err := p.Template(c.new, 0)
		if err != nil {
			t.Fatal(err)
		}
		began := stress.CPU()
		_, _, count, complete := r.Replace(NewText(nil, "a.c", []byte(c.text)))
		if took := stress.CPU() - began; took > 2*time.Second || complete != c.complete {
			t.Errorf("%s: %v, %d matches, complete %v", c.name, took, count, complete)
		}
	}
	// A match in a hole used twice counts once.
	r, err := p.Template("g($X, $X)", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, count, _ := r.Replace(NewText(nil, "a.c", []byte("f(f(a));"))); count != 2 {
		t.Errorf("%d matches, want 2", count)
	}
}
