package hir_test

import (
	"errors"
	"math"
	"testing"

	. "quarry/internal/re/hir"
	"quarry/internal/re/hir/hirtest"
)

func lit(s string) *Node        { return Literal([]byte(s)) }
func set(rs ...Range) *Node     { return OneOf(NewClass(rs...)) }
func byteSet(rs ...Range) *Node { return OneOf(NewByteClass(rs...)) }
func star(n *Node) *Node        { return Repeat(n, 0, Unlimited, true) }
func plus(n *Node) *Node        { return Repeat(n, 1, Unlimited, true) }
func opt(n *Node) *Node         { return Repeat(n, 0, 1, true) }

func TestBuild(t *testing.T) {
	az := Range{'a', 'z'}
	for _, c := range []struct {
		name string
		got  *Node
		want string
	}{
		{"empty literal", lit(""), "empty"},
		{"surrogate", Scalar(0xD800), "fail"},
		{"class of none", set(), "fail"},
		{"class of one", set(Range{'é', 'é'}), `"é"`},
		{"byte class of one", byteSet(Range{0xE9, 0xE9}), `"\xe9"`},
		{"no assertion", Assert(LookNone), "empty"},

		{"concat of none", Concat(), "empty"},
		{"concat of one", Concat(lit("a")), `"a"`},
		{"concat joins literals", Concat(lit("a"), Empty(), lit("b"), set(az), lit("c"), lit("d")), `(cat "ab" [a-z] "cd")`},
		{"concat flattens", Concat(lit("a"), Concat(lit("b"), set(az)), lit("c")), `(cat "ab" [a-z] "c")`},
		{"concat fails", Concat(lit("a"), Fail()), "fail"},
		{"concat fails with its groups", Concat(Capture(lit("a"), 1, ""), Fail()), `(cat (cap 1 "a") fail)`},

		{"alt of none", Alt(), "fail"},
		{"alt drops failures", Alt(lit("ab"), Fail(), lit("cd")), `(alt "ab" "cd")`},
		{"alt flattens", Alt(lit("ab"), Alt(lit("cd"), Empty())), `(alt "ab" "cd" empty)`},
		{"alt of scalars", Alt(lit("c"), lit("a"), lit("b"), lit("é")), `[a-c\xE9]`},
		{"alt of bytes", Alt(lit("c"), lit("\xff")), `b[c\xFF]`},
		{"alt of one scalar twice", Alt(lit("a"), lit("a")), `"a"`},
		{"alt joins only neighbours", Alt(lit("a"), lit("b"), lit("abc"), lit("c")), `(alt [ab] "abc" "c")`},
		{"alt keeps kinds apart", Alt(lit("é"), lit("\xff"), lit("\xfe")), `(alt "é" b[\xFE\xFF])`},
		{"alt of invalid bytes", Alt(lit("\xff\xfe"), lit("a")), `(alt "\xff\xfe" "a")`},
		{"alt of the replacement character", Alt(lit("\uFFFD"), lit("a")), `[a\x{FFFD}]`},

		{"once", Repeat(lit("ab"), 1, 1, true), `"ab"`},
		{"never", Repeat(lit("ab"), 0, 0, true), `empty`},
		{"never, with a group", Repeat(Capture(lit("a"), 1, ""), 0, 0, true), `(rep 0 0 (cap 1 "a"))`},
		{"lazy", Repeat(lit("ab"), 0, 3, false), `(rep? 0 3 "ab")`},
		{"nothing repeated", star(Empty()), "empty"},
		{"failure, maybe", star(Fail()), "empty"},
		{"failure, surely", plus(Fail()), "fail"},
		{"assertion repeated", Repeat(Assert(LookStart), 3, Unlimited, true), "start"},
		{"assertion, maybe", Repeat(Assert(LookStart), 0, 7, true), "(rep 0 1 start)"},
		{"star of plus", star(plus(lit("a"))), `(rep 0 inf "a")`},
		{"plus of plus", plus(plus(lit("a"))), `(rep 1 inf "a")`},
		{"plus of optional", plus(opt(lit("a"))), `(rep 0 inf "a")`},
		{"optional of optional", opt(opt(lit("a"))), `(rep 0 1 "a")`},
		{"lazy in greedy", star(Repeat(lit("a"), 1, Unlimited, false)), `(rep 0 inf (rep? 1 inf "a"))`},
		{"counted in star", star(Repeat(lit("a"), 2, 3, true)), `(rep 0 inf (rep 2 3 "a"))`},
		{"group in star of star", star(star(Capture(lit("a"), 1, "n"))), `(rep 0 inf (rep 0 inf (cap 1 n "a")))`},
		{"nullable in star of star", star(star(Alt(lit("ab"), Empty()))), `(rep 0 inf (rep 0 inf (alt "ab" empty)))`},
	} {
		if got := hirtest.Show(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if err := hirtest.Check(c.got); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestConcatLeavesItsArguments(t *testing.T) {
	a := Literal(append(make([]byte, 0, 8), 'a'))
	x, y := Concat(a, lit("x")), Concat(a, lit("y"))
	if hirtest.Show(a) != `"a"` || hirtest.Show(x) != `"ax"` || hirtest.Show(y) != `"ay"` {
		t.Errorf("%v %v %v", a, x, y)
	}
}

func TestLengths(t *testing.T) {
	huge := Repeat(Repeat(Repeat(lit("ab"), 0, 100000, true), 0, 100000, true), 3, 100000, true)
	for _, c := range []struct {
		n        *Node
		min, max int // max -1 means unlimited
	}{
		{Empty(), 0, 0},
		{Assert(LookStart), 0, 0},
		{lit("abc"), 3, 3},
		{set(Range{'a', 0x10000}), 1, 4},
		{set(Range{0x80, 0x7FF}), 2, 2},
		{byteSet(Range{0x80, 0xFF}), 1, 1},
		{star(lit("ab")), 0, -1},
		{Repeat(lit("ab"), 2, 5, true), 4, 10},
		{Concat(lit("ab"), opt(lit("c"))), 2, 3},
		{Alt(lit("abc"), Empty()), 0, 3},
		{Capture(lit("ab"), 1, ""), 2, 2},
		{huge, 0, -1},
		{Repeat(Repeat(lit("abcd"), 65535, 65535, true), 65535, 65535, true), math.MaxInt32, -1},
	} {
		limit, ok := c.n.MaxLen()
		if !ok {
			limit = -1
		}
		if got := c.n.MinLen(); got != c.min || limit != c.max {
			t.Errorf("%v: length %d to %d, want %d to %d", hirtest.Show(c.n), got, limit, c.min, c.max)
		}
	}
}

func TestProperties(t *testing.T) {
	n := Concat(Assert(LookStart), Capture(star(Capture(lit("a"), 2, "")), 1, ""), Assert(LookWordUnicode))
	if !n.HasCapture() || !n.HasLook() || numCaptures(n) != 2 {
		t.Errorf("%v: captures %v %d, looks %v", hirtest.Show(n), n.HasCapture(), numCaptures(n), n.HasLook())
	}
	if lit("a").HasCapture() || lit("a").HasLook() {
		t.Error("a literal has groups or assertions")
	}
}

func TestLineMode(t *testing.T) {
	start, end := Assert(LookStart), Assert(LookEnd)
	for _, c := range []struct {
		name string
		n    *Node
		want string
	}{
		{"class", star(set(Range{0, 'z'})), `(rep 0 inf [\x00-\x09\x0B-z])`},
		{"byte class", byteSet(Range{'\t', '\r'}), `b[\x09\x0B-\x0D]`},
		{"a class of little else", set(Range{'\t', '\n'}), `"\t"`},
		{"anchors", Concat(start, Assert(LookStartCRLF), Assert(LookStartLine), lit("a"), Assert(LookEndLine), Assert(LookEndCRLF), end),
			`(cat start-line start-line start-line "a" end-line end-line end-line)`},
		{"word boundaries stay", Concat(Assert(LookWordUnicode), lit("a")), `(cat word "a")`},
		{"deep", Capture(Alt(lit("ab"), Repeat(start, 0, 1, true)), 1, "n"), `(cap 1 n (alt "ab" (rep 0 1 start-line)))`},
	} {
		before := hirtest.Show(c.n)
		got, err := LineMode(c.n)
		if err != nil || hirtest.Show(got) != c.want {
			t.Errorf("%s: %v, %v, want %s", c.name, got, err, c.want)
		}
		if hirtest.Show(c.n) != before {
			t.Errorf("%s: the argument changed", c.name)
		}
	}
	same := Concat(lit("a"), set(Range{'a', 'z'}))
	if got, _ := LineMode(same); got != same {
		t.Error("a tree with nothing to change was copied")
	}
	for _, n := range []*Node{lit("a\nb"), star(Capture(lit("\n"), 1, "")), Alt(lit("ab"), lit("\nc"))} {
		if got, err := LineMode(n); !errors.Is(err, ErrLineFeed) {
			t.Errorf("LineMode(%v) = %v, %v, want ErrLineFeed", n, got, err)
		}
	}
}

func TestWhole(t *testing.T) {
	n := Alt(lit("ab"), lit("cd"))
	for _, c := range []struct {
		got  *Node
		want string
	}{
		{WholeWord(n, true), `(cat word-start-half (alt "ab" "cd") word-end-half)`},
		{WholeWord(n, false), `(cat word-start-half-ascii (alt "ab" "cd") word-end-half-ascii)`},
		{WholeLine(n, true), `(cat start-crlf (alt "ab" "cd") end-crlf)`},
		{WholeLine(n, false), `(cat start-line (alt "ab" "cd") end-line)`},
		{WholeLine(Concat(Assert(LookStart), lit("a")), false), `(cat start-line start "a" end-line)`},
	} {
		if got := hirtest.Show(c.got); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestCheckFindsBrokenTrees(t *testing.T) {
	for _, c := range []struct {
		name string
		n    *Node
	}{
		{"empty literal", &Node{Op: OpLiteral}},
		{"class missing", &Node{Op: OpClass}},
		{"class empty", &Node{Op: OpClass, Class: &Class{}}},
		{"class out of order", &Node{Op: OpClass, Class: &Class{Ranges: []Range{{'b', 'c'}, {'a', 'a'}}}}},
		{"class touching", &Node{Op: OpClass, Class: &Class{Ranges: []Range{{'a', 'b'}, {'c', 'd'}}}}},
		{"class with surrogates", &Node{Op: OpClass, Class: &Class{Ranges: []Range{{0xD000, 0xE000}}}}},
		{"byte too large", &Node{Op: OpClass, Class: &Class{Bytes: true, Ranges: []Range{{0, 0x100}}}}},
		{"concat of one", &Node{Op: OpConcat, Subs: []*Node{Empty()}}},
		{"concat in concat", &Node{Op: OpConcat, Subs: []*Node{lit("a"), {Op: OpConcat, Subs: []*Node{lit("a"), lit("b")}}}}},
		{"group 0", &Node{Op: OpCapture, Subs: []*Node{Empty()}}},
		{"bounds reversed", &Node{Op: OpRepeat, Min: 3, Max: 2, Subs: []*Node{lit("a")}}},
		{"deep", star(&Node{Op: OpLook, Look: Look(NumLook)})},
		{"unknown", &Node{Op: 99}},
	} {
		if hirtest.Check(c.n) == nil {
			t.Errorf("%s: accepted", c.name)
		}
	}
}

func TestEqual(t *testing.T) {
	a := func() *Node { return Concat(lit("a"), star(set(Range{'a', 'z'})), Capture(Assert(LookEnd), 1, "x")) }
	if !hirtest.Equal(a(), a()) {
		t.Error("a tree isn't equal to its twin")
	}
	for _, o := range []*Node{
		lit("a"),
		Concat(lit("b"), star(set(Range{'a', 'z'})), Capture(Assert(LookEnd), 1, "x")),
		Concat(lit("a"), plus(set(Range{'a', 'z'})), Capture(Assert(LookEnd), 1, "x")),
		Concat(lit("a"), star(set(Range{'a', 'y'})), Capture(Assert(LookEnd), 1, "x")),
		Concat(lit("a"), star(byteSet(Range{'a', 'z'})), Capture(Assert(LookEnd), 1, "x")),
		Concat(lit("a"), star(set(Range{'a', 'z'})), Capture(Assert(LookStart), 1, "x")),
		Concat(lit("a"), star(set(Range{'a', 'z'})), Capture(Assert(LookEnd), 1, "y")),
		Concat(lit("a"), star(set(Range{'a', 'z'})), Capture(Assert(LookEnd), 1, "x"), lit("a")),
	} {
		if hirtest.Equal(a(), o) {
			t.Errorf("%v equals %v", a(), o)
		}
	}
}

func TestLookNames(t *testing.T) {
	seen := map[string]bool{}
	for l := range NumLook {
		name := Look(l).String()
		if name == "" || seen[name] {
			t.Errorf("look %d has no name of its own: %q", l, name)
		}
		seen[name] = true
	}
	if LookWordEndHalfUnicode.String() != "word-end-half" || LookNotWordASCII.String() != "not-word-ascii" {
		t.Error("the names are out of step with the constants")
	}
}
