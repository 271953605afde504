package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// check tests the judges. Each must decide "not solved" for the original tree, and "solved" for the
// known solution.
func (t trial) check(kinds []string, out io.Writer) error {
	if len(kinds) == 0 {
		kinds = strings.Split(kindNames(), ", ")
	}
	wrong := 0
	for _, name := range kinds {
		k, err := readKind(name)
		if err != nil {
			return err
		}
		judges, err := readJudges(name)
		if err != nil {
			return err
		}
		for _, task := range k.Tasks {
			ok, err := t.checkTask(k, task, judges[task.ID], out)
			if err != nil {
				return fmt.Errorf("%s: %w", task.ID, err)
			}
			if !ok {
				wrong++
			}
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d judges are wrong", wrong)
	}
	return nil
}

func (t trial) checkTask(k *kind, task task, j judge, out io.Writer) (bool, error) {
	dir, err := os.MkdirTemp(t.dir, "check")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	r := &runRecord{dir: dir}
	if err := t.plant(k, task, r); err != nil {
		return false, err
	}
	if err := t.happen(r, task); err != nil {
		return false, err
	}
	untouched, err := t.decide(k, task, j, r.tree(task.ID), "")
	if err != nil {
		return false, err
	}
	if err := t.solve(k, task, j, r.tree(task.ID)); err != nil {
		return false, err
	}
	solved, err := t.decide(k, task, j, r.tree(task.ID), j.Solve.Answers)
	if err != nil {
		return false, err
	}
	ok := !untouched.Solved && solved.Solved
	fmt.Fprintf(out, "%s %s: untouched tree not solved: %v; known solution solved: %v\n", k.Name, task.ID, !untouched.Solved, solved.Solved)
	if !solved.Solved {
		fmt.Fprintf(out, "  %s\n", strings.Join(solved.Why, "\n  "))
	}
	return ok, nil
}

// solve applies the known solution, which is a commit's files or a script.
func (t trial) solve(k *kind, task task, j judge, tree string) error {
	if j.Values != "" {
		return writeServices(tree, j.Values)
	}
	if j.Kept {
		c := command{Args: []string{"bash", "-c", "git reset -q --hard && git clean -qfdx"}}
		if text, err := c.run(tree); err != nil {
			return fmt.Errorf("%w\n%s", err, text)
		}
		for _, s := range task.Before {
			if !s.Undo {
				if err := s.run(tree); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if j.From != "" {
		place := t.places[k.Source.Name]
		names, err := exec.Command("git", "-C", place, "diff", "--name-only", "-z", j.From+"^", j.From).Output()
		if err != nil {
			return fmt.Errorf("git diff: %w%s", err, stderrOf(err))
		}
		j.Take = strings.Split(strings.TrimSuffix(string(names), "\x00"), "\x00")
		return t.take(k, j, tree)
	}
	if j.Solve.Script == "" {
		return nil
	}
	c := exec.Command("bash", "-c", j.Solve.Script)
	c.Dir = filepath.Clean(tree)
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("known solution: %w\n%s", err, text)
	}
	return nil
}
