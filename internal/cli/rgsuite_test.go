package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ripgrep's own tests are written in Rust. Their file operations and command lines are read from
// the source without compiling it, by interpreting the calls of a few methods in source order. Each
// command line is run by ripgrep and by quarry in the same folder.

// rustToken is a name, a literal or a sign of Rust source.
type rustToken struct {
	kind byte // 'n' name, 's' string, 'd' number, or the sign itself
	text string
}

// withFiles replaces include_bytes!("./data/x") by the content of the file. Without that, the tests
// would search the file's path instead of its content, and match nothing.
func withFiles(t *testing.T, folder string, toks []rustToken) (out []rustToken) {
	t.Helper()
	for i := 0; i < len(toks); i++ {
		if name := toks[i].text; toks[i].kind != 'n' || name != "include_bytes" && name != "include_str" {
			out = append(out, toks[i])
			continue
		}
		if i+4 >= len(toks) || toks[i+3].kind != 's' {
			t.Fatalf("%s without the name of a file", toks[i].text)
		}
		data, err := os.ReadFile(filepath.Join(folder, toks[i+3].text))
		if err != nil {
			t.Fatal(err)
		}
		if len(data) == 0 {
			t.Fatalf("%s: the fixture is empty", toks[i+3].text)
		}
		out = append(out, rustToken{'s', string(data)})
		i += 4
	}
	return out
}

func rustTokens(src string) (toks []rustToken) {
	for i := 0; i < len(src); {
		c := src[i]
		rest := src[i:]
		switch {
		case strings.HasPrefix(rest, "//"):
			i += strings.IndexByte(rest+"\n", '\n')
		case c == '"' || strings.HasPrefix(rest, `b"`):
			at := i + 1
			if c == 'b' {
				at++
			}
			text, n := rustString(src[at:])
			toks = append(toks, rustToken{'s', text})
			i = at + n
		case strings.HasPrefix(rest, `r"`) || strings.HasPrefix(rest, `r#`) || strings.HasPrefix(rest, `br"`):
			at := i + strings.IndexByte(rest, 'r') + 1
			hashes := 0
			for src[at] == '#' {
				hashes++
				at++
			}
			end := strings.Index(src[at+1:], `"`+strings.Repeat("#", hashes))
			toks = append(toks, rustToken{'s', src[at+1 : at+1+end]})
			i = at + 1 + end + 1 + hashes
		case isNameByte(c):
			end := i
			for end < len(src) && isNameByte(src[end]) {
				end++
			}
			kind := byte('n')
			if '0' <= c && c <= '9' {
				kind = 'd'
			}
			toks = append(toks, rustToken{kind, src[i:end]})
			i = end
		case c == ' ' || c == '\n' || c == '\t':
			i++
		default:
			toks = append(toks, rustToken{c, string(c)})
			i++
		}
	}
	return toks
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// rustString decodes a string literal that begins after its opening quote. It returns the value and
// the length including the closing quote.
func rustString(s string) (string, int) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), i + 1
		case '\\':
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 'r':
				b.WriteByte('\r')
			case 't':
				b.WriteByte('\t')
			case '0':
				b.WriteByte(0)
			case 'x':
				n, _ := strconv.ParseUint(s[i+1:i+3], 16, 8)
				b.WriteByte(byte(n))
				i += 2
			case 'u':
				end := strings.IndexByte(s[i:], '}')
				n, _ := strconv.ParseUint(s[i+2:i+end], 16, 32)
				b.WriteRune(rune(n))
				i += end
			case '\n':
				for i+1 < len(s) && strings.IndexByte(" \t\n", s[i+1]) >= 0 {
					i++
				}
			default:
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), len(s)
}

// suiteCommand is a command line that a test is building.
type suiteCommand struct {
	args []string
	dir  string
	env  []string
}

// suiteTest is the interpreter of one test.
type suiteTest struct {
	name string
	root string // its folder
	toks []rustToken
	vars map[string][]string
	cmds map[string]*suiteCommand
	fns  map[string][]rustToken // helper functions in the file that set up folders
	run  func(test string, c *suiteCommand, stdin string)

	unread []string // calls whose arguments are not understood
}

func (s *suiteTest) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.root, name)
}

