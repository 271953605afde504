// Symbols compares the definitions found by Quarry with those found by universal-ctags: functions,
// types and methods, by name and line. For each language and tree it prints precision and recall,
// both of all definitions and without the differences that are not Quarry's mistakes
// (differences.go).
//
//	scripts/tool bench/symbols -trees DIR [-units DIR] [-lang NAME] [-report DIR]
//
// It fails if in a row with at least 50 definitions less than 90 % agree, not counting those
// differences; every row of docs/FIGURES.md has 91 or more. -planted drops every seventh
// definition, which must make it fail.
//
// Every folder in -trees is a tree. A language is judged by the three trees that have the most
// definitions in it. -units is the folder Units of ctags's repository.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"quarry/internal/symbols"
)

func main() {
	trees := flag.String("trees", "", "folder of source trees, one folder each")
	units := flag.String("units", "", "folder Units of the repository of ctags")
	lang := flag.String("lang", "", "compare this language alone")
	report := flag.String("report", "", "folder for lists of what differs")
	planted := flag.Bool("planted", false, "drop every seventh definition: the comparison must fail")
	flag.Parse()
	if *trees == "" && *units == "" {
		fmt.Fprintln(os.Stderr, "symbols: give -trees or -units")
		os.Exit(2)
	}
	c := &comparison{only: *lang, planted: *planted, langs: map[string][]*count{}}
	if err := c.run(*trees, *units); err != nil {
		fmt.Fprintln(os.Stderr, "symbols:", err)
		os.Exit(1)
	}
	err := c.print()
	if *report != "" {
		err = errors.Join(err, c.write(*report))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "symbols:", err)
		os.Exit(1)
	}
}

// count is the result of one tree for one language.
type count struct {
	tree            string
	want, got, both int
	missed, extra   []string
	// Those of missed and extra that are listed differences.
	listedMissed, listedExtra int
	reasons                   map[string]int
	drop                      int // if not 0, ignore every drop-th definition that Quarry finds
}

type comparison struct {
	only    string
	planted bool
	langs   map[string][]*count
}

const unitsName = "ctags Units"

