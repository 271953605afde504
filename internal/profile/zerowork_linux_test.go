package profile_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"quarry"
	"quarry/internal/profile"
)

// opens counts the files opened below a folder, as reported by the kernel. This measures
// the work of an answer regardless of the machine's load.
type opens struct{ fd int }

func countOpens(t *testing.T, dir string) opens {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Skipf("no inotify instance is free: end a program that watches files, or raise fs.inotify.max_user_instances: %v", err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_, err = unix.InotifyAddWatch(fd, path, unix.IN_OPEN)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	o := opens{fd}
	o.take() // discard the files opened by the walk
	return o
}

// take returns and resets the count. A folder has two watches, its own and its parent's,
// so it counts twice.
func (o opens) take() (n int) {
	buf := make([]byte, 64<<10)
	for {
		size, err := unix.Read(o.fd, buf)
		if err != nil || size <= 0 {
			return n
		}
		for at := 0; at+unix.SizeofInotifyEvent <= size; n++ {
			at += unix.SizeofInotifyEvent + int(uint32(buf[at+12])|uint32(buf[at+13])<<8)
		}
	}
}

// With an index, an empty answer names the ignored files that contain the word at any
// depth. No other files are read.
func TestZeroFindsIgnoredFilesByTheIndex(t *testing.T) {
	f := fixture{
		files: map[string]string{".gitignore": "out/\n*.o\n", "src/d77/lib/deep/out/gen/table.c": "needle_in_ignored\n", "src/d12/lib/deep/x.o": "another_needle\n"},
		opts:  quarry.Options{Index: &quarry.IndexOptions{Dir: t.TempDir()}},
	}
	for i := range 1500 {
		f.files[fmt.Sprintf("src/d%d/lib/deep/f%d.c", i%100, i)] = fmt.Sprintf("int value_%d;\n", i)
	}
	ws := f.make(t)
	if err := ws.Index().Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := tools(t, ws, profile.Options{})
	work := countOpens(t, ws.Dir())
	for _, c := range []struct{ word, want string }{
		{"needle_in_ignored", "with include_ignored 1 file matches (src/d77/lib/deep/out/gen/table.c)"},
		{"another_needle", "with include_ignored 1 file matches (src/d12/lib/deep/x.o)"},
		{"nowhere_at_all", "searched the whole workspace"},
	} {
		work.take()
		text := call(t, r, "search_files", fmt.Sprintf(`{"regex":%q}`, c.word)).Text
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: %s; want %q", c.word, text, c.want)
		}
		// A walk opens 1,900 files and folders; these lookups open a few candidates.
		if n := work.take(); n > 100 {
			t.Errorf("%s: %d files and folders were opened", c.word, n)
		}
	}
	work.take()
	text := call(t, r, "search_by_path", `{"pattern":"table.c"}`).Text
	if n := work.take(); !strings.Contains(text, "with include_ignored 1 file matches (src/d77/lib/deep/out/gen/table.c)") || n > 100 {
		t.Errorf("search_by_path: %d opened: %s", n, text)
	}
}
