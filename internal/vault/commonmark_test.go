package vault

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"quarry/internal/stress"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// oracle returns the path of a file in an npm package. If it is missing, the test is
// skipped.
func oracle(t *testing.T, parts ...string) string {
	t.Helper()
	p := filepath.Join(append([]string{os.Getenv("QUARRY_NPM")}, parts...)...)
	if _, err := os.Stat(p); err != nil || os.Getenv("QUARRY_NPM") == "" {
		t.Skipf("npm package %s not found; set QUARRY_NPM to the folder that holds it", parts[0])
	}
	return p
}

var specExample = regexp.MustCompile("(?ms)^`{32} example\n(.*?)^\\.\n(.*?)^`{32}$")

// meant lists examples of the specification that we parse like Obsidian, not like
// CommonMark. The key is a part of the example's text, the value the reason.
var meant = map[string]string{
	"[[*foo* bar]]":                "a wikilink",
	"[[[foo]]]":                    "a wikilink",
	"[[bar [foo]":                  "",
	"---\n---\n":                   "front matter",
	"---\nFoo\n---\nBar\n---\nBaz": "front matter",
}

// Scan finds the same headings, links and code as goldmark in the examples of
// CommonMark's specification. A difference between goldmark's HTML and the
// specification's is logged.
func TestCommonMarkSpec(t *testing.T) {
	spec, err := os.ReadFile(oracle(t, "commonmark-spec", "spec.txt"))
	if err != nil {
		t.Fatal(err)
	}
	md := goldmark.New(goldmark.WithRendererOptions(html.WithXHTML(), html.WithUnsafe()))
	examples := specExample.FindAllStringSubmatch(strings.ReplaceAll(string(spec), "\r\n", "\n"), -1)
	if len(examples) < 600 {
		t.Fatalf("%d examples found", len(examples))
	}
	agreed, skipped, parts := 0, 0, 0
	for i, e := range examples {
		src := strings.ReplaceAll(e[1], "→", "\t")
		var out strings.Builder
		if err := md.Convert([]byte(src), &out); err != nil || out.String() != strings.ReplaceAll(e[2], "→", "\t") {
			t.Logf("example %d: goldmark gives other HTML than the specification", i+1)
		}
		if why := onPurpose(src); why != "" {
			skipped++
			t.Logf("example %d read otherwise on purpose: %s", i+1, why)
			continue
		}
		want, got := reference([]byte(src)), ours([]byte(src))
		if got != want {
			t.Errorf("example %d: %q\n got %s\nwant %s", i+1, src, got, want)
			continue
		}
		agreed++
		parts += strings.Count(want, `"`) / 2
	}
	t.Logf("%d of %d examples agree, %d are read otherwise on purpose; %d headings, links and pieces of code", agreed, len(examples), skipped, parts)
}

func onPurpose(src string) string {
	for piece, why := range meant {
		if strings.Contains(src, piece) {
			return why
		}
	}
	return ""
}

var blanks = regexp.MustCompile(`[\s>]+`)

// squeeze removes blanks, which depend on how containers are stripped.
func squeeze(s string) string { return blanks.ReplaceAllString(s, "") }

func ours(src []byte) string {
	n := scanNote(src)
	var heads, links, code []string
	for _, h := range n.Headings {
		heads = append(heads, fmt.Sprintf("h%d %s", h.Level, squeeze(string(h.TextSpan.In(src)))))
	}
	at := map[int]string{}
	for _, l := range n.Links {
		switch {
		case l.aside, l.Kind == Reference, l.Kind == Wiki:
		case l.Kind == Autolink && src[l.Span.Start] != '<':
		default:
			at[l.Span.Start] = fmt.Sprintf("link %v %s", l.Embed, l.PathSpan.In(src))
			if l.Kind == Markdown {
				at[l.Span.Start] = fmt.Sprintf("link %v %s", l.Embed, Span{Start: l.PathSpan.Start, End: l.SubpathSpan.End}.In(src))
			}
		}
	}
	for _, u := range n.Uses {
		at[u.Span.Start] = fmt.Sprintf("use %v", u.Image)
	}
	for i := range len(src) {
		if s, ok := at[i]; ok {
			links = append(links, s)
		}
	}
	for _, c := range n.Code {
		code = append(code, squeeze(strings.Trim(string(c.In(src)), "`")))
	}
	return report(heads, links, code)
}

