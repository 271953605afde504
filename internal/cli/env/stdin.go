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

// stdin is a reader of standard input that ends when the command is interrupted. A system call that
// waits for a terminal or a pipe can't be cancelled. So a goroutine makes the call, and is
// abandoned on interrupt. Nothing is read before the first Read.
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

// InputOf wraps an input whose reads may block. It returns a regular file unchanged, because
// reading it doesn't block.
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
			// 64 KiB is the capacity of a pipe in Linux. Without the wrapper, io.CopyBuffer would
			// use the file's WriteTo with its smaller buffer.
			_, err := io.CopyBuffer(w, struct{ io.Reader }{from}, make([]byte, 64<<10))
			w.CloseWithError(err)
		}()
	})}
}

// AskText tells a person at a terminal that the program waits for text.
func (s Streams) AskText() {
	if f, ok := s.In.(*os.File); ok && s.ErrTerminal() && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintln(s.Err, "quarry: type the text and end it with ^D; ^C gives up")
	}
}

// InputGiven reports whether to search standard input if no path is given, which is so for a
// regular file or a pipe. Terminals, other devices and sockets don't count; sockets are often
// inherited unintentionally.
func (s Streams) InputGiven() bool {
	f, ok := s.In.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && (info.Mode().IsRegular() || info.Mode()&os.ModeNamedPipe != 0)
}

// InputSocket reports whether standard input is a socket, which Node gives programs instead of a
// pipe. A socket is searched only if it is named as -.
func (s Streams) InputSocket() bool {
	f, ok := s.In.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeSocket != 0
}

// How long to wait for input from an idle pipe. Then a person gets a message, and a program an
// error.
const (
	tellAfter = time.Second
	idleAfter = 5 * time.Second
)

// ErrIdle ends the search of a pipe that gets no data.
var ErrIdle = fmt.Errorf("standard input is a pipe and nothing came in %s: give the path . to search files, or - to wait for the pipe", idleAfter)

// Implicit is standard input that is searched without being named.
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
