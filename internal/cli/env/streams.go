// Package env provides the environment of every command: the streams, the settings of quarry.toml,
// and the folders of a workspace, its state and its index.
//
// Commands read and write only through it, so that tests can replace all of it.
package env

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"quarry/internal/cli/printing"
)

// Streams are the program's standard streams, passed in so that tests can replace
// them.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer

	// Terminal reports whether Out and Err are terminals; nil means that they are checked.
	Terminal *bool
	// Getenv returns the value of an environment variable; nil means os.Getenv.
	Getenv func(string) string

	Conf *Settings // the settings of this run
}

// ErrNone ends a successful command that found nothing: exit code 1, no message.
var ErrNone = errors.New("nothing found")

// ErrReported ends a command whose errors were already printed: exit code 2.
var ErrReported = errors.New("some paths could not be used")

// Nothing prints a message that there is nothing to show, if the output is a terminal. Otherwise
// only the exit code tells.
func (s Streams) Nothing(text string) error {
	if s.OutTerminal() && s.ErrTerminal() {
		fmt.Fprintln(s.Err, "quarry: "+text)
	}
	return ErrNone
}

// Safe escapes control sequences if results go to a terminal.
func (s Streams) Safe(text string) string {
	if s.OutTerminal() {
		return printing.EscapeLines(text)
	}
	return text
}

// Print escapes a text with Safe and writes it.
func (s Streams) Print(text string) error { return s.Write(s.Safe(text)) }

func (s Streams) Write(text string) error {
	_, err := io.WriteString(s.Out, text)
	return err
}

func (s Streams) Encode(v any) error {
	enc := json.NewEncoder(printing.JSONWriter(s.Out, s.OutTerminal()))
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// OutTerminal reports whether results are written to a terminal.
func (s Streams) OutTerminal() bool { return s.IsTerminal(s.Out) }

// ErrTerminal reports whether messages are written to a terminal, where a person reads them.
func (s Streams) ErrTerminal() bool { return s.IsTerminal(s.Err) }

func (s Streams) IsTerminal(w io.Writer) bool {
	if s.Terminal != nil {
		return *s.Terminal
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (s Streams) Env() func(string) string {
	if s.Getenv != nil {
		return s.Getenv
	}
	return os.Getenv
}

// Say writes formatted results. It keeps the first error, with which the program then exits, so
// that a full disk is never overlooked.
func (s Streams) Say(format string, args ...any) {
	_, err := fmt.Fprintf(s.Out, format, args...)
	s.Lost(err)
}

// Lost records an error of writing results; the first one is kept.
func (s Streams) Lost(err error) {
	if err != nil && s.Conf != nil && s.Conf.Unwritten == nil {
		s.Conf.Unwritten = err
	}
}

// Paint returns the colouring for results: none unless they go to a terminal.
func (s Streams) Paint() printing.Paint {
	return printing.Paint(printing.UseColour("auto", s.OutTerminal(), s.Env()))
}

// errWidth returns the width of the terminal for messages.
func (s Streams) errWidth() int {
	if f, ok := s.Err.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	if w, err := strconv.Atoi(s.Env()("COLUMNS")); err == nil && w > 0 {
		return w
	}
	return 80
}

// Progress starts a progress display, unless quiet is set or there is no terminal.
func (s Streams) Progress(quiet bool, doing string) *printing.Progress {
	if quiet || !s.ErrTerminal() || s.Env()("TERM") == "dumb" {
		return nil
	}
	return printing.NewProgress(s.Err, s.errWidth, doing)
}
