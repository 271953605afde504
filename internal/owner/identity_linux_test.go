package owner_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"quarry"
	"quarry/fault"
	"quarry/internal/stress"
	"quarry/search"
)

// paths searches and returns the matching files, and how they were found.
func (h *house) paths(ws *quarry.Workspace, word string) (string, search.Stats) {
	h.t.Helper()
	res, err := ws.Search(h.t.Context(), search.Query{Pattern: word})
	if err != nil {
		return err.Error(), search.Stats{}
	}
	var got []string
	for _, f := range res.Files {
		got = append(got, f.Path)
	}
	return strings.Join(got, " "), res.Stats
}

// plainHouse is a house without ignore rules.
func plainHouse(t *testing.T, seed uint64) *house {
	t.Helper()
	h := newHouse(t, seed)
	filepath.WalkDir(h.dir, func(path string, d os.DirEntry, err error) error {
		if name := filepath.Base(path); name == ".gitignore" || name == ".ignore" {
			h.must(os.Remove(path))
		}
		return err
	})
	return h
}

// TestReplacedRoot replaces the root while it is served: it is moved away and made again,
// or restored from a copy. The owner, a client and a workspace without an index must see
// the folder now at the path. A change based on the old folder is refused.
func TestReplacedRoot(t *testing.T) {
	run := stress.Start(t, "identity: a replaced root", 6, 100)
	for seed := range run.Cases() {
		h := plainHouse(t, seed)
		h.put("only.txt", "oldword here\n")
		state := t.TempDir()
		h.must(os.Chmod(state, 0o700))
		o := &quarry.Options{AllowAny: true}
		h.makeHome()
		keeper := h.keep(o)
		client := h.open(o, &quarry.IndexOptions{Dir: filepath.Join(h.state, "index", "one"), Socket: h.socket(), Ask: true})
		changing := *o
		changing.StateDir = state
		agent := h.open(&changing, nil)
		all := map[string]*quarry.Workspace{"owner": keeper, "client": client, "agent": agent}
		for name, ws := range all {
			if got, _ := h.paths(ws, "oldword"); got != "only.txt" {
				t.Fatalf("%s: before: %q", name, got)
			}
		}
		h.must(os.Rename(h.dir, h.dir+".bak"))
		switch h.r.IntN(3) {
		case 0: // made again
			h.must(os.Mkdir(h.dir, 0o755))
		case 1: // restored from a copy, which has the old file too
			h.must(exec.Command("cp", "-a", h.dir+".bak", h.dir).Run())
			h.must(os.Remove(filepath.Join(h.dir, "only.txt")))
		case 2: // for a while there is a file at the path, or nothing
			if h.r.IntN(2) == 0 {
				h.must(os.Symlink(h.dir+".bak", h.dir))
			}
			for name, ws := range all {
				if res, err := ws.Search(t.Context(), search.Query{Pattern: "oldword"}); fault.CodeOf(err) != fault.IOError {
					run.Violation(seed, "%s: without a folder: %+v, %v", name, res, err)
				}
			}
			os.Remove(h.dir)
			h.must(os.Mkdir(h.dir, 0o755))
		}
		h.put("new.txt", "newword here\n")
		_, err := agent.Write(t.Context(), "only.txt", []byte("agent\n"), nil)
		if fault.CodeOf(err) != fault.Conflict {
			run.Violation(seed, "a change based on the old folder: %v, want a conflict", err)
		}
		if _, err := os.Stat(filepath.Join(h.dir, "only.txt")); !errors.Is(err, os.ErrNotExist) {
			run.Violation(seed, "it was written to the new folder: %v", err)
		}
		if data, _ := os.ReadFile(filepath.Join(h.dir+".bak", "only.txt")); string(data) != "oldword here\n" {
			run.Violation(seed, "it was written to the old folder: %q", data)
		}
		for _, name := range []string{"client", "owner", "agent"} {
			for word, want := range map[string]string{"oldword": "", "newword": "new.txt"} {
				if got, st := h.paths(all[name], word); got != want {
					run.Violation(seed, "%s: %s is in %q, want %q (%s)", name, word, got, want, st.Plan.Kind)
				}
			}
		}
		if _, st := h.paths(client, "newword"); !st.Remote {
			run.Violation(seed, "the client doesn't use the owner of the new folder: %s", st.Plan.Kind)
		}
		os.RemoveAll(h.dir + ".bak")
		client.Close()
		agent.Close()
		keeper.Close()
	}
}

