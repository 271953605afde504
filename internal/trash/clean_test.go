package trash

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quarry/internal/rootfs"
)

// Clean removes the leftovers of dead processes from a trash, and nothing else.
func TestClean(t *testing.T) {
	kinds(t, func(t *testing.T, d *desk) {
		d.write("a.md", "a")
		d.write("b.md", "b")
		d.put("a.md")
		record := func() string { // of the item in the trash
			var found string
			for _, dir := range []string{d.dir, d.data} {
				filepath.WalkDir(dir, func(p string, _ os.DirEntry, _ error) error {
					if filepath.Ext(p) == infoSuffix {
						found = p
					}
					return nil
				})
			}
			return found
		}()
		if record == "" {
			t.Skip("this trash has no records")
		}
		// Left by a process before a reboot.
		temp := filepath.Join(filepath.Dir(record), ".quarry-tmp-w-0badb007-00000000-1-1-000000000000000000000000")
		d.must(os.WriteFile(temp, []byte("[Trash"), 0o600))
		old := time.Now().Add(-2 * time.Hour) // systems without boot ids go by the file's age
		d.must(os.Chtimes(temp, old, old))
		stale := filepath.Join(filepath.Dir(record), "000000000000000000000000"+infoSuffix)
		d.must(os.WriteFile(stale, []byte(infoHead+"\nPath=b.md\n"), 0o600))
		d.must(os.Chtimes(stale, time.Time{}, time.Now().Add(-time.Hour)))
		res, err := d.bin.Clean(context.Background())
		if err != nil || len(res.Errors) > 0 {
			t.Fatal(err, res.Errors)
		}
		if _, err := os.Lstat(temp); err == nil {
			t.Error("the temporary record is still there")
		}
		// In a local trash all records are ours, so stale ones are removed.
		if _, err := os.Lstat(stale); (err == nil) == d.bin.local {
			t.Errorf("the record of nothing: %v", err)
		}
		items := d.list()
		if len(items) != 1 || !items[0].Inside {
			t.Fatalf("items: %+v", items)
		}
		if _, err := d.bin.Restore(items[0], rootfs.Path{}); err != nil || d.read("a.md") != "a" {
			t.Errorf("restore: %v", err)
		}
	})
}
