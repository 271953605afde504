package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"quarry/internal/cli/command"
	"quarry/internal/cli/env"
	"quarry/internal/cli/manual"
	"quarry/search"
)

// rgVersion is the version of ripgrep that quarry rg imitates. Scripts and editors read
// the first line of --version, so it has ripgrep's form.
const rgVersion = "15.0.0"

// newRg makes quarry rg: quarry search with ripgrep's defaults, for use as alias rg='quarry rg' and
// in editors.
func newRg(s env.Streams) *cobra.Command {
	f := searchFlags{rgPreset: rgPreset{rg: true}}
	cmd := &cobra.Command{
		Use:   "rg PATTERN [PATH...]",
		Short: "Search as ripgrep does, for aliases, scripts and editors",
		Long: `Search files for a pattern with ripgrep's own defaults and flags, so that
alias rg='quarry rg', scripts and editors go on working: line numbers only on a
terminal, carriage returns kept, .gitignore only in git repositories, matches of
binary files mentioned, RIPGREP_CONFIG_PATH read. docs/SEARCH.md lists what
differs from ripgrep. quarry search is the same search with our defaults.

Exit code 0 when something matched, 1 when nothing did, 2 for an error.`,
		Example: `  alias rg='quarry rg'
  quarry rg -n 'func \w+\(ctx' src`,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.version:
				return s.Write(fmt.Sprintf("ripgrep %s (quarry %s)\n", rgVersion, env.Version()))
			case f.pcreVersion:
				return s.Write("PCRE2 is not available: -P takes what of its syntax Quarry's own engine can run\n")
			case f.generate != "":
				return generate(cmd, s, f.generate)
			}
			return runSearch(cmd, s, &f, args)
		},
	}
	manual.SetGroups(cmd, f.groups())
	return cmd
}

// addRg adds the flags that only quarry rg has: those about ripgrep itself, and those that
// turn off behaviour that is always on in quarry search.
func (f *searchFlags) addRg(groups []command.Group) {
	fl := groups[len(groups)-1].Flags
	fl.BoolVarP(&f.version, "version", "V", false, "the version of ripgrep that this behaves like")
	fl.BoolVar(&f.pcreVersion, "pcre2-version", false, "whether there is PCRE2")
	fl.StringVar(&f.generate, "generate", "", "print `what`: man, complete-bash, complete-zsh,\ncomplete-fish or complete-powershell")
	fl.BoolVar(&f.noRequireGit, "no-require-git", false, "heed .gitignore outside git repositories too")
	fl.BoolVar(&f.crlf, "crlf", false, "\\r\\n is one line ending for ^ and $")
	command.AddChoice(fl, &f.mapping, "mmap", "", "look for NUL as ripgrep does in a file it maps")
	command.AddChoice(fl, &f.mapping, "no-mmap", "", "and as in one it reads")
}

// generate writes the output of rg --generate.
func generate(cmd *cobra.Command, s env.Streams, what string) error {
	shell, isShell := strings.CutPrefix(what, "complete-")
	switch {
	case what == "man":
		_, err := manual.WritePage(cmd.Root(), "rg", s.Out)
		return err
	case isShell && slices.Contains([]string{"bash", "zsh", "fish", "powershell"}, shell):
		return manual.WriteCompletionOf(cmd.Root(), "rg", shell, s.Out)
	}
	return fmt.Errorf("--generate %q: man, complete-bash, complete-zsh, complete-fish or complete-powershell", what)
}

// rgPreset holds the settings in which quarry rg differs from quarry search.
type rgPreset struct {
	rg           bool
	version      bool
	pcreVersion  bool
	generate     string
	noRequireGit bool
	crlf         bool
	mapping      string // "", mmap or no-mmap
}

// program returns the prefix of messages.
func (f *searchFlags) program() string {
	if f.rg {
		return "rg"
	}
	return "quarry"
}

// mappedFiles is the maximum number of named files that ripgrep memory-maps.
const mappedFiles = 10

// nulRule returns how ripgrep would treat NUL bytes in the files of a target. targets is the number
// of paths searched.
func (f *searchFlags) nulRule(t *target, targets int) search.NULRule {
	mapped := !t.stdin && !f.zip && f.pre == "" && f.encoding == "" &&
		(f.mapping == "mmap" || f.mapping == "" && t.isFile && targets <= mappedFiles)
	mention := t.isFile || f.binary || f.unrestricted >= 3
	switch {
	case mention && mapped:
		return search.MentionNULMapped
	case mention:
		return search.MentionNUL
	case mapped:
		return search.StopAtNULMapped
	}
	return search.StopAtNUL
}

// withoutGit reports whether git's ignore files are disregarded for a target: ripgrep applies them
// only in repositories. In a workspace inside a repository they all apply, and the index can be
// used.
func (r *searching) withoutGit(t *target) bool {
	return r.f.rg && !r.f.noRequireGit && t.root != "" && outsideGit(t.root)
}

// outsideGit reports whether a folder is outside any git repository.
func outsideGit(root string) bool {
	for dir := root; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}
