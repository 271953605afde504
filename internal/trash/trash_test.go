package trash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

// desk is a workspace with a trash.
type desk struct {
	t    testing.TB
	dir  string
	data string // XDG_DATA_HOME
	ws   *rootfs.Root
	bin  *Bin
}

func newDesk(t testing.TB, dir string, local bool, opts Options) *desk {
	t.Helper()
	d := &desk{t: t, dir: dir, data: opts.DataDir}
	var err error
	if d.ws, err = rootfs.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.ws.Close() })
	if local {
		d.bin = Local(d.ws, &opts)
	} else if d.bin, err = System(d.ws, &opts); err != nil {
		t.Skipf("no system trash here, set TMPDIR to a folder on a file system that has one: %v", err)
	}
	return d
}

// kinds runs a test with the home trash and with the local one.
func kinds(t *testing.T, f func(t *testing.T, d *desk)) {
	t.Run("home", func(t *testing.T) {
		f(t, newDesk(t, t.TempDir(), false, Options{DataDir: filepath.Join(t.TempDir(), "share")}))
	})
	t.Run("local", func(t *testing.T) { f(t, newDesk(t, t.TempDir(), true, Options{})) })
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	full := filepath.Join(d.dir, name)
	d.must(os.MkdirAll(filepath.Dir(full), 0o755))
	d.must(os.WriteFile(full, []byte(text), 0o644))
}

func (d *desk) path(name string) rootfs.Path {
	d.t.Helper()
	p, err := d.ws.ResolveEntry(name)
	d.must(err)
	return p
}

func (d *desk) put(name string) Item {
	d.t.Helper()
	item, err := d.bin.Put(context.Background(), d.path(name))
	d.must(err)
	return item
}

func (d *desk) list() []Item {
	d.t.Helper()
	items, skipped, err := d.bin.List()
	d.must(err)
	d.must(errors.Join(skipped...))
	return items
}

func (d *desk) read(name string) string {
	data, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		return "<" + err.Error() + ">"
	}
	return string(data)
}

func (d *desk) gone(name string) {
	d.t.Helper()
	if _, err := os.Lstat(filepath.Join(d.dir, name)); !os.IsNotExist(err) {
		d.t.Errorf("%q is still there (%v)", name, err)
	}
}

var oddNames = possible([]string{"plain.md", "with space.md", "Ünïcödé ☃.md", "new\nline", "100%.txt", "a\xffb", "-dash", "[x]", "tab\there",
	"no extension", ".hidden", "a.tar.gz", strings.Repeat("ä", 120) + ".md", strings.Repeat("x", 255), "quote\"'", "=Path=", "%41"})

// possible drops names that Windows can't store.
func possible(names []string) []string {
	if runtime.GOOS != "windows" {
		return names
	}
	return slices.DeleteFunc(names, func(n string) bool { return strings.ContainsAny(n, "\n\t\"") || !utf8.ValidString(n) })
}

func TestPutListRestore(t *testing.T) {
	kinds(t, func(t *testing.T, d *desk) {
		for i, name := range oddNames {
			d.write("dir/"+name, fmt.Sprint(i))
			before := time.Now().Add(-2 * time.Second)
			item := d.put("dir/" + name)
			d.gone("dir/" + name)
			found, err := d.bin.Find(item.ID)
			d.must(err)
			if !found.Inside || found.Path != d.path("dir/"+name) || found.Name != item.Name || found.Info.Size != int64(len(fmt.Sprint(i))) {
				t.Errorf("%q: Find = %+v", name, found)
			}
			if found.Deleted.Before(before) || found.Deleted.After(time.Now()) || !found.Deleted.Equal(item.Deleted) {
				t.Errorf("%q: deleted %v, Put said %v", name, found.Deleted, item.Deleted)
			}
		}
		if n := len(d.list()); n != len(oddNames) {
			t.Errorf("%d items, want %d", n, len(oddNames))
		}
		d.must(os.Remove(filepath.Join(d.dir, "dir"))) // restoring creates it again
		for _, item := range d.list() {
			if _, err := d.bin.Restore(item, rootfs.Path{}); err != nil {
				t.Errorf("restore %q: %v", item.Name, err)
			}
		}
		for i, name := range oddNames {
			if got := d.read("dir/" + name); got != fmt.Sprint(i) {
				t.Errorf("%q holds %q after restoring", name, got)
			}
		}
		if left := d.list(); len(left) != 0 {
			t.Errorf("left in the trash: %v", left)
		}
	})
}

