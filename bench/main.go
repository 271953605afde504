// Command bench measures quarry against ripgrep on the same bytes in the same
// run and prints the ratios.
//
//	go run ./bench                 everything
//	go run ./bench -only match     one table
//
// The corpus is the Linux 6.1 source tree of Debian's linux-source-6.1 package,
// taken from -tree, or unpacked from /usr/src when the package is installed.
// Without it bench says what to install. Times are the best of -rounds, wall
// clock, warm page cache.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

type bench struct {
	tree   string // the Linux source tree
	many   string // one of 300,000 files
	work   string // where the corpus and binaries go
	rg     string
	rounds int
	env    []string // of processes; nil is ours
}

func main() {
	var b bench
	only := flag.String("only", "", "one table: find, search, index, many, mcp, texts, match")
	flag.StringVar(&b.tree, "tree", os.Getenv("QUARRY_BENCH_TREE"), "Linux source tree")
	flag.StringVar(&b.many, "many", "", "tree of about 300,000 files; \"\" makes one of pieces of -tree")
	flag.StringVar(&b.work, "work", "bench/corpus", "folder for the corpus")
	flag.StringVar(&b.rg, "rg", os.Getenv("QUARRY_RG"), "ripgrep to compare with")
	flag.IntVar(&b.rounds, "rounds", 5, "take the best of this many")
	flag.Parse()
	if err := b.run(*only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(only string) error {
	if err := b.prepare(); err != nil {
		return err
	}
	version, err := exec.Command(b.rg, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s: %w", b.rg, err)
	}
	first, _, _ := strings.Cut(string(version), "\n")
	fmt.Printf("%s, best of %d\n", first, b.rounds)
	tables := []struct {
		name string
		run  func() error
		// Processes first: their peak memory would count the text that the
		// matching table keeps in ours.
	}{{"find", b.finding}, {"search", b.searching}, {"index", b.indexing}, {"many", b.manyFiles}, {"mcp", b.overMCP}, {"texts", b.texts}, {"match", b.matching}}
	known := false
	for _, t := range tables {
		if only == "" && t.name != "many" || only == t.name { // index has many in it
			known = true
			if err := t.run(); err != nil {
				return err
			}
		}
	}
	if !known {
		return fmt.Errorf("no table %q", only)
	}
	return nil
}
