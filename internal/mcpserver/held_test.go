package mcpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"quarry/internal/stress"
)

// largeFiles has a file of 1 MB under every name.
type largeFiles struct {
	mapFiles
	begun atomic.Int64
}

func (f *largeFiles) Read(context.Context, string) (*Content, error) {
	f.begun.Add(1)
	return &Content{Text: strings.Repeat("x", 1<<20)}, nil
}

// Running calls are limited in bytes as well as in number, and so are notifications
// while the client reads nothing: the SDK keeps all of them in memory.
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
		c.accept([]byte(call(7, "ping", ""))) // a small call still fits
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
	t.Run("files", func(t *testing.T) {
		in, out := io.Pipe()
		deaf, heard := io.Pipe()
		files := &largeFiles{}
		s := newTestServer(t, &Options{Grace: 10 * time.Millisecond, Roots: []Root{{Dir: wsDir, Files: files}}})
		ended := make(chan error, 1)
		go func() { ended <- s.ServeStdio(t.Context(), in, heard) }()
		answers := bufio.NewReader(deaf)
		write := func(line string) {
			if _, err := io.WriteString(out, line+"\n"); err != nil {
				t.Error(err)
			}
		}
		write(call(1, "initialize", initParams))
		if _, err := answers.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		const reads = 40
		for i := range reads {
			write(call(i+2, "resources/read", `{"uri":"`+fileURI("/"+strings.TrimPrefix(filepath.ToSlash(wsDir), "/"))+`/a"}`))
		}
		for i := range reads { // each is answered when the client reads
			if n := files.begun.Load(); n > int64(i+maxReads/2+1) {
				t.Fatalf("%d files were read when the client had taken %d", n, i)
			}
			line, err := answers.ReadString('\n')
			if err != nil || len(line) < 1<<20 {
				t.Fatalf("%.200s %v", line, err)
			}
		}
		out.Close()
		<-ended
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