func TestFoldersAndLinks(t *testing.T) {
	stress.NeedsUnix(t, "symlinks")
	kinds(t, func(t *testing.T, d *desk) {
		d.write("keep/target", "precious")
		d.write("folder/a/b/c.md", "deep")
		d.must(os.Symlink("../keep", filepath.Join(d.dir, "folder/link")))
		d.must(os.Symlink("keep", filepath.Join(d.dir, "toplink")))
		folder, link := d.put("folder"), d.put("toplink")
		d.gone("folder")
		d.gone("toplink")
		if got := d.read("keep/target"); got != "precious" {
			t.Errorf("trashing a link touched its target: %q", got)
		}
		if link.Info.Type != rootfs.TypeSymlink || folder.Info.Type != rootfs.TypeDir {
			t.Errorf("types %v, %v", link.Info.Type, folder.Info.Type)
		}
		for _, item := range []Item{folder, link} {
			if _, err := d.bin.Restore(item, rootfs.Path{}); err != nil {
				t.Fatal(err)
			}
		}
		if got := d.read("folder/a/b/c.md") + d.read("folder/link/target"); got != "deepprecious" {
			t.Errorf("after restoring: %q", got)
		}
		if target, err := os.Readlink(filepath.Join(d.dir, "toplink")); target != "keep" {
			t.Errorf("the link leads to %q, %v", target, err)
		}
	})
}

func TestCollisions(t *testing.T) {
	kinds(t, func(t *testing.T, d *desk) {
		var names []string
		for i := range 4 {
			d.write(fmt.Sprintf("d%d/W.md", i), fmt.Sprint(i))
			names = append(names, d.put(fmt.Sprintf("d%d/W.md", i)).Name)
		}
		if got := strings.Join(names, ","); got != "W.md,W 1.md,W 2.md,W 3.md" && (d.bin.local || runtime.GOOS != "windows") {
			t.Errorf("names in the trash: %s", got)
		}
		for _, item := range d.list() {
			_, err := d.bin.Restore(item, rootfs.Path{})
			d.must(err)
		}
		for i := range 4 {
			if got := d.read(fmt.Sprintf("d%d/W.md", i)); got != fmt.Sprint(i) {
				t.Errorf("d%d/W.md holds %q", i, got)
			}
		}
	})
}

func TestRestoreNeverOverwrites(t *testing.T) {
	kinds(t, func(t *testing.T, d *desk) {
		d.write("a/note.md", "old")
		item := d.put("a/note.md")
		d.write("a/note.md", "new")
		if _, err := d.bin.Restore(item, rootfs.Path{}); !errors.Is(err, fault.AlreadyExists) {
			t.Errorf("restore onto a file: %v", err)
		}
		if got := d.read("a/note.md"); got != "new" {
			t.Errorf("overwritten: %q", got)
		}
		if len(d.list()) != 1 {
			t.Error("a refused restore lost the item")
		}
		// A parent folder of the original path is now a file.
		d.must(os.RemoveAll(filepath.Join(d.dir, "a")))
		d.write("a", "a file now")
		if _, err := d.bin.Restore(item, rootfs.Path{}); err == nil {
			t.Error("restored into a file")
		}
		to, err := d.bin.Restore(item, d.path("elsewhere/x/note.md"))
		if err != nil || to.String() != "elsewhere/x/note.md" || d.read("elsewhere/x/note.md") != "old" {
			t.Errorf("restore elsewhere: %v, %v", to, err)
		}
		if _, err := d.bin.Restore(item, rootfs.Path{}); !errors.Is(err, ErrNotFound) {
			t.Errorf("second restore: %v", err)
		}
		if _, err := d.bin.Find(item.ID); !errors.Is(err, ErrNotFound) {
			t.Errorf("find after restore: %v", err)
		}
	})
}

func TestRefused(t *testing.T) {
	kinds(t, func(t *testing.T, d *desk) {
		d.write("repo/.git/config", "x")
		d.write("repo/a", "x")
		d.write("keys/deep/id_rsa", "x")
		for _, name := range []string{"repo", "keys"} {
			if _, err := d.bin.Put(context.Background(), d.path(name)); !errors.Is(err, fault.ProtectedPath) {
				t.Errorf("%s: %v, want protected", name, err)
			}
		}
		if d.read("repo/a")+d.read("repo/.git/config")+d.read("keys/deep/id_rsa") != "xxx" {
			t.Error("a refused folder was touched")
		}
		if _, err := d.bin.Put(context.Background(), rootfs.Path{}); err == nil {
			t.Error("the workspace itself was trashed")
		}
		if _, err := d.bin.Put(context.Background(), d.path("missing")); !errors.Is(err, fault.NotFound) {
			t.Errorf("missing: %v", err)
		}
		if n := len(d.list()); n != 0 {
			t.Errorf("%d items after refusals only", n)
		}
	})
}

