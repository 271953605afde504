package match

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"quarry/internal/re/nfa"
	"quarry/internal/re/pike"
)

// conformanceDir has some of the vectors of Rust's regex project. It is not part of the
// repository. rust-regex/testdata below QUARRY_SUITES has all of them.
const conformanceDir = "../../shared/conformance/rust-regex"

// omitted maps the vectors for features that this package doesn't offer to the reason.
var omitted = map[string]string{
	"anchored/greedy-earliest":                           "earliest search: every match here is the preferred one",
	"anchored/nongreedy-all":                             "overlapping search: matches here never overlap",
	"crazy/nothing-empty":                                "no pattern at all: Compile asks for one",
	"crazy/nothing-something":                            "no pattern at all: Compile asks for one",
	"line-terminator/carriage":                           "a line ends with \\n, or \\r\\n",
	"line-terminator/dot-changes-with-line-terminator":   "a line ends with \\n, or \\r\\n",
	"line-terminator/non-ascii":                          "a line ends with \\n, or \\r\\n",
	"line-terminator/non-word-byte":                      "a line ends with \\n, or \\r\\n",
	"line-terminator/not-line-feed":                      "a line ends with \\n, or \\r\\n",
	"line-terminator/not-word-boundary-at":               "a line ends with \\n, or \\r\\n",
	"line-terminator/nul":                                "a line ends with \\n, or \\r\\n",
	"line-terminator/word-boundary":                      "a line ends with \\n, or \\r\\n",
	"line-terminator/word-boundary-at":                   "a line ends with \\n, or \\r\\n",
	"line-terminator/word-byte":                          "a line ends with \\n, or \\r\\n",
	"utf8/empty-utf8no-anchored-bounds-overlapping":      "overlapping search: matches here never overlap",
	"utf8/empty-utf8no-anchored-endbound-overlapping":    "overlapping search: matches here never overlap",
	"utf8/empty-utf8no-anchored-overlapping":             "overlapping search: matches here never overlap",
	"utf8/empty-utf8no-anchored-startbound-overlapping":  "overlapping search: matches here never overlap",
	"utf8/empty-utf8no-bounds-overlapping":               "overlapping search: matches here never overlap",
	"utf8/empty-utf8no-overlapping":                      "overlapping search: matches here never overlap",
	"utf8/empty-utf8no-startbound-overlapping":           "overlapping search: matches here never overlap",
	"utf8/empty-utf8yes-anchored-bounds-overlapping":     "overlapping search: matches here never overlap",
	"utf8/empty-utf8yes-anchored-endbound-overlapping":   "overlapping search: matches here never overlap",
	"utf8/empty-utf8yes-anchored-overlapping":            "overlapping search: matches here never overlap",
	"utf8/empty-utf8yes-anchored-startbound-overlapping": "overlapping search: matches here never overlap",
	"utf8/empty-utf8yes-bounds-overlapping":              "overlapping search: matches here never overlap",
	"utf8/empty-utf8yes-overlapping":                     "overlapping search: matches here never overlap",
	"utf8/empty-utf8yes-startbound-overlapping":          "overlapping search: matches here never overlap",
}

// rustCase is one vector.
type rustCase struct {
	Name            string
	Regex           any
	Haystack        string
	Matches         []any
	Bounds          any
	MatchLimit      int `toml:"match-limit"`
	Anchored        bool
	CaseInsensitive bool `toml:"case-insensitive"`
	Unescape        bool
	Unicode         *bool
	UTF8            *bool  `toml:"utf8"`
	LineTerminator  string `toml:"line-terminator"`
	MatchKind       string `toml:"match-kind"`
	SearchKind      string `toml:"search-kind"`
	Compiles        *bool
}

// rustCases reads a file of vectors.
func rustCases(file string) ([]rustCase, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var doc struct{ Test []rustCase }
	if err := toml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return doc.Test, nil
}

func TestRustConformance(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(conformanceDir, "*.toml"))
	if len(files) == 0 {
		t.Skipf("no vectors in %s: put regex-automata's testdata (*.toml) there", conformanceDir)
	}
	ran, skipped := 0, 0
	for _, file := range files {
		cases, err := rustCases(file)
		if err != nil {
			t.Fatal(err)
		}
		group := strings.TrimSuffix(filepath.Base(file), ".toml")
		for _, c := range cases {
			name := group + "/" + c.Name
			if _, out := omitted[name]; out {
				skipped++
				continue
			}
			ran++
			c.run(t, name)
		}
	}
	t.Logf("ran %d vectors, left out %d", ran, skipped)
	if skipped != len(omitted) {
		t.Errorf("%d vectors are omitted by name, %d of them exist", len(omitted), skipped)
	}
	if ran < 530 {
		t.Errorf("ran only %d vectors", ran)
	}
}