func (c *comparison) run(trees, units string) error {
	if units != "" {
		if err := c.tree(units, unitsName); err != nil {
			return err
		}
	}
	if trees == "" {
		return nil
	}
	entries, err := os.ReadDir(trees)
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir, err := filepath.EvalSymlinks(filepath.Join(trees, e.Name()))
		if err != nil {
			return err
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		if err := c.tree(dir, e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// maxSource is the size of the largest file that is compared. Larger files are usually generated.
const maxSource = 1 << 20

// source is a file to compare.
type source struct {
	path, lang string
	text       []byte
}

// tree compares the files of one tree.
func (c *comparison) tree(dir, name string) error {
	files, err := c.sources(dir, name == unitsName)
	if err != nil || len(files) == 0 {
		return err
	}
	tags, langs, err := ctags(files)
	if err != nil {
		return err
	}
	counts := map[string]*count{}
	for _, f := range files {
		if langs[f.path] != f.lang && langs[f.path] != "" {
			continue // ctags assumes another language
		}
		k := counts[f.lang]
		if k == nil {
			k = &count{tree: name, reasons: map[string]int{}}
			if c.planted {
				k.drop = 7
			}
			counts[f.lang] = k
		}
		k.file(&f, tags[f.path], dir)
	}
	for lang, k := range counts {
		if k.want > 0 {
			c.langs[lang] = append(c.langs[lang], k)
		}
	}
	return nil
}

func (c *comparison) sources(dir string, units bool) (files []source, err error) {
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || units && !strings.HasPrefix(d.Name(), "input") || strings.Contains(d.Name(), ".min.") {
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > maxSource {
			return err
		}
		lang := symbols.Language(p, nil)
		if lang == "" {
			return nil // the language follows from the first line, which ctags doesn't read
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if lang = symbols.Language(p, text); lang == "Shell" {
			lang = "Sh"
		}
		if kinds[lang] != "" && (c.only == "" || c.only == lang) {
			files = append(files, source{p, lang, text})
		}
		return nil
	})
	return files, err
}

// tag is ctags's entry for a name and line.
type tag struct {
	kind string
	line int
}

// ctags runs ctags once for all files. It returns the tags by file and "name:line", and the
// languages of the files. Version 5.9 crashes on some files; then each half of the files is tried
// separately, so that only the file that causes the crash is lost.
func ctags(files []source) (tags map[string]map[string]tag, langs map[string]string, err error) {
	var list bytes.Buffer
	for _, f := range files {
		fmt.Fprintln(&list, f.path)
	}
	cmd := exec.Command("ctags", "--output-format=json", "-f", "-", "-L", "-", "--fields=NFnKl", "--extras=F", "--sort=no",
		"--langmap=C:.c.h", "--langmap=C++:+.inl.tcc.ino", "--langmap=Perl:+.t.PL", "--langmap=Ruby:+.rake.gemspec.ru", "--langmap=Sh:+.bats")
	cmd.Stdin = &list
	out, err := cmd.Output()
	if err != nil && len(files) == 1 {
		return nil, nil, nil
	}
	if err != nil {
		if _, missing := exec.LookPath("ctags"); missing != nil {
			return nil, nil, missing
		}
		tags, langs = map[string]map[string]tag{}, map[string]string{}
		for _, half := range [][]source{files[:len(files)/2], files[len(files)/2:]} {
			t, l, err := ctags(half)
			if err != nil {
				return nil, nil, err
			}
			for k, v := range t {
				tags[k] = v
			}
			for k, v := range l {
				langs[k] = v
			}
		}
		return tags, langs, nil
	}
	return parseTags(out)
}

func parseTags(out []byte) (tags map[string]map[string]tag, langs map[string]string, err error) {
	tags, langs = map[string]map[string]tag{}, map[string]string{}
	in := bufio.NewScanner(bytes.NewReader(out))
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var t struct {
			Name, Path, Language, Kind string
			Line                       int
		}
		if json.Unmarshal(in.Bytes(), &t) != nil { // the name is not UTF-8
			continue
		}
		langs[t.Path] = t.Language
		if strings.HasPrefix(t.Name, "__anon") || t.Name == "<lambda>" || strings.HasPrefix(t.Name, "anonymous") || !strings.Contains(" "+kinds[t.Language]+" ", " "+t.Kind+" ") {
			continue
		}
		if tags[t.Path] == nil {
			tags[t.Path] = map[string]tag{}
		}
		if at := place(t.Language, t.Name, t.Line); tags[t.Path][at].kind == "" {
			tags[t.Path][at] = tag{t.Kind, t.Line}
		}
	}
	return tags, langs, in.Err()
}

// file compares one file.
func (k *count) file(f *source, tags map[string]tag, dir string) {
	rel, _ := filepath.Rel(dir, f.path)
	at := &spot{lang: f.lang, path: "/" + filepath.ToSlash(rel), lines: strings.Split(string(f.text), "\n")}
	ours := map[string]int{} // lines of Quarry's definitions
	for i, s := range symbols.Of(f.path, f.text) {
		if compared(f.lang, &s) && (k.drop == 0 || i%k.drop != 0) {
			ours[place(f.lang, s.Name, s.Line)] = s.Line
		}
		if s.Kind == symbols.Function || s.Kind == symbols.Method || s.Kind == symbols.Test {
			at.bodies = append(at.bodies, [2]int{s.Line, s.Last})
		}
	}
	for name, line := range ours {
		k.got++
		if tags[name].kind != "" {
			continue
		}
		why := at.listed(line, "")
		if why != "" {
			k.listedExtra++
			k.reasons[why]++
		}
		k.extra = append(k.extra, fmt.Sprintf("%s%s %s [%s] %s", k.tree, at.path, name, why, shown(at.text(line))))
	}
	for name, t := range tags {
		k.want++
		if ours[name] != 0 {
			k.both++
			continue
		}
		why := at.listed(t.line, t.kind)
		if why != "" {
			k.listedMissed++
			k.reasons[why]++
		}
		k.missed = append(k.missed, fmt.Sprintf("%s%s %s %s [%s] %s", k.tree, at.path, name, t.kind, why, shown(at.text(t.line))))
	}
}

// shown formats a line of a list.
func shown(line string) string {
	line = strings.TrimSpace(line)
	return strings.ToValidUTF8(line[:min(len(line), 160)], "")
}

// place returns the key by which definitions are compared: the name and the line. For Haskell it is
// only the name, because ctags lists every clause of a function and Quarry only the first.
func place(lang, name string, line int) string {
	if lang == "Haskell" {
		return shortName(lang, name)
	}
	return shortName(lang, name) + ":" + strconv.Itoa(line)
}

// shortName removes qualifiers and blanks, which the two programs write differently.
func shortName(lang, name string) string {
	switch lang {
	case "Markdown":
		return name
	case "Lua", "Perl", "Elixir", "Ruby", "SQL", "JavaScript":
		if i := strings.LastIndexAny(name, ".:\\"); i >= 0 && i < len(name)-1 {
			name = name[i+1:]
		}
	}
	return strings.ReplaceAll(name, " ", "")
}

// print writes a table for each language: ctags's own test cases, and the three trees with the most
// definitions, individually and in total.
func (c *comparison) print() error {
	fmt.Println("| language | tree | ctags finds | precision | recall | without the listed differences |")
	fmt.Println("|---|---|---|---|---|---|")
	var low []string
	rows, found := 0, 0
	row := func(lang string, k *count) {
		precision, recall := row(lang, k)
		if k.want >= leastNames && min(precision, recall) < leastShare {
			low = append(low, lang+" in "+k.tree)
		}
		rows, found = rows+1, found+k.want
	}
	for _, lang := range slices.Sorted(maps.Keys(c.langs)) {
		list := c.langs[lang]
		slices.SortStableFunc(list, func(a, b *count) int { return b.want - a.want })
		all := &count{tree: "**together**"}
		trees := 0
		for _, k := range list {
			if k.tree == unitsName {
				row(lang, k)
			} else if trees < 3 {
				trees++
				row(lang, k)
				all.want, all.got, all.both = all.want+k.want, all.got+k.got, all.both+k.both
				all.listedMissed, all.listedExtra = all.listedMissed+k.listedMissed, all.listedExtra+k.listedExtra
			}
		}
		if trees > 0 {
			found -= all.want
			row(lang, all)
		}
	}
	fmt.Printf("\n%d rows with %d definitions of ctags, %d below %d %%\n", rows, found, len(low), leastShare)
	if found == 0 {
		return errors.New("ctags finds nothing: is it universal-ctags, with JSON?")
	}
	if len(low) > 0 {
		return fmt.Errorf("less than %d %% agree: %s", leastShare, strings.Join(low, ", "))
	}
	return nil
}

const (
	leastShare = 90 // percent, not counting listed differences
	leastNames = 50 // smaller rows are not judged
)

// row prints one line. It returns precision and recall without the listed differences.
func row(lang string, k *count) (precision, recall float64) {
	share := func(all, listed int) float64 { return 100 * float64(k.both) / float64(max(all-listed, 1)) }
	precision, recall = share(k.got, k.listedExtra), share(k.want, k.listedMissed)
	fmt.Printf("| %s | %s | %d | %.1f | %.1f | %.1f / %.1f |\n", lang, k.tree, k.want, share(k.got, 0), share(k.want, 0), precision, recall)
	return precision, recall
}

// write writes the differences to a file for each language.
func (c *comparison) write(dir string) error {
	for lang, list := range c.langs {
		var missed, extra []string
		for _, k := range list {
			missed, extra = append(missed, k.missed...), append(extra, k.extra...)
		}
		for name, lines := range map[string][]string{"missed": missed, "extra": extra} {
			slices.Sort(lines)
			file := filepath.Join(dir, strings.ReplaceAll(lang, "#", "sharp")+"."+name)
			if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
