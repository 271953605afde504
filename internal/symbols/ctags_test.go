package symbols

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// Universal-ctags is the outside measure: functions, types and methods by name
// and line. QUARRY_CTAGS_UNITS is the folder Units of its repository,
// QUARRY_SYMBOL_TREES a folder of source trees, one folder each. Without them,
// or without ctags, the comparison is skipped.

// ctagsKinds are the kinds of each language that stand for functions, types
// and methods.
var ctagsKinds = map[string]string{
	"C": "function struct union enum typedef", "C++": "function struct union enum typedef class",
	"C#": "class enum interface method struct typedef", "Java": "annotation class enum interface method",
	"Kotlin": "class interface object method typealias", "Go": "func type struct interface talias methodSpec",
	"Rust": "struct interface function enum typedef method macro", "Python": "class function member",
	"Ruby": "class module method singletonMethod", "PHP": "class function interface trait", "Perl": "subroutine package",
	"JavaScript": "function class method generator getter setter", "TypeScript": "function class interface enum method alias generator",
	"Elixir": "protocol module function delegate macro guard type", "Haskell": "type function", "Lua": "function", "Sh": "function alias",
	"SQL": "function procedure table view trigger", "Markdown": "chapter section subsection subsubsection l4subsection l5subsection",
}

// ourKinds are the kinds compared with them.
func ourKinds(lang string, s *Symbol) bool {
	switch s.Kind {
	case Function, Method, Class, Struct, Interface, Enum, Type, Heading:
		return true
	case Module:
		return lang == "Ruby" || lang == "Perl" || lang == "Elixir"
	case Macro:
		return lang == "Rust" || lang == "Elixir"
	case Table:
		return lang == "SQL"
	}
	return false
}

type tagCount struct {
	want, got, both int
	missed, extra   []string
	// Of these, differences that listedDifferences has.
	listedMissed, listedExtra int
}

