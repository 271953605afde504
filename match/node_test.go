package match

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"quarry/internal/re/backref"
	"quarry/internal/re/syntax/ecma"
	"quarry/internal/re/syntax/ecma/ecmatest"
	"quarry/internal/stress"
)

// nodeCase is one pattern on several texts. In Lines mode the texts are the
// lines of one buffer.
type nodeCase struct {
	P string   `json:"p"`
	F string   `json:"f"`
	T []string `json:"t"`

	opts    Options
	pattern *Pattern
	err     error
	got     []string
}

// TestNode compares every match of over 20,000 pairs of pattern and text, with its groups,
// with node's: the results of Each and Captures, with prefilters, automata and backtracking
// as chosen. It omits
//
//   - an empty match right after another match, which Each doesn't count;
//   - in Lines mode patterns that need a line feed, which are refused;
//   - matches V8 finds between the halves of a surrogate pair under u, where
//     the specification doesn't look;
//   - the v flag, and modifiers, which node 20 doesn't have.
func TestNode(t *testing.T) {
	stress.SkipTiny(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: install Node 22 (Debian: nodejs)")
	}
	n := stress.N(24_000)
	cases := nodeCases(n)
	var input bytes.Buffer
	enc := json.NewEncoder(&input)
	for _, c := range cases {
		if err := enc.Encode(c); err != nil {
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
	counts := map[string]int{}
	for _, c := range cases {
		var a struct {
			E string        `json:"e"`
			M [][][]*[2]int `json:"m"`
		}
		if !sc.Scan() {
			t.Fatal("node gave too few answers")
		}
		if err := json.Unmarshal(sc.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		if (c.err != nil) != (a.E != "") {
			t.Errorf("/%s/%s: error %v, node %q", c.P, c.F, c.err, a.E)
			continue
		}
		if c.err != nil {
			counts["rejected"]++
			continue
		}
		counts[strings.TrimPrefix(c.pattern.Strategy(), "bytes, then ")]++
		for i, text := range c.T {
			want, inside := nodeMatches(text, a.M[i])
			if inside {
				counts["inside a pair"]++
				continue
			}
			counts["pairs"]++
			if want != "" {
				counts["matched"]++
			}
			if c.got[i] != want {
				t.Errorf("/%s/%s %+v on %q: %s, node %s", c.P, c.F, c.opts, text, c.got[i], want)
			}
		}
	}
	t.Log(counts)
	if counts["pairs"] < n*3/4 || counts["matched"] < n/4 {
		t.Errorf("the generator is too narrow: %v", counts)
	}
}

// nodeCases generates about n pairs and matches them.
func nodeCases(n int) []*nodeCase {
	g := &ecmatest.Generator{Rand: rand.New(rand.NewPCG(3, 4))}
	var cases []*nodeCase
	for pairs := 0; pairs < n; {
		c := &nodeCase{P: g.Pattern(), F: g.Flags}
		if strings.Contains(c.F, "v") {
			continue
		}
		c.opts = Options{Syntax: ECMAScript, Mode: Text, DotAll: strings.Contains(c.F, "s"), Unicode: strings.Contains(c.F, "u")}
		if strings.Contains(c.F, "i") {
			c.opts.Case = Insensitive
		}
		switch {
		case strings.Contains(c.F, "m"):
			c.opts.Mode = Multiline
		case g.IntN(2) == 0:
			c.opts.Mode = Lines
		}
		for range 4 {
			text := g.Text()
			if g.IntN(8) == 0 {
				text += strings.Repeat(g.Text()+" ", 60) // long enough for the automata
			}
			if c.opts.Mode == Lines {
				text = strings.TrimRight(strings.ReplaceAll(text, "\n", ""), "\r")
			}
			c.T = append(c.T, text)
		}
		c.pattern, c.err = Compile(c.P, c.opts)
		if c.err != nil && strings.Contains(c.err.Error(), "line feed") {
			continue
		}
		if c.err == nil && (c.explodes() || !c.match()) {
			continue
		}
		cases = append(cases, c)
		pairs += len(c.T)
	}
	return cases
}

// explodes reports whether a pattern takes so many steps by backtracking that node, which
// has no limit, might not finish.
func (c *nodeCase) explodes() bool {
	tree, err := ecma.ParseTree(c.P, ecmaFlags(c.opts.Case == Insensitive, c.opts), nil)
	if err != nil {
		return false
	}
	m := backref.Compile(tree).NewMatcher(backref.NewBudget(1 << 19))
	var span [2]int
	for _, text := range c.T {
		for from := 0; from <= len(text); from = max(from+1, span[1]) {
			ok, err := m.Find([]byte(text), from, span[:])
			if err != nil {
				return true
			}
			if !ok {
				break
			}
		}
	}
	return false
}

// match fills in got and reports whether the budget was enough.
func (c *nodeCase) match() bool {
	m := c.pattern.NewMatcher()
	c.got = make([]string, len(c.T))
	if c.opts.Mode != Lines {
		for i, text := range c.T {
			m.Each([]byte(text), func(start, end int) bool {
				c.add(m, i, text, start, end)
				return true
			})
		}
		return m.Err() == nil
	}
	var starts []int
	buf := ""
	for i, text := range c.T {
		starts = append(starts, len(buf))
		buf += text + []string{"\n", "\r\n"}[i%2]
	}
	m.Each([]byte(buf), func(start, end int) bool {
		i, ok := slices.BinarySearch(starts, start)
		if !ok {
			i--
		}
		c.add(m, i, c.T[i], start-starts[i], end-starts[i])
		return true
	})
	return m.Err() == nil
}

func (c *nodeCase) add(m *Matcher, i int, text string, start, end int) {
	slots, ok := m.Captures([]byte(text), start, nil)
	if !ok || slots[0] != start || slots[1] != end {
		c.got[i] += fmt.Sprintf("%d-%d, but groups %v ", start, end, slots)
		return
	}
	c.got[i] += fmt.Sprint(slots)
}

// nodeMatches converts node's answer to bytes. inside reports whether a match ends inside
// a character.
func nodeMatches(text string, all [][]*[2]int) (list string, inside bool) {
	at := map[int]int{}
	units := 0
	for i, r := range text {
		at[units] = i
		units += utf16.RuneLen(r)
	}
	at[units] = len(text)
	last := -1
	for _, m := range all {
		var slots []int
		for _, s := range m {
			if s == nil {
				slots = append(slots, -1, -1)
				continue
			}
			lo, ok1 := at[s[0]]
			hi, ok2 := at[s[1]]
			inside = inside || !ok1 || !ok2
			slots = append(slots, lo, hi)
		}
		if slots[0] == slots[1] && slots[0] == last {
			continue
		}
		last = slots[1]
		list += fmt.Sprint(slots)
	}
	return list, inside
}