// An error has the path that was to be deleted, not a path in the trash.
func TestRefusalNamesTheFile(t *testing.T) {
	d := newDesk(t, t.TempDir(), true, Options{})
	d.write("a", "")
	for _, c := range []struct {
		err  error
		want string
	}{
		{&fault.PathError{Op: "rename", Path: "files/a", Kind: fault.Permission, Err: errors.New("immutable")}, "trash a: permission denied: immutable"},
		{&fault.PathError{Op: "create", Path: "info/a", Kind: fault.ReadOnly}, "trash a: read-only: create info/a: read-only"},
		{ErrNoTrash, "trash a: " + ErrNoTrash.Error()},
	} {
		err := refused(d.path("a"), c.err)
		if err.Error() != c.want {
			t.Errorf("%q, want %q", err, c.want)
		}
		if rootfs.KindOf(err) != rootfs.KindOf(c.err) {
			t.Errorf("%v is another kind than %v", err, c.err)
		}
	}
}

func TestEmpty(t *testing.T) {
	kinds(t, func(t *testing.T, d *desk) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
		d.bin.opts.Now = func() time.Time { return now }
		for i := range 5 {
			d.write(fmt.Sprint("f", i), "x")
			d.put(fmt.Sprint("f", i))
			now = now.AddDate(0, 0, 1)
		}
		d.write("folder/x/y", "x")
		d.put("folder")
		gone, err := d.bin.Empty(context.Background(), EmptyOptions{Before: time.Date(2026, 3, 3, 0, 0, 0, 0, time.Local)})
		if err != nil || len(gone) != 2 || len(d.list()) != 4 {
			t.Errorf("older than 3 March: %v, %v; %d left", gone, err, len(d.list()))
		}
		gone, err = d.bin.Empty(context.Background(), EmptyOptions{})
		if err != nil || len(gone) != 4 || len(d.list()) != 0 {
			t.Errorf("all: %d, %v; %d left", len(gone), err, len(d.list()))
		}
	})
}

// Files that other programs deleted from other folders are listed. They are deleted only
// on request, and can't be restored outside the workspace.
func TestItemsFromElsewhere(t *testing.T) {
	stress.NeedsUnix(t, "records of the desktop's trash")
	data := t.TempDir()
	d := newDesk(t, t.TempDir(), false, Options{DataDir: data})
	other := newDesk(t, t.TempDir(), false, Options{DataDir: data})
	other.write("theirs", "1")
	other.put("theirs")
	d.write("ours", "2")
	d.put("ours")
	items := d.list()
	if len(items) != 2 {
		t.Fatalf("items: %v", items)
	}
	for _, item := range items {
		if item.Inside != (item.Name == "ours") {
			t.Errorf("%s: inside %v", item.Name, item.Inside)
		}
		if !item.Inside {
			if _, err := d.bin.Restore(item, rootfs.Path{}); !errors.Is(err, ErrNoOriginal) {
				t.Errorf("restore from elsewhere: %v", err)
			}
		}
	}
	if gone, err := d.bin.Empty(context.Background(), EmptyOptions{}); err != nil || len(gone) != 1 || gone[0].Name != "ours" {
		t.Errorf("empty: %v, %v", gone, err)
	}
	if gone, err := d.bin.Empty(context.Background(), EmptyOptions{Everything: true}); err != nil || len(gone) != 1 {
		t.Errorf("empty everything: %v, %v", gone, err)
	}
}

