package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/rename"
	"quarry/search"
)

// checked renames n definitions in a copy of a tree, one at a time, and runs command after each,
// which is a compiler or tests. Like the program, it refuses a rename with doubtful places. It
// undoes each rename before the next.
func checked(ctx context.Context, dir, command string, n int, kinds []string, globs []string, doubtful, show bool) (err error) {
	tmp, err := os.MkdirTemp("", "renames")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	tree, state := filepath.Join(tmp, "tree"), filepath.Join(tmp, "state")
	if err := errors.Join(os.CopyFS(tree, os.DirFS(dir)), os.Mkdir(state, 0o700)); err != nil {
		return err
	}
	run := func() (string, bool) {
		cmd := exec.CommandContext(ctx, "sh", "-c", command)
		cmd.Dir = tree
		out, err := cmd.CombinedOutput()
		return string(out), err == nil
	}
	if out, ok := run(); !ok {
		return fmt.Errorf("the command fails before any rename:\n%s", out)
	}
	ws, err := quarry.Open(tree, &quarry.Options{Trusted: true, StateDir: state})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ws.Close()) }()
	all, err := ws.Symbols(ctx, search.SymbolQuery{Scope: search.Scope{Globs: globs}, Limit: 100000, Kinds: kinds})
	if err != nil {
		return err
	}
	list := all.Symbols
	slices.SortStableFunc(list, func(a, b search.Symbol) int { return strings.Compare(a.Path, b.Path) })
	counts, whys := map[string]int{}, map[string]int{}
	began := time.Now()
	for i := range min(n, len(list)) {
		s := &list[i*len(list)/min(n, len(list))]
		old := fmt.Sprintf("%s:%d#%s", s.Path, s.Line, s.Name)
		q := rename.Query{Old: old, New: strings.TrimPrefix(s.Name, "~") + "Zz9", Doubtful: doubtful}
		plan, err := rename.Find(ctx, ws, q)
		switch {
		case fault.CodeOf(err) == fault.NotFound:
			counts["refused: a constructor"]++
			continue
		case err != nil:
			counts["refused: "+string(fault.CodeOf(err))]++
			if show {
				fmt.Printf("  %s: %v\n", old, err)
			}
			continue
		case plan.Undecided(&q, 0, "") != nil:
			counts["refused: doubtful"]++
			for _, p := range plan.Doubtful {
				whys[p.Why[:min(len(p.Why), 14)]]++
				if show {
					fmt.Printf("  %s: doubtful %s:%d: %s (%s)\n", old, p.Path, p.Line, p.Text, p.Why)
					break
				}
			}
			continue
		}
		c, err := ws.Apply(ctx, change.Set{Ops: plan.Ops})
		if err != nil {
			return fmt.Errorf("%s: %w", old, err)
		}
		if out, ok := run(); ok {
			counts["builds"]++
		} else {
			counts["BROKEN"]++
			fmt.Printf("  broken by %s %s (%d places):\n%s\n", s.Kind, old, len(plan.Sure), bytes.TrimSpace([]byte(out)[:min(len(out), 700)]))
		}
		if _, err := ws.Undo(ctx, c.ID, nil); err != nil {
			return fmt.Errorf("undo of %s: %w", old, err)
		}
	}
	fmt.Printf("%s: %d definitions, %d tried in %s:", filepath.Base(dir), len(list), min(n, len(list)), time.Since(began).Round(time.Second))
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		fmt.Printf(" %s %d;", k, counts[k])
	}
	fmt.Println()
	if show {
		for _, k := range slices.Sorted(maps.Keys(whys)) {
			fmt.Printf("  %5d places: %s\n", whys[k], k)
		}
	}
	if counts["BROKEN"] > 0 {
		return errors.New("a rename broke the tree")
	}
	return nil
}
