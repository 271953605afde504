package ucd

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"quarry/internal/stress"
)

func contains(set []Range, r rune) bool {
	for _, s := range set {
		if s.Lo <= r && r <= s.Hi {
			return true
		}
	}
	return false
}

func size(set []Range) int {
	n := 0
	for _, s := range set {
		n += int(s.Hi-s.Lo) + 1
	}
	return n
}

// bitmap converts a set to a table, for many look-ups.
func bitmap(set []Range) []bool {
	in := make([]bool, unicode.MaxRune+1)
	for _, s := range set {
		for r := s.Lo; r <= s.Hi; r++ {
			in[r] = true
		}
	}
	return in
}

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		name    string
		in, out rune
	}{
		{"L", 'é', '1'},
		{"Lu", 'É', 'é'},
		{"Uppercase_Letter", 'É', 'é'},
		{"uppercase letter", 'É', 'é'},
		{"isUPPERCASE-letter", 'É', 'é'},
		{"Uppercase", 'Ⅷ', 'ⅷ'}, // an upper-case number
		{"upper", 'Ⅷ', 'ⅷ'},
		{"sc", '€', 'a'}, // Currency_Symbol, not Script
		{"cf", '\u200B', 'a'},
		{"lc", 'a', 'ª'},
		{"LC", 'ǅ', '1'},
		{"Greek", 'λ', 'l'},
		{"grek", 'λ', 'l'},
		{"Is_Greek", 'λ', 'l'},
		{"qaac", 'Ⲁ', 'a'},
		{"Any", '\U0010FFFF', -1},
		{"Assigned", 'a', 0x378},
		{"ASCII", '~', 'é'},
		{"space", '\u2003', 'a'},
		{"wspace", '\u2003', 'a'},
		{"punct", '!', '+'},
		{"digit", '٣', '½'},
		{"cntrl", '\x07', 'a'},
		{"combiningmark", '\u0301', 'a'},
		{"Emoji", '😀', 'a'},
		{"Extended_Pictographic", '😀', '1'},
		{"c", '\x00', 'a'},
		{"isother", '\x00', 'a'},
		{"Garay", 0x10D40, 'a'}, // new in 16.0
		{"Cn", 0x378, 'a'},
	} {
		set, err := Lookup(c.name)
		if err != nil || !contains(set, c.in) || contains(set, c.out) {
			t.Errorf("Lookup(%q): %d characters, %v; want %q in and %q out", c.name, size(set), err, c.in, c.out)
		}
	}
	for _, name := range []string{"", "X", "Grek1", "Script", "isc", "Cs", "Unknown", "InCB", "CWKCF", "Expands_On_NFC", "Katakana_Or_Hiragana", "word"} {
		if set, err := Lookup(name); err != ErrProperty {
			t.Errorf("Lookup(%q) = %d characters, %v, want ErrProperty", name, size(set), err)
		}
	}
}

func TestLookupValue(t *testing.T) {
	for _, c := range []struct {
		name, value string
		in, out     rune
	}{
		{"gc", "Nd", '٣', '½'},
		{"General Category", "any", 0x378, -1},
		{"sc", "Grek", 'λ', '\u0342'},
		{"scx", "Grek", '\u0342', 'l'},
		{"Script_Extensions", "Greek", 'λ', 'l'},
		{"gcb", "zwj", '\u200D', 'a'},
		{"wb", "MidNumLet", '.', 'a'},
		{"wb", "ex", '_', 'a'},
		{"wb", "extend", '\u0301', '_'},
		{"sb", "aterm", '.', 'a'},
		{"age", "1.1", 'a', '€'},
		{"age", "V2_1", '€', '\U0001F600'},
		{"age", "6.1", '\U0001F600', 0x10D40},
		{"age", "16.0", 0x10D40, 0x378},
		{"age", "v160", 'a', 0x378},
	} {
		set, err := LookupValue(c.name, c.value)
		if err != nil || !contains(set, c.in) || contains(set, c.out) {
			t.Errorf("LookupValue(%q, %q): %d characters, %v; want %q in and %q out", c.name, c.value, size(set), err, c.in, c.out)
		}
	}
	for _, c := range []struct {
		name, value string
		want        error
	}{
		{"foo", "bar", ErrProperty},
		{"", "Greek", ErrProperty},
		{"Alphabetic", "yes", ErrProperty},
		{"sc", "Lu", ErrValue},
		{"gc", "Greek", ErrValue},
		{"gc", "Alphabetic", ErrValue},
		{"age", "99.0", ErrValue},
		{"age", "unassigned", ErrValue},
		{"wb", "other", ErrValue},
	} {
		if _, err := LookupValue(c.name, c.value); err != c.want {
			t.Errorf("LookupValue(%q, %q): %v, want %v", c.name, c.value, err, c.want)
		}
	}
}

