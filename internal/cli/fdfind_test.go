package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/stress"
)

// TestFindFd compares listings with fd's, for random trees and flags. Flags compensate for three
// deliberate differences (docs/SEARCH.md): in quarry find, patterns are not regular expressions, so
// fd gets -F; globs are case-sensitive, so fd gets -s; and folders are listed only on request, so
// quarry gets -t any where fd lists everything.
func TestFindFd(t *testing.T) {
	fd := fdProgram(t)
	cases, listed := 0, 0
	compare := func(dir string, ours, theirs []string) string {
		t.Helper()
		cmd := exec.Command(fd, theirs...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		} else if err != nil && len(exit.Stderr) > 0 {
			t.Fatalf("fd %q: %s", theirs, exit.Stderr)
		}
		got := runQuarry("", append([]string{"find"}, ours...)...)
		if got.code == exitError {
			t.Fatalf("find %q: %s", ours, got.err)
		}
		want := fdList(string(out))
		if cases++; len(want) > 0 {
			listed++
		}
		if slices.Contains(theirs, "--size") || slices.Contains(theirs, "x") {
			// For a link to a file, fd compares the link's own size, and tests whether the target
			// is executable. Quarry does neither for links.
			want = slices.DeleteFunc(want, isLink)
		}
		return gocmp.Diff(want, fdList(got.out), cmpopts.EquateEmpty())
	}
	// Also test names that differ only in letter case, because random names seldom do.
	dir := t.TempDir()
	for _, name := range []string{"scan.md", "Scanner.go", "SCANS.txt", "café", "CAFÉS", "a.GO", "b.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, p := range []string{"scan", "Scan", "SCAN", "é", "É", "go", "GO", "Go"} {
		for _, fold := range [][]string{nil, {"-i"}, {"-s"}, {"-i", "-s"}, {"-s", "-i"}} {
			ours := append([]string{"-0", "-t", "any"}, fold...)
			theirs := append([]string{"-0", "-F"}, fold...)
			if diff := compare(dir, append(ours, "--", p, "."), append(theirs, "--", p, ".")); diff != "" {
				t.Errorf("%v %s: %s", fold, p, diff)
			}
		}
	}
	t.Logf("%d compared with fd for letter case, %d of them listed something", cases, listed)
	if listed < cases/2 {
		t.Errorf("fd listed something for %d of %d cases only", listed, cases)
	}
	run := stress.Start(t, "find = fd", 150, 20_000)
	dir, cases, listed = "", 0, 0
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		if dir == "" || rng.IntN(25) == 0 {
			dir = fdTree(t, rng)
			t.Chdir(dir)
		}
		ours, theirs := fdCase(rng)
		if diff := compare(dir, ours, theirs); diff != "" {
			run.Violation(seed, "find %q, fd %q in\n%s\n%s", ours, theirs, strings.Join(listTree(dir), "\n"), diff)
		}
	}
	t.Logf("%d compared with fd, %d of them listed something", cases, listed)
	if cases >= 100 && listed < cases/3 {
		t.Errorf("fd listed something for %d of %d cases only: the trees are unsuitable", listed, cases)
	}
}

func fdProgram(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"fdfind", "fd"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("fd is not installed (Debian: fd-find)")
	return ""
}

