package quarry_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/search"
)

// openCheckout serves the world with alpha checked out in its folder.
func (w *remoteWorld) openCheckout(t *testing.T, opts *quarry.Options) *quarry.Workspace {
	t.Helper()
	ws, err := quarry.Open(filepath.Join(w.dir, "alpha"), opts)
	if err != nil {
		t.Fatal(err)
	}
	return w.open(t, quarry.ServersOptions{Checkouts: []quarry.Checkout{{Repo: "alpha", Workspace: ws}}})
}

// TestRemoteDirtyCheckout: what is changed, made and deleted in a checkout is
// right in every answer, whatever the server has indexed.
func TestRemoteDirtyCheckout(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: run without -short")
	}
	for _, x := range worlds {
		t.Run(x.name, func(t *testing.T) {
			w := x.make(t)
			remote, local := w.openCheckout(t, nil), w.local(t)
			quarry.RestStamps(remote, time.Millisecond)
			dir := filepath.Join(w.dir, "alpha")
			rng := rand.New(rand.NewPCG(5, 6))
			for i, dirty := range []func(){
				func() {}, // as it was indexed
				func() { putFile(t, filepath.Join(dir, "src/f00.go"), "alpha was edited\nkilo beta\n") },
				func() { putFile(t, filepath.Join(dir, "src/new/added.go"), "func alpha() { return } // session\n") },
				func() { os.Remove(filepath.Join(dir, "src/f01.md")) },
				func() { os.RemoveAll(filepath.Join(dir, "src/pkg1")) },
				func() { putFile(t, filepath.Join(dir, ".gitignore"), "*.ts\n") },
				func() { os.Rename(filepath.Join(dir, "crlf.txt"), filepath.Join(dir, "renamed.txt")) },
				func() { putFile(t, filepath.Join(dir, "latin1.txt"), "alpha\xe9 task\n") },
			} {
				dirty()
				for range 25 {
					q := randomQuery(rng)
					want, wantErr := local.Search(t.Context(), q)
					got, err := remote.Search(t.Context(), q)
					if (err != nil) != (wantErr != nil) || err != nil && fault.CodeOf(err) != fault.CodeOf(wantErr) {
						t.Fatalf("after change %d %+v: error %v, want %v", i, q, err, wantErr)
					}
					if err != nil {
						continue
					}
					if diff := diffResults(want, got); diff != "" {
						t.Fatalf("after change %d a query differs from a scan (-scan +remote):\n%+v\n%s", i, q, diff)
					}
				}
				if want, got := found(t, local, "**"), found(t, remote, "**"); want != got {
					t.Fatalf("after change %d the paths differ:\n%s\nwant\n%s", i, got, want)
				}
			}
			r := mustSearch(t, remote, search.Query{Pattern: "was edited"})
			if len(r.Files) != 1 || r.Files[0].Path != "alpha/src/f00.go" || !r.Stats.Remote || r.Stats.Commits["alpha"] != w.commits["alpha"] {
				t.Errorf("%+v", r)
			}
		})
	}
}

func found(t *testing.T, ws *quarry.Workspace, glob string) string {
	t.Helper()
	r, err := ws.Find(t.Context(), search.FindQuery{Scope: search.Scope{Globs: []string{glob}, IncludeHidden: true}, Kind: search.FilesAndFolders})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, e := range r.Entries {
		paths = append(paths, e.Path)
	}
	return strings.Join(paths, "\n")
}

// TestRemoteCheckoutReads less than it has: what the server says can't match,
// and is unchanged, is not read again.
func TestRemoteCheckoutReads(t *testing.T) {
	w := fakeWorld(t)
	remote := w.openCheckout(t, nil)
	dir := filepath.Join(w.dir, "alpha")
	quarry.RestStamps(remote, 0)
	q := search.Query{Pattern: "added here", Scope: search.Scope{Paths: []string{"alpha"}}}
	mustSearch(t, remote, q) // compares all files
	putFile(t, filepath.Join(dir, "new.txt"), "added here\n")
	r := mustSearch(t, remote, q)
	if r.FilesMatched != 1 || r.Stats.Searched > 3 {
		t.Errorf("%d files of %d were read", r.Stats.Searched, r.Stats.Considered)
	}
}

// TestRemoteChangesCheckout: a checkout can be changed by the paths it has
// among the others, and the change undone.
func TestRemoteChangesCheckout(t *testing.T) {
	w := fakeWorld(t)
	remote := w.openCheckout(t, &quarry.Options{StateDir: t.TempDir()})
	ctx := context.Background()
	c, err := remote.Write(ctx, "alpha/made/x.txt", []byte("made by a test\n"), nil)
	if err != nil || c.Paths[0] != "alpha/made/x.txt" || !strings.HasPrefix(c.ID, "alpha:") || c.Summary != "created alpha/made/x.txt (15 bytes)" {
		t.Fatalf("%+v, %v", c, err)
	}
	edited, err := remote.Edit(ctx, "alpha/made/x.txt", []change.Edit{change.Edit{Old: "a test", New: "hand", Occurrence: change.First}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := mustSearch(t, remote, search.Query{Pattern: "made by hand"}); len(r.Files) != 1 || r.Files[0].Path != "alpha/made/x.txt" {
		t.Errorf("%+v", r.Files)
	}
	log, err := remote.Changes(ctx, 10)
	if err != nil || len(log.Changes) != 2 || log.Changes[0].ID != edited.ID {
		t.Errorf("%+v, %v", log, err)
	}
	const diff = "--- a/alpha/made/x.txt\n+++ b/alpha/made/x.txt\n@@ -1 +1 @@\n-made by a test\n+made by hand\n"
	if d, err := remote.Diff(ctx, edited.ID, nil); err != nil || d.Diff != diff || edited.Diff != diff {
		t.Errorf("%+v, %v; the edit said\n%s", d, err, edited.Diff)
	}
	undone, err := remote.Undo(ctx, "", nil)
	if err != nil || undone.Summary != "undo "+edited.ID+": replaced 1 occurrence in alpha/made/x.txt" {
		t.Fatalf("%+v, %v", undone, err)
	}
	if text, err := remote.Read(ctx, "alpha/made/x.txt", nil); err != nil || text.Lines[0] != "made by a test" || text.Path != "alpha/made/x.txt" {
		t.Errorf("%+v, %v", text, err)
	}
	moved, err := remote.Move(ctx, "alpha/made/x.txt", "alpha/made/y.txt", nil)
	if err != nil || moved.Summary != "moved alpha/made/x.txt to alpha/made/y.txt" || !strings.HasPrefix(moved.Diff, "rename from alpha/made/x.txt\nrename to alpha/made/y.txt\n") {
		t.Errorf("%+v, %v", moved, err)
	}
	if _, err := remote.Move(ctx, "alpha/made/y.txt", "beta-x/y.txt", nil); fault.CodeOf(err) != fault.ReadOnly {
		t.Errorf("a move to a server: %v", err)
	}
	for _, id := range []string{"x", "beta-x:1", "alpha:", ":"} {
		if _, err := remote.Undo(ctx, id, nil); err == nil {
			t.Errorf("undo %q", id)
		}
	}
}
