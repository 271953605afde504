package rootfs

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quarry/fault"
	"quarry/internal/rootfs/version"
	"quarry/internal/stress"
)

func content(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

// onlyNames fails unless dir holds exactly these names.
func onlyNames(t testing.TB, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s holds %q, want %q", filepath.Base(dir), got, want)
	}
}

func TestReplace(t *testing.T) {
	dir := workspace(t, "d/f")
	must(t, os.Chmod(dir+"/d/f", 0o751))
	r := openRoot(t, dir, nil)
	p, names := at(t, r, "d/f"), []string{"f"}
	linked := populateLinks(t, dir, "d/link -> f")
	if linked {
		p, names = at(t, r, "d/link"), []string{"f", "link"}
	}
	data, v, info, err := r.ReadFile(p, 100)
	must(t, err)
	if string(data) != "d/f" || v != version.Of(data) || info.Size != 3 || info.Mode != bits(0o751) {
		t.Fatalf("ReadFile = %q, %v, %+v", data, v, info)
	}
	var kept []byte
	res, err := r.Replace(p, []byte("new content"), v, &ReplaceOptions{Keep: func(old *File) (err error) {
		kept, err = io.ReadAll(old)
		return err
	}})
	must(t, err)
	if res.Old != v || res.New != version.Of([]byte("new content")) || res.Unchanged || res.InPlace || res.Info.Size != 11 || res.Info.Mode != bits(0o751) {
		t.Errorf("Replaced = %+v", res)
	}
	if string(kept) != "d/f" {
		t.Errorf("Keep was shown %q", kept)
	}
	if got := content(t, dir+"/d/f"); got != "new content" {
		t.Errorf("content %q", got)
	}
	if st, _ := os.Lstat(dir + "/d/link"); linked && st.Mode()&os.ModeSymlink == 0 {
		t.Error("the symlink was replaced")
	}
	_, err = r.Replace(p, []byte("x"), v, nil)
	wantKind(t, "a stale version", err, fault.Conflict)
	res, err = r.Replace(p, []byte("new content"), Version{}, nil)
	if err != nil || !res.Unchanged {
		t.Errorf("equal content: %+v, %v", res, err)
	}
	failure := errors.New("journal is full")
	_, err = r.Replace(p, []byte("x"), res.New, &ReplaceOptions{Keep: func(*File) error { return failure }})
	if !errors.Is(err, failure) {
		t.Errorf("Keep's error: %v", err)
	}
	if got := content(t, dir+"/d/f"); got != "new content" {
		t.Errorf("after a failed Keep: %q", got)
	}
	_, err = r.Replace(at(t, r, "none"), []byte("x"), Version{}, nil)
	wantKind(t, "no file", err, fault.NotFound)
	_, err = r.Replace(at(t, r, "d"), []byte("x"), Version{}, nil)
	wantKind(t, "a folder", err, fault.NotRegular)
	_, err = r.Replace(Path{}, []byte("x"), Version{}, nil)
	wantKind(t, "the root", err, fault.InvalidArgument)
	_, err = r.Replace(Path{".git/config"}, []byte("x"), Version{}, nil)
	wantKind(t, "a protected file", err, fault.ProtectedPath)
	_, _, _, err = r.ReadFile(p, 5)
	wantKind(t, "a limit", err, fault.TooLarge)
	onlyNames(t, dir+"/d", names...)

	ro := openRoot(t, dir, &Options{ReadOnly: true})
	for what, err := range map[string]error{
		"Replace": second(ro.Replace(p, nil, Version{}, nil)), "Create": third(ro.Create(Path{"x"}, nil, nil)), "Mkdir": ro.Mkdir(Path{"x"}),
		"MkdirAll": second(ro.MkdirAll(Path{"x"})), "Remove": ro.Remove(p), "RemoveAll": ro.RemoveAll(p), "Rename": ro.Rename(p, Path{"x"}),
	} {
		wantKind(t, what+" on a read-only root", err, fault.ReadOnly)
	}
}

func third[T, U any](_ T, _ U, err error) error { return err }

func TestVersion(t *testing.T) {
	v := version.Of([]byte("abc"))
	if v.String() != "ba7816bf8f01cfea414140de5dae2223" { // the start of SHA-256("abc")
		t.Errorf("VersionOf = %v", v)
	}
	if w, err := version.Parse(v.String()); err != nil || w != v {
		t.Errorf("ParseVersion = %v, %v", w, err)
	}
	for _, bad := range []string{"", "ba78", strings.Repeat("g", 32), strings.Repeat("0", 33)} {
		if _, err := version.Parse(bad); err == nil {
			t.Errorf("version.Parse(%q) succeeded", bad)
		}
	}
}

