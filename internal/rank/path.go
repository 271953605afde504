package rank

import (
	"path"
	"strconv"
	"strings"
	"sync"
)

// PathWeight is below 1 for tests, examples, vendored and generated files, and
// what is not code.
func PathWeight(path string) float64 {
	i := strings.LastIndexByte(path, '/')
	return pathWeight(path[:max(i, 0)], path[i+1:])
}

// pathWeight puts tests, examples, vendored and generated files, and what is
// not code, below the code people write.
func pathWeight(dir, base string) float64 {
	weight := 1.0
	dir, base = strings.ToLower(dir), strings.ToLower(base)
	for d := range strings.SplitSeq(dir, "/") {
		switch d {
		case "test", "tests", "__tests__", "spec", "specs", "testdata", "fixtures", "mocks", "__mocks__", "e2e", "testing", "benchmark", "benchmarks", "bench":
			weight = min(weight, 0.5)
		case "example", "examples", "samples", "sample", "demo", "demos", "docs", "doc_src":
			weight = min(weight, 0.6)
		case "vendor", "node_modules", "third_party", "thirdparty", "dist", "build", "out", "generated", "gen", "compat", "legacy", "deprecated":
			weight = min(weight, 0.5)
		}
	}
	switch {
	case strings.Contains(base, "_test.") || strings.Contains(base, ".test.") || strings.Contains(base, ".spec.") || strings.HasPrefix(base, "test_") ||
		strings.Contains(base, "_spec.") || strings.Contains(base, "_benchmark.") || strings.Contains(base, "_tests."):
		weight = min(weight, 0.45)
	case strings.Contains(base, ".min.") || strings.HasSuffix(base, ".pb.go") || strings.HasSuffix(base, ".lock") || base == "package-lock.json" || base == "go.sum":
		weight = min(weight, 0.3)
	}
	switch base {
	case "index.ts", "index.js", "index.tsx", "__init__.py", "index.mjs", "package.scala":
		weight *= 0.75
	}
	if !isCode(base) {
		weight *= 0.45
	}
	return weight
}

// Beside puts candidates lower that another one goes before: a C header whose source is
// there, which has what it declares, and files of a version when there are some of a newer
// one (v3 beside v4).
func Beside(list []Candidate) {
	sources, newest := map[string]bool{}, map[string]int{}
	for i := range list {
		switch stem, ext := cutExtension(list[i].Path); ext {
		case ".c", ".cc", ".cpp", ".cxx", ".m":
			sources[stem] = true
		}
		eachVersion(list[i].Path, func(folder string, n int) { newest[folder] = max(newest[folder], n) })
	}
	for i := range list {
		switch stem, ext := cutExtension(list[i].Path); ext {
		case ".h", ".hh", ".hpp", ".hxx":
			if sources[stem] {
				list[i].weight *= besideWeight
			}
		}
		eachVersion(list[i].Path, func(folder string, n int) {
			if n < newest[folder] {
				list[i].weight *= besideWeight
			}
		})
	}
}

// besideWeight is what such a candidate counts.
const besideWeight = 0.85

func cutExtension(p string) (stem, ext string) {
	ext = path.Ext(p)
	return strings.TrimSuffix(p, ext), ext
}

// eachVersion calls f with the folders of a path that have another one called v and a
// number in them, and with the number.
func eachVersion(p string, f func(folder string, n int)) {
	at := 0
	for name := range strings.SplitSeq(path.Dir(p), "/") {
		if digits, ok := strings.CutPrefix(name, "v"); ok {
			if n, err := strconv.Atoi(digits); err == nil {
				f(p[:at], n)
			}
		}
		at += len(name) + 1
	}
}

// isCode tells code from prose and data by the file's name.
func isCode(base string) bool {
	i := strings.LastIndexByte(base, '.')
	if i < 0 {
		return false
	}
	return !notCode()[base[i+1:]]
}

var notCode = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, e := range strings.Fields(`md markdown mdx txt rst adoc json yaml yml toml xml html htm css scss less csv tsv lock svg cfg ini conf
		properties gitignore log po pot map snap in cmake am ac m4 bat cmd ps1 dockerfile license`) {
		m[e] = true
	}
	return m
})
