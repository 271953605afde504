package review_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"quarry/change"
	"quarry/internal/review"
	"quarry/internal/stress"
)

var hisFiles = map[string]string{
	"docs/a.md": "a\n", "docs/b.md": "b\nb\n", "docs/deep/c.md": "c\n", "src/x.go": "x\nx\nx\n", "src/y.go": "y\n", "src/gen/z.go": "z\n",
	"yarn.lock": "l\n", "docs/in.lock": "l\n", "my notes/n.txt": "n\n", "top.txt": "t\n",
}

// hostileFiles have names that mean something in a rule or glob, that equal others on
// some file systems, or that terminals don't show literally.
var hostileFiles = map[string]string{
	"docs/[a].md": "1\n", "docs/-r.md": "2\n", "docs/{a,b}.md": "3\n", "docs/ü.md": "4\n", "docs/accept.md": "5\n", "src/a&b.go": "6\n", "\u017frc/long.go": "7\n", // ſrc
}

// unixFiles have names that Windows refuses or maps to other files.
var unixFiles = map[string]string{
	"docs/*.md": "1\n", "docs/tool:x.md": "2\n", "docs/lines>3.md": "3\n", "docs/a\nb.md": "4\n", "docs/\\*.md": "5\n", "docs/x.lock. ": "6\n", "docs./y.md": "7\n", "DOCS/a.md": "8\n", "docs/\"q\".md": "9\n",
}

// ground is a workspace for testing rules.
type ground struct {
	*bench
	texts map[string]string
	links bool
}

