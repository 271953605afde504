package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/internal/strangers"
)

// Path is the endpoint's path.
const Path = "/mcp"

// minToken is the minimal length of a token: 16 characters of base64 are 96 bits.
const minToken = 16

// HTTPOptions are the options of Handler and Serve.
type HTTPOptions struct {
	// Token is the bearer token that clients must send. It is required for local clients
	// too, because other users and web pages can reach the port.
	Token string
	// Hosts are additional accepted host names.
	Hosts []string
	// Origins are additional accepted web origins, such as https://example.org.
	Origins []string
	// Remote allows clients on other machines; any IP address is then accepted as host.
	Remote bool
}

const (
	// maxSessions limits the number of sessions, which only clients before 2026-07-28
	// have. If there are more, one is ended, because many clients never end theirs.
	maxSessions = 1000
	// sessionIdle is how long an unused session is kept.
	sessionIdle = 24 * time.Hour
	// bodyTime is how long a body may take to arrive.
	bodyTime = 30 * time.Second
)

// Handler serves the protocol over streamable HTTP at Path.
//
// Clients of two protocol generations share the port. Up to 2025-11-25 they have
// sessions, and send messages to cancel calls. From 2026-07-28 on requests are
// independent, and closing the connection cancels a call. The SDK supports the new
// protocol only in stateless mode, which can't cancel calls of the old one. So each
// generation has a handler, selected by the request.
func (s *Server) Handler(opts *HTTPOptions) (http.Handler, error) { return s.handler(opts) }

func (s *Server) handler(opts *HTTPOptions) (*handler, error) {
	if len(opts.Token) < minToken {
		return nil, fmt.Errorf("the token has %d characters; it needs %d or more", len(opts.Token), minToken)
	}
	get := func(*http.Request) *mcp.Server { return s.sdk }
	logger := slog.New(atLeast{s.log.Handler(), slog.LevelError})
	h := &handler{
		server: s, gate: newGate(opts), slots: newShares(maxCalls), memory: newShares(bodyMemory), visits: newVisits(),
		stalled: stalled, memoryWait: memoryWait, bodyTime: bodyTime,
		sessions: mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
			Logger: logger, SessionTimeout: sessionIdle, MaxRequestBodyBytes: maxMessage, DisableLocalhostProtection: true,
		}),
		stateless: mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{
			Logger: logger, Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: maxMessage, DisableLocalhostProtection: true,
		}),
	}
	return h, nil
}

