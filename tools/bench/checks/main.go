// Checks compares internal/check with the languages' own parsers on real files.
//
//	scripts/tool bench/checks [-npm node_modules] [-break 300] [-seed 1] [-pairs 2000] DIR...
//
// Each DIR is a git repository, or contains several versions of one package, each in a folder. Every
// file that a commit changes (the newest -pairs of them), or that differs between two successive
// versions, is checked as a change. If the check raises an alarm, the
// language's own parser confirms or refutes it. Each file is also checked by itself; a finding is
// false if the parser accepts the file. With -break, the given number of files of each language
// lose a bracket, a quote, a colon or an indentation. Of those that the parser then rejects, the
// share found by the check is counted. A language without a parser on this machine is marked "-",
// and its released files are assumed to be valid.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"quarry/internal/check"
	"quarry/internal/symbols"
	"quarry/internal/value"
)

// tally counts the results for the files of one language.
type tally struct {
	files, pairs, alarms, refuted, findings, untrue int
	broken, found                                   int
	slowest                                         time.Duration // slowest check of a change, per 100 KB
}

type program struct {
	judges  *judges
	tallies map[string]*tally
	show    bool
	pairs   int
	random  *rand.Rand
	samples map[string][]sample // files to be broken
}

type sample struct {
	name string
	text []byte
}

const maxSamples = 2000 // of a language

func main() {
	npm := flag.String("npm", os.Getenv("QUARRY_NPM"), "the folder node_modules with typescript, yaml and smol-toml")
	broken := flag.Int("break", 0, "how many files of each language to break")
	seed := flag.Uint64("seed", 1, "of the random numbers")
	show := flag.Bool("show", false, "print every untrue finding")
	pairs := flag.Int("pairs", 2000, "how many changed files of a git repository to check")
	flag.Parse()
	p := &program{judges: &judges{npm: *npm}, tallies: map[string]*tally{}, show: *show, pairs: *pairs,
		random: rand.New(rand.NewPCG(*seed, 0)), samples: map[string][]sample{}}
	defer p.judges.close()
	for _, dir := range flag.Args() {
		visit := p.versions
		if exec.Command("git", "--git-dir", dir, "rev-parse").Run() == nil {
			visit = p.commits
		}
		if err := visit(dir); err != nil {
			fmt.Fprintln(os.Stderr, "checks:", err)
			os.Exit(1)
		}
	}
	for _, language := range slices.Sorted(maps.Keys(p.samples)) {
		p.breakSome(p.random, language, *broken)
	}
	fmt.Printf("%-12s %7s %7s %7s %7s %9s %7s %7s %7s %s\n", "language", "files", "pairs", "alarms", "refuted", "findings", "untrue", "broken", "found", "slowest for 100 KB")
	for _, language := range slices.Sorted(maps.Keys(p.tallies)) {
		t := p.tallies[language]
		fmt.Printf("%-12s %7d %7d %7d %7d %9d %7d %7d %7d %v\n", language+p.judges.mark(language), t.files, t.pairs, t.alarms, t.refuted, t.findings, t.untrue, t.broken, t.found, t.slowest)
	}
}