func TestExact(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"L", "", true}, {"Letter", "", true}, {"letter", "", false}, {"Lu", "", true}, {"digit", "", true},
		{"Any", "", true}, {"ASCII", "", true}, {"Assigned", "", true}, {"Alpha", "", true}, {"alpha", "", false},
		{"space", "", true}, {"White_Space", "", true}, {"WSpace", "", false}, {"CWKCF", "", true},
		{"Greek", "", false}, {"sc", "Greek", true}, {"Script", "Grek", true}, {"scx", "Grek", true}, {"sc", "greek", false},
		{"gc", "Cs", true}, {"gc", "Any", false}, {"sc", "Unknown", true}, {"sc", "Qaac", true}, {"General_Category", "punct", true},
		{"Hyphen", "", false}, {"IDSU", "", false}, {"age", "6.0", false}, {"wb", "Extend", false}, {"word", "", false}, {"Alphabetic", "Yes", false},
	} {
		if _, ok := Exact(c.name, c.value); ok != c.want {
			t.Errorf("Exact(%q, %q) = %v, want %v", c.name, c.value, ok, c.want)
		}
	}
}

// TestSetsAreCanonical checks all sets.
func TestSetsAreCanonical(t *testing.T) {
	for _, e := range entries() {
		last := rune(-2)
		for _, r := range e.ranges() {
			if r.Lo > r.Hi || r.Lo <= last+1 && r.Lo != 0xE000 || r.Hi > unicode.MaxRune || r.Lo <= 0xDFFF && r.Hi >= 0xD800 {
				t.Fatalf("%s: range %X-%X after %X", e.names, r.Lo, r.Hi, last)
			}
			last = r.Hi
		}
		if last < 0 && e.names != "Cs Surrogate" {
			t.Errorf("%s is empty", e.names)
		}
	}
}

// TestAgainstGo compares with Go's tables for all characters that they have, because a
// character's category and script rarely change.
func TestAgainstGo(t *testing.T) {
	stress.SkipShort(t)
	old, err := LookupValue("age", "15.0")
	if err != nil {
		t.Fatal(err)
	}
	known := bitmap(old)
	compared := 0
	compare := func(name string, set []Range, table *unicode.RangeTable) {
		differ := 0
		if len(set) == 0 {
			t.Errorf("%s is empty", name)
		}
		compared++
		for r, in := range bitmap(set) {
			if known[r] && in != unicode.Is(table, rune(r)) {
				differ++
			}
		}
		if differ > 15 {
			t.Errorf("%s: %d characters differ", name, differ)
		}
	}
	if unicode.Version != "15.0.0" {
		t.Skipf("Go's tables are of %s", unicode.Version)
	}
	for name, table := range unicode.Categories {
		if name == "Cs" || name == "C" || name == "Cn" || name == "LC" {
			continue // surrogates, or not in every Go version
		}
		set, err := Lookup(name)
		if err != nil {
			t.Error(name, err)
		}
		compare(name, set, table)
	}
	for name, table := range unicode.Scripts {
		set, err := LookupValue("sc", name)
		if err != nil {
			t.Error(name, err)
		}
		compare(name, set, table)
	}
	if t.Logf("%d categories and scripts compared", compared); compared < 150 {
		t.Error("too few")
	}
	for r := range unicode.MaxRune + 1 {
		if !known[r] || unicode.SimpleFold(r) == NextFold(r) {
			continue
		}
		// Unicode 15.1 folds three more pairs; 16.0 adds case variants of older characters.
		switch n := NextFold(r); {
		case strings.ContainsRune("\u0390\u1FD3\u03B0\u1FE3\uFB05\uFB06", r):
		case known[n] && known[NextFold(n)]:
			t.Errorf("NextFold(%X) = %X, Go has %X", r, n, unicode.SimpleFold(r))
		}
	}
}

