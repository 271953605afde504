package render

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"quarry/fault"
	"quarry/internal/notebook"
)

// printable escapes names in a note so that each fits on a line: YAML allows line breaks
// in names.
func printable(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fault.Printable(n)
	}
	return out
}

// Outline describes the parts of a note: its lines, its front matter, and its headings with
// the line ranges of their sections.
func Outline(dst []byte, o *notebook.Outline) []byte {
	dst = fmt.Appendf(dst, "%s: %s", Path(o.Path), fault.Count(o.Lines, "line"))
	if len(o.Properties) > 0 {
		dst = fmt.Appendf(dst, "\nProperties: %s", strings.Join(printable(o.Properties), ", "))
	}
	if len(o.Tags) > 0 {
		dst = fmt.Appendf(dst, "\nTags: #%s", strings.Join(printable(o.Tags), ", #"))
	}
	if len(o.Headings) > 0 {
		dst = append(dst, '\n')
	}
	for _, h := range o.Headings {
		dst = fmt.Appendf(dst, "\n%d-%d: %s %s", h.Line, h.Last, strings.Repeat("#", h.Level), h.Text)
	}
	if len(o.Blocks) > 0 {
		dst = append(dst, "\n\nBlocks:"...)
	}
	for _, b := range o.Blocks {
		dst = fmt.Appendf(dst, " ^%s (line %d)", b.ID, b.Line)
	}
	return dst
}

// Names lists properties or tags with the number of notes that have each.
func Names(dst []byte, names []notebook.Name, one, many, mark string, l Limits) []byte {
	if len(names) == 0 {
		return fmt.Appendf(dst, "No %s.", many)
	}
	return Counts(append(dst, fault.Count(len(names), one, many)...), names, mark, l)
}

// Counts appends names, each with a number of notes, as they appear below a title.
func Counts(dst []byte, names []notebook.Name, mark string, l Limits) []byte {
	if len(names) > 0 {
		dst = append(dst, ':')
	}
	for i, n := range names {
		line := fmt.Sprintf("\n%s%s (%s", mark, fault.Printable(n.Name), fault.Count(n.Notes, "note"))
		if n.Uses > n.Notes {
			line += fmt.Sprintf(", %d uses", n.Uses)
		}
		line += ")"
		if l.Budget > 0 && len(dst)+len(line) > l.Budget {
			return fmt.Appendf(dst, "\nand %d more", len(names)-i)
		}
		dst = append(dst, line...)
	}
	return dst
}

// PathList lists paths grouped by folder. total is the number of paths, including omitted
// ones.
func PathList(dst []byte, paths []string, total int, one, many string, l Limits) []byte {
	if total == 0 {
		return fmt.Appendf(dst, "No %s.", many)
	}
	dst = fmt.Appendf(dst, "%s:", fault.Count(total, one, many))
	dst, fit := Paths(dst, paths, l, nil)
	if fit < total {
		dst = fmt.Appendf(dst, "\nand %d more", total-fit)
	}
	return dst
}

// Paths appends a line for each path, with its count if counts are given, and returns how many
// paths fit. Three or more consecutive paths in one folder are grouped: a line for the folder,
// and below it their names. In a vault the folder's path is often longer than everything else.
func Paths(dst []byte, paths []string, l Limits, counts []int) (out []byte, fit int) {
	folderOf := func(p string) string { return p[:strings.LastIndexByte(p, '/')+1] }
	folder, until := "", 0
	for i, p := range paths {
		mark := len(dst)
		if i >= until {
			folder = folderOf(p)
			for until = i + 1; until < len(paths) && folderOf(paths[until]) == folder; until++ {
			}
			if until-i < 3 || folder == "" {
				folder, until = "", i+1
			} else {
				dst = fmt.Appendf(dst, "\n%s", Path(folder))
			}
		}
		dst = append(dst, '\n')
		if folder != "" {
			dst = append(dst, "  "...)
		}
		dst = append(dst, Path(p[len(folder):])...)
		if counts != nil {
			dst = fmt.Appendf(dst, " %d", counts[i])
		}
		if l.Full(len(dst)) && i > 0 {
			return dst[:mark], i
		}
	}
	return dst, len(paths)
}

