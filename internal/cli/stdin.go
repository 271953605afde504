package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// stdin is standard input that ends when the command is interrupted. A system
// call that waits for a terminal or a pipe can't be called off, so it is left
// behind.
type stdin struct {
	ctx  context.Context
	from io.Reader
	buf  []byte
	done chan readResult
}

type readResult struct {
	n   int
	err error
}

// inputOf gives what is read of a file as it is: it doesn't wait.
func inputOf(ctx context.Context, from io.Reader) io.Reader {
	f, ok := from.(*os.File)
	if !ok {
		return from
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return from
	}
	return &stdin{ctx: ctx, from: from, done: make(chan readResult, 1)}
}

func (r *stdin) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err // and buf may still be written to
	}
	if len(r.buf) < len(p) {
		r.buf = make([]byte, len(p))
	}
	go func(into []byte) {
		n, err := r.from.Read(into)
		r.done <- readResult{n, err}
	}(r.buf[:len(p)])
	select {
	case res := <-r.done:
		return copy(p, r.buf[:res.n]), res.err
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}

// askText tells a person that the program waits for text.
func (s Streams) askText() {
	if f, ok := s.In.(*os.File); ok && s.errTerminal() && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintln(s.Err, "quarry: type the text and end it with ^D; ^C gives up")
	}
}
