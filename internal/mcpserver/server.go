// Package mcpserver speaks the Model Context Protocol for a tool.Registry, over
// stdio and over HTTP. It is the only importer of the MCP SDK.
//
// It knows tools and files through small interfaces and never sees a workspace. No input
// from a client ends the process: a garbage line, a huge one, an unknown method and a
// panicking handler are all answered, and the next request is served.
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

// maxMessage limits one message, a line of stdio or a body of HTTP. It must hold a file
// given to write_file. The SDK's own limit for a line is the same.
const maxMessage = 16 << 20

// maxCalls limits the concurrent calls of a server. Further calls are refused with an
// error rather than queued, so that memory is bounded and the client is told.
const maxCalls = 512

// DefaultGrace is one second for calls to be answered, and 600 ms for cancelled ones to
// end. In the rest of two seconds the process closes its resources.
const DefaultGrace = 1600 * time.Millisecond

// Options are the options of New; nil means the zero value.
type Options struct {
	Version string // of the program
	// Instructions tell a model the purpose of each tool, and the policy.
	Instructions string
	// Structured adds the structured form to every result's text, and its schema to
	// every tool. Some clients (Claude Code, Copilot, VS Code, Codex) then show the model only
	// that form, so both should say the same.
	Structured bool
	// Connected is called when a client has identified itself, and Called for each tool
	// call, before it is answered; both may be nil.
	Connected func(tool.Client)
	Called    func(tool.Client, *tool.Tool)
	// Answered is called for each answered call; it may be nil.
	Answered func(Answer)
	// Logger receives messages about failures; nil logs nothing.
	Logger *slog.Logger
	// Grace is how long running calls may take to end once the server is stopped; 0
	// means DefaultGrace.
	Grace time.Duration
}

// Answer describes an answered tool call.
type Answer struct {
	Client    tool.Client
	Tool      *tool.Tool
	Arguments json.RawMessage
	Began     time.Time
	Bytes     int        // of the text
	Code      fault.Code // of an error; "" if it succeeded
}

// Server offers one set of tools to any number of clients.
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

// New makes a server for the tools of a registry.
func New(tools *tool.Registry, opts *Options) (*Server, error) { return newServer(tools, opts, nil) }

// newServer lets the conformance test change the SDK's options.
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
		// Answers depend on the owner's policy, so they must not be cached by others.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
		// The lists of a server don't change while it runs, and it doesn't send logs, so
		// neither capability is announced.
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

// definition describes a tool for the protocol.
func (s *Server) definition(t *tool.Tool) (*mcp.Tool, error) {
	no, destructive := false, t.Hints.Destructive
	d := &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema(),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.Hints.ReadOnly, IdempotentHint: t.Hints.Idempotent, OpenWorldHint: &no},
	}
	if !t.Hints.ReadOnly { // otherwise the hint has no meaning, and costs tokens in every conversation
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

// orError makes a schema that also accepts an error result. Clients differ: the
// TypeScript SDK validates error results like any other, so the schema must allow them. The
// schema's definitions move to the top, where its references expect them.
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

// clientInfo returns the client's name. If the client gave one at the start of the
// session, a call can't change it: otherwise a client could avoid the review of its changes.
func clientInfo(req *mcp.CallToolRequest) *mcp.Implementation {
	if req.Session != nil {
		if p := req.Session.InitializeParams(); p != nil && p.ClientInfo != nil {
			return p.ClientInfo
		}
	}
	return req.ClientInfo()
}

// call runs a tool, or continues a call whose client was sent to a page.
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
		if session := tool.SessionOf(ctx); session != nil { // over stateless HTTP each request has its own
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

// guard is called before every handler. It turns a panic into an error, answers requests
// that the SDK has no hook for, and suggests a tool for an unknown name.
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

// greet reports a new client.
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

// clearer suggests the tool that an unknown name most likely means.
func (s *Server) clearer(err error, req mcp.Request) error {
	var wire *jsonrpc.Error
	if call, ok := req.(*mcp.CallToolRequest); ok && errors.As(err, &wire) && s.tools.Lookup(call.Params.Name) == nil {
		_, unknown := s.tools.Call(context.Background(), call.Params.Name, nil)
		return &jsonrpc.Error{Code: wire.Code, Message: unknown.Error(), Data: wire.Data}
	}
	return err
}

// maxError is how many bytes of an error are sent. An error quotes the missing name, which
// can be as long as a message.
const maxError = 2000

// short cuts an error. Data that is not JSON is omitted: the SDK quotes a URI as Go does,
// and then could not send the answer at all.
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

// atLeast is a log handler that drops less important messages: the SDK writes a line for
// every connection.
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
