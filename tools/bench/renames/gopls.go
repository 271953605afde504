package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// server is a gopls process that has opened one tree. It is used by the language server protocol,
// one call at a time.
type server struct {
	dir    string
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	called int
}

// start starts gopls and opens a tree in it.
func start(program, dir string) (*server, error) {
	s := &server{dir: dir, cmd: exec.Command(program, "serve")}
	s.cmd.Dir = dir
	s.cmd.Stderr = os.Stderr
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	root := address(dir)
	hello := map[string]any{
		"processId": os.Getpid(), "rootUri": root, "capabilities": map[string]any{},
		"workspaceFolders": []any{map[string]any{"uri": root, "name": filepath.Base(dir)}},
	}
	if _, err := s.call("initialize", hello); err != nil {
		s.stop()
		return nil, err
	}
	if err := s.send(map[string]any{"method": "initialized", "params": map[string]any{}}); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *server) stop() {
	s.in.Close()
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

func address(p string) string { return (&url.URL{Scheme: "file", Path: filepath.ToSlash(p)}).String() }

func (s *server) send(m map[string]any) error {
	m["jsonrpc"] = "2.0"
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// message is a message from gopls, which is an answer, a request or a notification.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

func (s *server) read() (*message, error) {
	length := 0
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			if length, err = strconv.Atoi(n); err != nil {
				return nil, err
			}
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(s.out, body); err != nil {
		return nil, err
	}
	m := &message{}
	return m, json.Unmarshal(body, m)
}

// refusal is gopls's error that it can't make a rename.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// call sends a request and waits for the answer. Meanwhile it answers gopls's own requests with
// empty results.
func (s *server) call(method string, params any) (json.RawMessage, error) {
	s.called++
	id := strconv.Itoa(s.called)
	if err := s.send(map[string]any{"id": s.called, "method": method, "params": params}); err != nil {
		return nil, err
	}
	hung := time.AfterFunc(10*time.Minute, func() { s.cmd.Process.Kill() })
	defer hung.Stop()
	for {
		m, err := s.read()
		if err != nil {
			return nil, fmt.Errorf("gopls, %s: %w", method, err)
		}
		switch {
		case m.Method != "" && len(m.ID) > 0:
			var answer any
			if m.Method == "workspace/configuration" {
				answer = []any{nil}
			}
			if err := s.send(map[string]any{"id": m.ID, "result": answer}); err != nil {
				return nil, err
			}
		case string(m.ID) == id && m.Error != nil:
			return nil, &refusal{m.Error.Message}
		case string(m.ID) == id:
			return m.Result, nil
		}
	}
}

// rename returns the places that gopls would rename for the name at an offset of a file. It omits
// places in comments.
func (s *server) rename(file string, at int, fresh string) (map[place]bool, error) {
	line, column, err := position(filepath.Join(s.dir, file), at)
	if err != nil {
		return nil, err
	}
	answer, err := s.call("textDocument/rename", map[string]any{
		"textDocument": map[string]any{"uri": address(filepath.Join(s.dir, file))},
		"position":     map[string]any{"line": line, "character": column}, "newName": fresh,
	})
	if err != nil {
		return nil, err
	}
	type edits struct {
		TextDocument struct{ URI string }
		Edits        []struct {
			Range   struct{ Start struct{ Line, Character int } }
			NewText string
		}
	}
	var all struct {
		Changes         map[string]json.RawMessage
		DocumentChanges []edits
	}
	if err := json.Unmarshal(answer, &all); err != nil {
		return nil, err
	}
	for uri, raw := range all.Changes {
		var one edits
		one.TextDocument.URI = uri
		if err := json.Unmarshal(raw, &one.Edits); err != nil {
			return nil, err
		}
		all.DocumentChanges = append(all.DocumentChanges, one)
	}
	found := map[place]bool{}
	for _, d := range all.DocumentChanges {
		u, err := url.Parse(d.TextDocument.URI)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(s.dir, filepath.FromSlash(u.Path))
		if err != nil {
			return nil, err
		}
		names, text, err := identifiers(filepath.FromSlash(u.Path))
		if err != nil {
			return nil, err
		}
		for _, e := range d.Edits {
			off := offset(text, e.Range.Start.Line, e.Range.Start.Character)
			if names[off] {
				found[place{filepath.ToSlash(rel), off}] = true
			}
		}
	}
	return found, nil
}

// identifiers returns the offsets of the identifiers in a file, found by Go's scanner, and the
// text.
func identifiers(file string) (map[int]bool, []byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	set := token.NewFileSet()
	f := set.AddFile(file, -1, len(text))
	var s scanner.Scanner
	s.Init(f, text, nil, 0)
	names := map[int]bool{}
	for {
		pos, tok, _ := s.Scan()
		switch tok {
		case token.EOF:
			return names, text, nil
		case token.IDENT:
			names[f.Offset(pos)] = true
		}
	}
}

// position converts an offset to the protocol's line and column, which is in UTF-16 units.
func position(file string, at int) (line, column int, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, 0, err
	}
	if at > len(text) {
		return 0, 0, errors.New("the place is after the end of the file")
	}
	from := bytes.LastIndexByte(text[:at], '\n') + 1
	for _, r := range string(text[from:at]) {
		column += 1 + b2i(r > 0xffff)
	}
	return bytes.Count(text[:at], []byte{'\n'}), column, nil
}

// offset converts a line and column of the protocol to an offset.
func offset(text []byte, line, column int) int {
	at := 0
	for range line {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	for column > 0 && at < len(text) {
		r, n := utf8.DecodeRune(text[at:])
		column -= 1 + b2i(r > 0xffff)
		at += n
	}
	return at
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
