package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Every task has a judge that can fail, and a known solution. Two kinds are for tuning, and six are
// only measured.
func TestKinds(t *testing.T) {
	use := map[string]int{}
	for _, name := range strings.Split(kindNames(), ", ") {
		k, err := readKind(name)
		if err != nil {
			t.Fatal(err)
		}
		use[k.Use]++
		judges, err := readJudges(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(k.Tasks) == 0 || len(judges) != len(k.Tasks) {
			t.Errorf("%s: %d tasks, %d judges", name, len(k.Tasks), len(judges))
		}
		for _, task := range k.Tasks {
			j := judges[task.ID]
			if len(j.Run)+len(j.Absent)+len(j.Present)+len(j.Answers)+len(j.Moves) == 0 && j.Changed == nil && j.Values == "" && !j.Kept {
				t.Errorf("%s %s: the judge judges nothing", name, task.ID)
			}
			if j.From == "" && j.Solve.Script == "" && j.Solve.Answers == "" {
				t.Errorf("%s %s: no known solution", name, task.ID)
			}
			if k.Source.Git != "" && task.Commit == "" {
				t.Errorf("%s %s: no commit", name, task.ID)
			}
			for _, a := range j.Answers {
				var why []string
				a.decide(j.Solve.Answers, func(f string, _ ...any) { why = append(why, f) })
				if len(why) > 0 {
					t.Errorf("%s %s: the known answer %s is refused: %q", name, task.ID, a.N, why)
				}
			}
		}
	}
	if use["tuning"] != 2 || use["measured"] != 6 || len(use) != 2 {
		t.Errorf("uses of the kinds: %v, want two for tuning and six only measured", use)
	}
}

func TestTurns(t *testing.T) {
	at := func(start, end int) entry {
		zero := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		return entry{Start: zero.Add(time.Duration(start) * time.Second), End: zero.Add(time.Duration(end) * time.Second)}
	}
	for _, c := range []struct {
		name string
		log  []entry
		want int
	}{
		{"none", nil, 0},
		{"one after another", []entry{at(0, 1), at(2, 3), at(3, 4)}, 3},
		{"sent together", []entry{at(0, 2), at(1, 3), at(4, 5)}, 2},
		{"a long one with two short ones inside", []entry{at(1, 2), at(1, 3), at(0, 9), at(10, 11)}, 2},
	} {
		if got := turns(c.log); got != c.want {
			t.Errorf("%s: %d turns, want %d", c.name, got, c.want)
		}
	}
}

func TestParseCalls(t *testing.T) {
	for _, c := range []struct {
		tool []string
		text string
		want int
		err  string
	}{
		{[]string{"read_file"}, `{"path": "a"}`, 1, ""},
		{[]string{"list_changes"}, ``, 1, ""},
		{[]string{"read_file"}, `{"path": `, 0, "invalid JSON"},
		{[]string{"edit_file"}, "{\"path\":\t\"a\", \"old_text\": \"\ta \\\"b\\\"\n\t\"}", 1, ""},
		{nil, `{"tool":"a","arguments":{"x":1}}` + "\n" + `{"tool":"b"}`, 2, ""},
		{nil, `{"arguments":{}}`, 0, `no "tool"`},
		{nil, ``, 0, "no call"},
	} {
		calls, err := parseCalls(c.tool, []byte(c.text))
		if len(calls) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("parseCalls(%v, %q) = %d calls, %v; want %d, %q", c.tool, c.text, len(calls), err, c.want, c.err)
		}
	}
}

