package mcpserver

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"quarry/tool"
)

// A tool is told when the session that called it has ended. It is not told about requests
// without a session.
func TestSessionEnds(t *testing.T) {
	ended := make(chan string, 2)
	reg, err := tool.NewRegistry(&tool.Tool{Name: "stay", Description: "Is told of the end.", Params: []tool.Param{{Name: "name"}}, Run: func(ctx context.Context, a tool.Args) (*tool.Result, error) {
		tool.SessionOf(ctx).OnEnd(func() { ended <- a.String("name") })
		return &tool.Result{Text: "yes"}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(reg, clientOptions())
	if err != nil {
		t.Fatal(err)
	}
	url, _ := listen(t, s, "127.0.0.1:0")
	post := func(body string, header map[string]string) string {
		t.Helper()
		resp, err := raw(t.Context(), url, body, header)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%d %s %v", resp.StatusCode, text, err)
		}
		return resp.Header.Get("Mcp-Session-Id")
	}
	post(call(1, "tools/call", `{"name":"stay","arguments":{"name":"alone"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`),
		map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "stay"})
	header := map[string]string{"Mcp-Session-Id": post(call(1, "initialize", initParams), nil), "Mcp-Protocol-Version": "2025-11-25"}
	post(call(2, "tools/call", `{"name":"stay","arguments":{"name":"session"}}`), header)
	if len(ended) > 0 {
		t.Errorf("%s ended too early", <-ended)
	}
	req, err := http.NewRequest(http.MethodDelete, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := (&http.Client{Transport: bearer{http.DefaultTransport}, Timeout: time.Minute}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	select {
	case name := <-ended:
		if name != "session" {
			t.Errorf("%s ended", name)
		}
	case <-time.After(time.Minute):
		t.Error("the end was not told")
	}
}
