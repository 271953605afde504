package changer_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"quarry"
	"quarry/change"
	"quarry/fault"
)

func TestMove(t *testing.T) {
	files := map[string]string{"a.txt": "a", "d/x.txt": "x", "d/e/y.txt": "y", "z.txt": "z"}
	for _, c := range []struct {
		name, from, to string
		code           fault.Code // "" means success
		has            string     // a file that must exist afterwards
	}{
		{"rename", "a.txt", "b.txt", "", "b.txt"},
		{"into new folders", "a.txt", "n/m/a.txt", "", "n/m/a.txt"},
		{"a folder", "d", "n/d2", "", "n/d2/e/y.txt"},
		{"only the case", "a.txt", "A.txt", "", "A.txt"},
		{"onto itself", "a.txt", "./a.txt", "", "a.txt"},
		{"over a file", "a.txt", "z.txt", fault.AlreadyExists, "a.txt"},
		{"over a folder", "a.txt", "d", fault.AlreadyExists, "a.txt"},
		{"into itself", "d", "d/e/f", fault.InvalidArgument, "d/x.txt"},
		{"what is not there", "q", "r", fault.NotFound, "a.txt"},
		{"below a file", "d", "a.txt/d", fault.InvalidArgument, "d/x.txt"},
		{"into a protected folder", "a.txt", ".git/hooks/x", fault.ProtectedPath, "a.txt"},
		{"out of the root", "a.txt", "../a.txt", fault.OutsideRoot, "a.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := changeable(t, files, nil)
			before := snapshot(t, ws.Dir())
			_, dry := ws.Move(ctx, c.from, c.to, &change.MoveOptions{Options: change.Options{DryRun: true}})
			if diff := cmp.Diff(before, snapshot(t, ws.Dir())); diff != "" {
				t.Errorf("a dry run changed something: %s", diff)
			}
			_, err := ws.Move(ctx, c.from, c.to, nil)
			if (err == nil) != (c.code == "") || err != nil && fault.CodeOf(err) != c.code {
				t.Errorf("error %v, want code %q", err, c.code)
			}
			if (dry == nil) != (err == nil) {
				t.Errorf("dry run said %v, the move %v", dry, err)
			}
			if _, err := os.Stat(filepath.Join(ws.Dir(), c.has)); err != nil {
				t.Error(err)
			}
			undoAll(t, ws)
			if diff := cmp.Diff(before, snapshot(t, ws.Dir())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMoveSaysWhichPath(t *testing.T) {
	ws := changeable(t, map[string]string{"a": "", "b": ""}, nil)
	for _, c := range []struct {
		from, to string
		source   bool
	}{{"none", "x", true}, {"a", "b", false}} {
		_, err := ws.Move(ctx, c.from, c.to, nil)
		var which *change.MoveError
		if !errors.As(err, &which) || which.Source != c.source {
			t.Errorf("Move(%s, %s): %v", c.from, c.to, err)
		}
	}
}

func utf16le(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// A move in a vault and the resulting link updates are one change, in files of any
// encoding.
func TestMoveUpdatesLinks(t *testing.T) {
	files := map[string]string{
		".obsidian/app.json": `{"alwaysUpdateLinks": true}`,
		"Inbox/Note.md":      "# Note\nsee [[Other]] and ![[pic.png]]\n",
		"Other.md":           "[[Inbox/Note|n]] and [md](Inbox/Note.md)\r\n`[[Inbox/Note]]`\r\n",
		"wide.md":            utf16le("über [[Inbox/Note#Note]]\r\n"),
		"latin.md":           "caf\xe9 [[Inbox/Note]]\n",
		"pic.png":            "\x89PNG\x00",
	}
	ws := changeable(t, files, nil)
	before := snapshot(t, ws.Dir())
	c := must(t)(ws.Move(ctx, "Inbox/Note.md", "Archive/2026/New.md", nil))
	if c.Links == nil || c.Links.Updated != 4 || c.Links.Broken != 0 || len(c.Links.Files) != 3 {
		t.Errorf("links %+v", c.Links)
	}
	for path, want := range map[string]string{
		"Other.md":            "[[Archive/2026/New|n]] and [md](Archive/2026/New.md)\r\n`[[Inbox/Note]]`\r\n",
		"wide.md":             utf16le("über [[Archive/2026/New#Note]]\r\n"),
		"latin.md":            "caf\xe9 [[Archive/2026/New]]\n",
		"Archive/2026/New.md": files["Inbox/Note.md"],
	} {
		if got := content(t, ws, path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if log, _ := ws.Changes(ctx, 0); len(log.Changes) != 1 {
		t.Errorf("the move is %d changes", len(log.Changes))
	}
	if d := must(t)(ws.Diff(ctx, c.ID, nil)); !strings.Contains(d.Diff, "rename to Archive/2026/New.md") || !strings.Contains(d.Diff, "+[[Archive/2026/New|n]]") {
		t.Errorf("diff:\n%s", d.Diff)
	}
	u := must(t)(ws.Undo(ctx, "", nil))
	if diff := cmp.Diff(before, snapshot(t, ws.Dir())); diff != "" {
		t.Error(diff)
	}
	must(t)(ws.Undo(ctx, u.ID, nil))
	if got := content(t, ws, "latin.md"); got != "caf\xe9 [[Archive/2026/New]]\n" {
		t.Errorf("redo: %q", got)
	}
}

// Outside a vault a Markdown link is a path from its file's folder, as GitHub follows it.
func TestMoveUpdatesPlainLinks(t *testing.T) {
	files := map[string]string{
		"a/x.md":        "[p](p.md) [p2](./p.md#h) [r] ![k](img/k.png) [[p]] [top](/a/p.md) [short](p)\n\n[r]: <p.md>\n",
		"a/p.md":        "[x](x.md) [x2](./x.md) ![k](img/k.png) [gone](gone.md) [[x]]\n",
		"a/img/k.png":   "",
		"README.md":     "[p](a/p.md) [no](p.md) [x](./a/x.md)\n", // p.md is nowhere
		"b/gone.md":     "",
		"c/q.md":        "[p](p.md)\n",
		"c/p.md":        "",
		"v/.obsidian/x": "",
		"v/n.md":        "[p](gone.md)\n", // Obsidian finds it by its name
	}
	ws := changeable(t, files, nil)
	move := func(from, to string, updated int, texts map[string]string) {
		t.Helper()
		c := must(t)(ws.Move(ctx, from, to, &change.MoveOptions{Links: change.LinksUpdate}))
		if c.Links == nil || c.Links.Updated != updated || c.Links.Broken != 0 {
			t.Errorf("%s to %s: %+v, want %d", from, to, c.Links, updated)
		}
		for path, want := range texts {
			if got := content(t, ws, path); got != want {
				t.Errorf("%s to %s: %s is\n%s, want\n%s", from, to, path, got, want)
			}
		}
	}
	move("a/p.md", "b/p.md", 9, map[string]string{
		"a/x.md":    "[p](../b/p.md) [p2](../b/p.md#h) [r] ![k](img/k.png) [[p]] [top](/b/p.md) [short](../b/p)\n\n[r]: <../b/p.md>\n",
		"b/p.md":    "[x](../a/x.md) [x2](../a/x.md) ![k](../a/img/k.png) [gone](gone.md) [[x]]\n",
		"README.md": "[p](b/p.md) [no](p.md) [x](./a/x.md)\n",
		"c/q.md":    files["c/q.md"],
	})
	move("b/p.md", "b/P.md", 7, map[string]string{"README.md": "[P](b/P.md) [no](p.md) [x](./a/x.md)\n"}) // GitHub tells case apart
	move("a", "d", 4, map[string]string{
		"README.md": "[P](b/P.md) [no](p.md) [x](./d/x.md)\n",
		"d/x.md":    "[P](../b/P.md) [p2](../b/P.md#h) [r] ![k](img/k.png) [[P]] [top](/b/P.md) [short](../b/P)\n\n[r]: <../b/P.md>\n",
	})
	move("b/gone.md", "e/gone.md", 1, map[string]string{"v/n.md": files["v/n.md"]})
	move("v", "w", 0, map[string]string{"w/n.md": files["v/n.md"]})
}

func TestMoveCountsBrokenLinks(t *testing.T) {
	files := map[string]string{".obsidian/x": "", "A.md": "", "B.md": "[[A]] [[A]]", "1252.md": "\xe9 [[A]]"}
	ws := changeable(t, files, nil)
	c := must(t)(ws.Move(ctx, "A.md", "C.md", &change.MoveOptions{Options: change.Options{DryRun: true}}))
	if c.Links.Updated != 0 || c.Links.Broken != 3 || len(c.Links.BrokenIn) != 2 {
		t.Errorf("left alone: %+v", c.Links)
	}
	// A name that Windows-1252 can't encode breaks only the link in the file with that
	// encoding.
	c = must(t)(ws.Move(ctx, "A.md", "日.md", &change.MoveOptions{Links: change.LinksUpdate}))
	if c.Links.Updated != 2 || c.Links.Broken != 1 || len(c.Warnings) != 1 {
		t.Errorf("updated: %+v, %v", c.Links, c.Warnings)
	}
}

// If a file with links changes between reading and rewriting, that is a conflict, and
// files already rewritten are rolled back.
func TestUndoOfMoveRefusesForeignChange(t *testing.T) {
	ws := changeable(t, map[string]string{
		".obsidian/app.json": `{"alwaysUpdateLinks": true}`, "A.md": "", "B.md": "[[A]]", "C.md": "[[A]]",
	}, nil)
	must(t)(ws.Move(ctx, "A.md", "Z.md", nil))
	put(t, ws, "C.md", "foreign [[Z]]")
	before := snapshot(t, ws.Dir())
	_, err := ws.Undo(ctx, "", nil)
	var conflict *change.UndoError
	if !errors.As(err, &conflict) || len(conflict.Paths) != 1 || conflict.Paths[0].Path != "C.md" {
		t.Errorf("undo: %v", err)
	}
	if diff := cmp.Diff(before, snapshot(t, ws.Dir())); diff != "" {
		t.Error(diff)
	}
}

// bigVault makes n notes of about 2 KB in folders, with links among them.
func bigVault(t testing.TB, n int) *quarry.Workspace {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	name := func(i int) string { return fmt.Sprintf("folder %d/sub %d/Note %d", i%20, i%7, i) }
	files := map[string]string{".obsidian/app.json": `{"alwaysUpdateLinks": true}`}
	filler := strings.Repeat("Some words that make up a paragraph of text, as notes have. ", 8)
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "---\ntags: [a, b]\n---\n# Note %d\n\n", i)
		for range 5 {
			to := name(rng.IntN(n))
			switch rng.IntN(3) {
			case 0:
				to = to[strings.LastIndexByte(to, '/')+1:]
				fmt.Fprintf(&b, "%s [[%s]]\n\n", filler[:rng.IntN(len(filler))], to)
			case 1:
				fmt.Fprintf(&b, "%s [[%s|alias]]\n\n", filler[:rng.IntN(len(filler))], to)
			default:
				fmt.Fprintf(&b, "%s [text](/%s.md)\n\n", filler, strings.ReplaceAll(to, " ", "%20"))
			}
		}
		files[name(i)+".md"] = b.String()
	}
	return changeable(t, files, nil)
}