func TestLocalTrashOfObsidian(t *testing.T) {
	d := newDesk(t, t.TempDir(), true, Options{})
	d.write(".trash/old.md", "by Obsidian")
	d.write("old.md", "by us")
	item := d.put("old.md")
	if item.ID != ".trash/old 1.md" {
		t.Errorf("id %q", item.ID)
	}
	var visible []string
	entries, _ := os.ReadDir(filepath.Join(d.dir, ".trash"))
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			visible = append(visible, e.Name())
		}
	}
	if got := strings.Join(visible, ","); got != "old 1.md,old.md" {
		t.Errorf("visible in .trash: %s", got)
	}
	theirs, err := d.bin.Find(".trash/old.md")
	d.must(err)
	if theirs.Inside || theirs.Original != "" {
		t.Errorf("an item without record: %+v", theirs)
	}
	if _, err := d.bin.Restore(theirs, rootfs.Path{}); !errors.Is(err, ErrNoOriginal) {
		t.Errorf("restore without record: %v", err)
	}
	if _, err := d.bin.Restore(theirs, d.path("found.md")); err != nil || d.read("found.md") != "by Obsidian" {
		t.Errorf("restore with a destination: %v", err)
	}
	for _, inside := range []string{".trash", ".trash/old 1.md"} {
		if _, err := d.bin.Put(context.Background(), d.path(inside)); !errors.Is(err, fault.InvalidArgument) {
			t.Errorf("trashing %s: %v", inside, err)
		}
	}
	// The item was removed by hand, so its record is ignored.
	d.must(os.Remove(filepath.Join(d.dir, ".trash/old 1.md")))
	if n := len(d.list()); n != 0 {
		t.Errorf("%d items after emptying by hand", n)
	}
	d.write("old 1.md", "again")
	d.bin.opts.Now = func() time.Time { return time.Now().Add(time.Hour) }
	if item := d.put("old 1.md"); item.Name != "old 1.md" {
		t.Errorf("a stale record took the name: %q", item.Name)
	}
}

func TestLocalTrashMustBeAFolder(t *testing.T) {
	stress.NeedsUnix(t, "symlinks")
	d := newDesk(t, t.TempDir(), true, Options{})
	d.write("notes/x", "1")
	d.must(os.Symlink("notes", filepath.Join(d.dir, ".trash")))
	d.write("a", "2")
	if _, err := d.bin.Put(context.Background(), d.path("a")); !errors.Is(err, errNotAFolder) {
		t.Errorf("put into a symlink: %v", err)
	}
	if d.read("a") != "2" {
		t.Error("the file is gone")
	}
}

// If several processes delete files with the same name concurrently, all of them are in
// the trash.
func TestConcurrentPuts(t *testing.T) {
	kinds(t, func(t *testing.T, d *desk) {
		const n = 24
		for i := range n {
			d.write(fmt.Sprintf("d%d/same.md", i), fmt.Sprint(i))
		}
		var wg sync.WaitGroup
		errs := make([]error, n)
		for i := range n {
			wg.Add(1)
			go func() {
				defer wg.Done()
				ws, err := rootfs.Open(d.dir, nil) // like another process
				if err != nil {
					errs[i] = err
					return
				}
				defer ws.Close()
				bin := *d.bin
				bin.ws = ws
				p, err := ws.ResolveEntry(fmt.Sprintf("d%d/same.md", i))
				if err == nil {
					_, err = bin.Put(context.Background(), p)
				}
				errs[i] = err
			}()
		}
		wg.Wait()
		d.must(errors.Join(errs...))
		items := d.list()
		if len(items) != n {
			t.Fatalf("%d items, want %d", len(items), n)
		}
		for _, item := range items {
			_, err := d.bin.Restore(item, rootfs.Path{})
			d.must(err)
		}
		for i := range n {
			if got := d.read(fmt.Sprintf("d%d/same.md", i)); got != fmt.Sprint(i) {
				t.Errorf("d%d holds %q", i, got)
			}
		}
	})
}

