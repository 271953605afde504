package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"
)

// speed runs both programs over a tree with every nth pattern of a language, or only with the
// pattern find. It compares the best processor time of several runs. Neither program uses an index,
// or ignore rules, because those in Debian's kernel package exclude every file.
func speed(ctx context.Context, tree, name, find, astgrep, quarry string, every, runs int) error {
	var ours, theirs time.Duration
	patterns := 0
	for _, l := range languages {
		if l.name != name {
			continue
		}
		for i := 0; i < len(l.patterns); i += every {
			p := l.patterns[i]
			if find != "" {
				if p, i = find, len(l.patterns); !slices.Contains(l.patterns, p) {
					return fmt.Errorf("unknown pattern %s of %s", p, name)
				}
			}
			mine := []string{"search", "--structure", "--no-index", "--no-ignore", "--json", p}
			other := []string{"run", "--pattern", p, "--lang", l.name, "--no-ignore", "vcs", "--json=stream"}
			for _, g := range l.globs {
				mine, other = append(mine, "-g", g), append(other, "--globs", "**/"+g)
			}
			a, lines, err := best(ctx, tree, quarry, mine, runs)
			if err != nil {
				return err
			}
			b, matches, err := best(ctx, tree, astgrep, append(other, "."), runs)
			if err != nil {
				return err
			}
			fmt.Printf("  %-35s %7.2f s of processor time for %d lines of answer, ast-grep %7.2f s for %d: %.3f\n", p, a.Seconds(), lines, b.Seconds(), matches, a.Seconds()/b.Seconds())
			ours, theirs = ours+a, theirs+b
			if lines > 0 && matches > 0 {
				patterns++
			}
		}
	}
	fmt.Printf("%s in %s: %d patterns with a match in both, %.1f s of processor time, ast-grep %.1f s: %.3f\n", name, tree, patterns, ours.Seconds(), theirs.Seconds(), ours.Seconds()/max(theirs.Seconds(), 0.001))
	if patterns == 0 {
		return errors.New("no pattern has a match")
	}
	return nil
}

// best returns the least processor time of several runs, and the number of lines printed. If files
// were skipped (exit status 2 with an answer), it prints their names: the kernel has one of 24 MB.
func best(ctx context.Context, tree, program string, args []string, runs int) (time.Duration, int, error) {
	least, lines := time.Duration(0), 0
	for range runs {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Dir = tree
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 2 && len(out) > 0 {
			fmt.Printf("  %s", exit.Stderr)
			err = nil
		}
		if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
			return 0, 0, fmt.Errorf("%s %q: %w", program, args, err)
		}
		spent := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		if least == 0 || spent < least {
			least = spent
		}
		lines = bytes.Count(out, []byte("\n"))
	}
	return least, lines, nil
}
