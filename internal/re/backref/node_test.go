package backref_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"quarry/internal/re/backref"
	"quarry/internal/re/nfa"
	"quarry/internal/re/pike"
	"quarry/internal/re/syntax"
	"quarry/internal/re/syntax/ecma"
	"quarry/internal/re/syntax/ecma/ecmatest"
	"quarry/internal/stress"
)

type question struct {
	P string   `json:"p"`
	F string   `json:"f"`
	T []string `json:"t"`
}

type answer struct {
	E string      `json:"e"`
	M [][]*[2]int `json:"m"`
}

func flagsOf(s string) ecma.Flags {
	var f ecma.Flags
	for _, c := range s {
		f |= map[rune]ecma.Flags{
			'i': ecma.IgnoreCase, 'm': ecma.Multiline, 's': ecma.DotAll, 'u': ecma.Unicode, 'v': ecma.UnicodeSets,
		}[c]
	}
	return f
}

// TestNode compares 9,000 generated patterns on 27,000 texts with node: acceptance, error
// messages, spans and groups. It omits
//
//   - the differences in the package doc of ecma: characters over U+FFFF without u
//     or v, and lone surrogates (never generated);
//   - features that node 20 lacks or gets wrong: duplicate names (never generated),
//     and the cases of oracleDiffers;
//   - matches that V8 finds between the halves of a surrogate pair under u and v,
//     where the specification doesn't look (see insidePair).
func TestNode(t *testing.T) {
	stress.SkipTiny(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: install Node 22 (Debian: nodejs)")
	}
	g := &ecmatest.Generator{Rand: rand.New(rand.NewPCG(1, 2))}
	n := stress.N(9_000)
	var questions []question
	var input bytes.Buffer
	enc := json.NewEncoder(&input)
	for range n {
		q := question{P: g.Pattern(), F: g.Flags}
		for range 3 {
			q.T = append(q.T, g.Text())
		}
		if explodes(q) {
			continue
		}
		questions = append(questions, q)
		if err := enc.Encode(q); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "testdata/oracle.js")
	cmd.Stdin = &input
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v", err)
	}
	sc := bufio.NewScanner(bytes.NewReader(out))
	sc.Buffer(nil, 1<<24)
	wrong := map[string]int{}
	counts := map[string]int{}
	for _, q := range questions {
		var a answer
		if !sc.Scan() {
			t.Fatal("node gave too few answers")
		}
		if err := json.Unmarshal(sc.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		if name := oracleDiffers(q); name != "" {
			counts[name]++
			continue
		}
		for _, m := range compare(q, a, counts) {
			kind, _, _ := strings.Cut(m, ":")
			if wrong[kind]++; wrong[kind] <= 8 {
				t.Errorf("/%s/%s %s", q.P, q.F, m)
			}
		}
	}
	t.Logf("counts %v, wrong %v", counts, wrong)
	if counts["matched"] < n/4 || counts["linear"] < n/4 || counts["rejected"] < n/30 {
		t.Errorf("the generator is too narrow: %v", counts)
	}
}

// explodes reports whether a question takes so many steps that node, which has no limit,
// might not finish.
func explodes(q question) bool {
	tree, err := ecma.ParseTree(q.P, flagsOf(q.F), nil)
	if err != nil {
		return false
	}
	m := backref.Compile(tree).NewMatcher(backref.NewBudget(1 << 18))
	for _, text := range q.T {
		if _, err := m.Find([]byte(text), 0, nil); err != nil {
			return true
		}
	}
	return false
}

