// Command bench compares quarry with ripgrep on the same bytes in the same run and prints the
// ratios.
//
//	scripts/tool bench                 everything
//	scripts/tool bench -only match     one table
//	scripts/tool bench -only texts -write   and into docs/FIGURES.md
//	scripts/tool bench -against OLDER       this program against an older build of it
//
// The corpus is the source tree in Debian's package linux-source-6.1. It is given by -tree, or
// unpacked from /usr/src if the package is installed; otherwise bench prints what to install. Times
// are wall time with a warm page cache, the best of -rounds.
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
	many   string // a tree of 300,000 files
	work   string // folder for the corpus and binaries
	rg     string
	older  string // an older build of quarry
	rounds int
	env    []string // environment of processes; nil means this process's

	write bool            // write the tables into docs/FIGURES.md
	table strings.Builder // the current table as Markdown
}

func main() {
	var b bench
	only := flag.String("only", "", "one table: find, search, index, many, mcp, texts, match")
	flag.StringVar(&b.tree, "tree", os.Getenv("QUARRY_BENCH_TREE"), "Linux source tree")
	flag.StringVar(&b.many, "many", "", "tree of about 300,000 files; \"\" makes one of pieces of -tree")
	flag.StringVar(&b.work, "work", "tools/bench/corpus", "folder for the corpus")
	flag.StringVar(&b.rg, "rg", os.Getenv("QUARRY_RG"), "ripgrep to compare with")
	flag.StringVar(&b.older, "against", "", "an older build of quarry: compare this one with it, and with itself")
	flag.IntVar(&b.rounds, "rounds", 5, "take the best of this many")
	flag.BoolVar(&b.write, "write", false, "put the tables into docs/FIGURES.md")
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
	if b.older != "" {
		return b.against()
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
		// Tables that start processes come first. Later, their peak memory would include the text
		// that the matching table keeps in this process.
	}{{"find", b.finding}, {"search", b.searching}, {"index", b.indexing}, {"many", b.manyFiles}, {"mcp", b.overMCP}, {"texts", b.texts}, {"match", b.matching}}
	known := false
	for _, t := range tables {
		if only == "" && t.name != "many" || only == t.name { // the table index includes many
			known = true
			b.table.Reset()
			if err := t.run(); err != nil {
				return err
			}
			if err := b.document("docs/FIGURES.md", t.name); err != nil {
				return err
			}
		}
	}
	if !known {
		return fmt.Errorf("no table %q", only)
	}
	return nil
}

// document replaces a table in a document if the document contains it.
func (b *bench) document(name, table string) error {
	if !b.write || b.table.Len() == 0 {
		return nil
	}
	doc, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	begin, end := "<!-- bench "+table+" -->\n", "<!-- end of "+table+" -->"
	before, rest, ok := strings.Cut(string(doc), begin)
	_, after, found := strings.Cut(rest, end)
	if !ok || !found {
		return nil
	}
	return os.WriteFile(name, []byte(before+begin+b.table.String()+"\n"+end+after), 0o644)
}
