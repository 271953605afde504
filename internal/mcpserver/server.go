// Package mcpserver speaks the Model Context Protocol for a tool.Registry, over
// stdio and over HTTP. It is the only importer of the MCP SDK.
//
// It knows tools and files through small interfaces and never sees a
// workspace. Nothing a client sends ends the process: a garbage line, a huge
// one, an unknown method and a panicking handler are all answers, and the next
// request is served.
package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/fault"
	"quarry/internal/crew"
	"quarry/tool"
)

// maxMessage bounds one message, a line of stdio or a body of HTTP. A file
// that write_file is given travels in one; the SDK's own limit for a line is
// the same.
const maxMessage = 16 << 20

// maxCalls bounds the calls a server works on at once. More are refused with an
// error and not queued, so that memory is bounded and the client knows.
const maxCalls = 512

// DefaultGrace is a second for calls to be answered, and 600 ms for those that are
// cancelled then to end. With what is left of two seconds the process closes what it
// uses.
const DefaultGrace = 1600 * time.Millisecond

// Options of New; nil is the zero value.
type Options struct {
	Version string // of the program
	// Instructions tell a model which tool is for what, and the policy.
	Instructions string
	// Structured gives every result its structured form beside the text, and
	// every tool the schema of it. Some clients (Claude Code, Copilot, VS Code,
	// Codex) show the model nothing else then, so the text should be the same.
	Structured bool
	// Connected is called when a client has said who it is, and Called for each call
	// of a tool, before it is answered; nil is fine.
	Connected func(tool.Client)
	Called    func(tool.Client, *tool.Tool)
	// Answered is called for each call that was answered; nil is fine.
	Answered func(Answer)
	// Logger gets messages about failures; nil logs nothing.
	Logger *slog.Logger
	// Grace is how long calls under way may take to end once the server is
	// told to stop; 0 is DefaultGrace.
	Grace time.Duration
}

// Answer is a call of a tool that was answered.
type Answer struct {
	Client    tool.Client
	Tool      *tool.Tool
	Arguments json.RawMessage
	Began     time.Time
	Bytes     int        // of the text
	Code      fault.Code // of an error; "" if it succeeded
}

// Server serves one set of tools to any number of clients.
type Server struct {
	tools      *tool.Registry
	sdk        *mcp.Server
	log        *slog.Logger
	grace      time.Duration
	structured bool
	connected  func(tool.Client)
	called     func(tool.Client, *tool.Tool)
	answered   func(Answer)
	calls      sessionCalls
	sessions   sessions
	held       heldCalls
}

// New makes a server of the tools of a registry.
func New(tools *tool.Registry, opts *Options) (*Server, error) { return newServer(tools, opts, nil) }

// newServer lets the conformance test change what the SDK is told.
func newServer(tools *tool.Registry, opts *Options, change func(*mcp.ServerOptions)) (*Server, error) {
	opts = cmp.Or(opts, &Options{})
	s := &Server{tools: tools, log: opts.Logger, grace: opts.Grace, structured: opts.Structured, connected: opts.Connected, called: opts.Called, answered: opts.Answered}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.grace = cmp.Or(s.grace, DefaultGrace)
	settings := &mcp.ServerOptions{
		Instructions: opts.Instructions,
		Logger:       slog.New(atLeast{s.log.Handler(), slog.LevelWarn}),
		// Answers depend on the owner's policy, so they must not be cached by
		// others.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
		// The lists of a server don't change while it runs, and it doesn't send
		// logs, so neither capability is announced.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	}
	if change != nil {
		change(settings)
	}
	s.sdk = mcp.NewServer(&mcp.Implementation{Name: "quarry", Title: "Quarry", Version: opts.Version}, settings)
	s.sdk.AddReceivingMiddleware(s.guard)
	for _, t := range tools.Tools() {
		definition, err := s.definition(t)
		if err != nil {
			return nil, err
		}
		s.sdk.AddTool(definition, s.call)
	}
	return s, nil
}

// definition is a tool as the protocol describes it.
func (s *Server) definition(t *tool.Tool) (*mcp.Tool, error) {
	no, destructive := false, t.Hints.Destructive
	d := &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema(),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.Hints.ReadOnly, IdempotentHint: t.Hints.Idempotent, OpenWorldHint: &no},
	}
	if !t.Hints.ReadOnly { // the hint has no meaning otherwise, and takes room in every conversation
		d.Annotations.DestructiveHint = &destructive
	}
	if t.OutputSchema == nil {
		return d, nil
	}
	schema, err := orError(t.OutputSchema)
	if err != nil {
		return nil, fmt.Errorf("output schema of %s: %w", t.Name, err)
	}
	if s.structured {
		d.OutputSchema = schema
	}
	return d, nil
}

// orError makes a schema that an error result satisfies too. Clients differ:
// the TypeScript SDK checks the structure of error results like any other, so
// the schema has to allow it. What the schema defines moves to the top, where
// its references look for it.
func orError(schema json.RawMessage) (json.RawMessage, error) {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(schema, &parts); err != nil {
		return nil, err
	}
	whole := map[string]json.RawMessage{"type": json.RawMessage(`"object"`)}
	hoisted := false
	for _, key := range []string{"$schema", "$defs", "definitions"} {
		if v, ok := parts[key]; ok {
			whole[key] = v
			delete(parts, key)
			hoisted = true
		}
	}
	if hoisted {
		rest, err := json.Marshal(parts)
		if err != nil {
			return nil, err
		}
		schema = rest
	}
	either, err := json.Marshal([]json.RawMessage{schema, json.RawMessage(tool.ErrorSchema)})
	if err != nil {
		return nil, err
	}
	whole["anyOf"] = either
	return json.Marshal(whole)
}

