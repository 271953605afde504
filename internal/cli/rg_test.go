package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/stress"
)

// rgCase is a command line to be run by both programs in the same tree.
type rgCase struct {
	tree     string
	patterns []string // for -e
	flags    []string
	paths    []string
}

func (c *rgCase) has(flags ...string) bool {
	for _, f := range flags {
		if slices.Contains(c.flags, f) {
			return true
		}
	}
	return false
}

// contexts returns how many of the flags -A, -B and -C are given.
func (c *rgCase) contexts() int {
	n := 0
	for _, f := range c.flags {
		if len(f) == 3 && f[0] == '-' && strings.ContainsRune("ABC", rune(f[1])) {
			n++
		}
	}
	return n
}

func (c *rgCase) args() []string {
	args := slices.Clone(c.flags)
	for _, p := range c.patterns {
		args = append(args, "-e", p)
	}
	return append(append(args, "--"), c.paths...)
}

// difference is a deliberate difference from ripgrep. docs/SEARCH.md lists
// them, and TestDifferences demonstrates each.
type difference struct {
	name, reason string
	applies      func(c *rgCase, version int) bool // whether it applies to a case; nil if flags make rg behave like quarry
}

var differences = []difference{
	{"\\r\\n is one line ending", "rg gets --crlf, and the \\r it shows is taken away", nil},
	{"order by the bytes of the path", "rg gets --sort path, which orders by the parts; no name here tells the two apart", nil},
	{"ignore files count outside git repositories", "rg gets --no-require-git", nil},
	{"binary files are skipped", "the one in the trees has its NUL before its match", nil},
	{"lines that are not UTF-8 are also read as Windows-1252", "the patterns for that tree don't tell", nil},
	{"line numbers also in a pipe", "every case has -n or -N", nil},
	{"\\A and \\z by lines", "no pattern has them", nil},
	{"stdin that is a socket or device only as -", "rg gets no stdin it would search", nil},
	{"a limit in multiline mode counts matches", "ripgrep's versions differ, and its counts may exceed the limit", func(c *rgCase, _ int) bool {
		return c.has("-U") && c.has("-m1", "-m2")
	}},
	{"a glob narrows", "ripgrep's -g and -t bring back what is ignored or hidden", func(c *rgCase, _ int) bool {
		return c.tree == "ignored" && c.has("-g", "-t") && !c.has("-uu") || c.has("-g") && c.has("-t", "-T")
	}},
	{"a glob with a slash is anchored at the searched path", "ripgrep anchors it at the current folder", func(c *rgCase, _ int) bool {
		i := slices.IndexFunc(c.flags, func(f string) bool { return strings.Contains(f, "/") })
		return len(c.paths) > 0 && i > 0
	}},
	{"empty matches lie between characters", "ripgrep also finds them between the bytes of one, not at the end of a last line without line feed, and with -U behind the last line", func(c *rgCase, _ int) bool {
		return slices.Contains(c.patterns, "x*") && c.has("-U", "-o", "-r", "--vimgrep", "--count-matches", "--json") ||
			slices.Contains(c.patterns, "^$") && c.has("-U") || slices.Contains(c.patterns, "^") && c.has("-U") && c.has("-x", "-o")
	}},
	{"inverted multiline search", "we show the lines no match touches; ripgrep starts anew after the lines of each match", func(c *rgCase, _ int) bool {
		return c.has("-U") && c.has("-v")
	}},
	{"an empty replacement in multiline mode", "we show the line it leaves empty, ripgrep not always", func(c *rgCase, _ int) bool {
		return c.has("-U") && c.has("-r") && c.has("")
	}},
	{"context after the last match of -m", "ripgrep marks lines there that match as matches; to us they are context", func(c *rgCase, _ int) bool {
		return c.has("-m1", "-m2") && c.contexts() > 0
	}},
}

