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

// skippedIn returns the arguments for a go test of the tests that a log of
// go test -v reports as skipped.
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
	// The verdict on a test, or an indented verdict on a subtest.
	skipLine = regexp.MustCompile(`^ *--- SKIP: ([A-Za-z0-9_]+)`)
	// The verdict on a package comes after all its tests.
	packageLine = regexp.MustCompile(`^(?:ok  |FAIL)\t(\S+)\t`)
)

// skips returns the packages that have skipped tests, and the tests. A test counts if
// a subtest was skipped. A name that two packages share is run in both.
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
