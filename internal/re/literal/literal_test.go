package literal

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"quarry/internal/re/hir"
	"quarry/internal/stress"
)

func lit(s string) *hir.Node { return hir.Literal([]byte(s)) }

func class(pairs string) *hir.Node {
	var ranges []hir.Range
	rs := []rune(pairs)
	for i := 0; i < len(rs); i += 2 {
		ranges = append(ranges, hir.Range{Lo: rs[i], Hi: rs[i+1]})
	}
	return hir.OneOf(hir.NewClass(ranges...))
}

func star(n *hir.Node) *hir.Node { return hir.Repeat(n, 0, hir.Unlimited, true) }
func plus(n *hir.Node) *hir.Node { return hir.Repeat(n, 1, hir.Unlimited, true) }
func opt(n *hir.Node) *hir.Node  { return hir.Repeat(n, 0, 1, true) }

// fold returns a word as a case-insensitive parser does: a sequence of classes.
func fold(word string) *hir.Node {
	var subs []*hir.Node
	for _, r := range word {
		switch r {
		case 'k':
			subs = append(subs, class("KKkk\u212a\u212a"))
		case 's':
			subs = append(subs, class("SSss\u017f\u017f"))
		default:
			u := []rune(strings.ToUpper(string(r)))[0]
			subs = append(subs, class(string([]rune{u, u, r, r})))
		}
	}
	return hir.Concat(subs...)
}

func (s Set) string() string {
	var parts []string
	for _, l := range s {
		t := l.Text
		if l.ASCII {
			t += "/a"
		} else if l.Fold {
			t += "/i"
		}
		parts = append(parts, t)
	}
	return strings.Join(parts, "|")
}

func (n *Need) string() string {
	switch n.Op {
	case Any:
		return "any"
	case Never:
		return "never"
	case OneOf:
		return n.Set.string()
	}
	var parts []string
	for _, s := range n.Subs {
		parts = append(parts, s.string())
	}
	if n.Op == And {
		return "(" + strings.Join(parts, " & ") + ")"
	}
	return "(" + strings.Join(parts, " or ") + ")"
}

func TestExtract(t *testing.T) {
	word := class("azAZ09__")
	for _, c := range []struct {
		name  string
		tree  *hir.Node
		need  string
		exact string // "" if the pattern isn't a finite set
		loose bool
	}{
		{"a literal", lit("mutex_lock"), "mutex_lock", "mutex_lock", false},
		{"alternatives keep their order", hir.Alt(lit("foo"), lit("foobar")), "foo|foobar", "foo|foobar", false},
		{"an optional letter", hir.Concat(lit("colo"), opt(lit("u")), lit("r")), "colour|color", "colour|color", false},
		{"a lazy option prefers less", hir.Concat(lit("a"), hir.Repeat(lit("b"), 0, 1, false)), "a|ab", "a|ab", false},
		{"a class before a literal", hir.Concat(plus(class("AZ")), lit("_SUSPEND")), "_SUSPEND", "", false},
		{"both ends of a gap", hir.Concat(lit("foo"), star(word), lit("bar")), "(foo & bar)", "", false},
		{"a group is looked into", hir.Concat(lit("foo"), hir.Capture(hir.Concat(lit("bar"), star(word), lit("baz")), 1, ""), lit("qux")), "(foobar & bazqux)", "", false},
		{"a repeat touches both neighbours", hir.Concat(lit("x"), plus(lit("ab")), lit("y")), "(xab & aby)", "", false},
		{"alternatives with gaps", hir.Alt(hir.Concat(lit("foo"), star(word), lit("x")), hir.Concat(lit("bar"), plus(word))), "((foo & x) or bar)", "", false},
		{"one empty alternative frees all", hir.Alt(hir.Concat(lit("foo"), plus(word)), star(word)), "any", "", false},
		{"an assertion loosens", hir.Concat(hir.Assert(hir.LookWordUnicode), lit("foo")), "foo", "foo", true},
		{"case variants fold to one", fold("linux"), "linux/i", "linux/i", false},
		{"the Kelvin sign folds to k", fold("kelvin"), "kelvin/i", "kelvin/i", false},
		{"part of an orbit folds loosely", class("ΜΜμμ"), "µ/i", "µ/i", true},
		{"both ASCII cases of k fold exactly", class("KKkk"), "k/a", "k/a", false},
		{"ASCII and Unicode cases mix loosely", hir.Concat(class("KKkk"), fold("s")), "ks/i", "ks/i", true},
		{"letters of one kind of case keep it", hir.Concat(class("KKkk"), fold("ab"), class("SSss")), "kabs/a", "kabs/a", false},
		{"unrelated letters are spelled out", class("KKll"), "K|l", "K|l", false},
		{"cased and folded text mix loosely", hir.Concat(lit("Foo"), fold("bar")), "foobar/i", "foobar/i", true},
		{"caseless text stays exact", hir.Concat(lit("_1_"), fold("bar")), "_1_bar/i", "_1_bar/i", false},
		{"digits are spelled out", hir.Concat(lit("v"), class("02")), "v0|v1|v2", "v0|v1|v2", false},
		{"a counted repeat", hir.Repeat(lit("ab"), 2, 3, true), "ababab|abab", "ababab|abab", false},
		{"the empty string needs nothing", hir.Empty(), "any", "", false},
		{"a pattern that never matches", hir.Concat(lit("a"), hir.Fail()), "never", "", false},
	} {
		got := Extract(c.tree)
		if s := got.Need.string(); s != c.need {
			t.Errorf("%s: need %s, want %s", c.name, s, c.need)
		}
		if s := got.Exact.string(); s != c.exact || got.Loose != c.loose {
			t.Errorf("%s: exact %q loose %v, want %q %v", c.name, s, got.Loose, c.exact, c.loose)
		}
	}
}