// TestRustSuite runs all vectors of Rust's regex repository, except those for its own interfaces.
func TestRustSuite(t *testing.T) {
	root := filepath.Join(suite(t, "rust-regex"), "testdata")
	ran, documented, failed, matching, refusing := 0, 0, 0, 0, 0
	err := filepath.WalkDir(root, func(file string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".toml" || d.Name() == "regex-lite.toml" {
			return err // regex-lite is another engine, without Unicode
		}
		cases, err := rustCases(file)
		if err != nil {
			return err
		}
		group := strings.TrimSuffix(filepath.Base(file), ".toml")
		for _, c := range cases {
			ran++
			if name := group + "/" + c.Name; c.asksForMore(name) {
				documented++
				continue
			} else if !t.Run(name, func(t *testing.T) { c.run(t, name) }) {
				failed++
			}
			switch {
			case c.Compiles != nil && !*c.Compiles:
				refusing++
			case len(c.Matches) > 0:
				matching++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if matching < 600 || refusing == 0 {
		t.Errorf("only %d vectors with a match and %d to refuse", matching, refusing)
	}
	t.Logf("suite: tried %d, pass %d, documented %d, fail %d; %d have a match, %d are refused", ran, ran-documented-failed, documented, failed, matching, refusing)
}

// asksForMore reports whether a vector needs a feature that this package doesn't offer:
// several distinguished patterns, overlapping matches, the earliest or all matches, another
// line terminator.
func (c *rustCase) asksForMore(name string) bool {
	list, many := c.Regex.([]any)
	_, out := omitted[name]
	return out || many && len(list) != 1 || c.LineTerminator != "" ||
		c.MatchKind != "" && c.MatchKind != "leftmost-first" || c.SearchKind != "" && c.SearchKind != "leftmost"
}

func (c *rustCase) run(t *testing.T, name string) {
	t.Helper()
	expr, ok := c.Regex.(string)
	if !ok {
		expr = c.Regex.([]any)[0].(string)
	}
	hay := c.Haystack
	if c.Unescape {
		hay = unescape(hay)
	}
	opts := Options{Mode: Text}
	if c.CaseInsensitive {
		opts.Case = Insensitive
	}
	if c.Unicode != nil && !*c.Unicode {
		expr = "(?-u)" + expr
	}
	p, err := Compile(expr, opts)
	if c.Compiles != nil && !*c.Compiles {
		if err == nil {
			t.Errorf("%s: %q compiles and should not", name, expr)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %q: %v", name, expr, err)
		return
	}
	want := c.wantSpans(t)
	from, to := c.bounds(len(hay))
	prog := p.plan.prog()
	splits := c.UTF8 != nil && !*c.UTF8
	if splits {
		// This package offers no empty matches inside a character, but the engine that it uses does.
		clone := *prog
		clone.UTF8 = false
		prog = &clone
	}
	got := pikeMatches(p, prog, []byte(hay), from, to, c.Anchored, c.MatchLimit)
	if !equalGroups(got, want) {
		t.Errorf("%s: %q in %q: %v, want %v", name, expr, hay, got, want)
		return
	}
	if c.Bounds == nil && !c.Anchored && !splits {
		checkAPI(t, name, p, []byte(hay), got, c.MatchLimit)
	}
}

// checkAPI compares the results of the public API with the exact engine.
func checkAPI(t *testing.T, name string, p *Pattern, hay []byte, want [][][2]int, limit int) {
	t.Helper()
	m := p.NewMatcher()
	n := 0
	m.Each(hay, func(start, end int) bool {
		if n >= len(want) || want[n][0] != [2]int{start, end} {
			t.Errorf("%s: Each gives %d-%d as match %d, want %v", name, start, end, n, want)
			return false
		}
		n++
		return limit == 0 || n < limit
	})
	if n != len(want) && !t.Failed() {
		t.Errorf("%s: Each gives %d matches, want %d", name, n, len(want))
	}
}

// pikeMatches is the reference: all matches with their groups.
func pikeMatches(p *Pattern, prog *nfa.Prog, hay []byte, from, to int, anchored bool, limit int) [][][2]int {
	var all [][][2]int
	m := p.NewMatcher()
	last := -1
	slots := make([]int, 2*p.Groups())
	for from <= to {
		in := pike.Input{Hay: hay, From: from, To: to, Anchored: anchored}
		if m.pike.Find(prog, in, slots) != pike.Match {
			break
		}
		start, end := slots[0], slots[1]
		from = end
		if start == end {
			from = end + 1
			if end == last {
				continue
			}
		}
		last = end
		var groups [][2]int
		for i := 0; i < len(slots); i += 2 {
			groups = append(groups, [2]int{slots[i], slots[i+1]})
		}
		all = append(all, groups)
		if limit > 0 && len(all) == limit {
			break
		}
	}
	return all
}

// equalGroups compares matches; if the vector has only the span of a match, groups are
// ignored.
func equalGroups(got, want [][][2]int) bool {
	return slices.EqualFunc(got, want, func(g, w [][2]int) bool {
		if len(w) == 1 {
			return g[0] == w[0]
		}
		return slices.Equal(g, w)
	})
}

func (c *rustCase) bounds(n int) (from, to int) {
	switch b := c.Bounds.(type) {
	case []any:
		return int(b[0].(int64)), int(b[1].(int64))
	case map[string]any:
		return int(b["start"].(int64)), int(b["end"].(int64))
	}
	return 0, n
}

// wantSpans parses the notations of a match: [s, e], [[s, e], [], …], or a table with
// "span" or "spans".
func (c *rustCase) wantSpans(t *testing.T) [][][2]int {
	var all [][][2]int
	for _, m := range c.Matches {
		if table, ok := m.(map[string]any); ok {
			if s, ok := table["span"]; ok {
				m = s
			} else {
				m = table["spans"]
			}
		}
		list := m.([]any)
		if len(list) == 2 {
			if s, ok := list[0].(int64); ok {
				all = append(all, [][2]int{{int(s), int(list[1].(int64))}})
				continue
			}
		}
		var groups [][2]int
		for _, g := range list {
			pair := g.([]any)
			if len(pair) == 0 {
				groups = append(groups, [2]int{-1, -1})
				continue
			}
			groups = append(groups, [2]int{int(pair[0].(int64)), int(pair[1].(int64))})
		}
		all = append(all, groups)
	}
	return all
}

// unescape decodes the escapes of a vector's haystack.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case '0':
			b.WriteByte(0)
		case 'x':
			v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err != nil {
				panic(fmt.Sprintf("bad escape in %q", s))
			}
			b.WriteByte(byte(v))
			i += 2
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