func report(heads, links, code []string) string {
	kept := []string{}
	for _, c := range code {
		if c = strings.Trim(c, "`"); c != "" {
			kept = append(kept, c)
		}
	}
	return fmt.Sprintf("%q\n%q\n%d %q", heads, links, len(kept), kept)
}

func reference(src []byte) string {
	var heads, links, code []string
	lines := func(n ast.Node) string {
		var b strings.Builder
		for i := range n.Lines().Len() {
			s := n.Lines().At(i)
			b.Write(s.Value(src))
		}
		return squeeze(b.String())
	}
	doc := goldmark.New().Parser().Parse(text.NewReader(src))
	_ = ast.Walk(doc, func(n ast.Node, in bool) (ast.WalkStatus, error) {
		if !in {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			heads = append(heads, fmt.Sprintf("h%d %s", n.Level, lines(n)))
		case *ast.Link:
			if n.Reference != nil {
				links = append(links, "use false")
			} else {
				links = append(links, fmt.Sprintf("link false %s", n.Destination))
			}
		case *ast.Image:
			if n.Reference != nil {
				links = append(links, "use true")
			} else {
				links = append(links, fmt.Sprintf("link true %s", n.Destination))
			}
		case *ast.AutoLink:
			links = append(links, fmt.Sprintf("link false %s", n.Label(src)))
		case *ast.CodeSpan:
			var b strings.Builder
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				b.Write(c.(*ast.Text).Segment.Value(src))
			}
			code = append(code, squeeze(b.String()))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			code = append(code, lines(n))
		}
		return ast.WalkContinue, nil
	})
	return report(heads, links, code)
}

// Scan and goldmark find the same parts in random text of constructs that both support.
func TestScanAgainstGoldmarkParts(t *testing.T) {
	pieces := []string{"[a](x.md)", "![a](y.png)", "`", "``", "```\n", "~~~", "\n", "\n", "\n\n", "\n\n", "    ", "  ", "- ", "* ", "1. ", "2) ", "> ", ">",
		"text ", "# ", "## h\n", "---", "===", "<http://u.md>", "[c](w.md \"t\")", "\\", "[", "]", "(z.md)", "[d]: q.md\n", "[d]", "[x][d]", "![d][]", "<!-- ", " -->", "<b c=\"e\">", "<div>", "</div>\n", "<pre>", "</pre>", "!", "***"}
	rng := rand.New(rand.NewPCG(3, 4))
	wrong, compared, parts, nothing := 0, 0, 0, reference(nil)
	for range stress.Fewer(20000) {
		var b strings.Builder
		for range 1 + rng.IntN(14) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		src := b.String()
		if strings.HasPrefix(src, "---") || strings.Contains(src, "[[") || goldmarkEmptyItem.MatchString(src) || goldmarkColon.MatchString(src) {
			continue
		}
		want, got := reference([]byte(src)), ours([]byte(src))
		if compared++; want != nothing {
			parts++
		}
		if got != want {
			t.Errorf("%q\n got %s\nwant %s", src, got, want)
			if wrong++; wrong > 10 {
				t.FailNow()
			}
		}
	}
	if t.Logf("%d texts compared, %d with a heading, link or code", compared, parts); compared < stress.Fewer(10000) || parts < compared/4 {
		t.Error("too few")
	}
}

// goldmark keeps a nested empty item open after a blank line.
var goldmarkEmptyItem = regexp.MustCompile(`(?m)([-*>]|[0-9][.)]) *([-*]|[0-9][.)]) *\n *\n`)

// goldmark doesn't read [d] as a link if a colon follows in the middle of a line.
var goldmarkColon = regexp.MustCompile(`(?m)[^\n]\[d\]:`)
