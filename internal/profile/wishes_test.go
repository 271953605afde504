package profile_test

import (
	"fmt"
	"strings"
	"testing"

	"quarry/internal/profile"
)

// TestWishesOfAgents makes calls that agents tried in trials.
func TestWishesOfAgents(t *testing.T) {
	files := map[string]string{
		"d/x.md": "one [[Old name|Old name]]\nunique here\n", "same/a.md": "the same words\n", "same/b.md": "z\nthe same words\n", "same/c.md": "the same words\n", "to/d.md": "the same words\n",
		"a/one.go": "package a\n\nfunc Open() {}\n", "a/one_test.go": "package a\n\nfunc TestOpen() {}\n", "b/two.ts": "export function Close() {}\n",
		".github/ci.yml": "name: ci\n", "Old name.md": "# Old name\n", "n.md": "[[Old name]] and the Old name again\n", ".obsidian/app.json": `{"alwaysUpdateLinks":true}`,
		"Meeting, March.md": "agenda\n", "ends.txt": "alpha\r\nbeta\xff\r\n",
		"todo1.md": "a\n\t- [ ] one 📅 2026-01-01\n- [ ] no date", "todo2.md": "- [ ] two 📅 2026-02-02\r\nb\r\n- [ ] three 📅 2026-03-03",
	}
	for i := range 6 {
		files[fmt.Sprintf("many/f%d.go", i)] = fmt.Sprintf("package many\n\n// Use%d is one.\nfunc Use%d() {\n\tx := 1\n\tbarrier(x)\n\treturn\n}\n", i, i)
	}
	files["flags.sh"] = strings.Repeat("begin\n  flag --file\nend\n\n", 3) + "begin\n  flag --file x\nend\n\n" + "begin\n\tflag --file\nend\n"
	for _, c := range []struct{ profile, tool, args, want, not string }{
		{"code", "search_files", `{"pattern":"--file","context_lines":1}`, "# flags.sh\n1- begin\n2:   flag --file\n3- end\nthe same lines as at 1: 5, 9\n--\n13- begin\n14:   flag --file x\n15- end\nthe same lines as at 1: 17", "6:"},
		{"code", "search_files", `{"pattern":"barrier","show":"definitions"}`, "## many/f5.go:3-8 Use5\nfunc Use5()\n6: barrier(x)", "return"},
		{"code", "search_files", `{"pattern":"barrier","show":"definitions","budget":4000}`, "return", "only the matching lines"},
		{"code", "search_files", `{"pattern":"barrier","show":"definitions","path":"many/f1.go"}`, "return", "only the matching lines"},
		{"code", "search_files", `{"pattern":"(Open|Close)","glob":["*.go","*.ts","!*_test.go"],"show":"files"}`, "b/two.ts", "one_test"},
		{"code", "search_files", `{"pattern":"(Open|Close)","glob":["*.go","*.ts","!*_test.go"],"show":"files"}`, "a/one.go", "one_test"},
		{"quarry", "search_files", `{"regex":"Open","file_pattern":["*.go","!*_test.go"]}`, "one.go", "one_test"},
		{"quarry", "search_files", `{"regex":"Open","file_pattern":["!*_test.go","*.go"]}`, "one.go", "one_test"},
		{"code", "search_files", `{"pattern":"Open","glob":["!*_test.go","*.go"]}`, "one.go", "one_test"},
		{"quarry", "file_search", `{"query":"open","include":["*.ts","*.go"]}`, "one_test.go", "Old"},
		{"code", "replace_in_files", `{"text":"Open","replacement":"Begin","glob":["*.go","!*_test.go"]}`, "; glob leaves 1 match in 1 file: a/one_test.go 1]", "TestBegin"},
		{"code", "search_files", `{"pattern":"barrier","glob":"!*.go"}`, "No matches", "without glob"},
		{"code", "search_files", `{"pattern":"(Open|Close)","glob":"*.{go,ts}, !*_test.go","show":"files"}`, "2 matches in 2 files\na/one.go\nb/two.ts", "one_test"},
		{"code", "search_files", `{"pattern":"func \\w+","lacking":["barrier"],"show":"matches"}`, "2 matches in 2 files, 2 different\n1 func Open  a/one.go:3\n1 func TestOpen  a/one_test.go:3", "Use"},
		{"code", "search_files", `{"pattern":"func (?!Zzz)\\w+","lacking":["[[:alpha:]]arrier"],"show":"matches"}`, "2 matches in 2 files, 2 different", "Use"},
		{"code", "search_files", `{"pattern":"func \\w+","lacking":["b(?=arrier)"],"show":"matches"}`, "2 matches in 2 files, 2 different", "Use"},
		{"code", "replace_in_files", `{"regex":"func (?!Zzz)(\\w+)","replacement":"func My$1","lacking":["[[:alpha:]]arrier","Test"],"expected_count":1}`, "+func MyOpen() {}", "CONFLICT"},
		{"code", "search_files", `{"pattern":"agenda","glob":"Meeting, March.md"}`, "# Meeting, March.md", ""},
		{"code", "search_files", `{"pattern":"agenda|Open","glob":"*.md, *.go","show":"files"}`, "3 matches in 3 files", ""},
		{"code", "search_files", `{"pattern":"alpha\\s+beta(?-u:[^b])","show":"matches","multiline":true}`, `1 alpha\nbeta` + "ÿ  ends.txt:1", `\r`},
		{"code", "search_files", `{"pattern":"x := 1|barrier","show":"matches"}`, "12 matches in 6 files, 2 different\n6 x := 1\n6 barrier", "many"},
		{"code", "search_files", `{"pattern":"barrier","budget":100}`, "6 matches in 6 files", "f5"},
		{"code", "search_files", `{"pattern":"(barrier"}`, "literal: true", "query"},
		{"code", "search_files", `{"pattern":"zzz","path":".github"}`, `searched ".github", without other hidden and ignored files`, ""},
		{"code", "replace_in_files", `{"regex":"func (\\w+)","replacement":"func My$1","lacking":["Test","barrier"],"expected_count":1}`, "+func MyOpen() {}", "CONFLICT"},
		{"code", "replace_in_files", `{"regex":"barrier","replacement":"wait","expected_count":5}`, "There are 6 matches in 6 files, not the expected 5; nothing was changed.\nmany/\n  f0.go 1\n  f1.go 1", "Look at"},
		{"code", "replace_in_files", `{"regex":"barrier","replacement":"wait","glob":"*.ts","expected_count":6}`, "without glob 6 files match", "expected"},
		{"notes", "replace_in_files", `{"text":"Old name","replacement":"New","lacking":["unique"],"quiet":true}`, "3 matches in 2 files. Changed 2 files: +2 -2.", ""},
		{"code", "search_files", `{"pattern":"func (?!Use)\\w+","show":"matches"}`, "2 matches in 2 files, 2 different\n1 func Open  a/one.go:3", "Use"},
		{"code", "search_files", `{"pattern":"func (?!Use(\\d)*|Test(s)?)\\w+","show":"matches"}`, "1 match in 1 file", "Use"},
		{"code", "replace_in_files", `{"regex":"func (?!Use)(\\w)+","replacement":"func My$1"}`, "INVALID_PATTERN", "Changed"},
		{"code", "replace_in_files", `{"regex":"func (?!Use)(\\w)+","replacement":"func Mine","glob":"!{*_test.go,many/**}","expected_count":1}`, "+func Mine() {}", "Error"},
		{"code", "search_files", `{"pattern":"barrier","path":"many","glob":"{many/f1.go,many/f2.go}","show":"files"}`, "2 matches in 2 files", "f3"},
		{"code", "find_symbol", `{"name":"Use1","references":true}`, "many/f1.go:4-8 func Use1()", "barrier"},
		{"code", "find_symbol", `{"names":["Usee","Open"]}`, "No definition of \"Usee\" found. Similar:\n\n- many/f0.go", "many/f5.go"},
		{"code", "replace_in_files", `{"text":"barrier","replacement":"wait","dry_run":true}`, `{"digest": "`, ""},
		{"code", "search_files", `{"pattern":"(\\w)\\1 \\K"}`, "INVALID", ""},
		{"code", "search_files", `{"pattern":"(?!a"}`, "INVALID", ""},
		{"code", "replace_in_files", `{"regex":"func (?!Use|Test)(\\w+)","replacement":"func My$1","expected_count":1}`, "+func MyOpen() {}", "The first"},
		{"code", "replace_in_files", `{"regex":"func (\\w+)","replacement":"func My$1","lacking":["barrier"]}`, "; lacking leaves 6 matches in 6 files: many/f0.go 1, many/f1.go 1, ", ""},
		{"code", "replace_in_files", `{"regex":"func (\\w+)","replacement":"func My$1","lacking":["nothing"],"dry_run":true}`, "func MyOpen", "lacking leaves"},
		{"code", "replace_in_files", `{"regex":"func (Use\\d)","replacement":"func My$1","also":{"barrier":"wait","nowhere":""}}`,
			"12 matches in 6 files. \"func (Use\\d)\" 6, \"barrier\" 6, \"nowhere\" 0. Changed 6 files:", "Error"},
		{"code", "replace_in_files", `{"text":"barrier","replacement":"wait","also":{"bar":"x"}}`, `"barrier" and "bar" match the same text; nothing was changed`, "Changed"},
		{"code", "replace_in_files", `{"text":"barrier","replacement":"wait","also":{"":"x"}}`, "also has an empty name: each is what to replace.", "Changed"},
		{"code", "replace_in_files", `{"text":"barrier","replacement":"wait","also":{"a":"b","a":"c"}}`, "also has \"a\" twice", "Changed"},
		{"code", "replace_in_files", `{"text":"package","replacement":"x","also":{"name:":"y"}}`, "hidden files match too and are left alone: .github/ci.yml", ""},
		{"notes", "replace_in_files", `{"regex":"Old name","replacement":"New","also":{"(?<=unique )here":"there"},"lacking":["unique"]}`, "lacking leaves 3 matches in 1 file", "Error"},
		{"quarry", "replace_in_files", `{"symbol":"Open","replacement":"Begin","also":{"x":"y"}}`, "also can be used with regex and text alone.", "Changed"},
		{"code", "replace_in_files", `{"regex":"Use(\\d)","replacement":"Used$1"}`, "12 matches in 6 files. Changed 6 files:", ""},
		{"code", "replace_in_files", `{"regex":"package|name:","replacement":"x"}`, "; hidden files match too and are left alone: .github/ci.yml; name one as path]", ""},
		{"notes", "replace_in_files", `{"regex":"(?m)^[ \\t]*- \\[ \\] .* 📅 2026-.*\\r?\\n","replacement":"","expected_count":3}`, "3 matches in 2 files. Changed 2 files: +0 -3.\n# todo1.md\n@@ 1\n a\n-\t- [ ] one 📅 2026-01-01\n - [ ] no date\n", "Error"},
		{"notes", "replace_in_files", `{"text":"the same words\n","replacement":""}`, "4 matches in 4 files.", "Error"},
		{"notes", "replace_in_files", `{"text":"a\nb","replacement":""}`, "Invalid text \"a\\x0ab\"", "regex"},
		{"notes", "replace_in_files", `{"text":"a\nb","replacement":""}`, "to delete lines, match one whole line and \\n. To match across lines add multiline: true.", "Changed"},
		{"code", "replace_in_files", `{"regex":"name:","replacement":"x","path":".github"}`, "+x ci", "hidden"},
		{"code", "search_files", `{"pattern":"func (?!Use)\\w+","also":["export"],"show":"matches"}`, "3 matches in 3 files, 3 different", "Use"},
		{"code", "find_symbol", `{"names":["Use0","Use1","Use2","Open"]}`, "- many/f0.go:4-8 func Use0()\n\n- many/f1.go:4-8 func Use1()", "barrier"},
		{"code", "find_symbol", `{"names":["Use0","Use1","Use2","Open"],"budget":4000}`, "barrier", ""},
		{"code", "find_symbol", `{"names":["Use0","Use1"]}`, "barrier", ""},
		{"code", "find_symbol", `{"name":"Open","path":"b"}`, "[outside of path it is defined at a/one.go:3]", "no file in scope"},
		{"code", "find_symbol", `{"name":"Nowhere","path":"b"}`, "no file in scope", "outside of path"},
		{"notes", "move_file", `{"source":"Old name","destination":"New name.md"}`, "The old name still stands in:\n# New name.md\n1: # Old name\n# n.md\n1: [[New name]] and the Old name again\n[change", ""},
		{"notes", "move_file", `{"source":"Old name","destination":"New name.md"}`, `1 displayed text in "d/x.md" changed too`, ""},
		{"notes", "move_file", `{"source":"Old name","destination":"New name.md","keep_texts":true}`, "updated 2 links in 2 files]", "changed too"},
		{"notes", "move_file", `{"source":"Old name","destination":"New name.md","texts":true}`, "Known parameters: source, destination, keep_texts, heading, update_links, dry_run, quiet, diff, summary.", ""},
		{"quarry", "search_files", `{"regex":"a","lacking":["b"` + strings.Repeat(`,"\\pL{300}N"`, 1000) + `]}`, "Error: Invalid patterns: the patterns of this call are too large together", "plain text"},
		{"notes", "read_file", `{"path":"x"}`, "unique here", ""},
		{"notes", "read_file", `{"path":"x.md"}`, "unique here", ""},
		{"notes", "edit_section", `{"path":"x","operation":"append","content":"more"}`, "+more", "Error"},
		{"quarry", "search_files", `{"regex":"barrier|x := 1"}`, "\n[12 matching lines; all results shown]", ""},
		{"quarry", "edit_section", `{"path":"d/x.md","operation":"prepend","content":"more"}`, "+more", "Error"},
		{"quarry", "edit_section", `{"path":"d/x.md","operation":"replace","content":"more"}`, "Name one part", ""},
		{"quarry", "edit_section", `{"path":"gone","operation":"append","content":"more"}`, "[NOT_FOUND]", ""},
		{"notes", "edit_file", `{"path":"x","old_text":"unique","new_text":"other"}`, "d/x.md", "NOT_FOUND"},
		{"notes", "search_files", `{"pattern":"the same"}`, "# same/a.md\n1: the same words\nthe same line in b.md:2, c.md:1, to/d.md:1", "# same/b.md"},
		{"notes", "move_file", `{"source":"Old name.md","destination":"sub/"}`, "sub/Old name.md", "still stands"},
	} {
		ws := fixture{files: files}.make(t)
		got := call(t, tools(t, ws, profile.Options{Profile: c.profile}), c.tool, c.args).Text
		if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s %s %s\nwants %s\nand not %s\ngot %s", c.profile, c.tool, c.args, c.want, c.not, got)
		}
	}
}