func newGround(t testing.TB) *ground {
	t.Helper()
	g := &ground{texts: map[string]string{}, links: stress.CanLink(t)}
	lists := []map[string]string{hisFiles, hostileFiles}
	if runtime.GOOS == "linux" {
		lists = append(lists, unixFiles)
	}
	for _, list := range lists {
		for name, text := range list {
			g.texts[name] = text
		}
	}
	g.bench = newBench(t, g.texts, -1)
	if g.links {
		if err := os.Symlink(filepath.FromSlash("../src"), filepath.Join(g.dir, "docs", "there")); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// spelled returns another spelling of a path, or a path through a symlink. If the file
// doesn't exist yet, the case of its name is kept.
func (g *ground) spelled(rng *rand.Rand, p string, there bool) string {
	switch rng.IntN(8) {
	case 0:
		return "./" + p
	case 1:
		return path.Dir(p) + "//" + path.Base(p)
	case 2:
		return "docs/../" + p
	case 3:
		if rest, ok := strings.CutPrefix(p, "src/"); ok && g.links {
			return "docs/there/" + rest
		}
	case 4, 5:
		if runtime.GOOS != "windows" {
			break
		}
		if there {
			p = upper(p)
		} else if dir := path.Dir(p); dir != "." {
			p = upper(dir) + "/" + path.Base(p)
		}
		return strings.ReplaceAll(p, "/", `\`)
	case 6:
		if runtime.GOOS == "windows" {
			return filepath.Join(g.dir, filepath.FromSlash(p))
		}
	}
	return p
}

// upper changes only ASCII letters: on Windows ſ is not s.
func upper(p string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}, p)
}

// twin is a second, simple implementation of rules. It knows files by name, keeps its own
// list of changes, and matches only the few kinds of globs that it generates.
type twin struct {
	rules  []plainRule
	only   bool
	events []event // oldest first
}

// plainRule is a rule in parsed form.
type plainRule struct {
	verb         review.Action
	glob         string // **, *.ext, dir/** or a path, unescaped; "" means none
	tool, client string
	over, atMost int // lines; -1 means none
}

// text returns the rule as a user would write it.
func (r *plainRule) text() string {
	words := []string{r.verb.String()}
	if r.glob != "" {
		escaped := r.glob
		if !strings.HasPrefix(escaped, "*.") && !strings.HasSuffix(escaped, "**") {
			escaped = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`).Replace(escaped)
			if strings.HasSuffix(escaped, " ") {
				escaped = escaped[:len(escaped)-1] + `\ `
			}
		}
		words = append(words, strconv.Quote(escaped))
	}
	if r.tool != "" {
		words = append(words, "tool:"+r.tool)
	}
	if r.client != "" {
		words = append(words, "client:"+r.client)
	}
	if r.over >= 0 {
		words = append(words, fmt.Sprintf("lines>%d", r.over))
	}
	if r.atMost >= 0 {
		words = append(words, fmt.Sprintf("lines<=%d", r.atMost))
	}
	return strings.Join(words, " ")
}

func (w *twin) texts() []string {
	var list []string
	for i := range w.rules {
		list = append(list, w.rules[i].text())
	}
	return list
}

// event is a past change.
type event struct {
	lines  map[string]int
	from   map[string]string // old name by new name
	person bool              // a reviewer accepted it
}

// before counts the lines changed in a file since a reviewer last accepted a change of
// it.
func (w *twin) before(name string) int {
	names, total := []string{name}, 0
	for i := len(w.events) - 1; i >= 0; i-- {
		e := w.events[i]
		touched := false
		for p := range e.lines {
			touched = touched || slices.Contains(names, p)
		}
		if !touched {
			continue
		}
		if e.person {
			return total
		}
		for p, n := range e.lines {
			if slices.Contains(names, p) && e.from[p] == "" {
				total += n
			}
		}
		for to, from := range e.from {
			if slices.Contains(names, to) || slices.Contains(names, from) {
				names = append(names, from)
			}
		}
	}
	return total
}

// plainMatch matches **, *.ext, dir/** and plain paths. If anyCase is set, it ignores
// case, and dots and spaces at the end of a name.
func plainMatch(glob, name string, anyCase bool) bool {
	same := func(a, b string) bool {
		return a == b || anyCase && strings.EqualFold(strings.TrimRight(a, ". "), strings.TrimRight(b, ". "))
	}
	parts := strings.Split(name, "/")
	switch {
	case glob == "**":
		return true
	case strings.HasPrefix(glob, "*."):
		end := []rune(glob[1:])
		return slices.ContainsFunc(parts, func(part string) bool {
			for _, spelling := range []string{part, strings.TrimRight(part, ". ")} {
				if runes := []rune(spelling); len(runes) >= len(end) && (spelling == part || anyCase) && same(string(runes[len(runes)-len(end):]), string(end)) {
					return true
				}
			}
			return false
		})
	}
	inside := strings.HasSuffix(glob, "/**")
	wanted := strings.Split(strings.TrimSuffix(glob, "/**"), "/")
	if inside && len(parts) <= len(wanted) || !inside && len(parts) != len(wanted) {
		return false
	}
	for i, part := range wanted {
		if !same(part, parts[i]) {
			return false
		}
	}
	return true
}

func (r *plainRule) fits(tool, client, name string, lines int) bool {
	return (r.tool == "" || r.tool == tool) && (r.client == "" || client == "" || strings.EqualFold(r.client, client)) &&
		(r.over < 0 || lines > r.over) && (r.atMost < 0 || lines <= r.atMost) && (r.glob == "" || plainMatch(r.glob, name, r.verb != review.Accept))
}

// action returns the action for a change; lines has the number of changed lines of each
// file.
func (w *twin) action(tool, client string, lines map[string]int) review.Action {
	worst := review.Accept
	for name, n := range lines {
		one, found := review.Ask, false
		if w.only {
			one = review.Accept
		}
		for i := range w.rules {
			r := &w.rules[i]
			if r.fits(tool, client, name, n+w.before(name)) && (!found || r.verb > one) {
				one, found = r.verb, true
			}
		}
		worst = max(worst, one)
	}
	return worst
}

// someRules generates rules for existing files and tools.
func someRules(rng *rand.Rand, texts map[string]string, tools []string) (rules []plainRule) {
	globs := []string{"**", "docs/**", "src/**", "*.lock", "**", "*.md", "my notes/**", "src/gen/**", "DOCS/**", "Src/Gen/**", "*.LOCK"}
	for range 4 { // plain paths, some of them hostile
		names := make([]string, 0, len(texts))
		for name := range texts {
			if strings.Contains(name, "/") {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		globs = append(globs, names[rng.IntN(len(names))])
	}
	for range rng.IntN(6) {
		r := plainRule{verb: []review.Action{review.Accept, review.Accept, review.Accept, review.Ask, review.Refuse}[rng.IntN(5)], glob: globs[rng.IntN(len(globs))], over: -1, atMost: -1}
		if rng.IntN(4) == 0 {
			r.tool = tools[rng.IntN(len(tools))]
		}
		if rng.IntN(4) == 0 && r.verb != review.Accept {
			r.client = []string{"cursor", "Claude"}[rng.IntN(2)]
		}
		if rng.IntN(3) == 0 {
			*[]*int{&r.over, &r.atMost}[rng.IntN(2)] = rng.IntN(12)
			if rng.IntN(2) == 0 {
				r.glob = ""
			}
		}
		rules = append(rules, r)
	}
	return rules
}

// someChange generates a set of one to three operations on different files. It also
// returns the number of changed lines of each file, the renames, and the resulting texts.
func (g *ground) someChange(rng *rand.Rand, mark string) (set change.Set, lines map[string]int, from, after map[string]string) {
	lines, from, after = map[string]int{}, map[string]string{}, map[string]string{}
	names := []string{}
	for name, text := range g.texts {
		names, after[name] = append(names, name), text
	}
	slices.Sort(names)
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for i, name := range names[:min(len(names), 1+rng.IntN(3))] {
		more := strings.Repeat("new "+mark+"\n", 1+rng.IntN(6))
		op := change.Op{Path: g.spelled(rng, name, true)}
		switch rng.IntN(6) {
		case 0:
			op.Verb, op.FileOnly = change.DeletePath, true
			lines[name] = strings.Count(after[name], "\n")
			delete(after, name)
		case 1:
			to := []string{"docs/", "src/", "", "src/gen/"}[rng.IntN(4)] + fmt.Sprintf("m%s-%d.md", mark, i)
			op.Verb, op.To = change.MovePath, to
			lines[name], lines[to], from[to] = 0, 0, name
			after[to] = after[name]
			delete(after, name)
		case 2:
			made := path.Clean(path.Dir(name) + fmt.Sprintf("/c%s-%d.md", mark, i))
			op.Verb, op.Path, op.Content = change.CreateFile, g.spelled(rng, made, false), []byte(more)
			lines[made], after[made] = strings.Count(more, "\n"), more
		default:
			op.Verb, op.Content = change.WriteFile, []byte(after[name]+more)
			lines[name] = strings.Count(more, "\n")
			after[name] += more
		}
		set.Ops = append(set.Ops, op)
	}
	return set, lines, from, after
}
