package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// skippedIn returns arguments for go test that run the tests skipped according to a log of go test
// -v.
func skippedIn(log io.Reader) ([]string, error) {
	packages, names, err := skips(log)
	if err != nil {
		return nil, err
	}
	if len(packages) == 0 {
		return nil, errors.New("the log names no skipped test: make it with go test -v")
	}
	fmt.Printf("%d tests of %d packages were skipped there\n", len(names), len(packages))
	return append([]string{"-run", "^(" + strings.Join(names, "|") + ")$"}, packages...), nil
}

var (
	// The result of a test, or with indentation of a subtest.
	skipLine = regexp.MustCompile(`^ *--- SKIP: ([A-Za-z0-9_]+)`)
	// The result of a package, which comes after its tests.
	packageLine = regexp.MustCompile(`^(?:ok  |FAIL)\t(\S+)\t`)
)

// skips returns the packages with skipped tests, and the names of these tests. A test counts as
// skipped if one of its subtests was. If two packages have a test of that name, both are run.
func skips(r io.Reader) (packages, names []string, err error) {
	all := map[string]bool{}
	var here []string
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if m := skipLine.FindStringSubmatch(line); m != nil {
			here = append(here, m[1])
		} else if m := packageLine.FindStringSubmatch(line); m != nil {
			if len(here) > 0 {
				packages = append(packages, m[1])
			}
			for _, name := range here {
				all[name] = true
			}
			here = nil
		}
		if errors.Is(err, io.EOF) {
			return packages, slices.Sorted(maps.Keys(all)), nil
		}
		if err != nil {
			return nil, nil, err
		}
	}
}
