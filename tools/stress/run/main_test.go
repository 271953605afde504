package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every regime names existing tests. A test that was renamed would otherwise not be run, and the
// regime would pass.
func TestRegimesExist(t *testing.T) {
	for _, r := range regimes {
		files, err := filepath.Glob(filepath.Join("../../..", r.pkg, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no tests in %s: %v", r.name, r.pkg, err)
		}
		var all strings.Builder
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		names := strings.Split(r.test, "|")
		if r.fuzz != "" {
			names = []string{r.fuzz}
		}
		for _, name := range names {
			if !strings.Contains(all.String(), "\nfunc "+name) {
				t.Errorf("%s: there is no %s in %s", r.name, name, r.pkg)
			}
		}
	}
}

// If go test runs a test with fewer cases, make stress runs it in full.
func TestShortenedTestsAreRegimes(t *testing.T) {
	tried := map[string]bool{}
	for _, r := range regimes {
		for _, name := range strings.Split(r.test, "|") {
			tried[filepath.Clean(r.pkg)+"."+name] = true
		}
	}
	shortened := regexp.MustCompile(`\b(?:stress|regime)\.(?:N|Size|Start|StartFor|SkipQuick|Takes)\(`)
	found := 0
	err := filepath.WalkDir("../../..", func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel("../../..", filepath.Dir(file))
		if err != nil {
			return err
		}
		for _, function := range strings.Split(string(text), "\nfunc ")[1:] {
			name, _, _ := strings.Cut(function, "(")
			if !strings.HasPrefix(name, "Test") || !shortened.MatchString(function) {
				continue
			}
			found++
			// A regime names tests by a prefix.
			if !slices.ContainsFunc(slices.Collect(maps.Keys(tried)), func(known string) bool { return strings.HasPrefix(filepath.ToSlash(pkg)+"."+name, known) }) {
				t.Errorf("no regime runs %s of %s in full: add it to the table in main.go", name, pkg)
			}
		}
		return nil
	})
	if err != nil || found < 50 {
		t.Errorf("%d such tests: %v", found, err)
	}
}

func TestReports(t *testing.T) {
	r := &regime{name: "x"}
	results, execs, _ := r.read(strings.NewReader("    a.go:1: stress: \"a: b\" tried 20, violated 1, seeds from 7, took 3.5s\n" +
		"fuzz: elapsed: 3s, execs: 100 (33/sec), new interesting: 1 (total: 2)\nfuzz: elapsed: 6s, execs: 250 (50/sec), new interesting: 1 (total: 2)\n"))
	if len(results) != 1 || results[0] != (result{what: "a: b", tried: "20", violated: "1", seeds: "7", took: 3.5}) || execs != "250" {
		t.Errorf("%+v, %s", results, execs)
	}
}

func TestRows(t *testing.T) {
	got := rowsOf([]result{{regime: "a", tried: "20", violated: "0"}, {regime: "a", tried: "all", violated: "2"}, {regime: "b", tried: "?", violated: "1"}}, time.Unix(0, 0))
	if want := []string{"| a | 20, all | 2 | 1970-01-01 |\n", "| b | ? | 1 | 1970-01-01 |\n"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A regime fails if it ends before all its tests have reported.
func TestFailureIsReported(t *testing.T) {
	r := &regime{name: "x"}
	results, err := r.carryOut(t.Context(), []string{"run", "./no/such/package"})
	if err == nil || len(results) == 0 || results[len(results)-1].violated != "1" {
		t.Errorf("%+v, %v", results, err)
	}
}

func TestIntoDocs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "d.md")
	old := "| gram soundness | a | old |\n| soak | a | old |\n| no such regime | a | old |\n"
	if err := os.WriteFile(file, []byte("a\n<!-- figures: begin -->\n"+tableHead+old+"<!-- figures: end -->\nb\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := intoDocs(file, []string{"| soak | b | new |\n", "| soak | c | new |\n", "| HTTP | d | new |\n"}); err != nil {
		t.Fatal(err)
	}
	want := "a\n<!-- figures: begin -->\n\n" + tableHead +
		"| gram soundness | a | old |\n| HTTP | d | new |\n| soak | b | new |\n| soak | c | new |\n\n<!-- figures: end -->\nb\n"
	if got, _ := os.ReadFile(file); string(got) != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if err := intoDocs("../../../README.md", nil); err == nil {
		t.Error("a file without marks was changed")
	}
}