// clientInfo is the name that the client gave. If it gave one at the start of the
// session, a call can't change it, because otherwise a client could avoid the
// review of its changes.
func clientInfo(req *mcp.CallToolRequest) *mcp.Implementation {
	if req.Session != nil {
		if p := req.Session.InitializeParams(); p != nil && p.ClientInfo != nil {
			return p.ClientInfo
		}
	}
	return req.ClientInfo()
}

// call runs a tool, or goes on with a call whose client was sent to a page.
func (s *Server) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if key := req.Params.RequestState; key != "" {
		return s.held.resume(ctx, key)
	}
	run := func(ctx context.Context) (*mcp.CallToolResult, error) { return s.run(ctx, req) }
	if req.Session != nil && opensPages(req) {
		return s.offering(ctx, req, run)
	}
	return run(ctx)
}

// run runs a tool.
func (s *Server) run(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx, done := withProgress(ctx, req)
	defer done()
	if req.Session != nil {
		var end func()
		ctx, end = s.calls.begin(ctx, req.Session.ID())
		defer end()
		ctx = withFolders(tool.WithSession(ctx, s.sessions.of(req.Session)), req.Session)
	}
	if info := clientInfo(req); info != nil {
		client := tool.Client{Name: info.Name, Version: info.Version}
		if session := tool.SessionOf(ctx); session != nil { // over stateless HTTP each request is one
			client.Session = session.ID
		}
		ctx = tool.WithClient(ctx, client)
	}
	if t := s.tools.Lookup(req.Params.Name); s.called != nil && t != nil {
		s.called(tool.ClientOf(ctx), t)
	}
	began := time.Now()
	res, err := s.tools.Call(ctx, req.Params.Name, req.Params.Arguments)
	if t := s.tools.Lookup(req.Params.Name); s.answered != nil && t != nil && err == nil {
		s.answered(Answer{tool.ClientOf(ctx), t, req.Params.Arguments, began, len(res.Text), res.Code})
	}
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	out := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: res.Text}}, IsError: res.IsError}
	for _, img := range res.Images {
		out.Content = append(out.Content, &mcp.ImageContent{MIMEType: img.MIMEType, Data: img.Data})
	}
	if s.structured && res.Structured != nil {
		data, err := json.Marshal(res.Structured)
		if err != nil {
			return nil, fmt.Errorf("result of %s: %w", req.Params.Name, err)
		}
		out.StructuredContent = json.RawMessage(data)
	}
	return out, nil
}

// guard is called before every handler. It turns a panic into an error, answers
// what the SDK has no hook for, and suggests a tool for an unknown name.
func (s *Server) guard(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("a handler panicked", "method", method, "panic", p, "stack", string(crew.StackOf(p)))
				res, err = nil, &jsonrpc.Error{
					Code: jsonrpc.CodeInternalError, Message: method + " failed unexpectedly; other calls are not affected",
				}
			}
		}()
		res, err = next(ctx, method, req)
		if err == nil && (method == "initialize" || method == "server/discover") {
			s.greet(req)
		}
		return res, short(s.clearer(err, req))
	}
}

// greet tells that a client is there.
func (s *Server) greet(req mcp.Request) {
	from, ok := req.(interface{ ClientInfo() *mcp.Implementation })
	if s.connected == nil || !ok {
		return
	}
	info := from.ClientInfo()
	if info == nil {
		return
	}
	c := tool.Client{Name: info.Name, Version: info.Version}
	if session, ok := req.GetSession().(*mcp.ServerSession); ok && session != nil {
		c.Session = s.sessions.of(session).ID
	}
	s.connected(c)
}

// clearer names the tool that an unknown one most likely means.
func (s *Server) clearer(err error, req mcp.Request) error {
	var wire *jsonrpc.Error
	if call, ok := req.(*mcp.CallToolRequest); ok && errors.As(err, &wire) && s.tools.Lookup(call.Params.Name) == nil {
		_, unknown := s.tools.Call(context.Background(), call.Params.Name, nil)
		return &jsonrpc.Error{Code: wire.Code, Message: unknown.Error(), Data: wire.Data}
	}
	return err
}

// maxError is how many bytes of an error are sent. It names what was not found, and
// that can be as long as a message.
const maxError = 2000

// short cuts an error. Data that is not JSON is left out: the SDK quotes an address as
// Go does, and could not send the answer at all.
func short(err error) error {
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) {
		if err == nil || len(err.Error()) <= maxError {
			return err
		}
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: cut(err.Error())}
	}
	data := wire.Data
	if len(data) > maxError || !json.Valid(data) {
		data = nil
	}
	if len(wire.Message) <= maxError && len(data) == len(wire.Data) {
		return err
	}
	return &jsonrpc.Error{Code: wire.Code, Message: cut(wire.Message), Data: data}
}

func cut(text string) string {
	if len(text) <= maxError {
		return text
	}
	return strings.ToValidUTF8(text[:maxError], "") + "…"
}

// atLeast is a log handler that drops less important messages: the SDK writes a
// line for every connection.
type atLeast struct {
	slog.Handler
	level slog.Level
}

func (h atLeast) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.level && h.Handler.Enabled(ctx, level)
}

func (h atLeast) WithAttrs(attrs []slog.Attr) slog.Handler {
	return atLeast{h.Handler.WithAttrs(attrs), h.level}
}

func (h atLeast) WithGroup(name string) slog.Handler {
	return atLeast{h.Handler.WithGroup(name), h.level}
}
