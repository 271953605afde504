package activity

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// all returns the contents of all files in a folder.
func all(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(data)
	}
	return b.String()
}

// Two servers write while a page follows. A purge removes every byte, and they go on.
func TestFollowAndPurge(t *testing.T) {
	dir := t.TempDir()
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if text := all(t, dir); text != "" {
		t.Errorf("before the first call there is %q", text)
	}
	f := Follow(dir)
	now := time.Now()
	a.Called(Call{Time: now, Client: "a", Tool: "search_files", About: "needle", Millis: 5, Bytes: 100})
	b.Called(Call{Time: now.Add(-time.Second), Client: "b", Tool: "edit_file", Error: "CONFLICT"})
	if last, _, err := f.Look(); err != nil || last != 2 {
		t.Fatalf("Look = %d, %v", last, err)
	}
	got := f.Since(0, 10)
	if len(got) != 2 || got[0].Client != "b" || got[0].Error != "CONFLICT" || got[1].About != "needle" || got[1].N != 2 {
		t.Errorf("calls = %+v", got)
	}
	a.Called(Call{Time: now, Client: "a", Tool: "read_file"})
	if last, epoch, err := f.Look(); err != nil || last != 3 || epoch != 0 || len(f.Since(2, 10)) != 1 {
		t.Errorf("after one more: %d in epoch %d, %v", last, epoch, err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("others can read %s: %v", name, err)
		}
	}
	if err := f.Purge(); err != nil {
		t.Fatal(err)
	}
	if text := all(t, dir); text != "" {
		t.Errorf("after a purge there is %q", text)
	}
	if _, epoch, _ := f.Look(); epoch == 0 || len(f.Since(0, 10)) != 0 {
		t.Errorf("after a purge: epoch %d, %+v", epoch, f.Since(0, 10))
	}
	a.Called(Call{Time: now, Client: "a", Tool: "after"})
	if _, _, err := f.Look(); err != nil || len(f.Since(0, 10)) != 1 || f.Since(0, 10)[0].Tool != "after" {
		t.Errorf("a call after it: %+v, %v", f.Since(0, 10), err)
	}
}

// A file keeps the newest lines within its limit, and lines expire after a day.
func TestRingAndAge(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := time.Now()
	s.now = func() time.Time { return now }
	f := Follow(dir)
	f.now = s.now
	about := strings.Repeat("x", 150)
	for i := range 9000 {
		s.Called(Call{Time: now, Client: "a", Tool: fmt.Sprint(i), About: about})
	}
	if n := len(all(t, dir)); n > maxFile || n < maxFile/3 {
		t.Errorf("%d bytes", n)
	}
	if _, _, err := f.Look(); err != nil {
		t.Fatal(err)
	}
	got := f.Since(0, 10)
	if len(got) != 10 || got[9].Tool != "8999" || got[0].Tool != "8990" {
		t.Errorf("the last are %+v", got)
	}
	now = now.Add(Kept + time.Minute)
	if _, _, err := f.Look(); err != nil || len(f.Since(0, 10)) != 0 {
		t.Errorf("after a day: %d, %v", len(f.Since(0, 10)), err)
	}
	s.Called(Call{Time: now, Client: "a", Tool: "new"})
	if n := strings.Count(all(t, dir), "\n"); n != 1 {
		t.Errorf("%d lines after a day", n)
	}
}

func TestAbout(t *testing.T) {
	closed := func(p string) bool { return strings.HasPrefix(p, "private") || strings.HasSuffix(p, ".env") }
	for _, c := range []struct{ args, want string }{
		{`{"path": "src/a.go", "content": "the text of the file"}`, "src/a.go"},
		{`{"query": "needle", "file_pattern": "*.go"}`, "needle · *.go"},
		{`{"path": "private/plan.txt"}`, "(closed)"},
		{`{"path": "./private/plan.txt", "query": "x"}`, "(closed) · x"},
		{`{"query": "what is in private/plan.txt?"}`, "(closed)"},
		{`{"glob": "**/.env"}`, "(closed)"},
		{`{"paths": ["a.txt", "b.txt"]}`, "a.txt b.txt"},
		{`{"changes": [{"path": "private/x"}, {}]}`, "2 changes"},
		{`{"path": "` + strings.Repeat("é", 100) + `"}`, strings.Repeat("é", 40) + "…"},
		{`{"path": "a\u001b[31m\nb"}`, `a\x1b[31m b`}, {`[]`, ""}, {`{`, ""}, {`{"path": 3}`, ""},
	} {
		if got := About(json.RawMessage(c.args), closed); got != c.want {
			t.Errorf("About(%s) = %q, want %q", c.args, got, c.want)
		}
	}
}
