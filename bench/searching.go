package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
)

// searchCases are the patterns of the search table, with the ratio to
// ripgrep's wall time we ask for.
var searchCases = []struct {
	args   []string
	target float64
}{
	{[]string{"PM_RESUME"}, 1},
	{[]string{"mutex_lock"}, 1},
	{[]string{"zzyzxqq"}, 1},
	{[]string{"[A-Z]+_SUSPEND"}, 1},
	{[]string{`\w+\s+PM_RESUME`}, 1},
	{[]string{"-i", "linus"}, 1},
	{[]string{`\w{5}\s+\w{5}\s+\w{5}`}, 0.6},
	{[]string{`^\s*static\s+(inline\s+)?int\s+\w+\(`}, 0.6},
}

// searching compares whole searches, one process each.
func (b *bench) searching() error {
	exe, err := b.build()
	if err != nil {
		return err
	}
	b.header("search -c: one process each, warm cache (ratio below 1: quarry is faster)")
	for _, c := range searchCases {
		ours := append([]string{exe, "search", "-c"}, c.args...)
		theirs := append([]string{b.rg, "--no-config", "--no-require-git", "-c"}, c.args...)
		q, r, err := b.compare(ours, theirs)
		if err != nil {
			return err
		}
		note := ""
		if ratio := q.wall.Seconds() / r.wall.Seconds(); ratio > c.target {
			note = fmt.Sprintf("  (asked: %.1f)", c.target)
		}
		if same, err := b.sameLines(ours, theirs); err != nil {
			return err
		} else if !same {
			note += "  OTHER COUNTS"
		}
		b.row(fmt.Sprint(c.args)+note, q, r)
	}
	return nil
}

func (b *bench) sameLines(ours, theirs []string) (bool, error) {
	var out [2][][]byte
	for i, args := range [][]string{ours, theirs} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = b.tree
		text, err := cmd.Output()
		if err != nil && cmd.ProcessState.ExitCode() != 1 {
			return false, err
		}
		out[i] = bytes.Split(text, []byte("\n"))
		slices.SortFunc(out[i], bytes.Compare)
	}
	return slices.EqualFunc(out[0], out[1], bytes.Equal), nil
}
