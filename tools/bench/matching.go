package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"quarry/match"
)

// matchCases are the patterns of the matching table. free marks patterns without a useful literal;
// for these, twice ripgrep's speed is required.
var matchCases = []struct {
	name, expr string
	fold, free bool
}{
	{"rare literal", "PM_RESUME", false, false},
	{"absent literal", "zzyzxqq", false, false},
	{"common literal", "mutex_lock", false, false},
	{"two letters", "->", false, false},
	{"literal, any case", "linus torvalds", true, false},
	{"5 literals", "ERR_SYS|PME_TURN_OFF|LINK_REQ_RST|CFG_BME_EVT|PM_RESUME", false, false},
	{"4 literals, any case", "err_sys|pme_turn_off|link_req_rst|cfg_bme_evt", true, false},
	{"class then literal", "[A-Z]+_SUSPEND", false, false},
	{"words then literal", `\w+\s+PM_RESUME`, false, false},
	{"no literal", `\w{5}\s+\w{5}\s+\w{5}`, false, true},
	{"anchored", `^\s*static\s+(inline\s+)?int\s+\w+\(`, false, true},
	{"rare script", `\p{Greek}`, false, false},
}

// matching compares the speed of one thread on one text. Quarry's text is in memory. ripgrep reads
// it from the page cache, mapped or read, whichever is faster; its time includes the start of the
// process.
func (b *bench) matching() error {
	name, err := b.text()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	gb := float64(len(text)) / 1e9
	fmt.Printf("\nmatching: count lines in %.0f MB of source, one thread\n", 1000*gb)
	fmt.Printf("%-22s %10s %10s %8s %10s  %s\n", "", "quarry", "ripgrep", "ratio", "lines", "how")
	for _, c := range matchCases {
		opts := match.Options{}
		args := []string{"-j1", "-c", "--no-config"}
		if c.fold {
			opts.Case = match.Insensitive
			args = append(args, "-i")
		}
		p, err := match.Compile(c.expr, opts)
		if err != nil {
			return err
		}
		lines := 0
		ours := b.best(func() error {
			lines = p.NewMatcher().CountLines(text)
			return nil
		})
		theirLines := 0
		theirs := b.best(func() error {
			out, _ := exec.Command(b.rg, append(args, "--no-mmap", "-e", c.expr, name)...).Output()
			theirLines, _ = strconv.Atoi(strings.TrimSpace(string(bytes.TrimSpace(out))))
			return nil
		})
		theirs = min(theirs, b.best(func() error {
			_ = exec.Command(b.rg, append(args, "--mmap", "-e", c.expr, name)...).Run()
			return nil
		}))
		note := ""
		if lines != theirLines {
			note = fmt.Sprintf("  ripgrep counts %d", theirLines)
		}
		if c.free {
			note += "  (no literal helps)"
		}
		fmt.Printf("%-22s %7.2f GB/s %5.2f GB/s %5.2fx %10d  %s%s\n", c.name,
			gb/ours.Seconds(), gb/theirs.Seconds(), theirs.Seconds()/ours.Seconds(), lines, p.Strategy(), note)
	}
	return nil
}

func (b *bench) best(f func() error) time.Duration {
	best := time.Duration(1<<63 - 1)
	for range b.rounds {
		start := time.Now()
		if err := f(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		best = min(best, time.Since(start))
	}
	return best
}