// Many uses are listed by file and function, without their lines.
func TestManyUses(t *testing.T) {
	files := map[string]string{"def.go": "package p\n\nfunc target() {}\n"}
	for i := range 40 {
		files[fmt.Sprintf("u%02d.go", i)] = fmt.Sprintf("package p\n\n// target is called.\nfunc c%d() {\n\ttarget()\n\ttarget()\n}\n", i)
	}
	r := tools(t, fixture{files: files}.make(t), profile.Options{Profile: "code"})
	got := call(t, r, "find_symbol", `{"name":"target","references":true}`).Text
	if !strings.Contains(got, "80 uses in 40 files, 40 in comments") || !strings.Contains(got, "\nu00.go c0:5 6\nu01.go c1:5 6\n") || strings.Contains(got, "\ttarget()") {
		t.Error(got)
	}
	if got := call(t, r, "find_symbol", `{"name":"target","references":true,"budget":8000}`).Text; !strings.Contains(got, "5: target()") {
		t.Error(got)
	}
}

// If many lines match, only the first ones show their enclosing functions.
func TestNamesOfTheFirst(t *testing.T) {
	var text strings.Builder
	text.WriteString("package many\n")
	for i := range 32 {
		fmt.Fprintf(&text, "\nfunc F%d() {\n\tcalled(%d)\n}\n", i+1, i)
	}
	ws := fixture{files: map[string]string{"many.go": text.String()}}.make(t)
	got := call(t, tools(t, ws, profile.Options{Profile: "code"}), "search_files", `{"pattern":"called"}`).Text
	if !strings.Contains(got, "@@ F30\n") || strings.Contains(got, "@@ F31\n") || !strings.Contains(got, "named for the first 30 lines") {
		t.Error(got)
	}
}

