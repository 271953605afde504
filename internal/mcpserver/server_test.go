package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/stress"
	"quarry/tool"
)

// Clients receive a tool's exact schema, its title and correct annotations.
func TestToolsList(t *testing.T) {
	p := serve(t, newTestServer(t, &Options{Version: "v9", Instructions: "Search first.", Structured: true}))
	hello := p.initialize()
	for _, want := range []string{`"protocolVersion":"2025-11-25"`, `"name":"quarry"`, `"version":"v9"`, `"instructions":"Search first."`, `"tools":{}`} {
		if !strings.Contains(string(hello.Result), want) {
			t.Errorf("initialize answers %s, want %s in it", hello.Result, want)
		}
	}
	for _, no := range []string{"logging", "listChanged", "subscribe", `"resources"`} {
		if strings.Contains(string(hello.Result), no) {
			t.Errorf("initialize promises %s: %s", no, hello.Result)
		}
	}
	var list struct {
		Tools []struct {
			Name, Title  string
			InputSchema  json.RawMessage
			OutputSchema json.RawMessage
			Annotations  json.RawMessage
		}
	}
	m := p.ask(1, "tools/list", "")
	if err := json.Unmarshal(m.Result, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 6 {
		t.Fatalf("%d tools, want 6", len(list.Tools))
	}
	for _, tl := range list.Tools {
		want := stock(t).Lookup(tl.Name)
		if string(tl.InputSchema) != string(want.InputSchema()) {
			t.Errorf("%s: input schema %s, want %s", tl.Name, tl.InputSchema, want.InputSchema())
		}
		hints := fmt.Sprintf(`{"destructiveHint":%v,"idempotentHint":%v,"openWorldHint":false,"readOnlyHint":%v`,
			want.Hints.Destructive, want.Hints.Idempotent, want.Hints.ReadOnly)
		if want.Hints.ReadOnly { // then the other hint is omitted
			hints = strings.Replace(hints, `"destructiveHint":false,`, "", 1)
		}
		if !strings.HasPrefix(string(tl.Annotations), hints) {
			t.Errorf("%s: annotations %s, want %s", tl.Name, tl.Annotations, hints)
		}
		if (tl.OutputSchema != nil) != (want.OutputSchema != nil) || tl.Title != want.Title {
			t.Errorf("%s: output schema %s, title %q", tl.Name, tl.OutputSchema, tl.Title)
		}
	}
}

// TestCall checks the text and structured form of results and errors, panics, and unknown
// tools.
func TestCall(t *testing.T) {
	for _, structured := range []bool{true, false} {
		t.Run(fmt.Sprintf("structured=%v", structured), func(t *testing.T) { testCall(t, structured) })
	}
}

// structure matches a result's structured form, which only some clients request.
var structure = regexp.MustCompile(`,"structuredContent":(\{"error":\{.*?\}\}|\{.*?\})`)

func testCall(t *testing.T, structured bool) {
	log, lines := newLogger()
	p := serve(t, newTestServer(t, &Options{Logger: log, Structured: structured}))
	p.initialize()
	for i, c := range []struct{ name, params, want string }{
		{"text and structure", `{"name":"echo","arguments":{"text":"a b"}}`,
			`{"content":[{"type":"text","text":"a b"}],"structuredContent":{"length":3,"text":"a b"}}`},
		{"an error is a result", `{"name":"echo","arguments":{"text":"fail"}}`,
			`{"content":[{"type":"text","text":"Error: nothing is called fail\nTry another text."}],"structuredContent":{"error":{"code":"NOT_FOUND","message":"nothing is called fail","hint":"Try another text."}},"isError":true}`},
		{"so is a bad argument", `{"name":"echo","arguments":{"txt":"x"}}`,
			`{"content":[{"type":"text","text":"Error: unknown parameter \"txt\"; did you mean \"text\"?\nKnown parameters: text."}],"structuredContent":{"error":{"code":"INVALID_ARGUMENT","message":"unknown parameter \"txt\"; did you mean \"text\"?","hint":"Known parameters: text."}},"isError":true}`},
		{"no arguments at all", `{"name":"put"}`,
			`{"content":[{"type":"text","text":"Error: key is required and must be a non-empty string."}],"structuredContent":{"error":{"code":"INVALID_ARGUMENT","message":"key is required and must be a non-empty string."}},"isError":true}`},
		{"a panic too", `{"name":"boom"}`,
			`{"content":[{"type":"text","text":"Error: boom failed unexpectedly: on purpose\nThis is a bug of the tool. Other calls are not affected."}],"structuredContent":{"error":{"code":"IO_ERROR","message":"boom failed unexpectedly: on purpose","hint":"This is a bug of the tool. Other calls are not affected."}},"isError":true}`},
	} {
		if !structured {
			c.want = structure.ReplaceAllString(c.want, "")
		}
		m := p.ask(i+1, "tools/call", c.params)
		if string(m.Result) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, m.Result, c.want)
		}
	}
	m := p.ask(99, "tools/call", `{"name":"search_file"}`)
	if m.Error == nil || m.Error.Code != -32602 || m.Error.Message != `unknown tool "search_file"; did you mean search_files?` {
		t.Errorf("an unknown tool answers %+v", m.Error)
	}
	if m = p.ask(100, "nothing/here", ""); m.Error == nil || m.Error.Code != -32601 {
		t.Errorf("an unknown method answers %+v", m.Error)
	}
	if m = p.ask(101, "ping", ""); m.Error != nil {
		t.Errorf("ping after all this: %+v", m.Error)
	}
	if s := lines.String(); s != "" {
		t.Errorf("logged %s", s)
	}
}

