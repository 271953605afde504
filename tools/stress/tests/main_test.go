package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// events are lines written by go test -json.
const events = `{"Action":"start","Package":"quarry/a"}
{"Action":"run","Package":"quarry/a","Test":"TestFine"}
{"Action":"output","Package":"quarry/a","Test":"TestFine","Output":"    a_test.go:3: not to be shown\n"}
{"Action":"pass","Package":"quarry/a","Test":"TestFine","Elapsed":0}
{"Action":"output","Package":"quarry/a","Test":"TestOracle","Output":"=== RUN   TestOracle\n"}
{"Action":"output","Package":"quarry/a","Test":"TestOracle","Output":"    a_test.go:12: rg not found: set QUARRY_RG\n"}
{"Action":"output","Package":"quarry/a","Test":"TestOracle","Output":"--- SKIP: TestOracle (0.00s)\n"}
{"Action":"skip","Package":"quarry/a","Test":"TestOracle","Elapsed":0}
{"Action":"output","Package":"quarry/a","Test":"TestChild","Output":"    a_test.go:20: runs as a child of TestKill\n"}
{"Action":"skip","Package":"quarry/a","Test":"TestChild","Elapsed":0}
{"Action":"output","Package":"quarry/a","Test":"TestBad","Output":"    a_test.go:30: broken\n"}
{"Action":"fail","Package":"quarry/a","Test":"TestBad","Elapsed":0}
{"Action":"output","Package":"quarry/a","Output":"FAIL\tquarry/a\t0.1s\n"}
{"Action":"fail","Package":"quarry/a","Elapsed":0.1}
{"Action":"output","Package":"quarry/b","Output":"?   \tquarry/b\t[no test files]\n"}
{"ImportPath":"quarry/c","Action":"build-output","Output":"c.go:1: does not build\n"}
`

func TestSummary(t *testing.T) {
	var out strings.Builder
	s := newSummary(&out)
	if err := s.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	s.print(90*time.Second, 2*time.Minute)
	got := out.String()
	for _, want := range []string{
		"a_test.go:30: broken\n", "FAIL\tquarry/a\t0.1s\n", "c.go:1: does not build\n",
		"1 passed, 1 failed, 1 skipped in 1m30s (2m0s of processor time)\n",
		"Skipped, 1 kinds of reasons:\n  a program that is not installed, or of another version (.ci/run installs them): 1\n    rg not found: set QUARRY_RG\n      quarry/a TestOracle\n", ".ci/run",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	for _, hidden := range []string{"not to be shown", "TestChild", "no test files"} {
		if strings.Contains(got, hidden) {
			t.Errorf("%q is in\n%s", hidden, got)
		}
	}
}

// verbose is the output of go test -v for three packages, one of them without a skipped test.
const verbose = `=== RUN   TestFine
--- PASS: TestFine (0.00s)
=== RUN   TestOracle
    a_test.go:12: rg not found: set QUARRY_RG
--- SKIP: TestOracle (0.00s)
PASS
ok  	quarry/a	0.1s
=== RUN   TestFine
--- PASS: TestFine (0.00s)
ok  	quarry/b	(cached)
--- PASS: TestParts (0.00s)
    --- PASS: TestParts/here (0.00s)
    --- SKIP: TestParts/there (0.00s)
    --- SKIP: TestParts/nowhere (0.00s)
ok  	quarry/c	0.1s
?   	quarry/d	[no test files]
`

func TestSkips(t *testing.T) {
	packages, names, err := skips(strings.NewReader(verbose))
	if err != nil || !slices.Equal(packages, []string{"quarry/a", "quarry/c"}) || !slices.Equal(names, []string{"TestOracle", "TestParts"}) {
		t.Errorf("skipped %q in %q, %v", names, packages, err)
	}
}
