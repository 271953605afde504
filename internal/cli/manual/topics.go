package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/printing"
	"quarry/internal/config"
	"quarry/internal/profile"
)

// Topic is a help text that is not about a single command.
type Topic struct {
	Name, short string
	Text        func(top *cobra.Command) string
}

// Topics returns the help texts that quarry help lists after the commands.
func Topics() []Topic {
	return []Topic{
		{"syntax", "Patterns: Rust's, JavaScript's and plain text", func(*cobra.Command) string { return syntaxHelp() }},
		{"structure", "Code with holes: search and rewrite by shape", func(*cobra.Command) string { return structureHelp() }},
		{"globs", "Which files a glob matches", func(*cobra.Command) string { return globHelp() }},
		{"profiles", "The sets of tools agents can get", func(*cobra.Command) string { return profileHelp() }},
		{"config", "The keys of quarry.toml", configHelp},
	}
}

// Sample is a pattern with one text that it matches and one that it doesn't.
type Sample struct{ Pattern, Yes, No, about string }

// Syntaxes describes the pattern syntaxes; a test runs every sample.
var Syntaxes = []struct {
	Title   string
	Flags   []string
	about   string
	Samples []Sample
}{

	{"Rust's, the default", nil,
		"As in ripgrep. Time grows with the text only: there is no look-around and there are no backreferences.",
		[]Sample{
			{`foo.*bar`, "foo and bar", "bar, then foo", "any characters between"},
			{`\bget\w+\(`, "x.getName()", "forget(", "a word that starts so"},
			{`^\s*(func|type) `, "  func main() {", "a func here", "one of two, at the start"},
			{`[A-Z]{2,}_ID`, "USER_ID", "U_ID", "two capitals or more"},
			{`(?i)todo`, "// ToDo", "done", "either case, as -i does"},
			{`\p{Greek}`, "α-test", "a-test", "a letter of a script"},
			{`a\.b`, "a.b", "axb", `\ takes the meaning away`},
		}},
	{"JavaScript's", []string{"--syntax", "javascript"},
		"As in RegExp, with look-around and backreferences. Such a pattern may take long; it is stopped before it takes for ever.",
		[]Sample{
			{`(?<=price: )\d+`, "price: 10", "cost: 10", "digits after a text"},
			{`foo(?!bar)`, "foobaz", "foobar", "not followed by"},
			{`(["']).*?\1`, `say "hi"`, `say "hi'`, "group 1's text again"},
			{`(?<y>\d{4})-\k<y>`, "2026-2026", "2025-2026", "by name"},
		}},
	{"JavaScript's with the u flag", []string{"--syntax", "javascript/u"},
		"As RegExp(…, 'u'); javascript/v is the v flag.",
		[]Sample{
			{`\p{Lu}\p{L}+`, "Élan", "élan", "a capital, then letters"},
			{`^\u{1f600}`, "😀", "u", "a character by its number"},
		}},
	{"Plain text", []string{"-F"},
		"No character has a meaning. --syntax literal is the same.",
		[]Sample{
			{`a.b(c)[0]`, "x = a.b(c)[0];", "axb(c)[0]", "just the text"},
		}},
}

func syntaxHelp() string {
	var b strings.Builder
	b.WriteString("A pattern is run on each line by itself; ^ and $ are its ends. With -U it may\nspan lines. -i, -S and -w mean the same in every syntax.\n")
	for _, s := range Syntaxes {
		title := s.Title
		if len(s.Flags) > 0 {
			title += ": quarry search " + strings.Join(s.Flags, " ")
		}
		fmt.Fprintf(&b, "\n%s\n%s\n  %-18s %-16s %-15s %s\n", title, printing.Wrap(s.about, "  "), "pattern", "matches", "doesn't match", "")
		for _, e := range s.Samples {
			fmt.Fprintf(&b, "  %-18s %-16s %-15s %s\n", e.Pattern, e.Yes, e.No, e.about)
		}
	}
	b.WriteString(`
In a shell, put patterns in single quotes. A pattern that starts with a dash
comes behind -e: quarry search -e --flag

Tools for agents: the parameter regex is Rust's, pattern is JavaScript's.
`)
	return trimLines(b.String())
}

// trimLines removes trailing spaces, which the columns leave on lines.
func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// Globs are the samples in globHelp; a test lists files with each of them.
var Globs = []Sample{
	{"*.go", "cmd/main.go", "main.go.txt", "names, at any depth"},
	{"src/*.go", "src/a.go", "src/x/a.go", "a slash: from the top"},
	{"/*.md", "README.md", "docs/x.md", "at the top only"},
	{"src/**", "src/x/a.go", "lib/src/a.go", "all below src"},
	{"**/test/*.go", "a/b/test/x.go", "a/test/b/x.go", "in any folder test"},
	{"*.{ts,tsx}", "a.tsx", "a.js", "one of several"},
	{"[a-c]?.txt", "b7.txt", "d7.txt", "a class; ? is one character"},
	{"build/", "x/build/o.bin", "build.sh", "a folder and what it holds"},
}

