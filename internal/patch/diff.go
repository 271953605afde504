package patch

import (
	"fmt"
	"strconv"
	"strings"

	"quarry/change"
	"quarry/fault"
)

// fileDiff is the diff of one file.
type fileDiff struct {
	git                  bool
	oldName, newName     string // from --- and +++, or from "diff --git"; "" means /dev/null
	from, to             string // rename
	created, deleted     bool
	oldMode, newMode     string
	blob                 string
	hunks                []change.Edit
	sawNames, copied     bool
	line                 int
	oldIsNull, newIsNull bool
	byHand               bool // the hunks have no numbers, or wrong counts
}

// diffs parses unified and git diffs. It skips text before a header, as in mails and the
// output of "git show".
func (p *parser) diffs() ([]change.Op, error) {
	var f *fileDiff
	var files []*fileDiff
	flush := func() {
		if f != nil {
			files = append(files, f)
		}
		f = nil
	}
	for p.more() {
		line := p.line()
		var err error
		switch {
		case strings.HasPrefix(line, "diff --git "):
			flush()
			f = &fileDiff{git: true, line: p.at}
			f.oldName, f.newName = gitNames(strings.TrimSuffix(line[len("diff --git "):], "\r"))
			p.at++
		case strings.HasPrefix(line, "--- ") && p.at+1 < len(p.lines) && strings.HasPrefix(p.lines[p.at+1], "+++ "):
			if f == nil || f.sawNames || len(f.hunks) > 0 {
				flush()
				f = &fileDiff{line: p.at}
			}
			p.names(f)
		case f != nil && strings.HasPrefix(line, "@@"):
			var e change.Edit
			at := p.at
			if e, err = p.hunk(); err != nil && f.blob == "" {
				// The hunk is handwritten: its lines count, not the numbers in the header.
				p.at, f.byHand = at, true
				e, err = p.looseHunk()
			}
			if err == nil {
				f.hunks = append(f.hunks, e)
			}
		case f != nil && f.git && len(f.hunks) == 0:
			err = p.header(f)
		default:
			p.at++
		}
		if err != nil {
			return nil, err
		}
	}
	flush()
	width := contextWidth(files)
	for _, f := range files {
		f.edges(width)
		op, err := p.opOf(f)
		if err != nil {
			return nil, err
		}
		if op != nil {
			p.ops = append(p.ops, *op)
		}
	}
	if len(p.ops) == 0 {
		return nil, &Error{Problem: "it changes no file", Next: `give "*** Begin Patch" … "*** End Patch", or a diff with "--- a/path" and "+++ b/path" before its hunks`}
	}
	return p.ops, nil
}

// names parses the --- and +++ lines with the file's names.
func (p *parser) names(f *fileDiff) {
	read := func(s string) (string, bool) {
		name := diffName(s)
		return name, name == "/dev/null"
	}
	f.oldName, f.oldIsNull = read(p.line()[len("--- "):])
	f.newName, f.newIsNull = read(p.lines[p.at+1][len("+++ "):])
	f.sawNames = true
	p.at += 2
}

// header parses a line of git's extended header.
func (p *parser) header(f *fileDiff) error {
	line := strings.TrimSuffix(p.line(), "\r")
	value := func(prefix string) (string, bool) { return strings.CutPrefix(line, prefix) }
	if v, ok := value("old mode "); ok {
		f.oldMode = v
	} else if v, ok := value("new mode "); ok {
		f.newMode = v
	} else if v, ok := value("new file mode "); ok {
		f.created, f.newMode = true, v
	} else if v, ok := value("deleted file mode "); ok {
		f.deleted, f.oldMode = true, v
	} else if v, ok := value("rename from "); ok {
		f.from = unquote(v)
	} else if v, ok := value("rename to "); ok {
		f.to = unquote(v)
	} else if v, ok := value("index "); ok {
		f.blob, _, _ = strings.Cut(v, "..")
	} else if _, ok := value("copy from "); ok {
		f.copied = true
	} else if strings.HasPrefix(line, "GIT binary patch") || strings.HasPrefix(line, "Binary files ") {
		return p.fail("the change of "+f.newName+" is binary", "copy the file itself, or make the diff without it")
	}
	p.at++
	return nil
}

