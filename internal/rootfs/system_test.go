package rootfs

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"quarry/fault"
)

func TestReadSystem(t *testing.T) {
	dir := workspace(t, ".git/info/exclude", ".git/config", "sub/.obsidian/app.json", "link/.git -> ../.git", "k.md")
	r := openRoot(t, dir, nil)
	if b, err := r.ReadSystem(Path{}, ".git/info/exclude"); err != nil || string(b) != ".git/info/exclude" {
		t.Errorf("exclude = %q, %v", b, err)
	}
	if b, err := r.ReadSystem(at(t, r, "sub"), ".obsidian/app.json"); err != nil || string(b) != "sub/.obsidian/app.json" {
		t.Errorf("app.json = %q, %v", b, err)
	}
	for _, c := range []struct {
		dir, rel string
		want     error
	}{
		{"", ".git/config", fault.ProtectedPath}, {"", "k.md", fault.ProtectedPath}, {"", ".git/../.git/info/exclude", fault.ProtectedPath}, {"", "../x", fault.ProtectedPath},
		{"sub", ".git/info/exclude", fault.NotFound}, {"link", ".git/info/exclude", fault.NotFolder}, {"none", ".git/info/exclude", fault.NotFound},
	} {
		if c.dir == "link" && runtime.GOOS == "windows" {
			continue // no symlink was made
		}
		_, err := r.ReadSystem(Path{c.dir}, c.rel)
		wantKind(t, c.dir+" "+c.rel, err, c.want)
	}
}

func TestErrorsSayEnough(t *testing.T) {
	r := openRoot(t, workspace(t, "f", "A", "a2"), nil)
	for _, c := range []struct {
		err  error
		code string
		text string
	}{
		{second(r.Resolve("../x")), "OUTSIDE_ROOT", "resolve ../x: outside the root: the path leads out of the root"},
		{second(r.Resolve(".git/x")), "PROTECTED_PATH", "resolve .git/x: protected: .git/"},
		{second(r.Resolve("a\x00\n")), "INVALID_ARGUMENT", `resolve "a\x00\n": invalid path: a path can't contain a NUL byte`},
		{second(r.OpenFile(Path{"none"})), "NOT_FOUND", "open none: not found: no such file or directory"},
		{third(r.Create(Path{"f"}, nil, nil)), "ALREADY_EXISTS", "create f: already exists: file exists"},
		{os.ErrClosed, "IO_ERROR", "file already closed"},
	} {
		if got := string(KindOf(c.err).Code()); got != c.code {
			t.Errorf("%v has code %s, want %s", c.err, got, c.code)
		}
		if c.err.Error() != c.text && os.PathSeparator == '/' {
			t.Errorf("%q, want %q", c.err, c.text)
		}
	}
	if s := fault.Printable("a\u202eb\x1b[2J"); strings.ContainsAny(s, "\u202e\x1b") {
		t.Errorf("Printable lets control codes through: %q", s)
	}
	if s := fault.Printable("grüße 日本 ok.md"); s != "grüße 日本 ok.md" {
		t.Errorf("Printable changes a plain name: %q", s)
	}
}
