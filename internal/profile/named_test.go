package profile_test

import (
	"strings"
	"testing"

	"quarry/internal/profile"
	"quarry/internal/quarrytest"
)

// An edit of a definition named after the path replaces its text. Comment and annotations
// stay unless the new text has its own.
func TestEditOfNamedDefinition(t *testing.T) {
	const source = "package a\n\n// Open opens.\nfunc (s *Store) Open() {\n\told()\n}\n\n/* Close\ncloses. */\nfunc Close() {}\n\ntype A struct{}\n\nfunc (A) Run() {}\n\ntype B struct{}\n\nfunc (B) Run() {}\n"
	const python = "import x\n\n\n@x.cached\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n"
	for _, c := range []struct{ tool, args, file, want, text string }{
		{"edit_file", `{"path":"a.go#Store.Open","new_text":"func (s *Store) Open() {\n\tnew()\n}"}`, "a.go", "// Open opens.\nfunc (s *Store) Open() {\n\tnew()\n}\n\n/* Close", "+\tnew()"},
		{"edit_file", `{"path":"a.go#Store.Open","new_text":"// Open is new.\nfunc (s *Store) Open() {}\n"}`, "a.go", "package a\n\n// Open is new.\nfunc (s *Store) Open() {}\n\n/* Close", "Replaced the definition"},
		{"edit_file", `{"path":"a.go#Close","new_text":"func Close() { x() }"}`, "a.go", "/* Close\ncloses. */\nfunc Close() { x() }\n\ntype A", ""},
		{"edit_file", `{"path":"a.go#Close","new_text":"func Close() {"}`, "a.go", "", "a.go no longer parses"},
		{"edit_file", `{"path":"a.go#Run","new_text":"x"}`, "a.go", source, "defines \"Run\" several times"},
		{"edit_file", `{"path":"a.go#A.Run","new_text":"func (A) Run() { y() }"}`, "a.go", "func (A) Run() { y() }\n\ntype B", ""},
		{"edit_file", `{"path":"a.go#Nothing","new_text":"x"}`, "a.go", source, "defines no \"Nothing\""},
		{"edit_file", `{"path":"a.py#f","new_text":"def f():\n    return 3"}`, "a.py", "@x.cached\ndef f():\n    return 3\n\n\ndef g", ""},
		{"edit_file", `{"path":"a.py#f","new_text":"@y\ndef f():\n    return 3"}`, "a.py", "import x\n\n\n@y\ndef f():\n    return 3\n\n\ndef g", ""},
		{"apply_changes", `{"changes":[{"path":"a.go#Close","new_text":"func Close() { x() }"},{"path":"a.py#g","new_text":"def g():\n    return 4\n"}]}`, "a.py", "def g():\n    return 4\n", "Changed 2 files"},
		{"edit_file", `{"path":"a.go","old_text":"\told()\n","new_text":"\tnew()\n\tnewer()\n"}`, "a.go", "newer()", "Replaced 1 occurrence in \"a.go\". Lines 5-6: +2 -1."},
		{"edit_file", `{"path":"a.go","edits":[{"old_text":"old()","new_text":"new()"},{"old_text":"type A struct{}","new_text":""}]}`, "a.go", "new()", " Lines 5, 12: +2 -2."},
	} {
		ws := fixture{files: map[string]string{"a.go": source, "a.py": python}}.make(t)
		got := call(t, tools(t, ws, profile.Options{Profile: "code"}), c.tool, c.args).Text
		if text := quarrytest.Content(t, ws, c.file); !strings.Contains(text, c.want) || !strings.Contains(got, c.text) {
			t.Errorf("%s\nsays %s\nwants %q\nand the text %q\nin %q", c.args, got, c.text, c.want, text)
		}
	}
}
