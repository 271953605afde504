package recorder_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
)

// TestDay simulates a day of three agents and a user, with editors, shells, a formatter
// and git, partly at the same time. Every entry names its author if the marks identify
// one, and otherwise another program.
func TestDay(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs git")
	}
	p := newPlace(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = p.dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for _, name := range []string{"a.go", "b.go", "c.txt", "sub/d.txt"} {
		p.put(name, "first\n")
	}
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-qm", "first")
	p.put("c.txt", "second\n")
	git("commit", "-qam", "second")
	ws := p.open()

	mark := func(client, tool string, end bool, what ...string) {
		t.Helper()
		m := change.Mark{Client: change.Client{Name: client, Session: client + "1"}, Tool: tool, End: end}
		if tool == "Bash" || tool == "shell" {
			m.Command = strings.Join(what, " ")
		} else {
			m.Paths = what
		}
		answer, err := quarry.SendMark(t.Context(), &quarry.IndexOptions{Socket: p.socket}, m)
		must(t, err)
		if !answer.Recording {
			t.Fatal("nothing records")
		}
	}
	during := func(client, tool, what string, do func()) {
		t.Helper()
		mark(client, tool, false, what)
		do()
		mark(client, tool, true, what)
	}
	const claude, codex, gemini, other = "claude-code", "codex", "gemini-cli", "another program"
	type said struct{ author, text, paths string }
	seen := 0
	expect := func(what string, want ...said) {
		t.Helper()
		list := p.log(ws)
		var got []said
		for _, c := range list[:len(list)-seen] {
			slices.Sort(c.Paths)
			text := c.Did.Text
			if strings.HasPrefix(text, change.GitMoved) {
				text = change.GitMoved
			}
			got = append(got, said{c.Author(), text, strings.Join(c.Paths, " ")})
		}
		seen = len(list)
		slices.Reverse(got)
		by := func(a, b said) int { return strings.Compare(a.author+a.paths, b.author+b.paths) }
		slices.SortFunc(got, by) // changes at the same time have no order
		slices.SortFunc(want, by)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}

	during(claude, "Edit", "a.go", func() { p.put("a.go", "by claude\n") })
	expect("an edit", said{claude, "", "a.go"})

	during(codex, "shell", "sed -i s/first/second/ b.go", func() { p.put("b.go", "second\n") })
	expect("a shell", said{codex, "during shell `sed -i s/first/second/ b.go` of codex", "b.go"})

	mark(claude, "Edit", false, "a.go")
	p.put("c.txt", "by a person\n")
	p.put("a.go", "by claude again\n")
	mark(claude, "Edit", true, "a.go")
	expect("an edit and a person at once", said{claude, "", "a.go"}, said{other, "", "c.txt"})

	mark(codex, "shell", false, "make one")
	mark(gemini, "Bash", false, "make two")
	p.put("sub/d.txt", "by either\n")
	mark(codex, "shell", true, "make one")
	mark(gemini, "Bash", true, "make two")
	expect("two shells at once", said{other, "", "sub/d.txt"})

	mark(codex, "shell", false, "make slow")
	during(claude, "Write", "new.txt", func() { p.put("new.txt", "by claude\n"); p.put("sub/d.txt", "by codex\n") })
	mark(codex, "shell", true, "make slow")
	expect("a shell and an edit at once", said{claude, "", "new.txt"}, said{codex, "during shell `make slow` of codex", "sub/d.txt"})

	mark(claude, "Edit", false, "b.go") // never ends
	during(claude, "Edit", "a.go", func() { p.put("a.go", "third\n") })
	p.put("b.go", "by a person\n")
	expect("a mark without an end", said{claude, "", "a.go"}, said{other, "", "b.go"})

	for _, name := range []string{"a.go", "b.go"} { // as written by a formatter
		must(t, os.WriteFile(filepath.Join(p.dir, name+".tmp"), []byte("formatted\n"), 0o644))
		must(t, os.Rename(filepath.Join(p.dir, name+".tmp"), filepath.Join(p.dir, name)))
	}
	expect("a formatter", said{other, "", "a.go b.go"})

	_, err := ws.Write(t.Context(), "c.txt", []byte("with quarry\n"), &change.Options{Client: change.Client{Name: gemini}})
	must(t, err)
	expect("quarry", said{gemini, "", "c.txt"})

	git("stash", "-q", "-u")
	expect("git stash", said{other, "", "a.go b.go c.txt new.txt sub/d.txt"})
	git("stash", "pop", "-q")
	expect("git stash pop", said{other, "", "a.go b.go c.txt new.txt sub/d.txt"})
	git("checkout", "-qf", "HEAD~1")
	expect("git checkout", said{other, change.GitMoved, "a.go b.go c.txt sub/d.txt"})
	during(codex, "shell", "git checkout main", func() { git("checkout", "-q", "main") })
	expect("git checkout of an agent", said{codex, "during shell `git checkout main` of codex", "c.txt"})

	// No line has a command as its author.
	who, err := ws.Authors(t.Context(), "sub/d.txt")
	must(t, err)
	for _, c := range who.Changes {
		if c.Author() == codex && slices.Contains(who.Lines, c.ID) {
			t.Errorf("a line is said to be of %s", c.Summary)
		}
	}
}
