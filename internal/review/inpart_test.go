package review_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/review"
	"quarry/internal/stress"
	"quarry/tool"
	"quarry/toolset"
)

// numbered returns a text of numbered lines, with word in every twentieth.
func numbered(lines int, word string) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %d", i+1)
		if i%20 == 4 {
			b.WriteString(" " + word)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// inPart has tool calls whose changes have several hunks.
var inPart = []struct {
	profile, tool string
	args          map[string]any
}{
	{"quarry", "edit_file", map[string]any{"path": "a.txt", "edits": []any{
		map[string]any{"old_text": "line 5 old\n", "new_text": "line five\nand more\n"}, map[string]any{"old_text": "line 15\n", "new_text": ""}, map[string]any{"old_text": "line 45 old", "new_text": "line 45 new"}}}},
	{"vault", "edit_file", map[string]any{"path": "n.md", "old_text": "old", "new_text": "new", "replace_all": true}},
	{"code", "edit_file", map[string]any{"path": "a.txt", "old_text": "old", "new_text": "new", "replace_all": true}},
	{"quarry", "write_file", map[string]any{"path": "a.txt", "content": strings.Replace(numbered(60, "new"), "line 15\n", "", 1) + "last\n"}},
	{"vault", "write_file", map[string]any{"path": "n.md", "content": numbered(75, "new") + "#draft\n"}},
	{"quarry", "write_file", map[string]any{"path": "crlf.txt", "content": numbered(60, "new")}},
	{"quarry", "apply_changes", map[string]any{"changes": []any{
		map[string]any{"path": "a.txt", "old_text": "line 5 old\n", "new_text": ""}, map[string]any{"path": "a.txt", "old_text": "line 25 old\n", "new_text": "x\ny\n"},
		map[string]any{"path": "b.txt", "old_text": "line 25 old", "new_text": "z"}, map[string]any{"path": "new/c.txt", "content": "one\ntwo\n"}, map[string]any{"path": "d.txt", "delete": true}, map[string]any{"path": "e.txt", "move_to": "f.txt"}}}},
	{"quarry", "apply_patch", map[string]any{"patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n line 4\n-line 5 old\n+line 5 new\n line 6\n@@\n line 24\n+inserted\n line 25 old\n*** Delete File: d.txt\n*** Add File: g.txt\n+g\n*** End Patch\n"}},
	{"quarry", "replace_in_files", map[string]any{"text": "old", "replacement": "new"}},
	{"code", "replace_in_files", map[string]any{"regex": `(\d)5 old`, "replacement": "${1}5\nnew"}},
	{"notes", "tags", map[string]any{"tag": "draft", "new_name": "final"}},
}

// TestAcceptedInPart accepts random parts of each tool's proposal and uses git to check
// the answer. The parts reported as written must be the difference between the old and
// the present files; those reported as refused, the difference between the present files
// and the fully accepted ones, by path, line and number of lines.
func TestAcceptedInPart(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git judges the answers, and is not installed")
	}
	files := map[string]string{
		"a.txt": numbered(60, "old"), "b.txt": numbered(30, "old"), "crlf.txt": strings.ReplaceAll(numbered(60, "old"), "\n", "\r\n"), "d.txt": "d\n", "e.txt": "e\n",
		"n.md": numbered(60, "old") + "#draft\n", "m.md": "# m\n\n#draft\n", "k.md": "see [[m]]\n" + numbered(30, "old") + "#draft\n", ".obsidian/app.json": `{"alwaysUpdateLinks":true}`,
	}
	parts := 0
	for _, c := range inPart {
		t.Run(c.profile+" "+c.tool, func(t *testing.T) {
			raw, err := json.Marshal(c.args)
			if err != nil {
				t.Fatal(err)
			}
			run := func(ws *quarry.Workspace) *tool.Result {
				tools, err := toolset.New(ws, &toolset.Options{Profile: c.profile, Tools: []string{c.tool}})
				if err != nil {
					t.Fatal(err)
				}
				return tools.Lookup(c.tool).Execute(tool.WithClient(t.Context(), tool.Client{Name: "agent"}), raw)
			}
			all := newBench(t, files, -1)
			if res := run(all.person); res.IsError {
				t.Fatal(res.Text)
			}
			full := all.files()
			r := rand.New(rand.NewPCG(7, uint64(len(raw))))
			for range stress.Size(2, 40) {
				b := newBench(t, files, time.Minute)
				before := b.files()
				done := make(chan *tool.Result, 1)
				go func() { done <- run(b.agent) }()
				p := b.only()
				verdicts := somewhat(r, p)
				if _, err := b.store.Decide(t.Context(), b.person, p.ID, review.Decision{By: "page", Hunks: verdicts, Comment: "not so much"}); err != nil {
					t.Fatal(err)
				}
				res := <-done
				if res.IsError {
					t.Fatal(res.Text)
				}
				now := b.files()
				written, refused := listed(t, res.Text, "Written: "), listed(t, res.Text, "Refused, not written: ")
				if want := differences(t, git, before, now, true); !slices.Equal(written, want) {
					t.Errorf("written %q\non disk %q\n%s", written, want, res.Text)
				}
				if want := differences(t, git, now, full, false); !slices.Equal(refused, want) {
					t.Errorf("refused %q\nmissing %q\n%s", refused, want, res.Text)
				}
				if len(written) == 0 || len(refused) == 0 {
					t.Errorf("nothing to compare: %s", res.Text)
				}
				parts += len(written) + len(refused)
				if !strings.Contains(res.Text, "Comment: not so much") || strings.Contains(res.Text, "Made ") || strings.Contains(res.Text, "Changed ") {
					t.Errorf("answer = %s", res.Text)
				}
				log, err := b.person.Changes(t.Context(), 1)
				if err != nil || !strings.Contains(log.Changes[0].Summary, "in part: ") {
					t.Errorf("log = %+v, %v", log, err)
				}
			}
		})
	}
	t.Logf("%d parts compared", parts)
}