// fdList splits a NUL-separated list of paths and normalizes them.
func fdList(out string) []string {
	var list []string
	for p := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if p == "" {
			continue
		}
		list = append(list, strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/"))
	}
	slices.Sort(list)
	return list
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// fdTree makes a random tree in a repository. No name ends in a dot, because fd does not treat
// hidden names like that as hidden.
func fdTree(t *testing.T, rng *rand.Rand) string {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "work")
	for _, d := range []string{filepath.Join(top, ".git"), dir} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	name := func() string {
		return pick(rng, "a", "b", "ab", "Ab", "scan", "Scanner", "café", "x-y", "test_1", "read me", ".env1", ".hid", "0", "aB", "") +
			pick(rng, "", "", ".go", ".GO", ".txt", ".tar.gz", ".md")
	}
	folders := []string{""}
	for range 6 + rng.IntN(30) {
		p := filepath.Join(dir, folders[rng.IntN(len(folders))], name())
		if base := filepath.Base(p); strings.Trim(base, ".") == "" {
			continue
		}
		if _, err := os.Lstat(p); err == nil {
			continue
		}
		var err error
		switch rng.IntN(8) {
		case 0, 1:
			if err = os.Mkdir(p, 0o755); err == nil {
				rel, _ := filepath.Rel(dir, p)
				folders = append(folders, rel)
			}
		case 2:
			err = os.Symlink(pick(rng, "a", "scan", "missing", "../ab", "."), p)
		default:
			mode := os.FileMode(0o644)
			if rng.IntN(4) == 0 {
				mode = 0o755
			}
			size := []int{0, 0, 1, 999, 1000, 1023, 1024, 1025, 5000}[rng.IntN(9)]
			if err = os.WriteFile(p, make([]byte, size), mode); err == nil {
				when := time.Now().Add(-time.Duration(rng.IntN(40)) * 24 * time.Hour).Add(-time.Hour)
				err = os.Chtimes(p, when, when)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range folders {
		if rng.IntN(5) == 0 {
			rules := pick(rng, "*.go\n", "a\n!ab\n", "/scan\n", "b/\n", "*.txt\n!a.txt\n", "x-y*\n", ".*\n!.hid\n")
			if err := os.WriteFile(filepath.Join(dir, f, pick(rng, ".gitignore", ".ignore")), []byte(rules), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// fdCase returns equivalent random command lines for both programs.
func fdCase(rng *rand.Rand) (ours, theirs []string) {
	both := []string{"-0"}
	some := func(n int, flags ...string) {
		if rng.IntN(n) == 0 {
			both = append(both, flags...)
		}
	}
	some(3, "-H")
	some(3, "-I")
	some(6, "-E", pick(rng, "a", "*.go", "scan*", "b/", "*/a", "/ab"))
	some(5, "-e", pick(rng, "go", "GO", "gz", "tar.gz", ".txt", "md"))
	some(5, "--size", pick(rng, "+1k", "-1k", "+1ki", "-1ki", "+1b", "1000b"))
	some(6, "--changed-within", pick(rng, "10d", "2weeks", "36h"))
	some(6, "--changed-before", pick(rng, "10d", "2weeks", "36h"))
	some(5, "-d", pick(rng, "1", "2"))
	some(5, "--min-depth", pick(rng, "1", "2", "3"))
	kinds := rng.IntN(2)
	for range kinds {
		both = append(both, "-t", pick(rng, "f", "d", "l", "x", "e"))
	}
	if kinds == 1 && rng.IntN(3) == 0 {
		both = append(both, "-t", pick(rng, "f", "d", "l"))
	}
	ours, theirs = slices.Clone(both), slices.Clone(both)
	if kinds == 0 {
		ours = append(ours, "-t", "any")
	}
	switch rng.IntN(3) {
	case 0:
		p := pick(rng, "a", "scan", "Scan", "b.g", "É", "é", ".", "-", "1", "ME", "tar")
		fold := pick(rng, "", "-i", "-s")
		ours, theirs = append(ours, fold), append(theirs, fold, "-F")
		ours, theirs = append(ours, "--", p, "."), append(theirs, "--", p, ".")
	case 1:
		p := pick(rng, "*.go", "a*", "?", "[ab]*", "*.{go,txt}", "scan*.md", "*a*", "*.tar.*")
		ours, theirs = append(ours, "-g", p), append(theirs, "-g", "-s", "--", p)
	}
	drop := func(s string) bool { return s == "" }
	return slices.DeleteFunc(ours, drop), slices.DeleteFunc(theirs, drop)
}

// listTree describes the entries of a tree by the properties that find can test.
func listTree(dir string) (list []string) {
	filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			rel, _ := filepath.Rel(dir, p)
			text := ""
			if strings.HasSuffix(rel, "ignore") {
				data, _ := os.ReadFile(p)
				text = fmt.Sprintf(" %q", data)
			}
			list = append(list, fmt.Sprintf("%s %d %s%s", info.Mode(), info.Size(), rel, text))
		}
		return err
	})
	slices.SortFunc(list, cmp.Compare)
	return list
}
