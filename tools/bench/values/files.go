package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path"
	"slices"
	"strings"

	"quarry/internal/value"
)

// file is a configuration file of a repository.
type file struct {
	name   string
	kind   string // files of the same kind are similar
	format value.Format
	text   []byte
}

// kindOf returns the kind of a file. Files are drawn by kind, so that no kind dominates.
func kindOf(name string, f value.Format) string {
	base := path.Base(name)
	switch {
	case base == "package.json", base == "Cargo.toml", base == "pyproject.toml", base == "manifest.json", base == "strings.json", base == "Chart.yaml", base == "values.yaml":
		return base
	case strings.HasPrefix(base, "tsconfig"):
		return "tsconfig"
	case strings.Contains(name, "workflows/"):
		return "workflow"
	case strings.Contains(base, "compose"):
		return "compose"
	}
	return f.String()
}

// collect draws n files, taking from each kind in turn.
func collect(repos []string, n int, seed uint64) ([]file, error) {
	byKind := map[string][][2]string{} // repository and path of each file
	for _, repo := range repos {
		if repo == "" {
			continue
		}
		out, err := exec.Command("git", "-C", repo, "ls-tree", "-r", "-l", "HEAD").Output()
		if err != nil {
			return nil, fmt.Errorf("git ls-tree in %s: %w", repo, err)
		}
		for line := range strings.Lines(string(out)) {
			meta, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			fields := strings.Fields(meta)
			f := value.FormatOf(name)
			if f == value.None || len(fields) != 4 || fields[0] == "120000" || len(fields[3]) > 5 || strings.Contains(name, "lock") || strings.HasPrefix(name, `"`) {
				continue
			}
			k := kindOf(name, f)
			byKind[k] = append(byKind[k], [2]string{repo, name})
		}
	}
	rng := rand.New(rand.NewPCG(seed, 7))
	var kinds []string
	for k, list := range byKind {
		kinds = append(kinds, k)
		slices.SortFunc(list, func(a, b [2]string) int { return strings.Compare(a[0]+"/"+a[1], b[0]+"/"+b[1]) })
	}
	slices.Sort(kinds)
	for _, k := range kinds {
		rng.Shuffle(len(byKind[k]), func(i, j int) { byKind[k][i], byKind[k][j] = byKind[k][j], byKind[k][i] })
	}
	var files []file
	seen := map[string]bool{}
	for drawn := true; drawn && len(files) < n; {
		drawn = false
		for _, k := range kinds {
			if len(byKind[k]) == 0 || len(files) == n {
				continue
			}
			drawn = true
			at := byKind[k][0]
			byKind[k] = byKind[k][1:]
			text, err := exec.Command("git", "-C", at[0], "cat-file", "blob", "HEAD:"+at[1]).Output()
			f := value.FormatOf(at[1])
			if err != nil || seen[string(text)] || len(text) < 8 || f == value.Header && !bytes.HasPrefix(text, []byte("---")) {
				continue
			}
			seen[string(text)] = true
			files = append(files, file{name: at[1], kind: k, format: f, text: text})
		}
	}
	return files, nil
}
