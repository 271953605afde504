package match

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// record holds the observations of one test of test262; see testdata/test262.js.
type record struct {
	Kind, File    string
	Source, Flags string
	Text          string
	Last          int
	Result        []any
	Chars         []rune
	Ranges        [][2]rune
	Match, Not    []string
}

// suite returns a folder below QUARRY_SUITES, or skips the test if there is none: the suites
// take minutes, and make conformance-all runs them.
func suite(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(os.Getenv("QUARRY_SUITES"), name)
	if _, err := os.Stat(dir); os.Getenv("QUARRY_SUITES") == "" || err != nil || testing.Short() {
		t.Skipf("set QUARRY_SUITES to a folder that holds %s", name)
	}
	return dir
}

// TestTest262 compares with the observations of test262's RegExp tests. The last line of its
// output is used in docs/CONFORMANCE.md.
func TestTest262(t *testing.T) {
	dir := suite(t, "test262")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: install Node 22 (Debian: nodejs)")
	}
	cmd := exec.Command(node, "testdata/test262.js", dir)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tried, differ, failed, said := 0, 0, 0, map[string]int{}
	lines := bufio.NewReaderSize(pipe, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			break
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		tried++
		if !r.empty() {
			said[r.Kind]++
		}
		if why := r.differs(); why != "" {
			differ++
		} else if problem := r.check(); problem != "" {
			if failed++; failed <= 40 {
				t.Errorf("%s: /%s/%s: %s", r.File, r.Source, r.Flags, problem)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	for kind, least := range map[string]int{"exec": 10000, "refuse": 300, "property": 1000, "strings": 80} {
		if said[kind] < least {
			t.Errorf("only %d records of kind %q say something", said[kind], kind)
		}
	}
	t.Logf("suite: tried %d, pass %d, documented %d, fail %d; with a match, a refusal or characters: %v", tried, tried-differ-failed, differ, failed, said)
}

// empty reports whether an engine that never matches would pass a record.
func (r *record) empty() bool {
	switch r.Kind {
	case "exec":
		return r.Result == nil
	case "property":
		return len(r.Chars)+len(r.Ranges) == 0
	case "strings":
		return len(r.Match) == 0
	}
	return false
}

// differs returns why a record can't be compared, or "". Texts here are UTF-8, so they have no
// lone surrogates, and a character beyond U+FFFF is one character.
func (r *record) differs() string {
	parts := []string{r.Source, r.Text}
	for _, v := range r.Result[min(1, len(r.Result)):] {
		if s, ok := v.(string); ok {
			parts = append(parts, s)
		}
	}
	unicode := strings.ContainsAny(r.Flags, "uv")
	for _, p := range parts {
		if strings.ContainsRune(p, utf8.RuneError) {
			return "a lone surrogate"
		}
		if !unicode && strings.ContainsFunc(p, func(c rune) bool { return c > 0xFFFF }) {
			return "half of a character"
		}
	}
	if lone.MatchString(r.Source) && (r.Kind == "exec" || !unicode) {
		return "a lone surrogate"
	}
	return ""
}

func (r *record) compile() (*Pattern, error) {
	opts := Options{Syntax: ECMAScript, Mode: Text}
	for _, f := range r.Flags {
		switch f {
		case 'i':
			opts.Case = Insensitive
		case 'm':
			opts.Mode = Multiline
		case 's':
			opts.DotAll = true
		case 'u':
			opts.Unicode = true
		case 'v':
			opts.UnicodeSets = true
		}
	}
	return Compile(r.Source, opts)
}

func (r *record) check() string {
	p, err := r.compile()
	if r.Kind == "refuse" {
		if err == nil {
			return "is not refused"
		}
		return ""
	}
	if err != nil {
		return err.Error()
	}
	m := p.NewMatcher()
	switch r.Kind {
	case "property":
		return r.checkProperty(m)
	case "strings":
		return r.checkStrings(m)
	}
	return r.checkExec(m)
}

// checkStrings checks like the original test: all strings as one text, and each one separately
// only if that fails.
func (r *record) checkStrings(m *Matcher) string {
	has := func(s string) bool {
		_, _, ok := m.Find([]byte(s), 0)
		return ok
	}
	if !has(strings.Join(r.Match, "")) {
		for _, s := range r.Match {
			if !has(s) {
				return fmt.Sprintf("doesn't match %+q", s)
			}
		}
	}
	if has(strings.Join(r.Not, "")) {
		for _, s := range r.Not {
			if has(s) && !strings.ContainsRune(s, utf8.RuneError) {
				return fmt.Sprintf("matches %+q", s)
			}
		}
	}
	return ""
}

func (r *record) checkProperty(m *Matcher) string {
	var text []byte
	for _, c := range r.Chars {
		text = appendScalar(text, c)
	}
	for _, s := range r.Ranges {
		for c := s[0]; c <= s[1]; c++ {
			text = appendScalar(text, c)
		}
	}
	if len(text) == 0 {
		return ""
	}
	if _, end, ok := m.Find(text, 0); !ok || end != len(text) {
		return "doesn't match all characters"
	}
	return ""
}

// appendScalar omits surrogates, which UTF-8 can't encode.
func appendScalar(b []byte, c rune) []byte {
	if !utf8.ValidRune(c) {
		return b
	}
	return utf8.AppendRune(b, c)
}

func (r *record) checkExec(m *Matcher) string {
	text := []byte(r.Text)
	from := 0
	if strings.ContainsAny(r.Flags, "gy") {
		units := utf16.Encode([]rune(r.Text))
		if r.Last < 0 || r.Last > len(units) {
			return ""
		}
		from = len(string(utf16.Decode(units[:r.Last])))
	}
	slots, ok := m.Captures(text, from, nil)
	if ok && strings.Contains(r.Flags, "y") && slots[0] != from {
		ok = false
	}
	if err := m.Err(); err != nil {
		return err.Error()
	}
	if !ok || r.Result == nil {
		if ok != (r.Result != nil) {
			return fmt.Sprintf("%+q: matches %v", r.Text, ok)
		}
		return ""
	}
	got := []any{float64(len(utf16.Encode([]rune(string(text[:slots[0]])))))}
	for i := 0; i < len(slots); i += 2 {
		if slots[i] < 0 {
			got = append(got, nil)
		} else {
			got = append(got, string(text[slots[i]:slots[i+1]]))
		}
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(r.Result)
	if !bytes.Equal(a, b) {
		return fmt.Sprintf("%+q: %s, want %s", r.Text, a, b)
	}
	return ""
}

// lone matches an escape of half a surrogate pair.
var lone = regexp.MustCompile(`\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\u\{[dD][89a-fA-F][0-9a-fA-F]{2}\}`)
