// Package owner shares the index of a root between processes. The first process owns it:
// it watches the files and answers the others.
//
// The invariant: at most one process holds the Lease of a state folder, and the lease
// ends with its process, however that ends. Only processes of the same user are answered.
// An answer is complete or an error: a broken connection is never mistaken for the end.
// Member represents one process. If it can't answer, its caller scans.
package owner

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"quarry/internal/progress"
	"quarry/internal/rootfs"
)

// LockName is the name of the file whose lock is the lease.
const LockName = "owner.lock"

// Lease is the ownership of a state folder.
type Lease struct{ lock *rootfs.Log }

// Claim tries to make this process the owner of a state folder, which was opened with
// Trusted set. It returns nil if another process is the owner.
func Claim(state *rootfs.Root) (*Lease, error) {
	lock, err := state.Hold(LockName, false)
	if lock == nil {
		return nil, err
	}
	return &Lease{lock}, nil
}

// Release ends the lease, so that another process can become the owner.
func (l *Lease) Release() error { return l.lock.Close() }

// A frame is a length, a kind, and that many bytes. A request is one frame; an answer is
// any number of data frames followed by a final one.
type frameKind byte

const (
	frameRequest frameKind = 'q'
	frameData    frameKind = 'd'
	frameEnd     frameKind = 'e'
	frameError   frameKind = 'x'
	frameAlive   frameKind = 'a' // the owner is working; the body has the files and matches so far, as varints
)

// While it works on an answer, an owner sends a frameAlive every aliveEvery. A client
// that receives nothing for the time patience gives up. This is needed because a
// suspended process, such as quarry serve after ^Z, keeps its socket open, and its
// clients would wait forever. The first frameAlive is sent as soon as the request is
// read, so the client waits only firstSign for it. The times allow for a busy machine;
// giving up too early costs a scan.
const (
	aliveEvery = 250 * time.Millisecond
	patience   = 3 * time.Second
	firstSign  = time.Second
)

// maxFrame is the size of the largest frame that either side accepts. It is much larger
// than any query or the matches of a file.
const maxFrame = 64 << 20

func writeFrame(w io.Writer, kind frameKind, data []byte) error {
	if len(data) > maxFrame {
		return fmt.Errorf("message of %d bytes is too large", len(data))
	}
	head := make([]byte, 5, 5+min(len(data), 4096))
	binary.LittleEndian.PutUint32(head, uint32(len(data)))
	head[4] = byte(kind)
	if len(data) <= 4096 { // one system call for small messages
		_, err := w.Write(append(head, data...))
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}

func readFrame(r io.Reader, buf []byte) (frameKind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, buf, err
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	if n > maxFrame {
		return 0, buf, fmt.Errorf("message of %d bytes is too large", n)
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := io.ReadFull(r, buf); err != nil {
		return 0, buf, noEOF(err)
	}
	return frameKind(head[4]), buf, nil
}

// noEOF replaces io.EOF in the middle of a message, so that it is not taken for the end.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Handler answers a request: it calls send for each message and returns. Errors are sent
// to the client as text. ctx ends when the client disconnects.
type Handler func(ctx context.Context, request []byte, send func([]byte) error) error

// Server answers other processes.
type Server struct {
	listener net.Listener
	handle   Handler
	active   atomic.Int64
	last     atomic.Int64 // when the last request ended, in Unix nanoseconds
	conns    sync.WaitGroup
}

// Listen starts to accept requests at a socket, whose folder must be private to this
// user. The lease must be held, because a socket left by a dead owner is replaced.
func (l *Lease) Listen(socket string, handle Handler) (*Server, error) {
	listener, err := listenAt(socket)
	if err != nil {
		return nil, err
	}
	s := &Server{listener: listener, handle: handle}
	s.last.Store(time.Now().UnixNano())
	return s, nil
}

// Serve answers requests until ctx ends, and waits for those in progress.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { s.listener.Close() })
	defer stop()
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			cancel()
			s.conns.Wait()
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		s.conns.Go(func() { s.answer(ctx, conn) })
	}
}

// Idle returns the time since the last request.
func (s *Server) Idle() time.Duration {
	if s.active.Load() > 0 {
		return 0
	}
	return time.Duration(time.Now().UnixNano() - s.last.Load())
}

// Close stops accepting connections; Serve then returns.
func (s *Server) Close() error { return s.listener.Close() }

// answer serves one connection until the client disconnects.
func (s *Server) answer(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	if samePeer(conn) != nil {
		return // a process of another user gets no answer, not even an error
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	requests := make(chan []byte)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // notices if the client disconnects during an answer
		defer cancel()
		defer close(requests)
		for {
			kind, data, err := readFrame(conn, nil)
			if err != nil || kind != frameRequest {
				return
			}
			select {
			case requests <- data:
			case <-ctx.Done():
				return
			}
		}
	}()
	for req := range requests {
		if s.one(ctx, conn, req) != nil {
			return
		}
	}
}

