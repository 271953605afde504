package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"quarry/fault"
	"quarry/internal/stress"
)

// workspace makes a tree: "a/b" is a file containing its own name, "a/" a folder, "a ->
// b" a symlink.
func workspace(t testing.TB, entries ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	must(t, os.Mkdir(dir, 0o755))
	populate(t, dir, entries...)
	return dir
}

func populate(t testing.TB, dir string, entries ...string) {
	t.Helper()
	for _, e := range entries {
		name, target, link := strings.Cut(e, " -> ")
		full := dir + "/" + name
		must(t, os.MkdirAll(filepath.Dir(strings.TrimSuffix(full, "/")), 0o755))
		switch {
		case link:
			must(t, os.Symlink(target, full))
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(full, 0o755))
		default:
			must(t, os.WriteFile(full, []byte(name), 0o644))
		}
	}
}

// populateLinks adds symlinks if the system supports them, and reports whether it does.
func populateLinks(t testing.TB, dir string, entries ...string) bool {
	t.Helper()
	can := stress.CanLink(t)
	if can {
		populate(t, dir, entries...)
	}
	return can
}

// bits reduces a mode to the bits this system keeps: Windows only knows read-only.
func bits(mode fs.FileMode) fs.FileMode {
	if runtime.GOOS != "windows" {
		return mode
	}
	if mode&0o200 == 0 {
		return 0o444
	}
	return 0o666
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openRoot(t testing.TB, dir string, opts *Options) *Root {
	t.Helper()
	r, err := Open(dir, opts)
	must(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

func at(t testing.TB, r *Root, user string) Path {
	t.Helper()
	p, err := r.Resolve(user)
	must(t, err)
	return p
}

// wantKind fails unless err has the code want; nil means no error.
func wantKind(t testing.TB, what string, err error, want error) {
	t.Helper()
	if want == nil && err != nil || want != nil && !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

func TestResolve(t *testing.T) {
	stress.NeedsUnix(t, "symlinks and case")
	dir := workspace(t,
		"notes/a.md", "notes/sub/", `odd\name.txt`, `od\d/x`, "etc/",
		"link.md -> notes/a.md", "up/back -> ../notes", "loop1 -> loop2", "loop2 -> loop1",
		"out -> ..", "evil -> ../ws-evil", "abs -> /etc", "hide/app -> ../.obsidian", ".obsidian/app.json",
		"dangling -> nowhere/x", "selfloop -> .", "dotgit -> notes/../.git", ".env.d/x", "cfg -> .env", ".env",
		"venv/.env/bin/python",
	)
	populate(t, filepath.Dir(dir), "ws-evil/secret", "wslink -> ws")
	must(t, os.Symlink(dir+"/notes", dir+"/absin"))
	r := openRoot(t, dir, nil)
	r2 := openRoot(t, filepath.Dir(dir)+"/wslink", nil)
	deep := strings.Repeat("d/", 500) + "f"
	for _, c := range []struct {
		name, user, want string
		err              error
	}{
		{"the root", ".", ".", nil},
		{"nothing is the root", "", ".", nil},
		{"a slash is the root", "/", ".", nil},
		{"relative", "notes/a.md", "notes/a.md", nil},
		{"leading dot", "./notes/a.md", "notes/a.md", nil},
		{"leading slash of an existing folder", "/notes/a.md", "notes/a.md", nil},
		{"leading slash and a single name", "/new.md", "new.md", nil},
		{"trailing slash", "notes/", "notes", nil},
		{"doubled slashes", "notes//a.md", "notes/a.md", nil},
		{"backslashes", `notes\a.md`, "notes/a.md", nil},
		{"backslashes to a new file", `notes\new.md`, "notes/new.md", nil},
		{"backslash in an existing name", `odd\name.txt`, `odd\name.txt`, nil},
		{"new file in a folder with a backslash", `od\d/new`, `od\d/new`, nil},
		{"absolute", dir + "/notes/a.md", "notes/a.md", nil},
		{"absolute root", dir, ".", nil},
		{"inner dot-dot", "notes/../notes/a.md", "notes/a.md", nil},
		{"dot-dot is textual, not through the link", "up/back/../x", "up/x", nil},
		{"percent is a name", "%2e%2e/x", "%2e%2e/x", nil},
		{"tilde is a name", "~/x", "~/x", nil},
		{"bidi override is a name", "a\u202etxt", "a\u202etxt", nil},
		{"invalid UTF-8 is a name", "a\xff\xfe", "a\xff\xfe", nil},
		{"newline is a name", "a\nb", "a\nb", nil},
		{"reserved names of Windows are names here", "notes/CON", "notes/CON", nil},
		{"255 bytes", strings.Repeat("x", 255), strings.Repeat("x", 255), nil},
		{"500 deep", deep, deep, nil},
		{"5000 bytes", strings.Repeat("0123456789/", 500) + "f", strings.Repeat("0123456789/", 500) + "f", nil},
		{"symlink to a file", "link.md", "notes/a.md", nil},
		{"symlink to a folder", "up/back/a.md", "notes/a.md", nil},
		{"absolute symlink into the root", "absin/a.md", "notes/a.md", nil},
		{"dangling symlink", "dangling", "nowhere/x", nil},
		{"symlink to its own folder", "selfloop/selfloop/notes/a.md", "notes/a.md", nil},
		{"new file through a symlink", "up/back/new/deep.md", "notes/new/deep.md", nil},
		{"a folder called .env", "venv/.env/bin/python", "venv/.env/bin/python", nil},
		{"a folder called .env itself", "venv/.env", "venv/.env", nil},

		{"dot-dot", "..", "", fault.OutsideRoot},
		{"dot-dot and back in", "../ws/notes/a.md", "", fault.OutsideRoot},
		{"dot-dot in the middle", "notes/../../ws-evil/secret", "", fault.OutsideRoot},
		{"dot-dot with backslashes", `..\ws-evil\secret`, "", fault.OutsideRoot},
		{"mixed", `notes/..\..\ws-evil`, "", fault.OutsideRoot},
		{"absolute dot-dot", dir + "/../ws-evil/secret", "", fault.OutsideRoot},
		{"sibling with the same prefix", dir + "-evil/secret", "", fault.OutsideRoot},
		{"another absolute path", "/usr/bin/env", "", fault.OutsideRoot},
		{"drive letter", `C:\Windows\win.ini`, "", fault.OutsideRoot},
		{"symlink to the parent", "out/ws-evil/secret", "", fault.OutsideRoot},
		{"symlink to a sibling", "evil/secret", "", fault.OutsideRoot},
		{"absolute symlink", "abs/passwd", "", fault.OutsideRoot},
		{"new file through an escaping symlink", "evil/new/file", "", fault.OutsideRoot},
		{"NUL", "notes/a\x00.md", "", fault.InvalidArgument},
		{"256 bytes", strings.Repeat("x", 256), "", fault.InvalidArgument},
		{"70000 bytes", strings.Repeat("x/", 35000), "", fault.InvalidArgument},
		{"loop", "loop1", "", fault.InvalidArgument},
		{"through a file", "notes/a.md/x", "", fault.NotFolder},

		{"protected", ".obsidian/app.json", "", fault.ProtectedPath},
		{"protected folder itself", ".obsidian", "", fault.ProtectedPath},
		{"protected, other case", ".OBSIDIAN/app.json", "", fault.ProtectedPath},
		{"protected, not there yet", "notes/.git/config", "", fault.ProtectedPath},
		{"protected, deep", "a/b/c/.SmartHole/x", "", fault.ProtectedPath},
		{"protected through a symlink", "hide/app/app.json", "", fault.ProtectedPath},
		{"protected through a symlink, not there yet", "dotgit/config", "", fault.ProtectedPath},
		{"protected with backslashes", `notes\.git\config`, "", fault.ProtectedPath},
		{"cleaned first", ".obsidian/../notes/a.md", "notes/a.md", nil},
		{"secret", ".env", "", fault.ProtectedPath},
		{"secret through a symlink", "cfg", "", fault.ProtectedPath},
		{"secret, not there yet", "keys/server.pem", "", fault.ProtectedPath},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := r.Resolve(c.user)
			wantKind(t, "Resolve", err, c.err)
			if err == nil && p.String() != c.want {
				t.Errorf("Resolve(%q) = %q, want %q", c.user, p, c.want)
			}
			if err != nil {
				if strings.Contains(err.Error(), dir) && !strings.Contains(c.user, dir) {
					t.Errorf("the message shows the root: %v", err)
				}
				var e *fault.PathError
				if !errors.As(err, &e) {
					t.Errorf("%T, want *Error", err)
				}
			}
		})
	}
	if p, err := r2.Resolve(dir + "/notes/a.md"); err != nil || p.String() != "notes/a.md" {
		t.Errorf("real spelling of a symlinked root: %v, %v", p, err)
	}
	if p, err := r2.Resolve(r2.Dir() + "/notes/a.md"); err != nil || p.String() != "notes/a.md" {
		t.Errorf("given spelling of a symlinked root: %v, %v", p, err)
	}
	if p, err := r.ResolveEntry("up/back"); err != nil || p.String() != "up/back" {
		t.Errorf("ResolveEntry of a symlink = %v, %v; want the link itself", p, err)
	}
	if _, err := r.ResolveEntry("evil"); err != nil {
		t.Errorf("ResolveEntry of an escaping symlink: %v; removing it must be possible", err)
	}
	if _, err := r.ResolveEntry("evil/secret"); !errors.Is(err, fault.OutsideRoot) {
		t.Errorf("ResolveEntry through an escaping symlink: %v", err)
	}
}

func TestProtectedNamesTheFolder(t *testing.T) {
	r := openRoot(t, workspace(t), nil)
	for _, c := range []struct{ user, name string }{
		{"a/.OBSIDIAN/x", ".obsidian/"}, {"GIT~1/config", ".git/"}, {".smarthole. /x", ".smarthole/"},
		{"obsidi~2", ".obsidian/"}, {"k/id_rsa", "id_rsa"},
	} {
		_, err := r.Resolve(c.user)
		var e *fault.PathError
		if !errors.As(err, &e) || e.Kind != fault.ProtectedPath || e.Name != c.name {
			t.Errorf("Resolve(%q): %v, want it to name %q", c.user, err, c.name)
		}
	}
}

func TestResolveFold(t *testing.T) {
	stress.NeedsUnix(t, "symlinks and case")
	dir := workspace(t, "Notes/Read Me.md", "notes2/x", "A/same.md", "A/SAME.md", "caf\u00e9.md", "cafe\u0301 2.md",
		"Docs/one.md", "docs/Two.md", "both\u00e9/", "bothe\u0301/", "Evil -> ..")
	populate(t, filepath.Dir(dir), "outside.md")
	r := openRoot(t, dir, nil)
	for _, c := range []struct {
		user, want string
		err        error
	}{
		{"Notes/Read Me.md", "Notes/Read Me.md", nil},
		{"notes/read me.MD", "Notes/Read Me.md", nil},
		{"A/same.md", "A/same.md", nil},
		{"a/same.md", "", fault.AmbiguousPath},
		{"a/Same.md", "", fault.AmbiguousPath},
		{"cafe\u0301.md", "caf\u00e9.md", nil},
		{"caf\u00e9 2.md", "cafe\u0301 2.md", nil},
		{"CAF\u00c9.md", "caf\u00e9.md", nil},
		{"docs/ONE.md", "Docs/one.md", nil},
		{"DOCS/two.md", "docs/Two.md", nil},
		{"both\u00e9", "both\u00e9", nil},
		{"BOTH\u00c9", "", fault.AmbiguousPath},
		{"missing.md", "", fault.NotFound},
		{"evil/outside.md", "", fault.NotFound},
		{".GIT/config", "", fault.ProtectedPath},
	} {
		p, err := r.ResolveFold(c.user)
		wantKind(t, "ResolveFold "+c.user, err, c.err)
		if err == nil && p.String() != c.want {
			t.Errorf("ResolveFold(%q) = %q, want %q", c.user, p, c.want)
		}
	}
}

func TestChildAndKnown(t *testing.T) {
	r := openRoot(t, workspace(t), nil)
	for _, name := range []string{"", ".", "..", "a/b", "a\x00", strings.Repeat("x", 256)} {
		if _, err := (Path{}).Child(name); !errors.Is(err, fault.InvalidArgument) {
			t.Errorf("Child(%q): %v", name, err)
		}
	}
	for _, s := range []string{"", "/", "a/", "/a", "a//b", "../a", "a/./b", "a\x00b"} {
		if _, err := r.Known(s); !errors.Is(err, fault.InvalidArgument) {
			t.Errorf("Known(%q): %v", s, err)
		}
	}
	if _, err := r.Known("a/.git/config"); !errors.Is(err, fault.ProtectedPath) {
		t.Errorf("Known in .git: %v", err)
	}
	p, err := at(t, r, "a").Child("b\xff")
	if err != nil || p.String() != "a/b\xff" || p.Base() != "b\xff" || p.Dir().String() != "a" || p.Depth() != 2 {
		t.Errorf("Child = %q, %v", p, err)
	}
	if !p.Beneath(p.Dir()) || !p.Beneath(Path{}) || at(t, r, "ab").Beneath(p.Dir()) {
		t.Error("Beneath is wrong")
	}
}

func TestOpenRefusesWideRoots(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for _, dir := range []string{"/", home, home + "/./"} {
		if _, err := Open(dir, nil); !errors.Is(err, errIsTop) && !errors.Is(err, errIsHome) {
			t.Errorf("Open(%q) = %v", dir, err)
		}
		r, err := Open(dir, &Options{AllowAny: true})
		if err != nil {
			t.Errorf("Open(%q) allowed: %v", dir, err)
			continue
		}
		r.Close()
	}
	for _, dir := range []string{"", home + "/missing"} {
		if _, err := Open(dir, nil); err == nil {
			t.Errorf("Open(%q) succeeded", dir)
		}
	}
}

func FuzzResolve(f *testing.F) {
	dir := workspace(f, "a/b/c", "l -> a", "up -> ..", ".git/config", "g -> .git", "x -> /etc", `b\s`)
	populate(f, filepath.Dir(dir), "secret")
	r := openRoot(f, dir, nil)
	for _, s := range []string{"../secret", "up/secret", "g/config", ".g\u200cit/config", `a\..\..\secret`, "l/../..", "x/passwd",
		dir + "/a", dir + "-x", "a/b/c/d", "\x00", "GIT~1/config", strings.Repeat("../", 40), "l/b/c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, user string) {
		p, err := r.Resolve(user)
		if err != nil {
			var e *fault.PathError
			if !errors.As(err, &e) {
				t.Fatalf("Resolve(%q): %T", user, err)
			}
			return
		}
		if err := checkRel(p.s); err != nil {
			t.Fatalf("Resolve(%q) = %q: %v", user, p, err)
		}
		for name := range strings.SplitSeq(strings.ToLower(p.s), "/") {
			if name == ".git" || name == ".obsidian" {
				t.Fatalf("Resolve(%q) = %q", user, p)
			}
		}
		if p2, err := r.Resolve(p.String()); err != nil || p2 != p && !strings.Contains(user, `\`) {
			t.Fatalf("Resolve(%q) = %q, and again %q, %v", user, p, p2, err)
		}
		if f, err := r.OpenFile(p); err == nil {
			b := make([]byte, 16)
			n, _ := f.Read(b)
			f.Close()
			if got := string(b[:n]); got != "a/b/c" && got != `b\s` {
				t.Fatalf("Resolve(%q) = %q opened %q", user, p, got)
			}
		}
	})
}
