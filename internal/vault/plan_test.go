package vault

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// carryOut applies a plan to a vault in memory and returns the result.
func carryOut(t testing.TB, m memory, p *Plan) memory {
	t.Helper()
	out := memory{}
	for path, text := range m {
		out[path] = text
	}
	for _, e := range p.Files {
		text, err := ApplySplices([]byte(m[e.From]), e.Splices)
		if err != nil {
			t.Fatalf("%s: %v", e.From, err)
		}
		out[e.From] = string(text)
	}
	moved := memory{}
	for _, mv := range p.Moves {
		moved[mv.To] = out[mv.From]
		delete(out, mv.From)
	}
	for path, text := range moved {
		if _, ok := out[path]; ok {
			t.Fatalf("move onto %s", path)
		}
		out[path] = text
	}
	return out
}

func vaultOf(pairs ...string) memory {
	m := memory{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// Each case consists of a vault, a move "from > to" (several are separated by "; ") and
// the expected contents of the named files. All other files must be unchanged.
func TestMoves(t *testing.T) {
	type tc struct {
		name   string
		format LinkFormat
		files  memory
		move   string
		want   memory
	}
	s, r, a := Shortest, Relative, Absolute
	for _, c := range []tc{
		// Links that need no rewriting.
		{"a bare name follows the note", s, vaultOf("x.md", "", "n.md", "[[x]] [t](x.md)"), "x.md > A/x.md", vaultOf()},
		{"case-only rename", s, vaultOf("x.md", "", "n.md", "[[x]]"), "x.md > X.md", vaultOf()},
		{"unresolved stays", s, vaultOf("x.md", "", "n.md", "[[y]] [[A/y]]"), "x.md > z.md", vaultOf()},
		{"external stays", s, vaultOf("x.md", "", "n.md", "[t](https://h/x.md) [[https://h/x]] <https://h/x.md>"), "x.md > z.md", vaultOf()},
		{"own headings stay", s, vaultOf("x.md", "[[#h]] [t](#h)"), "x.md > A/z.md", vaultOf()},
		{"code stays", s, vaultOf("x.md", "", "n.md", "`[[x]]`\n```\n[[x]]\n```\n\n    [[x]]\n\n<!-- [[x]] --> $[[x]]$"), "x.md > z.md", vaultOf()},
		{"links in comments follow, as in Obsidian", s, vaultOf("x.md", "", "n.md", "%%[[x]]%%\n\n%%\n[[x]]\n%%"), "x.md > z.md", vaultOf("n.md", "%%[[z]]%%\n\n%%\n[[z]]\n%%")},
		{"code beside a link", s, vaultOf("x.md", "", "n.md", "`[[x]]` [[x]]\n~~~\n[[x]]\n~~~\n[[x]]"), "x.md > z.md", vaultOf("n.md", "`[[x]]` [[z]]\n~~~\n[[x]]\n~~~\n[[z]]")},
		{"aliases in front matter don't resolve", s, vaultOf("x.md", "---\naliases: [q]\n---\n", "n.md", "[[q]]"), "x.md > z.md", vaultOf()},
		{"a link to a moved note's neighbour", s, vaultOf("A/x.md", "", "A/y.md", "", "n.md", "[[A/y]]"), "A/x.md > B/x.md", vaultOf()},

		// Forms of links.
		{"bare, renamed", s, vaultOf("A/x.md", "", "n.md", "[[x]]"), "A/x.md > A/z.md", vaultOf("n.md", "[[z]]")},
		{"bare with extension", s, vaultOf("A/x.md", "", "n.md", "[[x.md]]"), "A/x.md > A/z.md", vaultOf("n.md", "[[z.md]]")},
		{"absolute", s, vaultOf("A/x.md", "", "n.md", "[[A/x]]"), "A/x.md > B/x.md", vaultOf("n.md", "[[B/x]]")},
		{"absolute, renamed", a, vaultOf("A/x.md", "", "n.md", "[[A/x]]"), "A/x.md > A/z.md", vaultOf("n.md", "[[A/z]]")},
		{"absolute to the top", a, vaultOf("A/x.md", "", "n.md", "[[A/x]]"), "A/x.md > x.md", vaultOf("n.md", "[[x]]")},
		{"absolute with a slash", s, vaultOf("A/x.md", "", "n.md", "[[/A/x]]"), "A/x.md > B/x.md", vaultOf("n.md", "[[/B/x]]")},
		{"relative up", s, vaultOf("x.md", "", "A/n.md", "[[../x]]"), "x.md > B/x.md", vaultOf("A/n.md", "[[../B/x]]")},
		{"relative with dot", s, vaultOf("A/x.md", "", "A/n.md", "[[./x]]"), "A/x.md > A/B/x.md", vaultOf("A/n.md", "[[./B/x]]")},
		{"relative with dot goes up", s, vaultOf("A/x.md", "", "A/n.md", "[[./x]]"), "A/x.md > x.md", vaultOf("A/n.md", "[[../x]]")},
		{"relative up comes beside", s, vaultOf("x.md", "", "A/n.md", "[[../x]]"), "x.md > A/x.md", vaultOf("A/n.md", "[[./x]]")},
		{"relative up comes beside, relative format", r, vaultOf("x.md", "", "A/n.md", "[t](../x.md)"), "x.md > A/x.md", vaultOf("A/n.md", "[t](x.md)")},
		{"relative down", r, vaultOf("A/B/x.md", "", "A/n.md", "[t](B/x.md)"), "A/B/x.md > A/C/z.md", vaultOf("A/n.md", "[t](C/z.md)")},
		{"relative beside, then below", r, vaultOf("A/x.md", "", "A/n.md", "[t](x.md)"), "A/x.md > A/B/z.md", vaultOf("A/n.md", "[t](B/z.md)")},
		{"relative beside, then away", r, vaultOf("A/x.md", "", "A/n.md", "[t](x.md)"), "A/x.md > C/z.md", vaultOf("A/n.md", "[t](../C/z.md)")},
		{"bare wikilinks stay bare in the relative format, beside the note too", r, vaultOf("A/x.md", "", "A/n.md", "[[x|t]]", "m.md", "[[x|t]]"), "A/x.md > C/z.md", vaultOf("A/n.md", "[[z|t]]", "m.md", "[[z|t]]")},
		{"a bare name that is no longer enough", r, vaultOf("A/x.md", "", "z.md", "", "A/n.md", "[[x]]"), "A/x.md > C/z.md", vaultOf("A/n.md", "[[../C/z]]")},
		{"end of a path", s, vaultOf("A/B/x.md", "", "n.md", "[[B/x]]"), "A/B/x.md > A/C/x.md", vaultOf("n.md", "[[C/x]]")},
		{"a bare name in the absolute format keeps to itself", a, vaultOf("A/x.md", "", "n.md", "[[x]]"), "A/x.md > A/z.md", vaultOf("n.md", "[[z]]")},
		{"a name at the top in the absolute format", a, vaultOf("x.md", "", "n.md", "[[x]]"), "x.md > A/z.md", vaultOf("n.md", "[[A/z]]")},

		// Parts of a link that stay.
		{"heading, block, alias", s, vaultOf("x.md", "", "n.md", "[[x#h#i|t]] [[x#^b]]"), "x.md > z.md", vaultOf("n.md", "[[z#h#i|t]] [[z#^b]]")},
		{"embed and size", s, vaultOf("p.png", "", "n.md", "![[p.png|100x200]] ![a|50](p.png)"), "p.png > q.png", vaultOf("n.md", "![[q.png|100x200]] ![a|50](q.png)")},
		{"alias of the old name", s, vaultOf("Old.md", "", "n.md", "[[Old|Old]] [[Old| Old ]] [[Old|old]] [Old](Old.md)"), "Old.md > New.md",
			vaultOf("n.md", "[[New|New]] [[New| New ]] [[New|old]] [New](New.md)")},
		{"alias of the old path", s, vaultOf("A/Old.md", "", "n.md", "[[A/Old|A/Old]]"), "A/Old.md > A/New.md", vaultOf("n.md", "[[A/New|A/New]]")},
		{"alias stays where the name does", s, vaultOf("A/x.md", "", "n.md", "[[A/x|x]]"), "A/x.md > B/x.md", vaultOf("n.md", "[[B/x|x]]")},
		{"spaces inside", s, vaultOf("x.md", "", "n.md", "[[ x #h | t ]]"), "x.md > z.md", vaultOf("n.md", "[[ z #h | t ]]")},
		{"table", s, vaultOf("x.md", "", "n.md", "| a |\n|---|\n| [[x\\|t]] |\n| [[x#h\\|x]] |"), "x.md > z.md", vaultOf("n.md", "| a |\n|---|\n| [[z\\|t]] |\n| [[z#h\\|z]] |")},
		{"title", s, vaultOf("x.md", "", "n.md", "[t](x.md#h \"x.md\")"), "x.md > z.md", vaultOf("n.md", "[t](z.md#h \"x.md\")")},
		{"line endings", s, vaultOf("x.md", "", "n.md", "a\r\n[[x]]\r\nb\n[[x]]"), "x.md > z.md", vaultOf("n.md", "a\r\n[[z]]\r\nb\n[[z]]")},
		{"byte order mark", s, vaultOf("x.md", "", "n.md", "\ufeff[[x]]"), "x.md > z.md", vaultOf("n.md", "\ufeff[[z]]")},
		{"bytes that are not UTF-8", s, vaultOf("x.md", "", "n.md", "\xff[[x]]\xfe"), "x.md > z.md", vaultOf("n.md", "\xff[[z]]\xfe")},
		{"a checkbox list in a quote", s, vaultOf("x.md", "", "n.md", "> - [ ] [[x]]\n>   more [[x]]"), "x.md > z.md", vaultOf("n.md", "> - [ ] [[z]]\n>   more [[z]]")},

		// Encodings.
		{"percent", s, vaultOf("a b.md", "", "n.md", "[t](a%20b.md)"), "a b.md > c d (e).md", vaultOf("n.md", "[t](c%20d%20(e).md)")},
		{"percent gets needed", s, vaultOf("x.md", "", "n.md", "[t](x.md)"), "x.md > 100% #1.md", vaultOf("n.md", "[t](100%25%20%231.md)")},
		{"unbalanced parenthesis", s, vaultOf("x.md", "", "n.md", "[t](x.md)"), "x.md > a).md", vaultOf("n.md", "[t](a%29.md)")},
		{"angle brackets", s, vaultOf("a b.md", "", "n.md", "[t](<a b.md>)"), "a b.md > c (d.md", vaultOf("n.md", "[t](<c (d.md>)")},
		{"unicode as written", s, vaultOf("é.md", "", "n.md", "[t](é.md) [t](%C3%A9.md)"), "é.md > ö.md", vaultOf("n.md", "[t](ö.md) [t](%C3%B6.md)")},
		{"reference definition", s, vaultOf("x.md", "", "n.md", "[t][id]\n\n[id]: x.md \"T\""), "x.md > y z.md", vaultOf("n.md", "[t][id]\n\n[id]: y%20z.md \"T\"")},
		{"a scheme-like name", s, vaultOf("x.md", "", "n.md", "[t](x.md)"), "x.md > ab:c.md", vaultOf("n.md", "[t](ab%3Ac.md)")},
		{"a name no wikilink can hold", s, vaultOf("x.md", "", "n.md", "[[x]] [[x#h i|t]] ![[x]]"), "x.md > C# [a].md",
			vaultOf("n.md", `[C# \[a\]](C%23%20%5Ba%5D.md) [t](C%23%20%5Ba%5D.md#h%20i) ![C# \[a\]](C%23%20%5Ba%5D.md)`)},
		{"markdown link without extension", s, vaultOf("x.md", "", "n.md", "[t](x)"), "x.md > z.md", vaultOf("n.md", "[t](z)")},

		// Links outside the text.
		{"front matter", s, vaultOf("x.md", "", "n.md", "---\na: \"[[x|t]]\"\nb:\n  - '[[x]]'\n  - see [[x]]\nx: x\n---\n"), "x.md > it's.md",
			vaultOf("n.md", "---\na: \"[[it's|t]]\"\nb:\n  - '[[it''s]]'\n  - see [[it's]]\nx: x\n---\n")},
		{"front matter, plain", s, vaultOf("x.md", "", "n.md", "---\na: see [[x]] # c\n---\n"), "x.md > z.md", vaultOf("n.md", "---\na: see [[z]] # c\n---\n")},
		{"canvas", s, vaultOf("A/x.md", "", "c.canvas", `{"nodes":[{"type":"file","file":"A/x.md","subpath":"#h"},{"type":"text","text":"[[x]]\n[[A/x|\"q\"]]"}]}`),
			"A/x.md > A/z \"q\".md", vaultOf("c.canvas", `{"nodes":[{"type":"file","file":"A/z \"q\".md","subpath":"#h"},{"type":"text","text":"[[z \"q\"]]\n[[A/z \"q\"|\"q\"]]"}]}`)},
		{"canvas nodes follow the case of a name", s, vaultOf("x.md", "", "c.canvas", `{"nodes":[{"type":"file","file":"x.md"},{"type":"text","text":"[[x]]"}]}`), "x.md > X.md",
			vaultOf("c.canvas", `{"nodes":[{"type":"file","file":"X.md"},{"type":"text","text":"[[x]]"}]}`)},
		{"anchors and tags in front matter", s, vaultOf("x.md", "", "n.md", "---\na: &l \"[[x]]\"\nb: *l\nc: !!str '[[x]]'\nd: [ &m \"[[x]]\" , *m ]\n---\n"), "x.md > z.md",
			vaultOf("n.md", "---\na: &l \"[[z]]\"\nb: *l\nc: !!str '[[z]]'\nd: [ &m \"[[z]]\" , *m ]\n---\n")},
		{"canvas nodes are exact", s, vaultOf("A/x.md", "", "c.canvas", `{"nodes":[{"type":"file","file":"x.md"}]}`), "A/x.md > z.md", vaultOf()},
		{"canvas node moves although the name is found", s, vaultOf("x.md", "", "c.canvas", `{"nodes":[{"type":"file","file":"x.md"}]}`), "x.md > A/x.md",
			vaultOf("c.canvas", `{"nodes":[{"type":"file","file":"A/x.md"}]}`)},
		{"moving a canvas keeps its files", s, vaultOf("x.md", "", "c.canvas", `{"nodes":[{"type":"file","file":"x.md"},{"type":"text","text":"[[./x]]"}]}`), "c.canvas > A/c.canvas",
			vaultOf("A/c.canvas", `{"nodes":[{"type":"file","file":"x.md"},{"type":"text","text":"[[../x]]"}]}`)},
		{"group background", s, vaultOf("p.png", "", "c.canvas", `{"nodes":[{"type":"group","background":"p.png"}]}`), "p.png > A/p.png",
			vaultOf("c.canvas", `{"nodes":[{"type":"group","background":"A/p.png"}]}`)},

		// Extensions.
		{"a note becomes a text file", s, vaultOf("x.md", "", "n.md", "[[x]] [t](x.md)"), "x.md > x.txt", vaultOf("n.md", "[[x.txt]] [t](x.txt)")},
		{"a note with links becomes a text file", s, vaultOf("A/x.md", "[[../n]]", "n.md", ""), "A/x.md > x.txt", vaultOf("x.txt", "[[./n]]")},
		{"a text file becomes a note", s, vaultOf("x.txt", "", "n.md", "[[x.txt]] [t](x.txt)"), "x.txt > x.md", vaultOf("n.md", "[[x]] [t](x.md)")},
		{"a picture of a note's name", s, vaultOf("p.png", "", "x.md", "", "n.md", "[[x]]"), "x.md > p.png.md", vaultOf("n.md", "[[p.png.md]]")},

		// Ambiguous names.
		{"a newcomer would capture", s, vaultOf("A/x.md", "", "B/y.md", "", "n.md", "[[x]] [[y]]"), "B/y.md > x.md", vaultOf("n.md", "[[A/x]] [[x]]")},
		{"a newcomer beside the source would capture", s, vaultOf("x.md", "", "A/B/x.md", "", "A/n.md", "[[B/x]]"), "A/B/x.md > A/x.md", vaultOf("A/n.md", "[[A/x]]")},
		{"the shortest leaves, another answers", s, vaultOf("A/x.md", "", "BB/x.md", "", "n.md", "[[x]]"), "A/x.md > Deep/er/x.md", vaultOf("n.md", "[[Deep/er/x]]")},
		{"duplicates: only the moved one's links", s, vaultOf("A/x.md", "", "B/x.md", "", "n.md", "[[A/x]] [[B/x]]"), "A/x.md > C/x.md", vaultOf("n.md", "[[C/x]] [[B/x]]")},
		{"a dangling link may be captured", s, vaultOf("x.md", "", "n.md", "[[x]] [[y]]"), "x.md > y.md", vaultOf("n.md", "[[y]] [[y]]")},
		{"swap", s, vaultOf("x.md", "", "y.md", "", "n.md", "[[x]] [[y]]"), "x.md > y.md; y.md > x.md", vaultOf("n.md", "[[y]] [[x]]")},
		{"a relative link at the top is captured", r, vaultOf("A/B/x.md", "", "B/y.md", "", "A/n.md", "[t](B/x.md)"), "B/y.md > B/x.md", vaultOf("A/n.md", "[t](A/B/x.md)")},

		// The moved note's own links.
		{"own relative links", s, vaultOf("A/n.md", "[[../x]] [t](./y.md) [[y]]", "x.md", "", "A/y.md", ""), "A/n.md > B/C/n.md",
			vaultOf("B/C/n.md", "[[../../x]] [t](../../A/y.md) [[y]]")},
		{"own neighbour of a common name", s, vaultOf("A/n.md", "[[x]]", "A/x.md", "", "B/x.md", ""), "A/n.md > B/n.md", vaultOf("B/n.md", "[[A/x]]")},
		{"own links that are still found stay", r, vaultOf("A/n.md", "[t](y.md) ![](img/p.png)", "A/y.md", "", "A/img/p.png", ""), "A/n.md > n.md", vaultOf()},
		{"an exact path is not the neighbour's", r, vaultOf("A/n.md", "[t](y.md) ![](img/p.png)", "A/y.md", "", "y.md", "", "A/img/p.png", "", "img/p.png", ""), "A/y.md > B/y.md; A/n.md > B/n.md",
			vaultOf()},
		{"own relative links against duplicates", r, vaultOf("A/n.md", "[t](x/y.md) ![](img/p.png)", "A/x/y.md", "", "B/x/y.md", "", "A/img/p.png", "", "B/img/p.png", ""), "A/n.md > B/n.md",
			vaultOf("B/n.md", "[t](../A/x/y.md) ![](../A/img/p.png)")},
		{"a link to itself", s, vaultOf("A/n.md", "[[A/n#h]] [[n]]"), "A/n.md > B/m.md", vaultOf("B/m.md", "[[B/m#h]] [[m]]")},
		{"renamed and moved", a, vaultOf("A/n.md", "[[A/y]]", "A/y.md", "[[A/n]]"), "A/n.md > B/m.md", vaultOf("A/y.md", "[[B/m]]")},

		// Folders.
		{"folder", s, vaultOf("A/x.md", "", "A/B/y.md", "", "n.md", "[[A/x]] [[A/B/y]] [[y]] [t](A/x.md)"), "A > C",
			vaultOf("n.md", "[[C/x]] [[C/B/y]] [[y]] [t](C/x.md)")},
		{"links inside a folder", s, vaultOf("A/x.md", "[[./y]] [[A/y]] [[../n]] [[y]]", "A/y.md", "", "n.md", ""), "A > B/C",
			vaultOf("B/C/x.md", "[[./y]] [[B/C/y]] [[../../n]] [[y]]")},
		{"folder into its own name", s, vaultOf("A/x.md", "[[A/x]]", "n.md", "[[A/x]]"), "A > B/A", vaultOf()},
		{"folder of duplicates", s, vaultOf("A/x.md", "", "B/x.md", "[[x]]", "n.md", "[[x]]"), "A > Longer", vaultOf("n.md", "[[Longer/x]]")},
		{"folder, canvas and picture", s, vaultOf("A/p.png", "", "A/n.md", "![[A/p.png]]", "c.canvas", `{"nodes":[{"type":"file","file":"A/p.png"}]}`), "A > B",
			vaultOf("B/n.md", "![[B/p.png]]", "c.canvas", `{"nodes":[{"type":"file","file":"B/p.png"}]}`)},
		{"folder case-only", s, vaultOf("a/x.md", "", "n.md", "[[a/x]]"), "a > A", vaultOf()},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := NewGraph(ctx, c.files, nil)
			if err != nil {
				t.Fatal(err)
			}
			var moves []Move
			for _, m := range strings.Split(c.move, "; ") {
				from, to, _ := strings.Cut(m, " > ")
				moves = append(moves, Move{from, to})
			}
			plan, err := g.Plan(ctx, c.files, moves, PlanOptions{Update: true, Format: c.format})
			if err != nil {
				t.Fatal(err)
			}
			got := carryOut(t, c.files, plan)
			want := carryOut(t, c.files, &Plan{Moves: plan.Moves})
			for p, text := range c.want {
				want[p] = text
			}
			for p, text := range want {
				if got[p] != text {
					t.Errorf("%s\n got %s\nwant %s", p, got[p], text)
				}
			}
			if plan.Broken != 0 {
				t.Errorf("%d broken in %v", plan.Broken, plan.BrokenIn)
			}
			// Without updating, Broken must count exactly the links that updating
			// rewrites.
			g, _ = NewGraph(ctx, c.files, nil)
			off, err := g.Plan(ctx, c.files, moves, PlanOptions{})
			if err != nil || off.Broken != plan.Updated || len(off.Files) != 0 {
				t.Errorf("without updating: %d broken, %d edits, %v; want %d", off.Broken, len(off.Files), err, plan.Updated)
			}
		})
	}
}

