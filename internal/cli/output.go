package cli

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"quarry/search"
)

// fileOutput is one way of showing files that match.
type fileOutput interface {
	file(path string, f *search.FileMatch) error
	finish(*search.Summary) error
}

// lineOutput shows matching lines.
type lineOutput struct{ *printer }

func (o lineOutput) finish(*search.Summary) error { return o.flush() }

// pathOutput shows only names.
type pathOutput struct{ *printer }

func (o pathOutput) file(path string, _ *search.FileMatch) error { return o.pathRow(path) }
func (o pathOutput) finish(*search.Summary) error                { return o.flush() }

// countOutput shows how many lines or matches a file has.
type countOutput struct {
	*printer
	matches bool
}

func (o countOutput) file(path string, f *search.FileMatch) error {
	n := f.Matched
	if o.matches {
		n = f.Matches
	}
	if o.style.path {
		o.name(path)
		if o.style.nul {
			o.row = append(o.row, 0)
		} else {
			o.row = append(o.row, ':')
		}
	}
	o.row = append(strconv.AppendInt(o.row, int64(n), 10), '\n')
	return o.flushRow()
}

func (o countOutput) finish(*search.Summary) error { return o.flush() }

// jsonOutput writes messages; with -q only the closing one, as ripgrep does.
type jsonOutput struct {
	*jsonPrinter
	quiet bool
}

func (o jsonOutput) file(path string, f *search.FileMatch) error {
	if o.quiet {
		o.count(f)
		return nil
	}
	return o.jsonPrinter.file(path, f)
}

func (o jsonOutput) finish(s *search.Summary) error { return o.summary(s) }

// outTerminal reports whether results go to a terminal.
func (s Streams) outTerminal() bool { return s.isTerminal(s.Out) }

// errTerminal reports whether a person reads messages.
func (s Streams) errTerminal() bool { return s.isTerminal(s.Err) }

func (s Streams) isTerminal(w io.Writer) bool {
	if s.Terminal != nil {
		return *s.Terminal
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (s Streams) getenv() func(string) string {
	if s.Getenv != nil {
		return s.Getenv
	}
	return os.Getenv
}

// useColour decides on colour; NO_COLOR and a dumb terminal turn auto off.
func useColour(when string, tty bool, getenv func(string) string) bool {
	switch when {
	case "always", "ansi":
		return true
	case "never":
		return false
	}
	return tty && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}
