package vault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/fault"
	"quarry/internal/stress"
)

func TestSections(t *testing.T) {
	text := "---\na: 1\n---\nintro\n# A\n\ntext\n## B\nb\n> # quoted\n\n```\n# code\n```\nC *c*\n-----\nc\n# A\nlast"
	var got []string
	for _, s := range scanNote([]byte(text)).Sections([]byte(text)) {
		got = append(got, fmt.Sprintf("%s %d line %d parent %d %q", s.Name(), s.Heading.Level, s.Line, s.Parent, s.Body.In([]byte(text))))
	}
	want := []string{
		`A 1 line 5 parent -1 "\ntext\n## B\nb\n> # quoted\n\n` + "```\\n# code\\n```" + `\nC *c*\n-----\nc\n"`,
		`A::B 2 line 8 parent 0 "b\n> # quoted\n\n` + "```\\n# code\\n```" + `\n"`,
		`A::C *c* 2 line 15 parent 0 "c\n"`,
		`A 1 line 18 parent -1 "last"`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestFindSection(t *testing.T) {
	text := []byte("# Log\n## Today\n### Done\n## Later\n### Done\n# A::B\n# Ideas [[n|shown]] **x**\n## today\n# Top\n## Log\n")
	sections := scanNote(text).Sections(text)
	for _, c := range []struct {
		path string
		line int // 0 if there is none, -1 if there are several
	}{
		{"Log::Today", 2}, {"Today", 2}, {"today", 8}, {"TODAY", -1}, {"Log::Today::Done", 3}, {"Log::Done", -1}, {"Later::Done", 5}, {"Done", -1},
		{"A::B", 6}, {"ideas shown x", 7}, {"## Later", 4}, {"Log", 1}, {"Top::Log", 10}, {"Nope", 0}, {"Top::Today", 0}, {"#### Today::Done", 3},
	} {
		at, err := FindSection(sections, c.path)
		var several *AmbiguousPartError
		var none *NoPartError
		switch {
		case c.line == 0 && errors.As(err, &none) && len(none.Have) == len(sections):
		case c.line < 0 && errors.As(err, &several) && len(several.Lines) > 1:
		case err == nil && sections[at].Line == c.line:
		default:
			t.Errorf("%q: section %d, %v; want line %d", c.path, at, err, c.line)
		}
	}
}

func TestEditSection(t *testing.T) {
	const note = "# A\n\none\n\n## B\n- x\n\n# C\nlast"
	for _, c := range []struct {
		name, text, path string
		op               Operation
		content, want    string
	}{
		{"append a paragraph", note, "C", OpAppend, "new", "# A\n\none\n\n## B\n- x\n\n# C\nlast\nnew"},
		{"append an item to a list", note, "A::B", OpAppend, "- y", "# A\n\none\n\n## B\n- x\n- y\n\n# C\nlast"},
		{"append text after a list", note, "B", OpAppend, "new\n", "# A\n\none\n\n## B\n- x\n\nnew\n\n# C\nlast"},
		{"append to an empty section", "# A\n\n# B\n", "A", OpAppend, "x", "# A\nx\n\n# B\n"},
		{"append a row", "# A\n|a|\n|-|\n|1|\n\n# B\n", "A", OpAppend, "|2|", "# A\n|a|\n|-|\n|1|\n|2|\n\n# B\n"},
		{"prepend", note, "A", OpPrepend, "zero\n", "# A\nzero\n\none\n\n## B\n- x\n\n# C\nlast"},
		{"replace keeps the blank lines around", note, "A::B", OpReplace, "\n\n- z\n\n", "# A\n\none\n\n## B\n\n\n- z\n\n# C\nlast"},
		{"replace with its subsections", note, "A", OpReplace, "all", "# A\n\nall\n\n# C\nlast"},
		{"replace may repeat the heading", note, "C", OpReplace, "# C\nnew\n", "# A\n\none\n\n## B\n- x\n\n# C\nnew"},
		{"replace by nothing", note, "B", OpReplace, "", "# A\n\none\n\n## B\n\n# C\nlast"},
		{"before", note, "C", OpBefore, "# New\n", "# A\n\none\n\n## B\n- x\n\n# New\n# C\nlast"},
		{"after", note, "A::B", OpAfter, "## D", "# A\n\none\n\n## B\n- x\n\n## D\n# C\nlast"},
		{"windows line endings", "# A\r\nx\r\n# B\r\n", "A", OpAppend, "y\nz", "# A\r\nx\r\ny\r\nz\r\n# B\r\n"},
		{"whole note", "---\na: 1\n---\nx\n", "", OpPrepend, "y", "---\na: 1\n---\ny\nx\n"},
		{"text before an underlined heading", "# A\nB\n===\n", "A", OpAppend, "x", "# A\nx\n\nB\n===\n"},
		{"empty note", "", "", OpAppend, "x", "x\n"},
		{"byte order mark", "\ufeff# A\nx\n", "A", OpBefore, "y", "\ufeffy\n# A\nx\n"},
	} {
		splices, err := EditSection(ctx, []byte(c.text), c.path, PartEdit{Operation: c.op, Content: c.content})
		got, err2 := ApplySplices([]byte(c.text), splices)
		if err != nil || err2 != nil || string(got) != c.want {
			t.Errorf("%s: %v, %v\n got %q\nwant %q", c.name, err, err2, got, c.want)
		}
	}
}

func TestEditSectionRefusals(t *testing.T) {
	text := []byte("# A\nx\n# B\ny\n")
	for _, c := range []struct {
		name, path string
		e          PartEdit
		want       error
	}{
		{"open fence", "A", PartEdit{OpAppend, "```\ncode", false}, ErrStructure},
		{"open comment", "A", PartEdit{OpReplace, "<!--", false}, ErrStructure},
		{"operation", "A", PartEdit{"add", "x", false}, ErrOperation},
		{"too deep", "A::a::b::c::d::e::f", PartEdit{OpAppend, "x", true}, nil},
		{"missing", "C", PartEdit{OpAppend, "x", false}, nil},
		{"missing, before", "C", PartEdit{OpBefore, "x", true}, nil},
	} {
		if _, err := EditSection(ctx, text, c.path, c.e); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	splices, err := EditSection(ctx, text, "A::New", PartEdit{OpAppend, "z", true})
	got, _ := ApplySplices(text, splices)
	if want := "# A\nx\n## New\nz\n# B\ny\n"; err != nil || string(got) != want {
		t.Errorf("created: %q, %v, want %q", got, err, want)
	}
}

func TestEditBlock(t *testing.T) {
	const note = "para one\npara two ^p1\n\n- a\n  more ^i1\n  - sub ^s1\n- b\n\n^l1\n\n> q\n> r\n\n^q1\n\n```\ncode\n```\n^c1\n\n|a|\n|-|\n|1|\n^t1\n"
	for _, c := range []struct {
		id            string
		op            Operation
		content, want string
	}{
		{"p1", OpAppend, " three", "para one\npara two three ^p1"},
		{"^p1", OpReplace, "new", "new ^p1"},
		{"p1", OpPrepend, "zero ", "zero para one"},
		{"p1", OpBefore, "x", "x\npara one"},
		{"P1", OpAfter, "x", "para two ^p1\nx\n\n- a"},
		{"i1", OpReplace, "- new", "\n- new ^i1\n  - sub ^s1\n- b"},
		{"s1", OpReplace, "- new", "  - new ^s1\n- b"},
		{"l1", OpAppend, "- c", "- b\n- c\n\n^l1"},
		{"l1", OpReplace, "- z", "^p1\n\n- z\n\n^l1"},
		{"q1", OpAppend, "> s\n", "> r\n> s\n\n^q1"},
		{"c1", OpReplace, "```\nnew\n```", "```\nnew\n```\n^c1"},
		{"t1", OpAppend, "|2|", "|1|\n|2|\n^t1"},
		{"t1", OpPrepend, "|0|", "|-|\n|0|\n|1|\n^t1"},
		{"t1", OpReplace, "|9|", "|a|\n|-|\n|9|\n^t1"},
		{"t1", OpReplace, "|x|\n|-|\n|9|", "|x|\n|-|\n|9|\n^t1"},
	} {
		splices, err := EditBlock(ctx, []byte(note), c.id, PartEdit{Operation: c.op, Content: c.content})
		got, err2 := ApplySplices([]byte(note), splices)
		if err != nil || err2 != nil || !strings.Contains(string(got), c.want) {
			t.Errorf("%s %s: %v, %v\n got %q\nwant %q", c.op, c.id, err, err2, got, c.want)
		}
	}
	if _, err := EditBlock(ctx, []byte(note), "nope", PartEdit{Operation: OpAppend}); err == nil {
		t.Error("a block that isn't there")
	}
	if _, err := EditBlock(ctx, []byte(note), "p1", PartEdit{Operation: OpAppend, Content: "\n\n# H\n"}); err == nil {
		t.Error("a block that would lose its id")
	}
}

func TestRenameTag(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"inline", "#a #ab #A/x (#a) x#a `#a` [l](#a) #a/b/c\n", "#z/y #ab #z/y/x (#z/y) x#a `#a` [l](#a) #z/y/b/c\n"},
		{"list", "---\ntags: # c\n  - a\n  - 'A/x' # d\n  - b\n---\n", "---\ntags: # c\n  - z/y\n  - 'z/y/x' # d\n  - b\n---\n"},
		{"flow list", "---\ntags: [a, \"#a/b\", ab]\n---\n", "---\ntags: [z/y, \"#z/y/b\", ab]\n---\n"},
		{"text", "---\ntag: a, b a/c\n---\n", "---\ntag: z/y, b z/y/c\n---\n"},
		{"none", "---\ntags: b\n---\n#b\n", "---\ntags: b\n---\n#b\n"},
		{"in a comment", "%% #a %%\n", "%% #z/y %%\n"},
	} {
		splices, err := RenameTag(ctx, []byte(c.text), "#a", "z/y")
		got, err2 := ApplySplices([]byte(c.text), splices)
		if err != nil || err2 != nil || string(got) != c.want {
			t.Errorf("%s: %v, %v\n got %q\nwant %q", c.name, err, err2, got, c.want)
		}
	}
	for _, bad := range []string{"", "#", "12", "a b", "a//b", "/a", "a/", "a.b"} {
		if _, err := RenameTag(ctx, []byte("#a"), "a", bad); !errors.Is(err, ErrTag) {
			t.Errorf("%q as a tag: %v", bad, err)
		}
	}
}

// relinked applies the rename of a heading or block.
func relinked(t *testing.T, m memory, r *Relink, err error) memory {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	out := memory{}
	for p, text := range m {
		out[p] = text
	}
	for _, f := range r.Files {
		text, err := ApplySplices([]byte(m[f.From]), f.Splices)
		if err != nil {
			t.Fatal(err)
		}
		out[f.From] = string(text)
	}
	return out
}

func TestRenameHeading(t *testing.T) {
	m := vaultOf("n.md", "# Top: x\n## Old [b]\n[[#Old b]] ^id\n### Sub\n## Other\n### Sub\n",
		"a.md", "---\np: \"[[n#Old b]]\"\n---\n[[n#Old b|shown]] [[n#Top x#Old b#Sub]] [[n#Sub]] [t](n.md#Old%20b) [[n#Old b|Old b]] [[n#Nope]] `[[n#Old b]]`\n",
		"b/n.md", "# Old b\n[[#Old b]]\n", "c.md", "[[n#^id]] ![[n#^ID|x]] [t](n.md#^id)\n",
		"d.canvas", `{"nodes":[{"type":"file","file":"n.md","subpath":"#Old b"}]}`)
	ix := NewIndex(m.Paths())
	r, err := RenameHeading(ctx, "n.md", []byte(m["n.md"]), "Old [b]", "New: name", m.Paths(), m.Read, ix.ResolveLink, false)
	got := relinked(t, m, r, err)
	want := memory{
		"n.md":     "# Top: x\n## New: name\n[[#New name]] ^id\n### Sub\n## Other\n### Sub\n",
		"a.md":     "---\np: \"[[n#New name]]\"\n---\n[[n#New name|shown]] [[n#Top x#New name#Sub]] [[n#Sub]] [t](n.md#New%20name) [[n#New name|New name]] [[n#Nope]] `[[n#Old b]]`\n",
		"b/n.md":   m["b/n.md"],
		"c.md":     m["c.md"],
		"d.canvas": `{"nodes":[{"type":"file","file":"n.md","subpath":"#New name"}]}`,
	}
	if d := cmp.Diff(want, got); d != "" || r.Links != 7 || r.Broken != 0 {
		t.Errorf("%d links, %d broken\n%s", r.Links, r.Broken, d)
	}
	for _, keep := range []bool{false, true} {
		r, err := RenameHeading(ctx, "n.md", []byte(m["n.md"]), "Old [b]", "New: name", m.Paths(), m.Read, ix.ResolveLink, keep)
		got, texts := relinked(t, m, r, err), 0
		for _, f := range r.Files {
			texts += f.Texts
		}
		if kept := strings.Contains(got["a.md"], "[[n#New name|Old b]]"); kept != keep || texts != map[bool]int{false: 1}[keep] {
			t.Errorf("keep texts %v: %d texts in %s", keep, texts, got["a.md"])
		}
	}
	// Another heading of the same name comes first, so the link gets a longer path.
	m = vaultOf("n.md", "# A\n# P\n## Q\n", "a.md", "[[n#Q]]\n")
	r, err = RenameHeading(ctx, "n.md", []byte(m["n.md"]), "Q", "A", m.Paths(), m.Read, ix.ResolveLink, false)
	if got := relinked(t, m, r, err); got["a.md"] != "[[n#P#A]]\n" {
		t.Errorf("%q", got["a.md"])
	}
	// The new heading may be given with its marks.
	r, err = RenameHeading(ctx, "n.md", []byte(m["n.md"]), "Q", "## #1 B", m.Paths(), m.Read, ix.ResolveLink, false)
	if got := relinked(t, m, r, err); got["n.md"] != "# A\n# P\n## #1 B\n" {
		t.Errorf("%q", got["n.md"])
	}
	for _, bad := range []string{"", "a\nb", "x #", "## Other level"} {
		if _, err := RenameHeading(ctx, "n.md", []byte("# A\n"), "A", bad, nil, m.Read, ix.ResolveLink, false); err == nil {
			t.Errorf("%q as a heading", bad)
		}
	}
}

func TestRenameBlock(t *testing.T) {
	m := vaultOf("n.md", "text ^id\n\nother ^taken\n", "c.md", "[[n#^id]] ![[n#^ID|x]] [t](n.md#^id) [[n#^taken]]\n")
	ix := NewIndex(m.Paths())
	r, err := RenameBlock(ctx, "n.md", []byte(m["n.md"]), "^id", "new-1", m.Paths(), m.Read, ix.ResolveLink)
	got := relinked(t, m, r, err)
	want := memory{"n.md": "text ^new-1\n\nother ^taken\n", "c.md": "[[n#^new-1]] ![[n#^new-1|x]] [t](n.md#^new-1) [[n#^taken]]\n"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{"taken", "a b", ""} {
		if _, err := RenameBlock(ctx, "n.md", []byte(m["n.md"]), "id", bad, m.Paths(), m.Read, ix.ResolveLink); err == nil {
			t.Errorf("%q as a block id", bad)
		}
	}
}

func TestAttachments(t *testing.T) {
	m := vaultOf("A/n.md", "![[p.png]] [[shared.pdf]] ![[p.png]] [x](top.png) [[o]]", "A/p.png", "", "A/shared.pdf", "", "top.png", "", "o.md", "[[shared.pdf]]", "A/att/q.png", "", "A/m.md", "![[q.png]]")
	g, err := NewGraph(ctx, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		setting string
		move    Move
		want    []Move
	}{
		{"./", Move{"A/n.md", "B/n.md"}, []Move{{"A/p.png", "B/p.png"}}},
		{"./", Move{"A/n.md", "A/renamed.md"}, nil},
		{"/", Move{"A/n.md", "B/n.md"}, nil},
		{"files", Move{"A/n.md", "B/n.md"}, nil},
		{"./att", Move{"A/m.md", "B/m.md"}, []Move{{"A/att/q.png", "B/att/q.png"}}},
	} {
		s := DefaultSettings()
		s.AttachmentFolderPath = c.setting
		if got := g.Attachments(&s, c.move); !slices.Equal(got, c.want) {
			t.Errorf("%s %v: %v, want %v", c.setting, c.move, got, c.want)
		}
	}
}

// Sections with the same path are distinguished by number.
func TestFindSectionByNumber(t *testing.T) {
	text := []byte("# Log\n## Day\none\n## Day\ntwo\n# Other\n## Day\n# A[1]\n")
	sections := scanNote(text).Sections(text)
	for path, line := range map[string]int{"Log::Day[1]": 2, "Log::Day[2]": 4, "Day[3]": 7, "Other::Day[1]": 7, "A[1]": 8, "Log[1]": 1} {
		i, err := FindSection(sections, path)
		if err != nil || sections[i].Line != line {
			t.Errorf("%s: %v, %v; want line %d", path, i, err, line)
		}
	}
	for path, want := range map[string]string{
		"Day":         "Log::Day[1] (line 2), Log::Day[2] (line 4), Other::Day (line 7)",
		"Log::Day[3]": `no heading "Log::Day[3]"`,
		"Day[0]":      `no heading "Day[0]"`,
		"Log[2]":      `no heading "Log[2]"`,
	} {
		_, err := FindSection(sections, path)
		if err == nil || !strings.Contains(err.Error()+fault.HintOf(err), want) {
			t.Errorf("%s: %v %s", path, err, fault.HintOf(err))
		}
	}
}

// A long name of a section is normalized once, not once for each section.
func TestFindSectionByLongName(t *testing.T) {
	text := []byte(strings.Repeat("# One\n", 400))
	sections := scanNote(text).Sections(text)
	began := stress.CPU()
	if _, err := FindSection(sections, strings.Repeat("[", 20_000)); err == nil {
		t.Error("found")
	}
	if took := stress.CPU() - began; took > 300*time.Millisecond {
		t.Errorf("took %v", took)
	}
}
