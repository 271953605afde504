package cli

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"quarry/internal/cli/filetypes"
)

// rgDiffers maps ripgrep's flags that behave differently in quarry to a description of the
// difference.
var rgDiffers = map[string]string{
	"follow":                       "within the workspace only: a link that leads out of it is reported",
	"pcre2":                        "PCRE2's syntax where our engine gives the same answer: look-around, backreferences, Unicode classes; an error for the rest",
	"engine":                       "`pcre2` is `-P`",
	"auto-hybrid-regex":            "falls back to JavaScript's syntax",
	"null-data":                    "a pattern can't have line feeds",
	"stats":                        "ripgrep's lines, and then what was skipped and how the answer came about",
	"debug":                        "`--stats` on stderr",
	"trace":                        "as `--debug`",
	"glob":                         "narrows: brings nothing back that is ignored; anchored at the searched path",
	"type":                         "as `-g`",
	"line-number":                  "the default, also in a pipe",
	"sort":                         "`path` is the default and orders by the bytes of the path",
	"line-buffered":                "lines are written when a file, or 256 KiB of it, are searched",
	"search-zip":                   "gzip and bzip2 without a program; a missing program is an error",
	"no-config":                    "about `quarry.toml`, and ripgrep's file where `QUARRY_RIPGREP_CONFIG=1` has it read",
	"ignore-file-case-insensitive": "refused: ignore rules are read as git reads them",
	"generate":                     "refused: `quarry man`, `quarry completion`",
	"pcre2-version":                "refused: there is no PCRE2",
	"version":                      "`quarry version`",
	"one-file-system":              "also not through mounts inside the workspace",
	"encoding":                     "without it UTF-8, UTF-16 and Windows-1252 are told apart",
	"dfa-size-limit":               "accepted, without effect: the engine bounds its own tables",
}

var rgFlag = regexp.MustCompile(`^ {4}(?:-(.)[^-]*?, )?--([a-z0-9-]+)(?:=(\S+))?`)

// rgTable returns a table of the flags in rg --help that behave differently. It returns an error
// for unknown flags.
func rgTable(help string) (string, error) {
	fl := newSearch(Streams{}).Flags()
	var b strings.Builder
	b.WriteString("| ripgrep's flag | here |\n|---|---|\n")
	n := map[string]int{}
	for line := range strings.Lines(help) {
		m := rgFlag.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := m[2]
		short := ""
		if m[1] != "" {
			short = "`-" + m[1] + "`, "
		}
		have := fl.Lookup(name)
		kind, why := "same", ""
		switch {
		case withoutEffect[name] != "":
			kind, why = "no effect", withoutEffect[name]
		case name == "dfa-size-limit":
			kind, why = "no effect", "the engine bounds its own tables"
		case rgDiffers[name] != "":
			kind, why = "differs", rgDiffers[name]
		case name == "help":
		case have == nil:
			return "", fmt.Errorf("ripgrep's --%s is not accounted for", name)
		}
		if have != nil && m[1] != "" && have.Shorthand != m[1] && name != "version" {
			return "", fmt.Errorf("ripgrep's -%s is --%s, here it is not", m[1], name)
		}
		if have == nil && kind == "differs" && instead["search"][name] == "" && name != "no-config" && name != "version" {
			return "", fmt.Errorf("--%s is refused without saying what to do instead", name)
		}
		n[kind]++
		switch kind {
		case "differs":
			fmt.Fprintf(&b, "| %s`--%s` | %s |\n", short, name, why)
		case "no effect":
			fmt.Fprintf(&b, "| %s`--%s` | no effect: %s |\n", short, name, why)
		}
	}
	if n["same"] < 60 {
		return "", fmt.Errorf("rg --help has %d flags that are the same: is it ripgrep's?", n["same"])
	}
	return fmt.Sprintf("%d flags of ripgrep 15 are the same, %d differ, %d have no effect. Flags that cancel others, such as `--no-hidden`, work too.\n\n", n["same"], n["differs"], n["no effect"]) + b.String(), nil
}

// TestRipgrepFlags fails if a flag in rg --help is missing. With -update it writes the table of
// flags into docs/SEARCH.md.
func TestRipgrepFlags(t *testing.T) {
	rg, version := ripgrep(t)
	if version < 15 {
		t.Skip("the table is that of ripgrep 15: install that, or set QUARRY_RG to it")
	}
	help, err := exec.Command(rg, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	table, err := rgTable(string(help))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "..", "docs", "SEARCH.md")
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- ripgrep's flags: go test ./internal/cli -run RipgrepFlags -update -->\n", "<!-- end of ripgrep's flags -->"
	before, rest, ok := strings.Cut(string(doc), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("docs/SEARCH.md has no place for the table")
	}
	want := before + begin + table + end + after
	if want == string(doc) {
		return
	}
	if !*update {
		t.Error("the table of flags in docs/SEARCH.md is old: go test ./internal/cli -run RipgrepFlags -update")
		return
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The file types are the same as in rg --type-list.
func TestRipgrepTypes(t *testing.T) {
	rg, version := ripgrep(t)
	if version != 15 {
		t.Skip("the table is that of ripgrep 15: install that, or set QUARRY_RG to it")
	}
	out, err := exec.Command(rg, "--type-list").Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(out), "\n"); n < 200 {
		t.Fatalf("ripgrep lists %d types", n)
	} else {
		t.Logf("%d types compared", n)
	}
	if got := filetypes.All().List(); got != string(out) {
		want := strings.Split(string(out), "\n")
		for i, line := range strings.Split(got, "\n") {
			if i < len(want) && line != want[i] {
				t.Fatalf("%q, ripgrep has %q", line, want[i])
			}
		}
		t.Fatal("one is longer")
	}
}

// No two flags of the command line differ only in letter case, and every opposite
// cancels its flag.
func TestOpposites(t *testing.T) {
	for _, name := range slices.Sorted(mapKeys(opposites)) {
		cmd := newRg(Streams{}) // quarry rg has all flags
		of := cmd.Flags().Lookup(opposites[name])
		if of == nil || cmd.Flags().Lookup(name) == nil {
			t.Errorf("--%s takes back --%s: one is missing", name, opposites[name])
			continue
		}
		value := map[bool]string{true: "x", false: "true"}[of.Value.Type() == "string"]
		if err := cmd.ParseFlags([]string{"--" + of.Name + "=" + value, "--" + name}); err != nil {
			t.Fatal(err)
		}
		if got := cmp.Or(of.Value.String(), "false"); got != "false" {
			t.Errorf("--%s --%s: %s", of.Name, name, got)
		}
	}
	var _ pflag.Value = off{}
}
