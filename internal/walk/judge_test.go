package walk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quarry/internal/rootfs"
	"quarry/internal/stress"
)

// A Judge enters the same folders and lists the same files as a walk.
func TestJudgeAgreesWithWalk(t *testing.T) {
	for seed := range uint64(stress.N(60)) {
		rng := rand.New(rand.NewPCG(seed, 3))
		dir := t.TempDir()
		randomRules(t, rng, dir, 0)
		root, err := rootfs.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		opts := &Options{Hidden: seed%2 == 0}
		visited, files := map[string]bool{}, map[string]bool{}
		if _, err := Walk(context.Background(), root, &Options{Hidden: opts.Hidden, Workers: 1}, func(v *Visit) error {
			visited[strings.Clone(v.Shown)] = true
			for _, f := range v.Files {
				files[join(strings.Clone(v.Shown), strings.Clone(f.Name))] = true
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		j := NewJudge(root, opts)
		var entered []string
		var enter func(p rootfs.Path)
		enter = func(p rootfs.Path) {
			entered = append(entered, plainPath(p))
			list, err := os.ReadDir(filepath.Join(dir, plainPath(p)))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				if e.IsDir() && j.Enters(p, e.Name()) {
					child, err := p.Child(e.Name())
					if err != nil {
						t.Fatal(err)
					}
					enter(child)
				}
			}
		}
		enter(rootfs.Path{})
		filepath.WalkDir(dir, func(full string, d os.DirEntry, err error) error {
			rel, _ := filepath.Rel(dir, full)
			if rel = filepath.ToSlash(rel); err == nil && d.Type().IsRegular() && j.Lists(rel) != files[rel] {
				t.Errorf("seed %d: the judge lists %s: %v, a walk %v", seed, rel, !files[rel], files[rel])
			}
			return nil
		})
		var want []string
		for p := range visited {
			want = append(want, p)
		}
		slices.Sort(want)
		slices.Sort(entered)
		if !slices.Equal(want, entered) {
			t.Errorf("seed %d: the judge enters %q, a walk %q", seed, entered, want)
		}
		root.Close()
	}
}

func randomRules(t *testing.T, rng *rand.Rand, dir string, depth int) {
	t.Helper()
	names := []string{"a", "b", "c", ".d", "node_modules", ".git"}
	rules := []string{"a\n", "b/\n", "/c\n", "node_modules\n!a\n", "**/b\n!.d\n", "*\n!a/\n"}
	if rng.IntN(3) == 0 {
		name := []string{".gitignore", ".ignore", ".rgignore"}[rng.IntN(3)]
		if err := os.WriteFile(filepath.Join(dir, name), []byte(rules[rng.IntN(len(rules))]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if depth == 3 {
		return
	}
	for _, n := range names {
		if rng.IntN(2) == 0 {
			continue
		}
		sub := filepath.Join(dir, n)
		if err := os.Mkdir(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		if n == ".git" {
			continue
		}
		randomRules(t, rng, sub, depth+1)
	}
}

func TestJudgeForgets(t *testing.T) {
	dir := t.TempDir()
	os.Mkdir(filepath.Join(dir, "out"), 0o755)
	root, err := rootfs.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	j := NewJudge(root, nil)
	states := []bool{j.Enters(rootfs.Path{}, "out")}
	os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("out\n"), 0o644)
	j.Forget()
	states = append(states, j.Enters(rootfs.Path{}, "out"))
	if got := fmt.Sprint(states); got != "[true false]" {
		t.Error(got)
	}
}
