package recorder_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/stress"
)

// place is a recorded workspace.
type place struct {
	t                  *testing.T
	dir, state, socket string
	index              string
}

func newPlace(t *testing.T) *place {
	top := t.TempDir()
	p := &place{t: t, dir: filepath.Join(top, "ws"), state: filepath.Join(top, "state"), index: filepath.Join(top, "index"), socket: filepath.Join(top, "run", "s")}
	for _, dir := range []string{p.dir, p.state, p.index} {
		must(t, os.Mkdir(dir, 0o700))
	}
	return p
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p *place) put(name, text string) {
	p.t.Helper()
	full := filepath.Join(p.dir, filepath.FromSlash(name))
	must(p.t, os.MkdirAll(filepath.Dir(full), 0o755))
	must(p.t, os.WriteFile(full, []byte(text), 0o644))
}

func (p *place) text(name string) string {
	b, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
	if err != nil {
		return "-"
	}
	return string(b)
}

func (p *place) options() *quarry.Options {
	return &quarry.Options{
		AllowAny: true, StateDir: p.state, Trash: change.TrashLocal,
		Index: &quarry.IndexOptions{Dir: p.index, Socket: p.socket, Record: &quarry.RecordOptions{}},
	}
}

// open opens the workspace as a process that records, and waits for the baseline.
func (p *place) open() *quarry.Workspace {
	p.t.Helper()
	ws, err := quarry.Open(p.dir, p.options())
	must(p.t, err)
	p.t.Cleanup(func() { ws.Close() })
	must(p.t, ws.Index().Wait(p.t.Context()))
	p.recording(ws)
	return ws
}

func (p *place) recording(ws *quarry.Workspace) {
	p.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		st, err := ws.Recording(p.t.Context())
		must(p.t, err)
		if st != nil && st.On {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("no baseline: %+v", st)
		}
	}
}

func (p *place) log(ws *quarry.Workspace) []change.Change {
	p.t.Helper()
	log, err := ws.Changes(p.t.Context(), 0)
	must(p.t, err)
	if log.Unrecorded != "" {
		p.t.Fatal(log.Unrecorded)
	}
	return log.Changes
}

func (p *place) summaries(ws *quarry.Workspace) string {
	var b strings.Builder
	for i, c := range p.log(ws) {
		if i == 12 {
			b.WriteString("…\n")
			break
		}
		fmt.Fprintf(&b, "%s: %s\n", c.Tool, c.Summary)
	}
	return b.String()
}

// A change by another program is a log entry, and can be undone like one of our own, even
// after later changes.
func TestOutsideChangeIsUndone(t *testing.T) {
	p := newPlace(t)
	p.put("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\n")
	p.put("gone.txt", "old\n")
	must(t, os.Chmod(filepath.Join(p.dir, "gone.txt"), 0o600))
	ws := p.open()
	p.put("a.txt", "one\nTWO\nthree\nfour\nfive\nsix\n")
	must(t, os.Remove(filepath.Join(p.dir, "gone.txt")))
	p.put("sub/new.txt", "new\n")
	list := p.log(ws)
	if len(list) != 1 || !list[0].Outside || list[0].Summary != "changed 4 files, 2 of them new, 1 deleted" {
		t.Fatalf("got %+v", list)
	}
	if _, err := ws.Edit(t.Context(), "a.txt", []change.Edit{{Old: "five", New: "FIVE"}}, nil); err != nil {
		t.Fatal(err)
	}
	if got := p.summaries(ws); strings.Count(got, "\n") != 2 {
		t.Errorf("our own change was recorded twice:\n%s", got)
	}
	undone, err := ws.Undo(t.Context(), list[0].ID, nil)
	must(t, err)
	if got := p.text("a.txt"); got != "one\ntwo\nthree\nfour\nFIVE\nsix\n" {
		t.Errorf("a.txt is %q", got)
	}
	if got := p.text("gone.txt") + p.text("sub/new.txt"); got != "old\n-" {
		t.Errorf("the others are %q", got)
	}
	if info, err := os.Stat(filepath.Join(p.dir, "gone.txt")); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" { // Windows has no such modes
		t.Errorf("the mode is %v, %v", info, err)
	}
	list = p.log(ws)
	if len(list) != 3 || list[2].UndoneBy != undone.ID {
		t.Errorf("after the undo: %+v", list)
	}
	_, err = ws.Undo(t.Context(), undone.ID, nil)
	must(t, err)
	if got := p.text("a.txt") + p.text("sub/new.txt"); got != "one\nTWO\nthree\nfour\nFIVE\nsix\nnew\n" {
		t.Errorf("after the redo: %q", got)
	}
}

