package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Limits on the resources that clients use. No client can starve the others: each gets at
// most half of any resource, and a body that doesn't arrive occupies nothing that another
// request needs.
const (
	// maxBodies limits how many bodies are read concurrently. If there are more, the
	// request that has waited longest is ended.
	maxBodies = 256
	// bodyMemory limits the total size of the bodies of running calls. Decoding them
	// takes about four times as much for a short time.
	bodyMemory = 64 << 20
	// stalled is how long a body may pause before the request is ended.
	stalled = 5 * time.Second
	// memoryWait is how long a request waits for memory.
	memoryWait = 10 * time.Second
)

// The SDK's errors quote the method or reference that they are about, escaped to up to
// eleven times its size. So a call is refused if its method is longer than any known one,
// or if the call is larger than its method can need.
const (
	maxMethod = 1000
	maxPlain  = 64 << 10 // largest size in bytes of a call that has no text argument
)

// overlong returns why a call of size bytes is refused, or "" if it is accepted.
func overlong(method string, size int) (code int64, why string) {
	switch {
	case len(method) > maxMethod:
		return jsonrpc.CodeMethodNotFound, fmt.Sprintf("unknown method %.40q… of %d bytes", method, len(method))
	case size > maxPlain && method != "" && method != "tools/call" && method != "initialize" && !strings.HasPrefix(method, "notifications/"):
		return jsonrpc.CodeInvalidParams, fmt.Sprintf("%.40q takes at most %d KB, not %d", method, maxPlain>>10, size>>10)
	}
	return 0, ""
}

var (
	errStalled = errors.New("the body did not arrive in time")
	errCrowded = errors.New("the server is busy with other requests; try again")
)

// clientOf identifies a client by its session, or by its address if it has none.
func clientOf(r *http.Request, known func(session string) bool) string {
	if id := r.Header.Get("Mcp-Session-Id"); id != "" && known(id) {
		return "session " + id
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return "address " + host
}

// shares distributes a limited resource. One client gets at most half of it.
type shares struct {
	mu    sync.Mutex
	left  int
	each  int
	held  map[string]int
	freed chan struct{} // closed and replaced whenever a share is returned
}

func newShares(total int) *shares {
	return &shares{left: total, each: total / 2, held: map[string]int{}, freed: make(chan struct{})}
}

// take takes n units for a client. It waits, until ctx is done, if too few are left or
// the client would have more than half.
func (s *shares) take(ctx context.Context, client string, n int) error {
	for {
		s.mu.Lock()
		if n <= s.left && s.held[client]+n <= s.each {
			s.left -= n
			s.held[client] += n
			s.mu.Unlock()
			return nil
		}
		freed := s.freed
		s.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return errCrowded
		}
	}
}

func (s *shares) give(client string, n int) {
	if n == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left += n
	if s.held[client] -= n; s.held[client] == 0 {
		delete(s.held, client)
	}
	close(s.freed)
	s.freed = make(chan struct{})
}

// bodies tracks the requests whose body is being read.
type bodies struct {
	mu     sync.Mutex
	next   uint64
	ending map[uint64]func() // ends the request; keys increase with time
}

// enter adds a request, and ends the oldest one if there are too many.
func (b *bodies) enter(end func()) (leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ending == nil {
		b.ending = map[uint64]func(){}
	}
	if len(b.ending) >= maxBodies {
		oldest := b.next
		for id := range b.ending {
			oldest = min(oldest, id)
		}
		b.ending[oldest]()
		delete(b.ending, oldest)
	}
	id := b.next
	b.next++
	b.ending[id] = end
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.ending, id)
	}
}

