package stress_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"quarry"
	"quarry/internal/config"
	"quarry/internal/stress"
	"quarry/search"
)

// hostileKinds are things that may replace the small text file that a program expects. Each make
// function creates one at name. outside is a folder next to the workspace with secrets.
var hostileKinds = []struct {
	name string
	put  func(t *testing.T, name, outside string) error
}{
	{"link to a file outside", func(_ *testing.T, name, outside string) error { return os.Symlink(filepath.Join(outside, "f"), name) }},
	{"link to a folder outside", func(_ *testing.T, name, outside string) error { return os.Symlink(outside, name) }},
	{"link to itself", func(_ *testing.T, name, _ string) error { return os.Symlink(filepath.Base(name), name) }},
	{"link to /dev/zero", func(_ *testing.T, name, _ string) error { return os.Symlink("/dev/zero", name) }},
	{"link to a FIFO", func(_ *testing.T, name, outside string) error {
		return os.Symlink(filepath.Join(outside, "fifo"), name)
	}},
	{"FIFO", func(_ *testing.T, name, _ string) error { return unix.Mkfifo(name, 0o666) }},
	{"socket", func(t *testing.T, name, _ string) error {
		dir, err := os.Open(filepath.Dir(name)) // paths of sockets must be short
		if err != nil {
			return err
		}
		defer dir.Close()
		l, err := net.Listen("unix", fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(name)))
		if err == nil {
			t.Cleanup(func() { l.Close() })
		}
		return err
	}},
	{"folder", func(_ *testing.T, name, _ string) error { return os.Mkdir(name, 0o755) }},
	{"20 GB of holes", func(_ *testing.T, name, _ string) error { return holes(name, "", 20<<30) }},
	{"250 MB of holes after git's words", func(_ *testing.T, name, _ string) error {
		return holes(name, "DIRC\x00\x00\x00\x02\xff\xff\xff\xff", 250<<20)
	}},
	{"secret text", func(_ *testing.T, name, _ string) error { return os.WriteFile(name, []byte(secret+" in it\n"), 0o644) }},
	{"reference to a file outside", func(_ *testing.T, name, outside string) error {
		return os.WriteFile(name, []byte("ref: refs/../../../outside/f\ngitdir: "+outside+"\n"+outside+"\n"), 0o644)
	}},
	{"names itself", func(_ *testing.T, name, _ string) error {
		dir := filepath.Dir(name)
		return os.WriteFile(name, []byte("gitdir: "+dir+"\nref: refs/heads/main\n"+strings.Repeat(filepath.Dir(dir)+"\n.\n..\n", 50)), 0o644)
	}},
	{"unreadable", func(_ *testing.T, name, _ string) error { return os.WriteFile(name, []byte(secret), 0) }},
}

func holes(name, begin string, size int64) error {
	if err := os.WriteFile(name, []byte(begin), 0o644); err != nil {
		return err
	}
	return os.Truncate(name, size)
}

// gitFiles are git's files and folders that some part of the program opens, relative to a checkout.
// In a path, * means the only entry there.
var gitFiles = []string{
	".git", ".git/HEAD", ".git/config", ".git/commondir", ".git/gitdir", ".git/index", ".git/packed-refs", ".git/refs", ".git/refs/heads", ".git/refs/heads/main",
	".git/objects", ".git/objects/info", ".git/objects/info/alternates", ".git/objects/pack", ".git/objects/pack/*.idx", ".git/objects/pack/*.pack",
	".git/info", ".git/info/exclude", ".gitattributes", ".gitignore", ".ignore", "sub/.gitignore", ".git/objects/COMMIT", ".git/objects/TREE",
}

