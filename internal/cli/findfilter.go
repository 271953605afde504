package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"quarry/internal/cli/env"
	"quarry/search"
)

// kinds maps the letters of -t to kinds of entries.
var kinds = map[string]string{
	"f": "file", "file": "file", "d": "dir", "dir": "dir", "directory": "dir", "l": "symlink", "symlink": "symlink",
	"x": "executable", "executable": "executable", "e": "empty", "empty": "empty", "any": "any", "a": "any",
}

// kindSet parses the values of -t, which may be given several times.
func (f *findFlags) kindSet() (map[string]bool, error) {
	set := map[string]bool{}
	for _, k := range f.kinds {
		name, ok := kinds[k]
		if !ok {
			return nil, fmt.Errorf("--type %q: f (file), d (dir), l (symlink), x (executable), e (empty) or any", k)
		}
		set[name] = true
	}
	if set["any"] {
		set["file"], set["dir"], set["symlink"] = true, true, true
	}
	// As in fd: executable implies a file, and empty a file or a folder.
	set["file"] = set["file"] || set["executable"]
	if set["empty"] && !set["file"] && !set["dir"] {
		set["file"], set["dir"] = true, true
	}
	if !set["file"] && !set["dir"] && !set["symlink"] {
		set["file"] = true
	}
	return set, nil
}

// sizeTest parses a size and returns its test: +10k means at least, -1M at most, and 5b exactly.
// Units are powers of 1000, or of 1024 with an i.
func sizeTest(s string) (func(int64) bool, error) {
	bad := fmt.Errorf("--size %q: it is +N (at least), -N (at most) or N, with b, k, m, g, or ki, mi, gi after it: +10k", s)
	sign := byte(0)
	text := strings.ToLower(s)
	if text != "" && (text[0] == '+' || text[0] == '-') {
		sign, text = text[0], text[1:]
	}
	digits := strings.TrimRight(text, "bkmgti")
	unit, ok := map[string]int64{
		"": 1, "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9, "t": 1e12,
		"ki": 1 << 10, "kib": 1 << 10, "mi": 1 << 20, "mib": 1 << 20, "gi": 1 << 30, "gib": 1 << 30, "ti": 1 << 40,
	}[text[len(digits):]]
	n, err := strconv.ParseInt(digits, 10, 40)
	if err != nil || !ok || n < 0 {
		return nil, bad
	}
	n *= unit
	switch sign {
	case '+':
		return func(size int64) bool { return size >= n }, nil
	case '-':
		return func(size int64) bool { return size <= n }, nil
	}
	return func(size int64) bool { return size == n }, nil
}

// timeOf parses a time: an age such as 2h, 3d or 2weeks, or a date.
func timeOf(flag, s string, now time.Time) (time.Time, error) {
	t, err := search.ParseTime(s, now)
	if err != nil {
		return t, fmt.Errorf("--%s %w", flag, err)
	}
	return t, nil
}

// test returns the filter for listed entries; nil accepts all.
func (f *findFlags) test(kinds map[string]bool) (func(*search.Entry) bool, error) {
	var tests []func(*search.Entry) bool
	add := func(t func(*search.Entry) bool) { tests = append(tests, t) }
	for _, s := range f.sizes {
		fits, err := sizeTest(s)
		if err != nil {
			return nil, err
		}
		add(func(e *search.Entry) bool { return !e.Folder && !e.Link && fits(e.Size) })
	}
	if len(f.exts) > 0 && kinds["dir"] { // for files, the query already filters by extension
		add(func(e *search.Entry) bool { return !e.Folder || f.hasExtension(path.Base(e.Path)) })
	}
	now := time.Now()
	if f.within != "" {
		from, err := timeOf("changed-within", f.within, now)
		if err != nil {
			return nil, err
		}
		add(func(e *search.Entry) bool { return e.ModTime.After(from) })
	}
	if f.before != "" {
		to, err := timeOf("changed-before", f.before, now)
		if err != nil {
			return nil, err
		}
		add(func(e *search.Entry) bool { return e.ModTime.Before(to) })
	}
	if kinds["symlink"] && !kinds["file"] {
		add(func(e *search.Entry) bool { return e.Link || e.Folder && kinds["dir"] })
	}
	if len(tests) == 0 {
		return nil, nil
	}
	return func(e *search.Entry) bool {
		return !slices.ContainsFunc(tests, func(t func(*search.Entry) bool) bool { return !t(e) })
	}, nil
}

// hasExtension reports whether a name has one of the extensions of -e, in any letter case,
// after a non-empty stem.
func (f *findFlags) hasExtension(name string) bool {
	for _, ext := range f.exts {
		ext = "." + strings.TrimPrefix(ext, ".")
		if n := len(name) - len(ext); n > 0 && strings.EqualFold(name[n:], ext) {
			return true
		}
	}
	return false
}

