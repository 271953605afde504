package cli

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"quarry/internal/stress"
)

// TestRgPreset runs quarry rg and ripgrep with the same flags and compares the results. It excludes
// differences that docs/SEARCH.md lists for both quarry search and quarry rg.
func TestRgPreset(t *testing.T) {
	stress.SkipShort(t)
	rg, version := ripgrep(t)
	if version < 14 {
		t.Skipf("ripgrep %d is not the one that quarry rg behaves like: set QUARRY_RG", version)
	}
	same := []string{ // differences of quarry search that don't exist in quarry rg
		"\\r\\n is one line ending", "ignore files count outside git repositories", "line numbers also in a pipe", "binary files are skipped",
	}
	all := slices.DeleteFunc(slices.Concat(differences, faults), func(d difference) bool { return slices.Contains(same, d.name) })
	trees := makeTrees(t)
	cases, printed, wrong := stress.Size(200, 600), 0, 0
	if *rgCases > 0 {
		cases = *rgCases
	}
	for seed, n := uint64(0), 0; n < cases && wrong < 25; seed++ {
		rng := rand.New(rand.NewPCG(seed, 5))
		c := randomCase(rng)
		if rng.IntN(2) == 0 { // in a pipe, the default differs
			c.flags = slices.DeleteFunc(c.flags, func(f string) bool { return f == "-n" || f == "-N" })
		}
		if c.tree == "crlf" && rng.IntN(3) == 0 {
			c.flags = append(c.flags, "--crlf")
		}
		if c.tree == "names" && c.has("--files-without-match") {
			continue // ripgrep's exit code reflects the binary file, although it isn't shown
		}
		if c.has("--crlf") && c.has("--color=always") {
			continue // in colour ripgrep writes \r\n for \n
		}
		if slices.ContainsFunc(all, func(d difference) bool { return d.applies != nil && d.applies(&c, version) }) {
			continue
		}
		n++
		dir := trees[c.tree]
		for i, p := range c.paths {
			c.paths[i] = strings.Replace(p, "TREE", dir, 1)
		}
		t.Chdir(dir)
		args := append([]string{"--no-config", "--sort", "path"}, c.args()...)
		want := runSuite(rg, args, &suiteCommand{dir: dir}, "")
		got := runQuarry("", append([]string{"rg"}, args...)...)
		if want.out != "" {
			printed++
		}
		if diff := compareOutcome(&c, want, got); diff != "" {
			wrong++
			t.Errorf("seed %d: in tree %s: %q\n%s\nstderr %s%s", seed, c.tree, args, diff, got.err, want.err)
		}
	}
	t.Logf("%d compared with ripgrep %d, %d of them printed something", cases, version, printed)
	if printed < cases/2 {
		t.Errorf("ripgrep printed something for %d of %d cases only: the trees are unsuitable", printed, cases)
	}
}
