package changer_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/search"
)

// If the owner denies any path, a caller can't read the workspace's trash: it may contain
// files that the owner deleted from a denied folder, under their bare names. Deleting,
// undoing and restoring still work.
func TestTrashIsClosedWhereSomethingIsDenied(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"private/q.txt": "hush\n", "mine.txt": "mine\n", "other.txt": "other\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	open := func(deny ...string) *quarry.Workspace {
		ws, err := quarry.Open(dir, &quarry.Options{StateDir: state, Trash: change.TrashLocal, Deny: deny})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ws.Close() })
		return ws
	}
	owner, agent := open(), open("private/**")
	if _, err := owner.Delete(t.Context(), "private/q.txt", nil); err != nil {
		t.Fatal(err)
	}
	if text, err := owner.Read(t.Context(), ".trash/q.txt", nil); err != nil || len(text.Lines) != 1 {
		t.Fatalf("the owner reads .trash/q.txt: %v", err)
	}
	if err := os.Symlink(".trash/q.txt", filepath.Join(dir, "link.txt")); err != nil {
		t.Skip("no symlinks: ", err)
	}
	for _, path := range []string{".trash/q.txt", ".trash", "./.TRASH/q.txt", "link.txt", ".trash/.quarry"} {
		_, err := agent.Read(t.Context(), path, nil)
		if code := fault.CodeOf(err); err == nil || code != fault.ProtectedPath && code != fault.NotFound {
			t.Errorf("read %s: %v", path, err)
		}
		r, err := agent.Search(t.Context(), search.Query{Pattern: "hush", Scope: search.Scope{Paths: []string{path}, IncludeHidden: true, IncludeIgnored: true, FollowLinks: true}})
		if err == nil && r.FilesMatched > 0 {
			t.Errorf("search in %s finds %d", path, r.FilesMatched)
		}
	}
	if _, err := agent.Move(t.Context(), ".trash/q.txt", "stolen.txt", nil); fault.CodeOf(err) != fault.ProtectedPath {
		t.Errorf("move out of .trash: %v", err)
	}
	r, err := agent.Search(t.Context(), search.Query{Pattern: "hush", Scope: search.Scope{IncludeHidden: true, IncludeIgnored: true, FollowLinks: true}})
	if err != nil || r.FilesMatched > 0 {
		t.Errorf("search finds %v, %v", r, err)
	}
	// The caller's own deletions still go to .trash and can be undone.
	c, err := agent.Delete(t.Context(), "mine.txt", nil)
	if err != nil || !strings.HasPrefix(c.Trash.Where, ".trash/") {
		t.Fatalf("delete: %+v, %v", c, err)
	}
	if _, err := agent.Undo(t.Context(), c.ID, nil); err != nil {
		t.Errorf("undo: %v", err)
	}
	if c, err = agent.Delete(t.Context(), "other.txt", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := agent.RestoreTrashed(t.Context(), c.Trash.Where, "", nil); err != nil {
		t.Errorf("restore: %v", err)
	}
	for _, name := range []string{"mine.txt", "other.txt"} {
		if _, err := os.Stat(filepath.Join(dir, name)); errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s did not come back", name)
		}
	}
}