// faults are unintended differences, to be fixed.
var faults = []difference{
	// Until match is fixed, smart case takes the P of (?P<name>…) for a capital letter.
	{"smart case and named groups", "ripgrep looks at the letters a pattern matches only", func(c *rgCase, _ int) bool {
		return c.has("-S") && slices.Contains(c.patterns, "(?P<name>b.)r")
	}},
	{"adjoining matches with -U and -r in JSON", "ripgrep puts lines into one message that it shows apart otherwise", func(c *rgCase, _ int) bool {
		return c.has("-U") && c.has("--json") && c.has("-r")
	}},
	{"an empty match of --vimgrep with -U", "ripgrep shows no line for it", func(c *rgCase, _ int) bool {
		return c.has("-U") && c.has("--vimgrep") && slices.Contains(c.patterns, "^")
	}},
	{"ripgrep 13", "mended since: replacements and counts with -U, -A and -B beside -C, -w, a group's name used twice, the length of replaced lines and of those that end in \\r\\n, the exit code of --files-without-match", func(c *rgCase, version int) bool {
		return version < 14 && (c.has("-U") && c.has("-r", "-v", "-m1", "-m2") ||
			c.contexts() > 1 || c.has("-w") || len(c.patterns) > 1 && slices.Contains(c.patterns, "(?P<name>b.)r") || c.has("--max-columns") && (c.tree == "crlf" || c.has("-r")) ||
			c.has("--files-without-match") || c.has("--json") && c.has("-r"))
	}},
}

// ripgrep returns the path and major version of ripgrep.
func ripgrep(t *testing.T) (path string, version int) {
	t.Helper()
	path = os.Getenv("QUARRY_RG")
	if path == "" {
		path = "rg"
	}
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		t.Skipf("no ripgrep to compare with (%v): install it or set QUARRY_RG", err)
	}
	if _, err := fmt.Sscanf(string(out), "ripgrep %d.", &version); err != nil {
		t.Fatalf("%s --version: %q", path, out)
	}
	return path, version
}

// outcome is the output and exit code of a program.
type outcome struct {
	out  string
	code int
	err  string
}

func runRipgrep(t *testing.T, rg, dir string, args []string) outcome {
	t.Helper()
	cmd := exec.Command(rg, append([]string{"--no-config", "--no-require-git", "--sort", "path"}, args...)...)
	cmd.Dir = dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return outcome{out.String(), cmd.ProcessState.ExitCode(), errs.String()}
}

// runQuarry runs a command line in the current folder.
func runQuarry(stdin string, args ...string) outcome {
	var out, errs bytes.Buffer
	code := Run(context.Background(), args, Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs})
	return outcome{out.String(), code, errs.String()}
}

// rgCases is the number of random cases to compare.
var rgCases = flag.Int("rgcases", 0, "combinations to compare with ripgrep; 0: 200, 600 in make stress")

// TestRipgrep compares output and exit codes with ripgrep's for random combinations of trees,
// patterns, flags and paths.
func TestRipgrep(t *testing.T) {
	stress.SkipShort(t)
	rg, version := ripgrep(t)
	trees := makeTrees(t)
	all := slices.Concat(differences, faults)
	excluded := map[string]int{}
	cases, compared, printed, wrong := *rgCases, 0, 0, 0
	if cases == 0 {
		cases = stress.Size(200, 600)
	}
	for seed := uint64(0); compared < cases && wrong < 25; seed++ {
		c := randomCase(rand.New(rand.NewPCG(seed, 4)))
		if i := slices.IndexFunc(all, func(d difference) bool { return d.applies != nil && d.applies(&c, version) }); i >= 0 {
			excluded[all[i].name]++
			continue
		}
		compared++
		dir := trees[c.tree]
		for i, p := range c.paths {
			c.paths[i] = strings.Replace(p, "TREE", dir, 1)
		}
		t.Chdir(dir)
		args := c.args()
		rgArgs := args
		if c.tree == "crlf" {
			rgArgs = append([]string{"--crlf"}, args...)
		}
		want := runRipgrep(t, rg, dir, rgArgs)
		got := runQuarry("", append([]string{"search"}, args...)...)
		if c.tree == "crlf" {
			want.out = strings.ReplaceAll(want.out, "\r\n", "\n")
		}
		if want.out != "" {
			printed++
		}
		if diff := compareOutcome(&c, want, got); diff != "" {
			wrong++
			t.Errorf("seed %d: in tree %s: %q\n%s\nstderr %s%s", seed, c.tree, args, diff, got.err, want.err)
		}
	}
	for _, d := range all {
		t.Logf("%4d left out: %s (%s)", excluded[d.name], d.name, d.reason)
	}
	t.Logf("%d compared with ripgrep %d, %d of them printed something", compared, version, printed)
	if printed < compared/2 {
		t.Errorf("ripgrep printed something for %d of %d cases only: the trees are unsuitable", printed, compared)
	}
}

