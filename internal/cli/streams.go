package cli

import (
	"io"
	"os"
	"quarry/internal/cli/printing"
	"strconv"

	"golang.org/x/term"
)

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

// paint is for results, which may go to a terminal.
func (s Streams) paint() printing.Paint {
	return printing.Paint(printing.UseColour("auto", s.outTerminal(), s.getenv()))
}

// errWidth is how wide the terminal of messages is.
func (s Streams) errWidth() int {
	if f, ok := s.Err.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	if w, err := strconv.Atoi(s.getenv()("COLUMNS")); err == nil && w > 0 {
		return w
	}
	return 80
}

// progress begins to show progress, unless quiet is set or there is no terminal.
func (s Streams) progress(quiet bool, doing string) *printing.Progress {
	if quiet || !s.errTerminal() || s.getenv()("TERM") == "dumb" {
		return nil
	}
	return printing.NewProgress(s.Err, s.errWidth, doing)
}
