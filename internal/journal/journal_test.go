package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"testing"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
	"quarry/internal/stress"
)

// bench is a workspace with its journal.
type bench struct {
	t     testing.TB
	dir   string // the workspace folder
	state string
	ws    *rootfs.Root
	st    *rootfs.Root
	j     *Journal
}

func newBench(t testing.TB, opts *Options) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), state: t.TempDir()}
	b.open(opts)
	return b
}

func (b *bench) open(opts *Options) {
	b.t.Helper()
	var err error
	if b.ws, err = rootfs.Open(b.dir, nil); err != nil {
		b.t.Fatal(err)
	}
	if b.st, err = rootfs.Open(b.state, &rootfs.Options{Trusted: true}); err != nil {
		b.t.Fatal(err)
	}
	if b.j, err = Open(b.st, opts); err != nil {
		b.t.Fatal(err)
	}
	j, st, ws := b.j, b.st, b.ws
	b.t.Cleanup(func() { j.Close(); st.Close(); ws.Close() })
}

func (b *bench) path(s string) rootfs.Path {
	b.t.Helper()
	p, err := b.ws.ResolveEntry(s)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) put(name, text string) {
	b.t.Helper()
	b.must(os.MkdirAll(filepath.Dir(filepath.Join(b.dir, name)), 0o755))
	b.must(os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o644))
}

// begin and do make the same calls as a Workspace.
func (b *bench) begin(summary string, ops ...Op) *Tx {
	b.t.Helper()
	tx, err := b.j.Begin(context.Background(), b.ws, Change{Tool: "test", Did: change.Action{Verb: change.Noted, Text: summary}, Ops: ops})
	b.must(err)
	return tx
}

func do(ws *rootfs.Root, op Op) error {
	switch op.Kind {
	case Create:
		if len(op.Nodes) > 0 && op.Nodes[0].Type == rootfs.TypeDir {
			return ws.Mkdir(op.Path)
		}
		_, _, err := ws.Create(op.Path, op.NewData, nil)
		return err
	case Replace:
		_, err := ws.Replace(op.Path, op.NewData, op.Old, nil)
		return err
	case Rename:
		return ws.Rename(op.Path, op.To)
	case Remove:
		return ws.RemoveAll(op.Path)
	}
	return errors.New("not here")
}

func (b *bench) change(summary string, ops ...Op) ID {
	b.t.Helper()
	tx := b.begin(summary, ops...)
	for _, op := range ops {
		b.must(do(b.ws, op))
	}
	b.must(tx.Commit())
	return tx.ID()
}

func (b *bench) create(name, text string) Op {
	return Op{Kind: Create, Path: b.path(name), NewData: []byte(text)}
}

func (b *bench) mkdir(name string) Op {
	return Op{Kind: Create, Path: b.path(name), Nodes: []Node{{Type: rootfs.TypeDir}}}
}

func (b *bench) replace(name, text string) Op {
	old, v, _, err := b.ws.ReadFile(b.path(name), 0)
	b.must(err)
	return Op{Kind: Replace, Path: b.path(name), Old: v, OldData: old, NewData: []byte(text)}
}

func (b *bench) rename(from, to string) Op {
	return Op{Kind: Rename, Path: b.path(from), To: b.path(to)}
}

func (b *bench) remove(name string) Op { return Op{Kind: Remove, Path: b.path(name)} }

func (b *bench) undo(id ID) (ID, error) {
	ctx := context.Background()
	p, err := b.j.Plan(ctx, id)
	if err != nil {
		return "", err
	}
	defer p.Close()
	conflicts, err := p.Check(b.ws)
	if err != nil {
		return "", err
	}
	if len(conflicts) > 0 {
		return "", fmt.Errorf("%w: %s %d", fault.Conflict, conflicts[0].Path, conflicts[0].Reason)
	}
	tx, err := b.j.Undo(ctx, b.ws, p)
	if err != nil {
		return "", err
	}
	for i := range p.Change.Ops {
		if err := tx.Apply(ctx, b.ws, i); err != nil {
			return "", errors.Join(err, tx.CommitPart(i))
		}
	}
	return tx.ID(), tx.Commit()
}