// play executes tokens up to the end of a block.
func (s *suiteTest) play() {
	for i := 0; i < len(s.toks); i++ {
		t := s.toks[i]
		at := func(k int) rustToken {
			if i+k < len(s.toks) {
				return s.toks[i+k]
			}
			return rustToken{}
		}
		switch {
		case t.text == "if" && t.kind == 'n':
			// Conditions test for PCRE2 or for a system, and are taken as false.
			not := at(1).kind == '!'
			text := ""
			k := 1
			for ; at(k).kind != '{' && at(k).kind != 0; k++ {
				text += at(k).text
			}
			if strings.Contains(text, "is_pcre2") || strings.Contains(text, "cfg!(windows)") || strings.Contains(text, "macos") || strings.Contains(text, "is_cross") || strings.Contains(text, "aarch64") {
				end := s.closing(i + k)
				if not {
					if s.toks[i+k+1].text == "return" {
						return
					}
					i += k
					continue
				}
				i = end
				continue
			}
			if strings.Contains(text, "cmd_exists") && not {
				i = s.closing(i + k)
			}
		case t.text == "for" && t.kind == 'n' && at(3).kind == 'd' && at(6).kind == 'd' && at(7).kind == '{':
			// for _ in 0..N { … }
			n, end := rustNumber(at(6).text), s.closing(i+7)
			body := *s
			for body.toks = s.toks[i+8 : end]; n > 0; n-- {
				body.play()
			}
			i = end
		case t.kind == 'n' && s.fns[t.text] != nil && at(1).kind == '(' && (i == 0 || s.toks[i-1].text != "fn"):
			body := *s
			body.toks = s.fns[t.text]
			body.play()
			i = s.closing(i + 1)
		case t.text == "sleep" && at(1).kind == '(':
			time.Sleep(20 * time.Millisecond) // gives files different times
		case t.kind == 'n' && at(1).kind == '.' && at(2).text == "push_str" && at(4).kind == 's':
			s.vars[t.text] = []string{strings.Join(s.vars[t.text], "") + at(4).text}
			i += 5
		case (t.text == "let" || t.text == "const") && t.kind == 'n':
			s.let(i)
		case t.kind == 'n' && at(1).kind == '.' && (t.text == "dir" || s.cmds[t.text] != nil):
			i = s.chain(i)
		}
	}
}

