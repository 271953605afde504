package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"quarry"
	"quarry/search"
)

const (
	copiedFiles  = 25_000
	changedFiles = 20_000
)

// checkout simulates a checkout in an indexed copy of 25,000 C sources of a tree. It changes 20,000
// of the files and at once searches for five names: one added to every changed file, one removed
// from them, and three that other files define too. It fails if an answer differs from a scan's.
func checkout(tree string) error {
	dir, err := os.MkdirTemp("", "checkout")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	files, err := copySources(tree, dir)
	if err != nil {
		return err
	}
	state, err := os.MkdirTemp("", "index")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	ws, err := quarry.Open(dir, &quarry.Options{Index: &quarry.IndexOptions{Dir: state}})
	if err != nil {
		return err
	}
	defer ws.Close()
	scan, err := quarry.Open(dir, nil)
	if err != nil {
		return err
	}
	defer scan.Close()
	ctx := context.Background()
	if err := ws.Index().Wait(ctx); err != nil {
		return err
	}
	started := time.Now()
	for _, file := range files[:changedFiles] {
		text, err := os.ReadFile(file)
		if err == nil {
			text = text[:len(text)-len(marked("before"))]
			err = os.WriteFile(file, append(text, marked("after")...), 0o600)
		}
		if err != nil {
			return err
		}
	}
	fmt.Printf("%d of %d files changed in %s\n", changedFiles, len(files), time.Since(started).Round(time.Millisecond))
	kinds := map[string]int{"checkout_after": changedFiles, "checkout_before": len(files) - changedFiles, "probe": -1, "init": -1, "read": -1}
	for round := range 3 {
		for _, name := range []string{"checkout_after", "checkout_before", "probe", "init", "read"} {
			clock, cpu := time.Now(), processorTime()
			r, err := ws.Symbols(ctx, search.SymbolQuery{Name: name})
			if err != nil {
				return err
			}
			fmt.Printf("%s, %s after the change: %d definitions, processor time %s, by the clock %s, %s, %d files read\n", name, clock.Sub(started).Round(time.Second), r.Total,
				(processorTime() - cpu).Round(time.Millisecond), time.Since(clock).Round(time.Millisecond), r.Stats.Plan.Kind, r.Stats.Plan.Changed)
			if kinds[name] < 0 {
				s, err := scan.Symbols(ctx, search.SymbolQuery{Name: name})
				if err != nil {
					return err
				}
				kinds[name] = s.Total
			}
			if r.Total != kinds[name] {
				return fmt.Errorf("round %d: %s has %d definitions, want %d", round, name, r.Total, kinds[name])
			}
		}
		if round == 1 {
			if err := ws.Index().Wait(ctx); err != nil {
				return err
			}
			fmt.Printf("the index is up to date %s after the change\n", time.Since(started).Round(time.Second))
		}
	}
	return nil
}

// marked returns the definition at the end of a file. The versions for before and after the change
// have the same length.
func marked(when string) []byte { return fmt.Appendf(nil, "\nint checkout_%-6s = 1;\n", when) }

// copySources copies C sources of a tree and adds a definition to the end of each.
func copySources(tree, dir string) (files []string, err error) {
	full := errors.New("enough")
	err = filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(p) != ".c" {
			return err
		}
		rel, err := filepath.Rel(tree, p)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		files = append(files, to)
		if err := os.WriteFile(to, slices.Concat(text, marked("before")), 0o600); err != nil {
			return err
		}
		if len(files) == copiedFiles {
			return full
		}
		return nil
	})
	if errors.Is(err, full) {
		err = nil
	}
	if err == nil && len(files) < copiedFiles {
		err = fmt.Errorf("%s has only %d sources, %d are needed", tree, len(files), copiedFiles)
	}
	return files, err
}
