package env

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// stdin is standard input that ends when the command is interrupted. A system
// call that waits for a terminal or a pipe can't be cancelled, so it is made by a
// goroutine that is abandoned then. Nothing is read before the first Read.
type stdin struct {
	pipe  *io.PipeReader
	begin func()
}

func (r stdin) Read(p []byte) (int, error) {
	r.begin()
	return r.pipe.Read(p)
}

type readResult struct {
	n   int
	err error
}

// InputOf wraps input that may block. A regular file does not block and is
// returned as it is.
func InputOf(ctx context.Context, from io.Reader) io.Reader {
	f, ok := from.(*os.File)
	if !ok {
		return from
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return from
	}
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { w.CloseWithError(ctx.Err()) })
	return stdin{r, sync.OnceFunc(func() {
		go func() {
			// 64 KiB is what a pipe of Linux holds. Without the wrapper the file's own
			// method would be used, with a smaller buffer.
			_, err := io.CopyBuffer(w, struct{ io.Reader }{from}, make([]byte, 64<<10))
			w.CloseWithError(err)
		}()
	})}
}

// AskText tells a person that the program waits for text.
func (s Streams) AskText() {
	if f, ok := s.In.(*os.File); ok && s.ErrTerminal() && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintln(s.Err, "quarry: type the text and end it with ^D; ^C gives up")
	}
}

// InputGiven reports whether to search standard input if no path is given: it is
// a regular file or a pipe. Terminals, other devices and sockets don't count;
// sockets are often inherited unintentionally.
func (s Streams) InputGiven() bool {
	f, ok := s.In.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeNamedPipe != 0)
}

// InputSocket reports standard input that is a socket, as Node gives programs in
// place of a pipe. It is searched only as -.
func (s Streams) InputSocket() bool {
	f, ok := s.In.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeSocket != 0
}

// How long to wait for an idle pipe. After that a person gets a message, a
// program an error.
const (
	tellAfter = time.Second
	idleAfter = 5 * time.Second
)

// ErrIdle ends a search of a pipe into which nobody writes.
var ErrIdle = fmt.Errorf("standard input is a pipe and nothing came in %s: give the path . to search files, or - to wait for the pipe", idleAfter)

// Implicit is standard input that nobody named.
type Implicit struct {
	s     Streams
	from  io.Reader
	begun bool
	n     int64
}

func (s Streams) ImplicitInput(ctx context.Context) *Implicit {
	return &Implicit{s: s, from: InputOf(ctx, s.In)}
}

func (r *Implicit) Empty() bool { return r.n == 0 }

func (r *Implicit) Read(p []byte) (n int, err error) {
	if r.begun {
		n, err = r.from.Read(p)
		r.n += int64(n)
		return n, err
	}
	r.begun = true
	got := make(chan readResult, 1)
	buf := make([]byte, len(p))
	go func() {
		n, err := r.from.Read(buf)
		got <- readResult{n, err}
	}()
	wait := idleAfter
	if r.s.ErrTerminal() {
		wait = tellAfter
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		select {
		case res := <-got:
			r.n += int64(res.n)
			return copy(p, buf[:res.n]), res.err
		case <-timer.C:
			if !r.s.ErrTerminal() {
				return 0, ErrIdle
			}
			fmt.Fprintln(r.s.Err, "quarry: waiting for standard input; to search files, give a path such as .")
		}
	}
}
