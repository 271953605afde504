//go:build windows && !portable

package rootfs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"quarry/fault"
	system "quarry/internal/rootfs/windows"
	"quarry/internal/stress"
)

func TestResolveWindows(t *testing.T) {
	dir := workspace(t, "Notes/Read Me.md", "a/b.txt", "longer than eight.markdown", ".git/config", ".env", "keys/id_rsa", "../outside/f")
	r := openRoot(t, dir, nil)
	for _, c := range []struct{ user, want string }{
		{`a\b.txt`, "a/b.txt"},
		{`A\B.TXT`, "a/b.txt"},
		{`.\a\.\b.txt`, "a/b.txt"},
		{dir + `\a\b.txt`, "a/b.txt"},
		{strings.ToUpper(dir) + `/A/b.txt`, "a/b.txt"},
		{`\\?\` + dir + `\a\b.txt`, "a/b.txt"},
		{filepath.ToSlash(dir) + "/notes/read me.md", "Notes/Read Me.md"},
		{`notes\new\file.md`, "Notes/new/file.md"},
		{`NOTES\Neu.md`, "Notes/Neu.md"},
		{`a\`, "a"},
		{`\`, "."},
	} {
		p, err := r.Resolve(c.user)
		if err != nil || p.String() != c.want {
			t.Errorf("Resolve(%q) = %v, %v, want %s", c.user, p, err, c.want)
		}
	}
	for _, c := range []struct {
		user string
		want error
	}{
		{`..\outside\f`, fault.OutsideRoot}, {`a\..\..\outside\f`, fault.OutsideRoot}, {`C:\Windows\win.ini`, fault.OutsideRoot}, {`c:/windows/win.ini`, fault.OutsideRoot},
		{`\\server\share\f`, fault.OutsideRoot}, {`\\?\C:\f`, fault.OutsideRoot}, {`\\.\PhysicalDrive0`, fault.OutsideRoot}, {`\\?\GLOBALROOT\Device\x\f`, fault.OutsideRoot},
		{dir + `-evil\f`, fault.OutsideRoot}, {`C:a`, fault.InvalidArgument}, {`C:`, fault.InvalidArgument}, {`a\b.txt:s`, fault.InvalidArgument}, {`a\b.txt::$DATA`, fault.InvalidArgument},
		{`a:$I30:$INDEX_ALLOCATION\b.txt`, fault.InvalidArgument}, {`CON`, fault.InvalidArgument}, {`a\nul.txt`, fault.InvalidArgument}, {`com1`, fault.InvalidArgument},
		{`LPT9.md`, fault.InvalidArgument}, {`COM¹`, fault.InvalidArgument}, {`conin$`, fault.InvalidArgument}, {`aux .c`, fault.InvalidArgument}, {`a\b.txt.`, fault.InvalidArgument},
		{`a\b.txt `, fault.InvalidArgument}, {`a.\b.txt`, fault.InvalidArgument}, {`a\b?`, fault.InvalidArgument}, {`a\*`, fault.InvalidArgument}, {"a\\b\x01", fault.InvalidArgument},
		{`.GIT\config`, fault.ProtectedPath}, {`.git.\config`, fault.ProtectedPath}, {`GIT~1\config`, fault.ProtectedPath}, {`.git::$INDEX_ALLOCATION\config`, fault.ProtectedPath},
		{`.ENV`, fault.ProtectedPath}, {`.env::$DATA`, fault.ProtectedPath}, {`KEYS\ID_RSA`, fault.ProtectedPath}, {dir + `\.git\config`, fault.ProtectedPath},
	} {
		_, err := r.Resolve(c.user)
		wantKind(t, c.user, err, c.want)
	}
	if p, err := r.ResolveEntry(`NOTES\READ ME.md`); err != nil || p.String() != "Notes/Read Me.md" {
		t.Errorf("an entry has the spelling of the disk: %v, %v", p, err)
	}
	if p, err := r.ResolveTarget(`NOTES\READ ME.md`); err != nil || p.String() != "Notes/READ ME.md" {
		t.Errorf("a target keeps the case it was typed in: %v, %v", p, err)
	}
}

// A short name is resolved to the long one, to which the policy is applied.
func TestShortNames(t *testing.T) {
	dir := workspace(t, "longer than eight.markdown", "credentials-of-mine.pem")
	r := openRoot(t, dir, nil)
	short := func(name string) string {
		buf := make([]uint16, 300)
		long, _ := windows.UTF16PtrFromString(filepath.Join(dir, name))
		n, err := windows.GetShortPathName(long, &buf[0], uint32(len(buf)))
		got := filepath.Base(windows.UTF16ToString(buf[:n]))
		if err != nil || strings.EqualFold(got, name) {
			t.Skip("this volume has no short names")
		}
		return got
	}
	if p, err := r.Resolve(short("longer than eight.markdown")); err != nil || p.String() != "longer than eight.markdown" {
		t.Errorf("%v, %v", p, err)
	}
	_, err := r.Resolve(short("credentials-of-mine.pem"))
	wantKind(t, "the short name of a secret", err, fault.ProtectedPath)
}

func TestReplaceWindows(t *testing.T) {
	dir := workspace(t, "f")
	r := openRoot(t, dir, nil)
	p := at(t, r, "f")
	set := func(text string) (Replaced, error) { return r.Replace(p, []byte(text), Version{}, nil) }
	path := filepath.Join(dir, "f")
	name, err := windows.UTF16PtrFromString(path)
	must(t, err)
	must(t, windows.SetFileAttributes(name, windows.FILE_ATTRIBUTE_HIDDEN|windows.FILE_ATTRIBUTE_ARCHIVE))
	before, err := r.Stat(p)
	must(t, err)
	res, err := set("new")
	if err != nil || res.InPlace || content(t, path) != "new" {
		t.Fatalf("%+v, %v, content %q", res, err, content(t, path))
	}
	if a, err := windows.GetFileAttributes(name); err != nil || a&windows.FILE_ATTRIBUTE_HIDDEN == 0 {
		t.Errorf("attributes %#x, %v: it was hidden", a, err)
	}
	if after, err := r.Stat(p); err != nil || !after.BirthTime.Equal(before.BirthTime) && !stress.UnderWine() {
		t.Errorf("born %v, was %v, %v", after.BirthTime, before.BirthTime, err)
	}
	onlyNames(t, dir, "f")

	// Other programs have the file open in different sharing modes.
	open := func(share uint32) windows.Handle {
		h, err := windows.CreateFile(name, windows.GENERIC_READ, share, nil, windows.OPEN_EXISTING, 0, 0)
		must(t, err)
		return h
	}
	h := open(windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE)
	_, err = set("reader that shares all")
	windows.CloseHandle(h)
	if err != nil {
		t.Errorf("a reader that shares all: %v", err)
	}
	h = open(windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE)
	res, err = set("reader that keeps the name")
	windows.CloseHandle(h)
	if err != nil || !res.InPlace {
		t.Errorf("a reader that keeps the name: in place %v, %v", res.InPlace, err)
	}
	h = open(windows.FILE_SHARE_READ)
	_, err = set("reader that keeps out writers")
	windows.CloseHandle(h)
	wantKind(t, "a reader that keeps out writers", err, fault.Conflict)
	if content(t, path) != "reader that keeps the name" {
		t.Errorf("content %q", content(t, path))
	}
	onlyNames(t, dir, "f")

	must(t, os.Chmod(path, 0o444))
	_, err = set("read-only")
	wantKind(t, "a read-only file", err, fault.Permission)
	must(t, os.Chmod(path, 0o644))
	must(t, os.Link(path, path+"2"))
	if res, err := set("two names"); err != nil || !res.InPlace || content(t, path+"2") != "two names" {
		t.Errorf("a file of two names: %+v, %v", res, err)
	}
}

// Streams, such as the origin of a download, are kept.
func TestReplaceKeepsStreams(t *testing.T) {
	dir := workspace(t, "f")
	stream := filepath.Join(dir, "f") + ":Zone.Identifier"
	if err := os.WriteFile(stream, []byte("[ZoneTransfer]\r\nZoneId=3\r\n"), 0o644); err != nil {
		t.Skip("no streams on this file system")
	}
	r := openRoot(t, dir, nil)
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Skip("streams are files here")
	}
	_, err := r.Replace(at(t, r, "f"), []byte("new"), Version{}, nil)
	must(t, err)
	if content(t, stream) != "[ZoneTransfer]\r\nZoneId=3\r\n" {
		t.Errorf("the stream holds %q", content(t, stream))
	}
}

func TestChangesWindows(t *testing.T) {
	dir := workspace(t, "a/f", "CASE.md", "b/x")
	r := openRoot(t, dir, nil)
	entry := func(s string) Path {
		p, err := r.ResolveTarget(s)
		must(t, err)
		return p
	}
	must(t, r.Rename(entry("CASE.md"), entry("case.md")))
	must(t, r.Rename(entry("a/f"), entry("b/g")))
	must(t, r.Rename(entry("b"), entry("a/b2")))
	if content(t, dir+"/a/b2/g") != "a/f" {
		t.Error("content changed")
	}
	wantKind(t, "over another", r.Rename(entry("a/b2/g"), entry("case.md")), fault.AlreadyExists)
	_, _, err := r.Create(at(t, r, "CASE.MD"), nil, nil)
	wantKind(t, "create in another case", err, fault.AlreadyExists)
	_, _, err = r.Create(at(t, r, "new.md"), []byte("text"), nil)
	must(t, err)
	must(t, r.Mkdir(at(t, r, "d")))
	wantKind(t, "a folder that is there", r.Mkdir(at(t, r, "D")), fault.AlreadyExists)
	wantKind(t, "a full folder", r.Remove(at(t, r, "a")), fault.NotEmpty)
	must(t, r.RemoveAll(at(t, r, "a")))
	must(t, os.Chmod(dir+"/new.md", 0o444))
	must(t, r.Remove(at(t, r, "new.md")))
	if stress.UnderWine() { // where a name can't change its own case
		must(t, os.Rename(dir+"/CASE.md", dir+"/x"))
		must(t, os.Rename(dir+"/x", dir+"/case.md"))
	}
	onlyNames(t, dir, "case.md", "d")
}

// A junction made by another program is not followed.
func TestJunction(t *testing.T) {
	dir := workspace(t, "in/x", "../outside/f")
	r := openRoot(t, dir, nil)
	junction := func(name, target string) {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		if err := makeJunction(filepath.Join(dir, name), target); err != nil {
			t.Skipf("no junctions here: %v", err)
		}
	}
	junction("out", filepath.Join(filepath.Dir(dir), "outside"))
	junction("back", filepath.Join(dir, "in"))
	_, err := r.Resolve("out/f")
	wantKind(t, "through a junction", err, fault.OutsideRoot)
	if p, err := r.Resolve("back/x"); err != nil || p.String() != "in/x" {
		t.Errorf("a junction that stays inside: %v, %v", p, err)
	}
	_, err = r.OpenDir(Path{"out"})
	wantKind(t, "OpenDir of a junction", err, fault.OutsideRoot)
}

// makeJunction makes an empty folder a mount point.
func makeJunction(dir, target string) error {
	u, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return err
	}
	h, err := windows.CreateFile(u, windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	b := mountPoint(target)
	var n uint32
	if err := windows.DeviceIoControl(h, windows.FSCTL_SET_REPARSE_POINT, &b[0], uint32(len(b)), nil, 0, &n, nil); err != nil {
		return err
	}
	if tag, err := system.ReparseTag(h); err != nil || tag == 0 {
		return errors.New("the system ignored it")
	}
	return nil
}

// mountPoint makes the REPARSE_DATA_BUFFER of a junction: like a symlink's, without its flags.
func mountPoint(target string) []byte {
	b := system.ReparseOf(target)
	b = append(b[:16], append(b[20:], 0, 0)...)
	b[0], b[1], b[2], b[3] = 0x03, 0, 0, 0xA0
	n := len(b) - 8
	b[4], b[5] = byte(n), byte(n>>8)
	return b
}