// Changes made while no recorder was running are found at the next start. Our own changes
// are not recorded again.
func TestWhileNothingRan(t *testing.T) {
	p := newPlace(t)
	p.put("a.txt", "a\n")
	p.put("b.txt", "b\n")
	p.open().Close()
	p.put("a.txt", "changed\n")
	o := p.options()
	o.Index = nil
	alone, err := quarry.Open(p.dir, o)
	must(t, err)
	if _, err := alone.Edit(t.Context(), "b.txt", []change.Edit{{Old: "b", New: "B"}}, nil); err != nil {
		t.Fatal(err)
	}
	alone.Close()
	ws := p.open()
	want := "outside: changed a.txt, while Quarry was not running\nedit: replaced 1 occurrence in b.txt\n"
	if got := p.summaries(ws); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// If one of our own changes found a file modified since the baseline, the outside changes
// before it and after it are separate entries, each with its contents.
func TestOutsideBetweenOurOwn(t *testing.T) {
	p := newPlace(t)
	p.put("a.txt", "one\n")
	ws := p.open()
	p.put("a.txt", "two\n")
	if _, err := ws.Write(t.Context(), "a.txt", []byte("three\n"), nil); err != nil {
		t.Fatal(err)
	}
	p.put("a.txt", "four\n")
	list := p.log(ws)
	if len(list) != 3 || !list[0].Outside || list[1].Outside || !list[2].Outside {
		t.Fatalf("got %+v", list)
	}
	for i, want := range []string{"three\n", "two\n", "one\n"} {
		_, err := ws.Undo(t.Context(), list[i].ID, nil)
		must(t, err)
		if got := p.text("a.txt"); got != want {
			t.Errorf("undo %d: %q, want %q", i, got, want)
		}
	}
}

// The end of a command's mark reports the files with syntax that the command has broken
// and not repaired. If the hook has already returned, the next end reports them.
func TestCommandsAreChecked(t *testing.T) {
	p := newPlace(t)
	for _, name := range []string{"a.go", "b.go", "c.go"} {
		p.put(name, "package p\n\nfunc f() {}\n")
	}
	ws := p.open()
	mark := func(m change.Mark) *change.Marked {
		t.Helper()
		m.Client = change.Client{Name: "claude-code", Session: "s"}
		answer, err := quarry.SendMark(t.Context(), &quarry.IndexOptions{Socket: p.socket}, m)
		must(t, err)
		return answer
	}
	bash := change.Mark{Tool: "Bash", Command: "./mangle.sh"}
	var broken []change.Broken
	mark(bash)
	p.put("a.go", "package p\n\nfunc f() {\n")
	p.put("b.go", "package p\n\nfunc f( {}\n")
	p.log(ws) // makes the recorder check the broken file
	p.put("b.go", "package p\n\nfunc g() {}\n")
	bash.End = true
	for range 100 { // on a slow machine the report comes later
		if broken = append(broken, mark(bash).Broken...); len(broken) > 0 {
			break
		}
	}
	if len(broken) != 1 || broken[0].Path != "a.go" || broken[0].Line < 3 {
		t.Errorf("got %+v", broken)
	}
	if again := mark(bash); len(again.Broken) > 0 {
		t.Errorf("told twice: %+v", again)
	}
	if list := p.log(ws); len(list) != 2 || list[0].Client.Name != "claude-code" || !strings.Contains(list[0].Did.Text, "`./mangle.sh`") {
		t.Errorf("the log has %+v", list)
	}
}

// After the records of a file are removed, an entry over several files keeps its author and
// its text, and counts the remaining files. A text that names the file is removed too.
func TestPurgeKeepsLabel(t *testing.T) {
	stress.SkipWine(t, "deleting a file that is open")
	p := newPlace(t)
	for _, name := range []string{"a.txt", "b.txt", "secret.txt"} {
		p.put(name, "one\n")
	}
	ws := p.open()
	for _, command := range []string{"make fmt", "sed -i s/1/2/ secret.txt b.txt"} {
		m := change.Mark{Client: change.Client{Name: "codex", Session: "s"}, Tool: "shell", Command: command}
		_, err := quarry.SendMark(t.Context(), &quarry.IndexOptions{Socket: p.socket}, m)
		must(t, err)
		for _, name := range []string{"a.txt", "b.txt", "secret.txt", "new-" + command[:3] + ".txt"} {
			p.put(name, command)
		}
		p.put("secrets/"+command[:3]+".txt", command)
		m.End = true
		_, err = quarry.SendMark(t.Context(), &quarry.IndexOptions{Socket: p.socket}, m)
		must(t, err)
		p.log(ws)
	}
	must(t, ws.PurgeRecord(t.Context(), "secret.txt"))
	must(t, ws.PurgeRecord(t.Context(), "secrets"))
	got := ""
	for _, c := range p.log(ws) {
		got += c.Author() + ": " + c.Summary + "\n"
	}
	const want = "codex: changed 3 files, 1 of them new\n" +
		"codex: changed 3 files, 1 of them new, during shell `make fmt` of codex\n"
	if got != want {
		t.Errorf("the log is\n%swant\n%s", got, want)
	}
}

// A process that isn't the recorder can have all records removed.
func TestPurgeAllFromOutside(t *testing.T) {
	stress.SkipWine(t, "deleting a file that is open")
	p := newPlace(t)
	p.put("a.txt", "one\n")
	ws := p.open()
	p.put("a.txt", "two\n")
	if log := p.log(ws); len(log) != 1 {
		t.Fatalf("%d changes: %s", len(log), p.summaries(ws))
	}
	other, err := quarry.Open(p.dir, p.options())
	must(t, err)
	defer other.Close()
	must(t, other.PurgeRecord(t.Context(), ""))
	if log := p.log(ws); len(log) != 0 {
		t.Errorf("after the purge:\n%s", p.summaries(ws))
	}
}