// listedDifferences are those that are no mistakes of ours: ctags is wrong about
// the language or means something else by the kind. docs/SEARCH.md has samples. line matches the line of the definition; extra says that ours has it.
var listedDifferences = []struct {
	lang, reason string
	extra        bool
	line         *regexp.Regexp // or of the path
}{
	{"Perl", "the text of a here-document defines nothing", false, regexp.MustCompile(`/skip-heredoc\.d/`)},
	{"Elixir", "operators are functions", true, regexp.MustCompile(`/elixir-(?:sign|word)-operators\.d/`)},
	{"Java", "records and what is in them: version 5.9 doesn't know them", true, regexp.MustCompile(`/record\.d/`)},
	{"Java", "records: version 5.9 doesn't know them", true, regexp.MustCompile(`\brecord\b`)},
	{"PHP", "a variable that holds a closure is a variable", false, regexp.MustCompile(`^\s*\$\w+\s*=`)},
	{"PHP", "script elements have not begun PHP since version 7", false, regexp.MustCompile(`/(?:php-mode|mode\.php|php-echo-tag)\.d/`)},
	{"PHP", "script elements have not begun PHP since version 7", true, regexp.MustCompile(`/(?:php-mode|mode\.php|php-echo-tag)\.d/`)},
	{"PHP", "lines that end with a carriage return alone", true, regexp.MustCompile(`/php-heredoc-cr\.d/`)},
	{"Python", "lines that end with a carriage return alone", false, regexp.MustCompile(`/newlines-cr\.b/`)},
	{"Ruby", "alias and define_method define methods", true, regexp.MustCompile(`\b(?:alias|alias_method|define_method)\b`)},
	{"Ruby", "modules and classes written A::B: version 5.9 drops them", true, regexp.MustCompile(`/ruby-modules(?:-indirect)?\.|/ruby-anonymouse-class`)},
	{"SQL", "types, indexes, schemas' tables: version 5.9 doesn't know them", true, regexp.MustCompile(`(?i)\b(?:type|create|body|function|trigger)\b`)},
	{"Markdown", "headings as CommonMark has them: up to three blanks before, none in lists and quotes", false, regexp.MustCompile(`/simple-markdown\.d/|/hashtags-utf8\.d/`)},
	{"Markdown", "headings as CommonMark has them: up to three blanks before, none in lists and quotes", true, regexp.MustCompile(`/section-prefixed-with-spaces\.d/|/hashtags-utf8\.d/`)},
	{"C++", "comparisons between angle brackets: only a compiler can tell", false, regexp.MustCompile(`/(?:template-nested-triangle-brackets|less-than-operator-between-anglebrackets)\.d/`)},
	{"C", "di- and trigraphs", false, regexp.MustCompile(`/c-(?:di|tri)graphs\.d/`)},
	{"C", "an asm block without braces ends with its line", true, regexp.MustCompile(`/asm-area\.d/`)},
	{"JavaScript", "arrow functions are functions", true, regexp.MustCompile(`=>|=\s*async\b`)},
	{"TypeScript", "arrow functions are functions", true, regexp.MustCompile(`=>|=\s*async\b|=\s*<`)},
	{"JavaScript", "methods of object literals are methods", true, regexp.MustCompile(`^\s*(?:async\s+)?(?:(?:get|set|static)\s+)?[*]?["'\w$]+["']?\s*(?::\s*(?:async\s+)?function\b.*|\(.*\)\s*\{.*)$`)},
	{"TypeScript", "methods and signatures in types are methods", true, regexp.MustCompile(`^\s*(?:(?:readonly|static|async|get|set|public|private|protected|abstract|override)\s+)*[\w$"']+\??\s*(?:<.*)?\(`)},
	{"JavaScript", noClass, false, regexp.MustCompile(`[:=]\s*(?:\(|\{|[\w.$]+\(|$)`)},
	{"JavaScript", "a name assigned to prototype is no class", false, regexp.MustCompile(`\.prototype\b`)},
	{"JavaScript", "a private name has its #", true, regexp.MustCompile(`#\w`)},
	{"JavaScript", "a private name has its #", false, regexp.MustCompile(`#\w`)},
	{"JavaScript", "escapes in names are kept as they are written", false, regexp.MustCompile(`\\u|\\x`)},
	{"JavaScript", "escapes in names are kept as they are written", true, regexp.MustCompile(`\\u|\\x`)},
	{"Lua", "a function is no function where it is compared", true, regexp.MustCompile(`==`)},
	{"Lua", "a name has no dots at its ends", false, regexp.MustCompile(`\.\.|^\s*\.|\.\s*[=(]`)},
	{"Sh", "the option of alias is no name", false, regexp.MustCompile(`^\s*alias\s+-`)},
	{"Sh", "names of letters only bash's parser lets through", false, regexp.MustCompile(`^(?:function\s+)?\w+[^\w\s(.:+@%-]`)},
	{"Sh", "names of letters only bash's parser lets through", true, regexp.MustCompile(`^(?:function\s+)?\w+[^\w\s(.:+@%-]`)},
	{"Python", "lambdas in tuples and functions have no name", false, regexp.MustCompile(`,.*\blambda\b|^\s+.*\blambda\b`)},
	{"Lua", "a field whose key is a string or a number has no name", false, regexp.MustCompile(`\[['"\d]`)},
	{"Lua", "what stands in a string, or is the argument of a call, is not the function named", false, regexp.MustCompile(`(?:lua|command|eval\w*)\(|\[\[|=\s*[\w.:]+\s*\(`)},
	{"Lua", "functions in tables and after if are functions", true, regexp.MustCompile(`[{,]\s*\w+\s*=\s*function|\bthen\b.*=\s*function`)},
	{"Kotlin", "parameters, loop variables and properties are no methods", false, regexp.MustCompile(`->|\bfor\s*\(|^\s*\w+,?$|^[^(]*\b(?:val|var)\b`)},
	{"Kotlin", "named companions, value classes and names in backticks", true, regexp.MustCompile("companion object|value class|`")},
	{"TypeScript", "an imported or exported type is not defined there", false, regexp.MustCompile(`^\s*type \w+(?: as \w+)?,|^\s*extends\b|\bimport\b|^\s*export\s*(?:type\s*)?\{|^\s*\w+,$`)},
	{"TypeScript", "functions in functions are functions", true, regexp.MustCompile(`\bfunction\b`)},
	{"JavaScript", "functions in functions are functions", true, regexp.MustCompile(`\bfunction\b`)},
	{"Kotlin", "functions in functions and of objects are functions", true, regexp.MustCompile(`\bfun\b`)},
}