// splice is the reference implementation, for a byte slice.
func splice(old []byte, edits []Edit) []byte {
	var out []byte
	at := int64(0)
	for _, e := range edits {
		out = append(append(out, old[at:e.Off]...), e.Data...)
		at = e.Off + e.Len
	}
	return append(out, old[at:]...)
}

func TestSpliceAgreesWithReference(t *testing.T) {
	dir := workspace(t)
	r := openRoot(t, dir, nil)
	rnd := rand.New(rand.NewPCG(1, 2))
	rounds := 150
	if testing.Short() {
		rounds = 40
	}
	for round := range rounds {
		size := rnd.IntN(100)
		if round%5 == 0 {
			size = rnd.IntN(1 << 20) // several steps of pour
		}
		old := make([]byte, size)
		for i := range old {
			old[i] = byte(rnd.Uint32())
		}
		var edits []Edit
		for at := rnd.IntN(size + 1); at <= size && len(edits) < 20; at += rnd.IntN(size/4 + 2) {
			n := rnd.IntN(min(size-at, size/8+1) + 1)
			edits = append(edits, Edit{Off: int64(at), Len: int64(n), Data: bytes.Repeat([]byte{byte(round)}, rnd.IntN(5)*rnd.IntN(5))})
			at += n
		}
		must(t, os.WriteFile(dir+"/f", old, 0o644))
		res, err := r.Splice(Path{"f"}, edits, version.Of(old), nil)
		must(t, err)
		want := splice(old, edits)
		if got := content(t, dir+"/f"); got != string(want) || res.New != version.Of(want) || res.Old != version.Of(old) {
			t.Fatalf("round %d, size %d: %d edits give %d bytes, want %d; %+v", round, size, len(edits), len(got), len(want), res)
		}
	}
	must(t, os.WriteFile(dir+"/f", []byte("0123456789"), 0o644))
	for _, bad := range [][]Edit{{{Off: 5, Len: 6}}, {{Off: -1}}, {{Off: 11}}, {{Off: 0, Len: -1}}, {{Off: 4, Len: 2}, {Off: 5}}, {{Off: 5}, {Off: 4}}, {{Off: 1, Len: 1<<63 - 1}}} {
		_, err := r.Splice(Path{"f"}, bad, Version{}, nil)
		wantKind(t, "bad edits", err, fault.InvalidArgument)
	}
	// The file was longer when the edit was planned.
	_, err := r.Splice(Path{"f"}, []Edit{{Off: 12, Data: []byte("x")}}, version.Of([]byte("0123456789ab")), nil)
	wantKind(t, "a file that has become shorter", err, fault.Conflict)
	onlyNames(t, dir, "f")
}

