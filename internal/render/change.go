// Package render words the results of the library, for answers of tools and for the
// command line.
//
// Its functions have no side effects. Names in a text can neither forge a line nor control
// a terminal.
package render

import (
	"fmt"
	"strconv"
	"strings"

	"quarry/change"
	"quarry/fault"
)

// Quote quotes a name. If it contains control characters or can't be shown literally, it is
// escaped.
func Quote(name string) string {
	q := strconv.QuoteToGraphic(name)
	if len(q) == len(name)+2 {
		return q
	}
	if strings.Trim(q, `"`) != "" && onlyQuotes(name, q) {
		return `"` + name + `"`
	}
	return q
}

// onlyQuotes reports whether quoting changed only quotes and backslashes, which are readable
// without escapes.
func onlyQuotes(name, quoted string) bool {
	plain := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name)
	return quoted == `"`+plain+`"`
}

// Plain is like Quote, but omits unnecessary quotes.
func Plain(name string) string {
	if q := Quote(name); q == `"`+name+`"` {
		return name
	} else {
		return q
	}
}

// Size formats a number of bytes: 156 bytes, 2.3 KB, 1.0 MB.
func Size(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
}

// Edited words the answer of edit_file and modify_note.
func Edited(c *change.Change) string {
	name := Quote(c.Paths[0])
	if len(c.Edits) != 1 {
		return fmt.Sprintf("Made %s in %s.", fault.Count(len(c.Edits), "edit"), name)
	}
	e := c.Edits[0]
	switch e.Kind {
	case change.Inserted:
		if e.Before {
			return fmt.Sprintf("Inserted %s before line %d in %s.", fault.Count(e.Count, "line"), e.Line+1, name)
		}
		return fmt.Sprintf("Inserted %s after line %d in %s.", fault.Count(e.Count, "line"), e.Line, name)
	case change.DeletedLines:
		if e.Count == 1 {
			return fmt.Sprintf("Deleted line %d (1 line) in %s.", e.Line, name)
		}
		return fmt.Sprintf("Deleted lines %d-%d (%d lines) in %s.", e.Line, e.Line+e.Count-1, e.Count, name)
	case change.Valued:
		return fmt.Sprintf("Changed %s in %s.", fault.Count(e.Count, "value"), name)
	case change.Appended:
		return fmt.Sprintf("Appended to %s.", name)
	case change.Prepended:
		return fmt.Sprintf("Prepended to %s.", name)
	}
	return fmt.Sprintf("Replaced %s in %s.", fault.Count(e.Count, "occurrence"), name)
}

// Remaining says which occurrences an edit left unchanged. It returns "" if there are
// none.
func Remaining(c *change.Change) string {
	if len(c.Edits) != 1 || c.Edits[0].Remaining == 0 {
		return ""
	}
	e := c.Edits[0]
	word := "lines"
	if len(e.RemainingLines) == 1 {
		word = "line"
	}
	list := make([]string, len(e.RemainingLines))
	for i, n := range e.RemainingLines {
		list[i] = strconv.Itoa(n)
	}
	verb := "remain"
	if e.Remaining == 1 {
		verb = "remains"
	}
	more := ""
	if n := e.Remaining - len(e.RemainingLines); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%s %s, on %s %s%s.", fault.Count(e.Remaining, "other occurrence"), verb, word, strings.Join(list, ", "), more)
}

// Written words the answer of write_file.
func Written(c *change.Change) string {
	verb := "Overwrote"
	if c.Created {
		verb = "Created"
	}
	return fmt.Sprintf("%s file %s (%s).", verb, Quote(c.Paths[0]), Size(c.Size))
}

// MadeFolder words the answer of create_folder.
func MadeFolder(c *change.Change) string {
	if c.Unchanged {
		return fmt.Sprintf("Folder %s already exists.", Quote(c.Paths[0]))
	}
	return fmt.Sprintf("Created folder %s.", Quote(c.Paths[0]))
}

// Moved words the answer of move_file and organize_note.
func Moved(c *change.Change) string {
	if c.Unchanged {
		return fmt.Sprintf("No changes made: source and destination are the same path (%s).", Quote(c.Paths[0]))
	}
	return fmt.Sprintf("Moved %s to %s.", Quote(c.Paths[0]), Quote(c.Paths[1]))
}

