package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"quarry/internal/symbols"
)

// asked is a question of the mixture: its words, and the files that answer it.
type asked struct {
	Repo, Split, Kind, Query string
	Files                    []string
}

// fixed is a repository of the mixture at a fixed commit. It belongs to the split "fit", on which
// weights are fitted, or "held", on which they are judged.
type fixed struct {
	Repo  string `json:"repo"`
	Used  string `json:"used"`
	Split string `json:"split"`
}

// mostAsked limits the number of questions of each kind from one repository.
var mostAsked = map[string]int{"commit": 40, "document": 60, "note": 150, "test": 100}

// mostCommits limits the commits read from a repository's history.
const mostCommits = 8000

// mixture writes a JSON Lines file with questions about the listed repositories, made from their
// histories, documents and tests. mirrors has a git repository for each; trees receives their
// checkouts. The same commits always give the same questions.
func mixture(list, mirrors, trees, file string) error {
	var repos map[string]fixed
	data, err := os.ReadFile(list)
	if err == nil {
		err = json.Unmarshal(data, &repos)
	}
	if err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	w := bufio.NewWriter(out)
	for _, name := range slices.Sorted(maps.Keys(repos)) {
		m := maker{git: filepath.Join(mirrors, name), tree: filepath.Join(trees, name), commit: repos[name].Used}
		if err := m.all(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		counts := map[string]int{}
		for _, a := range m.made {
			a.Repo, a.Split = name, repos[name].Split
			counts[a.Kind]++
			line, err := json.Marshal(a)
			if err != nil {
				return err
			}
			w.Write(append(line, '\n'))
		}
		fmt.Printf("%-14s %-5s %v\n", name, repos[name].Split, counts)
	}
	return w.Flush()
}

type maker struct {
	git, tree, commit string

	texts map[string][]byte // the text of each file that has definitions or is prose
	made  []asked
}

func (m *maker) all() error {
	if _, err := os.Stat(m.tree); err != nil {
		if err := checkOut(m.git, m.commit, m.tree); err != nil {
			return err
		}
	}
	m.texts = map[string][]byte{}
	err := filepath.WalkDir(m.tree, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(m.tree, p)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && rel != ".":
			return fs.SkipDir
		case !d.Type().IsRegular() || symbols.Language(rel, nil) == "" && !isProse(rel):
			return nil
		}
		text, err := os.ReadFile(p)
		if err == nil && len(text) < 1<<20 && bytes.IndexByte(text, 0) < 0 {
			m.texts[rel] = text
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := m.fromHistory(); err != nil {
		return err
	}
	m.fromDocuments()
	m.fromTests()
	return nil
}

// take adds questions of a kind, evenly sampled from list.
func (m *maker) take(kind string, list []asked) {
	order := func(a *asked) uint64 { h := fnv.New64a(); h.Write([]byte(a.Query)); return h.Sum64() }
	slices.SortFunc(list, func(a, b asked) int { return cmp.Or(cmp.Compare(order(&a), order(&b)), cmp.Compare(a.Query, b.Query)) })
	seen := map[string]int{} // number of questions about each file
	for _, a := range list {
		key := a.Files[0]
		if seen[a.Query] > 0 || seen[key] > 1 {
			continue
		}
		seen[a.Query]++
		seen[key]++
		a.Kind = kind
		m.made = append(m.made, a)
		if seen[""]++; seen[""] == mostAsked[kind] {
			return
		}
	}
}

func isProse(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".md", ".rst", ".txt", ".adoc", ".mdx", ".markdown", ".asciidoc", "":
		return true
	}
	return false
}

// isSource reports whether a file is in a programming language and is not a test.
func isSource(p string) bool {
	return !isProse(p) && !strings.HasSuffix(p, ".pyi") && !strings.HasSuffix(p, ".d.ts") && symbols.Language(p, nil) != "" && symbols.Language(p, nil) != "Markdown" && !testFile(p)
}

var testName = regexp.MustCompile(`(?i)(^|[._-])(test|tests|spec|specs)([._-]|\d*\.)|[a-z](Test|Tests|TestCase|Spec|Suite|IT)\.\w+$|^(Test|IT)[A-Z]|^conftest\.py$|\.t$`)

var testDir = regexp.MustCompile(`(?i)(^|/)(t|tests?|specs?|testing|testdata|__tests__|fixtures?|mocks?|e2e|xtest|[a-z]+[._-]tests?|tests?[._-][a-z]+|\w+Test|unittests?)/`)

// testFile reports whether a path is a test. The rule is independent of the one in internal/rank.
func testFile(p string) bool { return testName.MatchString(path.Base(p)) || testDir.MatchString(p) }

// touched is a commit with its subject and the files it modified, by kind of change.
type touched struct {
	id, subject string
	files       []string
	how         []byte
}

func (m *maker) commits() (list []touched, err error) {
	out, err := exec.Command("git", "-C", m.git, "log", "--no-merges", "--no-renames", "--name-status", fmt.Sprintf("-n%d", mostCommits), "--format=%x01%H%x02%s", m.commit).Output()
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(string(out), "\x01") {
		head, rest, _ := strings.Cut(entry, "\n")
		id, subject, ok := strings.Cut(head, "\x02")
		if !ok {
			continue
		}
		c := touched{id: id, subject: subject}
		for line := range strings.Lines(rest) {
			if how, file, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				c.files, c.how = append(c.files, file), append(c.how, how[0])
			}
		}
		list = append(list, c)
	}
	return list, nil
}