// NoteLinks lists links by their source or, if targets is set, the targets of one note's
// links. It returns how many links fit. all contains the links of all pages.
func NoteLinks(dst []byte, links, all []notebook.Link, targets bool, l Limits) ([]byte, int) {
	if len(all) == 0 {
		return append(dst, "No links."...), 0
	}
	dst = append(linkCount(dst, all, targets), ':')
	var before notebook.Link // the latest link shown
	only, same := false, false
	for i, link := range links {
		if i > 0 && !targets && link.Line > 0 && link.Source == before.Source && link.Line == before.Line && link.Text == before.Text {
			continue // another link in the same line
		}
		line, where := "", ""
		if link.Line > 0 {
			where = fmt.Sprintf("Line %d: ", link.Line)
		}
		alone := !targets && link.Line > 0 && link.Source != before.Source && aloneInSource(links[i:])
		again := alone && only && link.Text == before.Text
		switch {
		case again && same:
			line = ", "
		case again:
			line = "\nthe same line in "
		case link.Source != before.Source:
			line = "\n\n## " + Path(link.Source)
		}
		switch {
		case again && path.Dir(link.Source) == path.Dir(before.Source):
			line += fmt.Sprintf("%s:%d", Path(path.Base(link.Source)), link.Line)
		case again:
			line += fmt.Sprintf("%s:%d", Path(link.Source), link.Line)
		case targets && link.Target == "":
			line += fmt.Sprintf("\n%s%s → nothing", where, link.Link)
		case targets:
			line += fmt.Sprintf("\n%s%s → %s", where, link.Link, Path(link.Target))
		case link.Text == "":
			line += "\n" + where + link.Link
		default:
			line += "\n" + where + link.Text
		}
		if l.Budget > 0 && len(dst)+len(line) > l.Budget && i > 0 {
			return fmt.Appendf(dst, "\n\n%d more links are not shown.", len(links)-i), i
		}
		dst, before, only, same = append(dst, line...), link, alone, again
	}
	return dst, len(links)
}

// aloneInSource reports whether the first links of a list are all on one line, and their
// note has no other links in the list.
func aloneInSource(links []notebook.Link) bool {
	for _, l := range links[1:] {
		if l.Source != links[0].Source {
			break
		}
		if l.Line != links[0].Line || l.Text != links[0].Text {
			return false
		}
	}
	return true
}

// linkCount appends "30 links in 25 notes". If own is set, all links are in one note, and
// the notes are omitted.
func linkCount(dst []byte, links []notebook.Link, own bool) []byte {
	dst = append(dst, fault.Count(len(links), "link")...)
	if own {
		return dst
	}
	sources, _ := LinkSources(links)
	return fmt.Appendf(dst, " in %s", fault.Count(len(sources), "note"))
}

// LinkSources lists the notes that contain links, and the number of links in each. The links
// of a note must be consecutive.
func LinkSources(links []notebook.Link) (sources []string, counts []int) {
	for i := range links {
		if i == 0 || links[i].Source != links[i-1].Source {
			sources, counts = append(sources, links[i].Source), append(counts, 0)
		}
		counts[len(counts)-1]++
	}
	return sources, counts
}

// LinkCounts appends the number of links, and the number for each source.
func LinkCounts(dst []byte, links []notebook.Link, sources []string, counts []int, l Limits) []byte {
	if len(links) == 0 {
		return append(dst, "No links."...)
	}
	dst = linkCount(dst, links, false)
	dst, fit := Paths(dst, sources, l, counts)
	if fit < len(sources) {
		dst = fmt.Appendf(dst, "\nand %d more notes", len(sources)-fit)
	}
	return dst
}

// NoteTable formats a table with one line per row, which starts with the path. Rows are
// listed below the value by which they are grouped. NoteTable returns how many rows fit.
func NoteTable(dst []byte, t *notebook.Table, l Limits) ([]byte, int) {
	if len(t.Rows) == 0 {
		return append(dst, "No notes."...), 0
	}
	dst = append(dst, fault.Count(len(t.Rows), "note")...)
	line := func(path string, cells []string) {
		dst = append(append(dst, '\n'), path...)
		for _, cell := range cells {
			dst = append(append(dst, " | "...), strings.ReplaceAll(fault.Printable(cell), "|", `\|`)...)
		}
	}
	line("path", t.Columns)
	for i, r := range t.Rows {
		mark := len(dst)
		if t.Group != "" && (i == 0 || r.Group != t.Rows[i-1].Group) {
			n := 1
			for i+n < len(t.Rows) && t.Rows[i+n].Group == r.Group {
				n++
			}
			dst = fmt.Appendf(dst, "\n## %s: %s (%d)", t.Group, cmp.Or(fault.Printable(r.Group), "none"), n)
		}
		if line(Path(r.Path), r.Cells); l.Full(len(dst)) && i > 0 {
			return fmt.Appendf(dst[:mark], "\nand %d more", len(t.Rows)-i), i
		}
	}
	return dst, len(t.Rows)
}

// Attached says how many attachments moved with a note. It returns "" if there were none.
func Attached(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s moved with it.", fault.Count(n, "attachment"))
}
