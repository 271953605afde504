package vault

import (
	"strings"
	"testing"
	"time"
)

func TestNoteName(t *testing.T) {
	now := time.UnixMilli(1700000000123)
	for _, c := range []struct{ name, path, title, content, want string }{
		{"path", "A/b", "T", "# H", "A/b.md"},
		{"path with extension", "/A/b.MD/", "", "", "A/b.MD"},
		{"folder", "A/b/", "T/U", "# H", "A/b/T-U.md"},
		{"folder and heading", "A/", "", "# H", "A/H.md"},
		{"only slashes", "/", "", "# H", "H.md"},
		{"title", "", "My title", "# H", "My title.md"},
		{"title with extension", "", "x.md", "", "x.md"},
		{"forbidden characters", "", `a\b/c:d*e?f"g<h>i|j#k^l[m]n`, "", "a-b-c-d-e-f-g-h-i-j-k-l-m-n.md"},
		{"leading dots", "", " ..hidden", "", "hidden.md"},
		{"a title of nothing", "", "...", "# H", "H.md"},
		{"first heading", "", "", "text\n\n## two\n# One\n# Other", "One.md"},
		{"heading underlined", "", "", "One\n===\n", "One.md"},
		{"not in front matter", "", "", "---\na: 1\n# no\n---\n# Yes", "Yes.md"},
		{"not in a fence", "", "", "```\n# no\n```\n~~~\n# no\n~~~\n# Yes", "Yes.md"},
		{"long heading", "", "", "# " + strings.Repeat("é", 120), strings.Repeat("é", 100) + ".md"},
		{"first line", "", "", "---\na: 1\n---\n\n```\ncode\n```\n\nHello, world: yes\nmore", "Hello, world- yes.md"},
		{"long first line", "", "", strings.Repeat("ab ", 40), strings.TrimSpace(strings.Repeat("ab ", 17)[:50]) + ".md"},
		{"markers are no text", "", "", "> - [ ] ## Task", "Task.md"},
		{"second-level heading", "", "", "## Sub", "Sub.md"},
		{"nothing", "", "", "\n---\n\n```\nx\n```", "Note-1700000000123.md"},
		{"empty", "", " ", "", "Note-1700000000123.md"},
		{"fits a file system", "", "", "# " + strings.Repeat("漢", 100), strings.Repeat("漢", 80) + ".md"},
		{"control characters", "", "a\x00b\tc\u202e", "", "ab c.md"},
	} {
		if got := NoteName(c.path, c.title, c.content, now); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPrepend(t *testing.T) {
	for _, c := range []struct{ text, content, want string }{
		{"body\n", "new", "new\nbody\n"},
		{"", "new", "new"},
		{"---\na: 1\n---\nbody", "new\n", "---\na: 1\n---\nnew\nbody"},
		{"---\na: 1\n---", "new", "---\na: 1\n---\nnew\n"},
		{"---\r\na: 1\r\n---\r\nbody", "x\ny", "---\r\na: 1\r\n---\r\nx\r\ny\r\nbody"},
		{"\ufeffbody", "new", "\ufeffnew\nbody"},
		{"--- not\nbody", "new", "new\n--- not\nbody"},
	} {
		got, err := ApplySplices([]byte(c.text), []Splice{Prepend([]byte(c.text), c.content)})
		if err != nil || string(got) != c.want {
			t.Errorf("Prepend(%q, %q) = %q, %v, want %q", c.text, c.content, got, err, c.want)
		}
	}
}
