// Package vault has the rules of an Obsidian vault: its settings, front matter, headings, tags, links, how a link finds its note,
// and the rewrites that moving notes requires.
//
// It is pure: it takes bytes, strings and a list of paths, and returns decisions. It
// never opens a file; its caller reads through the sandbox and passes text by [Files].
//
// Invariant: a [Plan] consists of byte splices, so bytes outside the spans it names never
// change, and after it is carried out every link that resolved to a file before still
// resolves to that file at its new path. A link that can't follow is counted in
// Plan.Broken, never guessed.
//
// Paths are relative to the vault, with "/" separators, as on disk. Text is UTF-8; a
// leading byte order mark is allowed and counted in the offsets. For a file in another
// encoding the caller decodes first, plans on the decoded text and maps the spans back (or
// decodes, splices, encodes): spans are always offsets in the bytes passed in. Bytes that
// are not UTF-8 do no harm.
package vault

import (
	"strings"

	"quarry/internal/splice"
)

// Files gives a [Graph] access to a vault.
type Files interface {
	// Paths lists every file of the vault, notes and attachments.
	Paths() []string
	// Read returns the text of one file as UTF-8.
	Read(path string) ([]byte, error)
}

// Span is a half-open range of byte offsets, and Splice replaces the bytes of one.
type (
	Span   = splice.Span
	Splice = splice.Splice
)

// ApplySplices returns text with the splices applied.
func ApplySplices(text []byte, splices []Splice) ([]byte, error) { return splice.Apply(text, splices) }

const bom = "\xef\xbb\xbf"

// isNote reports whether path names a markdown note.
func isNote(path string) bool { return hasSuffixFold(path, ".md") }

// isCanvas reports whether path names a canvas.
func isCanvas(path string) bool { return hasSuffixFold(path, ".canvas") }

// HasLinks reports whether files of this name have links: notes and canvases.
func HasLinks(path string) bool { return isNote(path) || isCanvas(path) }

// hasSuffixFold reports whether s ends in an ASCII suffix, ignoring case.
func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

// dir returns the folder of a path, "" at the top.
func dir(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

// base returns the last element of a path.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// join puts a folder, possibly "", before a path.
func join(folder, path string) string {
	if folder == "" {
		return path
	}
	return folder + "/" + path
}
