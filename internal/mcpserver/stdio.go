package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeStdio serves one client until in ends or ctx is done. It reads messages from in
// and writes messages to out, one per line. At the end, running calls have the grace
// period to complete.
//
// A read from in can't be interrupted: the goroutine that reads exits only when in ends.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	defer s.held.end()
	conn := newLineConn(in, out, s.grace)
	session, err := s.sdk.Connect(context.WithoutCancel(ctx), lineTransport{conn}, nil)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		conn.endInput()
	case <-conn.inputOver:
	}
	over, unread := time.After(s.grace), conn.unread
	for {
		select {
		case err := <-ended:
			return err
		case <-unread:
			over, unread = time.After(s.grace*3/8), nil // time for the calls that are now cancelled
		case <-over:
			return ErrUnended
		}
	}
}

// ErrUnended means that a call was still running at the end of the grace period. Its
// resources can't be closed; the process should exit.
var ErrUnended = errors.New("a running call did not end in time")

// lineTransport is an SDK transport with an existing connection.
type lineTransport struct{ conn *lineConn }

func (t lineTransport) Connect(context.Context) (mcp.Connection, error) { return t.conn, nil }

// lineConn is a connection with one message per line. It replaces the SDK's own, which
// ends the session at the first invalid line and drops running calls when the input ends.
type lineConn struct {
	lines <-chan line
	grace time.Duration
	queue []jsonrpc.Message // the rest of a batch; used only by Read

	stop, closed         chan struct{} // closed to stop reading input; closed with the connection
	stopOnce, closedOnce sync.Once
	inputOver            chan struct{} // closed at the end of the input
	unread               chan struct{} // closed after that if the client also stops reading
	answered             chan struct{} // buffered; receives a value when a call has ended

	// If the client doesn't read, writes block. Read never writes, so it notices the end
	// of the input nevertheless.
	writing  sync.Mutex
	out      io.Writer // guarded by writing
	refusals chan []byte
	deaf     bool // the client has read nothing for refusalWait; used only by Read

	mu    sync.Mutex
	calls map[jsonrpc.ID]underWay // guarded by mu
	held  int                     // guarded by mu: size of the calls whose answers are not yet written
	room  int                     // maxWaiting, or less in a test
	// Numbers of unwritten messages; guarded by mu.
	answers, refused int
	blocked          time.Time // guarded by mu: when the current write began, or zero
	notes, cancels   int       // guarded by mu: notifications since a message was last written
	noteBytes        int       // guarded by mu: their total size
}

// underWay is an unanswered call.
type underWay struct {
	batch *batch // nil if it is not in a batch
	size  int    // bytes of its message
}

// line is one line of input: its text, or an error.
type line struct {
	text []byte
	err  error
}

// errLong means that a line exceeds the limit. Such lines are skipped without being
// stored.
var errLong = fmt.Errorf("a message is over %d MB", maxMessage>>20)

// batch collects the responses to requests that were sent as an array, which protocol
// versions before 2025-06-18 allow.
type batch struct {
	open    int
	answers []json.RawMessage
}

func newLineConn(in io.Reader, out io.Writer, grace time.Duration) *lineConn {
	lines := make(chan line)
	c := &lineConn{
		lines: lines, grace: grace, out: out, calls: map[jsonrpc.ID]underWay{}, refusals: make(chan []byte, maxRefusals), room: maxWaiting,
		stop: make(chan struct{}), closed: make(chan struct{}), inputOver: make(chan struct{}), unread: make(chan struct{}), answered: make(chan struct{}, 1),
	}
	go c.readLines(in, lines)
	go c.writeRefusals()
	return c
}

// readLines reads lines in its own goroutine, one line ahead, so that Read can stop
// waiting.
func (c *lineConn) readLines(in io.Reader, lines chan<- line) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		text, err := readLine(r)
		select {
		case lines <- line{text, err}:
		case <-c.closed:
			return
		}
		if err != nil && err != errLong {
			return
		}
	}
}

