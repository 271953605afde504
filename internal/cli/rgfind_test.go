package cli

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"quarry/internal/stress"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestFindRipgrep compares listed files with rg --files, in the trees of TestRipgrep and in Go's
// source tree. The order, which is by the bytes of paths, is checked separately.
func TestFindRipgrep(t *testing.T) {
	rg, _ := ripgrep(t)
	trees := makeTrees(t)
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command: install Go")
	}
	trees["go"] = filepath.Join(strings.TrimSpace(string(goroot)), "src")
	cases, listed := 0, 0
	for seed := range uint64(stress.Fewer(150)) {
		rng := rand.New(rand.NewPCG(seed, 6))
		tree := pick(rng, "plain", "ignored", "ignored", "names")
		var flags []string
		if seed%30 == 0 {
			tree = "go"
		}
		if rng.IntN(2) == 0 {
			flags = append(flags, pick(rng, "--hidden", "--no-ignore", "-u", "-uu"))
		}
		if rng.IntN(2) == 0 {
			flags = append(flags, "-g", pick(rng, "!*.go", "!sub", "!sub/**", "!*.{txt,md}", "!/a*"))
		} else if tree != "ignored" && rng.IntN(2) == 0 { // in these trees, globs don't include files that are ignored
			flags = append(flags, "-g", pick(rng, "*.go", "sub/*", "*_test.go", "[a-c]*", "**/deep/**"))
		}
		if rng.IntN(5) == 0 {
			flags = append(flags, "--max-depth", pick(rng, "1", "2"))
		}
		t.Chdir(trees[tree])
		want := runRipgrep(t, rg, trees[tree], append([]string{"--files", "-0"}, flags...))
		got := runQuarry("", append([]string{"find", "-0"}, flags...)...)
		if cases++; want.out != "" {
			listed++
		}
		list := func(out string) []string { return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00") }
		wantList, gotList := list(want.out), list(got.out)
		if !slices.IsSorted(gotList) {
			t.Errorf("seed %d: find %q is not in the order of the paths", seed, flags)
		}
		slices.Sort(wantList)
		if diff := cmp.Diff(wantList, gotList); diff != "" || (got.code == exitFound) != (want.out != "") {
			t.Errorf("seed %d: find %q in %s: exit code %d\n%s", seed, flags, tree, got.code, diff)
		}
	}
	t.Logf("%d compared with rg --files, %d of them listed something", cases, listed)
	if listed < cases/2 {
		t.Errorf("rg listed something for %d of %d cases only: the trees are unsuitable", listed, cases)
	}
}

// ripgrep's --sort orders, where the oldest file comes first, and the reverse of each.
func TestSortRipgrep(t *testing.T) {
	rg, version := ripgrep(t)
	dir := t.TempDir()
	t.Chdir(dir)
	start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, name := range []string{"c", "a", "sub/d", "b"} {
		writeTree(t, dir, map[string]string{name: "foo\nfoo\n"})
		when := start.Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	cases := 0
	defer func() { t.Logf("%d compared with ripgrep %d, each with four files", cases, version) }()
	for _, flags := range [][]string{{"--sort", "modified"}, {"--sortr", "modified"}, {"--sortr", "path"}, {"--sort=path"}} {
		if version < 14 && flags[1%len(flags)] == "modified" {
			continue // this ripgrep sorts folder by folder
		}
		for _, mode := range []string{"-n", "-c", "-l", "-C1"} {
			args := append(slices.Clone(flags), mode, "-n", "foo")
			want, got := runRipgrep(t, rg, dir, args), runQuarry("", append([]string{"search"}, args...)...)
			if cases++; strings.Count(want.out, "\n") < 4 {
				t.Errorf("%q: ripgrep does not print the four files: %q", args, want.out)
			}
			if diff := cmp.Diff(want.out, got.out); diff != "" {
				t.Errorf("%q:\n%s%s", args, diff, got.err)
			}
		}
	}
}