func TestProductsStayBounded(t *testing.T) {
	tree := hir.Repeat(class("09"), 6, 6, true) // 10^6 strings
	got := Extract(tree)
	if got.Exact != nil {
		t.Errorf("spelled out %d strings", len(got.Exact))
	}
	if got.Need.Op == Never || !got.Need.holds([]byte("x 123456 y")) {
		t.Errorf("need %s fails on a matching text", got.Need.string())
	}
	var many []*hir.Node
	for i := range 3 * maxUnion {
		many = append(many, lit(strings.Repeat("x", i%50)+"y"))
	}
	if got := Extract(hir.Alt(many...)); got.Exact != nil {
		t.Errorf("kept %d alternatives", len(got.Exact))
	}
}

// A long case-insensitive text is one class per letter. Its need stays small, and extracting it
// doesn't copy the previous parts for each letter, which took 5 GB here.
func TestLongFoldedStaysBounded(t *testing.T) {
	stress.SkipTiny(t)
	text := strings.Repeat("abcdefghij", 10_000)
	tree := fold(text)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := Extract(tree)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<30 {
		t.Errorf("took %d MB", used>>20)
	}
	if got.Exact != nil || !got.Need.holds([]byte(strings.ToUpper(text))) || got.Need.holds([]byte(text[:1000])) {
		t.Errorf("exact %d, need of %d clauses", len(got.Exact), len(got.Need.Subs))
	}
}

func TestHolds(t *testing.T) {
	for _, c := range []struct {
		need *Need
		text string
		want bool
	}{
		{Extract(fold("linux")).Need, "the LiNuX tree", true},
		{Extract(fold("mask")).Need, "ma\u017f\u212a", true},
		{Extract(fold("linux")).Need, "lin ux", false},
		{Extract(hir.Concat(lit("foo"), star(class("az")), lit("bar"))).Need, "bar foo", true},
		{Extract(hir.Concat(lit("foo"), star(lit("xyz")), lit("bar"))).Need, "foobar", true},
		{Extract(hir.Concat(lit("foo"), star(class("az")), lit("bar"))).Need, "foo", false},
	} {
		if got := c.need.holds([]byte(c.text)); got != c.want {
			t.Errorf("%s holds for %q: %v, want %v", c.need.string(), c.text, got, c.want)
		}
	}
}

// holds reports whether text satisfies the need, by the obvious algorithm.
func (n *Need) holds(text []byte) bool {
	switch n.Op {
	case Any:
		return true
	case Never:
		return false
	case OneOf:
		for _, lit := range n.Set {
			if lit.in(text) {
				return true
			}
		}
		return false
	case And:
		for _, sub := range n.Subs {
			if !sub.holds(text) {
				return false
			}
		}
		return true
	default:
		for _, sub := range n.Subs {
			if sub.holds(text) {
				return true
			}
		}
		return false
	}
}

func (l Lit) in(text []byte) bool {
	if l.Fold {
		return strings.Contains(FoldString(string(text)), l.Text)
	}
	return bytes.Contains(text, []byte(l.Text))
}
