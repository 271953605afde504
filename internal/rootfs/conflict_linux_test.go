//go:build linux && !portable

package rootfs

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"quarry/fault"
	"quarry/internal/rootfs/file"
	"quarry/internal/rootfs/linux"
	"quarry/internal/rootfs/version"
)

func conflictCopies(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(dir + "/*.conflict-*")
	must(t, err)
	var texts []string
	for _, f := range found {
		texts = append(texts, content(t, f))
	}
	return texts
}

// Another program writes to our new file before it is rolled back. Its content is kept.
func TestWriteToARetractedFile(t *testing.T) {
	dir := memoryDir(t)
	f := dir + "/f"
	must(t, os.WriteFile(f, []byte("old"), 0o644))
	r := openRoot(t, dir, nil)
	refuse := errors.New("no room in the journal")
	_, err := r.Replace(Path{"f"}, []byte("new"), Version{}, &ReplaceOptions{Keep: func(*File) error {
		out, err := os.OpenFile(f, os.O_WRONLY|os.O_APPEND, 0)
		must(t, err)
		_, err = out.WriteString(foreignText)
		must(t, err)
		must(t, out.Close())
		return refuse
	}})
	var copied *ConflictError
	if !errors.Is(err, refuse) || !errors.As(err, &copied) {
		t.Errorf("error %v, want Keep's and the copy's name", err)
	}
	if got := content(t, f); got != "old" {
		t.Errorf("the file holds %q", got)
	}
	if got := conflictCopies(t, dir); len(got) != 1 || got[0] != "new"+foreignText {
		t.Errorf("conflict copies %q", got)
	}
}

// Other programs rename a file before and after our exchange. The newest file gets the name,
// the other one is kept.
func TestTwoForeignVersions(t *testing.T) {
	dir := memoryDir(t)
	f := dir + "/f"
	save := func(text string) {
		must(t, os.WriteFile(f+"~", []byte(text), 0o644))
		must(t, os.Rename(f+"~", f))
	}
	must(t, os.WriteFile(f, []byte("old"), 0o644))
	r := openRoot(t, dir, nil)
	exchanges := 0
	r.sys.Layer = &Layer{Before: func(c string) error {
		if c == "exchange" {
			switch exchanges++; exchanges {
			case 1:
				save("first")
			case 2:
				save("second")
			}
		}
		return nil
	}}
	_, err := r.Replace(Path{"f"}, []byte("new"), Version{}, nil)
	wantKind(t, "Replace", err, fault.Conflict)
	if got := content(t, f); got != "second" {
		t.Errorf("the file holds %q", got)
	}
	if got := conflictCopies(t, dir); len(got) != 1 || got[0] != "first" {
		t.Errorf("conflict copies %q", got)
	}
}

// A program looks up the file before the exchange and opens it afterwards, simulated by a
// handle without access (O_PATH) that is opened again.
func TestLateWriter(t *testing.T) {
	dir := memoryDir(t)
	f := dir + "/f"
	must(t, os.WriteFile(f, []byte("old"), 0o644))
	rescued := make(chan Path, 1)
	r := openRoot(t, dir, &Options{Rescued: func(p Path) { rescued <- p }})
	look, err := syscall.Open(f, linux.FlagsLook, 0)
	must(t, err)
	defer syscall.Close(look)
	res, err := r.Replace(Path{"f"}, []byte("new"), Version{}, nil)
	must(t, err)
	if res.New != version.Of([]byte("new")) {
		t.Errorf("%+v", res)
	}
	if r.FSKind() != FSLocal {
		t.Skip("no leases on this file system")
	}
	late, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(look), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = late.WriteString(foreignText)
	must(t, err)
	must(t, late.Close())
	select {
	case p := <-rescued:
		if got := content(t, dir+"/"+p.String()); got != "old"+foreignText {
			t.Errorf("the copy holds %q", got)
		}
	case <-time.After(time.Minute):
		t.Error("the late text was not rescued")
	}
	if content(t, f) != "new" {
		t.Error("the new content is gone")
	}
}

// Several of our processes take turns in a folder.
func TestReplacementsTakeTurns(t *testing.T) {
	dir := memoryDir(t)
	f := dir + "/f"
	must(t, os.WriteFile(f, []byte("old"), 0o644))
	r, other := openRoot(t, dir, nil), openRoot(t, dir, nil)
	result := make(chan error, 1)
	r.sys.Layer = &Layer{Before: func(c string) error {
		if c == "exchange" {
			go func() {
				_, err := other.Replace(Path{"f"}, []byte("other"), version.Of([]byte("old")), nil)
				result <- err
			}()
			select {
			case err := <-result:
				t.Errorf("the other did not wait: %v", err)
				result <- err
			case <-time.After(30 * time.Millisecond):
			}
		}
		return nil
	}}
	_, err := r.Replace(Path{"f"}, []byte("new"), version.Of([]byte("old")), nil)
	must(t, err)
	wantKind(t, "the second", <-result, fault.Conflict)
	if content(t, f) != "new" {
		t.Errorf("the file holds %q", content(t, f))
	}
}

// A file that another program keeps open for writing is not replaced.
func TestReplaceOfABusyFile(t *testing.T) {
	dir := memoryDir(t)
	f := dir + "/f"
	must(t, os.WriteFile(f, []byte("old"), 0o644))
	r := openRoot(t, dir, nil)
	w, err := os.OpenFile(f, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = r.Replace(Path{"f"}, []byte("new"), Version{}, nil)
	wantKind(t, "Replace", err, fault.Conflict)
	if !errors.Is(err, file.ErrBusy) || !strings.Contains(err.Error(), "open for writing") {
		t.Errorf("error %v", err)
	}
	_, err = w.WriteString(" and more")
	must(t, err)
	must(t, w.Close())
	if content(t, f) != "old and more" {
		t.Errorf("the file holds %q", content(t, f))
	}
	_, err = r.Replace(Path{"f"}, []byte("new"), Version{}, nil)
	must(t, err)
}
