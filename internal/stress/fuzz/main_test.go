package main

import (
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	list := targetsOf("FuzzA\nFuzzB\nok  \tquarry/internal/a\t0.1s\nok  \tquarry/internal/b\t0.1s\nFuzzC\nok  \tquarry/internal/c\t(cached)\n?   \tquarry/d\t[no test files]\n")
	var names []string
	for _, one := range list {
		names = append(names, one.String())
	}
	if got, want := strings.Join(names, ", "), "quarry/internal/a FuzzA, quarry/internal/a FuzzB, quarry/internal/c FuzzC"; got != want {
		t.Errorf("targets %s, want %s", got, want)
	}
	one := &target{}
	one.read(strings.NewReader("fuzz: elapsed: 0s, gathering baseline coverage: 0/12 completed\nfuzz: elapsed: 0s, gathering baseline coverage: 12/12 completed, now fuzzing with 2 workers\n" +
		"fuzz: elapsed: 3s, execs: 1000 (333/sec), new interesting: 2 (total: 14)\nfuzz: elapsed: 6s, execs: 7000 (2000/sec), new interesting: 2 (total: 14)\nfuzz: elapsed: 1m0s, execs: 115000 (2000/sec), new interesting: 2 (total: 14)\nPASS\n"))
	if one.execs != 115000 || one.rate != 2000 {
		t.Errorf("%d executions, %.1f a second", one.execs, one.rate)
	}
}
