package profile_test

import (
	"fmt"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/profile"
)

// Every tool that takes a path reaches a file whose name begins or ends in white space,
// even if another file has the name without it. If the first is closed, its path doesn't
// resolve to the other.
func TestNamesThatEndInSpace(t *testing.T) {
	cases := []struct{ tool, args, want string }{
		{"read_file", `{"path":%q}`, "inside"},
		{"read_file", `{"paths":["plain.go",%q]}`, "inside"},
		{"get_file_info", `{"path":%q}`, "14 bytes"},
		{"search_files", `{"regex":"side","path":%q}`, "inside"},
		{"search_files", `{"pattern":"side","path":%q}`, "inside"},
		{"file_search", `{"query":"side","path":%q}`, "inside"},
		{"edit_file", `{"path":%q,"old_text":"inside","new_text":"other"}`, "+func other"},
		{"write_file", `{"path":%q,"content":"new\n"}`, "Overwrote"},
		{"apply_changes", `{"changes":[{"path":%q,"old_text":"inside","new_text":"other"}]}`, "+func other"},
		{"replace_in_files", `{"regex":"inside","replacement":"other","path":%q}`, "+func other"},
		{"move_file", `{"source":%q,"destination":"moved"}`, "Moved"},
		{"delete_file", `{"path":%q}`, "Deleted"},
	}
	for _, name := range []string{"a.go ", " a.go", "d /a.go"} {
		for _, c := range cases {
			files := map[string]string{name: "func inside()\n", "plain.go": "x\n"}
			bare := strings.ReplaceAll(strings.TrimSpace(name), " ", "")
			files[bare] = "outer\n"
			args := fmt.Sprintf(c.args, name)
			r := call(t, tools(t, fixture{files: files}.make(t), profile.Options{}), c.tool, args)
			if r.IsError || !strings.Contains(r.Text, c.want) || strings.Contains(r.Text, "outer") {
				t.Errorf("%s %s: %s, want %q", c.tool, args, r.Text, c.want)
			}
			closed := tools(t, fixture{files: files, opts: quarry.Options{Deny: []string{strings.ReplaceAll(name, " ", "[ ]")}}}.make(t), profile.Options{})
			if r := call(t, closed, c.tool, args); !strings.Contains(c.args, "plain.go") && (!r.IsError || strings.Contains(r.Text, "outer")) {
				t.Errorf("closed, %s %s: %s, want an error", c.tool, args, r.Text)
			}
		}
	}
}