func globHelp() string {
	var b strings.Builder
	b.WriteString(`A glob names files for quarry find and for -g. It is read as git and ripgrep
read it; upper and lower case count.

  glob           matches         doesn't match
`)
	for _, g := range Globs {
		fmt.Fprintf(&b, "  %-14s %-15s %-15s %s\n", g.Pattern, g.Yes, g.No, g.about)
	}
	b.WriteString(`
A leading ! excludes: quarry find -g '*.go' -g '!*_test.go'. Of several globs
the last that matches a file decides; without one that includes, all files are
in. With a PATH, a glob with a slash starts there. quarry find build/ lists a
folder: a name that is there, or ends in a slash, is no glob without -g.

A glob narrows: hidden and ignored files stay out unless -. or -u ask for them.
Put globs in single quotes, or the shell expands them.

Tools of the profiles vault and smcp have their own documents' globs:
vault knows *, ** and ? only, from the top, in any case; smcp's are minimatch's.
`)
	return trimLines(b.String())
}

func profileHelp() string {
	var b strings.Builder
	b.WriteString("A profile is the set of tools an agent gets, and how they word answers:\nquarry mcp --profile NAME, quarry tools --profile NAME.\n")
	for _, name := range profile.Names() {
		title := name
		if name == profile.Names()[0] {
			title += " (the default)"
		}
		fmt.Fprintf(&b, "\n%s: %s\n%s", title, profile.About(name), printing.Wrap(strings.Join(toolNames(name), ", "), "  "))
	}
	b.WriteString(`
--tools a,b narrows a profile, --read-only leaves out what changes files. The
key mcp.profile of quarry.toml sets one for a folder:

  [root."~/notes".mcp]
  profile = "vault"

docs/PROFILES.md describes every tool.
`)
	return b.String()
}

func configHelp(top *cobra.Command) string {
	var b strings.Builder
	b.WriteString(`quarry.toml stands in the user's configuration folder; quarry config path says
where, quarry config init writes one. A key has the name of a flag and stands in
the section of its command; [root."/path"] holds keys for one folder:

  [search]
  hidden = true

  [root."~/notes".mcp]
  profile = "vault"

A flag goes before the environment (QUARRY_SEARCH_HIDDEN), that before the
section of a folder, that before the rest of the file. quarry config KEY
explains a key.
`)
	for _, section := range config.Sections() {
		fmt.Fprintf(&b, "\n[%s] %s\n", section, SectionTexts[section])
		for _, k := range config.Keys() {
			if k.Section == section {
				text := printing.Wrap(KeyText(top, &k), strings.Repeat(" ", 22))
				fmt.Fprintf(&b, "  %-19s %s", k.Name, strings.TrimLeft(text, " "))
			}
		}
	}
	return b.String()
}

// toolNames returns the names of a profile's tools; none if the profile is unknown.
func toolNames(of string) []string {
	r, err := profile.New(nil, &profile.Options{Profile: of})
	if err != nil {
		return nil
	}
	var list []string
	for _, t := range r.Tools() {
		list = append(list, t.Name)
	}
	return list
}

// NewHelp returns the command "quarry help".
func NewHelp(s env.Streams) *cobra.Command {
	cmd := command.New("help [COMMAND or TOPIC]", "Show help for a command or a topic",
		"Show help for a command, as --help does, or for a topic.", "", nil,
		func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				for _, t := range Topics() {
					// config is both a topic and a command; quarry config --help shows the
					// command's help.
					if t.Name == args[0] {
						_, err := io.WriteString(s.Out, t.Text(cmd.Root()))
						return err
					}
				}
			}
			target := cmd.Root()
			for i, word := range args {
				var next *cobra.Command
				for _, sub := range target.Commands() {
					if sub.Name() == word {
						next = sub
					}
				}
				if next == nil {
					return unknownHelp(target, args[i])
				}
				target = next
			}
			return target.Help()
		})
	return cmd
}

func unknownHelp(in *cobra.Command, word string) error {
	var names []string
	for _, sub := range in.Commands() {
		names = append(names, sub.Name())
	}
	if !in.HasParent() {
		for _, t := range Topics() {
			names = append(names, t.Name)
		}
	}
	if near := config.Nearest(word, names); near != "" {
		return fmt.Errorf("no help for %q\n  did you mean quarry help %s?", word, strings.TrimSpace(command.Name(in)+" "+near))
	}
	return fmt.Errorf("no help for %q\n  quarry help lists commands and topics", word)
}