// readBody reads a body of up to maxMessage bytes, as long as data keeps arriving. Its
// size counts as memory of the client until release is called.
func (h *handler) readBody(w http.ResponseWriter, r *http.Request, client string) (body []byte, release func(), status int, err error) {
	control := http.NewResponseController(w)
	ctx, cancel := context.WithTimeout(r.Context(), h.memoryWait)
	defer cancel()
	held := 0
	release = func() { h.memory.give(client, held) }
	fail := func(status int, err error) ([]byte, func(), int, error) {
		release()
		// Without this, net/http would read the rest of the body, with no deadline,
		// before sending the response.
		w.Header().Set("Connection", "close")
		_ = control.SetReadDeadline(time.Now())
		return nil, func() {}, status, err
	}
	// If the length is known, memory is reserved now, otherwise as data arrives.
	if n := r.ContentLength; n > maxMessage {
		return fail(http.StatusRequestEntityTooLarge, errLong)
	} else if n > 0 {
		if err := h.memory.take(ctx, client, int(n)); err != nil {
			return fail(http.StatusServiceUnavailable, err)
		}
		held = int(n)
	}
	leave := h.bodies.enter(func() { _ = control.SetReadDeadline(time.Now()) })
	defer leave()
	ends := time.Now().Add(h.bodyTime)
	buf := make([]byte, min(max(held, 512), 64<<10))
	for {
		_ = control.SetReadDeadline(earlier(ends, time.Now().Add(h.stalled))) // not every connection supports deadlines
		n, err := r.Body.Read(buf)
		if len(body)+n > maxMessage {
			return fail(http.StatusRequestEntityTooLarge, errLong)
		}
		if more := len(body) + n - held; more > 0 {
			if err := h.memory.take(ctx, client, more); err != nil {
				return fail(http.StatusServiceUnavailable, err)
			}
			held += more
		}
		if body == nil && r.ContentLength > 0 {
			body = make([]byte, 0, r.ContentLength)
		}
		body = append(body, buf[:n]...)
		if err == io.EOF {
			break
		}
		var timeout net.Error
		switch {
		case errors.As(err, &timeout) && timeout.Timeout():
			return fail(http.StatusRequestTimeout, errStalled)
		case err != nil:
			return fail(http.StatusBadRequest, errors.New("the body could not be read"))
		}
	}
	if len(body) == 0 {
		return fail(http.StatusBadRequest, errors.New("the body is empty"))
	}
	_ = control.SetReadDeadline(time.Time{})
	return body, release, 0, nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// visits tracks the sessions of clients before 2026-07-28, to select one to end if there
// are too many: first those without a call, then the least recently used.
type visits struct {
	mu    sync.Mutex
	clock uint64
	open  map[string]*visit
	gone  map[string]bool // sessions ended recently
	order []string        // the keys of gone, oldest first
}

type visit struct {
	used  uint64
	calls int
}

func newVisits() *visits { return &visits{open: map[string]*visit{}, gone: map[string]bool{}} }

// seen records a request of a session.
func (v *visits) seen(id string, call bool) {
	if id == "" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clock++
	s := v.open[id]
	if s == nil {
		if v.gone[id] || call {
			return // ended, or an id made up by the client
		}
		s = &visit{}
		v.open[id] = s
	}
	s.used = v.clock
	if call {
		s.calls++
	}
}

func (v *visits) known(id string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.open[id] != nil
}

func (v *visits) ended(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.open, id)
}

// sendAway selects the session to end.
func (v *visits) sendAway() (id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var least *visit
	for other, s := range v.open {
		if least == nil || (s.calls == 0) != (least.calls == 0) && s.calls == 0 || (s.calls == 0) == (least.calls == 0) && s.used < least.used {
			id, least = other, s
		}
	}
	if least == nil {
		return ""
	}
	delete(v.open, id)
	v.gone[id] = true
	if v.order = append(v.order, id); len(v.order) > 4*maxSessions {
		delete(v.gone, v.order[0])
		v.order = v.order[1:]
	}
	return id
}

// whyGone returns the message for a client whose session was ended, or "" if it was not.
func (v *visits) whyGone(id string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.gone[id] {
		return ""
	}
	return fmt.Sprintf("this session was ended: there are more than %d of them, and it was used least; initialize again", maxSessions)
}