var (
	fragmentDir = regexp.MustCompile(`(^|/)(news|newsfragments|changelog|changelog\.d|unreleased)/[^/]+$`)
	fragmentNot = regexp.MustCompile(`(?i)\.(misc|process|trivial|vendor|doc|toml|py|cfg)\b|readme|template|gitignore`)
	prefix      = regexp.MustCompile(`^(\[[^\]]*\]|\([^)]*\)|(fix|feat|feature|perf|chore|refactor|bug|docs?)(\([^)]*\))?!?:|[\w./-]+:)\s*`)
	suffix      = regexp.MustCompile(`\s*[(\[]?(closes|fixes|fix|see|refs?|re)?\s*(gh-|#)\d+[)\]]?\.?$`)
	dull        = regexp.MustCompile(`(?i)\b(typos?|bump|version|releas\w*|lint\w*|format\w*|revert\w*|renam\w*|white ?space|comments?|merge|clean ?ups?|refactor\w*|copyright|licen[sc]e|changelog|news|update [\w-]+ to|upgrade|dependenc\w*|ci|travis|docs?|documentation|readme|translations?|spelling|deprecat\w*|tests?|imports?|style|rubocop|clippy|batch|nits?|wip)\b`)
)

// fromHistory makes questions from two sources. One is the subjects of commits that modified a
// single source file. The other is notes for users, from changes of at most three source files.
func (m *maker) fromHistory() error {
	list, err := m.commits()
	if err != nil {
		return err
	}
	var subjects, notes []asked
	for _, c := range list {
		var source []string
		fragment := ""
		kept := true
		for i, f := range c.files {
			switch {
			case fragmentDir.MatchString(f) && !fragmentNot.MatchString(f):
				if c.how[i] == 'A' {
					fragment = f
				}
			case isSource(f):
				source = append(source, f)
				kept = kept && c.how[i] == 'M' && m.texts[f] != nil
			}
		}
		if len(source) == 0 || len(source) > 3 || !kept {
			continue
		}
		if fragment != "" {
			if text, err := exec.Command("git", "-C", m.git, "show", c.id+":"+fragment).Output(); err == nil {
				if q := note(string(text)); q != "" {
					notes = append(notes, asked{Query: q, Files: source})
				}
			}
		}
		if q := subject(c.subject, source[0]); len(source) == 1 && q != "" {
			subjects = append(subjects, asked{Query: q, Files: source})
		}
	}
	m.take("commit", subjects)
	m.take("note", notes)
	return nil
}

// subject returns the subject of a commit without numbers and prefixes. It returns "" if the
// subject says little or names the file.
func subject(s, file string) string {
	for old := ""; old != s; {
		old = s
		s = suffix.ReplaceAllString(prefix.ReplaceAllString(strings.TrimSpace(s), ""), "")
	}
	base, _, _ := strings.Cut(path.Base(file), ".")
	if n := len(strings.Fields(s)); n < 4 || n > 16 || dull.MatchString(s) || strings.Contains(strings.ToLower(s), strings.ToLower(base)) {
		return ""
	}
	return s
}

var (
	markup = regexp.MustCompile("``?|:[a-z:]+:|\\*\\*?|\\[#\\d+\\]\\([^)]*\\)|\\[@[^\\]]*\\]\\[?\\]?|https?://\\S+|#\\d+|_\\d*\\b")
	space  = regexp.MustCompile(`\s+`)
)

// note converts a note for users to plain text.
func note(s string) string {
	s = strings.TrimSpace(space.ReplaceAllString(markup.ReplaceAllString(s, " "), " "))
	s = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(s, "* "), ": "))
	if len(s) > 600 {
		s = s[:strings.LastIndexByte(s[:600], ' ')]
	}
	if len(strings.Fields(s)) < 8 {
		return ""
	}
	return s
}

