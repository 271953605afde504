package quarry

import (
	"strings"

	"quarry/internal/rootfs"
	"quarry/internal/textedit"
)

// Under is the change as a larger workspace tells of it, in which this one is a
// folder: paths have the folder in front, in lists, in the summary and in the
// diff, and ids the folder and a mark, since two journals may use the same.
func (c *Change) Under(folder, mark string) *Change {
	if c == nil || folder == "" {
		return c
	}
	out := *c
	out.Summary = summaryUnder(folder, mark, c.Summary, c.Paths)
	out.Paths, out.Folders = pathsUnder(folder, c.Paths), pathsUnder(folder, c.Folders)
	out.Diff = textedit.DiffUnder(folder, c.Diff)
	if c.Links != nil {
		links := *c.Links
		links.Files, links.BrokenIn = pathsUnder(folder, links.Files), pathsUnder(folder, links.BrokenIn)
		out.Links = &links
	}
	for _, id := range []*string{&out.ID, &out.Undoes, &out.UndoneBy} {
		if *id != "" {
			*id = folder + mark + *id
		}
	}
	return &out
}

func pathUnder(folder, p string) string {
	if p == "" || p == "." {
		return folder
	}
	return folder + "/" + p
}

func pathsUnder(folder string, paths []string) []string {
	if len(paths) == 0 {
		return paths
	}
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = pathUnder(folder, p)
	}
	return out
}

// summaryHeads are what stands before the path in a summary, the longer first.
// An edit's has it at the end.
var summaryHeads = []string{"created folder ", "created ", "overwrote ", "deleted ", "restored ", "moved "}

// summaryUnder puts a folder in front of the paths in a summary. A journal keeps
// the sentence, so they are found by its form: a file may be called "folder".
func summaryUnder(folder, mark, s string, paths []string) string {
	if rest, ok := strings.CutPrefix(s, "undo "); ok {
		if id, rest, ok := strings.Cut(rest, ": "); ok {
			return "undo " + folder + mark + id + ": " + summaryUnder(folder, mark, rest, paths)
		}
	}
	for _, p := range paths {
		if head, ok := strings.CutSuffix(s, " in "+rootfs.Printable(p)); ok && isEdit(head) {
			return head + " in " + rootfs.Printable(pathUnder(folder, p))
		}
	}
	for _, head := range summaryHeads {
		rest, ok := strings.CutPrefix(s, head)
		if !ok {
			continue
		}
		to := ""
		if head == "moved " {
			to = " to "
		}
		if p, rest, ok := leadingPath(rest, paths, to); ok {
			s = head + rootfs.Printable(pathUnder(folder, p))
			if to == "" {
				return s + rest
			}
			rest = strings.TrimPrefix(rest, to)
			if p, rest, ok := leadingPath(rest, paths, ""); ok {
				return s + to + rootfs.Printable(pathUnder(folder, p)) + rest
			}
			return s + to + rest // itself
		}
	}
	return s
}

// isEdit reports whether a summary up to its path is that of an edit, which
// counts what it did: no path stands there.
func isEdit(head string) bool {
	words := strings.Fields(head)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	return len(words) == 2 && (strings.HasPrefix(last, "edit") || last == "text") ||
		len(words) == 3 && words[0] == "replaced" && strings.HasPrefix(last, "occurrence") ||
		len(words) == 6 && (words[0] == "inserted" || words[0] == "deleted") && words[4] == "line"
}

// leadingPath finds the path that a text begins with, the longest of those that
// end where a path can: before what follows, if that is given.
func leadingPath(s string, paths []string, follows string) (path, rest string, ok bool) {
	long := -1
	for _, p := range paths {
		r, begins := strings.CutPrefix(s, rootfs.Printable(p))
		if begins && len(p) > long && (r == "" && follows == "" || r != "" && strings.HasPrefix(r, follows) && strings.ContainsAny(r[:1], " ,")) {
			path, rest, ok, long = p, r, true, len(p)
		}
	}
	return path, rest, ok
}