func TestWord(t *testing.T) {
	in := bitmap(Word())
	for r := range unicode.MaxRune + 1 {
		if IsWord(r) != in[r] {
			t.Fatalf("IsWord(%X) = %v", r, IsWord(r))
		}
	}
	for _, c := range []struct {
		r    rune
		want bool
	}{{'_', true}, {'-', false}, {'é', true}, {'\u0301', true}, {'\u200D', true}, {'‿', true}, {'٣', true}, {'½', false}, {'€', false}, {-1, false}, {0x110000, false}} {
		if IsWord(c.r) != c.want {
			t.Errorf("IsWord(%q) = %v", c.r, !c.want)
		}
	}
	if !contains(Digit(), '٣') || contains(Digit(), '²') || !contains(Space(), '\u0085') || contains(Space(), '\u200B') {
		t.Error("Digit or Space is off")
	}
}

func TestFolds(t *testing.T) {
	for _, c := range []struct{ r, want rune }{
		{'K', 'k'}, {'k', '\u212A'}, {'\u212A', 'K'}, {'s', 'ſ'}, {'ſ', 'S'}, {'1', '1'},
		{'Σ', 'ς'}, {'ς', 'σ'}, {'σ', 'Σ'}, {'ß', 'ẞ'}, {'ẞ', 'ß'}, {'İ', 'İ'}, {'ı', 'ı'}, {'\uA7CB', '\u0264'},
	} {
		if got := NextFold(c.r); got != c.want {
			t.Errorf("NextFold(%q) = %q, want %q", c.r, got, c.want)
		}
	}
	got := Folds([]Range{{'σ', 'σ'}})
	if len(got) != 2 || !contains(got, 'Σ') || !contains(got, 'ς') {
		t.Errorf("Folds(σ) = %q", got)
	}
	if got := Folds([]Range{{'a', 'z'}}); size(got) != 28 || !contains(got, '\u212A') || !contains(got, 'ſ') {
		t.Errorf("Folds(a-z) = %q", got)
	}
	if got := Folds([]Range{{'0', '9'}}); len(got) != 0 {
		t.Errorf("Folds(0-9) = %q", got)
	}
}

func TestCaseMappings(t *testing.T) {
	for _, c := range []struct{ r, fold, upper, ecma rune }{
		{'a', 'a', 'A', 'A'}, {'A', 'a', 'A', 'A'}, {'1', '1', '1', '1'},
		{'é', 'é', 'É', 'É'}, {'ß', 'ß', 'ß', 'ß'}, {'ẞ', 'ß', 'ẞ', 'ẞ'},
		{'ſ', 's', 'S', 'ſ'}, {'\u212A', 'k', '\u212A', '\u212A'}, {'ı', 'ı', 'I', 'ı'},
		{'ᾀ', 'ᾀ', 'ᾈ', 'ᾀ'}, {'\U00010428', '\U00010428', '\U00010400', '\U00010428'},
	} {
		if SimpleFold(c.r) != c.fold || SimpleUpper(c.r) != c.upper || ECMAUpper(c.r) != c.ecma {
			t.Errorf("%q: folds to %q, upper %q, ECMAScript %q", c.r, SimpleFold(c.r), SimpleUpper(c.r), ECMAUpper(c.r))
		}
	}
}

// TestECMAUpperAgainstNode compares with node, whose tables may have another Unicode
// version.
func TestECMAUpperAgainstNode(t *testing.T) {
	stress.SkipTiny(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: install Node 22 (Debian: nodejs)")
	}
	out, err := exec.Command(node, "-e", `
		for (let c = 0; c < 0x10000; c++) {
			const s = String.fromCharCode(c), u = s.toUpperCase();
			if (u.length == 1 && u != s && !(c >= 128 && u.charCodeAt(0) < 128)) console.log(c + " " + u.charCodeAt(0));
		}`).Output()
	if err != nil {
		t.Skipf("node: %v", err)
	}
	want := map[rune]rune{}
	for line := range strings.Lines(string(out)) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " ")
		f, _ := strconv.Atoi(from)
		u, _ := strconv.Atoi(to)
		want[rune(f)] = rune(u)
	}
	if t.Logf("node knows %d upper cases", len(want)); len(want) < 1000 {
		t.Fatal("too few")
	}
	old, _ := LookupValue("age", "15.0")
	known := bitmap(old)
	for r := rune(0); r <= 0xFFFF; r++ {
		w, ok := want[r]
		if !ok {
			w = r
		}
		if got := ECMAUpper(r); got != w && known[r] && known[got] && known[w] {
			t.Errorf("ECMAUpper(%X) = %X, node has %X", r, got, w)
		}
	}
}

func BenchmarkIsWord(b *testing.B) {
	IsWord('é')
	n := 0
	for b.Loop() {
		for r := rune(0x80); r < 0x1080; r++ {
			if IsWord(r) {
				n++
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/0x1000, "ns/char")
}
