package mcpserver

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What the protocol adds to a call with a 20 KB answer: the same call through
// the registry, over stdio and over HTTP.
func BenchmarkCall20KB(b *testing.B) {
	s := newTestServer(b, nil)
	b.Run("registry", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.tools.Call(context.Background(), "search_files", nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("stdio", func(b *testing.B) {
		p := serve(b, s)
		p.initialize()
		line := call(1, "tools/call", `{"name":"search_files","arguments":{}}`) + "\n"
		for b.Loop() {
			if _, err := io.WriteString(p.w, line); err != nil {
				b.Fatal(err)
			}
			if _, err := p.r.ReadSlice('\n'); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("http", func(b *testing.B) {
		url, _ := listen(b, s, "127.0.0.1:0")
		c := connect(b, url, "2025-11-25", nil)
		for b.Loop() {
			if _, err := c.CallTool(context.Background(), &mcp.CallToolParams{Name: "search_files"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The overhead of a call with a 20 KB answer over stdio stays under a
// millisecond, at its best of many: the machine may be busy with other things.
func TestCallOverhead(t *testing.T) {
	if testing.Short() {
		t.Skip("a measurement; the race detector's runs are short")
	}
	p := serve(t, newTestServer(t, nil))
	p.initialize()
	best := time.Hour
	for range 300 {
		began := time.Now()
		p.write(call(1, "tools/call", `{"name":"search_files"}`))
		line, err := p.r.ReadSlice('\n')
		best = min(best, time.Since(began))
		if err != nil || !json.Valid(line) || len(line) < 20_000 {
			t.Fatalf("%d bytes, %v", len(line), err)
		}
	}
	if t.Logf("best of 300: %v", best); best > time.Millisecond {
		t.Errorf("a call with a 20 KB answer takes %v at best", best)
	}
}