// The rules of a repository apply whoever owns the index.
func TestExcludesUnderEveryOwner(t *testing.T) {
	run := stress.Start(t, "identity: excludes under every owner", 6, 100)
	for seed := range run.Cases() {
		h := plainHouse(t, seed)
		h.put("x/one.txt", "needleword\n")
		h.put("x/two.txt", "needleword\n")
		h.put(".gitignore", "")
		h.must(os.MkdirAll(filepath.Join(h.dir, ".git", "info"), 0o755))
		h.makeHome()
		o := &quarry.Options{AllowAny: true, Trusted: seed%2 == 0}
		keeper := h.keep(o)
		for round := range 3 {
			for _, c := range []struct{ rules, want string }{
				{"one.txt\n", "x/two.txt"}, {"x/\n", ""}, {"\n", "x/one.txt x/two.txt"},
			} {
				h.put(".git/info/exclude", c.rules)
				if got, st := h.paths(keeper, "needleword"); got != c.want || !st.Plan.Indexed() {
					run.Violation(seed, "round %d, trusted %v, exclude %q: found %q, want %q (%s)", round, o.Trusted, c.rules, got, c.want, st.Plan.Kind)
				}
			}
		}
		keeper.Close()
	}
}

// A worktree outside its repository uses the repository's exclude file and follows its
// changes.
func TestExcludesOfWorktrees(t *testing.T) {
	h := plainHouse(t, 1)
	h.put("repo/one.txt", "needleword\n")
	h.put("repo/.git/worktrees/w/commondir", "../..\n")
	h.put("repo/.git/info/exclude", "\n")
	h.put("beside/one.txt", "needleword\n")
	h.put("beside/.git", "gitdir: "+h.dir+"/repo/.git/worktrees/w\n")
	h.makeHome()
	for _, trusted := range []bool{true, false} {
		keeper := h.keep(&quarry.Options{AllowAny: true, Trusted: trusted})
		for range 2 {
			for rules, want := range map[string]string{"one.txt\n": "", "two.txt\n": "beside/one.txt repo/one.txt"} {
				h.put("repo/.git/info/exclude", rules)
				if got, st := h.paths(keeper, "needleword"); got != want || !st.Plan.Indexed() {
					t.Errorf("trusted %v, exclude %q: found %q, want %q (%s)", trusted, rules, got, want, st.Plan.Kind)
				}
			}
		}
		keeper.Close()
	}
}

