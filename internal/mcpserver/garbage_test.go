package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry/internal/stress"
)

// An invalid line gets an error response, and the session continues.
func TestGarbageLines(t *testing.T) {
	p := serve(t, newTestServer(t, nil))
	p.initialize()
	for _, c := range []struct {
		name, line string
		code       int
		id         string
	}{
		{"not JSON", `hello`, -32700, "null"},
		{"half an object", `{"jsonrpc":"2.0","id":1,`, -32700, "null"},
		{"NUL bytes", "\x00\x00\x00", -32700, "null"},
		{"not UTF-8", "\xff\xfe{}", -32700, "null"},
		{"a string that is not UTF-8", `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"x","arguments":{"path":"a` + "\xff" + `.txt"}}}`, -32700, "8"},
		{"a number", `42`, -32600, "null"},
		{"an empty object", `{}`, -32600, "null"},
		{"a wrong version", `{"jsonrpc":"1.0","id":5,"method":"ping"}`, -32600, "5"},
		{"a wrong method", `{"jsonrpc":"2.0","id":"x","method":7}`, -32600, `"x"`},
		{"an id that is an object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, "null"},
		{"an id with a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, "1.5"},
		{"an id no float holds", `{"jsonrpc":"2.0","id":1e300,"method":"ping"}`, -32600, "1e300"},
		{"an id that a float rounds to 2^53", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, -32600, "9007199254740993"},
		{"the same, negative", `{"jsonrpc":"2.0","id":-9007199254740993,"method":"ping"}`, -32600, "-9007199254740993"},
		{"an id with half of a character", `{"jsonrpc":"2.0","id":"a\ud800","method":"ping"}`, -32600, `"a\ud800"`},
		{"nanoseconds as an id", `{"jsonrpc":"2.0","id":1763274000123456789,"method":"ping"}`, -32600, "1763274000123456789"},
		{"a request whose id is null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, "null"},
		{"two on a line", `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, -32700, "null"},
		{"an empty batch", `[]`, -32600, "null"},
		{"a broken batch", `[{"jsonrpc"`, -32700, "null"},
		{"deep nesting", strings.Repeat("[", 100_000), -32700, "null"},
		{"deep nesting in an object", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}}`, -32700, "null"},
		{"wrong params", `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":[1,2]}`, -32602, "9"},
	} {
		p.write(c.line)
		m := p.read()
		if m.Error == nil || m.Error.Code != c.code || string(m.ID) != c.id {
			t.Errorf("%s: id %s, %+v, want id %s, code %d", c.name, m.ID, m.Error, c.id, c.code)
		}
	}
	p.write("", "   ", "\r")
	if m := p.ask(77, "ping", ""); m.Error != nil {
		t.Errorf("ping after garbage: %+v", m.Error)
	}
}

// A line above the limit does not use more memory than the limit.
func TestHugeLine(t *testing.T) {
	p := serve(t, newTestServer(t, nil))
	p.initialize()
	go func() {
		_, _ = io.WriteString(p.w, `{"jsonrpc":"2.0","id":1,"method":"ping","params":"`)
		chunk := strings.Repeat("x", 1<<20)
		for range 100 {
			_, _ = io.WriteString(p.w, chunk)
		}
		_, _ = io.WriteString(p.w, "\"}\n")
	}()
	if m := p.read(); m.Error == nil || m.Error.Message != "a message is over 16 MB" {
		t.Errorf("100 MB answer %+v", m.Error)
	}
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	if mem.HeapAlloc > 64<<20 {
		t.Errorf("%d MB are in use after a line of 100 MB", mem.HeapAlloc>>20)
	}
	if m := p.ask(2, "ping", ""); m.Error != nil {
		t.Errorf("ping after it: %+v", m.Error)
	}
}

func TestReadLine(t *testing.T) {
	long := strings.Repeat("y", maxMessage+1)
	r := bufio.NewReaderSize(strings.NewReader("one\n"+long+"\ntwo\r\nlast"), 4096)
	for _, want := range []struct {
		text string
		err  error
	}{{"one\n", nil}, {"", errLong}, {"two\r\n", nil}, {"last", nil}, {"", io.EOF}} {
		text, err := readLine(r)
		if string(text) != want.text || err != want.err {
			t.Errorf("readLine = %.20q, %v; want %q, %v", text, err, want.text, want.err)
		}
	}
	if _, err := readLine(bufio.NewReader(strings.NewReader(long))); err != io.EOF {
		t.Errorf("a long line without an end: %v", err)
	}
}

// Old clients send several requests in an array and get one array back.
func TestBatch(t *testing.T) {
	p := serve(t, newTestServer(t, nil))
	p.initialize()
	p.write("[" + call(1, "ping", "") + `,{"jsonrpc":"2.0","method":"notifications/initialized"},` + call(2, "tools/call", `{"name":"echo","arguments":{"text":"x"}}`) + "]")
	line, err := p.r.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var answers []message
	if err := json.Unmarshal(line, &answers); err != nil || len(answers) != 2 {
		t.Fatalf("a batch answers %s: %v", line, err)
	}
}

// A call with the id of a running one is refused, because their responses could not be
// told apart. Calls above the limit are refused, and the rest of the session works.
func TestTooManyCalls(t *testing.T) {
	p := serve(t, newTestServer(t, nil))
	p.initialize()
	p.write(call(1, "tools/call", `{"name":"wait"}`), call(1, "ping", ""))
	if m := p.read(); m.Error == nil || !strings.Contains(m.Error.Message, "under way") {
		t.Errorf("the second call with an id answers %+v", m.Error)
	}
	for id := 2; id <= maxCalls; id++ {
		p.write(call(id, "tools/call", `{"name":"wait"}`))
	}
	p.write(call(5000, "tools/call", `{"name":"wait"}`))
	if m := p.read(); string(m.ID) != "5000" || m.Error == nil || m.Error.Code != codeBusy {
		t.Errorf("call %d answers %s %+v", maxCalls+1, m.ID, m.Error)
	}
	p.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	if m := p.read(); string(m.ID) != "3" {
		t.Errorf("after cancelling 3, %s ended", m.ID)
	}
	if m := p.ask(6000, "ping", ""); m.Error != nil {
		t.Errorf("ping: %+v", m.Error)
	}
}

// fuzzLine returns a request that is more or less invalid.
func fuzzLine(rnd *rand.Rand) []byte {
	methods := []string{"initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read", "resources/templates/list",
		"prompts/list", "prompts/get", "completion/complete", "server/discover", "logging/setLevel", "resources/subscribe",
		"subscriptions/listen", "notifications/cancelled", "notifications/initialized", "notifications/progress", "", "x/y"}
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, fuzzValue(rnd, 0), methods[rnd.IntN(len(methods))], fuzzParams(rnd))
	b := []byte(line)
	switch rnd.IntN(250) {
	case 0: // nesting, above and below the decoder's limit
		n := 1 << (4 + rnd.IntN(12))
		return []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":` + strings.Repeat(`[`, n) + strings.Repeat(`]`, n) + `}}}`)
	case 1: // a long line
		return []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"` + strings.Repeat("x", rnd.IntN(1<<18)) + `"}}}`)
	case 2: // one key twice, at each level
		return []byte(`{"jsonrpc":"2.0","id":3,"id":4,"method":"ping","method":"tools/call","params":{"name":"boom","name":"echo","arguments":{},"arguments":{"text":"a","text":"b"}}}`)
	case 3: // a long batch
		return []byte("[" + strings.Repeat(line+",", rnd.IntN(600)) + line + "]")
	}
	switch rnd.IntN(5) {
	case 0: // change bytes
		for range 1 + rnd.IntN(4) {
			b[rnd.IntN(len(b))] = byte(rnd.IntN(256))
		}
	case 1: // cut
		b = b[:rnd.IntN(len(b))]
	case 2: // repeat a part: duplicate keys
		i := rnd.IntN(len(b))
		b = append(b[:i:i], append(bytes.Clone(b[i:]), b[i:]...)...)
	}
	return bytes.ReplaceAll(b, []byte("\n"), []byte(" "))
}

func fuzzParams(rnd *rand.Rand) string {
	keys := []string{"name", "arguments", "uri", "cursor", "ref", "argument", "_meta", "requestId", "level", "notifications", "protocolVersion", "text", "context"}
	names := []string{`"echo"`, `"count"`, `"boom"`, `"put"`, `"search_files"`, `"any"`, `"file:///ws/a"`, `{"type":"ref/prompt","name":"any"}`,
		`{"type":"ref/resource","uri":"file:///ws/{+path}"}`, `{"name":"path","value":"a"}`, `{"progressToken":1}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`, `{"toolsListChanged":true}`}
	var b strings.Builder
	b.WriteByte('{')
	for i := range rnd.IntN(5) {
		if i > 0 {
			b.WriteByte(',')
		}
		value := fuzzValue(rnd, 0)
		if rnd.IntN(2) == 0 {
			value = names[rnd.IntN(len(names))]
		}
		fmt.Fprintf(&b, "%q:%s", keys[rnd.IntN(len(keys))], value)
	}
	return b.String() + "}"
}

func fuzzValue(rnd *rand.Rand, depth int) string {
	switch n := rnd.IntN(10); {
	case n == 0:
		return "null"
	case n == 1:
		return "1e400"
	case n == 2 && depth < 4:
		return "[" + fuzzValue(rnd, depth+1) + "," + fuzzValue(rnd, depth+1) + "]"
	case n == 3 && depth < 4:
		return `{"a":` + fuzzValue(rnd, depth+1) + "}"
	case n == 4:
		return `"\ud800"`
	case n == 5:
		return `"` + strings.Repeat("é", rnd.IntN(200)) + `"`
	case n == 6:
		return "-0.0"
	}
	return fmt.Sprint(rnd.IntN(1 << 30))
}

// After 10,000 mostly invalid requests the server answers a valid one, and has not kept
// memory for them.
func TestFuzzedRequests(t *testing.T) {
	s := newTestServer(t, nil)
	p := serve(t, s)
	p.initialize()
	answers := make(chan int)
	go func() { // read the answers
		n := 0
		for {
			line, err := p.r.ReadBytes('\n')
			n++
			if err != nil || bytes.Contains(line, []byte(`"id":"last"`)) {
				answers <- n
				return
			}
		}
	}()
	rnd := rand.New(rand.NewPCG(1, 2))
	heap := heapInUse()
	for range stress.N(10_000) {
		p.write(string(fuzzLine(rnd)))
	}
	p.write(`{"jsonrpc":"2.0","id":"last","method":"ping"}`)
	select {
	case n := <-answers:
		t.Logf("10,000 requests, %d answers", n)
	case <-time.After(30 * time.Second):
		t.Fatal("no answer after 10,000 fuzzed requests")
	}
	select {
	case err := <-p.ended:
		t.Fatalf("the session ended: %v", err)
	default:
	}
	if grown := heapInUse() - heap; grown > 32<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
}

// Calls may be cancelled at any time: before they begin, while they run, after their
// answer, twice, or with an unknown id. Every call is answered once or cancelled, and
// nothing leaks.
func TestCancelRaces(t *testing.T) {
	stress.SkipShort(t)
	p := serve(t, newTestServer(t, nil))
	p.initialize()
	answered := map[string]int{}
	done := make(chan error, 1)
	go func() {
		for {
			line, err := p.r.ReadBytes('\n')
			var m message
			if err == nil {
				err = json.Unmarshal(line, &m)
			}
			if err != nil || string(m.ID) == `"last"` {
				done <- err
				return
			}
			answered[string(m.ID)]++
		}
	}()
	rnd := rand.New(rand.NewPCG(5, 6))
	names := []string{`{"name":"wait"}`, `{"name":"echo","arguments":{"text":"x"}}`, `{"name":"search_files"}`}
	var open []int
	cancel := func(id int) {
		p.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
	}
	for id := 1; id <= 3000; id++ {
		which := rnd.IntN(len(names))
		if rnd.IntN(20) == 0 {
			cancel(id) // before it begins
		}
		p.write(call(id, "tools/call", names[which]))
		if which == 0 {
			open = append(open, id)
		}
		for len(open) > 100 || len(open) > 0 && rnd.IntN(2) == 0 {
			i := rnd.IntN(len(open))
			cancel(open[i])
			if rnd.IntN(4) == 0 {
				cancel(open[i])
			}
			open = append(open[:i], open[i+1:]...)
		}
		if rnd.IntN(10) == 0 {
			cancel(rnd.IntN(4000))
		}
	}
	for _, id := range open {
		cancel(id)
	}
	p.write(`{"jsonrpc":"2.0","id":"last","method":"ping"}`)
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("no answer after the cancellations")
	}
	for id, n := range answered {
		if n > 1 {
			t.Errorf("call %s was answered %d times", id, n)
		}
	}
	// On a busy machine more than maxCalls calls may still be ending.
	for id := 9000; ; id++ {
		m := p.ask(id, "tools/call", `{"name":"echo","arguments":{"text":"still here"}}`)
		if m.Error == nil {
			break
		}
		if !strings.Contains(m.Error.Message, "wait for some to end") || id == 19_000 {
			t.Fatalf("a call after them: %+v", m.Error)
		}
	}
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The server neither crashes nor hangs, whatever a client writes.
func FuzzStdio(f *testing.F) {
	f.Add([]byte(call(1, "ping", "")))
	f.Add([]byte(call(1, "initialize", initParams) + "\n" + call(2, "tools/call", `{"name":"echo","arguments":{"text":"x"}}`)))
	f.Add([]byte("[" + call(1, "ping", "") + "]\n[]\n{}\nnull\n\x00"))
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		f.Add(fuzzLine(rnd))
	}
	s := newTestServer(f, &Options{Grace: time.Millisecond})
	f.Fuzz(func(t *testing.T, data []byte) {
		done := make(chan error, 1)
		go func() { done <- s.ServeStdio(context.Background(), bytes.NewReader(data), io.Discard) }()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatal("the server hangs")
		}
	})
}
