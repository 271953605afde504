package mcpserver

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// longNames returns requests with a name of 100 KB wherever a name is allowed, of letters
// or of characters that become longer when quoted.
func longNames() map[string]string {
	list := map[string]string{}
	for kind, unit := range map[string]string{"letters": "x", "escapes": `\u0001`, "tags": "\U000e0041"} {
		long := strings.Repeat(unit, 100<<10/len(unit))
		list["method of "+kind] = `{"jsonrpc":"2.0","id":1,"method":"` + long + `"}`
		list["tool of "+kind] = call(1, "tools/call", `{"name":"`+long+`","arguments":{}}`)
		list["prompt of "+kind] = call(1, "prompts/get", `{"name":"`+long+`"}`)
		list["address of "+kind] = call(1, "resources/read", `{"uri":"file://`+filepath.ToSlash(wsDir)+`/`+long+`"}`)
		list["other address of "+kind] = call(1, "resources/read", `{"uri":"x:`+long+`"}`)
		list["completion of "+kind] = call(1, "completion/complete", `{"ref":{"type":"`+long+`"},"argument":{"name":"a","value":"b"}}`)
		list["level of "+kind] = call(1, "logging/setLevel", `{"level":"`+long+`"}`)
		list["subscription of "+kind] = call(1, "resources/subscribe", `{"uri":"`+long+`"}`)
		list["cursor of "+kind] = call(1, "tools/list", `{"cursor":"`+long+`"}`)
	}
	// Short, but quoted in Go syntax it isn't valid JSON.
	list["address with a control character"] = call(1, "resources/read", `{"uri":"x:\u0001\u007f"}`)
	return list
}

// An error quotes only a part of a long name. Otherwise the response to a 16 MB call
// would be several times as large.
func TestLongNamesAreNotRepeated(t *testing.T) {
	const most = 8 << 10
	p := serve(t, newTestServer(t, nil))
	p.initialize()
	h := testHandler(t, newTestServer(t, nil), HTTPOptions{})
	session := post(h, call(1, "initialize", initParams), nil).Header().Get("Mcp-Session-Id")
	refused := 0
	for name, line := range longNames() {
		p.write(line)
		m := p.read()
		if m.Error == nil || string(m.ID) != "1" {
			t.Errorf("%s: id %s, %+v", name, m.ID, m.Error)
			continue
		}
		refused++
		if raw, _ := json.Marshal(m); len(raw) > most {
			t.Errorf("%s: %d bytes answer: %.80q", name, len(raw), raw)
		}
		w := post(h, line, map[string]string{"Mcp-Session-Id": session})
		if text := w.Body.String(); !strings.Contains(text, `"error":`) || len(text) > most {
			t.Errorf("%s over HTTP: status %d, %d bytes: %.80q", name, w.Code, len(text), text)
		}
	}
	t.Logf("%d requests refused on both transports", refused)
	if m := p.ask(2, "ping", ""); m.Error != nil {
		t.Errorf("ping afterwards: %+v", m.Error)
	}
}

// An answer that isn't valid JSON is an error of that call only.
func TestAnswerThatCanNotBeWritten(t *testing.T) {
	var out strings.Builder
	c := newLineConn(strings.NewReader(""), &out, time.Second)
	defer c.Close()
	id, err := jsonrpc.MakeID("a\"b")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(t.Context(), &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: 1, Message: "m", Data: json.RawMessage(`"\x01"`)}}); err != nil {
		t.Error(err)
	}
	var m message
	if err := json.Unmarshal([]byte(out.String()), &m); err != nil || string(m.ID) != `"a\"b"` || m.Error == nil || m.Error.Code != -32603 {
		t.Errorf("%q: %v", out.String(), err)
	}
}