// closing returns the position of the bracket that closes the bracket at position at.
func (s *suiteTest) closing(at int) int {
	open := s.toks[at].kind
	end := map[byte]byte{'{': '}', '(': ')', '[': ']'}[open]
	depth := 0
	for i := at; i < len(s.toks); i++ {
		switch s.toks[i].kind {
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(s.toks) - 1
}

// let executes a let statement, which may define a text or a command.
func (s *suiteTest) let(i int) {
	k := i + 1
	if s.toks[k].text == "mut" {
		k++
	}
	name := s.toks[k].text
	for k < len(s.toks) && s.toks[k].kind != '=' {
		k++
	}
	k++
	if s.toks[k].text == "if" { // the condition is about the system: use the else branch
		for s.toks[k].text != "else" {
			k++
		}
		k++
	}
	end := k
	for depth := 0; end < len(s.toks); end++ {
		switch s.toks[end].kind {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ';':
			if depth == 0 {
				s.vars[name] = s.strings(k, end)
				if end-k >= 5 && s.toks[k].text == "dir" && s.toks[k+2].text == "command" {
					s.cmds[name] = s.command()
				}
				return
			}
		}
	}
}

func (s *suiteTest) command() *suiteCommand {
	return &suiteCommand{args: []string{"--path-separator", "/"}, dir: s.root}
}

func rustNumber(s string) int64 {
	n, _ := strconv.ParseInt(strings.TrimRight(strings.ReplaceAll(s, "_", ""), "u"), 0, 64)
	return n
}

// formatted returns the result of format!: parts[0] with the other parts inserted in order.
func formatted(parts []string) string {
	text := parts[0]
	for _, value := range parts[1:] {
		from := strings.IndexByte(text, '{')
		to := strings.IndexByte(text, '}')
		if from < 0 || to < from {
			return unreadText
		}
		text = text[:from] + value + text[to+1:]
	}
	return text
}

// strings returns the string values between two tokens.
func (s *suiteTest) strings(from, to int) (list []string) {
	for i := from; i < to; i++ {
		switch t := s.toks[i]; {
		case t.text == "format" && s.toks[i+1].kind == '!':
			end := s.closing(i + 2)
			list = append(list, formatted(s.strings(i+3, end)))
			i = end
		case t.kind == 's':
			text := t.text
			if i+4 < to && s.toks[i+1].kind == '.' && s.toks[i+2].text == "repeat" {
				text = strings.Repeat(text, int(rustNumber(s.toks[i+4].text)))
				i += 5
			}
			list = append(list, text)
		case t.kind == 'n' && s.vars[t.text] != nil && (i == 0 || s.toks[i-1].kind != '.'):
			list = append(list, s.vars[t.text]...)
			if i+4 < to && s.toks[i+1].kind == '.' && s.toks[i+2].text == "join" && s.toks[i+4].kind == 's' {
				list[len(list)-1] = filepath.Join(list[len(list)-1], s.toks[i+4].text)
				i += 5
			}
		case t.text == "dir" && i+2 < to && s.toks[i+2].text == "path":
			list = append(list, s.root)
			// dir.path().join("x")
			for k := i; k < to-3; k++ {
				if s.toks[k].text == "join" && s.toks[k+2].kind == 's' {
					list[len(list)-1] = filepath.Join(list[len(list)-1], s.toks[k+2].text)
					i = k + 2
				}
			}
		case t.kind == 'd' && (i == from || s.toks[i-1].kind != '.'):
			list = append(list, t.text)
		}
	}
	return list
}

// chain executes a chain of calls, such as dir.create(…) or cmd.arg(…).stdout().
func (s *suiteTest) chain(i int) int {
	cmd := s.cmds[s.toks[i].text]
	for i++; i+1 < len(s.toks) && s.toks[i].kind == '.'; {
		method := s.toks[i+1].text
		open := i + 2
		if open < len(s.toks) && s.toks[open].kind == ':' { // skip a type argument
			for s.toks[open].kind != '(' {
				open++
			}
		}
		if open >= len(s.toks) || s.toks[open].kind != '(' {
			return i + 1
		}
		end := s.closing(open)
		args := s.strings(open+1, end)
		if method == "command" {
			cmd = s.command()
		} else {
			s.call(cmd, method, args)
		}
		i = end + 1
	}
	return i - 1
}

// unreadText is the value of an expression that is not understood.
const unreadText = "\x00unread"

// wantArgs maps methods that set up a folder to their number of arguments.
var wantArgs = map[string]int{
	"create": 2, "create_bytes": 2, "try_create": 2, "try_create_bytes": 2, "create_size": 2, "create_dir": 1, "remove": 1,
	"link_dir": 2, "link_file": 2, "env": 2, "current_dir": 1, "pipe": 1,
}

func (s *suiteTest) call(cmd *suiteCommand, method string, args []string) {
	if n := wantArgs[method]; n > 0 && n != len(args) || slices.Contains(args, unreadText) {
		s.unread = append(s.unread, fmt.Sprintf("%s: %s of %d arguments", s.name, method, len(args)))
		return
	}
	switch method {
	case "create", "create_bytes", "try_create", "try_create_bytes":
		os.WriteFile(s.path(args[0]), []byte(args[1]), 0o666)
	case "create_size":
		os.WriteFile(s.path(args[0]), nil, 0o666)
		os.Truncate(s.path(args[0]), rustNumber(args[1]))
	case "create_dir":
		os.MkdirAll(s.path(args[0]), 0o777)
	case "remove":
		os.Remove(s.path(args[0]))
	case "link_dir", "link_file":
		os.Symlink(s.path(args[0]), s.path(args[1]))
	case "arg", "args":
		cmd.args = append(cmd.args, args...)
	case "env":
		cmd.env = append(cmd.env, args[0]+"="+args[1])
	case "current_dir":
		cmd.dir = s.path(args[0])
	case "pipe":
		s.run(s.name, cmd, args[0])
	case "stdout", "output", "raw_output", "assert_err", "assert_exit_code", "assert_non_empty_stderr":
		s.run(s.name, cmd, "")
	}
}

// suiteDifferences maps tests whose results differ from ripgrep's to the difference in
// docs/SEARCH.md that explains them.
var suiteDifferences = map[string]string{
	"f416_crlf": crlfEnding, "f416_crlf_multiline": crlfEnding, "f416_crlf_only_matching": crlfEnding, "r1765": crlfEnding,
	"f1414_no_require_git":          "ignore files count outside git repositories",
	"symlink_follow":                "symlinks are followed within the workspace",
	"compressed_brotli":             "a file that can't be unpacked is an error",
	"binary_convert":                binaryRule,
	"binary_convert_mmap":           binaryRule,
	"mmap_match_near_nul":           binaryRule,
	"after_match1_implicit":         binaryRule,
	"after_match1_explicit":         binaryRule,
	"after_match1_stdin":            binaryRule,
	"after_match1_implicit_binary":  binaryRule,
	"after_match1_implicit_count":   binaryRule,
	"after_match2_implicit":         binaryRule,
	"before_match1_implicit":        binaryRule,
	"before_match1_explicit":        binaryRule,
	"before_match1_implicit_binary": binaryRule,
	"before_match2_implicit":        binaryRule,
	"before_match2_explicit":        binaryRule,

	"matching_files_inconsistent_with_count": binaryRule,
	"r1164":                                  asGit,
	"r2236":                                  asGit,
	"r3127_gitignore_allow_unclosed_class":   asGit,
	"r1446_respect_excludes_in_worktree":     "a folder that imitates a linked worktree is searched in full",
	"r1838_nul_error_with_binary_detection":  "a pattern with NUL is no error",
	"r2480":                                  "each pattern must be valid by itself",
	"f196_persistent_config":                 "RIPGREP_CONFIG_PATH is read by choice",
	"r3275_git_global_config_env":            mendedSince,
	"ignore_git_multi_root_order":            mendedSince,
	"ignore_rgignore_multi_root_order":       mendedSince,
}

const (
	crlfEnding  = "\\r\\n is one line ending"
	binaryRule  = "binary files are skipped"
	asGit       = "ignore rules are read as git reads them"
	mendedSince = "ripgrep 15.0: mended since"
)

// TestRipgrepSuite runs the commands of ripgrep's tests with both programs and compares the
// results. The tests are in ripgrep/tests in the folder named by QUARRY_SUITES.
func TestRipgrepSuite(t *testing.T) {
	folder := os.Getenv("QUARRY_SUITES")
	if folder == "" {
		t.Skip("set QUARRY_SUITES to a folder that holds ripgrep's repository as ripgrep")
	}
	rg, _ := ripgrep(t)
	program, err := exec.LookPath("quarry") // the running test binary: see TestMain
	if err != nil {
		t.Fatal(err)
	}
	tests := filepath.Join(folder, "ripgrep", "tests")
	hay := map[string][]string{}
	readSuite(t, filepath.Join(tests, "hay.rs"), func(toks []rustToken) {
		for i := range toks {
			if toks[i].text == "const" {
				for k := i; k < i+12; k++ {
					if toks[k].kind == 's' {
						hay[toks[i+1].text] = []string{toks[k].text}
						break
					}
				}
			}
		}
	})
	var same, documented, differ, silent int
	reasons := map[string]int{}
	run := func(test string, c *suiteCommand, stdin string) {
		reset := accessTimes(c.dir)
		want := runSuite(rg, append([]string{"--sort", "path"}, c.args...), c, stdin)
		reset() // restore the access times, because ripgrep has read the files
		got := runSuite(program, quarryArgs(c.args), c, stdin)
		if want.out == "" {
			silent++
		}
		diff := suiteDiff(want, got, slices.ContainsFunc(c.args, func(a string) bool { return strings.HasPrefix(a, "--sort") }))
		switch why := suiteDifferences[test]; {
		case diff == "":
			same++
		case why != "":
			documented++
			reasons[why]++
		default:
			differ++
			t.Logf("%s: %q\n%s", test, c.args[2:], diff)
		}
	}
	for _, file := range []string{"binary", "feature", "json", "misc", "multiline", "regression"} {
		readSuite(t, filepath.Join(tests, file+".rs"), func(toks []rustToken) { playFile(t, toks, hay, run) })
	}
	for _, why := range slices.Sorted(mapKeys(reasons)) {
		t.Logf("%4d documented: %s", reasons[why], why)
	}
	t.Logf("%d of the commands printed something with ripgrep, %d printed nothing", same+documented+differ-silent, silent)
	t.Logf("%d commands: %d the same, %d documented, %d differ", same+documented+differ, same, documented, differ)
	if silent > 110 {
		t.Errorf("ripgrep printed nothing for %d commands: are the fixtures right?", silent)
	}
	if differ > 0 || same < 400 {
		t.Errorf("%d of %d the same and %d differ, want at least 400 and none", same, same+documented+differ, differ)
	}
}

// accessTimes returns a function that resets the times of all files in a folder to their current
// values.
func accessTimes(dir string) func() {
	type times struct{ read, written time.Time }
	was := map[string]times{}
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				was[path] = times{accessTime(path), info.ModTime()}
			}
		}
		return nil
	})
	return func() {
		for path, t := range was {
			os.Chtimes(path, t.read, t.written)
		}
	}
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func readSuite(t *testing.T, file string, use func([]rustToken)) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	use(withFiles(t, filepath.Dir(file), rustTokens(string(src))))
}