func TestCreateAndRemove(t *testing.T) {
	dir := workspace(t, "d/f", "keep/.git/config", "tree/a/b")
	linked := populateLinks(t, dir, "l -> d/f", "tree/l -> ../d")
	r := openRoot(t, dir, nil)
	v, info, err := r.Create(at(t, r, "d/new"), []byte("hello"), nil)
	must(t, err)
	if v != version.Of([]byte("hello")) || info.Size != 5 || content(t, dir+"/d/new") != "hello" {
		t.Errorf("Create = %v, %+v", v, info)
	}
	_, info, err = r.Create(at(t, r, "d/exec"), nil, &CreateOptions{Mode: 0o700})
	if err != nil || info.Mode != bits(0o700) {
		t.Errorf("Create with a mode = %+v, %v", info, err)
	}
	_, _, err = r.Create(at(t, r, "d/f"), []byte("x"), nil)
	wantKind(t, "Create over a file", err, fault.AlreadyExists)
	if linked {
		_, _, err = r.Create(Path{"l"}, []byte("x"), nil)
		wantKind(t, "Create over a symlink", err, fault.AlreadyExists)
		must(t, r.Remove(Path{"l"}))
	}
	_, _, err = r.Create(at(t, r, "none/x"), []byte("x"), nil)
	wantKind(t, "Create in no folder", err, fault.NotFound)
	_, _, err = r.Create(Path{"a/.obsidian"}, []byte("x"), nil)
	wantKind(t, "Create of a protected name", err, fault.ProtectedPath)
	_, _, err = r.Create(Path{".env"}, []byte("x"), nil)
	wantKind(t, "Create of a secret name", err, fault.ProtectedPath)

	made, err := r.MkdirAll(at(t, r, "m/n/o"))
	if err != nil || len(made) != 3 || made[0].String() != "m" || made[2].String() != "m/n/o" {
		t.Errorf("MkdirAll = %v, %v", made, err)
	}
	if made, err := r.MkdirAll(at(t, r, "m/n/o")); err != nil || made != nil {
		t.Errorf("MkdirAll again = %v, %v", made, err)
	}
	wantKind(t, "Mkdir again", r.Mkdir(at(t, r, "m")), fault.AlreadyExists)
	wantKind(t, "Mkdir of a protected name", r.Mkdir(Path{"m/.GIT"}), fault.ProtectedPath)
	_, err = r.MkdirAll(Path{"d/f/x"})
	wantKind(t, "MkdirAll through a file", err, fault.NotFolder)
	_, err = r.MkdirAll(Path{"d/f"})
	wantKind(t, "MkdirAll over a file", err, fault.AlreadyExists)

	wantKind(t, "Remove of a full folder", r.Remove(at(t, r, "m")), fault.NotEmpty)
	must(t, r.Remove(at(t, r, "m/n/o")))
	must(t, r.Remove(at(t, r, "d/new")))
	wantKind(t, "Remove of nothing", r.Remove(at(t, r, "d/new")), fault.NotFound)
	wantKind(t, "Remove of the root", r.Remove(Path{}), fault.InvalidArgument)
	wantKind(t, "RemoveAll of the root", r.RemoveAll(Path{}), fault.InvalidArgument)
	wantKind(t, "RemoveAll around a protected folder", r.RemoveAll(at(t, r, "keep")), fault.ProtectedPath)
	must(t, r.RemoveAll(at(t, r, "tree")))
	must(t, r.RemoveAll(at(t, r, "d/exec")))
	wantKind(t, "RemoveAll of nothing", r.RemoveAll(at(t, r, "tree")), fault.NotFound)
	onlyNames(t, dir, "d", "keep", "m")
	onlyNames(t, dir+"/d", "f")
	if content(t, dir+"/keep/.git/config") != "keep/.git/config" {
		t.Error("a protected file changed")
	}
}

func TestRename(t *testing.T) {
	stress.NeedsUnix(t, "names that differ in case only") // TestChangesWindows has the rest
	dir := workspace(t, "a/f", "a/sub/x", "b/", "l -> a/f", "CASE.md", "hard")
	must(t, os.Link(dir+"/hard", dir+"/HARD"))
	r := openRoot(t, dir, nil)
	entry := func(s string) Path {
		p, err := r.ResolveEntry(s)
		must(t, err)
		return p
	}
	must(t, r.Rename(entry("a/f"), entry("b/g")))
	if content(t, dir+"/b/g") != "a/f" {
		t.Error("content changed")
	}
	must(t, r.Rename(entry("CASE.md"), entry("case.md")))
	must(t, r.Rename(entry("l"), entry("b/l")))
	if s, err := os.Readlink(dir + "/b/l"); err != nil || s != "a/f" {
		t.Errorf("the symlink became %q, %v", s, err)
	}
	must(t, r.Rename(entry("a"), entry("b/a2")))
	if content(t, dir+"/b/a2/sub/x") != "a/sub/x" {
		t.Error("folder content changed")
	}
	for _, c := range []struct {
		from, to string
		want     error
	}{
		{"b/g", "case.md", fault.AlreadyExists},
		{"b/g", "b/a2", fault.AlreadyExists},
		{"b/g", "b/g", fault.AlreadyExists},
		{"hard", "HARD", fault.AlreadyExists},
		{"b", "b/a2/sub/b", fault.InvalidArgument},
		{"none", "x", fault.NotFound},
		{"b/g", "none/x", fault.NotFound},
		{"b/g", ".Git", fault.ProtectedPath},
		{"b/g", "x.pem", fault.ProtectedPath},
		{".", "x", fault.InvalidArgument},
		{"b/g", ".", fault.InvalidArgument},
	} {
		from, to := Path{c.from}, Path{c.to}
		if c.from == "." {
			from = Path{}
		}
		if c.to == "." {
			to = Path{}
		}
		wantKind(t, c.from+" to "+c.to, r.Rename(from, to), c.want)
	}
	onlyNames(t, dir, "HARD", "b", "case.md", "hard")
	onlyNames(t, dir+"/b", "a2", "g", "l")
}
