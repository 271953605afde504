package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/render"
	"quarry/internal/stress"
)

// A path error is reported once, in plain words, with the next step if one is known.
func TestPathErrors(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its paths have backslashes, and the system's reasons differ")
	}
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{"w/go.mod": "module x\n", "w/command.go": "x\n", "w/doc/guide.md": "x\n", "w/bin": "x\x00y", "other/a.txt": "x\n"})
	dir = filepath.Join(dir, "w")
	t.Chdir(dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	if err := os.Symlink("../other/a.txt", "away"); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"write", "command.go/x", "--content", "x"}, "\"command.go\" is a file, not a folder\n"},
		{[]string{"write", "command.go/x/y", "--content", "x"}, "\"command.go\" is a file, not a folder\n"},
		{[]string{"mkdir", "command.go"}, "\"command.go\" is a file, not a folder\n"},
		{[]string{"mv", "go.mod", "command.go/x"}, "\"command.go\" is a file, not a folder\n"},
		{[]string{"read", "command.go/x"}, "command.go/x: command.go is a file, not a folder\n"},
		{[]string{"man", "command.go"}, "command.go: command.go is a file, not a folder\n"},
		{[]string{"read", "doc"}, "\"doc\" is a folder, not a file\n  quarry find doc lists what is in it\n"},
		{[]string{"edit", "doc", "--delete", "1"}, "\"doc\" is a folder, not a file\n  quarry find doc lists what is in it\n"},
		{[]string{"write", ".", "--content", "x"}, "\".\" is a folder, not a file\n  quarry find . lists what is in it\n"},
		{[]string{"write", "new/", "--content", "x"}, "\"new/\": a path that ends in a slash names a folder, not a file\n"},
		{[]string{"mv", "doc", "doc/x"}, "\"doc/x\": a folder can't be moved into itself\n"},
		{[]string{"search", "x", "--root", "dcc"}, "--root dcc: no such file or folder\n  did you mean doc?\n"},
		{[]string{"doctor", "--root", "nowhere"}, "--root nowhere: no such file or folder\n"},
		{[]string{"config", "--root", "nowhere"}, "--root nowhere: no such file or folder\n"},
		{[]string{"find", "x", "--root", "go.mod"}, "--root go.mod: not a folder\n"},
		{[]string{"index", "status", "--root", "nowhere"}, "--root nowhere: no such file or folder\n"},
		{[]string{"replace", "x", "y", "dcc/guide.md"}, "File not found: \"dcc/guide.md\"\n  did you mean doc/guide.md?\n"},
		{[]string{"read", "comand.go"}, "comand.go: no such file or folder\n  did you mean command.go?\n"},
		{[]string{"search", "x", "dcc/guide.md"}, "dcc/guide.md: no such file or folder\n  did you mean doc/guide.md?\n"},
		{[]string{"edit", "DOC/guide.md", "--delete", "1"}, "File not found: \"DOC/guide.md\"\n  did you mean doc/guide.md?\n"},
		{[]string{"rm", "doc/giude.md"}, "File or folder not found: \"doc/giude.md\"\n  did you mean doc/guide.md?\n"},
		{[]string{"read", "nothing-like-it"}, "nothing-like-it: no such file or folder\n"},
		{[]string{"read", "bin"}, "\"bin\" is not a text file (binary data, 3 bytes)\n"},
		{[]string{"edit", "bin", "--delete", "1"}, "\"bin\" is not a text file (binary data, 3 bytes)\n"},
		{[]string{"edit", "bin", "command.go", "--old", "x", "--new", "z"}, "1 of 2 changes can't be made, so nothing was changed\n\"bin\" is not a text file (binary data, 3 bytes)\n"},
		{[]string{"read", "away"}, "\"away\" is not in the workspace " + root + "; if you mean it, add --root " + render.ShellQuote(filepath.Join(filepath.Dir(root), "other")) + "\n"},
		{[]string{"replace", "(", "x"}, "unclosed group\n    (\n    ^\nClose it with \")\", or write \\( to match a parenthesis.\n"},
		{[]string{"replace", "x(?=y)", "z"}, "look-around isn't supported in Rust syntax\n    x(?=y)\n     ^^^\nquarry replace has Rust's syntax alone: match what stands around it in groups, and put them back with $1.\n"},
		{[]string{"replace", `x\ny`, "z"}, "the pattern contains a line feed, which no single line can match\n    x\\ny\n     ^\nSearch in multiline mode to match across lines.\nHere: quarry replace -U\n"},
	} {
		got := runQuarry("", c.args...)
		if diff := cmp.Diff("quarry: "+c.want, got.err); diff != "" || got.code != exitError {
			t.Errorf("%q: exit code %d\n%s", c.args, got.code, diff)
		}
	}
}