// gitCheckout makes a repository with loose and packed objects, and a folder outside of it. It
// returns the paths of the repository, that folder, and the last commit and tree, which are loose
// objects.
func gitCheckout(t *testing.T, dir string) (top, outside, commit, tree string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed (Debian: git)")
	}
	top, outside = filepath.Join(dir, "ws"), filepath.Join(dir, "outside")
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", top, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	for _, name := range []string{"sub/a.txt", "b.txt"} {
		put(t, filepath.Join(top, name), "needle one\n")
	}
	put(t, filepath.Join(outside, "f"), secret+" outside\n")
	put(t, filepath.Join(outside, "HEAD"), secret+" outside\n")
	put(t, filepath.Join(outside, "info", "exclude"), "b.txt\n# "+secret+"\n")
	if err := unix.Mkfifo(filepath.Join(outside, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-q", "-m", "one")
	git("gc", "-q")
	put(t, filepath.Join(top, "sub/a.txt"), "needle two\n")
	git("commit", "-q", "-a", "-m", "two")
	put(t, filepath.Join(top, "b.txt"), "needle three\n")
	at := func(name string) string { id := git("rev-parse", name); return id[:2] + "/" + id[2:] }
	return top, outside, at("HEAD"), at("HEAD^{tree}")
}

// askChanged opens the workspace as the program does, including the rules of the folders above, and
// searches changed files. It writes all output to said.
func askChanged(top, folder string, said *strings.Builder) {
	logged := slog.New(slog.NewTextHandler(said, nil))
	opts := &quarry.Options{ReadOnly: true, Logger: logged, Workers: 2}
	for _, f := range config.RulesAbove(filepath.Join(top, folder)) {
		opts.IgnoreAbove = append(opts.IgnoreAbove, quarry.IgnoreFile(f))
	}
	ws, err := quarry.Open(filepath.Join(top, folder), opts)
	if err != nil {
		fmt.Fprintln(said, err)
		return
	}
	defer ws.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, changed := range []bool{true, false} {
		r, err := ws.Search(ctx, search.Query{Pattern: ".", Scope: search.Scope{Changed: search.Changed{Git: changed}, IncludeHidden: true}})
		fmt.Fprintf(said, "%+v %v\n", r, err)
		if r != nil {
			for _, f := range r.Files {
				for _, l := range f.Lines {
					fmt.Fprintf(said, "%s: %s\n", f.Path, l.Text)
				}
			}
		}
	}
}

// TestHostileGitFolder replaces each file that is read from git's folder by each hostile kind.
// Nothing of its content, or of a link's target, may be shown; every call must end; and memory must
// stay within 64 MB. The calls run in the checkout, and in a subfolder, for which the repository is
// above the root.
func TestHostileGitFolder(t *testing.T) {
	stress.SkipTiny(t)
	dir := t.TempDir() // on disk, since memory may be too small for sparse files
	top, outside, commit, tree := gitCheckout(t, dir)
	cases, quoted := 0, 0
	for _, file := range gitFiles {
		for _, kind := range hostileKinds {
			if kind.name == "unreadable" && os.Geteuid() == 0 {
				continue
			}
			name := filepath.Join(top, strings.NewReplacer("COMMIT", commit, "TREE", tree).Replace(file))
			if found, _ := filepath.Glob(name); len(found) == 1 {
				name = found[0]
			}
			for _, folder := range []string{".", "sub"} {
				cases++
				kept := filepath.Join(dir, "kept")
				had := os.Rename(name, kept) == nil
				os.MkdirAll(filepath.Dir(name), 0o755)
				if err := kind.put(t, name, outside); err != nil {
					t.Fatalf("%s as %s: %v", file, kind.name, err)
				}
				var said strings.Builder
				done := make(chan int64, 1)
				began := time.Now()
				go func() { done <- grown(func() { askChanged(top, folder, &said) }) }()
				select {
				case more := <-done:
					if took := time.Since(began); took > 15*time.Second || more > 64<<20 {
						t.Errorf("%s as %s, root %s: %v and %d MB", file, kind.name, folder, took, more>>20)
					}
					// A rule file in the workspace may itself be searched, so its content may be
					// shown.
					own := (file == ".gitattributes" || file == ".gitignore" || file == ".ignore" || file == "sub/.gitignore") && kind.name == "secret text"
					if text := said.String(); strings.Contains(text, secret) && !own {
						quoted++
						t.Errorf("%s as %s, root %s: quoted: %.500s", file, kind.name, folder, text)
					} else if !strings.Contains(text, "needle") && file != ".git" {
						t.Errorf("%s as %s, root %s: nothing was found without changed: %.500s", file, kind.name, folder, text)
					}
				case <-time.After(30 * time.Second):
					t.Fatalf("%s as %s, root %s: no end", file, kind.name, folder)
				}
				if err := os.RemoveAll(name); err != nil {
					t.Fatal(err)
				}
				if had {
					if err := os.Rename(kept, name); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	t.Logf("%d kinds in %d places: %d cases, %d quoted something", len(hostileKinds), len(gitFiles), cases, quoted)
}

// TestHostileGitObjects uses objects that refer to themselves, claim to be huge, or unpack to more
// than their stated size.
func TestHostileGitObjects(t *testing.T) {
	stress.SkipTiny(t)
	top, _, commit, tree := gitCheckout(t, t.TempDir())
	objects := filepath.Join(top, ".git", "objects")
	pack := func(write func(b *bytes.Buffer, id []byte)) func() {
		return func() {
			os.Remove(filepath.Join(objects, commit))
			id, _ := hex.DecodeString(strings.ReplaceAll(commit, "/", ""))
			putPack(t, filepath.Join(objects, "pack", "pack-evil"), id, func(b *bytes.Buffer) { write(b, id) })
		}
	}
	// packed compresses a text, followed by n copies of more, with zlib.
	packed := func(text, more string, n int) []byte {
		var z bytes.Buffer
		w, _ := zlib.NewWriterLevel(&z, zlib.BestSpeed)
		w.Write([]byte(text))
		for range n {
			w.Write([]byte(more))
		}
		w.Close()
		return z.Bytes()
	}
	const large = 100 << 20
	page := strings.Repeat("0", 1<<20)
	entries := strings.Repeat("1 a\x00aaaaaaaaaaaaaaaaaaaa", 1<<20/24)
	for _, c := range []struct {
		name string
		make func()
	}{
		{"a delta that is based on itself by name", pack(func(b *bytes.Buffer, id []byte) {
			b.WriteByte(7<<4 | 4)
			b.Write(id)
			b.Write(packed("\x00\x00\x90\x01", "", 0))
		})},
		{"a delta that is based on itself by offset", pack(func(b *bytes.Buffer, _ []byte) {
			b.WriteByte(6<<4 | 4)
			b.WriteByte(0)
			b.Write(packed("\x00\x00\x90\x01", "", 0))
		})},
		{"an object that claims 255 MB", pack(func(b *bytes.Buffer, _ []byte) {
			b.Write([]byte{1<<4 | 0x8f, 0xff, 0xff, 0xff, 0x3f})
			b.Write(packed("tree x", "", 0))
		})},
		{"a commit of 100 MB, packed", func() {
			put(t, filepath.Join(objects, commit), string(packed(fmt.Sprintf("commit %d\x00", large), page, 100)))
		}},
		{"a tree of 100 MB, packed", func() {
			put(t, filepath.Join(objects, tree), string(packed(fmt.Sprintf("tree %d\x00", 100*len(entries)), entries, 100)))
		}},
		{"a tree of 16 MB", func() {
			put(t, filepath.Join(objects, tree), string(packed(fmt.Sprintf("tree %d\x00", 15*len(entries)), entries, 15)))
		}},
		{"a head of 100 MB without an end", func() {
			put(t, filepath.Join(objects, commit), string(packed("commit ", page, 100)))
		}},
		{"alternates that name each other", func() {
			put(t, filepath.Join(objects, "info", "alternates"), strings.Repeat(objects+"\n.\n../objects\n", 20_000))
		}},
	} {
		saved := filepath.Join(t.TempDir(), "objects")
		if out, err := exec.Command("cp", "-a", objects, saved).CombinedOutput(); err != nil {
			t.Fatal(err, string(out))
		}
		filepath.WalkDir(objects, func(p string, _ fs.DirEntry, _ error) error { os.Chmod(p, 0o755); return nil })
		c.make()
		var said strings.Builder
		done := make(chan int64, 1)
		cpu := stress.CPU()
		go func() { done <- grown(func() { askChanged(top, ".", &said) }) }()
		select {
		case more := <-done:
			if cpu = stress.CPU() - cpu; cpu > 5*time.Second || more > 64<<20 {
				t.Errorf("%s: %v and %d MB, then %.300s", c.name, cpu, more>>20, said.String())
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: no end", c.name)
		}
		os.RemoveAll(objects)
		if err := os.Rename(saved, objects); err != nil {
			t.Fatal(err)
		}
	}
}

// putPack writes a pack with one object, and its index.
func putPack(t *testing.T, base string, id []byte, object func(*bytes.Buffer)) {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x01")
	object(&b)
	sum := sha1.Sum(b.Bytes())
	b.Write(sum[:])
	put(t, base+".pack", b.String())
	var x bytes.Buffer
	x.WriteString("\xfftOc\x00\x00\x00\x02")
	for i := range 256 {
		n := byte(0)
		if i >= int(id[0]) {
			n = 1
		}
		x.Write([]byte{0, 0, 0, n})
	}
	x.Write(id)
	x.Write([]byte{0, 0, 0, 0, 0, 0, 0, 12})
	x.Write(sum[:])
	put(t, base+".idx", x.String())
}
