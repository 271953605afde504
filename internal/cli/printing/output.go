package printing

import (
	"encoding/json"
	"io"
	"strconv"

	"quarry/internal/replacer"
	"quarry/search"
)

// Output prints the results of a search in one format.
type Output interface {
	File(path string, f *search.FileMatch) error
	Finish(*search.Summary) error
	// Printed returns how many bytes of lines were written, without names and counts.
	Printed() int64
}

// NewLines returns an Output that prints matching lines. If r isn't nil, matches are replaced.
func NewLines(w io.Writer, s Style, r *replacer.Template) Output {
	return lineOutput{newPrinter(w, s, r)}
}

// NewPaths returns an Output that prints only paths.
func NewPaths(w io.Writer, s Style) Output { return pathOutput{newPrinter(w, s, nil)} }

// NewCounts returns an Output that prints each file's number of matching lines, or of matches if
// matches is set.
func NewCounts(w io.Writer, s Style, matches bool) Output {
	return countOutput{newPrinter(w, s, nil), matches}
}

// lineOutput prints matching lines.
type lineOutput struct{ *printer }

func (o lineOutput) Finish(*search.Summary) error { return o.flush() }

// pathOutput prints only paths.
type pathOutput struct{ *printer }

func (o pathOutput) File(path string, _ *search.FileMatch) error {
	o.pathRow(path)
	return o.done()
}
func (o pathOutput) Finish(*search.Summary) error { return o.flush() }
func (o pathOutput) Printed() int64               { return 0 }

// countOutput prints each file's number of matching lines or matches.
type countOutput struct {
	*printer
	matches bool
}

func (o countOutput) File(path string, f *search.FileMatch) error {
	n := f.Matched
	if o.matches {
		n = f.Matches
	}
	if o.style.Path {
		o.name(path, 0, 0)
		if o.style.Nul {
			o.row = append(o.row, 0)
		} else {
			o.put(o.style.MatchSep)
		}
	}
	o.row = strconv.AppendInt(o.row, int64(n), 10)
	o.lineEnding()
	return o.done()
}

func (o countOutput) Finish(*search.Summary) error { return o.flush() }
func (o countOutput) Printed() int64               { return 0 }

// UseColour reports whether to use colour. If when is auto, it is used on terminals, unless
// NO_COLOR is set or the terminal is dumb.
func UseColour(when string, tty bool, getenv func(string) string) bool {
	switch when {
	case "always", "ansi":
		return true
	case "never":
		return false
	}
	return tty && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// WriteJSON writes a value as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