// Every kind of change to Git's own files needs --force.
func TestGitNeedsForce(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	writeTree(t, dir, map[string]string{".git/config": "bare\n", "a.txt": "a\n", "b.txt": "b\n"})
	links := stress.CanLink(t)
	if links {
		for name, to := range map[string]string{"file": ".git/config", "folder": ".git", "new": ".git/hooks/new"} {
			if err := os.Symlink(filepath.FromSlash(to), name); err != nil {
				t.Fatal(err)
			}
		}
	}
	hook := "diff --git a/.git/hooks/x b/.git/hooks/x\nnew file mode 100755\n--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n"
	for _, c := range []struct {
		name, in string
		args     []string
		linked   bool
	}{
		{"a new file of a patch", hook, []string{"patch"}, false},
		{"in other letter case", strings.ReplaceAll(hook, ".git", ".GIT"), []string{"patch"}, false},
		{"Codex's envelope", "*** Begin Patch\n*** Add File: .git/hooks/x\n+x\n*** End Patch\n", []string{"patch"}, false},
		{"a rename of a patch", "diff --git a/a.txt b/.git/x\nsimilarity index 100%\nrename from a.txt\nrename to .git/x\n", []string{"patch"}, false},
		{"through a link", strings.ReplaceAll(hook, ".git", "folder"), []string{"patch"}, true},
		{"a link to a file", "", []string{"edit", "file", "--old", "bare", "--new", "x"}, true},
		{"a link written to", "", []string{"write", "file", "--content", "x"}, true},
		{"a link to a missing file", "", []string{"write", "new", "--content", "x"}, true},
		{"replaced below a link", "", []string{"replace", "bare", "x", "folder"}, true},
		{"moved into a linked folder", "", []string{"mv", "a.txt", "folder"}, true},
		{"several moved into it", "", []string{"mv", "a.txt", "b.txt", "folder"}, true},
	} {
		if c.linked && !links {
			continue
		}
		got := runQuarry(c.in, c.args...)
		if got.code != exitError || !strings.Contains(got.err, "belongs to Git; --force changes it all the same") {
			t.Errorf("%s: exit code %d, %s%s", c.name, got.code, got.out, got.err)
		}
	}
	if got := runQuarry(hook, "patch", "--force", "--dry-run"); got.code != 0 {
		t.Errorf("with --force: exit code %d, %s", got.code, got.err)
	}
	if got := runQuarry("", "rm", "file", "--trash", "none"); links && got.code != 0 {
		t.Errorf("a link itself: exit code %d, %s", got.code, got.err)
	}
	if data, err := os.ReadFile(".git/config"); err != nil || string(data) != "bare\n" {
		t.Errorf(".git/config has %q, %v", data, err)
	}
}

// If a file's mode forbids a change to everyone, the message has a command that permits it.
func TestToAllow(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no such modes")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	writeTree(t, dir, map[string]string{"a.txt": "", "read-only": "", "closed": "", "d/x": ""})
	for name, mode := range map[string]os.FileMode{"read-only": 0o444, "closed": 0, "d": 0o555} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod("d", 0o755)
	for _, c := range []struct {
		action render.Action
		paths  []string
		want   string
	}{
		{render.Editing, []string{"read-only"}, "if it is yours, chmod u+w read-only allows it"},
		{render.Editing, []string{"closed"}, "if it is yours, chmod u+rw closed allows it"},
		{render.Reading, []string{"closed"}, "if it is yours, chmod u+r closed allows it"},
		{render.Reading, []string{"read-only"}, ""},
		{render.Writing, []string{"d/new"}, "if it is yours, chmod u+w d allows it"},
		{render.Moving, []string{"b.txt", "d/x"}, "if it is yours, chmod u+w d allows it"},
		{render.Editing, []string{"a.txt"}, ""},
	} {
		var full []string
		for _, p := range c.paths {
			full = append(full, filepath.Join(dir, p))
		}
		if got := toAllow(c.action, full...); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.action, c.paths, got, c.want)
		}
	}
}

