package notebook_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/internal/notebook"
	"quarry/internal/stress"
)

// bigVault makes notes of about 1.5 KB with eight links, four properties and two tasks
// each.
func bigVault(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi psi omega note plan list meeting project idea draft review")
	for i := range n {
		folder := filepath.Join(dir, fmt.Sprintf("Area %d", i%40))
		if i < 40 {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		var b strings.Builder
		fmt.Fprintf(&b, "---\ntags: [t%d]\nrating: %d\nstatus: s%d\ndue: 2026-%02d-%02d\nauthor: \"[[Topic %05d]]\"\n---\n# Note %d\n\n", i%97, i%6, i%7, 1+i%12, 1+i%28, i%50, i)
		fmt.Fprintf(&b, "- [ ] call %d 📅 2026-%02d-01\n- [x] sent\nsize:: %d\n\n", i, 1+i%12, i%11)
		for j := range 210 {
			if j%30 == 0 {
				fmt.Fprintf(&b, "[[Topic %05d|see]] ", rng.IntN(n))
			}
			b.WriteString(words[rng.IntN(len(words))])
			b.WriteString([]string{" ", " ", " ", "\n"}[rng.IntN(4)])
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("Topic %05d.md", i)), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Backlinks use the index: only files that mention the name are read, and a link that was
// just written is included.
func TestBacklinksIndexed(t *testing.T) {
	stress.SkipTiny(t)
	n := stress.Size(2_000, 10_000)
	ctx := context.Background()
	dir := bigVault(t, n)
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir(), Index: &quarry.IndexOptions{Dir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if err := ws.Index().Wait(ctx); err != nil {
		t.Skip("no index here:", err)
	}
	book := notebook.Open(ws)
	best, found := time.Hour, 0
	for i := range 30 {
		start := time.Now()
		links, err := book.Backlinks(ctx, fmt.Sprintf("Area %d/Topic %05d.md", i, i))
		if err != nil {
			t.Fatal(err)
		}
		best, found = min(best, time.Since(start)), found+len(links)
	}
	start := time.Now()
	if _, err := book.Orphans(ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d notes: backlinks %v at best (%d found in 30 notes), orphans of the vault %v", n, best, found, time.Since(start))
	if found == 0 {
		t.Error("no backlinks found")
	}
	before, err := book.Backlinks(ctx, "Area 7/Topic 00007.md")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Area 3", "new.md"), []byte("[[Topic 00007]]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	after, err := book.Backlinks(ctx, "Area 7/Topic 00007.md")
	if err != nil || len(after) != len(before)+1 {
		t.Errorf("%d backlinks, %d after one more was written: %v", len(before), len(after), err)
	}
}