func compareOutcome(c *rgCase, want, got outcome) string {
	code := ""
	if want.code != got.code {
		code = fmt.Sprintf("exit code %d, ripgrep's %d\n", got.code, want.code)
	}
	if c.has("--json") {
		return code + cmp.Diff(messages(want.out), messages(got.out))
	}
	if want.out == got.out {
		return code
	}
	return code + cmp.Diff(strings.SplitAfter(want.out, "\n"), strings.SplitAfter(got.out, "\n"))
}

// messages parses JSON Lines and removes what varies between runs, such as times.
func messages(out string) []any {
	var list []any
	for line := range strings.Lines(out) {
		var m any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			list = append(list, "not JSON: "+line)
			continue
		}
		dropMeasures(m)
		list = append(list, m)
	}
	return list
}

func dropMeasures(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range []string{"elapsed", "elapsed_total", "bytes_searched", "bytes_printed", "searches"} {
			delete(v, key)
		}
		for _, sub := range v {
			dropMeasures(sub)
		}
	case []any:
		for _, sub := range v {
			dropMeasures(sub)
		}
	}
}

// pick returns one of the choices.
func pick[T any](rng *rand.Rand, choices ...T) T { return choices[rng.IntN(len(choices))] }

func randomCase(rng *rand.Rand) rgCase {
	c := rgCase{tree: pick(rng, "plain", "plain", "ignored", "ignored", "crlf", "encodings", "names")}
	for range pick(rng, 1, 1, 1, 2, 3) {
		c.patterns = append(c.patterns, pick(rng, treePatterns[c.tree]...))
	}
	maybe := func(n int, flags ...string) {
		if rng.IntN(n) == 0 {
			c.flags = append(c.flags, flags...)
		}
	}
	c.flags = append(c.flags, pick(rng, "-n", "-n", "-N"))
	maybe(3, pick(rng, "-i", "-S", "-s"))
	maybe(5, pick(rng, "-w", "-x"))
	maybe(6, "-v")
	maybe(8, "-F")
	if c.tree == "plain" || c.tree == "ignored" {
		maybe(4, "-U")
		maybe(12, "--multiline-dotall")
	}
	maybe(6, "--"+pick(rng, "hidden", "no-ignore"))
	maybe(10, pick(rng, "-u", "-uu"))
	maybe(8, "-g", pick(rng, "*.go", "*.txt", "!*.go", "!sub", "sub/*.txt", "/a*", "sub/**", "*.{go,md}", "[ab]*"))
	maybe(16, "-g", pick(rng, "!a*", "!**/deep/**", "*.md"))
	maybe(10, pick(rng, "-t", "-T"), pick(rng, "go", "txt", "md"))
	maybe(12, "--max-depth", pick(rng, "1", "2"))
	maybe(5, pick(rng, "-m1", "-m2"))
	randomOutput(rng, &c, maybe)
	c.paths = pick(rng, []string{}, []string{}, []string{}, []string{"."}, []string{"./"}, []string{"sub"}, []string{"./sub/"},
		[]string{"a.txt"}, []string{"./a.txt"}, []string{"a.txt", "sub"}, []string{"sub", "a.txt", "missing"}, []string{"missing"}, []string{"../" + c.tree + "/sub"}, []string{"TREE/sub"}, []string{"TREE/a.txt"}, []string{"TREE/", "sub"})
	return c
}

func randomOutput(rng *rand.Rand, c *rgCase, maybe func(int, ...string)) {
	if rng.IntN(3) == 0 {
		maybe(1, pick(rng, "-c", "-l", "--count-matches", "--files-without-match", "-q", "--json"))
		maybe(4, "-0")
		maybe(4, pick(rng, "-H", "-I"))
		if c.has("--json") {
			maybe(4, "-r", "<$0>")
			maybe(3, "-C1")
		}
		return
	}
	maybe(3, "-"+pick(rng, "A", "B", "C")+pick(rng, "0", "1", "2"))
	maybe(6, "-"+pick(rng, "A", "B", "C")+pick(rng, "1", "3"))
	maybe(4, "-o")
	maybe(5, "-r", pick(rng, "X", "<$0>", "${1}-$name", "$$", ""))
	maybe(5, "--column")
	maybe(5, "-b")
	maybe(5, "--heading")
	maybe(6, pick(rng, "-H", "-I"))
	maybe(8, "-0")
	maybe(6, "--trim")
	maybe(6, "--max-columns", pick(rng, "5", "12", "40"))
	maybe(5, "--color=always")
	maybe(10, "--vimgrep")
}
