// Command rebar runs the curated benchmarks of BurntSushi/rebar with Quarry's engine, Go's regexp
// and the runners of other engines. It prints a table.
//
//	scripts/tool bench/rebar -rebar DIR                      ours and Go's
//	scripts/tool bench/rebar -rebar DIR -rust PROGRAM        and Rust's
//	scripts/tool bench/rebar -rebar DIR -only literal        some of them
//
// DIR is a checkout of rebar. PROGRAM is rebar's runner for rust/regex, or another program that
// uses its protocol (KLV.md). The engines take turns, each time in a new process. A figure is the
// median sample of the best round. An engine whose count differs from the definition's gets no
// figure. If the checkout lacks a large haystack, it may have another text in its place; then the
// engines' counts are only compared with each other, and the row says so.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	var t table
	run := flag.String("run", "", "be a runner: quarry or go, a job on standard input")
	only := flag.String("only", "", "only benchmarks whose name matches this expression")
	flag.StringVar(&t.rebar, "rebar", os.Getenv("QUARRY_REBAR"), "checkout of BurntSushi/rebar")
	flag.StringVar(&t.rust, "rust", os.Getenv("QUARRY_REBAR_RUST"), "runner of Rust's engine")
	flag.StringVar(&t.folder, "folder", "curated", "folder of definitions")
	flag.IntVar(&t.rounds, "rounds", 3, "take the best of this many")
	flag.DurationVar(&t.time, "time", 300*time.Millisecond, "per engine and round")
	flag.BoolVar(&t.markdown, "markdown", false, "print a table of Markdown")
	flag.BoolVar(&t.check, "check", false, "only compare the counts, in one pass each")
	flag.BoolVar(&t.noGo, "nogo", false, "leave out Go's engine")
	flag.Parse()
	err := t.main(*run, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rebar:", err)
		os.Exit(1)
	}
}

type table struct {
	rebar, rust, folder string
	rounds              int
	time                time.Duration
	markdown, noGo      bool
	check               bool

	tried, wrong int // number of Quarry's counts, and how many of them are wrong
	missing      int // benchmarks whose haystack is missing
}

func (t *table) main(run, only string) error {
	if run != "" {
		j, err := decode(os.Stdin)
		if err != nil {
			return err
		}
		return j.run(run)
	}
	if t.rebar == "" {
		return errors.New("name a checkout of BurntSushi/rebar with -rebar")
	}
	re, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	defs, err := load(t.rebar, t.folder)
	if err != nil {
		return err
	}
	if t.check {
		return t.counts(defs, re)
	}
	t.header()
	for _, d := range defs {
		if re.MatchString(d.full()) {
			if err := t.row(&d); err != nil {
				return err
			}
		}
	}
	if t.wrong > 0 {
		return fmt.Errorf("%d benchmarks have wrong counts", t.wrong)
	}
	return nil
}

// counts runs every benchmark once and compares the counts.
func (t *table) counts(defs []definition, re *regexp.Regexp) error {
	for i := range defs {
		d := &defs[i]
		if !re.MatchString(d.full()) {
			continue
		}
		t.tried++
		patterns, err := d.patterns(t.rebar)
		if err != nil {
			return err
		}
		hay, err := d.haystack(t.rebar)
		if errors.Is(err, fs.ErrNotExist) {
			t.missing++
			continue
		}
		if err != nil {
			return err
		}
		j := job{model: d.Model, patterns: patterns, fold: d.CaseInsensitive, unicode: d.Unicode, hay: hay}
		once, err := j.once("quarry")
		if err != nil {
			return fmt.Errorf("%s: %w", d.full(), err)
		}
		if _, n := once(); int64(n) != d.count("rust/regex") {
			t.wrong++
			fmt.Printf("%s: counts %d, rebar has %d\n", d.full(), n, d.count("rust/regex"))
		}
	}
	fmt.Printf("suite: tried %d, pass %d, documented %d, fail %d\n", t.tried, t.tried-t.wrong-t.missing, t.missing, t.wrong)
	return nil
}

// engine is an engine with its column in the table.
type engine struct {
	name    string
	rebars  string // rebar's name for it, by which definitions give the expected count
	command []string
}

func (t *table) engines() []engine {
	self, _ := os.Executable()
	list := []engine{{"quarry", "rust/regex", []string{self, "-run", "quarry"}}}
	if t.rust != "" {
		list = append(list, engine{"rust", "rust/regex", []string{t.rust}})
	}
	if !t.noGo {
		list = append(list, engine{"go", "go/regexp", []string{self, "-run", "go"}})
	}
	return list
}

