package main

import (
	"bufio"
	"fmt"
	"hash/maphash"
	"io"
	"os/exec"
)

// searchCases are the patterns of the search table. The ratio is the required one to ripgrep's wall
// time.
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

// searching compares whole searches, each in a process of its own.
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

// sameLines reports whether two commands print the same lines in any order. It adds up hashes
// instead of storing lines, because this process's memory would count as the next child's.
func (b *bench) sameLines(ours, theirs []string) (bool, error) {
	seed := maphash.MakeSeed()
	var sum [2]uint64
	for i, args := range [][]string{ours, theirs} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = b.tree
		out, err := cmd.StdoutPipe()
		if err != nil {
			return false, err
		}
		if err := cmd.Start(); err != nil {
			return false, err
		}
		if sum[i], err = sumLines(out, seed); err != nil {
			return false, err
		}
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 1 {
			return false, err
		}
	}
	return sum[0] == sum[1], nil
}

func sumLines(r io.Reader, seed maphash.Seed) (sum uint64, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	var line maphash.Hash
	line.SetSeed(seed)
	for {
		part, err := in.ReadSlice('\n')
		line.Write(part)
		if err == bufio.ErrBufferFull {
			continue
		}
		sum += line.Sum64()
		line.Reset()
		if err == io.EOF {
			return sum, nil
		}
		if err != nil {
			return 0, err
		}
	}
}