// versions checks the versions of one package in the order of their names.
func (p *program) versions(dir string) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	before := map[string][]byte{}
	for _, v := range list {
		top := filepath.Join(dir, v.Name())
		if inner, err := os.ReadDir(top); err == nil && len(inner) == 1 {
			top = filepath.Join(top, inner[0].Name()) // package-1.2.3
		}
		now := map[string][]byte{}
		err := filepath.WalkDir(top, func(file string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || languageOf(file, nil) == "" && filepath.Ext(file) != "" {
				return nil
			}
			text, err := os.ReadFile(file)
			if err != nil || len(text) > check.MaxSize {
				return err
			}
			rel, err := filepath.Rel(top, file)
			if err != nil {
				return err
			}
			if now[rel] = text; !bytes.Equal(before[rel], text) {
				p.one(filepath.ToSlash(rel), before[rel], text)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if len(now) > 0 {
			before = now
		}
	}
	return nil
}

// commits checks the files changed by the newest commits of a git repository.
func (p *program) commits(dir string) error {
	type change struct{ name, before, after string }
	var changes []change
	log := exec.Command("git", "--git-dir", dir, "log", "--no-merges", "--no-renames", "--diff-filter=M", "--raw", "--no-abbrev", "--format=", "HEAD")
	lines, err := log.StdoutPipe()
	if err == nil {
		err = log.Start()
	}
	if err != nil {
		return err
	}
	for scan := bufio.NewScanner(lines); len(changes) < p.pairs && scan.Scan(); { // ":100644 100644 OLD NEW M\tNAME"
		meta, name, _ := strings.Cut(scan.Text(), "\t")
		words := strings.Fields(meta)
		if len(words) == 5 && strings.HasPrefix(words[1], "100") && languageOf(name, nil) != "" {
			changes = append(changes, change{name, words[2], words[3]})
		}
	}
	log.Process.Kill()
	log.Wait()

	cat := exec.Command("git", "--git-dir", dir, "cat-file", "--batch")
	ask, err := cat.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cat.StdoutPipe()
	if err == nil {
		err = cat.Start()
	}
	if err != nil {
		return err
	}
	defer cat.Wait()
	go func() { // not one by one: on a busy machine each answer would be waited for
		for _, c := range changes {
			fmt.Fprintln(ask, c.before+"\n"+c.after)
		}
		ask.Close()
	}()
	answers := bufio.NewReader(out)
	blob := func() ([]byte, error) {
		head, err := answers.ReadString('\n')
		words := strings.Fields(head)
		if err != nil || len(words) != 3 { // "ID missing": the clone is partial
			return nil, err
		}
		n, err := strconv.Atoi(words[2])
		if err != nil {
			return nil, err
		}
		text := make([]byte, n+1)
		_, err = io.ReadFull(answers, text)
		return text[:n], err
	}
	for _, c := range changes {
		before, err := blob()
		if err != nil {
			return err
		}
		after, err := blob()
		if err != nil {
			return err
		}
		if before != nil && after != nil && len(after) <= check.MaxSize {
			p.one(c.name, before, after)
		}
	}
	return nil
}

func languageOf(name string, text []byte) string {
	if strings.HasSuffix(name, ".go") {
		return "Go"
	}
	if f := value.FormatOf(name); f == value.JSON || f == value.YAML || f == value.TOML {
		return f.String()
	}
	return symbols.Language(name, text)
}

func (p *program) one(name string, before, text []byte) {
	language := languageOf(name, text)
	if language == "" || language == "Markdown" {
		return
	}
	t := p.tallies[language]
	if t == nil {
		t = &tally{}
		p.tallies[language] = t
	}
	t.files++
	began := time.Now()
	line, problem := check.Syntax(name, text)
	if took := time.Since(began); len(text) > 50<<10 {
		t.slowest = max(t.slowest, took*time.Duration(100<<10)/time.Duration(len(text)))
	}
	if problem != "" {
		t.findings++
		if p.judges.accepts(language, name, text) {
			t.untrue++
			if p.show {
				fmt.Printf("untrue: %s:%d: %s\n", name, line, problem)
			}
		}
	} else if s := p.samples[language]; len(s) < maxSamples {
		p.samples[language] = append(s, sample{name, text})
	} else if i := p.random.IntN(t.files); i < maxSamples {
		s[i] = sample{name, text}
	}
	if before == nil {
		return
	}
	t.pairs++
	if line, problem := check.Broken(name, before, text); problem != "" {
		t.alarms++
		if p.judges.accepts(language, name, text) {
			t.refuted++
			fmt.Printf("refuted: %s:%d: %s\n", name, line, problem)
		}
	}
}

// breakSome damages files that the language's parser accepts, and checks them.
func (p *program) breakSome(r *rand.Rand, language string, n int) {
	t, files := p.tallies[language], p.samples[language]
	for tries := 0; t.broken < n && tries < 20*n && len(files) > 0; tries++ {
		s := files[r.IntN(len(files))]
		file, text := s.name, s.text
		if len(text) > 200<<10 {
			continue
		}
		damaged := damage(r, language, text)
		if damaged == nil || !p.judges.has(language) || !p.judges.accepts(language, file, text) || p.judges.accepts(language, file, damaged) {
			continue
		}
		t.broken++
		if _, problem := check.Broken(file, text, damaged); problem != "" {
			t.found++
		}
	}
}

// damage returns a text from which a bracket, a quote, a colon or an indentation was deleted.
func damage(r *rand.Rand, language string, text []byte) []byte {
	set := []string{"()[]{}", "()[]{}", `"'`, ":"}
	if language == "Python" || language == "YAML" {
		set = append(set, "\n")
	}
	want := set[r.IntN(len(set))]
	var at []int
	for i, c := range text {
		if strings.IndexByte(want, c) >= 0 && (c != '\n' || i+1 < len(text) && text[i+1] == ' ') {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return nil
	}
	i := at[r.IntN(len(at))]
	end := i + 1
	if text[i] == '\n' {
		i++
		for end = i; end < len(text) && text[end] == ' '; end++ {
		}
	}
	return slices.Concat(text[:i], text[end:])
}