// playFile runs the tests of a file.
func playFile(t *testing.T, toks []rustToken, hay map[string][]string, run func(string, *suiteCommand, string)) {
	vars := map[string][]string{}
	for k, v := range hay {
		vars[k] = v
	}
	all := &suiteTest{toks: toks}
	fns := map[string][]rustToken{}
	for i := range len(toks) - 4 {
		// fn name(dir: Dir) { … }
		if toks[i].text == "fn" && toks[i+3].text == "dir" {
			body := i + 4
			for toks[body].kind != '{' {
				body++
			}
			fns[toks[i+1].text] = toks[body+1 : all.closing(body)]
		}
	}
	for i := 0; i+4 < len(toks); i++ {
		if toks[i].text == "const" {
			for k := i; k < i+16 && toks[k].kind != ';'; k++ {
				if toks[k].kind == 's' {
					vars[toks[i+1].text] = []string{toks[k].text}
					break
				}
			}
		}
		if toks[i].text != "rgtest" || toks[i+1].kind != '!' {
			continue
		}
		end := all.closing(i + 2)
		s := &suiteTest{name: toks[i+3].text, root: filepath.Join(t.TempDir(), "t"), toks: toks[i+4 : end], vars: map[string][]string{}, fns: fns, run: run}
		for k, v := range vars {
			s.vars[k] = v
		}
		if err := os.Mkdir(s.root, 0o777); err != nil {
			t.Fatal(err)
		}
		s.cmds = map[string]*suiteCommand{"cmd": s.command()}
		s.play()
		for _, call := range s.unread {
			t.Errorf("not read: %s", call)
		}
		i = end
	}
}