// If the current folder was deleted, every command says so.
func TestCurrentFolderGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there a current folder can't be deleted")
	}
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PWD", "")
	for _, args := range [][]string{{"search", "x"}, {"find"}, {"log"}, {"undo"}, {"read", "a"}, {"edit", "a", "--delete", "1"}, {"rm", "a"}, {"index", "status"}, {"doctor"}, {"config"}, {"mcp"}} {
		got := runQuarry("", args...)
		if got.code != exitError || !strings.EqualFold(got.err, "quarry: the current folder no longer exists: change to another one\n") {
			t.Errorf("%q: exit code %d, %q", args, got.code, got.err)
		}
	}
}

// An empty argument, for example from an unset variable in a script, is refused. It used to mean
// the current folder or the last change.
func TestEmptyArguments(t *testing.T) {
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{"go.mod": "module x\n", "sub/a.txt": "x\n"})
	t.Chdir(filepath.Join(dir, "sub"))
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"rm", "", "--trash", "none"}, "PATH is empty\n  usage: quarry rm PATH...\n"},
		{[]string{"mv", "", "x"}, "SOURCE is empty\n  usage: quarry mv SOURCE... DESTINATION\n"},
		{[]string{"mv", "a.txt", ""}, "DESTINATION is empty\n  usage: quarry mv SOURCE... DESTINATION\n"},
		{[]string{"write", "", "--content", "x"}, "PATH is empty\n  usage: quarry write PATH\n"},
		{[]string{"read", ""}, "PATH is empty\n  usage: quarry read PATH[:A-B]...\n"},
		{[]string{"replace", "x", "", ""}, "PATH is empty\n  usage: quarry replace PATTERN TEXT [PATH...]\n"},
		{[]string{"undo", ""}, "ID is empty\n  usage: quarry undo [ID [FILE[:LINE]]...]\n"},
		{[]string{"write", "b.txt", "--root", "", "--content", "x"}, "--root is empty; . is the current folder\n"},
		{[]string{"search", "x", "--root="}, "--root is empty; . is the current folder\n"},
		{[]string{"index", "delete", "--root", ""}, "--root is empty; . is the current folder\n"},
		{[]string{"doctor", ""}, "DIR is empty\n  usage: quarry doctor [DIR]\n"},
		{[]string{"search", "x", ""}, "a path is empty; . is the current folder\n"},
		{[]string{"find", "x", ""}, "a path is empty; . is the current folder\n"},
		{[]string{"symbols", ""}, "a path is empty; . is the current folder\n"},
	} {
		got := runQuarry("", c.args...)
		if diff := cmp.Diff("quarry: "+c.want, got.err); diff != "" || got.code != exitError {
			t.Errorf("%q: exit code %d\n%s", c.args, got.code, diff)
		}
	}
	if got := runQuarry("", "replace", "x", "", "a.txt"); got.code != 0 {
		t.Errorf("an empty replacement: exit code %d, %s", got.code, got.err)
	}
}

// If the number of matches is not the expected one, nothing is replaced.
func TestExpectCounts(t *testing.T) {
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{"go.mod": "module x\n", "a.txt": "foo\n"})
	t.Chdir(dir)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, n := range []string{"0", "-1"} {
		if got := runQuarry("", "replace", "foo", "bar", "--expect", n); got.code != exitError || got.err != "quarry: --expect "+n+": it takes a number of matches, 1 or more\n" {
			t.Errorf("--expect %s: exit code %d, %s%s", n, got.code, got.out, got.err)
		}
	}
	if data, err := os.ReadFile("a.txt"); err != nil || string(data) != "foo\n" {
		t.Errorf("a.txt has %q, %v", data, err)
	}
}