// handler implements Handler. Its gate checks Host and Origin more strictly than the SDK,
// whose own check is switched off.
type handler struct {
	server              *Server
	gate                *gate
	slots               *shares // running calls
	memory              *shares // bytes of the bodies of running calls
	bodies              bodies
	visits              *visits
	strangers           strangers.Conns
	stalled, memoryWait time.Duration
	bodyTime            time.Duration
	sessions, stateless http.Handler
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if status, why := h.gate.refusal(r); status != 0 {
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="quarry"`)
		}
		w.Header().Set("Connection", "close") // unauthenticated connections are not kept open
		http.Error(w, why, status)
		return
	}
	h.strangers.Known(r)
	id := r.Header.Get("Mcp-Session-Id")
	if why := h.visits.whyGone(id); why != "" {
		http.Error(w, why, http.StatusNotFound)
		return
	}
	if r.Method != http.MethodPost {
		if r.Method == http.MethodDelete {
			defer h.visits.ended(id)
			h.server.calls.cancel(id)
		}
		// The new protocol only has POST, and its handler refuses other methods.
		if newEra(r.Header, nil) {
			h.stateless.ServeHTTP(w, r)
		} else {
			h.sessions.ServeHTTP(w, r)
		}
		return
	}
	h.post(w, r)
}

func (h *handler) post(w http.ResponseWriter, r *http.Request) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		http.Error(w, "the content type has to be application/json", http.StatusUnsupportedMediaType)
		return
	}
	for _, coding := range r.Header.Values("Content-Encoding") {
		if !strings.EqualFold(coding, "identity") {
			w.Header().Set("Accept-Encoding", "identity")
			http.Error(w, "the body has to be sent as it is, without a Content-Encoding", http.StatusUnsupportedMediaType)
			return
		}
	}
	client := clientOf(r, h.visits.known)
	body, release, status, err := h.readBody(w, r, client)
	if err != nil {
		if status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "1")
		}
		http.Error(w, err.Error(), status)
		return
	}
	defer release()
	// Only now the call counts towards the limit: a body that never arrives must not
	// block other calls. A cancellation doesn't count, so that a client at its limit can
	// cancel a call.
	calls := 1
	if bytes.Contains(body, []byte("notifications/cancelled")) {
		calls = 0
	}
	if h.slots.take(done, client, calls) != nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, fmt.Sprintf("%d requests are under way, or half as many of yours", maxCalls), http.StatusServiceUnavailable)
		return
	}
	defer h.slots.give(client, calls)
	if answer := refusedBody(body); answer != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(answer)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if newEra(r.Header, body) {
		h.stateless.ServeHTTP(w, r)
		return
	}
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		h.makeRoom()
	}
	h.visits.seen(id, true)
	h.sessions.ServeHTTP(w, r)
	if id == "" {
		h.visits.seen(w.Header().Get("Mcp-Session-Id"), false)
	}
}

// refusedBody returns the error response to a body that must not reach the SDK, or nil
// for other bodies.
func refusedBody(body []byte) []byte {
	if !json.Valid(body) { // the SDK's decoder ignores everything after the first value
		return refusal(nil, jsonrpc.CodeParseError, "the body is not JSON")
	}
	if !utf8.Valid(body) {
		return refusal(idOf(body), jsonrpc.CodeParseError, notUTF8)
	}
	if id, why := wrongID(body); why != "" {
		return refusal(id, jsonrpc.CodeInvalidRequest, why)
	}
	if len(body) <= maxMethod {
		return nil // most bodies need no second parse
	}
	for _, m := range messagesOf(body) {
		if code, why := overlong(m.Method, len(body)); why != "" {
			return refusal(m.ID, code, why)
		}
	}
	return nil
}

// wrongID returns the first request id, in a single request or a batch, that a response
// could not repeat exactly, and the reason. The reason is "" if there is no such id.
func wrongID(body []byte) (json.RawMessage, string) {
	several := bytes.HasPrefix(bytes.TrimSpace(body), []byte("["))
	if !several && plainIDs(body) {
		return nil, "" // most bodies need no second parse
	}
	seen := map[string]bool{}
	for _, m := range messagesOf(body) {
		switch id := string(m.ID); {
		case m.Method == "" || id == "":
		case id == "null":
			return m.ID, nullID
		case !exactID(m.ID):
			return m.ID, inexact
		case seen[id]:
			return m.ID, sameID
		default:
			seen[id] = true
		}
	}
	return nil, ""
}

// opening has the fields of a message that are checked before the SDK parses it.
type opening struct {
	ID     json.RawMessage
	Method string
}

// messagesOf parses a body, one message or a batch.
func messagesOf(body []byte) []opening {
	var batch []opening
	if json.Unmarshal(body, &batch) != nil {
		batch = make([]opening, 1)
		_ = json.Unmarshal(body, &batch[0]) // the SDK refuses invalid messages
	}
	return batch
}

// plainIDs reports whether every "id" in a text is a string or a number of at most 15
// digits.
func plainIDs(body []byte) bool {
	if bytes.Contains(body, []byte(`\u00`)) || mayHaveLoneSurrogate(body) { // an escape may be part of "id" or of its value
		return false
	}
	for {
		at := bytes.Index(body, []byte(`"id"`))
		if at < 0 {
			return true
		}
		body = bytes.TrimLeft(body[at+4:], " \t\r\n:")
		digits := 0
		for digits < len(body) && (body[digits] == '-' || '0' <= body[digits] && body[digits] <= '9') {
			digits++
		}
		if bytes.HasPrefix(body, []byte("null")) || digits > 15 || digits > 0 && digits < len(body) && bytes.IndexByte([]byte(".eE"), body[digits]) >= 0 {
			return false
		}
	}
}

// done is a cancelled context. It makes shares.take fail if it would have to wait.
var done = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// firstStateless is the first version of the new protocol generation.
const firstStateless = "2026-07-28"

// newEra reports whether a request is for protocol 2026-07-28 or later, according to its
// header, the version in its body, or a method that only the new protocol has.
func newEra(header http.Header, body []byte) bool {
	if header.Get("Mcp-Protocol-Version") >= firstStateless {
		return true
	}
	const key = "io.modelcontextprotocol/protocolVersion"
	if !bytes.Contains(body, []byte(key)) && !bytes.Contains(body, []byte("server/discover")) {
		return false // most bodies need no second parse
	}
	var m struct {
		Method string
		Params struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		}
	}
	if json.Unmarshal(body, &m) != nil {
		return false
	}
	return m.Method == "server/discover" || m.Params.Meta[key] != nil
}

// makeRoom ends a session if there are too many.
func (h *handler) makeRoom() {
	sessions := map[string]*mcp.ServerSession{}
	for session := range h.server.sdk.Sessions() {
		if id := session.ID(); id != "" { // a session without an id ends with its request
			sessions[id] = session
		}
	}
	for len(sessions) >= maxSessions {
		id := h.visits.sendAway()
		if id == "" {
			return
		}
		if s := sessions[id]; s != nil {
			delete(sessions, id)
			go s.Close() // Close waits for the session's calls
		}
	}
}

// Serve serves HTTP on a listener until ctx is done. Running calls then get the grace
// period to end.
func (s *Server) Serve(ctx context.Context, ln net.Listener, opts *HTTPOptions) error {
	h, err := s.handler(opts)
	if err != nil {
		return err
	}
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	h.strangers.Watch(srv)
	defer s.held.end()
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.grace)
	defer cancel()
	go s.closeSessions()
	if err := srv.Shutdown(grace); err != nil {
		_ = srv.Close()
	}
	<-failed
	return nil
}

// closeSessions ends every session after its calls. Otherwise streams that clients keep
// open would delay the shutdown.
func (s *Server) closeSessions() {
	var wait sync.WaitGroup
	for session := range s.sdk.Sessions() {
		wait.Go(func() { _ = session.Close() })
	}
	wait.Wait()
}