// Links says how a move changed links. It returns "" if it didn't.
func Links(c *change.Change) string {
	if c.Links == nil {
		return ""
	}
	var parts []string
	if l := c.Links; l.Updated > 0 {
		parts = append(parts, fmt.Sprintf("Updated %s in %s.", fault.Count(l.Updated, "link"), fault.Count(len(l.Files), "file")))
		if l.Texts > 0 {
			where := ""
			if n := len(l.TextsIn); n > 0 && n <= 3 {
				names := make([]string, n)
				for i, p := range l.TextsIn {
					names[i] = Quote(p)
				}
				where = " in " + strings.Join(names, ", ")
			}
			parts = append(parts, fmt.Sprintf("%s%s changed too, which had the old name.", fault.Count(l.Texts, "displayed text"), where))
		}
	}
	if l := c.Links; l.Broken > 0 {
		verb := "point"
		if l.Broken == 1 {
			verb = "points"
		}
		parts = append(parts, fmt.Sprintf("%s in %s no longer %s to the file.", fault.Count(l.Broken, "link"), fault.Count(len(l.BrokenIn), "file"), verb))
	}
	return strings.Join(parts, " ")
}

// Deleted words the answer of delete_file.
func Deleted(c *change.Change) string {
	name := Plain(c.Paths[0])
	if c.Trash != nil && c.Trash.Kind == change.TrashNone {
		return fmt.Sprintf("Deleted '%s' permanently.", name)
	}
	return fmt.Sprintf("Deleted '%s' to trash.", name)
}

// CreatedNote words the answer of create_note.
func CreatedNote(c *change.Change) string {
	return fmt.Sprintf("Successfully created note at %s.", Quote(c.Paths[0]))
}

// Undone words the answer of undo_change.
func Undone(c *change.Change) string {
	if c.Did.Verb == change.RolledBack {
		if c.Unchanged {
			return fmt.Sprintf("Change %s was half applied and is rolled back already; nothing else was undone.", c.Undoes)
		}
		return fmt.Sprintf("Rolled back change %s, which was half applied: %s.", c.Undoes, fault.Count(len(c.Paths), "path"))
	}
	if c.PartOf != "" {
		return fmt.Sprintf("Undid a part of change %s: %s.", c.PartOf, fault.Count(len(c.Paths), "path"))
	}
	if c.Undoes == "" {
		s := Sentence(c.Summary) // an undo to a point
		if back := c.Did.Back(false); back != "" {
			s += " (" + back + ")"
		}
		return s + "."
	}
	return fmt.Sprintf("Undid change %s (%s).", c.Undoes, strings.TrimPrefix(c.Summary, "undo "+c.Undoes+": "))
}

// Reviewed words the answer to a change, by any tool, that a person accepted in part.
func Reviewed(r *change.Reviewed) string {
	n := len(r.Written)
	s := fmt.Sprintf("Accepted in part: %d of %s.\nWritten: %s\nRefused, not written: %s",
		n, fault.Count(n+len(r.Refused), "hunk"), change.Parts(r.Written), change.Parts(r.Refused))
	if len(r.Refused) == 0 {
		s = "Accepted, and placed beneath what changed in the files since.\nWritten: " + change.Parts(r.Written)
	}
	for _, c := range r.Comments {
		s += "\nComment: " + strings.Join(strings.Fields(c), " ")
	}
	return s
}

// Set words the answer to a set of changes, with one line per file.
func Set(c *change.Change) string {
	var b strings.Builder
	switch {
	case c.Unchanged:
		return "Nothing had to be changed."
	case c.DryRun:
		fmt.Fprintf(&b, "%s would change:", fault.Count(len(c.Files), "file"))
	default:
		fmt.Fprintf(&b, "Changed %s:", fault.Count(len(c.Files), "file"))
	}
	for i, f := range c.Files {
		if i == maxSetFiles {
			fmt.Fprintf(&b, "\n… and %d more", len(c.Files)-i)
			break
		}
		b.WriteString("\n" + SetFile(f))
		if f.Version != "" && len(c.Files) <= maxVersions {
			b.WriteString(", version " + Version(f.Version))
		}
	}
	return b.String()
}

const (
	// maxSetFiles limits the files that an answer names.
	maxSetFiles = 200
	// maxVersions is the number of files up to which an answer gives their versions.
	// After a change of many files, the next change rarely selects lines in them.
	maxVersions = 3
)

// Version returns the first 12 digits of a version, which every tool accepts instead of
// the whole.
func Version(v string) string { return v[:min(len(v), 12)] }

// setVerbs describes in one word what a set did to a file.
var setVerbs = map[change.Verb]string{
	change.Edited: "edited", change.Created: "created", change.Overwrote: "overwrote", change.Deleted: "deleted", change.Moved: "moved",
	change.SetMode: "changed",
}

// SetFile describes what a set did to one file.
func SetFile(f change.File) string {
	s := setVerbs[f.Did] + " " + Path(f.Path)
	if f.To != "" {
		s += " to " + Path(f.To)
	}
	if f.Hunks > 0 {
		s += fmt.Sprintf(": %s, +%d -%d", fault.Count(f.Hunks, "hunk"), f.Added, f.Removed)
	}
	if f.Executable != nil && *f.Executable {
		s += ", now executable"
	} else if f.Executable != nil {
		s += ", no longer executable"
	}
	if f.Kept != "" {
		s += ", " + f.Kept + " kept"
	}
	return s
}