// If a tree's .gitignore excludes everything, as in Debian's kernel source, the answer
// says so instead of "no matches".
func TestAllIgnored(t *testing.T) {
	ws := fixture{files: map[string]string{".gitignore": "/*\n!/debian/\n", "fs/open.c": "int vfs_fallocate(void)\n{\n\treturn 0;\n}\n", "mm/oom.c": "x\n"}}.make(t)
	for _, c := range []struct{ profile, tool, args, want string }{
		{"code", "search_files", `{"pattern":"vfs_fallocate","glob":"*.c"}`, "[no file was searched: all 3 there are hidden or ignored"},
		{"code", "search_files", `{"pattern":"vfs_fallocate","show":"count"}`, "no file was searched"},
		{"quarry", "search_files", `{"regex":"vfs_fallocate"}`, "include_ignored"},
		{"quarry", "file_search", `{"query":"vfs_fallocate"}`, "no file was searched"},
		{"code", "find_symbol", `{"name":"vfs_fallocate"}`, "no file was searched"},
		{"code", "search_code", `{"query":"vfs_fallocate"}`, "no file was searched"},
		{"code", "search_files", `{"pattern":"vfs_fallocate","path":"fs"}`, "1 match in 1 file"},
		{"code", "search_files", `{"pattern":"nowhere","path":"fs"}`, "searched \"fs\""},
	} {
		got := call(t, tools(t, ws, profile.Options{Profile: c.profile}), c.tool, c.args).Text
		if !strings.Contains(got, c.want) {
			t.Errorf("%s %s %s\nwants %s\ngot %s", c.profile, c.tool, c.args, c.want, got)
		}
	}
}