// hunk parses "@@ -a,b +c,d @@" and its lines.
func (p *parser) hunk() (change.Edit, error) {
	start, old, added, ok := hunkHeader(p.line())
	if !ok {
		return change.Edit{}, p.fail(fmt.Sprintf("invalid hunk header %q", fault.Clip(p.line(), 80)), "it has the form @@ -1,3 +1,4 @@")
	}
	head := p.at
	p.at++
	var b strings.Builder
	for old > 0 || added > 0 {
		if !p.more() {
			p.at = head
			return change.Edit{}, p.fail("the patch ends in this hunk", "its header counts more lines than there are")
		}
		line := p.line()
		mark := byte(' ')
		if strings.TrimSuffix(line, "\r") != "" {
			mark = line[0]
		}
		switch mark {
		case ' ':
			old, added = old-1, added-1
		case '-':
			old--
		case '+':
			added--
		case '\\':
		default:
			return change.Edit{}, p.fail(fmt.Sprintf("the line %q begins with neither a space, - nor +", fault.Clip(line, 80)), "the header of the hunk counts more lines than there are")
		}
		b.WriteString(line)
		b.WriteByte('\n')
		p.at++
	}
	if old < 0 || added < 0 {
		p.at = head
		return change.Edit{}, p.fail("the hunk has other lines than its header counts", "")
	}
	for p.more() && strings.HasPrefix(p.line(), `\`) {
		b.WriteString(p.line())
		b.WriteByte('\n')
		p.at++
	}
	if p.more() && p.continues() {
		line := p.line()
		p.at = head
		return change.Edit{}, p.fail(fmt.Sprintf("the hunk goes on with %q after the lines its header counts", fault.Clip(line, 80)), "correct the counts in the header, so that no line is lost")
	}
	return change.Edit{Verb: change.ApplyHunk, Hunk: b.String(), First: start}, nil
}

// continues reports whether the line after a hunk could belong to the hunk, regardless of the
// header's counts. A file header and the line before a mail's signature can't.
func (p *parser) continues() bool {
	line := p.line()
	switch {
	case strings.TrimRight(line, "\r") == "", strings.TrimRight(line, " \r") == "--":
		return false
	case strings.HasPrefix(line, "--- ") && p.at+1 < len(p.lines) && strings.HasPrefix(p.lines[p.at+1], "+++ "):
		return false
	}
	return line[0] == ' ' || line[0] == '+' || line[0] == '-'
}

// hunkHeader parses a hunk's header. It returns the first old line and the numbers of old and
// new lines.
func hunkHeader(line string) (start, old, added int, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || fields[0] != "@@" || fields[3] != "@@" || fields[1][0] != '-' || fields[2][0] != '+' {
		return 0, 0, 0, false
	}
	read := func(s string) (at, count int, ok bool) {
		a, b, both := strings.Cut(s[1:], ",")
		count = 1
		at, err := strconv.Atoi(a)
		if err == nil && both {
			count, err = strconv.Atoi(b)
		}
		return at, count, err == nil && at >= 0 && count >= 0
	}
	start, old, ok = read(fields[1])
	if !ok {
		return 0, 0, 0, false
	}
	_, added, ok = read(fields[2])
	return start, old, added, ok
}

// opOf returns the operation on the file of a diff.
func (p *parser) opOf(f *fileDiff) (*change.Op, error) {
	p.at = min(p.at, len(p.lines))
	fail := func(problem, next string) (*change.Op, error) {
		return nil, &Error{Line: f.line + 1, Problem: problem, Next: next}
	}
	oldPath, newPath := p.stripped(f.oldName, f), p.stripped(f.newName, f)
	if f.from != "" && f.to != "" {
		oldPath, newPath = f.from, f.to
	}
	switch mode := f.newMode + " " + f.oldMode; {
	case f.copied:
		return fail("the diff copies a file", "make it without -C")
	case strings.Contains(mode, "120000"):
		return fail(newPath+" is a symlink, which a patch here can't change", "make the link by hand")
	case strings.Contains(mode, "160000"):
		return fail(newPath+" is a submodule, which is not a file", "update it with git")
	case f.newMode != "" && f.newMode != "100755" && f.newMode != "100644" && f.newMode != "100664":
		return fail(fmt.Sprintf("unknown mode %q of %s", f.newMode, newPath), "git has 100644 and, for programs, 100755")
	}
	var executable *bool
	if f.newMode != "" && f.newMode != f.oldMode {
		x := f.newMode == "100755"
		if x || f.oldMode != "" {
			executable = &x
		}
	}
	switch {
	case f.created || f.oldIsNull:
		content, err := wholeFile(f.hunks, '+')
		if err != nil {
			return fail(err.Error(), "")
		}
		return &change.Op{Verb: change.CreateFile, Path: newPath, Content: content, Executable: executable, Origin: "new file"}, nil
	case f.deleted || f.newIsNull:
		content, err := wholeFile(f.hunks, '-')
		if err != nil {
			return fail(err.Error(), "")
		}
		return &change.Op{Verb: change.DeletePath, Path: oldPath, Content: content, FileOnly: true, Origin: "deleted file"}, nil
	case f.from != "" && f.from != f.to:
		return &change.Op{Verb: change.MovePath, Path: oldPath, To: newPath, Edits: f.hunks, Blob: f.blob, Executable: executable, Origin: "renamed file"}, nil
	case len(f.hunks) == 0 && executable == nil:
		return nil, nil // a header without a change
	}
	path := newPath
	if !f.git && f.oldName != f.newName && strings.HasSuffix(f.newName, ".orig") {
		path = oldPath
	}
	return &change.Op{Verb: change.EditFile, Path: path, Edits: f.hunks, Blob: f.blob, Executable: executable, Origin: "changed file"}, nil
}

// wholeFile returns the content of a created or deleted file: the lines of its hunks that
// begin with mark.
func wholeFile(hunks []change.Edit, mark byte) ([]byte, error) {
	content := []byte{}
	for _, h := range hunks {
		for line := range strings.Lines(h.Hunk) {
			switch {
			case line[0] == mark:
				content = append(content, line[1:]...)
			case line[0] == '\\':
				content = content[:len(content)-1]
			default:
				return nil, fmt.Errorf("a new or deleted file has the line %q", fault.Clip(line, 80))
			}
		}
	}
	return content, nil
}

// stripped removes leading names from a path, as strip requires.
func (p *parser) stripped(name string, f *fileDiff) string {
	if p.strip >= 0 {
		for range p.strip {
			if _, rest, ok := strings.Cut(name, "/"); ok {
				name = rest
			}
		}
		return name
	}
	prefixed := func(name, prefix string, null bool) bool { return null || strings.HasPrefix(name, prefix) }
	if prefixed(f.oldName, "a/", f.oldIsNull) && prefixed(f.newName, "b/", f.newIsNull) {
		if strings.HasPrefix(name, "a/") || strings.HasPrefix(name, "b/") {
			return name[2:]
		}
	}
	return name
}

// diffName parses a name after --- or +++. It is quoted, or ends at a tab, after which there
// may be a time.
func diffName(s string) string {
	s = strings.TrimSuffix(s, "\r")
	if strings.HasPrefix(s, `"`) {
		return unquote(s)
	}
	name, _, _ := strings.Cut(s, "\t")
	return name
}

// gitNames parses the two names of "diff --git". Unquoted names must be equal except for a/
// and b/; after a rename, the rename lines replace them.
func gitNames(s string) (before, after string) {
	if strings.HasPrefix(s, `"`) {
		if i := closingQuote(s); i > 0 && i+2 <= len(s) {
			return unquote(s[:i+1]), unquote(strings.TrimSpace(s[i+1:]))
		}
	}
	if i := strings.LastIndex(s, ` "`); i > 0 && strings.HasSuffix(s, `"`) {
		return s[:i], unquote(s[i+1:])
	}
	for i := 0; i < len(s); i++ {
		if s[i] == ' ' && i >= 2 && len(s)-i-1 == i && s[2:i] == s[i+3:] {
			return s[:i], s[i+1:]
		}
	}
	before, after, _ = strings.Cut(s, " ")
	return before, after
}

func closingQuote(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == '"' {
			return i
		}
	}
	return -1
}

// unquote parses a name as written by git, which quotes it with C's escapes if necessary.
func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	s = s[1 : len(s)-1]
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i:i+3], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		if at := strings.IndexByte("abtnvfr", s[i]); at >= 0 {
			b.WriteByte("\a\b\t\n\v\f\r"[at])
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
