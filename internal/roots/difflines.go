package roots

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