// one answers one request.
func (s *Server) one(ctx context.Context, conn net.Conn, req []byte) error {
	s.active.Add(1)
	defer func() {
		s.last.Store(time.Now().UnixNano())
		s.active.Add(-1)
	}()
	watch := &progress.Count{}
	ctx = progress.With(ctx, watch)
	var mu sync.Mutex // one frame at a time
	write := func(kind frameKind, b []byte) error {
		mu.Lock()
		defer mu.Unlock()
		return writeFrame(conn, kind, b)
	}
	// A quick answer makes frameAlive unnecessary.
	done := make(chan struct{})
	var beat sync.WaitGroup
	beat.Go(func() {
		first := time.NewTimer(aliveEvery / 25)
		defer first.Stop()
		tick := time.NewTicker(aliveEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-first.C:
			case <-tick.C:
			}
			far := binary.AppendUvarint(nil, uint64(watch.Files.Load()))
			if write(frameAlive, binary.AppendUvarint(far, uint64(watch.Matches.Load()))) != nil {
				return
			}
		}
	})
	err := s.handled(ctx, req, func(b []byte) error { return write(frameData, b) })
	close(done)
	beat.Wait()
	if err != nil {
		return write(frameError, []byte(err.Error()))
	}
	return write(frameEnd, nil)
}

// handled calls the handler. A panic becomes an error of this request only, because the
// process may serve other clients.
func (s *Server) handled(ctx context.Context, req []byte, send func([]byte) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("failed unexpectedly: %v", p)
		}
	}()
	return s.handle(ctx, req, send)
}

// ErrNoOwner means that no owner answers at a socket.
var ErrNoOwner = errors.New("no owner answers")

// RemoteError is an error returned by the owner's handler.
type RemoteError struct{ Message string }

func (e *RemoteError) Error() string { return e.Message }

// Client is a connection to an owner. It handles one request at a time.
type Client struct {
	conn     net.Conn
	buf      []byte
	patience time.Duration
}

// Dial connects to the owner at a socket. It returns ErrNoOwner if the socket is missing,
// stale, or another user's.
func Dial(socket string) (*Client, error) {
	conn, err := dialAt(socket, patience) // the connection queue of a suspended owner may be full
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoOwner, err)
	}
	if err := samePeer(conn); err != nil {
		conn.Close()
		return nil, fmt.Errorf("%w: %w", ErrNoOwner, err)
	}
	return &Client{conn: conn, patience: patience}, nil
}

// Ask sends a request and calls receive for each message of the answer; receive must not
// keep the message. If receive fails or ctx ends, the connection is closed, and the owner
// stops working on the answer. If the owner doesn't respond, the error is ErrNoOwner.
func (c *Client) Ask(ctx context.Context, request []byte, receive func([]byte) error) error {
	stop := context.AfterFunc(ctx, func() { c.conn.Close() })
	defer stop()
	c.conn.SetDeadline(time.Now().Add(c.patience))
	if err := writeFrame(c.conn, frameRequest, request); err != nil {
		return c.broken(ctx, err)
	}
	heard := hearing{watch: progress.Of(ctx)}
	for wait := min(firstSign, c.patience); ; wait = c.patience {
		c.conn.SetDeadline(time.Now().Add(wait))
		kind, data, err := readFrame(c.conn, c.buf)
		c.buf = data
		if err != nil {
			return c.broken(ctx, noEOF(err))
		}
		switch kind {
		case frameAlive:
			heard.progress(data)
		case frameEnd:
			return nil
		case frameError:
			return &RemoteError{string(data)}
		case frameData:
			if err := receive(data); err != nil {
				c.conn.Close()
				return err
			}
		default:
			return c.broken(ctx, fmt.Errorf("unexpected message %q", kind))
		}
	}
}

// hearing adds the owner's progress to the caller's Count.
type hearing struct {
	watch          *progress.Count // nil if there is no progress to report
	files, matches uint64          // totals received so far
}

// progress handles the totals in a frameAlive.
func (h *hearing) progress(data []byte) {
	files, n := binary.Uvarint(data)
	if h.watch == nil || n <= 0 {
		return // an older owner sends no totals
	}
	matches, m := binary.Uvarint(data[n:])
	if m <= 0 || files < h.files || matches < h.matches {
		return
	}
	h.watch.Files.Add(int64(files - h.files))
	h.watch.Matches.Add(int64(matches - h.matches))
	h.files, h.matches = files, matches
}

// broken closes the connection and returns the reason.
func (c *Client) broken(ctx context.Context, err error) error {
	c.conn.Close()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", ErrNoOwner, err)
}

// Close closes the connection.
func (c *Client) Close() error { return c.conn.Close() }
