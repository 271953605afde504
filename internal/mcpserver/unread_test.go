package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"quarry/internal/stress"
)

// startUnread makes a call with an answer of the given size and ends the input. It
// returns the reading end of an unbuffered pipe with the answers.
func startUnread(t *testing.T, grace time.Duration, answer int) (out *io.PipeReader, ended <-chan error) {
	t.Helper()
	s := newTestServer(t, &Options{Grace: grace})
	var in strings.Builder
	fmt.Fprintln(&in, call(0, "initialize", initParams))
	fmt.Fprintln(&in, initialized)
	fmt.Fprintln(&in, call(1, "tools/call", `{"name":"echo","arguments":{"text":"`+strings.Repeat("x", answer)+`"}}`))
	r, w := io.Pipe()
	t.Cleanup(func() { r.Close() })
	end := make(chan error, 1)
	go func() {
		err := s.ServeStdio(context.Background(), strings.NewReader(in.String()), w)
		w.Close()
		end <- err
	}()
	return r, end
}

// A client that has closed its side and doesn't read gets less time than one that reads,
// because the process must exit within two seconds, even if timers are late.
func TestClientThatReadsNothing(t *testing.T) {
	const grace = 800 * time.Millisecond
	least := time.Hour
	for range 5 { // on a busy machine some rounds take longer; without the fix all take the whole grace period
		began := time.Now()
		_, ended := startUnread(t, grace, 100)
		if err := <-ended; !errors.Is(err, ErrUnended) {
			t.Fatalf("ended with %v", err)
		}
		if least = min(least, time.Since(began)); least < grace*7/8 {
			return
		}
	}
	t.Errorf("gone after %v at best, with a grace of %v", least, grace)
}

// A client that reads slowly receives all answers.
func TestSlowReaderIsWaitedFor(t *testing.T) {
	stress.SkipTiny(t)
	const grace = 4 * time.Second
	out, ended := startUnread(t, grace, 500_000)
	r, w := io.Pipe()
	go func() {
		buf := make([]byte, 64<<10)
		for { // 1.8 s in total; a client that reads nothing gets 1.25 s
			time.Sleep(200 * time.Millisecond)
			n, err := out.Read(buf)
			if n > 0 {
				_, _ = w.Write(buf[:n])
			}
			if err != nil {
				w.CloseWithError(err)
				return
			}
		}
	}()
	answers, lines := 0, bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%.80q: %v", line, err)
		}
		if m.Error == nil {
			answers++
		}
	}
	if err := <-ended; err != nil || answers != 2 {
		t.Errorf("%d answers, %v; want 2", answers, err)
	}
}