const noClass = "an object literal is no class"

// listed reports whether a difference is in the list. kind is that of ctags; ours
// alone has none.
func listed(lang, path, line, kind string) bool {
	return slices.ContainsFunc(listedDifferences, func(d struct {
		lang, reason string
		extra        bool
		line         *regexp.Regexp
	}) bool {
		return d.lang == lang && d.extra == (kind == "") && (d.reason != noClass || kind == "class") && (d.line.MatchString(line) || strings.HasPrefix(d.line.String(), "/") && d.line.MatchString(path))
	})
}

func TestCtags(t *testing.T) {
	ctags, err := exec.LookPath("ctags")
	if err != nil {
		t.Skip("no ctags on the path")
	}
	any := false
	for _, env := range []string{"QUARRY_CTAGS_UNITS", "QUARRY_SYMBOL_TREES"} {
		dir := os.Getenv(env)
		if dir == "" {
			continue
		}
		any = true
		t.Run(env, func(t *testing.T) { compareCtags(t, ctags, dir, env == "QUARRY_CTAGS_UNITS") })
	}
	if !any {
		t.Skip("neither QUARRY_CTAGS_UNITS nor QUARRY_SYMBOL_TREES names a folder")
	}
}

func compareCtags(t *testing.T, ctags, dir string, units bool) {
	var files []string
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	entries, _ := os.ReadDir(dir)
	roots := []string{dir}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			if real, err := filepath.EvalSymlinks(filepath.Join(dir, e.Name())); err == nil {
				roots = append(roots, real)
			}
		}
	}
	visit := func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && strings.HasPrefix(d.Name(), ".") && p != dir { // repositories, bundled programs
				return fs.SkipDir
			}
			return nil
		}
		if units && !strings.HasPrefix(d.Name(), "input") {
			return nil
		}
		if byExtension[filepath.Ext(p)] != nil {
			files = append(files, p)
		}
		return nil
	}
	for _, r := range roots {
		filepath.WalkDir(r, visit)
	}
	cmd := exec.Command(ctags, "-f", "-", "-L", "-", "--fields=Kl", "-n", "--extras=F", "--sort=no",
		"--langmap=C:.c.h", "--langmap=C++:+.inl.tcc.ino")
	cmd.Stdin = strings.NewReader(strings.Join(files, "\n"))
	out, err := cmd.Output()
	if err != nil { // version 5.9 crashes on some of its own cases
		t.Logf("ctags: %v; running it file by file", err)
		out = nil
		for _, f := range files {
			one := exec.Command(ctags, append(cmd.Args[1:2:2], append([]string{"-"}, cmd.Args[5:]...)...)...)
			one.Args = append(one.Args, f)
			if o, err := one.Output(); err == nil {
				out = append(out, o...)
			}
		}
	}
	tags := map[string]map[string]string{} // by file: "name:line" to the kind
	langs := map[string]string{}
	sc := bufio.NewScanner(bytes.NewReader(out))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		f := strings.Split(sc.Text(), "\t")
		if len(f) < 5 || strings.HasPrefix(f[0], "!_") {
			continue
		}
		lang := strings.TrimPrefix(f[4], "language:")
		name, line := strings.ReplaceAll(f[0], `\\`, `\`), strings.TrimSuffix(f[2], `;"`)
		langs[f[1]] = lang
		if strings.HasPrefix(name, "__anon") || name == "<lambda>" || strings.HasPrefix(name, "anonymous") || !strings.Contains(" "+ctagsKinds[lang]+" ", " "+f[3]+" ") {
			continue
		}
		if tags[f[1]] == nil {
			tags[f[1]] = map[string]string{}
		}
		tags[f[1]][place(lang, name, line)] = f[3]
	}
	counts := map[string]*tagCount{}
	for _, p := range files {
		text, err := os.ReadFile(p)
		if err != nil {
			continue
		}
		lang := languageName(p, text)
		if lang == "Shell" {
			lang = "Sh"
		}
		if langs[p] != lang && langs[p] != "" || ctagsKinds[lang] == "" {
			continue
		}
		c := counts[lang]
		if c == nil {
			c = &tagCount{}
			counts[lang] = c
		}
		lines := strings.Split(string(text), "\n")
		lineOf := func(k string) string {
			n, err := strconv.Atoi(k[strings.LastIndexByte(k, ':')+1:])
			if err != nil || n < 1 || n > len(lines) {
				return ""
			}
			return lines[n-1]
		}
		got := map[string]bool{}
		for _, s := range Of(p, text) {
			if ourKinds(lang, &s) {
				got[place(lang, s.Name, s.Line)] = true
			}
		}
		for k := range got {
			c.got++
			if tags[p][k] == "" {
				c.extra = append(c.extra, p+" "+k)
				if listed(lang, p, lineOf(k), "") {
					c.listedExtra++
				}
			}
		}
		for k, kind := range tags[p] {
			c.want++
			if got[k] {
				c.both++
			} else {
				c.missed = append(c.missed, p+" "+k)
				if listed(lang, p, lineOf(k), kind) {
					c.listedMissed++
				}
			}
		}
	}
	report(t, counts, units)
}

