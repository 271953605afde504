//go:build unix

package rootfs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPrivate(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, c := range []struct {
		name    string
		prepare func(dir string) string
		want    string // part of the error; "" means no error
	}{
		{"plain", func(dir string) string { return dir + "/state/quarry/ws" }, ""},
		{"others may write", func(dir string) string {
			must(t, os.Chmod(dir+"/state/quarry/ws", 0o777))
			return dir + "/state/quarry/ws"
		}, "may write"},
		{"the group may write", func(dir string) string {
			must(t, os.Chmod(dir+"/state/quarry/ws", 0o770))
			return dir + "/state/quarry/ws"
		}, "may write"},
		{"others may write to the parent", func(dir string) string {
			must(t, os.Chmod(dir+"/state/quarry", 0o777))
			return dir + "/state/quarry/ws"
		}, "may write"},
		{"a sticky parent", func(dir string) string {
			must(t, os.Chmod(dir+"/state/quarry", 0o777|os.ModeSticky))
			return dir + "/state/quarry/ws"
		}, ""},
		{"others may write further up", func(dir string) string { must(t, os.Chmod(dir+"/state", 0o777)); return dir + "/state/quarry/ws" }, "may write"},
		{"a sticky folder further up", func(dir string) string {
			must(t, os.Chmod(dir+"/state", 0o777|os.ModeSticky))
			return dir + "/state/quarry/ws"
		}, ""},
		{"a symlink", func(dir string) string {
			must(t, os.Symlink("ws", dir+"/state/quarry/link"))
			return dir + "/state/quarry/link"
		}, "symlink"},
		{"a symlink as parent", func(dir string) string {
			must(t, os.Symlink("quarry", dir+"/state/link"))
			return dir + "/state/link/ws"
		}, "symlink"},
		{"a symlink further up", func(dir string) string { must(t, os.Symlink("state", dir+"/link")); return dir + "/link/quarry/ws" }, ""},
		{"someone else's", func(dir string) string {
			if os.Geteuid() != 0 {
				return ""
			}
			must(t, os.Chown(dir+"/state/quarry", 4711, 4711))
			return dir + "/state/quarry/ws"
		}, "another user"},
	} {
		dir := filepath.Join(top, strings.ReplaceAll(c.name, " ", "-"))
		must(t, os.MkdirAll(dir+"/state/quarry/ws", 0o700))
		at := c.prepare(dir)
		if at == "" {
			continue // needs root
		}
		r, err := Open(at, &Options{Trusted: true, AllowAny: true, Private: true})
		if err == nil {
			r.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
