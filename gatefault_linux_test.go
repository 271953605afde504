package quarry_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"quarry"
	"quarry/change"
	"quarry/internal/review"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/layer"
	regime "quarry/internal/stress"
	"quarry/toolset"
)

// gated returns calls that make proposals, at least one for each tool that changes files. undo is
// the id of a change to undo.
func gated(undo string) map[string][]string {
	return map[string][]string{
		"edit_file":        {`{"path":"a.txt","old_text":"one","new_text":"1"}`, `{"path":"a.txt","edits":[{"old_text":"one","new_text":"1"},{"old_text":"two","new_text":"2"}]}`},
		"write_file":       {`{"path":"a.txt","content":"new\n"}`, `{"path":"new/deep/b.txt","content":"new\n"}`},
		"create_folder":    {`{"path":"made/folder"}`},
		"move_file":        {`{"source":"notes/m.md","destination":"notes/moved.md","update_links":true}`, `{"source":"notes","destination":"elsewhere/notes"}`},
		"delete_file":      {`{"path":"a.txt"}`, `{"path":"notes"}`},
		"create_note":      {`{"path":"notes/new.md","content":"# new\n"}`},
		"modify_note":      {`{"path":"notes/m.md","operation":"append","content":"more"}`},
		"organize_note":    {`{"source":"notes/m.md","destination":"other/m.md"}`},
		"undo_change":      {`{"id":"` + undo + `"}`},
		"apply_changes":    {`{"changes":[{"path":"a.txt","old_text":"one","new_text":"1"},{"path":"b.txt","content":"b\n"},{"path":"notes/m.md","delete":true}]}`},
		"apply_patch":      {`{"patch":"*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** Delete File: notes/m.md\n*** End Patch\n"}`, `{"patch":"diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n"}`},
		"replace_in_files": {`{"text":"m","replacement":"M"}`},
		"edit_section":     {`{"path":"notes/n.md","operation":"append","heading":"n","content":"more"}`, `{"path":"notes/m.md","operation":"rename","heading":"m","content":"M"}`},
		"properties":       {`{"path":"notes/n.md","operation":"set","name":"status","value":"done"}`},
		"tags":             {`{"tag":"old","new_name":"new"}`},
	}
}

// With review enabled, no byte of the workspace changes before a decision. This holds if any system
// call of any tool fails, once or permanently, in the workspace, the undo log or the folder for
// proposals.
func TestGateFaults(t *testing.T) {
	run := regime.Start(t, "the gate with faults: every tool, every call", 1, 1)
	base := regime.FastDir(t)
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "ws")
	for name, text := range map[string]string{
		"a.txt": "one\ntwo\n", "notes/n.md": "# n\n\n#old [[m]] and [[m#m]]\n", "notes/m.md": "# m\n\n#old/er\n", ".obsidian/app.json": `{"alwaysUpdateLinks":true}`, "state/x": "", "reviews/x": "",
	} {
		full := filepath.Join(dir, name)
		if top, _, _ := strings.Cut(name, "/"); top == "state" || top == "reviews" {
			full = filepath.Join(base, name)
		}
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	options := func() *quarry.Options {
		return &quarry.Options{StateDir: filepath.Join(base, "state"), TrashDir: base, Trash: change.TrashLocal}
	}
	person, err := quarry.Open(dir, options())
	if err != nil {
		t.Fatal(err)
	}
	defer person.Close()
	made, err := person.Write(ctx, "notes/m.md", []byte("# m\n\n#old/er more\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	store, err := review.Open(filepath.Join(base, "reviews"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	g := &gateTrial{t: t, dir: dir, person: person, store: store}
	held := options()
	held.Review = &quarry.ReviewOptions{Dir: filepath.Join(base, "reviews"), Wait: -1}
	quarry.Layered(held, &rootfs.Layer{Before: g.call})
	agent, err := quarry.Open(dir, held)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	tools, err := toolset.New(agent, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.before = snapshot(t, dir)
	for _, tool := range tools.Tools() {
		if tool.Hints.ReadOnly {
			continue
		}
		calls := gated(made.ID)[tool.Name]
		if calls == nil {
			t.Errorf("%s has no call here", tool.Name)
		}
		for i, args := range calls {
			execute := func() string { return tool.Execute(ctx, json.RawMessage(args)).Text }
			t.Run(fmt.Sprintf("%s %d", tool.Name, i), func(t *testing.T) { g.t = t; g.everyFault(run, execute) })
		}
	}
}

// gateTrial makes system calls fail in a workspace with review.
type gateTrial struct {
	t      *testing.T
	dir    string
	person *quarry.Workspace
	store  *review.Store
	before map[string]string

	mu      sync.Mutex
	on      bool
	seen    int
	at      int
	err     error
	forever bool
}

func (g *gateTrial) call(call string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.on {
		return nil
	}
	n := g.seen
	g.seen++
	if g.err == nil || n != g.at && (!g.forever || n < g.at) || g.err == layer.ErrShort && call != "write" {
		return nil
	}
	return g.err
}

// turn starts counting system calls and makes call number at fail, or stops counting. It returns
// the count.
func (g *gateTrial) turn(on bool, at int, err error, forever bool) (seen int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	seen = g.seen
	g.on, g.seen, g.at, g.err, g.forever = on, 0, at, err, forever
	return seen
}

func (g *gateTrial) everyFault(run *regime.Run, execute func() string) {
	g.turn(true, 0, nil, false)
	text := execute()
	calls := g.turn(false, 0, nil, false)
	if !strings.Contains(text, "waits for") {
		g.t.Fatalf("without a fault nothing is proposed: %s", text)
	}
	g.decide()
	kinds := []error{unix.ENOSPC, unix.EIO, unix.EACCES, unix.EROFS, unix.EMFILE, layer.ErrShort}
	for n := range calls {
		for k, kind := range kinds {
			for _, forever := range []bool{false, true} {
				if !regime.Takes((n*len(kinds)+k)*2 + map[bool]int{true: 1}[forever]) {
					continue
				}
				g.turn(true, n, kind, forever)
				text := execute()
				g.turn(false, 0, nil, false)
				run.Tried(1)
				if diff := treeDiff(g.before, snapshot(g.t, g.dir)); diff != "" {
					g.t.Fatalf("call %d of %d fails with %v (forever %v), the answer is %q, and the workspace changed:\n%s", n, calls, kind, forever, text, diff)
				}
				g.decide()
			}
		}
	}
}

// decide refuses the waiting proposals, so that they don't block the next call.
func (g *gateTrial) decide() {
	g.t.Helper()
	list, err := g.store.List()
	if err != nil {
		g.t.Fatal(err)
	}
	for _, p := range list {
		if p.State.Open() {
			if _, err := g.store.Decide(ctx, g.person, p.ID, review.Decision{Rest: review.No}); err != nil {
				g.t.Fatal(err)
			}
		}
		// Delete decided proposals. They are kept for a week, and the test would read thousands of
		// them again and again.
		if err := os.Remove(filepath.Join(filepath.Dir(g.dir), "reviews", p.ID+".json")); err != nil {
			g.t.Fatal(err)
		}
	}
}

func treeDiff(a, b map[string]string) string {
	var out strings.Builder
	for name, text := range a {
		if now, ok := b[name]; !ok || now != text {
			fmt.Fprintf(&out, "%s: %q, was %q\n", name, now, text)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			fmt.Fprintf(&out, "%s is new\n", name)
		}
	}
	return out.String()
}