// compare returns the differences, each beginning with its kind and a colon.
func compare(q question, a answer, counts map[string]int) []string {
	tree, err := ecma.ParseTree(q.P, flagsOf(q.F), nil)
	if err != nil {
		var e *syntax.Error
		if !errors.As(err, &e) {
			return []string{"error type: " + err.Error()}
		}
		counts["rejected"]++
		switch {
		case a.E == "":
			return []string{"rejected: " + err.Error()}
		case !strings.HasSuffix(a.E, ": "+e.Reason):
			return []string{"message: " + e.Reason + ", node: " + a.E}
		}
		return nil
	}
	if a.E != "" {
		return []string{"accepted: node: " + a.E}
	}
	var bad []string
	exact := backref.Compile(tree).NewMatcher(nil)
	parsed := tree.Parsed()
	prog, err := nfa.Compile(parsed.Root, nfa.Options{UTF8: true})
	if err != nil {
		return []string{"nfa: " + err.Error()}
	}
	for i, text := range q.T {
		if insidePair(text, a.M[i]) {
			counts["inside a pair"]++
			continue
		}
		want := byteSpans(text, a.M[i])
		caps := make([]int, 2*len(tree.Names))
		ok, err := exact.Find([]byte(text), 0, caps)
		if got := spans(ok, caps); err != nil || got != want {
			bad = append(bad, fmt.Sprintf("exact: on %q: %s %v, node %s", text, got, err, want))
		}
		if a.M[i] != nil {
			counts["matched"]++
		}
		var cache pike.Cache
		ok = cache.Find(prog, pike.Input{Hay: []byte(text), To: len(text)}, caps) == pike.Match
		switch got := spans(ok, caps); {
		case parsed.Superset:
			if counts["superset"]++; !ok && a.M[i] != nil {
				bad = append(bad, fmt.Sprintf("too narrow: on %q: no match, node %s", text, want))
			}
		case parsed.CapturesDiffer:
			counts["captures differ"]++
			got, want = strings.SplitN(got, " ", 2)[0], strings.SplitN(want, " ", 2)[0]
			fallthrough
		default:
			if counts["linear"]++; got != want {
				bad = append(bad, fmt.Sprintf("pike: on %q: %s, node %s", text, got, want))
			}
		}
	}
	return bad
}

// spans formats a match as "0-3 1-2 -", or "none".
func spans(ok bool, caps []int) string {
	if !ok {
		return "none"
	}
	var out []string
	for s := range slices.Chunk(caps, 2) {
		if s[0] < 0 {
			out = append(out, "-")
			continue
		}
		out = append(out, fmt.Sprintf("%d-%d", s[0], s[1]))
	}
	return strings.Join(out, " ")
}

// oracleDiffers returns the reason why node 20's answer differs from the specification, or
// "".
func oracleDiffers(q question) string {
	sets := strings.Contains(q.F, "v")
	switch {
	case modifiers.MatchString(q.P):
		return "no modifiers in V8 11"
	case sets && strings.Contains(q.P, "[^]"):
		return "V8 11 takes /[^]+/v for one character"
	case sets && strings.Contains(q.F, "i") && setOperation.MatchString(q.P):
		return "V8 11 folds after && and --: /[A--a]/iv matches, so does /[^a--b]/iv on a"
	}
	return ""
}

var (
	modifiers    = regexp.MustCompile(`\(\?[ims-]`)
	setOperation = regexp.MustCompile(`&&|--`)
)

// insidePair reports whether a match begins or ends inside a character.
func insidePair(text string, m []*[2]int) bool {
	units := utf16.Encode([]rune(text))
	for _, s := range m {
		for i := 0; s != nil && i < 2; i++ {
			if at := s[i]; at > 0 && at < len(units) && utf16.IsSurrogate(rune(units[at])) && units[at] >= 0xDC00 {
				return true
			}
		}
	}
	return false
}

// byteSpans is spans for a match given in code units of text.
func byteSpans(text string, m []*[2]int) string {
	if m == nil {
		return "none"
	}
	at := map[int]int{}
	units := 0
	for i, r := range text {
		at[units] = i
		units += utf16.RuneLen(r)
	}
	at[units] = len(text)
	var caps []int
	for _, s := range m {
		if s == nil {
			caps = append(caps, -1, -1)
			continue
		}
		caps = append(caps, at[s[0]], at[s[1]])
	}
	return spans(true, caps)
}