// The judge of changes detects each way in which a tree can be wrong.
func TestChanged(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "old\n")
	write("b", "old\nkeep\n")
	write("c", "other\n")
	if err := committed(dir); err != nil {
		t.Fatal(err)
	}
	c := changed{Had: "old", HadNot: "keep", Now: "new", Lines: 1}
	decide := func() string {
		var why []string
		if err := c.decide(dir, func(f string, args ...any) { why = append(why, regexp.MustCompile(`%[a-z]`).ReplaceAllString(f, "_")) }); err != nil {
			t.Fatal(err)
		}
		return strings.Join(why, "; ")
	}
	if got := decide(); got != "_ was to be changed" {
		t.Errorf("untouched: %q", got)
	}
	write("a", "new\n")
	if got := decide(); got != "" {
		t.Errorf("solved: %q", got)
	}
	write("a", "newer\nand more\n")
	if got := decide(); got != "_ has _ new lines, more than _" {
		t.Errorf("too many lines: %q", got)
	}
	write("a", "wrong\n")
	if got := decide(); got != "_ was changed, but not to /_/" {
		t.Errorf("changed wrongly: %q", got)
	}
	write("a", "new\n")
	write("b", "new\nkeep\n")
	if got := decide(); got != "_ was not to be changed" {
		t.Errorf("one too many: %q", got)
	}
	write("b", "old\nkeep\n")
	write("d", "")
	if got := decide(); got != "_ is new" {
		t.Errorf("a new file: %q", got)
	}
	if err := os.Remove(filepath.Join(dir, "d")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "c")); err != nil {
		t.Fatal(err)
	}
	if got := decide(); got != "_ is gone" {
		t.Errorf("a file gone: %q", got)
	}
}

// The judge of moves accepts every way of writing a link that leads to the same note.
func TestMoves(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("A/a.md", "[[b]] [b](../B/b.md#x) ![[p.png|100]] `[[A/a]]`\n")
	write("B/b.md", "[[A/a|text]] [[a]]\n")
	write("B/p.png", "p")
	if err := committed(dir); err != nil {
		t.Fatal(err)
	}
	decide := func() string {
		var why []string
		if err := decideMoves(dir, []move{{"A", "C/D"}}, func(f string, args ...any) { why = append(why, fmt.Sprintf(f, args...)) }); err != nil {
			t.Fatal(err)
		}
		return strings.Join(why, "; ")
	}
	if err := os.MkdirAll(filepath.Join(dir, "C"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "A"), filepath.Join(dir, "C", "D")); err != nil {
		t.Fatal(err)
	}
	if got := decide(); !strings.Contains(got, "B/b.md are wrong") || !strings.Contains(got, "C/D/a.md are wrong") {
		t.Errorf("stale links: %q", got)
	}
	write("C/D/a.md", "[[B/b|b]] [b](../../B/b.md#x) ![[B/p.png|100]] `[[A/a]]`\n")
	write("B/b.md", "[[C/D/a|text]] [[a]]\n")
	if got := decide(); got != "" {
		t.Errorf("solved: %q", got)
	}
	write("B/b.md", "[[C/D/a]] [[a]]\n")
	if got := decide(); got != "links or text of B/b.md are wrong" {
		t.Errorf("a displayed text is gone: %q", got)
	}
}

// The test goes through a run of the shell arm, from its record to the table.
func TestShellRun(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("needs bash")
	}
	tr := trial{dir: t.TempDir()}
	r := &runRecord{Name: "s1", Arm: "shell", Kind: "sweep", Version: "bash", Date: time.Now(), Definitions: 400, dir: filepath.Join(tr.dir, "s1")}
	if err := os.MkdirAll(r.tree("s2"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.save(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := tr.shell("s1", "s2", strings.NewReader("echo hello > a; cat a"), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != "hello\n" {
		t.Errorf("answer %q", out.String())
	}
	if err := tr.shell("s1", "nothing", strings.NewReader("true"), &out); err == nil {
		t.Error("an unknown task was accepted")
	}
	if err := tr.call([]string{"s1", "s2", "read_file"}, strings.NewReader("{}"), &out); err == nil {
		t.Error("call in the shell arm was accepted")
	}
	out.Reset()
	if err := tr.sum(nil, 0.1, false, &out); err != nil {
		t.Fatal(err)
	}
	// These are 21 bytes sent, 5 received, and 400 of definitions.
	if !strings.Contains(out.String(), "| shell | sweep | s1 | 1 | 1 | 0 | 6 | 2 | 100 | 107 | 107 | not judged |") {
		t.Errorf("table:\n%s", out.String())
	}
}