// TestCommentsNameTheLine checks that a comment on a hunk has the number of the first
// line that the hunk changes, in the file after the decision, not of its first context
// line. A comment on a whole file has no line number.
func TestCommentsNameTheLine(t *testing.T) {
	lines := 0
	for subset := range 8 {
		b := newBench(t, map[string]string{"a.txt": ten, "b.txt": "b\n"}, -1)
		set := change.Set{Ops: []change.Op{{Verb: change.EditFile, Path: "a.txt", Edits: three()}, {Verb: change.CreateFile, Path: "c.txt", Content: []byte("c\n")}, {Verb: change.DeletePath, Path: "b.txt"}}}
		if _, err := b.agent.Apply(t.Context(), set); err == nil {
			t.Fatal("nothing waits")
		}
		p := b.only()
		d := review.Decision{By: "page", Rest: review.Yes}
		comments := map[string][]string{"a.txt": {"first", "second", "third"}, "b.txt": {"gone"}, "c.txt": {"new"}}
		for _, f := range p.Files {
			d.Comments = append(d.Comments, comments[f.Path])
			verdicts := make([]review.Verdict, len(f.Hunks))
			for i := range verdicts {
				if verdicts[i] = review.Yes; f.Path == "a.txt" && subset&(1<<i) == 0 {
					verdicts[i] = review.No
				}
			}
			d.Hunks = append(d.Hunks, verdicts)
		}
		p, err := b.store.Decide(t.Context(), b.person, p.ID, d)
		if err != nil {
			t.Fatal(err)
		}
		at := func(texts ...string) int {
			for i, line := range strings.Split(b.read("a.txt"), "\n") {
				if slices.Contains(texts, line) {
					return i + 1
				}
			}
			return 0
		}
		want := []string{fmt.Sprintf("a.txt:%d: first", at("2", "two")), fmt.Sprintf("a.txt:%d: second", at("15")+1), fmt.Sprintf("a.txt:%d: third", at("27")+1), "b.txt: gone", "c.txt: new"}
		got := p.Comments()
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("subset %d: %q, want %q", subset, got, want)
		}
		lines += len(got)
	}
	t.Logf("%d comments compared", lines)
}

// somewhat accepts a random part of a proposal: at least one hunk, but not all.
func somewhat(r *rand.Rand, p *review.Proposal) [][]review.Verdict {
	for {
		yes, no := 0, 0
		var list [][]review.Verdict
		for _, f := range p.Files {
			var one []review.Verdict
			for range f.Hunks {
				if r.IntN(2) == 0 {
					one, yes = append(one, review.Yes), yes+1
				} else {
					one, no = append(one, review.No), no+1
				}
			}
			list = append(list, one)
		}
		if yes > 0 && no > 0 || yes+no < 2 {
			return list
		}
	}
}

// files returns the contents of the workspace's files, without deleted ones.
func (b *bench) files() map[string]string {
	b.t.Helper()
	list := map[string]string{}
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".trash" {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() {
			rel, err := filepath.Rel(b.dir, path)
			if err != nil {
				return err
			}
			list[filepath.ToSlash(rel)] = b.read(filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// listed returns the parts that an answer lists after head, sorted.
func listed(t testing.TB, text, head string) []string {
	t.Helper()
	for line := range strings.Lines(text) {
		if list, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), head); ok {
			parts := strings.Split(list, ", ")
			slices.Sort(parts)
			return parts
		}
	}
	t.Errorf("no %q in %s", head, text)
	return nil
}

var hunkHead = regexp.MustCompile(`(?m)^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// differences lists the differences of two trees according to git, in the format of an
// answer. With byNew, lines are numbered in the new tree, otherwise in the old.
func differences(t testing.TB, git string, old, new map[string]string, byNew bool) []string {
	t.Helper()
	var list []string
	all := maps.Clone(old)
	maps.Copy(all, new)
	for path := range all {
		before, was := old[path]
		after, is := new[path]
		count := strings.Count
		switch {
		case path == "f.txt" && !was: // the new name of e.txt
			list = append(list, "e.txt (move to f.txt)")
		case path == "e.txt" && !is:
		case !was:
			list = append(list, fmt.Sprintf("%s (new file +%d)", path, count(after, "\n")))
		case !is:
			list = append(list, fmt.Sprintf("%s (deletion -%d)", path, count(before, "\n")))
		case before != after:
			list = append(list, hunksByGit(t, git, path, before, after, byNew)...)
		}
	}
	slices.Sort(list)
	return list
}

func hunksByGit(t testing.TB, git, path, before, after string, byNew bool) []string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"old": before, "new": after} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(git, "diff", "--no-index", "-U0", "old", "new")
	cmd.Dir = dir
	out, _ := cmd.Output() // git exits with 1 if the files differ
	var list []string
	for _, m := range hunkHead.FindAllStringSubmatch(string(out), -1) {
		n := func(i int) int {
			if m[i] == "" {
				return 1
			}
			v, err := strconv.Atoi(m[i])
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		part := change.Part{Path: path, Did: change.Edited, Line: n(1), Removed: n(2), Added: n(4)}
		if part.Removed == 0 {
			part.Line++ // for an empty range, git gives the line before it
		}
		if byNew {
			if part.Line = n(3); part.Added == 0 {
				part.Line++
			}
		}
		list = append(list, part.String())
	}
	if len(list) == 0 {
		t.Errorf("git shows no difference in %s: %s", path, out)
	}
	return list
}