// readLine reads a line of up to maxMessage bytes. A longer line is skipped without being
// stored.
func readLine(r *bufio.Reader) ([]byte, error) {
	var text []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(text)+len(part) > maxMessage; long {
			text = nil
		} else {
			text = append(text, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case long && err == nil:
			return nil, errLong
		case err == io.EOF && len(bytes.TrimSpace(text)) > 0:
			return text, nil // the next read returns io.EOF
		default:
			return text, err
		}
	}
}

// Read returns the next message. It refuses invalid ones itself and skips them.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if len(c.queue) > 0 {
			msg := c.queue[0]
			c.queue = c.queue[1:]
			return msg, nil
		}
		select {
		case l := <-c.lines:
			switch {
			case l.err == errLong:
				c.refuse(nil, jsonrpc.CodeInvalidRequest, l.err.Error())
			case l.err != nil:
				c.drain()
				return nil, l.err
			default:
				c.accept(l.text)
			}
		case <-c.stop:
			c.drain()
			return nil, io.EOF
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// accept queues the messages of a line.
func (c *lineConn) accept(text []byte) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return
	}
	if text[0] != '[' {
		c.acceptOne(text, nil)
		return
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		c.refuse(nil, jsonrpc.CodeParseError, "not JSON: "+err.Error())
		return
	}
	if len(parts) == 0 || len(parts) > maxCalls {
		c.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a batch has 1 to %d messages, not %d", maxCalls, len(parts)))
		return
	}
	b := &batch{}
	for _, part := range parts {
		c.acceptOne(part, b)
	}
}

func (c *lineConn) acceptOne(text []byte, b *batch) {
	if !json.Valid(text) { // the SDK's decoder ignores everything after the first value
		c.refuse(nil, jsonrpc.CodeParseError, "the line is not JSON")
		return
	}
	if !utf8.Valid(text) {
		c.refuse(idOf(text), jsonrpc.CodeParseError, notUTF8)
		return
	}
	msg, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		c.refuse(idOf(text), jsonrpc.CodeInvalidRequest, err.Error())
		return
	}
	req, ok := msg.(*jsonrpc.Request)
	if ok && string(idOf(text)) == "null" {
		c.refuse(nil, jsonrpc.CodeInvalidRequest, nullID)
		return
	}
	if !ok || !req.IsCall() {
		if c.admitsNotification(ok && req.Method == "notifications/cancelled", len(text)) {
			c.queue = append(c.queue, msg)
		}
		return
	}
	if !exactID(idOf(text)) {
		c.refuse(idOf(text), jsonrpc.CodeInvalidRequest, inexact)
		return
	}
	if code, why := overlong(req.Method, len(text)); why != "" {
		c.refuse(idOf(text), code, why)
		return
	}
	c.mu.Lock()
	_, twice := c.calls[req.ID]
	full := len(c.calls) >= maxCalls || c.answers >= maxCalls // unread answers take memory too
	large := c.held > 0 && c.held+len(text) > c.room
	if !twice && !full && !large {
		c.calls[req.ID] = underWay{b, len(text)}
		c.held += len(text)
		if b != nil {
			b.open++
		}
	}
	c.mu.Unlock()
	switch {
	case twice:
		c.refuse(idOf(text), jsonrpc.CodeInvalidRequest, "a call with this id is under way")
	case full:
		c.refuse(idOf(text), codeBusy, fmt.Sprintf("%d calls are under way; wait for some to end", maxCalls))
	case large:
		c.refuse(idOf(text), codeBusy, fmt.Sprintf("calls of %d MB are under way; wait for some to end", maxWaiting>>20))
	default:
		c.queue = append(c.queue, msg)
	}
}

// maxWaiting limits the total size of running calls, like bodyMemory for HTTP. A single
// call is never refused because of its size.
const maxWaiting = bodyMemory

// maxNotes limits the notifications passed to the SDK between two written messages, and
// maxNoteBytes their total size. While a client doesn't read, the SDK keeps them in an
// unbounded list. The protocol's notifications have a few hundred bytes.
const (
	maxNotes     = 1000
	maxNoteBytes = 8 << 20
)