// The newest protocol needs no handshake. Both generations work on one connection.
func TestStatelessStdio(t *testing.T) {
	p := serve(t, newTestServer(t, nil))
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	m := p.ask(1, "server/discover", "{"+meta+"}")
	if !strings.Contains(string(m.Result), `"2026-07-28"`) || !strings.Contains(string(m.Result), `"2025-11-25"`) {
		t.Errorf("server/discover answers %s, %+v", m.Result, m.Error)
	}
	m = p.ask(2, "tools/call", `{"name":"echo","arguments":{"text":"x"},`+meta+`}`)
	if !strings.Contains(string(m.Result), `"text":"x"`) {
		t.Errorf("tools/call answers %s, %+v", m.Result, m.Error)
	}
}

// A cancelled call ends, using at most 50 ms of processor time, and other calls continue.
func TestCancel(t *testing.T) {
	p := serve(t, newTestServer(t, nil))
	p.initialize()
	best := time.Hour
	for id := 10; id < 15; id++ {
		p.write(call(id, "tools/call", `{"name":"wait"}`))
		if m := p.ask(100+id, "ping", ""); m.Error != nil {
			t.Fatalf("ping beside a long call: %+v", m.Error)
		}
		began := stress.CPU()
		p.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"enough"}}`, id))
		m := p.read()
		best = min(best, stress.CPU()-began)
		if string(m.ID) != fmt.Sprint(id) || !strings.Contains(string(m.Result), "cancelled") {
			t.Errorf("got %s %s", m.ID, m.Result)
		}
	}
	if best > 50*time.Millisecond {
		t.Errorf("a cancellation cost %v at best", best)
	}
}

// Progress is sent only on request, with increasing values, not too often, and before the
// answer.
func TestProgress(t *testing.T) {
	p := serve(t, newTestServer(t, nil))
	p.initialize()
	p.write(call(1, "tools/call", `{"name":"count","arguments":{"to":100000},"_meta":{"progressToken":"tok"}}`))
	last, n := 0.0, 0
	for {
		m := p.read()
		if m.Method == "" {
			break
		}
		var note struct {
			ProgressToken   string
			Progress, Total float64
			Message         string
		}
		if err := json.Unmarshal(m.Params, &note); err != nil {
			t.Fatal(err)
		}
		if m.Method != "notifications/progress" || note.ProgressToken != "tok" || note.Progress <= last || note.Total != 100000 {
			t.Errorf("%s %s after %v", m.Method, m.Params, last)
		}
		last, n = note.Progress, n+1
	}
	if last != 100000 || n < 2 || n > 100 {
		t.Errorf("%d reports, the last %v; want a few, the last 100000", n, last)
	}
	p.write(call(2, "tools/call", `{"name":"count"}`))
	if m := p.read(); m.Method != "" {
		t.Errorf("unrequested progress: %s", m.Params)
	}
}

// Reports of a goroutine that outlives its call are dropped.
func TestProgressEnds(t *testing.T) {
	n := 0
	p := &progress{send: func(int64, int64, string) { n++ }}
	p.report(1, 0, "")
	p.end()
	p.report(5, 5, "")
	if n != 1 {
		t.Errorf("%d reports were sent, want 1", n)
	}
}

// A call that waits for a person after it has counted files still reports that.
func TestProgressOfMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		p := &progress{send: func(done, total int64, message string) {
			got = append(got, fmt.Sprint(done, total, message))
		}}
		p.report(2000, 6000, "counted")
		for range 2 {
			time.Sleep(10 * time.Second)
			p.report(0, 0, "waits")
			time.Sleep(time.Second)
			p.report(2000, 6000, "counted") // it must increase
		}
		if want := []string{"2000 6000counted", "2001 0waits", "2002 0waits"}; !slices.Equal(got, want) {
			t.Errorf("sent %q, want %q", got, want)
		}
	})
}

// When the input ends or a signal arrives, running calls are still answered.
func TestShutdown(t *testing.T) {
	stress.SkipTiny(t)
	t.Run("end of input", func(t *testing.T) {
		p := serve(t, newTestServer(t, nil))
		go func() {
			p.write(call(0, "initialize", initParams), initialized, call(1, "tools/call", `{"name":"echo","arguments":{"text":"x"}}`))
			p.w.Close()
		}()
		for _, id := range []string{"0", "1"} {
			if m := p.read(); string(m.ID) != id || m.Error != nil {
				t.Errorf("got %s %+v, want the answer to %s", m.ID, m.Error, id)
			}
		}
		waitEnd(t, p, nil)
	})
	t.Run("signal", func(t *testing.T) {
		p := serve(t, newTestServer(t, nil))
		p.initialize()
		p.stop()
		waitEnd(t, p, nil)
	})
	t.Run("a call that waits is cancelled after the grace", func(t *testing.T) {
		// After the grace period, a call has the same time again to end; 20 ms would be
		// too short on a busy machine.
		p := serve(t, newTestServer(t, &Options{Grace: time.Second}))
		p.initialize()
		p.write(call(1, "tools/call", `{"name":"wait"}`))
		p.ask(2, "ping", "")
		p.stop()
		waitEnd(t, p, nil)
	})
	for _, how := range []string{"end of input", "signal"} {
		t.Run("a call that never ends, "+how, func(t *testing.T) {
			release := make(chan struct{})
			t.Cleanup(func() { close(release) })
			tools, err := tool.NewRegistry(&tool.Tool{Name: "deaf", Description: "Hears no cancellation.", Run: func(context.Context, tool.Args) (*tool.Result, error) {
				<-release
				return &tool.Result{}, nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			s, err := New(tools, &Options{Version: "test", Grace: 100 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			p := serve(t, s)
			p.initialize()
			p.write(call(1, "tools/call", `{"name":"deaf"}`))
			p.ask(2, "ping", "")
			if how == "signal" {
				p.stop()
			} else {
				p.w.Close()
			}
			waitEnd(t, p, ErrUnended)
		})
	}
}

func waitEnd(t *testing.T, p *peer, want error) {
	t.Helper()
	select {
	case err := <-p.ended:
		if err != want {
			t.Errorf("the server ended with %v, want %v", err, want)
		}
	case <-time.After(time.Minute):
		t.Fatal("the server did not end")
	}
}

func TestNewRefuses(t *testing.T) {
	reg := stock(t)
	reg.Lookup("echo").OutputSchema = json.RawMessage(`[`)
	if _, err := New(reg, nil); err == nil {
		t.Error("a broken output schema was accepted")
	}
}

// Clients on Windows spell a file's URI in several ways.
func TestFileAddresses(t *testing.T) {
	for _, c := range []struct{ uri, want, windows string }{
		{"file:///w/a%20b.md", "/w/a b.md", "/w/a b.md"},
		{"file://localhost/w/a", "/w/a", "/w/a"},
		{"file:///c%3A/w/a", "/c:/w/a", "/c:/w/a"},
		{"file:///C:/w/a", "/C:/w/a", "/C:/w/a"},
		{"file://C:/w/a", "", "/C:/w/a"},
		{`file://C:\w\a`, "", "/C:/w/a"},
		{"file://server/share/a", "", "//server/share/a"},
		{"http://localhost/w/a", "", ""},
	} {
		want := c.want
		if runtime.GOOS == "windows" {
			want = c.windows
		}
		if got, ok := filePath(c.uri); got != want || ok != (want != "") {
			t.Errorf("filePath(%q) = %q, %v, want %q", c.uri, got, ok, want)
		}
	}
}

// wsDir is an absolute path on this system.
var wsDir, _ = filepath.Abs("/ws")

// Calls on one connection share a session; other connections have other sessions.
func TestSessions(t *testing.T) {
	seen := make(chan tool.Client, 1)
	reg, err := tool.NewRegistry(&tool.Tool{Name: "who", Description: "Tells who calls.", Run: func(ctx context.Context, _ tool.Args) (*tool.Result, error) {
		seen <- tool.ClientOf(ctx)
		return &tool.Result{Text: "ok"}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(reg, nil)
	if err != nil {
		t.Fatal(err)
	}
	one, two := serve(t, s), serve(t, s)
	one.initialize()
	two.initialize()
	who := func(p *peer, id int) tool.Client {
		p.ask(id, "tools/call", `{"name":"who","arguments":{}}`)
		return <-seen
	}
	first, second, other := who(one, 1), who(one, 2), who(two, 1)
	if first != second || first.Name != "test" || len(first.Session) < 8 || other.Session == first.Session || other.Session == "" {
		t.Errorf("one connection %+v and %+v, another %+v", first, second, other)
	}
}
