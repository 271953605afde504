package cli

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/stress"
)

// TestFdPreset runs quarry fd and fd with the same arguments. It ignores the order of results.
func TestFdPreset(t *testing.T) {
	fd := fdProgram(t)
	run := stress.Start(t, "quarry fd = fd", 150, 20_000)
	var dir string
	cases, printed := 0, 0
	for seed := range run.Cases() {
		rng := stress.Rand(seed)
		if dir == "" || rng.IntN(25) == 0 {
			dir = fdTree(t, rng)
			t.Chdir(dir)
		}
		_, args := fdCase(rng)
		args = fdMore(rng, args)
		cmd := exec.Command(fd, args...)
		cmd.Dir = dir
		out, _ := cmd.Output()
		if cmd.ProcessState == nil {
			t.Fatal("fd did not run")
		}
		if cmd.ProcessState.ExitCode() > 1 {
			continue // an older fd rejects this combination of flags
		}
		got := runQuarry("", append([]string{"fd"}, args...)...)
		cases++
		if len(out) > 0 {
			printed++
		}
		want := fdList(string(out))
		have := fdList(got.out)
		if slices.Contains(args, "--size") || slices.Contains(args, "x") {
			// For a link to a file, fd compares the link's own size, and tests whether the target
			// is executable. Quarry does neither for links.
			want, have = slices.DeleteFunc(want, isLink), slices.DeleteFunc(have, isLink)
		}
		if diff := gocmp.Diff(want, have, cmpopts.EquateEmpty()); diff != "" {
			run.Violation(seed, "fd %q in\n%s\n%s%s", args, strings.Join(listTree(dir), "\n"), diff, got.err)
		}
		if code := cmd.ProcessState.ExitCode(); code != got.code {
			run.Violation(seed, "fd %q: exit code %d, fd's %d\n%s", args, got.code, code, got.err)
		}
	}
	t.Logf("%d compared with fd, %d of them listed something", cases, printed)
	if cases >= 100 && printed < cases/3 {
		t.Errorf("fd listed something for %d of %d cases only: the trees are unsuitable", printed, cases)
	}
}

// fdMore adds random flags that quarry find lacks.
func fdMore(rng *rand.Rand, args []string) []string {
	var more []string
	for _, c := range []struct {
		n     int
		flags []string
	}{
		{8, []string{"--prune"}}, {8, []string{"--no-ignore-vcs"}}, {10, []string{"-p"}}, {12, []string{"-q"}}, {12, []string{"-a"}},
		{8, []string{"--and", pick(rng, "a", "[ab]", "o$")}}, {8, []string{"-u"}}, {10, []string{"--strip-cwd-prefix"}}, {12, []string{"--no-ignore-parent"}},
	} {
		if rng.IntN(c.n) == 0 {
			more = append(more, c.flags...)
		}
	}
	if !slices.Contains(args, "-F") && !slices.Contains(args, "-g") && rng.IntN(2) == 0 {
		args = append(args, "--", pick(rng, `a`, `^a`, `\.go$`, `[A-Z]`, `sc.n`, `a|b`, `^.$`))
	}
	return append(more, args...)
}