// quarryArgs adds the flags that turn off line numbers in a pipe, as in ripgrep: see "line numbers
// also in a pipe".
func quarryArgs(args []string) []string {
	out := []string{"search"}
	if !slices.ContainsFunc(args, func(a string) bool {
		return a == "--column" || a == "--vimgrep" || a == "-p" || a == "--pretty" || a == "--json"
	}) {
		out = append(out, "-N")
	}
	return append(out, args...)
}

func runSuite(program string, args []string, c *suiteCommand, stdin string) outcome {
	cmd := exec.Command(program, args...)
	cmd.Dir = c.dir
	cmd.Env = append(append(os.Environ(), "QUARRY_CONFIG=", "RIPGREP_CONFIG_PATH="), c.env...)
	if stdin != "" {
		cmd.Env = append(cmd.Env, "PIPED=1") // see TestMain
		cmd.Stdin = strings.NewReader(stdin)
	}
	var out boundedBuffer
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil || errors.Is(err, errEndless) {
		return outcome{err: err.Error(), code: -1}
	}
	return outcome{out.String(), cmd.ProcessState.ExitCode(), errs.String()}
}

// boundedBuffer is a buffer of limited size. Some of ripgrep's tests have endless output, which
// would fill the memory.
type boundedBuffer struct{ bytes.Buffer }

var errEndless = errors.New("the answer has no end")

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > 32<<20 {
		return 0, errEndless
	}
	return b.Buffer.Write(p)
}

// ReadFrom replaces bytes.Buffer's ReadFrom, which has no limit.
func (b *boundedBuffer) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{b}, r)
}

// suiteDiff compares exit codes and lines. The order of lines matters only if ordered is set.
func suiteDiff(want, got outcome, ordered bool) string {
	sorted := func(s string) []string {
		lines := strings.SplitAfter(s, "\n")
		slices.Sort(lines)
		return lines
	}
	wantOut, gotOut := normalStats(want.out), normalStats(got.out)
	if want.code == got.code && (wantOut == gotOut || !ordered && slices.Equal(sorted(wantOut), sorted(gotOut))) {
		return ""
	}
	return fmt.Sprintf("ripgrep %d %q\nquarry  %d %q\nstderr %.300q (ripgrep's %.200q)", want.code, shortened(wantOut), got.code, shortened(gotOut), got.err, want.err)
}

func shortened(s string) string {
	if len(s) > 700 {
		return s[:700] + "…"
	}
	return s
}

// normalStats removes measurements, such as times, from statistics.
func normalStats(out string) string {
	if strings.HasPrefix(out, `{"type"`) || strings.HasPrefix(out, `{"data"`) {
		return fmt.Sprint(messages(out))
	}
	var keep []string
	for line := range strings.Lines(out) {
		// quarry's --stats prints four more lines than ripgrep's.
		if !strings.Contains(line, " seconds") && !strings.HasSuffix(line, " files considered\n") && !strings.HasPrefix(line, "skipped: ") &&
			!strings.HasPrefix(line, "strategy: ") && !strings.HasSuffix(line, " bytes searched\n") && !strings.HasSuffix(line, " bytes printed\n") && !strings.HasPrefix(line, "plan: ") {
			keep = append(keep, line)
		}
	}
	return strings.Join(keep, "")
}
