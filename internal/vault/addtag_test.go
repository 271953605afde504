package vault

import "testing"

// TestAddTag adds a tag to each form of a list of tags, and checks that every other byte
// is unchanged.
func TestAddTag(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no front matter", "# T\n", "---\ntags:\n  - new\n---\n# T\n"},
		{"no tags", "---\na: 1 # why\n---\nx\n", "---\na: 1 # why\ntags:\n  - new\n---\nx\n"},
		{"a list", "---\ntags:\n- one # why\na: 1\n---\n", "---\ntags:\n- one # why\n- new\na: 1\n---\n"},
		{"an indented list", "---\ntags:\n    - one\n---\n", "---\ntags:\n    - one\n    - new\n---\n"},
		{"an empty item", "---\naliases:\n- \ntags: \n- \npublish: true\n---\nx\n", "---\naliases:\n- \ntags: \n- new\npublish: true\n---\nx\n"},
		{"an empty item after another", "---\r\ntags:\r\n  - one\r\n  -\r\n---\r\n", "---\r\ntags:\r\n  - one\r\n  - new\r\n---\r\n"},
		{"no value", "---\ntags:\na: 1\n---\n", "---\ntags:\n  - new\na: 1\n---\n"},
		{"a list in a line", "---\ntags: [one, two]\n---\n", "---\ntags: [one, two, new]\n---\n"},
		{"words", "---\ntags: one two\n---\n", "---\ntags:\n  - one\n  - two\n  - new\n---\n"},
		{"in two properties", "---\ntag: one\ntags: [two]\n---\n", "---\ntag:\n  - one\n  - new\ntags: [two]\n---\n"},
		{"a number", "---\ntags: 2024 # c\n---\n", "---\ntags: # c\n  - \"2024\"\n  - new\n---\n"},
		{"another letter case", "---\nTags:\n- one\n---\n", "---\nTags:\n- one\n- new\n---\n"},
		{"there already", "---\ntags:\n- NEW\n---\n", "---\ntags:\n- NEW\n---\n"},
		{"in the text alone", "---\ntags:\n- one\n---\n#new\n", "---\ntags:\n- one\n- new\n---\n#new\n"},
	} {
		splices, err := AddTag(ctx, []byte(c.text), "new")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, err := ApplySplices([]byte(c.text), splices)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	if s, err := AddTag(ctx, []byte("---\na: [\n---\n"), "new"); err == nil {
		t.Errorf("front matter that can't be read: %v", s)
	}
}