// tree describes a folder's names, modes, contents and link targets, and if times is set
// also the times of files.
func tree(t testing.TB, dir string, times bool) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		info, err := d.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%q %v", rel, info.Mode())
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %d %v", len(data), version.Of(data))
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(p)
			line += " -> " + target
		}
		if times && info.Mode()&fs.ModeSymlink == 0 {
			line += " " + info.ModTime().UTC().Format(time.RFC3339Nano)
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func TestEachKindOfChangeIsTakenBack(t *testing.T) {
	stress.SkipTiny(t)
	big := strings.Repeat("a long line of text that is kept in a pack\n", 30_000) // 1.3 MB
	for _, c := range []struct {
		name string
		ops  func(b *bench) []Op
	}{
		{"create", func(b *bench) []Op { return []Op{b.create("new.md", "hello\n")} }},
		{"create an empty file", func(b *bench) []Op { return []Op{b.create("empty", "")} }},
		{"create in new folders", func(b *bench) []Op {
			return []Op{b.mkdir("x"), b.mkdir("x/y"), b.create("x/y/z.md", "z")}
		}},
		{"replace", func(b *bench) []Op { return []Op{b.replace("a.md", "other\n")} }},
		{"replace by nothing", func(b *bench) []Op { return []Op{b.replace("a.md", "")} }},
		{"replace an empty file", func(b *bench) []Op { return []Op{b.replace("void", "full")} }},
		{"replace a large file", func(b *bench) []Op { return []Op{b.replace("big.txt", big[1:])} }},
		{"rename", func(b *bench) []Op { return []Op{b.rename("a.md", "d/b.md")} }},
		{"rename a folder and edit in it", func(b *bench) []Op {
			return []Op{b.rename("d", "e"), {Kind: Replace, Path: b.path("e/in.md"), OldData: []byte("inner"), NewData: []byte("INNER")}}
		}},
		{"edit, then rename the folder", func(b *bench) []Op {
			return []Op{b.replace("d/in.md", "INNER"), b.rename("d", "e")}
		}},
		{"swap two names", func(b *bench) []Op {
			return []Op{b.rename("a.md", "tmp"), b.rename("void", "a.md"), b.rename("tmp", "void")}
		}},
		{"remove a file", func(b *bench) []Op { return []Op{b.remove("a.md")} }},
		{"remove a symlink", func(b *bench) []Op { return []Op{b.remove("link")} }},
		{"remove a tree", func(b *bench) []Op { return []Op{b.remove("d")} }},
		{"remove a large tree", func(b *bench) []Op { return []Op{b.remove("huge")} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			big := big
			if !strings.Contains(c.name, "large") {
				big = "a small one\n"
			}
			b := newBench(t, nil)
			b.put("a.md", "one\ntwo\n")
			b.put("void", "")
			b.put("big.txt", big)
			b.put("d/in.md", "inner")
			b.put("d/sub/deep", strings.Repeat("x", 5000))
			if runtime.GOOS == "windows" { // Windows can't store the first name, and requires a privilege for symlinks
				if b.put("d/sub/odd name", "odd"); c.name == "remove a symlink" {
					t.Skip("no symlinks here")
				}
			} else {
				b.put("d/sub/odd \n\xff name", "odd")
				b.must(os.Symlink("../a.md", filepath.Join(b.dir, "d/ln")))
				b.must(os.Symlink("nowhere", filepath.Join(b.dir, "link")))
			}
			b.put("huge/1", big)
			b.put("huge/2", big)
			b.put("huge/3", "small")
			b.must(os.Chmod(filepath.Join(b.dir, "huge/3"), 0o640))
			b.must(os.Mkdir(filepath.Join(b.dir, "huge/none"), 0o750))
			past := time.Date(2020, 2, 3, 4, 5, 6, 789000000, time.UTC)
			for _, p := range []string{"a.md", "huge/1", "huge/3", "d/in.md", "huge/none", "huge"} {
				b.must(os.Chtimes(filepath.Join(b.dir, p), past, past))
			}
			before := tree(t, b.dir, false)
			timesBefore := tree(t, filepath.Join(b.dir, "huge"), true)
			id := b.change(c.name, c.ops(b)...)
			after := tree(t, b.dir, false)
			if after == before {
				t.Fatal("the change changed nothing")
			}
			undo, err := b.undo(id)
			if err != nil {
				t.Fatal(err)
			}
			if got := tree(t, b.dir, false); got != before {
				t.Errorf("after undo:\n%s\nwant:\n%s", got, before)
			}
			if got := tree(t, filepath.Join(b.dir, "huge"), true); got != timesBefore {
				t.Errorf("times after undo:\n%s\nwant:\n%s", got, timesBefore)
			}
			if _, err := b.undo(id); !errors.Is(err, ErrUndone) {
				t.Errorf("second undo: %v, want ErrUndone", err)
			}
			redo, err := b.undo(undo)
			if err != nil {
				t.Fatal(err)
			}
			if got := tree(t, b.dir, false); got != after {
				t.Errorf("after undoing the undo:\n%s\nwant:\n%s", got, after)
			}
			e, err := b.j.Get(id)
			if err != nil || e.UndoneBy != "" {
				t.Errorf("after undoing the undo, the entry is undone by %q, %v", e.UndoneBy, err)
			}
			if _, err := b.undo(redo); err != nil {
				t.Fatal(err)
			}
			if got := tree(t, b.dir, false); got != before {
				t.Errorf("after the third undo:\n%s\nwant:\n%s", got, before)
			}
		})
	}
}

func TestUndoRefusesForeignChanges(t *testing.T) {
	for _, c := range []struct {
		name    string
		ops     func(b *bench) []Op
		foreign func(b *bench)
	}{
		{"edited since", func(b *bench) []Op { return []Op{b.replace("a.md", "2")} }, func(b *bench) { b.put("a.md", "3") }},
		{"deleted since", func(b *bench) []Op { return []Op{b.replace("a.md", "2")} }, func(b *bench) { os.Remove(filepath.Join(b.dir, "a.md")) }},
		{"created file edited", func(b *bench) []Op { return []Op{b.create("n", "2")} }, func(b *bench) { b.put("n", "3") }},
		{"folder filled", func(b *bench) []Op { return []Op{b.mkdir("n")} }, func(b *bench) { b.put("n/x", "3") }},
		{"old name taken", func(b *bench) []Op { return []Op{b.rename("a.md", "b.md")} }, func(b *bench) { b.put("a.md", "3") }},
		{"removed file is back", func(b *bench) []Op { return []Op{b.remove("a.md")} }, func(b *bench) { b.put("a.md", "1") }},
		{"one of several", func(b *bench) []Op { return []Op{b.replace("a.md", "2"), b.replace("c.md", "2")} }, func(b *bench) { b.put("c.md", "3") }},
		{"became a symlink", func(b *bench) []Op { return []Op{b.replace("a.md", "2")} }, func(b *bench) {
			os.Rename(filepath.Join(b.dir, "a.md"), filepath.Join(b.dir, "z"))
			os.Symlink("z", filepath.Join(b.dir, "a.md"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			b.put("a.md", "1")
			b.put("c.md", "1")
			id := b.change(c.name, c.ops(b)...)
			c.foreign(b)
			before := tree(t, b.dir, true)
			if _, err := b.undo(id); !errors.Is(err, fault.Conflict) {
				t.Fatalf("undo: %v, want a conflict", err)
			}
			if got := tree(t, b.dir, true); got != before {
				t.Errorf("a refused undo changed:\n%s\nwant:\n%s", got, before)
			}
			if list, _ := b.j.List(0); len(list) != 1 {
				t.Errorf("a refused undo left %d entries, want 1", len(list))
			}
		})
	}
}

func TestBeginRefusesAStaleVersion(t *testing.T) {
	b := newBench(t, nil)
	b.put("a.md", "new")
	for _, op := range []Op{
		{Kind: Replace, Path: b.path("a.md"), Old: version.Of([]byte("old")), NewData: []byte("x")},
		{Kind: Remove, Path: b.path("a.md"), Nodes: []Node{{Type: rootfs.TypeFile, Version: version.Of([]byte("old"))}}},
	} {
		if _, err := b.j.Begin(context.Background(), b.ws, Change{Ops: []Op{op}}); !errors.Is(err, fault.Conflict) {
			t.Errorf("%v: %v, want a conflict", op.Kind, err)
		}
	}
	if list, _ := b.j.List(0); len(list) != 0 {
		t.Errorf("%d entries, want none", len(list))
	}
}

func TestBeforeAndAfter(t *testing.T) {
	b := newBench(t, nil)
	b.put("a.md", strings.Repeat("line\n", 1000)+"old\n")
	text := strings.Repeat("line\n", 500) + "NEW\n" + strings.Repeat("line\n", 500) + "old\n"
	first := b.change("edit", b.replace("a.md", text))
	second := b.change("create", b.create("b.md", "hello"))
	third := b.change("remove", b.remove("b.md"))
	b.put("a.md", "moved on")
	for _, c := range []struct {
		id            ID
		before, after string
	}{
		{first, strings.Repeat("line\n", 1000) + "old\n", text},
		{second, "", "hello"},
		{third, "hello", ""},
	} {
		e, err := b.j.Get(c.id)
		b.must(err)
		before, err := b.j.Before(e, 0)
		if string(before) != c.before || err != nil {
			t.Errorf("Before(%s) = %.20q, %v", c.id, before, err)
		}
		after, err := b.j.After(e, 0)
		if string(after) != c.after || err != nil {
			t.Errorf("After(%s) = %.20q, %v", c.id, after, err)
		}
	}
}

func TestListGetLatest(t *testing.T) {
	b := newBench(t, nil)
	b.put("a", "0")
	var ids []ID
	for i := range 5 {
		ids = append(ids, b.change(fmt.Sprint("edit ", i), b.replace("a", fmt.Sprint(i+1))))
	}
	tx := b.begin("nothing came of it", b.replace("a", "9"))
	b.must(tx.Abort())
	if err := tx.Commit(); err == nil {
		t.Error("commit after abort succeeded")
	}
	list, err := b.j.List(3)
	b.must(err)
	if len(list) != 3 || list[0].ID != ids[4] || list[2].ID != ids[2] || list[0].Did.Text != "edit 4" || list[0].Tool != "test" {
		t.Errorf("List(3) = %v", list)
	}
	// Undo without an id goes back one change at a time, and never undoes an undo.
	for i := 4; i >= 0; i-- {
		e, err := b.j.Latest()
		b.must(err)
		if e.ID != ids[i] {
			t.Fatalf("Latest = %s, want %s", e.ID, ids[i])
		}
		if _, err := b.undo(e.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.j.Latest(); !errors.Is(err, ErrNotFound) {
		t.Errorf("Latest with all undone: %v", err)
	}
	if data, _ := os.ReadFile(filepath.Join(b.dir, "a")); string(data) != "0" {
		t.Errorf("content %q, want 0", data)
	}
	if _, err := b.j.Get("00000000"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Get of an unknown id: %v", err)
	}
	// A journal opened again gives the same list.
	want, err := b.j.List(0)
	b.must(err)
	b.open(nil)
	got, err := b.j.List(0)
	b.must(err)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("reopened:\n%v\nwant:\n%v", got, want)
	}
}

func TestID(t *testing.T) {
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	last := ID("")
	for range 5000 {
		id := nextID(now, last, false)
		if id <= last || len(id) != 8 {
			t.Fatalf("id %q after %q", id, last)
		}
		last = id
	}
	if later := nextID(now.Add(time.Minute), last, false); later <= last {
		t.Errorf("id %q a minute after %q", later, last)
	}
	if got, err := ParseID(" " + strings.ToUpper(string(last)) + "\n"); got != last || err != nil {
		t.Errorf("ParseID = %q, %v", got, err)
	}
	for _, bad := range []string{"", "1234567", "123456789", "1234567u", "12345/78"} {
		if id, err := ParseID(bad); err == nil {
			t.Errorf("ParseID(%q) = %q", bad, id)
		}
	}
}

// Undoing 200 random changes in reverse order restores the tree.
func TestRandomChangesUndoneInReverse(t *testing.T) {
	stress.SkipTiny(t)
	b := newBench(t, &Options{MaxBytes: 64 << 20})
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 20 {
		b.put(fmt.Sprintf("d%d/f%d", i%4, i), randomText(r))
	}
	before := tree(t, b.dir, false)
	var ids []ID
	for len(ids) < 200 {
		files := list(t, b.dir)
		if len(files) == 0 {
			break
		}
		f := files[r.IntN(len(files))]
		name := fmt.Sprintf("d%d/n%d", r.IntN(4), len(ids))
		if len(ids)%50 == 7 {
			ids = append(ids, b.change("mv dir", b.rename(filepath.Dir(f), fmt.Sprint("moved", len(ids)))))
			continue
		}
		switch r.IntN(5) {
		case 0, 1:
			ids = append(ids, b.change("edit", b.replace(f, randomText(r))))
		case 2:
			if _, err := os.Stat(filepath.Join(b.dir, filepath.Dir(name))); err != nil {
				ids = append(ids, b.change("create", b.mkdir(filepath.Dir(name)), b.create(name, randomText(r))))
			} else {
				ids = append(ids, b.change("create", b.create(name, randomText(r))))
			}
		case 3:
			ids = append(ids, b.change("mv", b.rename(f, f+"x")))
		case 4:
			if len(files) > 10 {
				ids = append(ids, b.change("rm", b.remove(f)))
			}
		}
	}
	for i := len(ids) - 1; i >= 0; i-- {
		if _, err := b.undo(ids[i]); err != nil {
			t.Fatalf("undo %d: %v", i, err)
		}
	}
	if got := tree(t, b.dir, false); got != before {
		t.Errorf("after undoing all:\n%s\nwant:\n%s", got, before)
	}
}

func randomText(r *rand.Rand) string {
	var s strings.Builder
	for range r.IntN(40) {
		fmt.Fprintf(&s, "line %d\n", r.IntN(100))
	}
	return s.String()
}

func list(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			rel, _ := filepath.Rel(dir, p)
			files = append(files, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