// admitsNotification counts a notification or a client's response, and reports whether to
// pass it to the SDK. Cancellations have their own limit.
func (c *lineConn) admitsNotification(cancels bool, size int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancels {
		c.cancels++
		return c.cancels <= maxNotes && size <= maxNoteBytes/maxNotes
	}
	c.notes++
	c.noteBytes += size
	return c.notes <= maxNotes && c.noteBytes <= maxNoteBytes
}

// codeBusy is an error code from the range that JSON-RPC reserves for servers.
const codeBusy = -32000

// idOf returns the id of an invalid message, if it has one.
func idOf(text []byte) json.RawMessage {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(text, &m) != nil || len(m.ID) == 0 || len(m.ID) > 1000 || m.ID[0] == '{' || m.ID[0] == '[' {
		return nil
	}
	return m.ID
}

// exactID reports whether a response can repeat an id exactly: a valid string, or a number
// that the SDK preserves. The SDK converts numbers to float64 and then to integers. It would
// answer 1.5 as 1, which is another call's id, and 2^53+1 as 2^53: from 2^53 on,
// neighbouring integers have the same float64.
func exactID(id json.RawMessage) bool {
	if len(id) > 0 && id[0] == '"' {
		var text string
		return !mayHaveLoneSurrogate(id) || json.Unmarshal(id, &text) == nil && !strings.ContainsRune(text, utf8.RuneError)
	}
	if len(id) == 0 || string(id) == "null" {
		return true
	}
	f, err := strconv.ParseFloat(string(id), 64)
	return err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53
}

// mayHaveLoneSurrogate reports whether a JSON text may contain a lone surrogate, which decoding replaces
// with U+FFFD.
func mayHaveLoneSurrogate(text []byte) bool {
	return bytes.Contains(text, []byte(`\ud`)) || bytes.Contains(text, []byte(`\uD`))
}

// nullID is the error for a request whose id is null: its response could not be matched to
// the request.
const nullID = "the id is null: leave it out for a notification, or give a string or a number"

// sameID is the error for a batch with duplicate ids.
const sameID = "two requests of the batch have the same id: their answers could not be told apart"

// notUTF8 is the error for a message that is not UTF-8. Decoding would replace invalid
// bytes with U+FFFD, and so change a path or text.
const notUTF8 = "the message is not valid UTF-8"

// inexact is the error for an id that exactID rejects.
const inexact = "the id is not a whole number below 2^53, or a string: the response could not repeat it exactly"

// maxRefusals limits the refusals waiting for a client that doesn't read. Further ones
// are dropped after refusalWait.
const (
	maxRefusals = 1024
	refusalWait = 100 * time.Millisecond
)

// refuse sends an error for a message that must not reach the SDK.
func (c *lineConn) refuse(id json.RawMessage, code int64, why string) {
	data := append(refusal(id, code, why), '\n')
	c.count(&c.refused, 1)
	select {
	case c.refusals <- data:
		c.deaf = false
		return
	default:
	}
	if !c.deaf {
		select {
		case c.refusals <- data:
			return
		case <-time.After(refusalWait):
			c.deaf = true
		}
	}
	c.count(&c.refused, -1)
}

// count adds n to a counter of unwritten data.
func (c *lineConn) count(what *int, n int) {
	c.mu.Lock()
	*what += n
	c.mu.Unlock()
	if n < 0 {
		c.noteAnswered()
	}
}

func (c *lineConn) writeRefusals() {
	for {
		select {
		case data := <-c.refusals:
			c.writing.Lock()
			_ = c.write(data) // the next answer will report the error
			c.writing.Unlock()
			c.count(&c.refused, -1)
		case <-c.closed:
			return
		}
	}
}

// refusal returns the response that refuses a message.
func refusal(id json.RawMessage, code int64, why string) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	const most = 300 // the error may quote the message
	if len(why) > most {
		why = why[:most] + "…"
	}
	data, _ := json.Marshal(map[string]any{ // can't fail, because the id was parsed
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why},
	})
	return data
}