// place is what is compared: a name and its line. ctags lists every clause of a
// Haskell function, we list the first; so there names are compared alone.
func place(lang, name string, line any) string {
	if lang == "Haskell" {
		return shortName(lang, name)
	}
	return fmt.Sprintf("%s:%v", shortName(lang, name), line)
}

// shortName takes qualifiers and blanks off, which the two write differently.
func shortName(lang, name string) string {
	if lang == "Markdown" {
		return name
	}
	if i := strings.LastIndexAny(name, ".:\\"); i >= 0 && i < len(name)-1 && (lang == "Lua" || lang == "Perl" || lang == "Elixir" || lang == "Ruby" || lang == "SQL" || lang == "JavaScript") {
		name = name[i+1:]
	}
	return strings.ReplaceAll(name, " ", "")
}

func report(t *testing.T, counts map[string]*tagCount, units bool) {
	var langs []string
	for l := range counts {
		langs = append(langs, l)
	}
	sort.Strings(langs)
	for _, l := range langs {
		c := counts[l]
		share := func(all, listed int) float64 { return 100 * float64(c.both) / float64(max(all-listed, 1)) }
		t.Logf("%-12s ctags %6d ours %6d precision %5.1f%% recall %5.1f%%; without listed differences %5.1f%% %5.1f%%",
			l, c.want, c.got, share(c.got, 0), share(c.want, 0), share(c.got, c.listedExtra), share(c.want, c.listedMissed))
	}
	if dir := os.Getenv("QUARRY_CTAGS_REPORT"); dir != "" {
		for l, c := range counts {
			sort.Strings(c.missed)
			sort.Strings(c.extra)
			os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%v.missed", strings.ReplaceAll(l, "#", "sharp"), units)), []byte(strings.Join(c.missed, "\n")), 0o644)
			os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%v.extra", strings.ReplaceAll(l, "#", "sharp"), units)), []byte(strings.Join(c.extra, "\n")), 0o644)
		}
	}
}
