package change

import (
	"fmt"
	"io/fs"
	"strings"

	"quarry/fault"
)

// DiffKind is the kind of content in a PathDiff: DiffContent, DiffBinary, DiffRenamed,
// DiffTrashed, DiffRestored, DiffMade, DiffDeleted, DiffNotKept or DiffMode.
type DiffKind uint8

const (
	DiffContent  DiffKind = iota // Hunks, from Old to New
	DiffBinary                   // contents that are not text
	DiffRenamed                  // Old was renamed to New
	DiffTrashed                  // Old was moved to the trash
	DiffRestored                 // New was restored from it
	DiffMade                     // New is a new folder or symlink; see Entry
	DiffDeleted                  // Old was a folder or symlink, now deleted; see Entry
	DiffNotKept                  // the content of New is no longer known
	DiffMode                     // New has other permissions; see Modes
)

// PathDiff is the effect of a change on one path.
type PathDiff struct {
	Kind     DiffKind
	Old, New string         // paths; "" if the file does not exist
	Entry    string         // DiffMade, DiffDeleted: "folder" or "symlink"
	Modes    [2]fs.FileMode // DiffMode: before and after
	// Hunks is the text of a unified diff after its header. Each line begins with "@@", a space, "+", "-" or
	// "\", except a last one in brackets that counts the omitted lines.
	Hunks string
	// Cut counts the parts missing from Hunks.
	Cut Cut
}

// Cut counts the parts that a diff omits.
type Cut struct{ Hunks, Added, Removed int }

// Header returns the lines before the hunks, which name the paths.
func (d PathDiff) Header() string {
	switch d.Kind {
	case DiffBinary:
		return fmt.Sprintf("Binary files %s and %s differ\n", plainName("a/", d.Old), plainName("b/", d.New))
	case DiffRenamed:
		return fmt.Sprintf("rename from %s\nrename to %s\n", fault.Printable(d.Old), fault.Printable(d.New))
	case DiffTrashed:
		return "moved to trash: " + fault.Printable(d.Old) + "\n"
	case DiffRestored:
		return "restored from trash: " + fault.Printable(d.New) + "\n"
	case DiffMade:
		return fmt.Sprintf("new %s: %s\n", d.Entry, fault.Printable(d.New))
	case DiffDeleted:
		return fmt.Sprintf("deleted %s: %s\n", d.Entry, fault.Printable(d.Old))
	case DiffNotKept:
		return "content not kept: " + fault.Printable(d.New) + "\n"
	case DiffMode:
		if before, after := gitMode(d.Modes[0]), gitMode(d.Modes[1]); before == after {
			return fmt.Sprintf("mode %o changed to %o: %s\n", d.Modes[0].Perm(), d.Modes[1].Perm(), fault.Printable(d.New))
		}
		return fmt.Sprintf("diff --git %s %s\nold mode %s\nnew mode %s\n", strings.TrimSuffix(gitName("a/", d.Old), "\t"), strings.TrimSuffix(gitName("b/", d.New), "\t"), gitMode(d.Modes[0]), gitMode(d.Modes[1]))
	}
	if d.Hunks == "" {
		return ""
	}
	return fmt.Sprintf("--- %s\n+++ %s\n", gitName("a/", d.Old), gitName("b/", d.New))
}

// String returns the diff as text.
func (d PathDiff) String() string { return d.Header() + d.Hunks }

func (d PathDiff) under(at place) PathDiff {
	d.Old, d.New = at.given(d.Old), at.given(d.New)
	return d
}

// JoinDiffs returns the text of several diffs.
func JoinDiffs(diffs []PathDiff) string {
	var b strings.Builder
	for _, d := range diffs {
		b.WriteString(d.Header())
		b.WriteString(d.Hunks)
	}
	return b.String()
}

// Counts returns the numbers of hunks, added lines and removed lines, shown or cut.
func (d PathDiff) Counts() (hunks, added, removed int) {
	for line := range strings.Lines(d.Hunks) {
		switch line[0] {
		case '@':
			hunks++
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return hunks + d.Cut.Hunks, added + d.Cut.Added, removed + d.Cut.Removed
}

// gitMode returns a file's mode in git's notation.
func gitMode(m fs.FileMode) string {
	if m&0o100 != 0 {
		return "100755"
	}
	return "100644"
}

func plainName(prefix, name string) string {
	if name == "" {
		return "/dev/null"
	}
	return prefix + name
}

// gitName prints a name for the header as git does: quoted if it has control characters,
// quotes or backslashes, and followed by a tab if it has spaces, since patch would
// otherwise end the name at the first space.
func gitName(prefix, name string) string {
	if name == "" {
		return "/dev/null"
	}
	name = prefix + name
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7F || r == '"' || r == '\\' }) {
		if strings.Contains(name, " ") {
			return name + "\t"
		}
		return name
	}
	var q strings.Builder
	q.WriteByte('"')
	for i := range len(name) {
		switch b := name[i]; {
		case b == '"' || b == '\\':
			q.WriteByte('\\')
			q.WriteByte(b)
		case b < ' ' || b == 0x7F:
			fmt.Fprintf(&q, "\\%03o", b)
		default:
			q.WriteByte(b)
		}
	}
	q.WriteByte('"')
	return q.String()
}
