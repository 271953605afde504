package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// verdict is a line of judged.json.
type verdict struct {
	Task   string   `json:"task"`
	Solved bool     `json:"solved"`
	Why    []string `json:"why,omitempty"` // the conditions that failed
}

// judge runs the judges for a run's kind of tasks on its trees.
func (t trial) judge(r *runRecord, out io.Writer) error {
	if err := t.stop(r); err != nil {
		return err
	}
	k, err := readKind(r.Kind)
	if err != nil {
		return err
	}
	judges, err := readJudges(r.Kind)
	if err != nil {
		return err
	}
	var all []verdict
	for _, task := range k.Tasks {
		j, ok := judges[task.ID]
		if !ok {
			return fmt.Errorf("task %s has no judge", task.ID)
		}
		answers, err := os.ReadFile(filepath.Join(r.dir, "answers", task.ID+".txt"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		v, err := t.decide(k, task, j, r.tree(task.ID), string(answers))
		if err != nil {
			return fmt.Errorf("%s: %w", task.ID, err)
		}
		all = append(all, v)
		v.print(out, r.Name)
	}
	return writeJSON(filepath.Join(r.dir, "judged.json"), all)
}

func (v verdict) print(out io.Writer, run string) {
	word := "solved"
	if !v.Solved {
		word = "NOT SOLVED: " + strings.Join(v.Why, "; ")
	}
	fmt.Fprintf(out, "%s %s %s\n", run, v.Task, word)
}

// decide judges one tree. If it has to add files, it does so in a copy.
func (t trial) decide(k *kind, task task, j judge, tree, answers string) (verdict, error) {
	v := verdict{Task: task.ID}
	fail := func(format string, args ...any) { v.Why = append(v.Why, fmt.Sprintf(format, args...)) }
	if len(j.Run) > 0 {
		dir, err := os.MkdirTemp(t.dir, "judging")
		if err != nil {
			return v, err
		}
		defer os.RemoveAll(dir)
		if err := copyTree(tree, dir); err != nil {
			return v, err
		}
		if err := t.take(k, j, dir); err != nil {
			return v, err
		}
		for _, c := range j.Run {
			if text, err := c.run(dir); err != nil {
				fail("%s %s: %v: %s", strings.Join(c.Env, " "), strings.Join(c.Args, " "), err, lastLines(text, 6))
			}
		}
	}
	if err := findings(tree, j, fail); err != nil {
		return v, err
	}
	for _, p := range j.Exists {
		if _, err := os.Stat(filepath.Join(tree, filepath.FromSlash(p))); err != nil {
			fail("%s does not exist", p)
		}
	}
	for _, p := range j.Gone {
		if _, err := os.Stat(filepath.Join(tree, filepath.FromSlash(p))); err == nil {
			fail("%s still exists", p)
		}
	}
	if j.Changed != nil {
		if err := j.Changed.decide(tree, fail); err != nil {
			return v, err
		}
	}
	for _, a := range j.Answers {
		a.decide(answers, fail)
	}
	if len(j.Moves) > 0 {
		if err := decideMoves(tree, j.Moves, fail); err != nil {
			return v, err
		}
	}
	if j.Values != "" {
		if err := decideServices(tree, j.Values, fail); err != nil {
			return v, err
		}
	}
	if j.Kept {
		if err := decideKept(tree, task, fail); err != nil {
			return v, err
		}
	}
	v.Solved = len(v.Why) == 0
	return v, nil
}

// take copies files of the known solution to dir.
func (t trial) take(k *kind, j judge, dir string) error {
	for _, name := range j.Take {
		data, err := showFile(t.places[k.Source.Name], j.From, name)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (c command) run(dir string) (string, error) {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), c.Env...)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}

// files calls do with the path and text of every regular file in a tree.
func files(tree string, do func(path string, text []byte) error) error {
	tree, err := filepath.EvalSymlinks(tree)
	if err != nil {
		return err
	}
	return filepath.WalkDir(tree, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && e.Name() == ".git" {
			return filepath.SkipDir
		}
		if !e.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(tree, file)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return do(filepath.ToSlash(rel), data)
	})
}

func findings(tree string, j judge, fail func(string, ...any)) error {
	type search struct {
		finding
		regex, files *regexp.Regexp
		found        []string
		count        int
	}
	var all []*search
	for _, f := range slices.Concat(j.Absent, j.Present) {
		regex, err := regexp.Compile("(?m)" + f.Regex)
		if err != nil {
			return err
		}
		paths, err := regexp.Compile(f.Files)
		if err != nil {
			return err
		}
		all = append(all, &search{finding: f, regex: regex, files: paths})
	}
	if len(all) == 0 {
		return nil
	}
	err := files(tree, func(path string, text []byte) error {
		for _, s := range all {
			if s.files.MatchString(path) && !slices.Contains(s.Except, path) {
				if n := len(s.regex.FindAllIndex(text, -1)); n > 0 {
					s.count += n
					s.found = append(s.found, path)
				}
			}
		}
		return nil
	})
	for i, s := range all {
		switch {
		case i < len(j.Absent) && s.count > 0:
			fail("%d × /%s/ left, as in %s", s.count, s.Regex, strings.Join(s.found[:min(3, len(s.found))], ", "))
		case i >= len(j.Absent) && s.count == 0:
			fail("no /%s/", s.Regex)
		case i >= len(j.Absent) && s.Count > 0 && s.count != s.Count:
			fail("%d × /%s/, not %d", s.count, s.Regex, s.Count)
		}
	}
	return err
}

// decide compares a tree with its first commit.
func (c changed) decide(tree string, fail func(string, ...any)) error {
	paths, err := regexp.Compile(c.Files)
	if err != nil {
		return err
	}
	had, err := regexp.Compile("(?m)" + c.Had)
	if err != nil {
		return err
	}
	hadNot, err := regexp.Compile("(?m)" + c.HadNot)
	if err != nil {
		return err
	}
	now, err := regexp.Compile("(?m)" + c.Now)
	if err != nil {
		return err
	}
	before, err := original(tree)
	if err != nil {
		return err
	}
	defer os.RemoveAll(before)
	texts := map[string][]byte{}
	if err := files(tree, func(path string, text []byte) error { texts[path] = text; return nil }); err != nil {
		return err
	}
	expected := 0
	err = files(before, func(path string, old []byte) error {
		text, there := texts[path]
		delete(texts, path)
		if slices.Contains(c.Also, path) {
			return nil
		}
		should := paths.MatchString(path) && had.Match(old) && (c.HadNot == "" || !hadNot.Match(old))
		if should {
			expected++
		}
		switch {
		case !there:
			fail("%s is gone", path)
		case should && bytes.Equal(old, text):
			fail("%s was to be changed", path)
		case !should && !bytes.Equal(old, text):
			fail("%s was not to be changed", path)
		case should && !now.Match(text):
			fail("%s was changed, but not to /%s/", path, c.Now)
		case should && c.Lines > 0 && newLines(old, text) > c.Lines:
			fail("%s has %d new lines, more than %d", path, newLines(old, text), c.Lines)
		}
		return nil
	})
	if expected == 0 {
		return errors.New("the judge expects no file to change: it compares nothing")
	}
	for path := range texts {
		if !slices.Contains(c.Also, path) {
			fail("%s is new", path)
		}
	}
	return err
}

// original writes the first commit of a tree to a temporary folder.
func original(tree string) (string, error) {
	dir, err := os.MkdirTemp("", "before")
	if err != nil {
		return "", err
	}
	return dir, exportCommit(tree, firstCommit(tree), dir)
}

// decideKept compares a tree with the one that the steps without Undo make from the first commit.
func decideKept(tree string, task task, fail func(string, ...any)) error {
	expected, err := original(tree)
	if err != nil {
		return err
	}
	defer os.RemoveAll(expected)
	for _, s := range task.Before {
		if !s.Undo {
			if err := s.run(expected); err != nil {
				return err
			}
		}
	}
	differ, err := treesDiffer(expected, tree)
	for _, name := range differ {
		fail("%s is not as it was before the damage", name)
	}
	return err
}

func (s step) run(dir string) error {
	c := command{Args: []string{"bash", "-e", "-c", s.Script}}
	if text, err := c.run(dir); err != nil {
		return fmt.Errorf("%s: %w\n%s", s.Script, err, text)
	}
	return nil
}

func firstCommit(tree string) string {
	out, err := exec.Command("git", "-C", tree, "rev-list", "--max-parents=0", "HEAD").Output()
	if err != nil {
		return "HEAD"
	}
	return strings.TrimSpace(string(out))
}

// newLines returns how many lines of text don't occur in old, or occur there less often.
func newLines(old, text []byte) int {
	count := map[string]int{}
	for line := range bytes.Lines(old) {
		count[strings.TrimRight(string(line), "\r\n")]++
	}
	n := 0
	for line := range bytes.Lines(text) {
		key := strings.TrimRight(string(line), "\r\n")
		if count[key]--; count[key] < 0 {
			n++
		}
	}
	return n
}

// decide finds the answer's line by its number and checks it.
func (a answer) decide(answers string, fail func(string, ...any)) {
	line := ""
	if m := regexp.MustCompile(`(?m)^[\s*(-]*` + regexp.QuoteMeta(a.N) + `[\s.:)*-]+(.*)$`).FindStringSubmatch(answers); m != nil {
		line = m[1]
	}
	if line == "" {
		fail("no answer %s", a.N)
		return
	}
	match := func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(line) }
	if len(a.Any) > 0 && !slices.ContainsFunc(a.Any, match) {
		fail("answer %s is %q", a.N, line)
	}
	for _, pattern := range a.All {
		if !match(pattern) {
			fail("answer %s lacks /%s/: %q", a.N, pattern, line)
		}
	}
	if slices.ContainsFunc(a.Not, match) {
		fail("answer %s has too much: %q", a.N, line)
	}
}