func TestMoveRefusals(t *testing.T) {
	m := vaultOf("x.md", "", "y.md", "", "A/z.md", "", "n.md", "---\na: \"[[x]]\"\n---\n[[x]]")
	g, _ := NewGraph(ctx, m, nil)
	for _, c := range []struct {
		moves []Move
		want  error
	}{
		{[]Move{{"x.md", "y.md"}}, ErrExists},
		{[]Move{{"A", "A/B"}}, ErrBadMove},
		{[]Move{{"x.md", ""}}, ErrBadMove},
		{[]Move{{"x.md", "../x.md"}}, ErrBadMove},
		{[]Move{{"x.md", "/x.md"}}, ErrBadMove},
		{[]Move{{"x.md", "q.md"}, {"y.md", "q.md"}}, ErrBadMove},
		{[]Move{{"x.md", "x.md"}}, nil},
		{[]Move{{"Empty", "Other"}}, nil},
	} {
		p, err := g.Plan(ctx, m, c.moves, PlanOptions{Update: true})
		if !errors.Is(err, c.want) || c.want == nil && len(p.Moves) != 0 {
			t.Errorf("Plan(%v): %v, want %v", c.moves, err, c.want)
		}
	}
	// A property can't contain a link to this name, so the link is counted as broken.
	p, err := g.Plan(ctx, m, []Move{{"x.md", "C#.md"}}, PlanOptions{Update: true})
	if err != nil || p.Updated != 1 || p.Broken != 1 || !slices.Equal(p.BrokenIn, []string{"n.md"}) {
		t.Errorf("got %+v, %v", p, err)
	}
	// A note that can't be read causes an error.
	delete(m, "n.md")
	if _, err := g.Plan(ctx, m, []Move{{"x.md", "q.md"}}, PlanOptions{Update: true}); err == nil {
		t.Error("no error for an unreadable note")
	}
}