// TestMountsBelowTheRoot mounts and unmounts file systems below a served root. Answers
// must show the present contents: those of the owner, of its clients, and of a client
// with other mounts.
func TestMountsBelowTheRoot(t *testing.T) {
	if os.Getenv("OWNER_MOUNTS") != "" {
		mountsBelow(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestMountsBelowTheRoot$", "-test.v")
	cmd.Env = append(os.Environ(), "OWNER_MOUNTS=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig:   syscall.SIGKILL,
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		t.Skipf("no namespaces here: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "stress: ") || strings.Contains(line, "--- SKIP") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func mountsBelow(t *testing.T) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skip("can't mount here, run it as root: ", err)
	}
	run := stress.Start(t, "identity: mounts below the root", 6, 100)
	for seed := range run.Cases() {
		h := plainHouse(t, seed)
		outside := t.TempDir()
		in := func(p string) string { return filepath.Join(h.dir, p) }
		h.put("m/below.txt", "needleword\n")
		h.put("f.txt", "needleword\n")
		h.must(os.WriteFile(filepath.Join(outside, "bound.txt"), []byte("needleword\n"), 0o644))
		h.makeHome()
		o := &quarry.Options{AllowAny: true}
		keeper := h.keep(o)
		client := h.open(o, &quarry.IndexOptions{Dir: filepath.Join(h.state, "index", "one"), Socket: h.socket(), Ask: true})
		check := func(when, want string) {
			t.Helper()
			for name, ws := range map[string]*quarry.Workspace{"owner": keeper, "client": client} {
				if got, st := h.paths(ws, "needleword"); got != want {
					run.Violation(seed, "%s, %s: found %q, want %q (%s)", when, name, got, want, st.Plan.Kind)
				}
			}
		}
		mount := func(from, to, kind string, flags uintptr, data string) bool {
			err := unix.Mount(from, in(to), kind, flags, data)
			if err != nil {
				t.Logf("mount %s on %s: %v", kind, to, err)
			}
			return err == nil
		}
		unmount := func(p string) { h.must(unix.Unmount(in(p), unix.MNT_DETACH)) }
		check("at first", "f.txt m/below.txt")
		for range 3 {
			switch h.r.IntN(4) {
			case 0:
				if mount("tmpfs", "m", "tmpfs", 0, "") {
					check("an empty file system", "f.txt")
					h.put("m/in.txt", "needleword\n")
					check("a file in it", "f.txt m/in.txt")
					unmount("m")
				}
			case 1:
				if mount(outside, "m", "", unix.MS_BIND, "") {
					check("a folder from outside", "f.txt m/bound.txt")
					h.must(os.WriteFile(filepath.Join(outside, "bound.txt"), []byte("no longer\n"), 0o644))
					check("changed outside", "f.txt")
					h.must(os.WriteFile(filepath.Join(outside, "bound.txt"), []byte("needleword\n"), 0o644))
					check("changed back", "f.txt m/bound.txt")
					unmount("m")
				}
			case 2:
				name := filepath.Join(t.TempDir(), fmt.Sprint("plain", h.r.Uint32()))
				h.must(os.WriteFile(name, []byte("nothing\n"), 0o644))
				if mount(name, "f.txt", "", unix.MS_BIND, "") {
					check("a file from outside", "m/below.txt")
					h.must(os.WriteFile(name, []byte("needleword\n"), 0o644))
					check("written outside", "f.txt m/below.txt")
					unmount("f.txt")
				}
			case 3:
				up, work := t.TempDir(), t.TempDir()
				if mount("overlay", "m", "overlay", 0, "userxattr,lowerdir="+in("m")+",upperdir="+up+",workdir="+work) {
					check("an overlay", "f.txt m/below.txt")
					h.put("m/below.txt", "nothing\n")
					check("written in it", "f.txt")
					unmount("m")
				}
			}
			check("unmounted", "f.txt m/below.txt")
		}
		client.Close()
		keeper.Close()
	}
}

// If rules outside the root change while a workspace is open, they apply from the next
// answer on: for an owner, its clients and a workspace without an index.
func TestOutsideRulesAreFollowed(t *testing.T) {
	run := stress.Start(t, "identity: rules from outside that change", 6, 100)
	for seed := range run.Cases() {
		h := plainHouse(t, seed)
		h.put("x/one.txt", "needleword\n")
		h.put("x/two.txt", "needleword\n")
		h.makeHome()
		rules := ""
		view := func() *quarry.Options {
			told := rules
			return &quarry.Options{AllowAny: true, Trusted: seed%2 == 0, Outside: func() ([]byte, []quarry.IgnoreFile, bool) {
				changed := told != rules
				told = rules
				return nil, []quarry.IgnoreFile{{Name: "info/exclude", Data: []byte(rules)}}, changed
			}}
		}
		keeper := h.keep(view())
		all := map[string]*quarry.Workspace{
			"owner": keeper, "scan": h.open(view(), nil),
			"client": h.open(view(), &quarry.IndexOptions{Dir: filepath.Join(h.state, "index", "one"), Socket: h.socket(), Ask: true}),
		}
		for range 3 {
			for _, c := range []struct{ rules, want string }{
				{"one.txt\n", "x/two.txt"}, {"x/\n", ""}, {"", "x/one.txt x/two.txt"},
			} {
				rules = c.rules
				for name, ws := range all {
					if got, st := h.paths(ws, "needleword"); got != c.want || (name != "scan") != st.Plan.Indexed() {
						run.Violation(seed, "%s, rules %q: found %q, want %q (%s)", name, c.rules, got, c.want, st.Plan.Kind)
					}
				}
			}
		}
		keeper.Close()
	}
}
