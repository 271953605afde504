package symbols

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
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
			if d != nil && d.Name() == ".git" {
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
	tags := map[string]map[string]bool{} // by file: "name:line"
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
			tags[f[1]] = map[string]bool{}
		}
		tags[f[1]][place(lang, name, line)] = true
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
		got := map[string]bool{}
		for _, s := range Of(p, text) {
			if ourKinds(lang, &s) {
				got[place(lang, s.Name, s.Line)] = true
			}
		}
		for k := range got {
			c.got++
			if !tags[p][k] {
				c.extra = append(c.extra, p+" "+k)
			}
		}
		for k := range tags[p] {
			c.want++
			if got[k] {
				c.both++
			} else {
				c.missed = append(c.missed, p+" "+k)
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
		t.Logf("%-12s ctags %6d ours %6d precision %5.1f%% recall %5.1f%%", l, c.want, c.got, 100*float64(c.both)/float64(max(c.got, 1)), 100*float64(c.both)/float64(max(c.want, 1)))
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
