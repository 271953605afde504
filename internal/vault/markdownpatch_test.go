package vault

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/fault"
)

// Obsidian's Local REST API edits notes with markdown-patch. QUARRY_MARKDOWN_PATCH is the
// path of its checkout. The fixtures there are texts before and after an edit.
func TestMarkdownPatchFixtures(t *testing.T) {
	dir := os.Getenv("QUARRY_MARKDOWN_PATCH")
	if dir == "" {
		t.Skip("set QUARRY_MARKDOWN_PATCH to a checkout of markdown-patch to compare with its fixtures")
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, "src/tests", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	row := "| `something else` | Some other application | ✅ | ✅ | ✅ |"
	type op func(text []byte) ([]Splice, error)
	section := func(path string, o Operation, content string, create bool) op {
		return func(text []byte) ([]Splice, error) { return EditSection(ctx, text, path, PartEdit{o, content, create}) }
	}
	block := func(id string, o Operation, content string) op {
		return func(text []byte) ([]Splice, error) { return EditBlock(ctx, text, id, PartEdit{o, content, false}) }
	}
	set := func(key string, value any) op {
		return func(text []byte) ([]Splice, error) { return SetProperty(text, key, value) }
	}
	add := func(key string, value any, first bool) op {
		return func(text []byte) ([]Splice, error) { return AddToProperty(text, key, value, first) }
	}
	equal := 0
	for _, c := range []struct {
		from, to string
		do       op
		why      string // why our result differs on purpose
	}{
		{"sample.md", "heading.prepend", section("Overview", OpPrepend, "Beep Boop\n", false), ""},
		{"sample.md", "heading.append", section("Overview", OpAppend, "Beep Boop\n", false), ""},
		{"sample.md", "heading.replace", section("Overview", OpReplace, "Beep Boop\n", false), ""},
		{"sample.md", "heading.document.prepend", section("", OpPrepend, "Beep Boop\n", false), ""},
		{"sample.md", "heading.document.append", section("", OpAppend, "Beep Boop\n", false), ""},
		{"sample.md", "heading.createIfMissing.nested", section("Page Targets::Block::Test", OpReplace, "Beep Boop\n", true), "the blank line before the next heading stays"},
		{"sample.md", "heading.createIfMissing.root", section("Alpha::Beta::Test", OpReplace, "Beep Boop\n", true), ""},
		{"sample.md", "block.prepend", block("e6068e", OpPrepend, "- OK\n"), ""},
		{"sample.md", "block.append", block("e6068e", OpAppend, "\n- OK"), ""},
		{"sample.md", "block.replace", block("259a73", OpReplace, "- OK"), ""},
		{"sample.md", "block.targetBlockTypeBehavior.table.append", block("2c67a6", OpAppend, row), ""},
		{"sample.md", "block.targetBlockTypeBehavior.table.prepend", block("2c67a6", OpPrepend, row), ""},
		{"sample.md", "block.targetBlockTypeBehavior.table.replace", block("2c67a6", OpReplace, row), ""},
		{"sample.frontmatter.md", "frontmatter.append.list", add("array-value", []any{"Beep"}, false), ""},
		{"sample.frontmatter.md", "frontmatter.append.string", add("string-value", "Beep", false), ""},
		{"sample.frontmatter.md", "frontmatter.append.dictionary", add("object-value", map[string]any{"three": "Beep"}, false), ""},
		{"sample.frontmatter.md", "frontmatter.prepend.list", add("array-value", []any{"Beep"}, true), ""},
		{"sample.frontmatter.md", "frontmatter.prepend.string", add("string-value", "Beep", true), ""},
		{"sample.frontmatter.md", "frontmatter.prepend.dictionary", add("object-value", map[string]any{"three": "Beep"}, true), ""},
		{"sample.frontmatter.md", "frontmatter.replace.list", set("array-value", []any{"Replaced"}), ""},
		{"sample.frontmatter.md", "frontmatter.replace.string", set("string-value", "Replaced"), ""},
		{"sample.frontmatter.md", "frontmatter.replace.dictionary", set("object-value", map[string]any{"replaced": true}), ""},
		{"sample.frontmatter.md", "frontmatter.replace.number", set("number-value", 10), ""},
		{"sample.frontmatter.md", "frontmatter.replace.boolean", set("boolean-value", true), ""},
		{"sample.frontmatter.md", "frontmatter.createTargetIfMissing.list", set("new-field", []any{"New Value"}), ""},
		{"sample.frontmatter.md", "frontmatter.createTargetIfMissing.string", set("new-field", "New Value"), ""},
		{"sample.frontmatter.md", "frontmatter.createTargetIfMissing.dictionary", set("new-field", map[string]any{"newValue": true}), ""},
		{"sample.frontmatter.md", "frontmatter.createTargetIfMissing.number", set("new-field", 588600), ""},
		{"sample.frontmatter.md", "frontmatter.createTargetIfMissing.boolean", set("new-field", true), ""},
	} {
		before, want := read(c.from), read("sample.patch."+c.to+".md")
		if before == want {
			t.Errorf("%s: the fixture changes nothing", c.to)
		}
		splices, err := c.do([]byte(before))
		if err != nil {
			t.Errorf("%s: %v", c.to, err)
			continue
		}
		got, err := ApplySplices([]byte(before), splices)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case string(got) == want:
			equal++
		case c.why != "" && noBlankLines(string(got)) == noBlankLines(want):
			t.Logf("%s: equal but for blank lines: %s", c.to, c.why)
		default:
			t.Errorf("%s: not equal\n got %s\nwant %s", c.to, difference(string(got), want), difference(want, string(got)))
		}
	}
	t.Logf("%d fixtures equal byte for byte; trimTargetWhitespace, which joins lines, is not offered", equal)
}

func noBlankLines(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' }), "\n")
}

// difference returns the part of a that differs from b.
func difference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return fault.Clip(a[i:], 200)
}