// splitExec removes the command of -x or -X from a command line and returns its words. The command
// ends at a single ; or at the end of the line. It can't be the value of a flag, because a flag
// can't take all remaining words.
func splitExec(args []string) []string {
	if len(args) == 0 || args[0] != "find" {
		return args
	}
	for i, a := range args {
		flag := map[string]string{"-x": "exec", "--exec": "exec", "-X": "exec-batch", "--exec-batch": "exec-batch"}[a]
		if a == "--" {
			break
		}
		if flag == "" {
			continue
		}
		out := append([]string{}, args[:i]...)
		if i+1 == len(args) || args[i+1] == ";" {
			return append(out, a) // its value is missing, which the flag parser reports
		}
		for k, word := range args[i+1:] {
			if word == ";" {
				return append(out, args[i+1+k+1:]...)
			}
			out = append(out, "--"+flag+"="+word)
		}
		return out
	}
	return args
}

// expanded fills in a command's placeholders: {} is the path, {/} its name, {//} its folder, {.}
// the path without extension and {/.} the name without extension. A command without placeholders
// gets a {} at its end.
func expanded(command, paths []string) []string {
	var out []string
	used := false
	for _, word := range command {
		if !strings.Contains(word, "{") {
			out = append(out, word)
			continue
		}
		for _, p := range paths {
			name := filepath.Base(p)
			made := strings.NewReplacer("{}", p, "{/}", name, "{//}", filepath.Dir(p),
				"{.}", strings.TrimSuffix(p, filepath.Ext(p)), "{/.}", strings.TrimSuffix(name, filepath.Ext(name))).Replace(word)
			if made == word {
				out = append(out, word)
				break
			}
			out, used = append(out, made), true
		}
	}
	if !used {
		out = append(out, paths...)
	}
	return out
}

// run runs the command of -x for each path, or the command of -X once.
func (f *findFlags) run(s env.Streams, paths []string) error {
	batches := [][]string{paths}
	command := f.execBatch
	if len(f.exec) > 0 {
		command, batches = f.exec, nil
		for _, p := range paths {
			batches = append(batches, []string{p})
		}
	}
	failed := false
	for _, batch := range batches {
		words := expanded(command, batch)
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In, s.Out, s.Err
		if err := cmd.Run(); err != nil {
			failed = true
			if errors.Is(err, exec.ErrNotFound) {
				return fmt.Errorf("there is no program %q", words[0])
			}
			if _, ok := err.(*exec.ExitError); !ok {
				return fmt.Errorf("%s: %w", words[0], err)
			}
		}
	}
	if failed {
		return env.ErrReported
	}
	return nil
}

// lsColours holds the colour codes of LS_COLORS.
type lsColours struct {
	kinds map[string]string // by entry type: di, ln, ex, fi
	ends  map[string]string // by name ending, such as *.go
}

func parseLSColours(s string) lsColours {
	c := lsColours{map[string]string{"di": "01;34", "ln": "01;36", "ex": "01;32"}, map[string]string{}}
	for part := range strings.SplitSeq(s, ":") {
		key, code, ok := strings.Cut(part, "=")
		if !ok || strings.Trim(code, "0123456789;") != "" {
			continue
		}
		if end, ok := strings.CutPrefix(key, "*"); ok {
			c.ends[strings.ToLower(end)] = code
		} else {
			c.kinds[key] = code
		}
	}
	return c
}

func (c *lsColours) of(e *search.Entry) string {
	switch {
	case e.Folder:
		return c.kinds["di"]
	case e.Link:
		return c.kinds["ln"]
	case e.Mode&0o111 != 0 && c.kinds["ex"] != "":
		return c.kinds["ex"]
	}
	name := strings.ToLower(filepath.Base(e.Path))
	for i := range len(name) {
		if code := c.ends[name[i:]]; code != "" {
			return code
		}
	}
	return c.kinds["fi"]
}

// appendColoured appends a path coloured as ls would: its folders in the folder colour, its name in
// the colour of its type.
func (c *lsColours) appendColoured(row []byte, path string, e *search.Entry) []byte {
	slash := strings.LastIndexByte(path, '/') + 1
	paint := func(code, text string) {
		if code == "" || code == "0" || text == "" {
			row = append(row, text...)
			return
		}
		row = append(append(append(append(append(row, "\x1b["...), code...), 'm'), text...), "\x1b[0m"...)
	}
	paint(c.kinds["di"], path[:slash])
	paint(c.of(e), path[slash:])
	return row
}

// longLine formats a line of -l: mode, size, time and path.
func longLine(e *search.Entry) string {
	mode := e.Mode.Perm()
	switch {
	case e.Folder:
		mode |= fs.ModeDir
	case e.Link:
		mode |= fs.ModeSymlink
	}
	text := mode.String()
	if e.Link {
		text = "l" + text[1:]
	}
	return fmt.Sprintf("%s %10d %s ", text, e.Size, e.ModTime.Local().Format("2006-01-02 15:04"))
}

func lsColoursOf(getenv func(string) string) lsColours {
	if getenv == nil {
		getenv = os.Getenv
	}
	return parseLSColours(getenv("LS_COLORS"))
}
