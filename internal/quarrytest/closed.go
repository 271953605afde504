package quarrytest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"quarry"
	"quarry/change"
)

// Canary occurs in every text that a Hushed hides from agents, and nowhere else.
const Canary = "q7c4nary"

// Hushed is a workspace whose log, trash and proposals contain texts of files that are
// closed to agents. A person and a client with more rights changed these files, some
// before they were closed.
type Hushed struct {
	Dir, State, Reviews string
	// Agent has the options of a client that may not see these texts.
	Agent quarry.Options
	// IDs has the ids of changes and proposals, Paths the paths of files, closed ones
	// first.
	IDs, Paths []string
}

// Hush makes a Hushed. If deny is set, a rule closes a folder, and with it the trash.
func Hush(t testing.TB, deny bool) *Hushed {
	t.Helper()
	h := &Hushed{Dir: t.TempDir(), State: t.TempDir(), Reviews: t.TempDir()}
	h.Agent = quarry.Options{StateDir: h.State, Trash: change.TrashLocal, Review: &quarry.ReviewOptions{Dir: h.Reviews, Wait: -1, OnlyRules: true}}
	denied := "plain"
	if deny {
		h.Agent.Deny, denied = []string{"private/**"}, Canary
	}
	const secret = "TOKEN=" + Canary + "\n"
	for name, text := range map[string]string{
		".env": "A=1\n", "dev.env": "A=1\n", "was.env": "A=1\n" + secret, "back.env": "A=1\n" + secret, ".npmrc": "_authToken=" + Canary + "\n", ".aws/credentials": Canary + "\n",
		"private/plan.txt": denied + "\n", "later.txt": "one\n" + denied + "\n", "moved.txt": "one\n" + Canary + "\n", "dir/in.txt": denied + "\n", "gone.env": secret, "keep.env": secret, "set.env": "A=1\n",
		"open.txt": "one\ntwo\nthree\n", "src/a.go": "package a\n\nfunc F() {}\n", "n.md": "# N\n\n[[open]]\n",
	} {
		full := filepath.Join(h.Dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	open := func(o quarry.Options) *quarry.Workspace {
		ws, err := quarry.Open(h.Dir, &o)
		if err != nil {
			t.Fatal(err)
		}
		return ws
	}
	person := open(quarry.Options{Trusted: true, StateDir: h.State, Trash: change.TrashLocal})
	ctx := t.Context()
	did := func(c *change.Change, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		h.IDs = append(h.IDs, c.ID)
		return c.ID
	}
	edit := func(path, old, new string) string {
		o := &change.Options{Summary: "replaced " + old + " by " + new, Client: change.Client{Name: "person"}}
		return did(person.Edit(ctx, path, []change.Edit{{Old: old, New: new, Occurrence: change.Only}}, o))
	}
	edit(".env", "A=1", "TOKEN="+Canary)
	edit("dev.env", "A=1", "TOKEN="+Canary)
	edit("dev.env", "TOKEN="+Canary, "B=2\nTOKEN="+Canary+"2")
	edit("was.env", "TOKEN="+Canary, "B=2") // it is open now
	did(person.Undo(ctx, edit("back.env", "TOKEN="+Canary, "B=2"), nil))
	did(person.Undo(ctx, h.IDs[len(h.IDs)-1], nil)) // redo
	edit(".aws/credentials", Canary, Canary+"2")
	edit("private/plan.txt", denied, denied+"2")
	edit("later.txt", "one", denied+"1")
	did(person.Move(ctx, "later.txt", "private/later.txt", nil))
	edit("moved.txt", "one", Canary+"1")
	did(person.Move(ctx, "moved.txt", "also.txt", nil))
	did(person.Move(ctx, "also.txt", ".env.local", nil))
	edit("dir/in.txt", denied, denied+"3")
	did(person.Move(ctx, "dir", "dir2", nil))
	did(person.Move(ctx, "dir2", "private/dir", nil))
	did(person.Delete(ctx, "gone.env", &change.DeleteOptions{Trash: change.TrashNone}))
	did(person.Write(ctx, "new.env", []byte(secret), nil))
	did(person.Delete(ctx, "new.env", nil))
	for range 2 {
		did(person.Write(ctx, ".netrc", []byte("password "+Canary+"\n"), nil))
		did(person.Delete(ctx, ".netrc", nil))
		did(person.Write(ctx, "private/x.txt", []byte(denied+"\n"), nil))
		did(person.Delete(ctx, "private/x.txt", nil))
	}
	did(person.Delete(ctx, ".aws/credentials", nil))
	did(person.Apply(ctx, change.Set{Summary: "set " + Canary, Ops: []change.Op{
		{Verb: change.EditFile, Path: "set.env", Edits: []change.Edit{{Old: "A=1", New: "TOKEN=" + Canary}}},
		{Verb: change.EditFile, Path: "open.txt", Edits: []change.Edit{{Old: "two", New: "2"}}},
	}}))
	edit("open.txt", "three", "3")
	did(person.Delete(ctx, "src/a.go", nil))
	if err := person.Close(); err != nil {
		t.Fatal(err)
	}
	other := open(quarry.Options{StateDir: h.State, Trash: change.TrashLocal, Allow: []string{"*.env", ".env"}, Review: &quarry.ReviewOptions{Dir: h.Reviews, Wait: -1, Stays: true}})
	t.Cleanup(func() { other.Close() })
	for i, op := range []change.Op{
		{Verb: change.EditFile, Path: "dev.env", Edits: []change.Edit{{Old: "B=2", New: "PASSWORD=" + Canary}}},
		{Verb: change.EditFile, Path: "was.env", Edits: []change.Edit{{Old: "B=2", New: "PASSWORD=" + Canary}}},
		{Verb: change.WriteFile, Path: "fresh.env", Content: []byte(secret)},
		{Verb: change.WriteFile, Path: "private/fresh.txt", Content: []byte(denied)},
		{Verb: change.DeletePath, Path: "keep.env"},
		{Verb: change.MovePath, Path: "open.txt", To: "private/" + denied + ".txt"},
	} {
		summary := Canary
		if i == 3 || i == 5 {
			summary = denied
		}
		_, err := other.Apply(ctx, change.Set{Ops: []change.Op{op}, Summary: "proposes " + summary})
		if pending := new(change.PendingError); !errors.As(err, &pending) {
			t.Fatalf("proposal of %s: %v", op.Path, err)
		}
	}
	h.IDs = append(h.IDs, "p-0001", "p-0002", "p-0003", "p-0004", "p-0005", "p-0006", "")
	h.Paths = []string{
		".env", "dev.env", "was.env", "back.env", "keep.env", ".npmrc", "private/plan.txt", "private", ".env.local", "private/dir", "set.env", "new.env", "fresh.env", ".trash", ".trash/new.env",
		".trash/.netrc", ".trash/.netrc 1", ".trash/credentials", ".trash/x.txt", ".trash/x 1.txt", ".trash/.quarry", ".aws/credentials", "also.txt", "moved.txt", "later.txt", "dir/in.txt",
		"open.txt", "src", "n.md", ".", "made.txt",
	}
	return h
}
