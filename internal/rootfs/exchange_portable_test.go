//go:build (!linux && !windows) || portable

package rootfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"quarry/internal/rootfs/file"
)

// Another program renames its own file over ours before and after the exchange. The newest
// file gets the name, and no content of the program is lost.
func TestExchangeOver(t *testing.T) {
	for _, c := range []struct {
		name    string
		saves   []string // before each exchange; "-" deletes the file
		want    string
		copies  int
		changes bool // our change is made
	}{
		{"nobody", nil, "new", 0, true},
		{"one before the exchange", []string{"first"}, "first", 0, false},
		{"one before and one after it", []string{"first", "second"}, "second", 1, false},
		{"one before, then the file is deleted", []string{"first", "-"}, "first", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := workspace(t, "f")
			r := openRoot(t, ws, nil)
			path := filepath.Join(ws, "f")
			must(t, os.WriteFile(path, []byte("old"), 0o644))
			must(t, os.WriteFile(path+".new", []byte("new"), 0o644))
			dir, base, err := r.sys.openParent("f")
			must(t, err)
			defer dir.Close()
			same := func(name string) error {
				if content(t, filepath.Join(ws, name)) != "old" {
					return file.ErrMeanwhile
				}
				return nil
			}
			calls := 0
			err = exchangeOver(dir, "f.new", base, same, func(a, b string) error {
				if calls++; calls <= len(c.saves) {
					if text := c.saves[calls-1]; text == "-" {
						must(t, os.Remove(path))
					} else {
						must(t, os.WriteFile(path+"~", []byte(text), 0o644))
						must(t, os.Rename(path+"~", path))
					}
				}
				return dir.Exchange(a, b)
			})
			if errors.Is(err, file.ErrNoExchange) {
				t.Skip("this file system can't exchange files")
			}
			if (err == nil) != c.changes || err != nil && !errors.Is(err, file.ErrMeanwhile) {
				t.Errorf("error %v", err)
			}
			if got := content(t, path); got != c.want {
				t.Errorf("the file holds %q, want %q", got, c.want)
			}
			conflict := new(ConflictError)
			if errors.As(err, &conflict) != (c.copies > 0) {
				t.Errorf("error %v, want %d copies", err, c.copies)
			} else if c.copies > 0 && content(t, filepath.Join(ws, conflict.Copy)) != "first" {
				t.Errorf("the copy holds %q", content(t, filepath.Join(ws, conflict.Copy)))
			}
		})
	}
}