func TestRecords(t *testing.T) {
	for _, c := range []struct {
		name, text, path, date string
	}{
		{"ours", "[Trash Info]\nPath=/a/b%20c\nDeletionDate=2004-08-31T22:32:08\n", "/a/b c", "2004-08-31 22:32:08"},
		{"order and comments", "[Trash Info]\n# x\nDeletionDate=2004-08-31T22:32:08\nPath=rel/x\n", "rel/x", "2004-08-31 22:32:08"},
		{"windows line ends", "[Trash Info]\r\nPath=/a\r\nDeletionDate=2004-08-31T22:32:08\r\n", "/a", "2004-08-31 22:32:08"},
		{"plain letters", "[Trash Info]\nPath=/ä b\n", "/ä b", ""},
		{"bad date", "[Trash Info]\nPath=/a\nDeletionDate=yesterday\n", "/a", ""},
		{"first path counts", "[Trash Info]\nPath=/a\nPath=/b\n", "/a", ""},
		{"newline", "[Trash Info]\nPath=/a%0Ab\n", "/a\nb", ""},
		{"no head", "Path=/a\n", "", ""},
		{"no path", "[Trash Info]\nDeletionDate=2004-08-31T22:32:08\n", "", ""},
		{"leaves the volume", "[Trash Info]\nPath=../x\n", "", ""},
		{"leaves it later", "[Trash Info]\nPath=a/../../x\n", "", ""},
		{"the top itself", "[Trash Info]\nPath=a/..\n", "", ""},
		{"NUL", "[Trash Info]\nPath=/a%00b\n", "", ""},
		{"half an escape", "[Trash Info]\nPath=/a%4\n", "", ""},
		{"empty", "", "", ""},
	} {
		r, err := parseRecord([]byte(c.text))
		date := ""
		if !r.deleted.IsZero() {
			date = r.deleted.Format("2006-01-02 15:04:05")
		}
		if r.path != c.path || date != c.date || (err == nil) != (c.path != "") {
			t.Errorf("%s: %q %s, %v; want %q %s", c.name, r.path, date, err, c.path, c.date)
		}
	}
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte("[Trash Info]\nPath=/a%20b\nDeletionDate=2004-08-31T22:32:08\n"))
	f.Add([]byte("[Trash Info]\r\nPath=a/../b\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseRecord(data)
		if err != nil {
			return
		}
		again, err := parseRecord(record{path: r.path, deleted: r.deleted}.encode())
		if err != nil || again.path != r.path || !r.deleted.IsZero() && !again.deleted.Equal(r.deleted) {
			t.Fatalf("%+v became %+v, %v", r, again, err)
		}
		if p := strings.TrimPrefix(r.path, "/"); p == ".." || strings.HasPrefix(p, "../") || strings.Contains(p, "/../") {
			t.Fatalf("path %q leaves", r.path)
		}
	})
}

// List sorts items with the same name correctly even if they were deleted within a
// second, the resolution of records.
func TestNewestFirstWithinASecond(t *testing.T) {
	at := time.Date(2026, 11, 16, 12, 0, 0, 0, time.Local)
	fixed := func() time.Time { return at }
	for _, d := range []*desk{
		newDesk(t, t.TempDir(), false, Options{DataDir: filepath.Join(t.TempDir(), "share"), Now: fixed}),
		newDesk(t, t.TempDir(), true, Options{Now: fixed}),
	} {
		var put []string
		for i := range 12 {
			d.write("x.md", fmt.Sprint(i))
			put = append([]string{d.put("x.md").ID}, put...)
		}
		var got []string
		for _, item := range d.list() {
			got = append(got, item.ID)
		}
		if fmt.Sprint(got) != fmt.Sprint(put) {
			t.Errorf("listed %q\nput %q, the last first", got, put)
		}
	}
}

// If a name is taken in macOS' trash, the time is added, as the Finder does.
func TestNamesInPlainTrash(t *testing.T) {
	c := &can{plain: true}
	at := time.Date(2026, 3, 4, 15, 4, 5, 0, time.Local)
	long := strings.Repeat("é", 140) // 280 bytes
	for _, k := range []struct {
		base string
		n    int
		want string
	}{
		{"W.md", 0, "W.md"},
		{"W.md", 1, "W 15.04.05.md"},
		{"W.md", 2, "W 15.04.05 2.md"},
		{"folder", 1, "folder 15.04.05"},
		{".env", 1, ".env 15.04.05"},
		{"a.tar.gz", 1, "a.tar 15.04.05.gz"},
		{long + ".md", 1, strings.Repeat("é", 121) + " 15.04.05.md"},
	} {
		if got := c.candidate(k.base, k.n, at); got != k.want || len(got) > 255 {
			t.Errorf("candidate(%q, %d) = %q, want %q", k.base, k.n, got, k.want)
		}
	}
}

// Without Full Disk Access macOS denies listing the trash. A folder without permissions
// behaves in the same way.
func TestClosed(t *testing.T) {
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("nothing is closed to root: run it as an ordinary user")
	}
	dir := t.TempDir()
	if closed(dir) || closed(filepath.Join(dir, "missing")) {
		t.Error("a folder that can be listed, or isn't there, is closed")
	}
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if !closed(dir) {
		t.Error("a folder that can't be opened isn't closed")
	}
}
