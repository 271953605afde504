package notebook_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/fault"
	"quarry/internal/notebook"
	"quarry/internal/stress"
	"quarry/internal/vault"
)

// randomText makes a note from constructs that are hard to edit.
func randomText(rng *rand.Rand) string {
	pieces := []string{"# A\n", "## B\n", "# C\n", "text [[n#A]] #tag\n", "\n", "- item ^i%d\n", "para ^p%d\n", "```\n# code\n```\n", "|a|b|\n|-|-|\n|1|2|\n", "%% #tag %%\n", "<div>\n# no\n</div>\n", "é 漢字\n", "> # quoted\n"}
	var b strings.Builder
	b.WriteString([]string{"", "---\nk: v # c\ntags: [tag, 'tag/z']\nlist:\n  - x\n---\n", "---\n---\n"}[rng.IntN(3)])
	for i := range 2 + rng.IntN(12) {
		p := pieces[rng.IntN(len(pieces))]
		if strings.Contains(p, "%d") {
			p = fmt.Sprintf(p, i)
		}
		b.WriteString(p)
	}
	if rng.IntN(3) == 0 {
		return strings.ReplaceAll(b.String(), "\n", "\r\n")
	}
	return b.String()
}

// act makes a random change to the note n, or to all notes.
func act(ctx context.Context, b *notebook.Book, rng *rand.Rand) (string, error) {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	o := notebook.Options{}
	switch rng.IntN(6) {
	case 0:
		_, err := b.RenameTag(ctx, "", "tag", "renamed/tag", o)
		return "rename tag", err
	case 1:
		_, err := b.RenameProperty(ctx, "", "k", "key", o)
		return "rename property", err
	case 2:
		_, err := b.SetProperties(ctx, notebook.Chosen{Path: "n.md"}, map[string]any{"k": "new", "x": []any{1, "a"}}, nil, o)
		return "set properties", err
	case 3:
		_, err := b.RenamePart(ctx, "n.md", notebook.Target{Heading: pick("A", "B", "C")}, "Renamed", o)
		return "rename heading", err
	}
	t := notebook.Target{Heading: pick("A", "A::B", "C")}
	if rng.IntN(2) == 0 {
		t = notebook.Target{Block: pick("i", "p") + fmt.Sprint(rng.IntN(12))}
	}
	op := vault.Operation(pick("append", "prepend", "replace", "before", "after"))
	_, err := b.EditPart(ctx, "n.md", t, notebook.Edit{Operation: op, Content: pick("new", "- new\n", "# New\n", "```\nopen", "|1|2|")}, o)
	return string(op) + " " + t.String(), err
}

// After any change to notes, undo restores the old bytes. A refused change leaves them
// unmodified.
func TestUndoOfNotes(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, ".obsidian/app.json", `{"trashOption":"none"}`)
	run := stress.Start(t, "undo of notes", 80, 10_000)
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		before := map[string]string{}
		for _, name := range []string{"n.md", "m.md"} {
			before[name] = randomText(rng)
			w.write(name, before[name])
		}
		what, err := act(ctx, w.book, rng)
		if err == nil {
			if _, err := w.ws.Undo(ctx, "", nil); err != nil {
				run.Violation(seed, "undo of %s: %v", what, err)
				continue
			}
		} else if code := fault.CodeOf(err); code != fault.NotFound && code != fault.InvalidArgument && !strings.Contains(err.Error(), "front matter") {
			run.Violation(seed, "%s: %v", what, err)
		}
		for name, text := range before {
			data, err := os.ReadFile(filepath.Join(w.dir, name))
			if err != nil || string(data) != text {
				run.Violation(seed, "after undo of %s %s is %q, was %q: %v", what, name, data, text, err)
			}
		}
	}
}
