//go:build !portable

package rootfs

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"quarry/fault"
	"quarry/internal/rootfs/version"
	"quarry/internal/stress"
)

// All operations on files work for paths longer than 260 characters, whether or not long
// paths are enabled in the system.
func TestLongPaths(t *testing.T) {
	ws := t.TempDir()
	r := openRoot(t, ws, nil)
	dir := Path{}
	for i := range 10 {
		var err error
		dir, err = dir.Child(fmt.Sprintf("%d%s", i, strings.Repeat("long", 10)))
		must(t, err)
		must(t, r.Mkdir(dir))
	}
	file, err := r.Resolve(dir.String() + "/file.md")
	must(t, err)
	if n := len(ws) + len(file.String()); n < 400 {
		t.Fatalf("the path has %d characters only", n)
	}
	_, _, err = r.Create(file, []byte("one"), nil)
	must(t, err)
	if res, err := r.Replace(file, []byte("two"), version.Of([]byte("one")), nil); err != nil || res.InPlace {
		t.Errorf("replace: %+v, %v", res, err)
	}
	to, err := r.ResolveTarget(dir.String() + "/other.md")
	must(t, err)
	must(t, r.Rename(file, to))
	f, err := r.OpenFile(to)
	must(t, err)
	data, err := f.readAll("other.md", 100)
	f.Close()
	if string(data) != "two" || err != nil {
		t.Errorf("read %q, %v", data, err)
	}
	// A typed absolute path with backslashes. Wine 8 can't return the true spelling, because
	// its GetFinalPathNameByHandle is limited to 260 characters.
	typed := strings.ReplaceAll(to.String(), "/", `\`)
	if !stress.UnderWine() {
		typed = strings.ToUpper(typed)
	}
	typed = filepath.Join(ws, typed)
	for _, prefix := range []string{"", `\\?\`} {
		if p, err := r.Resolve(prefix + typed); err != nil || p != to {
			t.Errorf("Resolve(%s…) = %v, %v", prefix, p, err)
		}
	}
	must(t, r.Remove(to))
	must(t, r.RemoveAll(Path{strings.Split(dir.String(), "/")[0]}))
	onlyNames(t, ws)
}

// A root may be given in any of the system's spellings. It is the same folder, and paths in
// other spellings of the root are inside.
func TestRootByOtherNames(t *testing.T) {
	ws := workspace(t, "Notes/a.md", "../outside/f")
	short := make([]uint16, 300)
	long, err := windows.UTF16PtrFromString(ws)
	must(t, err)
	n, err := windows.GetShortPathName(long, &short[0], uint32(len(short)))
	must(t, err)
	want, err := openRoot(t, ws, nil).Place()
	must(t, err)
	for _, dir := range []string{`\\?\` + ws, strings.ToUpper(ws), filepath.ToSlash(ws), ws + `\`, ws + `\Notes\..`, windows.UTF16ToString(short[:n])} {
		r, err := Open(dir, nil)
		if err != nil {
			t.Errorf("Open(%s): %v", dir, err)
			continue
		}
		if place, err := r.Place(); err != nil || place != want {
			t.Errorf("Open(%s) is %v, %v, want %v", dir, place, err, want)
		}
		for _, typed := range []string{`notes\A.MD`, ws + `\Notes\a.md`, `\\?\` + ws + `\Notes\a.md`} {
			if p, err := r.Resolve(typed); err != nil || p.String() != "Notes/a.md" {
				t.Errorf("root %s: Resolve(%s) = %v, %v", dir, typed, p, err)
			}
		}
		_, err = r.Resolve(filepath.Dir(ws) + `\outside\f`)
		wantKind(t, "outside of "+dir, err, fault.OutsideRoot)
		r.Close()
	}
}

// An edit keeps the access list of a file that has one of its own.
func TestReplaceKeepsRights(t *testing.T) {
	ws := workspace(t, "f")
	path := filepath.Join(ws, "f")
	const parts = windows.DACL_SECURITY_INFORMATION | windows.OWNER_SECURITY_INFORMATION
	now := func() *windows.SECURITY_DESCRIPTOR {
		sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, parts)
		must(t, err)
		return sd
	}
	plain := now()
	owner, _, err := plain.Owner()
	must(t, err)
	// Only the owner has access, and nothing is inherited from the folder.
	sd, err := windows.SecurityDescriptorFromString("D:P(A;;FA;;;" + owner.String() + ")")
	must(t, err)
	dacl, _, err := sd.DACL()
	must(t, err)
	must(t, windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, dacl, nil))
	own := now().String()
	if own == plain.String() {
		t.Skip("this file system keeps no access lists")
	}
	r := openRoot(t, ws, nil)
	res, err := r.Replace(at(t, r, "f"), []byte("new"), Version{}, nil)
	if err != nil || content(t, path) != "new" {
		t.Fatalf("%+v, %v", res, err)
	}
	if got := now().String(); got != own {
		t.Errorf("rights after the edit\n%s, before\n%s", got, own)
	}
}

// Another process has the file open, in each sharing mode: an edit succeeds, or fails and changes nothing,
// and the other process keeps reading the file it opened.
func TestReplaceWhileAnotherProcessHasIt(t *testing.T) {
	if path := os.Getenv("ROOTFS_HOLD"); path != "" {
		holdFile(path)
		return
	}
	for _, c := range []struct {
		name          string
		access, share uint32
		want          error
	}{
		{"reads and shares all", windows.GENERIC_READ, 7, nil},
		{"reads, keeps the name", windows.GENERIC_READ, 3, nil},
		{"reads, keeps out writers", windows.GENERIC_READ, 1, fault.Conflict},
		{"reads alone", windows.GENERIC_READ, 0, fault.Conflict},
		{"writes and shares all", windows.GENERIC_READ | windows.GENERIC_WRITE, 7, nil},
		{"writes alone", windows.GENERIC_WRITE, 0, fault.Conflict},
	} {
		t.Run(c.name, func(t *testing.T) {
			ws := workspace(t, "f")
			path := filepath.Join(ws, "f")
			must(t, os.WriteFile(path, []byte("old"), 0o644))
			child := exec.Command(os.Args[0], "-test.run=^TestReplaceWhileAnotherProcessHasIt$")
			child.Env = append(os.Environ(), "ROOTFS_HOLD="+path, fmt.Sprintf("ROOTFS_HOW=%d %d", c.access, c.share))
			child.Stderr = os.Stderr
			in, err := child.StdinPipe()
			must(t, err)
			out, err := child.StdoutPipe()
			must(t, err)
			must(t, child.Start())
			lines := bufio.NewScanner(out)
			if !lines.Scan() || lines.Text() != "open" {
				t.Fatalf("the other process says %q", lines.Text())
			}
			r := openRoot(t, ws, nil)
			_, err = r.Replace(at(t, r, "f"), []byte("new"), Version{}, nil)
			in.Close()
			for lines.Scan() {
			}
			must(t, child.Wait())
			if c.want == nil {
				must(t, err)
			} else {
				wantKind(t, c.name, err, c.want)
			}
			want := map[bool]string{true: "new", false: "old"}[c.want == nil]
			if got := content(t, path); got != want {
				t.Errorf("the file holds %q, want %q", got, want)
			}
			onlyNames(t, ws, "f")
		})
	}
}

// holdFile keeps a file open until its standard input ends.
func holdFile(path string) {
	var access, share uint32
	fmt.Sscan(os.Getenv("ROOTFS_HOW"), &access, &share)
	name, _ := windows.UTF16PtrFromString(path)
	h, err := windows.CreateFile(name, access, share, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("open")
	bufio.NewScanner(os.Stdin).Scan()
	windows.CloseHandle(h)
	os.Exit(0)
}

// On a full disk the old content stays, no temporary file remains, and the error names the
// cause. QUARRY_SMALL_DISK is a folder on a volume of a few megabytes.
func TestDiskFull(t *testing.T) {
	disk := os.Getenv("QUARRY_SMALL_DISK")
	if disk == "" {
		t.Skip("no small volume: set QUARRY_SMALL_DISK to a folder on one (mount -t tmpfs -o size=2m)")
	}
	ws, err := os.MkdirTemp(disk, "ws")
	must(t, err)
	defer os.RemoveAll(ws)
	must(t, os.WriteFile(filepath.Join(ws, "f"), []byte("old"), 0o644))
	r := openRoot(t, ws, nil)
	full := []byte(strings.Repeat("x", 64<<20))
	_, err = r.Replace(at(t, r, "f"), full, Version{}, nil)
	if err == nil || !errors.Is(err, windows.ERROR_DISK_FULL) && !errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) {
		t.Errorf("replace: %v, want that the disk is full", err)
	}
	if got := content(t, filepath.Join(ws, "f")); got != "old" {
		t.Errorf("the file has %d bytes, want the old ones", len(got))
	}
	if _, _, err := r.Create(at(t, r, "g"), full, nil); err == nil {
		t.Error("create: no error")
	}
	onlyNames(t, ws, "f")
	if _, err := r.Replace(at(t, r, "f"), []byte("new"), Version{}, nil); err != nil {
		t.Errorf("a small edit afterwards: %v", err)
	}
}

// The attributes of a file are kept, in all combinations that the file system supports.
func TestReplaceKeepsAttributes(t *testing.T) {
	ws := workspace(t, "f")
	r := openRoot(t, ws, nil)
	p := at(t, r, "f")
	name, err := windows.UTF16PtrFromString(filepath.Join(ws, "f"))
	must(t, err)
	for _, c := range []struct {
		name string
		bits uint32
	}{
		{"none", windows.FILE_ATTRIBUTE_NORMAL},
		{"hidden", windows.FILE_ATTRIBUTE_HIDDEN},
		{"system", windows.FILE_ATTRIBUTE_SYSTEM},
		{"hidden and system", windows.FILE_ATTRIBUTE_HIDDEN | windows.FILE_ATTRIBUTE_SYSTEM},
		{"not indexed", windows.FILE_ATTRIBUTE_NOT_CONTENT_INDEXED},
	} {
		must(t, windows.SetFileAttributes(name, c.bits))
		before, err := windows.GetFileAttributes(name)
		must(t, err)
		if before&c.bits != c.bits {
			if stress.UnderWine() {
				t.Logf("%s: Wine keeps %#x only", c.name, before)
				continue
			}
			t.Fatalf("%s: the system keeps %#x", c.name, before)
		}
		if _, err := r.Replace(p, []byte(c.name), Version{}, nil); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		// A new file has the archive attribute; all others are kept.
		const archive = windows.FILE_ATTRIBUTE_ARCHIVE | windows.FILE_ATTRIBUTE_NORMAL
		if after, err := windows.GetFileAttributes(name); err != nil || after&^archive != before&^archive {
			t.Errorf("%s: attributes %#x, were %#x, %v", c.name, after, before, err)
		}
	}
}