// Write writes a message as one line.
func (c *lineConn) Write(_ context.Context, msg jsonrpc.Message) error {
	data, err := encode(msg)
	resp, ok := msg.(*jsonrpc.Response)
	if err != nil && ok { // returning the error would end the session
		id, _ := json.Marshal(resp.ID.Raw()) // can't fail: a string or a number
		data, err = refusal(id, jsonrpc.CodeInternalError, "the answer could not be written: "+err.Error()), nil
	}
	if err != nil {
		return err
	}
	if ok {
		var size int
		data, size, err = c.end(resp.ID, data)
		defer c.count(&c.held, -size) // the SDK keeps a call's message until its answer is written
		if data == nil {
			return err
		}
		defer c.count(&c.answers, -1)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	err = c.write(append(data, '\n'))
	c.mu.Lock()
	c.notes, c.cancels, c.noteBytes = 0, 0, 0
	c.mu.Unlock()
	return err
}

// write writes data in pieces of the size of a pipe's buffer, to distinguish a client
// that reads slowly from one that doesn't read. The caller holds c.writing.
func (c *lineConn) write(data []byte) error {
	const piece = 64 << 10
	for len(data) > 0 {
		c.block(time.Now())
		n, err := c.out.Write(data[:min(len(data), piece)])
		if c.block(time.Time{}); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

func (c *lineConn) block(since time.Time) {
	c.mu.Lock()
	c.blocked = since
	c.mu.Unlock()
}

// end ends a call and returns the size of its message. out is the data to write: the
// response; or nil in a batch, except for its last call, for which it has all the batch's
// responses.
func (c *lineConn) end(id jsonrpc.ID, data []byte) (out []byte, size int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.calls[id]
	delete(c.calls, id)
	b := call.batch
	if out = data; b != nil {
		b.answers = append(b.answers, data)
		if b.open--; b.open > 0 {
			return nil, call.size, nil
		}
		if out, err = json.Marshal(b.answers); err != nil {
			return nil, call.size, err
		}
	}
	c.answers++
	return out, call.size, nil
}

// encode is jsonrpc.EncodeMessage without its check, which parses the result again. For a
// 20 KB answer that took a quarter of the protocol's time, and results already are JSON
// on one line.
func encode(msg jsonrpc.Message) ([]byte, error) {
	resp, ok := msg.(*jsonrpc.Response)
	if !ok || resp.Error != nil || len(resp.Result) == 0 || bytes.IndexByte(resp.Result, '\n') >= 0 {
		return jsonrpc.EncodeMessage(msg)
	}
	id, err := json.Marshal(resp.ID.Raw())
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, len(resp.Result)+len(id)+40)
	data = append(append(data, `{"jsonrpc":"2.0","id":`...), id...)
	data = append(append(data, `,"result":`...), resp.Result...)
	return append(data, '}'), nil
}

func (c *lineConn) noteAnswered() {
	select {
	case c.answered <- struct{}{}:
	default:
	}
}

// drain waits for the running calls, for at most five eighths of the grace period, or
// half of that if the client doesn't read. The rest of the period is for calls that are
// then cancelled.
func (c *lineConn) drain() {
	close(c.inputOver) // Read will not be called again
	began, tooLate := time.Now(), time.After(c.grace*5/8)
	look := time.NewTicker(max(c.grace/32, time.Millisecond))
	defer look.Stop()
	for {
		c.mu.Lock()
		open, blocked := len(c.calls)+c.answers+c.refused, c.blocked
		c.mu.Unlock()
		if open == 0 {
			return
		}
		if !blocked.IsZero() && min(time.Since(blocked), time.Since(began)) > c.grace*5/16 {
			close(c.unread)
			return
		}
		select {
		case <-c.answered:
		case <-look.C:
		case <-tooLate:
			return
		case <-c.closed:
			return
		}
	}
}

// endInput makes Read return io.EOF.
func (c *lineConn) endInput() { c.stopOnce.Do(func() { close(c.stop) }) }

// Close closes the connection, but not the streams, which belong to the caller.
func (c *lineConn) Close() error {
	c.closedOnce.Do(func() { close(c.closed) })
	return nil
}

// SessionID returns "", because a stream is a single session.
func (c *lineConn) SessionID() string { return "" }
