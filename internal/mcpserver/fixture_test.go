package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/fault"
	"quarry/tool"
)

// stock has tools with every behavior that a server must support.
func stock(t testing.TB) *tool.Registry {
	t.Helper()
	reg, err := stockTools()
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

func stockTools() (*tool.Registry, error) {
	schema := json.RawMessage(`{"type":"object","$defs":{"n":{"type":"integer"}},"properties":{"text":{"type":"string"},"length":{"$ref":"#/$defs/n"}},"required":["text","length"],"additionalProperties":false}`)
	echo := func(_ context.Context, a tool.Args) (*tool.Result, error) {
		s := a.String("text")
		if s == "fail" {
			return nil, &tool.Error{Code: fault.NotFound, Message: "nothing is called fail", Hint: "Try another text."}
		}
		return &tool.Result{Text: s, Structured: map[string]any{"text": s, "length": len(s)}}, nil
	}
	var (
		mu    sync.Mutex
		notes = map[string]string{}
	)
	return tool.NewRegistry(
		&tool.Tool{
			Name: "echo", Title: "Echo", Description: "Gives a text back.", OutputSchema: schema, Hints: tool.Hints{ReadOnly: true, Idempotent: true},
			Params: []tool.Param{{Name: "text", Kind: tool.String, Required: true, Description: "The text."}}, Run: echo,
		},
		&tool.Tool{
			Name: "search_files", Title: "Large answer", Description: "Gives 20 KB of text.", Hints: tool.Hints{ReadOnly: true},
			Run: func(context.Context, tool.Args) (*tool.Result, error) {
				return &tool.Result{Text: strings.Repeat("  1 | a line of text\n", 1000)}, nil
			},
		},
		&tool.Tool{
			Name: "wait", Description: "Waits until it is cancelled.",
			Run: func(ctx context.Context, _ tool.Args) (*tool.Result, error) { <-ctx.Done(); return nil, ctx.Err() },
		},
		&tool.Tool{
			Name: "count", Description: "Reports progress.", Params: []tool.Param{{Name: "to", Kind: tool.Integer, Default: 3}, {Name: "pause", Kind: tool.Boolean}},
			Run: func(ctx context.Context, a tool.Args) (*tool.Result, error) {
				report, n := tool.ProgressOf(ctx), int64(a.Int("to"))
				for i := range n {
					report(i+1, n, fmt.Sprintf("file %d", i+1))
				}
				if a.Bool("pause") { // the TypeScript client drops reports that arrive with the answer
					time.Sleep(50 * time.Millisecond)
				}
				return &tool.Result{Text: "counted"}, nil
			},
		},
		&tool.Tool{
			Name: "boom", Description: "Panics.",
			Run: func(context.Context, tool.Args) (*tool.Result, error) { panic("on purpose") },
		},
		&tool.Tool{
			Name: "put", Description: "Keeps a note.", Hints: tool.Hints{Destructive: true, Idempotent: true},
			Params: []tool.Param{{Name: "key", Required: true}, {Name: "value", Required: true, AllowEmpty: true}},
			Run: func(_ context.Context, a tool.Args) (*tool.Result, error) {
				mu.Lock()
				defer mu.Unlock()
				notes[a.String("key")] = a.String("value")
				return &tool.Result{Text: notes[a.String("key")]}, nil
			},
		},
	)
}

func newTestServer(t testing.TB, opts *Options) *Server {
	t.Helper()
	s, err := New(stock(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// peer is a client that reads and writes lines, including invalid ones.
type peer struct {
	t     testing.TB
	w     io.WriteCloser
	r     *bufio.Reader
	ended chan error
	stop  context.CancelFunc
}

// serve starts a server on pipes.
func serve(t testing.TB, s *Server) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	p := &peer{t: t, w: inW, r: bufio.NewReaderSize(outR, 1<<20), ended: make(chan error, 1), stop: cancel}
	go func() {
		err := s.ServeStdio(ctx, inR, outW)
		outW.Close()
		p.ended <- err
	}()
	t.Cleanup(func() { cancel(); inW.Close(); outR.Close() })
	return p
}

func (p *peer) write(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.w, l+"\n"); err != nil {
			p.t.Fatal(err)
		}
	}
}

// message is a JSON-RPC message of any kind.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

func (p *peer) read() message {
	p.t.Helper()
	type got struct {
		line []byte
		err  error
	}
	ch := make(chan got, 1)
	go func() {
		line, err := p.r.ReadBytes('\n')
		ch <- got{line, err}
	}()
	select {
	case g := <-ch:
		if g.err != nil {
			p.t.Fatalf("read: %v", g.err)
		}
		var m message
		if err := json.Unmarshal(g.line, &m); err != nil {
			p.t.Fatalf("the server wrote %q: %v", g.line, err)
		}
		return m
	case <-time.After(time.Minute):
		p.t.Fatal("no answer in a minute")
		panic("unreachable")
	}
}

// ask makes a call and returns its answer.
func (p *peer) ask(id int, method, params string) message {
	p.t.Helper()
	p.write(call(id, method, params))
	for {
		if m := p.read(); string(m.ID) == fmt.Sprint(id) && m.Method == "" {
			return m
		}
	}
}

func call(id int, method, params string) string {
	if params == "" {
		params = "{}"
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

const initParams = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`

const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

func (p *peer) initialize() message {
	p.t.Helper()
	m := p.ask(0, "initialize", initParams)
	p.write(initialized)
	return m
}

// logger collects a server's log messages.
type logger struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logger) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logger) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func newLogger() (*slog.Logger, *logger) {
	l := &logger{}
	return slog.New(slog.NewTextHandler(l, nil)), l
}

type runFunc = func(context.Context, tool.Args) (*tool.Result, error)

// wrap signals when a call starts and when it ends.
func wrap(run runFunc, started chan<- struct{}, ended chan<- time.Time) runFunc {
	return func(ctx context.Context, a tool.Args) (*tool.Result, error) {
		started <- struct{}{}
		defer func() { ended <- time.Now() }()
		return run(ctx, a)
	}
}
