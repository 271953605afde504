package render

import (
	"fmt"
	"strings"

	"quarry/internal/notebook"
)

// Outline words the parts of a note: its lines, what it has before the text, and
// the headings with the lines of their sections.
func Outline(dst []byte, o *notebook.Outline) []byte {
	dst = fmt.Appendf(dst, "%s: %s", Path(o.Path), Plural(o.Lines, "line", "lines"))
	if len(o.Properties) > 0 {
		dst = fmt.Appendf(dst, "\nProperties: %s", strings.Join(o.Properties, ", "))
	}
	if len(o.Tags) > 0 {
		dst = fmt.Appendf(dst, "\nTags: #%s", strings.Join(o.Tags, ", #"))
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

// Names lists properties or tags, each with the number of notes that have it.
func Names(dst []byte, names []notebook.Name, one, many, mark string, l Limits) []byte {
	if len(names) == 0 {
		return fmt.Appendf(dst, "No %s.", many)
	}
	dst = fmt.Appendf(dst, "%s:", Plural(len(names), one, many))
	for i, n := range names {
		line := fmt.Sprintf("\n%s%s (%s", mark, n.Name, Plural(n.Notes, "note", "notes"))
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

// PathList words a list of paths.
func PathList(dst []byte, paths []string, one, many string, l Limits) []byte {
	if len(paths) == 0 {
		return fmt.Appendf(dst, "No %s.", many)
	}
	dst = fmt.Appendf(dst, "%s:", Plural(len(paths), one, many))
	for i, p := range paths {
		if l.Budget > 0 && len(dst)+len(p) > l.Budget {
			return fmt.Appendf(dst, "\nand %d more", len(paths)-i)
		}
		dst = fmt.Appendf(dst, "\n%s", Path(p))
	}
	return dst
}

// NoteLinks words links, by their source; of one note's own links it shows where
// they lead. It returns how many fit.
func NoteLinks(dst []byte, links []notebook.Link, total int, targets bool, l Limits) ([]byte, int) {
	if total == 0 {
		return append(dst, "No links."...), 0
	}
	dst = fmt.Appendf(dst, "%s:", Plural(total, "link", "links"))
	source := ""
	for i, link := range links {
		line := ""
		if link.Source != source {
			line = "\n\n## " + Path(link.Source)
		}
		where := ""
		if link.Line > 0 {
			where = fmt.Sprintf("Line %d: ", link.Line)
		}
		switch {
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
		dst, source = append(dst, line...), link.Source
	}
	return dst, len(links)
}

// Attached says how many attachments moved with a note; "" for none.
func Attached(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s moved with it.", Plural(n, "attachment", "attachments"))
}