// Every changing tool takes a summary, which the log stores and the page shows.
func TestSummaries(t *testing.T) {
	const why = "because the user asked"
	for _, c := range []struct{ profile, tool, args string }{
		{"quarry", "edit_file", `{"path":"a.md","old_text":"one","new_text":"two"`},
		{"quarry", "write_file", `{"path":"b.md","content":"x"`},
		{"quarry", "delete_file", `{"path":"a.md"`},
		{"quarry", "move_file", `{"source":"a.md","destination":"c.md"`},
		{"quarry", "modify_note", `{"path":"a.md","operation":"append","content":"x"`},
		{"quarry", "create_note", `{"path":"n.md","content":"x"`},
		{"quarry", "create_folder", `{"path":"d"`},
		{"quarry", "apply_changes", `{"changes":[{"path":"a.md","old_text":"one","new_text":"two"}]`},
		{"code", "edit_file", `{"path":"a.md","old_text":"one","new_text":"two"`},
		{"notes", "edit_section", `{"path":"a.md","heading":"Head","operation":"append","content":"x"`},
		{"notes", "tags", `{"path":"a.md","tag":"t","add":true`},
		{"notes", "move_file", `{"source":"a.md","destination":"c.md"`},
	} {
		ws := fixture{files: map[string]string{"a.md": "# Head\none\n", ".obsidian/app.json": "{}"}}.make(t)
		got := call(t, tools(t, ws, profile.Options{Profile: c.profile}), c.tool, c.args+`,"summary":"`+why+`"}`)
		if got.IsError || strings.Contains(got.Text, why) {
			t.Errorf("%s %s: %s", c.profile, c.tool, got.Text)
		}
		if log := call(t, tools(t, ws, profile.Options{}), "list_changes", "{}").Text; !strings.Contains(log, why) {
			t.Errorf("%s %s: the log is %s", c.profile, c.tool, log)
		}
	}
}
