// Package mcpserver implements the Model Context Protocol for a tool.Registry, over stdio
// and HTTP. No other package imports the MCP SDK.
//
// It knows tools and files only through small interfaces, not workspaces. No input from a
// client ends the process: invalid and huge lines, unknown methods and panicking handlers
// all get an error response, and the next request is served.
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

// maxMessage limits the size of a message, which is a line of stdio or an HTTP body. It
// must be large enough for a file passed to write_file. The SDK has the same limit for
// lines.
const maxMessage = 16 << 20

// maxCalls limits the concurrent calls of a server. More calls are refused, not queued,
// so that memory is bounded and the client knows.
const maxCalls = 512

// DefaultGrace is one second for calls to complete, and 600 ms for cancelled ones to end.
// Together with closing resources, the process should exit within two seconds.
const DefaultGrace = 1600 * time.Millisecond

// Options are the options of New; nil means the zero value.
type Options struct {
	Version string // the program's version
	// Instructions explain the tools and the policy to a model.
	Instructions string
	// Structured adds a structured form to the text of every result, and its schema to
	// every tool. Some clients (Claude Code, Copilot, VS Code, Codex) then show the model
	// only the structured form, so both should have the same information.
	Structured bool
	// Connected, if set, is called when a client has identified itself. Called, if set,
	// is called before each tool call.
	Connected func(tool.Client)
	Called    func(tool.Client, *tool.Tool)
	// Answered, if set, is called after each tool call.
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
	Bytes     int        // size of the text
	Code      fault.Code // the error's code; "" if the call succeeded
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

// newServer is New, with a function that changes the SDK's options, for the conformance
// test.
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
		// Answers depend on the owner's policy, so shared caches must not store them.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
		// The lists of tools don't change while the server runs, and it sends no logs, so
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
	if !t.Hints.ReadOnly { // for a read-only tool the hint has no meaning, and would cost tokens in every conversation
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

// orError extends a schema to also accept an error result, because the TypeScript SDK
// validates error results too. The schema's definitions are moved to the top level, where
// its references expect them.
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

// clientInfo returns the client's name. A name given at the start of the session takes
// precedence over a call's: otherwise a client could change its name to avoid review of
// its changes.
func clientInfo(req *mcp.CallToolRequest) *mcp.Implementation {
	if req.Session != nil {
		if p := req.Session.InitializeParams(); p != nil && p.ClientInfo != nil {
			return p.ClientInfo
		}
	}
	return req.ClientInfo()
}

// call runs a tool, or resumes a held call.
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
		if session := tool.SessionOf(ctx); session != nil { // with stateless HTTP each request has its own session
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

// guard wraps every handler. It turns a panic into an error, handles requests for which
// the SDK has no hook, and suggests a tool for an unknown name.
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

// greet calls s.connected for a new client.
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

// clearer adds to an error about an unknown tool the most similar tool name.
func (s *Server) clearer(err error, req mcp.Request) error {
	var wire *jsonrpc.Error
	if call, ok := req.(*mcp.CallToolRequest); ok && errors.As(err, &wire) && s.tools.Lookup(call.Params.Name) == nil {
		_, unknown := s.tools.Call(context.Background(), call.Params.Name, nil)
		return &jsonrpc.Error{Code: wire.Code, Message: unknown.Error(), Data: wire.Data}
	}
	return err
}

// maxError limits the size of an error sent to a client. Errors quote names, which may be
// as long as a message.
const maxError = 2000

// short shortens an error. It omits Data that isn't valid JSON: the SDK quotes URIs in Go
// syntax, and could then not encode the response.
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

// atLeast is a log handler that drops messages below a level, because the SDK logs every
// connection.
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
