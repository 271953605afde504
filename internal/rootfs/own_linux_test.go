package rootfs

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"quarry/fault"
	"quarry/internal/stress"
)

// owned returns a root and a folder of Quarry's own outside of it, to which names in the root
// lead.
func owned(t *testing.T) (r *Root, dir, own string) {
	top := t.TempDir()
	dir, own = filepath.Join(top, "ws"), filepath.Join(top, "config")
	for _, d := range []string{dir + "/dot", dir + "/sub", dir + "/twin", own} {
		must(t, os.MkdirAll(d, 0o755))
	}
	must(t, os.WriteFile(own+"/quarry.toml", []byte("rules\n"), 0o644))
	must(t, os.Link(own+"/quarry.toml", dir+"/dot/hard.toml"))
	must(t, os.WriteFile(dir+"/dot/target.toml", []byte("rules\n"), 0o644))
	must(t, os.Symlink(dir+"/dot/target.toml", own+"/linked.toml"))
	must(t, os.Symlink(dir+"/dot/missing.toml", own+"/dangling.toml"))
	must(t, os.Symlink(dir+"/sub", top+"/state"))
	r, err := Open(dir, &Options{Own: []string{own + "/quarry.toml", own + "/linked.toml", own + "/dangling.toml", top + "/state"}})
	must(t, err)
	t.Cleanup(func() { r.Close() })
	return r, dir, own
}

// No change touches our own files by any name.
func TestOwnFiles(t *testing.T) {
	r, dir, own := owned(t)
	must(t, os.WriteFile(dir+"/free.txt", []byte("free\n"), 0o644))
	p := func(s string) Path {
		q, err := r.Known(s)
		must(t, err)
		return q
	}
	create := func(s string) error { _, _, err := r.Create(p(s), []byte("x"), nil); return err }
	replace := func(s string) error {
		_, err := r.Replace(p(s), []byte("x"), Version{}, nil)
		return err
	}
	for name, err := range map[string]error{
		"replace a hard link": replace("dot/hard.toml"), "replace what a link leads to": replace("dot/target.toml"),
		"create what a link leads to": create("dot/missing.toml"), "create in a folder that a link leads to": create("sub/x"),
		"make a folder there": r.Mkdir(p("sub/deep")), "move there": r.Rename(p("free.txt"), p("sub/free.txt")),
		"move onto what a link leads to": r.Rename(p("free.txt"), p("dot/missing.toml")), "remove": r.Remove(p("dot/target.toml")),
		"move away": r.Rename(p("dot/target.toml"), p("t.toml")), "chmod": r.SetMode(p("dot/hard.toml"), 0o644, 0o600),
	} {
		var refused *fault.PathError
		if !errors.As(err, &refused) || refused.Kind != fault.ProtectedPath {
			t.Errorf("%s: %v", name, err)
		}
	}
	if data, err := os.ReadFile(own + "/quarry.toml"); err != nil || string(data) != "rules\n" {
		t.Errorf("quarry.toml has %q, %v", data, err)
	}
	must(t, create("dot/other.toml"))
	must(t, replace("free.txt"))
}

// Another goroutine swaps the folder of a file with a folder that leads to one of our own files. No change
// affects our file.
func TestOwnFilesWhileNamesSwap(t *testing.T) {
	stress.SkipTiny(t)
	r, dir, own := owned(t)
	must(t, os.WriteFile(dir+"/twin/hard.toml", []byte("rules\n"), 0o644))
	var end atomic.Bool
	done := make(chan int)
	go func() {
		n := 0
		for ; !end.Load(); n++ {
			unix.Renameat2(unix.AT_FDCWD, dir+"/dot", unix.AT_FDCWD, dir+"/twin", unix.RENAME_EXCHANGE)
		}
		done <- n
	}()
	p, err := r.Known("twin/hard.toml")
	must(t, err)
	run := stress.Start(t, "guards: own files while a second process swaps names", 400, 40_000)
	made, refused := 0, 0
	for range run.Cases() {
		switch _, err := r.Replace(p, []byte("rules\n\n"), Version{}, nil); {
		case err == nil:
			made++
		case KindOf(err) == fault.ProtectedPath:
			refused++
		}
		if data, err := os.ReadFile(own + "/quarry.toml"); err != nil || string(data) != "rules\n" {
			t.Fatalf("quarry.toml has %q, %v", data, err)
		}
		for _, d := range []string{"dot", "twin"} {
			if info, err := os.Stat(dir + "/" + d + "/hard.toml"); err == nil && info.Size() > 6 {
				os.WriteFile(dir+"/"+d+"/hard.toml", []byte("rules\n"), 0o644)
			}
		}
	}
	end.Store(true)
	t.Logf("%d swaps, %d changes made, %d refused", <-done, made, refused)
	if made == 0 || refused == 0 {
		t.Errorf("%d made, %d refused: too few to say something", made, refused)
	}
}
