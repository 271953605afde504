package main

import (
	"archive/tar"
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"quarry"
	"quarry/search"
)

// issue is a bug report with the commit before the fix, and the files changed by the fix.
type issue struct {
	ID, Repo, Commit, Title, Text string
	Files                         []string
}

// found counts issues by the rank of the first changed file.
type found struct{ first, five, ten, n int }

func (f *found) add(files, want []string) {
	f.n++
	at := slices.IndexFunc(files, func(p string) bool { return slices.Contains(want, p) })
	if at < 0 {
		return
	}
	if at == 0 {
		f.first++
	}
	if at < 5 {
		f.five++
	}
	if at < 10 {
		f.ten++
	}
}

func (f *found) String() string {
	part := func(n int) float64 { return float64(n) / float64(max(f.n, 1)) }
	return fmt.Sprintf("%.2f / %.2f / %.2f", part(f.first), part(f.five), part(f.ten))
}

// issues searches for the files to change for each issue, by its title and by its whole text. It
// prints how often a changed file is first, among the first five and among the first ten, for
// Quarry and for plain BM25 over the Python files except tests. repos has a git repository for each
// project, named like the project.
func issues(file, repos string, misses bool) error {
	data, err := os.Open(file)
	if err != nil {
		return err
	}
	defer data.Close()
	all := map[string]*[4]found{} // by project: Quarry and BM25 by title, then both by text
	sum := &[4]found{}
	lines := bufio.NewScanner(data)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one issue
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return err
		}
		name := path.Base(one.Repo)
		if all[name] == nil {
			all[name] = &[4]found{}
		}
		if err := one.measure(filepath.Join(repos, name), all[name], sum, misses); err != nil {
			return fmt.Errorf("%s: %w", one.ID, err)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if sum[0].n == 0 {
		return errors.New("no issues")
	}
	fmt.Printf("%-16s %4s   %-20s %-20s %-20s %-20s\n", "", "n", "title", "BM25", "text", "BM25")
	row := func(name string, f *[4]found) {
		fmt.Printf("%-16s %4d   %-20v %-20v %-20v %-20v\n", name, f[0].n, &f[0], &f[1], &f[2], &f[3])
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		row(name, all[name])
	}
	row("all", sum)
	return nil
}

func (one *issue) measure(repo string, by, sum *[4]found, misses bool) error {
	dir, err := os.MkdirTemp("", "issue")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := checkOut(repo, one.Commit, dir); err != nil {
		return err
	}
	ws, err := quarry.Open(dir, nil)
	if err != nil {
		return err
	}
	defer ws.Close()
	peer, err := readTexts(dir, 0, func(p string) bool { return strings.HasSuffix(p, ".py") && !isTest(p) }, wordsOf)
	if err != nil {
		return err
	}
	for i, text := range []string{one.Title, one.Text} {
		answer, err := ws.SearchCode(context.Background(), search.CodeQuery{Query: text, Limit: 10})
		if err != nil {
			return err
		}
		var ours, theirs []string
		for _, c := range answer.Chunks {
			if !slices.Contains(ours, c.Path) {
				ours = append(ours, c.Path)
			}
		}
		for _, t := range peer.best(text, 10) {
			theirs = append(theirs, t.path)
		}
		for _, to := range []*[4]found{by, sum} {
			to[2*i].add(ours, one.Files)
			to[2*i+1].add(theirs, one.Files)
		}
		if misses && !slices.ContainsFunc(ours, func(p string) bool { return slices.Contains(one.Files, p) }) {
			fmt.Printf("%s, %s: want %v, got %v\n", one.ID, []string{"title", "text"}[i], one.Files, ours)
		}
	}
	return nil
}

func isTest(p string) bool {
	base := path.Base(p)
	return strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py") || base == "conftest.py" ||
		strings.Contains("/"+p, "/tests/") || strings.HasPrefix(p, "testing/")
}

// checkOut writes the files of a commit to a folder.
func checkOut(repo, commit, dir string) error {
	cmd := exec.Command("git", "-C", repo, "archive", commit)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for files := tar.NewReader(out); ; {
		h, err := files.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return errors.Join(err, cmd.Wait())
		}
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name) {
			continue
		}
		to := filepath.Join(dir, filepath.FromSlash(h.Name))
		text, err := io.ReadAll(files)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o700)
		}
		if err == nil {
			err = os.WriteFile(to, text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return cmd.Wait()
}
