package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"quarry/internal/cli/command"
	"quarry/internal/cli/manual"
	"quarry/internal/clients"
)

// The documents are tested in three ways. Links must lead to existing files and headings. Commands
// and flags of quarry must exist. Fenced blocks marked console are run: each line that starts with
// "$ " is a command for a shell, followed by its expected output on either stream. In the output a
// "…" matches anything within a line, and a line that is only "…" matches any number of lines. The
// comment
//
//	<!-- tree: NAME -->
//
// above a block names its initial files, testdata/docs/NAME.txtar. Blocks with the same name in one
// document continue with the files of the previous one. Without the comment, a block runs at the
// top of this repository.

// document is a Markdown file.
type document struct {
	name string // relative to the top of the repository
	src  []byte
	root ast.Node
}

const topDir = "../.."

func documents(t *testing.T) []*document {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(topDir, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		names = append(names, filepath.Join(topDir, n))
	}
	var list []*document
	for _, n := range names {
		list = append(list, readDocument(t, n))
	}
	return list
}

func readDocument(t *testing.T, file string) *document {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rel, _ := filepath.Rel(topDir, file)
	md := goldmark.New(goldmark.WithExtensions(extension.GFM))
	return &document{filepath.ToSlash(rel), src, md.Parser().Parse(text.NewReader(src))}
}

// each calls visit for every node of the document.
func (d *document) each(visit func(ast.Node)) {
	_ = ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}

func (d *document) text(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(d.src))
		} else {
			b.WriteString(d.text(c))
		}
	}
	return b.String()
}

// anchors returns the anchors that GitHub generates for the headings.
func (d *document) anchors() map[string]bool {
	have := map[string]bool{}
	d.each(func(n ast.Node) {
		if n.Kind() != ast.KindHeading {
			return
		}
		slug := regexp.MustCompile(`[^\p{L}\p{N}\- _]`).ReplaceAllString(strings.ToLower(d.text(n)), "")
		slug = strings.ReplaceAll(slug, " ", "-")
		for i := 1; have[slug]; i++ {
			slug = fmt.Sprintf("%s-%d", strings.TrimSuffix(slug, fmt.Sprintf("-%d", i-1)), i)
		}
		have[slug] = true
	})
	return have
}

func TestDocLinks(t *testing.T) {
	docs := map[string]*document{}
	for _, d := range documents(t) {
		docs[d.name] = d
	}
	checked := 0
	for _, d := range docs {
		d.each(func(n ast.Node) {
			var to string
			switch n := n.(type) {
			case *ast.Link:
				to = string(n.Destination)
			case *ast.Image:
				to = string(n.Destination)
			default:
				return
			}
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				return
			}
			checked++
			file, anchor, _ := strings.Cut(to, "#")
			name := d.name
			if file != "" {
				name = filepath.ToSlash(filepath.Join(filepath.Dir(d.name), file))
			}
			if _, err := os.Stat(filepath.Join(topDir, name)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", d.name, to)
				return
			}
			if anchor == "" {
				return
			}
			target := docs[name]
			if target == nil && strings.HasSuffix(name, ".md") {
				target = readDocument(t, filepath.Join(topDir, name))
			}
			if target == nil || !target.anchors()[anchor] {
				t.Errorf("%s: %s has no heading #%s", d.name, name, anchor)
			}
		})
	}
	if checked < 10 {
		t.Errorf("only %d links were found", checked)
	}
}

// shellWords splits a command line into words as a shell does, up to the first operator or comment.
func shellWords(line string) []string {
	var list []string
	word, in, quote := "", false, byte(0)
	flush := func() {
		if in {
			list = append(list, word)
		}
		word, in = "", false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word += string(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == '\\' && i+1 < len(line):
			i++
			word, in = word+string(line[i]), true
		case c == ' ' || c == '\t':
			flush()
			// In examples, several spaces separate a command from its explanation.
			if strings.HasPrefix(line[i:], "   ") {
				return list
			}
		case strings.IndexByte("|;&<>", c) >= 0 || c == '#' && !in || c == '(' && !in:
			flush()
			return list
		default:
			word, in = word+string(c), true
		}
	}
	flush()
	return list
}

// quarryLines returns the words of each quarry command line in a text.
func quarryLines(code string) (lines [][]string) {
	for line := range strings.Lines(code) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "$ "))
		for _, part := range regexp.MustCompile(`[|;]|&&|<\(`).Split(line, -1) {
			part = strings.TrimSpace(part)
			for _, prefix := range []string{"go run ./cmd/quarry ", "quarry "} {
				if rest, ok := strings.CutPrefix(part, prefix); ok {
					lines = append(lines, shellWords(rest))
				}
			}
		}
	}
	return lines
}

