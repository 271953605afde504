package match

import (
	"bufio"
	"compress/bzip2"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp/syntax"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestRE2 runs RE2's exhaustive tests, which come with Go: all short patterns of a few pieces
// on all short texts. A line has the results of four searches: leftmost-first of the whole
// text and of a part, then the same leftmost-longest, which this package doesn't offer.
func TestRE2(t *testing.T) {
	if os.Getenv("QUARRY_SUITES") == "" || testing.Short() {
		t.Skip("set QUARRY_SUITES to run all of RE2's tests")
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command, install Go: ", err)
	}
	dir := filepath.Join(strings.TrimSpace(string(goroot)), "src/regexp/testdata")
	r := &re2Run{t: t}
	for _, name := range []string{"re2-search.txt", "re2-exhaustive.txt.bz2"} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Skipf("needs Go's source with its tests, which some packages of Go leave out; install Go from go.dev: %v", err)
		}
		var in io.Reader = f
		if strings.HasSuffix(name, ".bz2") {
			in = bzip2.NewReader(f)
		}
		r.file(in)
		f.Close()
	}
	if r.tried < 1000000 {
		t.Errorf("only %d searches", r.tried)
	}
	t.Logf("suite: tried %d, pass %d, documented %d, fail %d", r.tried, r.tried-r.documented-r.failed, r.documented, r.failed)
}

type re2Run struct {
	t                         *testing.T
	texts                     []string
	expr                      string
	part, whole               *Matcher
	next                      int  // text
	listing                   bool // texts are being listed
	tried, documented, failed int
}

func (r *re2Run) file(in io.Reader) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "" || line[0] == '#' || line[0] >= 'A' && line[0] <= 'Z':
		case line == "strings":
			r.texts, r.listing = nil, true
		case line == "regexps":
			r.listing = false
		case line[0] == '"':
			s, err := strconv.Unquote(line)
			if err != nil {
				r.t.Fatalf("%s: %v", line, err)
			}
			if r.listing {
				r.texts = append(r.texts, s)
			} else {
				r.pattern(s)
			}
		default:
			r.answers(strings.Split(line, ";"))
		}
	}
	if err := lines.Err(); err != nil {
		r.t.Fatal(err)
	}
}

func (r *re2Run) pattern(expr string) {
	r.expr, r.next, r.part, r.whole = expr, 0, nil, nil
	if strings.Contains(expr, `\C`) {
		return // a single byte: Rust has no such escape
	}
	if _, err := syntax.Parse(expr, syntax.Perl); err != nil {
		return
	}
	// RE2's \d, \s, \w and \b are ASCII only.
	ascii := strings.NewReplacer(`\d`, `[0-9]`, `\s`, `[\t\n\f\r ]`, `\w`, `[0-9A-Za-z_]`, `\b`, `(?-u:\b)`, `\B`, `(?-u:\B)`,
		`\D`, `[^0-9]`, `\S`, `[^\t\n\f\r ]`, `\W`, `[^0-9A-Za-z_]`).Replace(expr)
	part, err1 := Compile(ascii, Options{Mode: Text})
	whole, err2 := Compile(`\A(?:`+ascii+`)\z`, Options{Mode: Text})
	if err1 != nil || err2 != nil {
		r.t.Logf("not compiled: %v", err1)
		return
	}
	r.part, r.whole = part.NewMatcher(), whole.NewMatcher()
}

func (r *re2Run) answers(answers []string) {
	text := r.texts[r.next]
	r.next++
	for i, m := range []*Matcher{r.whole, r.part} {
		r.tried++
		if m == nil {
			r.documented++
			continue
		}
		got := "-"
		if slots, ok := m.Captures([]byte(text), 0, nil); ok {
			got = re2Spans(slots)
		}
		if got != answers[i] && splitsCharacter(answers[i], text) {
			r.documented++
		} else if got != answers[i] {
			if r.failed++; r.failed <= 20 {
				r.t.Errorf("%q in %q: %s, RE2 has %s", r.expr, text, got, answers[i])
			}
		}
	}
}

// splitsCharacter reports whether the answer is an empty match inside a character. RE2's \B
// finds these, this package doesn't.
func splitsCharacter(answer, text string) bool {
	start, end, ok := strings.Cut(answer, "-")
	at, err := strconv.Atoi(start)
	return ok && err == nil && start == end && at < len(text) && !utf8.RuneStart(text[at])
}

func re2Spans(slots []int) string {
	var b strings.Builder
	for i := 0; i < len(slots); i += 2 {
		if i > 0 {
			b.WriteByte(' ')
		}
		if slots[i] < 0 {
			b.WriteByte('-')
		} else {
			fmt.Fprintf(&b, "%d-%d", slots[i], slots[i+1])
		}
	}
	return b.String()
}
