package mcpserver

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"quarry/internal/stress"
)

// Running calls are limited by size as well as by number. So are notifications while the
// client doesn't read, because the SDK keeps them in memory.
func TestHeldMessages(t *testing.T) {
	stress.SkipTiny(t)
	t.Run("calls", func(t *testing.T) {
		c := newLineConn(strings.NewReader(""), io.Discard, time.Millisecond)
		defer c.Close()
		c.room = 64 << 10
		large := func(id int) []byte {
			return []byte(call(id, "tools/call", `{"name":"wait","_meta":{"pad":"`+strings.Repeat("x", 16000)+`"}}`))
		}
		for id := 1; id <= 6; id++ {
			c.accept(large(id))
		}
		c.accept([]byte(call(7, "ping", ""))) // a small call is still accepted
		if len(c.queue) != 5 || len(c.calls) != 5 {
			t.Fatalf("of 6 calls of 16 KB, with room for 64, and a small one %d are under way, want 4 and the small one", len(c.queue))
		}
		first := c.queue[0].(*jsonrpc.Request).ID
		if err := c.Write(t.Context(), &jsonrpc.Response{ID: first, Result: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
		if c.accept(large(8)); len(c.queue) != 6 {
			t.Error("a call is refused though one has ended")
		}
	})
	t.Run("notifications", func(t *testing.T) {
		in, out := io.Pipe()
		deaf, heard := io.Pipe() // unread
		s := newTestServer(t, &Options{Grace: 10 * time.Millisecond})
		ended := make(chan error, 1)
		go func() { ended <- s.ServeStdio(t.Context(), in, heard) }()
		before := heapInUse()
		for i := range 400 {
			line := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":1,"message":"%s"}}`, i, strings.Repeat("x", 100<<10))
			if i == 0 {
				line = strings.Join([]string{call(1, "initialize", initParams), initialized, call(2, "ping", "")}, "\n")
			}
			if _, err := io.WriteString(out, line+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		if more := heapInUse() - before; more > 24<<20 {
			t.Errorf("400 notifications of 100 KB take %d MB", more>>20)
		}
		out.Close()
		deaf.Close()
		<-ended
	})
}