// problem returns what is wrong with the words of a command line, or "".
func problem(top *cobra.Command, words []string) string {
	cmd := top
	i := 0
	for ; i < len(words); i++ {
		if strings.HasPrefix(words[i], "-") {
			if flagProblem(cmd, words[i]) != "" {
				break
			}
			if takesValue(cmd, words[i]) {
				i++
			}
			continue
		}
		var next *cobra.Command
		for _, sub := range cmd.Commands() {
			if sub.Name() == strings.Trim(words[i], ",.") {
				next = sub
			}
		}
		if next == nil {
			break
		}
		cmd = next
	}
	if i < len(words) && cmd == top && !isPlaceholder(words[i]) && !strings.HasPrefix(words[i], "-") {
		return fmt.Sprintf("there is no command %q", words[i])
	}
	if i < len(words) && command.IsGroup(cmd) && cmd != top && !isPlaceholder(words[i]) && !strings.HasPrefix(words[i], "-") {
		return fmt.Sprintf("quarry %s has no command %q", command.Name(cmd), words[i])
	}
	if cmd.Name() == "help" && i < len(words) && !isPlaceholder(words[i]) {
		if got := runQuarry("", append([]string{"help"}, words[i:]...)...); got.code != 0 {
			return strings.TrimSpace(got.err)
		}
	}
	for ; i < len(words); i++ {
		if words[i] == "--" {
			return ""
		}
		if strings.HasPrefix(words[i], "-") && len(words[i]) > 1 {
			if p := flagProblem(cmd, words[i]); p != "" {
				return p
			}
			if takesValue(cmd, words[i]) {
				i++
			}
		}
	}
	return ""
}

func isPlaceholder(w string) bool { return w == "…" || w == "..." || strings.ToUpper(w) == w }

// flagOf returns the flag with the given name, which is a long name or a single letter.
func flagOf(cmd *cobra.Command, name string) *pflag.Flag {
	cmd.InheritedFlags()
	if len(name) == 1 {
		return cmd.Flags().ShorthandLookup(name)
	}
	if name == "help" {
		return &pflag.Flag{Name: "help", NoOptDefVal: "true"}
	}
	return cmd.Flags().Lookup(name)
}

func flagProblem(cmd *cobra.Command, word string) string {
	if long, ok := strings.CutPrefix(word, "--"); ok {
		name, _, _ := strings.Cut(long, "=")
		if flagOf(cmd, name) == nil {
			return fmt.Sprintf("quarry %s has no flag --%s", command.Name(cmd), name)
		}
		return ""
	}
	for _, r := range word[1:] {
		fl := flagOf(cmd, string(r))
		if fl == nil {
			return fmt.Sprintf("quarry %s has no flag -%c", command.Name(cmd), r)
		}
		if fl.NoOptDefVal == "" {
			return "" // the rest of the word is the flag's value
		}
	}
	return ""
}

func takesValue(cmd *cobra.Command, word string) bool {
	if long, ok := strings.CutPrefix(word, "--"); ok {
		return !strings.Contains(long, "=") && flagOf(cmd, long).NoOptDefVal == ""
	}
	for i, r := range word[1:] {
		if flagOf(cmd, string(r)).NoOptDefVal == "" {
			return i == len(word)-2
		}
	}
	return false
}

// foreignFlags are other programs' flags that documents mention.
var foreignFlags = map[string]bool{
	"--crlf": true, "--no-require-git": true, "--passthru": true, "--pre": true, "--ignore-file-case-insensitive": true, "--generate": true, "--pcre2-version": true, "--transport": true, "--header": true,
}

func TestDocCommands(t *testing.T) {
	top := tree()
	anyFlag := map[string]bool{"--help": true}
	command.Each(top, func(cmd *cobra.Command) {
		for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
			flags.VisitAll(func(fl *pflag.Flag) { anyFlag["--"+fl.Name] = true })
		}
	})
	checked := 0
	check := func(where string, words []string) {
		checked++
		if p := problem(top, words); p != "" {
			t.Errorf("%s: quarry %s: %s", where, strings.Join(words, " "), p)
		}
	}
	for _, d := range documents(t) {
		d.each(func(n ast.Node) {
			switch n := n.(type) {
			case *ast.CodeSpan:
				code := d.text(n)
				for _, words := range quarryLines(code) {
					check(d.name, words)
				}
				if flag := strings.FieldsFunc(code, func(r rune) bool { return r == ' ' || r == '=' || r == '`' }); len(flag) > 0 && strings.HasPrefix(code, "--") {
					if !anyFlag[flag[0]] && !foreignFlags[flag[0]] {
						t.Errorf("%s: no command has the flag %s", d.name, flag[0])
					}
				}
			case *ast.FencedCodeBlock, *ast.CodeBlock:
				for _, words := range quarryLines(string(n.Lines().Value(d.src))) {
					check(d.name, words)
				}
			}
		})
	}
	command.Each(top, func(cmd *cobra.Command) {
		for _, words := range quarryLines(cmd.Example) {
			check("quarry "+command.Name(cmd)+" --help", words)
		}
	})
	for _, tp := range manual.Topics() {
		for _, words := range quarryLines(strings.ReplaceAll(tp.Text(top), ": quarry ", "\nquarry ")) {
			check("quarry help "+tp.Name, words)
		}
	}
	if checked < 60 {
		t.Errorf("only %d commands were found", checked)
	}
}

