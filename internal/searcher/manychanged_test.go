package searcher_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"quarry"
	"quarry/internal/stress"
	"quarry/search"
)

// Right after a checkout that changes most files, lookups of new, removed and misspelt
// names are complete. The large form of this test is scripts/tool bench/ranking
// -checkout.
func TestNamesAfterManyChanges(t *testing.T) {
	dir := t.TempDir()
	files := stress.Size(600, 5_000)
	changed := files * 4 / 5
	write := func(i int, when string) {
		t.Helper()
		sub := filepath.Join(dir, fmt.Sprintf("d%d", i%20))
		os.MkdirAll(sub, 0o700)
		text := fmt.Sprintf("static int own_%d(void)\n{\n\treturn 0;\n}\n\nint checkout_%s = 1;\n", i, when)
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("f%d.c", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range files {
		write(i, "before")
	}
	ws, err := quarry.Open(dir, &quarry.Options{Index: &quarry.IndexOptions{Dir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if err := ws.Index().Wait(ctx); err != nil {
		t.Skip("no index here:", err)
	}
	for i := range changed {
		write(i, "after")
	}
	some, read := 0, 0
	ask := func(when, name string, fuzzy bool, want int) {
		t.Helper()
		r, err := ws.Symbols(ctx, search.SymbolQuery{Name: name, Fuzzy: fuzzy, Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Stats.Plan.Indexed() {
			t.Errorf("%s, %s was not answered by the index: %s", when, name, r.Stats.Plan.Kind)
		}
		if r.Total != want {
			t.Errorf("%s, %s has %d definitions, want %d", when, name, r.Total, want)
		}
		if r.Total > 0 {
			some++
		}
		read = max(read, r.Stats.Plan.Changed)
	}
	for _, when := range []string{"at once", "after the index has read the changes"} {
		ask(when, "checkout_after", false, changed)
		ask(when, "checkout_before", false, files-changed)
		ask(when, "checkout_aftr", true, changed)
		ask(when, fmt.Sprintf("own_%d", changed/2), false, 1)
		ask(when, "nowhere_at_all", false, 0)
		if _, err := ws.Index().Verify(ctx, func(path, what string) { t.Errorf("%s: %s", path, what) }, nil); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d files changed; %d of 10 answers are not empty; up to %d files were read for one", changed, files, some, read)
	if some != 8 || read == 0 {
		t.Errorf("%d answers are not empty, %d files were read: the test shows little", some, read)
	}
}
