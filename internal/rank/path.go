package rank

import (
	"path"
	"strconv"
	"strings"
	"sync"
)

// PathWeight is below 1 for tests, examples, vendored and generated files, and files
// other than code.
func PathWeight(path string) float64 {
	i := strings.LastIndexByte(path, '/')
	return weigh(path[:max(i, 0)], path[i+1:]).weight
}

// pathWeight is the weight of a path.
type pathWeight struct {
	weight float64
	test   bool // it is reduced because the file is a test
}

const (
	testWeight     = 0.45
	sampleWeight   = 0.6
	vendorWeight   = 0.5
	declaresWeight = 0.4 // declarations of names that other files define
	madeWeight     = 0.3 // generated files
	proseWeight    = 0.45
)

// weigh ranks tests, examples, declarations, vendored and generated files, and files
// other than code, below handwritten code.
func weigh(dir, base string) pathWeight {
	w := pathWeight{weight: 1}
	lower := strings.ToLower(base)
	for d := range strings.SplitSeq(dir, "/") {
		switch known := dirWeights()[strings.ToLower(d)]; {
		case known == testWeight || isTestDir(d, lower):
			w.test = true
		case known > 0:
			w.weight = min(w.weight, known)
		}
	}
	if w.test = w.test || isTest(base, lower); w.test {
		w.weight = min(w.weight, testWeight)
	}
	switch {
	case strings.HasSuffix(lower, ".d.ts"), strings.HasSuffix(lower, ".pyi"), strings.HasSuffix(lower, ".rbi"), strings.HasSuffix(lower, ".rbs"), strings.HasSuffix(lower, ".stub.php"):
		w.weight = min(w.weight, declaresWeight)
	case isMade(lower):
		w.weight = min(w.weight, madeWeight)
	}
	switch lower {
	case "index.ts", "index.js", "index.tsx", "__init__.py", "index.mjs", "package.scala":
		w.weight *= 0.75
	}
	if !isCode(lower) {
		w.weight *= proseWeight
	}
	return w
}

// dirWeights maps the names of folders to weights.
var dirWeights = sync.OnceValue(func() map[string]float64 {
	m := map[string]float64{}
	for weight, names := range map[float64]string{
		testWeight:   "test tests __tests__ spec specs testdata testing testsuite testutil testutils unittest unittests fixture fixtures mock mocks __mocks__ e2e benchmark benchmarks bench",
		sampleWeight: "example examples samples sample demo demos docs doc_src",
		vendorWeight: "vendor _vendor node_modules third_party thirdparty dist build out generated gen compat legacy deprecated",
	} {
		for name := range strings.FieldsSeq(names) {
			m[name] = weight
		}
	}
	return m
})

// isTestDir recognizes test folders by the form of their names: jvmTest, serde-tests,
// App.Tests; and t, for Perl and shell.
func isTestDir(dir, base string) bool {
	if dir == "t" || dir == "xt" {
		return strings.HasSuffix(base, ".t") || strings.HasSuffix(base, ".sh") || strings.HasSuffix(base, ".pl") || strings.HasSuffix(base, ".pm")
	}
	for _, s := range []string{"Test", "Tests", "-test", "-tests", "_test", "_tests", ".test", ".tests"} {
		if len(dir) > len(s) && strings.HasSuffix(dir, s) {
			return true
		}
	}
	return false
}

// isTest recognizes tests by their names; lower is base in lower case.
func isTest(base, lower string) bool {
	for _, s := range []string{"_test.", ".test.", ".spec.", "_spec.", "_benchmark.", "_tests.", "-test.", "-tests.", "-spec.", ".cy.", ".stories."} {
		if strings.Contains(lower, s) {
			return true
		}
	}
	stem, ext := cutExtension(base)
	switch ext {
	case ".java", ".kt", ".scala", ".groovy", ".cs", ".swift", ".php", ".hs":
		for _, s := range []string{"Test", "Tests", "TestCase", "TestBase", "Spec", "Suite", "IT"} {
			if rest, ok := strings.CutSuffix(stem, s); ok && rest != "" && rest[len(rest)-1] >= 'a' && rest[len(rest)-1] <= 'z' {
				return true
			}
		}
	case ".t", ".bats":
		return true
	}
	return strings.HasPrefix(lower, "test_") || strings.HasPrefix(lower, "test-") || lower == "conftest.py" || lower == "tests.py" || lower == "tests.rs"
}

// isMade recognizes generated files.
func isMade(lower string) bool {
	for _, s := range []string{".min.", ".pb.", "_pb2.", "_arginfo.", ".generated.", "_generated.", ".gen.", "_gen.", ".designer.", ".g.dart"} {
		if strings.Contains(lower, s) {
			return true
		}
	}
	return strings.HasSuffix(lower, ".lock") || strings.HasPrefix(lower, "zz_generated") || lower == "package-lock.json" || lower == "go.sum"
}

// Beside lowers candidates that have a better counterpart in the list: a C header if its
// source, which has the definitions, is also listed, and a file of an old version if files
// of a newer one are (v3 and v4).
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

// besideWeight is the weight of a lowered candidate.
const besideWeight = 0.85

func cutExtension(p string) (stem, ext string) {
	ext = path.Ext(p)
	return strings.TrimSuffix(p, ext), ext
}

// eachVersion calls f for every folder of a path named v and a number, with the number.
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

// isCode reports whether a file is code, not prose or data, by its name.
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