// The checks above find the planted errors.
func TestDocProblems(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"quarry serach x", `there is no command "serach"`},
		{"quarry search --hiden x", "quarry search has no flag --hiden"},
		{"quarry search -iQ x", "quarry search has no flag -Q"},
		{"quarry index rebuild", `quarry index has no command "rebuild"`},
		{"quarry search -A3 -- --x", ""},
		{"quarry search -e --x", ""},
		{"quarry mcp install --client NAME", ""},
		{"quarry help nothing", "no help for"},
		{"echo a | quarry write b --contents c", "quarry write has no flag --contents"},
		{"quarry find '*.go'          # --nothing", ""},
	} {
		lines := quarryLines(c.line)
		if len(lines) != 1 {
			t.Errorf("%s: %d commands", c.line, len(lines))
			continue
		}
		if got := problem(tree(), lines[0]); got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
}

// session is one command of a console block with its expected output.
type session struct{ command, want string }

func sessions(block string) []session {
	var list []session
	for line := range strings.Lines(block) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			list = append(list, session{command: strings.TrimSpace(command)})
		} else if len(list) > 0 {
			list[len(list)-1].want += line
		}
	}
	for i := range list {
		list[i].want = strings.TrimRight(list[i].want, "\n")
	}
	return list
}

// printed reports whether an output matches the output in a document.
func printed(want, got string) bool {
	pattern := regexp.QuoteMeta(want)
	pattern = regexp.MustCompile(`(?m)^…$`).ReplaceAllString(pattern, `(?s:.*)`)
	pattern = strings.ReplaceAll(pattern, "…", `[^\n]*`)
	return regexp.MustCompile(`^` + pattern + `$`).MatchString(strings.TrimRight(got, "\n"))
}

func TestDocConsole(t *testing.T) {
	top, err := filepath.Abs(topDir)
	if err != nil {
		t.Fatal(err)
	}
	treeName := regexp.MustCompile(`<!-- tree: (\S+) -->`)
	ran := 0
	for _, d := range documents(t) {
		patients := map[string]*patient{}
		name := ""
		d.each(func(n ast.Node) {
			if html, ok := n.(*ast.HTMLBlock); ok {
				if m := treeName.FindStringSubmatch(string(html.Lines().Value(d.src))); m != nil {
					name = m[1]
				}
				return
			}
			block, ok := n.(*ast.FencedCodeBlock)
			if !ok {
				return
			}
			tree := name
			name = ""
			if string(block.Language(d.src)) != "console" {
				return
			}
			p := patients[tree]
			if p == nil {
				p = newPatient(t)
				patients[tree] = p
				if p.dir = top; tree != "" {
					p.dir = filepath.Join(filepath.Dir(p.home), tree)
					unpack(t, p.dir, filepath.Join("testdata", "docs", tree+".txtar"))
				}
			}
			for _, s := range sessions(string(block.Lines().Value(d.src))) {
				ran++
				if got, _ := p.sh(s.command); !printed(s.want, got) {
					t.Errorf("%s: $ %s\nprints\n%s\nnot\n%s", d.name, s.command, got, s.want)
				}
			}
		})
	}
	if ran == 0 {
		t.Error("no document has a console block")
	}
}

func unpack(t *testing.T, dir, file string) {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range a.Files {
		files[f.Name] = string(f.Data)
	}
	writeTree(t, dir, files)
}

func TestPrinted(t *testing.T) {
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{"a.b", "a.b\n", true}, {"a.b", "axb", false}, {"id … done", "id 1234 done", true}, {"id … done", "id 1\n2 done", false},
		{"a\n…\nz", "a\nb\nc\nz", true}, {"a\n…\nz", "a\nb\nc", false}, {"", "", true}, {"", "x", false},
	} {
		if printed(c.want, c.got) != c.same {
			t.Errorf("%q and %q: want %v", c.want, c.got, c.same)
		}
	}
}

// The README lists every command and every client of install.
func TestReadmeIsWhole(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(topDir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, shell, _ := strings.Cut(string(text), "\n## At the shell\n")
	shell, _, _ = strings.Cut(shell, "\n## ")
	for _, name := range commandNames(tree()) {
		if !strings.Contains(shell, "`"+name+"`") && !strings.Contains(shell, "`quarry "+name) {
			t.Errorf("README.md doesn't name quarry %s", name)
		}
	}
	for _, name := range clients.Names() {
		if !strings.Contains(string(text), "--client "+name+" ") && !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("README.md doesn't name the client %s", name)
		}
	}
}