var (
	heading  = regexp.MustCompile(`(?m)^(#{1,5} +(.+)|(\S.*)\n(=+|-+|~+|\^+|\*+)) *$`)
	codeName = regexp.MustCompile("`[~!.]?([A-Za-z_][\\w.:]*[A-Za-z0-9_])(?:\\([^`\\n]*\\))?[!?]?`|\\b([A-Za-z]+_\\w+|[a-z]+[A-Z]\\w+|[A-Z]+[a-z]+[A-Z]\\w+)\\b")
	plainish = regexp.MustCompile(`^[A-Za-z][A-Za-z' ,/-]+\??$`)
)

// fromDocuments makes questions from headings in documents. The answer is the source file that
// defines most of the names quoted below the heading. It must define at least two of them and at
// least half.
func (m *maker) fromDocuments() {
	defines := map[string][]string{}
	for _, p := range slices.Sorted(maps.Keys(m.texts)) {
		if !isSource(p) {
			continue
		}
		for _, s := range symbols.Of(p, m.texts[p]) {
			if len(s.Name) > 3 && !slices.Contains(defines[s.Name], p) && s.Kind != symbols.Module && s.Kind != symbols.Prototype {
				defines[s.Name] = append(defines[s.Name], p)
			}
		}
	}
	var list []asked
	for _, p := range slices.Sorted(maps.Keys(m.texts)) {
		if !isProse(p) || testFile(p) || path.Ext(p) == "" || strings.Contains(strings.ToLower(p), "change") || strings.Contains(strings.ToLower(p), "release") {
			continue
		}
		text := string(m.texts[p])
		at := heading.FindAllStringSubmatchIndex(text, -1)
		for i, h := range at {
			title := strings.TrimSpace(text[max(h[4], h[6], 0):max(h[5], h[7], 0)])
			end := len(text)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			words := len(strings.Fields(title))
			if words < 2 || words > 10 || !plainish.MatchString(title) {
				continue
			}
			votes, names := map[string]int{}, map[string]bool{}
			for _, n := range codeName.FindAllStringSubmatch(text[h[1]:end], -1) {
				name := cmp.Or(n[1], n[2])
				name = name[strings.LastIndexAny(name, ".:")+1:]
				if d := defines[name]; len(d) > 0 && len(d) < 3 && !names[name] {
					names[name] = true
					for _, f := range d {
						votes[f]++
					}
				}
			}
			best := ""
			for _, f := range slices.Sorted(maps.Keys(votes)) {
				if votes[f] > votes[best] {
					best = f
				}
			}
			if votes[best] >= 2 && 2*votes[best] > len(names) {
				list = append(list, asked{Query: asQuestion(title), Files: []string{best}})
			}
		}
	}
	m.take("document", list)
}

// asQuestion turns a heading into a question.
func asQuestion(title string) string {
	if first, _, _ := strings.Cut(strings.ToLower(title), " "); strings.HasSuffix(first, "ing") {
		return "how does " + strings.ToLower(title) + " work"
	}
	if strings.HasSuffix(title, "?") || strings.HasPrefix(strings.ToLower(title), "how") {
		return title
	}
	return "where is " + strings.ToLower(title[:1]) + title[1:] + " handled"
}

// fromTests makes questions from names of tests that are defined in a single file.
func (m *maker) fromTests() {
	files := map[string][]string{}
	for _, p := range slices.Sorted(maps.Keys(m.texts)) {
		if isProse(p) || !testFile(p) {
			continue
		}
		for _, s := range symbols.Of(p, m.texts[p]) {
			if strings.HasPrefix(strings.ToLower(s.Name), "test") && len(s.Name) > 9 && (s.Kind == symbols.Function || s.Kind == symbols.Method || s.Kind == symbols.Test) && !slices.Contains(files[s.Name], p) {
				files[s.Name] = append(files[s.Name], p)
			}
		}
	}
	var list []asked
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if len(files[name]) == 1 {
			list = append(list, asked{Query: name, Files: files[name]})
		}
	}
	order := func(a *asked) uint64 { h := fnv.New64a(); h.Write([]byte(a.Query)); return h.Sum64() }
	slices.SortFunc(list, func(a, b asked) int { return cmp.Compare(order(&a), order(&b)) })
	if len(list) < 50 {
		return
	}
	for _, a := range list[:min(len(list), mostAsked["test"])] {
		a.Kind = "test"
		m.made = append(m.made, a)
	}
}
