package mcpserver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestRawHTTP sends requests that no client library sends: contradictory lengths, unusual
// spellings of Host, upgrades, pipelined requests. The first response has the expected
// status, or the connection is closed without one.
func TestRawHTTP(t *testing.T) {
	ln, token := serving(t)
	port := ln.Addr().(*net.TCPAddr).Port
	body := call(1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	chunked := "Transfer-Encoding: chunked\r\n"
	chunks := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	host := fmt.Sprintf("Host: 127.0.0.1:%d\r\n", port)
	auth := "Authorization: Bearer " + token + "\r\n"
	kind := "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
	post := func(headers, body string) string {
		return "POST /mcp HTTP/1.1\r\n" + headers + kind + "\r\n" + body
	}
	named := func(name string) string { return post("Host: "+name+"\r\n"+auth+length, body) }
	from := func(origin string) string { return post(host+auth+"Origin: "+origin+"\r\n"+length, body) }
	ask := func(line, headers string) string { return line + " HTTP/1.1\r\n" + host + auth + headers + "\r\n" }
	let, refused := 0, 0
	for _, c := range []struct {
		name, send string
		want       int
	}{
		{"as it should be", post(host+auth+length, body), 200},
		{"chunks", post(host+auth+chunked, chunks), 200},
		{"the same length twice", post(host+auth+length+length, body), 200},
		{"two lengths", post(host+auth+length+"Content-Length: 5\r\n", body), 400},
		{"a negative length", post(host+auth+"Content-Length: -1\r\n", body), 400},
		{"a length with a sign", post(host+auth+"Content-Length: +5\r\n", body), 400},
		{"a length of 20 digits", post(host+auth+"Content-Length: 99999999999999999999\r\n", body), 400},
		{"a length of 17 MB", post(host+auth+"Content-Length: 17825792\r\n", body), 413},
		{"a length that is too small", post(host+auth+"Content-Length: 10\r\n", body), 400},
		{"an unknown encoding", post(host+auth+"Transfer-Encoding: xchunked\r\n", chunks), 501},
		{"a chunk with an extension of 1 MB", post(host+auth+chunked, "1;"+strings.Repeat("x", 1<<20)+"\r\n{\r\n0\r\n\r\n"), 400},
		{"a body as gzip", post(host+auth+"Content-Encoding: gzip\r\n"+length, body), 415},
		{"a body in two encodings", post(host+auth+"Content-Encoding: identity\r\nContent-Encoding: br\r\n"+length, body), 415},
		{"a body as it is", post(host+auth+"Content-Encoding: identity\r\n"+length, body), 200},
		{"the token in a trailer", post(host+"Trailer: Authorization\r\n"+chunked, strings.TrimSuffix(chunks, "\r\n")+auth+"\r\n"), 401},
		{"no token", post(host+length, body), 401},
		{"two tokens", post(host+"Authorization: Bearer x\r\n"+auth+length, body), 401},
		{"a space before the colon", post(host+"Authorization : Bearer "+token+"\r\n"+length, body), 400},
		{"NUL in a header", post(host+auth+"X: a\x00b\r\n"+length, body), 400},
		{"2 MB of headers", post(host+auth+"X: "+strings.Repeat("x", 2<<20)+"\r\n"+length, body), 431},
		{"no Host", post(auth+length, body), 400},
		{"two Hosts", post(host+"Host: evil.example\r\n"+auth+length, body), 400},
		{"HTTP/1.0 without a Host", "POST /mcp HTTP/1.0\r\n" + auth + kind + length + "\r\n" + body, 403},
		{"HTTP/0.9", "GET /mcp\r\n\r\n", 400},
		{"HTTP/2 at once", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 403},
		{"Host in capitals", named(fmt.Sprintf("LOCALHOST:%d", port)), 200},
		{"Host of another", named("evil.example"), 403},
		{"Host that begins as ours", named("127.0.0.1.evil.example"), 403},
		{"Host with a final dot", named("localhost."), 403},
		{"Host as a number", named("2130706433"), 403},
		{"Host in short", named("127.1"), 403},
		{"Host in hexadecimal", named("0x7f.1"), 403},
		{"Host 0.0.0.0", named("0.0.0.0"), 403},
		{"an empty Host", named(""), 403},
		{"Host with a user", named("127.0.0.1@evil.example"), 400},
		{"Host with a fragment", named("evil.example#127.0.0.1"), 400},
		{"two Hosts in one", named("127.0.0.1, evil.example"), 400},
		{"another in the target", "POST http://evil.example/mcp HTTP/1.1\r\n" + host + auth + kind + length + "\r\n" + body, 403},
		{"Origin null", from("null"), 403},
		{"Origin of a file", from("file://"), 403},
		{"Origin of an extension", from("chrome-extension://abc"), 403},
		{"Origin that begins as ours", from(fmt.Sprintf("http://localhost:%d.evil.example", port)), 403},
		{"two Origins", from(fmt.Sprintf("http://127.0.0.1:%d\r\nOrigin: http://evil.example", port)), 403},
		{"websocket", ask("GET /mcp", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"), 400},
		{"h2c", ask("GET /mcp", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"), 400},
		{"TRACE", ask("TRACE /mcp", ""), 405},
		{"CONNECT", ask("CONNECT /mcp", ""), 405},
		{"PUT", ask("PUT /mcp", ""), 405},
		{"a path with ..", ask("GET /x/../mcp", ""), 404},
	} {
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.WriteString(conn, c.send) }() // the response may come before everything was read
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		got := 0
		if err == nil {
			got = resp.StatusCode
		}
		if got != c.want {
			t.Errorf("%s: %d, want %d (%v)", c.name, got, c.want, err)
		}
		if conn.Close(); got == 200 {
			let++
		} else {
			refused++
		}
	}
	t.Logf("%d let in, %d refused", let, refused)
}

// A request without a token is refused after one with a token on the same connection.
func TestPipelinedWithoutToken(t *testing.T) {
	ln, token := serving(t)
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	one := func(auth string) string {
		return "PUT /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n" + auth + "\r\n"
	}
	if _, err := io.WriteString(conn, one("Authorization: Bearer "+token+"\r\n")+one("")); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	for i, want := range []int{http.StatusMethodNotAllowed, http.StatusUnauthorized} {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != want {
			t.Errorf("answer %d: %d, want %d (%v)", i+1, resp.StatusCode, want, err)
		}
	}
}
