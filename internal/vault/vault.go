// Package vault implements the rules of an Obsidian vault: its settings, front matter,
// headings, tags and links, how links resolve to notes, and the rewrites that moving notes
// requires.
//
// The package never opens a file. It takes bytes, strings and a list of paths, and
// returns decisions. The caller reads files through the sandbox and provides them as
// [Files].
//
// Invariants: A [Plan] consists of byte splices, so bytes outside their spans never
// change. After a plan is applied, every link that resolved to a file before still
// resolves to that file at its new path. A link for which this is impossible is counted
// in Plan.Broken.
//
// Paths are relative to the vault and have "/" separators. Spans are always offsets in the
// bytes passed in. The text is UTF-8; a leading byte order mark is allowed and counted in
// the offsets. The caller decodes files in other encodings, and maps the spans back or
// encodes the result. Bytes that are not UTF-8 are accepted.
package vault

import (
	"strings"

	"quarry/internal/splice"
)

// Files gives a [Graph] access to a vault.
type Files interface {
	// Paths lists all files of the vault: notes and attachments.
	Paths() []string
	// Read returns the text of one file as UTF-8.
	Read(path string) ([]byte, error)
}

// Span is a half-open range of byte offsets, and Splice replaces the bytes in a Span.
type (
	Span   = splice.Span
	Splice = splice.Splice
)

// ApplySplices returns text with the splices applied.
func ApplySplices(text []byte, splices []Splice) ([]byte, error) { return splice.Apply(text, splices) }

const bom = "\xef\xbb\xbf"

func isNote(path string) bool { return hasSuffixFold(path, ".md") }

func isCanvas(path string) bool { return hasSuffixFold(path, ".canvas") }

// HasLinks reports whether files of this name can have links: notes and canvases can.
func HasLinks(path string) bool { return isNote(path) || isCanvas(path) }

// hasSuffixFold reports whether s ends in an ASCII suffix, ignoring case.
func hasSuffixFold(s, suffix string) bool {
	return len(s) >= len(suffix) && strings.EqualFold(s[len(s)-len(suffix):], suffix)
}

// dir returns the folder of a path; "" is the top.
func dir(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

// base returns the last element of a path.
func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// join prepends a folder to a path. The folder may be "".
func join(folder, path string) string {
	if folder == "" {
		return path
	}
	return folder + "/" + path
}
