package textedit

import (
	"iter"
	"strconv"
	"strings"
)

// DiffPart is what a line of a diff is.
type DiffPart int

// The parts of a diff.
const (
	DiffName DiffPart = iota // names a file and what became of it
	DiffHunk                 // says where the lines below are
	DiffOld                  // a line that went
	DiffNew                  // a line that came
	DiffSame                 // a line around them, or a note on the one above
)

// DiffLines reads a unified diff. A line is told by where it stands, not only by
// how it begins: in a hunk "--- a" is a line of a file.
func DiffLines(text string) iter.Seq2[DiffPart, string] {
	return func(yield func(DiffPart, string) bool) {
		old, now := 0, 0 // lines of the hunk that are still to come
		for line := range strings.Lines(text) {
			part := DiffName
			switch inside := old > 0 || now > 0; {
			case inside && line[0] == '-':
				part, old = DiffOld, old-1
			case inside && line[0] == '+':
				part, now = DiffNew, now-1
			case inside && line[0] == ' ':
				part, old, now = DiffSame, old-1, now-1
			case line[0] == '\\':
				part = DiffSame
			case strings.HasPrefix(line, "@@ "):
				part = DiffHunk
				old, now = hunkSize(line)
			}
			if !yield(part, line) {
				return
			}
		}
	}
}

// hunkSize reads how many lines a hunk has on either side.
func hunkSize(head string) (old, now int) {
	fields := strings.Fields(head)
	if len(fields) < 3 {
		return 0, 0
	}
	size := func(s string) int {
		_, n, found := strings.Cut(s, ",")
		if !found {
			return 1
		}
		count, err := strconv.Atoi(n)
		if err != nil {
			return 0
		}
		return count
	}
	return size(fields[1]), size(fields[2])
}

// diffHeads are the lines of a diff, beside git's, that name a path. They are
// the words in which a change of more than content is told.
var diffHeads = []string{
	"rename from ", "rename to ", "moved to trash: ", "restored from trash: ", "content not kept: ",
	"new folder: ", "deleted folder: ", "new symlink: ", "deleted symlink: ",
}

// DiffUnder puts a folder in front of the paths that a diff names: it is then
// one of the workspace that the folder lies in. Lines of its hunks are text of
// files, whatever they look like.
func DiffUnder(folder, text string) string {
	if text == "" || folder == "" {
		return text
	}
	var b strings.Builder
	for part, line := range DiffLines(text) {
		if part == DiffName {
			line = headUnder(folder, line)
		}
		b.WriteString(line)
	}
	return b.String()
}

func headUnder(folder, line string) string {
	body, ending := strings.TrimSuffix(line, "\n"), "\n"
	if len(body) == len(line) {
		ending = ""
	}
	for _, side := range []struct{ head, prefix string }{{"--- ", "a/"}, {"+++ ", "b/"}} {
		if rest, ok := strings.CutPrefix(body, side.head); ok {
			if name, ok := strings.CutPrefix(readDiffName(rest), side.prefix); ok {
				return side.head + diffName(side.prefix, folder+"/"+name) + ending
			}
			return line
		}
	}
	for _, head := range diffHeads {
		if rest, ok := strings.CutPrefix(body, head); ok {
			return head + folder + "/" + rest + ending
		}
	}
	if names, ok := strings.CutPrefix(body, "Binary files "); ok {
		if names, ok = strings.CutSuffix(names, " differ"); ok {
			return "Binary files " + binaryUnder(folder, names) + " differ" + ending
		}
	}
	return line
}

// binaryUnder is for the two names of a file that isn't text. They are the same
// unless one is missing, so it doesn't matter what stands in a name.
func binaryUnder(folder, names string) string {
	const between = " and "
	if half := (len(names) - len(between)) / 2; half > 2 && strings.HasPrefix(names, "a/") && names[half:len(names)-half] == between &&
		names[half+len(between):] == "b/"+names[2:half] {
		return "a/" + folder + "/" + names[2:half] + between + "b/" + folder + "/" + names[2:half]
	}
	if name, ok := strings.CutPrefix(names, "/dev/null and b/"); ok {
		return "/dev/null and b/" + folder + "/" + name
	}
	if name, ok := strings.CutPrefix(names, "a/"); ok && strings.HasSuffix(name, " and /dev/null") {
		return "a/" + folder + "/" + name
	}
	return names
}

// readDiffName reads what diffName wrote.
func readDiffName(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return strings.TrimSuffix(s, "\t")
	}
	s = s[1 : len(s)-1]
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		if i++; i < len(s) {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
