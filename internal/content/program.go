package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// program is the output of a running program.
type program struct {
	cmd   *exec.Cmd
	in    *source
	out   io.ReadCloser
	says  strings.Builder
	ended bool                  // the output was read to its end
	cut   atomic.Pointer[error] // the context error, if it was killed for that
}

// lingers is how long to wait, after the program has ended, for its child processes that
// still hold the pipes.
const lingers = time.Second

func run(ctx context.Context, in io.Reader, name string, args ...string) (io.ReadCloser, error) {
	p := &program{cmd: exec.CommandContext(ctx, name, args...), in: &source{r: in}}
	p.cmd.Stdin, p.cmd.Stderr = p.in, &limited{&p.says}
	p.cmd.WaitDelay = lingers
	inGroup(p.cmd)
	var err error
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	p.cmd.Cancel = func() error {
		err := ctx.Err()
		p.cut.Store(&err)
		return p.kill()
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	return p, nil
}

// kill ends the program and its process group. It also closes the pipe, because a process
// that left the group may hold the other end.
func (p *program) kill() error {
	err := killGroup(p.cmd.Process)
	p.out.Close()
	return err
}

func (p *program) Read(b []byte) (int, error) {
	n, err := p.out.Read(b)
	if why := p.cut.Load(); err != nil && why != nil {
		return n, *why // even at the end of the output: the program may have been killed
	}
	p.ended = p.ended || err == io.EOF
	return n, err
}

// Close ends a program whose output is not read to the end. If the program itself failed,
// the error has its messages. A program that was read to the end may run until ctx is
// done.
func (p *program) Close() error {
	ended := p.ended
	if !ended {
		_ = p.kill() // an error means that it has already ended
	}
	p.out.Close()
	err := p.cmd.Wait()
	p.in.detach()
	why := p.cut.Load()
	switch {
	case ended && why != nil && err != nil:
		return *why
	case err == nil || !ended || errors.Is(err, exec.ErrWaitDelay):
		return nil
	}
	if says := strings.TrimSpace(p.says.String()); says != "" {
		return fmt.Errorf("%s: %w: %s", p.cmd.Path, err, says)
	}
	return fmt.Errorf("%s: %w", p.cmd.Path, err)
}

// source is the program's standard input. After detach, its reader is not used any more,
// even if a process still holds the pipe.
type source struct {
	mu sync.Mutex
	r  io.Reader // guarded by mu
}

func (s *source) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.r == nil {
		return 0, io.EOF
	}
	return s.r.Read(b)
}

func (s *source) detach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.r = nil
}

// limited keeps the beginning of a program's error output.
type limited struct{ to *strings.Builder }

func (l *limited) Write(b []byte) (int, error) {
	if room := 1024 - l.to.Len(); room > 0 {
		l.to.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}
