package replacer_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/replacer"
	"quarry/internal/stress"
	"quarry/match"
	"quarry/search"
)

// A pattern that ends with a line feed includes the endings of its lines, in any encoding and
// with any kind of ending, and undoing the change is exact. Results are compared with Go's
// regexp over the whole text.
func TestLineEndings(t *testing.T) {
	dir := t.TempDir()
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	const seed = 11
	rng := stress.Rand(seed)
	rests := []string{`a`, `^- \[ \] [^\r\n]*`, `^`, ``, `^[ \t]*`, `a+|b`, `(?:a|b)$`, `^(a*) ?(b*)`, `b\\`, `[ab]*`, `(?i)^A[^\r\n]*`, `^[^\r\n]*x[|]?`}
	tails := []string{`\n`, `\r?\n`, `\r\n`, "\n", "\r\n", `\r*\n`}
	texts := []string{"", "", "z", "$0|", "<$1>\n", "z\n\n"}
	made, refused := 0, 0
	for n := range stress.Size(150, 3000) {
		var text strings.Builder
		for range rng.IntN(30) {
			text.WriteString([]string{"a", "b", "ab", "- [ ] ä", "\t", " ", "x", `\`, "|", "\n", "\r\n", "\n- [ ] ", "\r\n"}[rng.IntN(13)])
		}
		content := text.String()
		raw := []byte(content)
		switch rng.IntN(4) {
		case 0:
			raw = append([]byte("\ufeff"), raw...)
		case 1:
			raw = utf16LE("\ufeff" + content)
		}
		file := filepath.Join(dir, fmt.Sprintf("%d.txt", n%5))
		if err := os.WriteFile(file, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		rest, tail, with := rests[rng.IntN(len(rests))], tails[rng.IntN(len(tails))], texts[rng.IntN(len(texts))]
		q := replacer.Query{Query: search.Query{Pattern: rest + tail, Scope: search.Scope{Paths: []string{filepath.Base(file)}}}, Replacement: with}
		plain := strings.HasPrefix(tail, "\n") || strings.HasPrefix(tail, "\r")
		if plain && rng.IntN(2) == 0 && regexp.QuoteMeta(rest) == rest {
			q.Match.Syntax, q.Literal = match.Literal, true
		} else if strings.Contains(with, "$1") && !strings.Contains(rest, "(a*)") {
			continue
		} else if rng.IntN(3) == 0 && !strings.Contains(rest, "?i") {
			q.Match.Syntax = match.ECMAScript
		}
		found, err := replacer.FindAll(t.Context(), ws, []replacer.Query{q})
		if strings.Contains(rest, "a+|") {
			refused++
			if fault.CodeOf(err) != fault.InvalidPattern {
				t.Fatalf("%q: %v, want an invalid pattern", q.Pattern, err)
			}
			continue
		}
		want, matches := withoutEndings(content, rest, with, q.Literal)
		if matches == 0 {
			if err != replacer.ErrNone {
				t.Fatalf("round %d: %q in %q: %v, want none", n, q.Pattern, content, err)
			}
			continue
		}
		if err != nil || found.Matches != matches {
			t.Fatalf("round %d: %q in %q: %+v, %v, want %d matches", n, q.Pattern, content, found, err, matches)
		}
		done, err := ws.Apply(t.Context(), change.Set{Ops: found.Ops})
		if err != nil {
			t.Fatal(err)
		}
		wantRaw := []byte(want)
		switch {
		case bytes.HasPrefix(raw, []byte("\xff\xfe")):
			wantRaw = utf16LE("\ufeff" + want)
		case bytes.HasPrefix(raw, []byte("\ufeff")):
			wantRaw = []byte("\ufeff" + want)
		}
		if got, _ := os.ReadFile(file); !bytes.Equal(got, wantRaw) {
			t.Fatalf("round %d: %q by %q in %q:\n%q, want\n%q", n, q.Pattern, with, raw, got, wantRaw)
		}
		made++
		if want == content {
			continue
		}
		if _, err := ws.Undo(t.Context(), done.ID, nil); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(file); !bytes.Equal(got, raw) {
			t.Fatalf("round %d: undone: %q, want %q", n, got, raw)
		}
	}
	if made < 40 || refused == 0 {
		t.Errorf("%d made, %d refused", made, refused)
	}
}

func utf16LE(s string) (out []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

// withoutEndings is the reference. It treats each line separately: it replaces the line's
// first match that extends to the end of the line, together with the line ending.
func withoutEndings(text, rest, with string, literal bool) (out string, matches int) {
	if literal {
		rest = regexp.QuoteMeta(rest)
	}
	re := regexp.MustCompile(`(?:` + rest + `)$`)
	eol := "\n"
	for text != "" {
		line, ending := text, ""
		if i := strings.IndexByte(text, '\n'); i >= 0 {
			line, ending = text[:i], text[i:i+1]
			if strings.HasSuffix(line, "\r") {
				line, ending = line[:i-1], "\r\n"
			}
		}
		text = text[len(line)+len(ending):]
		if ending != "" {
			eol = ending
		}
		at := re.FindStringSubmatchIndex(line)
		if at == nil || at[0] == len(line) && ending == "" {
			out += line + ending
			continue
		}
		new := with
		if !literal {
			new = strings.ReplaceAll(new, "$0", line[at[0]:]+ending)
			if len(at) > 2 {
				new = strings.ReplaceAll(new, "$1", line[at[2]:at[3]])
			}
		}
		new = strings.ReplaceAll(strings.ReplaceAll(new, "\r\n", "\n"), "\n", eol)
		out += line[:at[0]] + new
		matches++
	}
	return out, matches
}
