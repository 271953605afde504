package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
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

// checking renames definitions in copies of trees and runs a command after each rename, which is a
// compiler or tests.
type checking struct {
	command      string
	n            int
	seed         uint64 // if not 0, definitions are drawn; otherwise they have equal distances
	kinds, globs []string
	doubtful     bool // rename doubtful places too
	weigh        bool // make refused renames too, with the doubtful places and without them, and report which of these build
	show         bool
}

// tree renames n definitions in a copy of a tree, one at a time. Like the program, it refuses a
// rename with doubtful places. It undoes each rename before the next.
func (k *checking) tree(ctx context.Context, dir string) (err error) {
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
		cmd := exec.CommandContext(ctx, "sh", "-c", k.command)
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
	all, err := ws.Symbols(ctx, search.SymbolQuery{Scope: search.Scope{Globs: k.globs}, Limit: 100000, Kinds: k.kinds})
	if err != nil {
		return err
	}
	list := all.Symbols
	slices.SortStableFunc(list, func(a, b search.Symbol) int { return strings.Compare(a.Path, b.Path) })
	if k.seed != 0 {
		rand.New(rand.NewPCG(k.seed, 1)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	n := min(k.n, len(list))
	counts, whys := map[string]int{}, map[string]int{}
	began := time.Now()
	for i := range n {
		s := &list[i*len(list)/n]
		old := fmt.Sprintf("%s:%d#%s", s.Path, s.Line, s.Name)
		// builds makes a rename, runs the command and undoes the rename.
		builds := func(plan *rename.Plan) (string, bool, error) {
			c, err := ws.Apply(ctx, change.Set{Ops: plan.Ops})
			if err != nil {
				return "", false, fmt.Errorf("%s: %w", old, err)
			}
			out, ok := run()
			if _, err := ws.Undo(ctx, c.ID, nil); err != nil {
				return "", false, fmt.Errorf("undo of %s: %w", old, err)
			}
			return out, ok, nil
		}
		q := rename.Query{Old: old, New: strings.TrimPrefix(s.Name, "~") + "Zz9", Doubtful: k.doubtful}
		plan, err := rename.Find(ctx, ws, q)
		switch {
		case fault.CodeOf(err) == fault.NotFound:
			counts["refused: a constructor"]++
			continue
		case err != nil:
			counts["refused: "+string(fault.CodeOf(err))]++
			if k.show {
				fmt.Printf("  %s: %v\n", old, err)
			}
			continue
		case plan.Undecided(&q, 0, "") != nil:
			counts["refused: doubtful"]++
			for i, p := range plan.Doubtful {
				whys[p.Why[:min(len(p.Why), 14)]]++
				if k.show && i == 0 {
					fmt.Printf("  %s: doubtful %s:%d: %s (%s)\n", old, p.Path, p.Line, p.Text, p.Why)
				}
			}
			if !k.weigh {
				continue
			}
			verdict := "neither"
			for _, way := range []string{"without", "with"} {
				q.Doubtful, q.Sure = way == "with", way == "without"
				if plan, err = rename.Find(ctx, ws, q); err != nil {
					return fmt.Errorf("%s: %w", old, err)
				}
				if _, ok, err := builds(plan); err != nil {
					return err
				} else if ok && verdict == "neither" {
					verdict = way
				} else if ok {
					verdict = "both"
				}
			}
			counts["doubtful places, builds: "+verdict]++
			continue
		}
		out, ok, err := builds(plan)
		if err != nil {
			return err
		}
		if ok {
			counts["builds"]++
			continue
		}
		counts["BROKEN"]++
		fmt.Printf("  broken by %s %s (%d places):\n%s\n", s.Kind, old, len(plan.Sure), bytes.TrimSpace([]byte(out)[:min(len(out), 700)]))
	}
	fmt.Printf("%s: %d definitions, %d tried in %s:", filepath.Base(dir), len(list), n, time.Since(began).Round(time.Second))
	for _, result := range slices.Sorted(maps.Keys(counts)) {
		fmt.Printf(" %s %d;", result, counts[result])
	}
	fmt.Println()
	if k.show {
		for _, why := range slices.Sorted(maps.Keys(whys)) {
			fmt.Printf("  %5d places: %s\n", whys[why], why)
		}
	}
	if counts["BROKEN"] > 0 {
		return errors.New("a rename broke the tree")
	}
	return nil
}
