package vaultdir

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/text/unicode/norm"

	"quarry/internal/changer"
	"quarry/internal/rootfs"
	"quarry/internal/stress"
	"quarry/internal/vault"
)

// Reading only the notes that mention a name gives the same plan as reading all notes.
func TestMentionsFindEveryLink(t *testing.T) {
	stress.SkipShort(t)
	rng := rand.New(rand.NewPCG(7, 1))
	names := []string{
		"Note", "note 1", "NOTE-2", "a&b", "Käse", "Ka\u0308se", "café", "cafe\u0301 x", "日本", "x (y)", "50% off", "a,b;c",
		"Kelvin", "Sass", "v1.2", "pic", "fj ord", "it's", "z", "very long name with many words in it", "q_r~s", "\xff\xfebad",
		"ab한cd", "Tiếng Việt", "to`do",
	}
	exts := []string{".md", ".md", ".md", ".canvas", ".png"}
	dir := t.TempDir()
	var paths []string
	for i, n := range names {
		paths = append(paths, fmt.Sprintf("f%d/%s%s", i%4, n, exts[rng.IntN(len(exts))]))
	}
	write := func(path, text string) {
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".obsidian"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, p := range paths {
		var b strings.Builder
		for range 3 {
			b.WriteString(spelled(rng, paths[rng.IntN(len(paths))]) + "\n")
		}
		if strings.HasSuffix(p, ".canvas") {
			b.Reset()
			fmt.Fprintf(&b, `{"nodes":[{"id":"1","type":"file","file":%s}]}`, jsonEscaped(paths[(i+3)%len(paths)]))
		}
		write(p, b.String())
	}
	for i := range 300 { // one link each, so that only this link can be a mention
		write(fmt.Sprintf("links/%d.md", i), spelled(rng, paths[i%len(paths)])+"\n")
	}
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ws := New(root, 2, slog.New(slog.DiscardHandler))
	updated, skipped := 0, 0
	for i, p := range paths {
		if !stress.Samples(i) {
			continue
		}
		for _, to := range []string{fmt.Sprintf("moved/%d.md", i), "f9/" + filepath.Base(paths[(i+1)%len(paths)]), "f" + fmt.Sprint(i%4+1) + "/" + filepath.Base(p)} {
			fast, n := planned(t, ws, p, to, true)
			slow, all := planned(t, ws, p, to, false)
			if diff := cmp.Diff(slow, fast, cmpopts.IgnoreUnexported(vault.FileEdit{})); diff != "" {
				t.Errorf("moving %q to %q: %s", p, to, diff)
			}
			if slow != nil {
				updated += slow.Updated
			}
			skipped += all - n
		}
	}
	if updated == 0 || skipped == 0 {
		t.Errorf("%d links updated, %d notes not read: the test proves nothing", updated, skipped)
	}
}

func planned(t *testing.T, ws *Dir, from, to string, fast bool) (*vault.Plan, int) {
	t.Helper()
	ctx := context.Background()
	src, err := ws.root.ResolveEntry(from)
	if err != nil {
		t.Fatal(err)
	}
	dst, err := ws.root.ResolveEntry(to)
	if err != nil {
		t.Fatal(err)
	}
	moving := []changer.Move{{From: src, To: dst}}
	var names *mention
	if fast {
		names = ws.mentions(ctx, moving)
	}
	files, err := ws.files(ctx, moving, names)
	if err != nil {
		t.Fatal(err)
	}
	graph, err := vault.NewGraph(t.Context(), files, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := len(files.texts)
	plan, err := graph.Plan(t.Context(), files, []vault.Move{{From: from, To: to}}, vault.PlanOptions{Update: true})
	if err != nil {
		return nil, n // the destination is taken
	}
	return plan, n
}

// spelled writes a link to path in one of many ways.
func spelled(rng *rand.Rand, path string) string {
	base := strings.TrimSuffix(path[strings.IndexByte(path, '/')+1:], ".md")
	switch rng.IntN(10) {
	case 0:
		return "[[" + path + "]]"
	case 1:
		return "[[" + strings.ToUpper(base) + "|alias]]"
	case 2:
		return "![[" + strings.ReplaceAll(strings.ReplaceAll(base, "K", "\u212a"), "s", "\u017f") + "]]"
	case 3:
		return "[t](/" + (&url.URL{Path: path}).EscapedPath() + ")"
	case 4:
		var b strings.Builder
		for i := range len(path) {
			fmt.Fprintf(&b, "%%%02X", path[i])
		}
		return "[t](/" + b.String() + ")"
	case 5:
		var b strings.Builder
		for _, r := range "/" + path {
			if r == 'o' || r == ' ' {
				fmt.Fprintf(&b, "&#%d;", r)
			} else {
				b.WriteRune(r)
			}
		}
		return "[t](<" + b.String() + ">)"
	case 6:
		return "[t](</" + strings.NewReplacer("(", `\(`, ")", `\)`, "&", "&amp;", "-", `\-`, "fj", "&fjlig;").Replace(path) + ">)"
	case 7:
		return "[t](/" + (&url.URL{Path: norm.NFD.String(path)}).EscapedPath() + ")"
	case 8:
		return "[t](</" + strings.NewReplacer("`", "&DiacriticalGrave;", "_", "&UnderBar;", "&", "&amp;").Replace(path) + ">)"
	}
	return "| [[" + base + `\|x]] |` + "\n|---|"
}

func jsonEscaped(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i%2 == 0 && r < 0x10000 && r != '\ufffd' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