func (t *table) header() {
	if t.markdown {
		fmt.Print("| benchmark | model |")
		for _, e := range t.engines() {
			fmt.Printf(" %s |", e.name)
		}
		fmt.Print(" quarry / rust |\n|---|---|")
		for range t.engines() {
			fmt.Print("---:|")
		}
		fmt.Println("---:|")
		return
	}
	fmt.Printf("%-38s %-14s", "", "")
	for _, e := range t.engines() {
		fmt.Printf("%12s", e.name)
	}
	fmt.Println("  to Rust's (below 1: quarry is faster)")
}

// row measures one benchmark.
func (t *table) row(d *definition) error {
	patterns, err := d.patterns(t.rebar)
	if err != nil {
		return err
	}
	hay, err := d.haystack(t.rebar)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(os.Stderr, "%s: no haystack: %v\n", d.full(), err)
		return nil
	}
	if err != nil {
		return err
	}
	engines := t.engines()
	cells := make([]cell, len(engines))
	for range t.rounds {
		for i, e := range engines {
			if d.group == "12-dictionary" && e.name == "go" && d.Model != "compile" {
				continue // would take minutes
			}
			j := job{model: d.Model, patterns: patterns, fold: d.CaseInsensitive, unicode: d.Unicode, hay: hay,
				iters: 100000, warmIters: 1000, maxTime: t.time, maxWarmupTime: t.time / 4}
			cells[i].add(e.measure(&j))
		}
	}
	t.print(d, hay, engines, cells)
	return nil
}

// cell is the result of one engine in one benchmark.
type cell struct {
	time  time.Duration
	count int64
	ran   bool
}

func (c *cell) add(o cell) {
	if o.ran && (!c.ran || o.time < c.time) {
		*c = o
	}
}

func (e *engine) measure(j *job) cell {
	var in, out bytes.Buffer
	j.encode(&in)
	cmd := exec.Command(e.command[0], e.command[1:]...)
	cmd.Stdin, cmd.Stdout = &in, &out
	if cmd.Run() != nil {
		return cell{}
	}
	var samples []cell
	for line := range strings.Lines(out.String()) {
		took, count, _ := strings.Cut(strings.TrimSpace(line), ",")
		ns, err1 := strconv.ParseInt(took, 10, 64)
		n, err2 := strconv.ParseInt(count, 10, 64)
		if err1 == nil && err2 == nil {
			samples = append(samples, cell{time.Duration(ns), n, true})
		}
	}
	if len(samples) == 0 {
		return cell{}
	}
	slices.SortFunc(samples, func(a, b cell) int { return cmp.Compare(a.time, b.time) })
	return samples[len(samples)/2]
}

func (t *table) print(d *definition, hay []byte, engines []engine, cells []cell) {
	note := ""
	right := make([]bool, len(cells))
	for i, c := range cells {
		right[i] = c.ran && c.count == d.count(engines[i].rebars)
	}
	if !right[0] {
		agree := len(cells) > 1 && engines[1].name == "rust" && cells[0].ran && cells[1].ran && cells[0].count == cells[1].count
		if agree {
			note = "another haystack"
			for i, c := range cells {
				right[i] = c.ran && c.count == cells[0].count
			}
		} else {
			note = fmt.Sprintf("counts %d, not %d", cells[0].count, d.count(engines[0].rebars))
			t.wrong++
		}
	}
	text := make([]string, len(cells))
	for i, c := range cells {
		if text[i] = "-"; right[i] {
			text[i] = figure(d.Model, c.time, len(hay))
		}
	}
	ratio := ""
	if len(cells) > 1 && engines[1].name == "rust" && right[0] && right[1] {
		ratio = fmt.Sprintf("%.2f", cells[0].time.Seconds()/cells[1].time.Seconds())
	}
	if t.markdown {
		if note != "" {
			note = " (" + note + ")"
		}
		fmt.Printf("| %s | %s%s | %s | %s |\n", d.full(), d.Model, note, strings.Join(text, " | "), ratio)
		return
	}
	fmt.Printf("%-38s %-14s", d.full(), d.Model)
	for _, s := range text {
		fmt.Printf("%12s", s)
	}
	fmt.Printf("  %s  %s\n", ratio, note)
}

// figure formats the throughput or, for the model that compiles, the time.
func figure(model string, took time.Duration, size int) string {
	if model == "compile" {
		return took.Round(10 * time.Nanosecond).String()
	}
	rate := float64(size) / took.Seconds()
	switch {
	case rate >= 1e9:
		return fmt.Sprintf("%.1f GB/s", rate/1e9)
	case rate >= 1e6:
		return fmt.Sprintf("%.1f MB/s", rate/1e6)
	}
	return fmt.Sprintf("%.1f KB/s", rate/1e3)
}
