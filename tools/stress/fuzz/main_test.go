package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"a_test.go": "package a\n\nfunc FuzzA(f *testing.F) {\n}\n\n// func FuzzNo(f *testing.F)\nfunc FuzzB(f *testing.F) {}\n", "b_test.go": "package a\n", "c_test.go": "func FuzzC(f *testing.F) {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := targetsOf("quarry/a\t" + dir + "\ta_test.go\tb_test.go\nquarry/none\t" + dir + "\nquarry/c\t" + dir + "\tc_test.go\n")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range list {
		names = append(names, one.String())
	}
	if got, want := strings.Join(names, ", "), "quarry/a FuzzA, quarry/a FuzzB, quarry/c FuzzC"; got != want {
		t.Errorf("targets %s, want %s", got, want)
	}
	one := &target{}
	one.read(strings.NewReader("fuzz: elapsed: 0s, gathering baseline coverage: 0/12 completed\nfuzz: elapsed: 2s, gathering baseline coverage: 12/12 completed, now fuzzing with 2 workers\n"+
		"fuzz: elapsed: 3s, execs: 1000 (333/sec), new interesting: 2 (total: 14)\nfuzz: elapsed: 6s, execs: 7000 (2000/sec), new interesting: 2 (total: 14)\nfuzz: elapsed: 1m0s, execs: 116012 (2000/sec), new interesting: 2 (total: 14)\nPASS\n"),
		func() time.Duration { return time.Second })
	if one.execs != 116012 || one.rate != 2000 || one.known != 12 || one.before != time.Second {
		t.Errorf("%d executions, %.1f a second, %d known, after %v", one.execs, one.rate, one.known, one.before)
	}
}

// On systems with /proc, the processor time of a running process is known.
func TestUsed(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc here: run it on Linux")
	}
	for began := time.Now(); used(os.Getpid()) == 0; {
		if time.Since(began) > 30*time.Second {
			t.Fatal("no processor time after 30 s of work")
		}
	}
}
