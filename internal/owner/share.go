package owner

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"slices"

	"quarry/change"
	"quarry/internal/progress"
	"quarry/internal/rootfs"
	"quarry/search"
)

// A process that doesn't own the index sends its whole query to the owner. If that fails,
// it answers the query itself, without repeating files that were already delivered (see
// handed).

// shareVersion is the version of the message format. Processes with different versions
// can't share an index; they scan.
const shareVersion = 15

// request is a request to an owner.
type request struct {
	Version int
	View    View
	Place   rootfs.Place // the folder that the client has at the root's path
	Mounts  uint64       // identifies the file systems mounted below it
	Search  *search.Query
	Find    *search.FindQuery
	Code    *search.CodeQuery
	Symbols *search.SymbolQuery
	Texts   *textsRequest
	Status  bool
	Mark    *change.Mark
	Record  *recordAsk
}

// The first byte of a message is its kind. Bodies marked gob are encoded with it.
const (
	msgFile    = 'f' // a file, as in wire.go
	msgSummary = 's' // a Summary, gob
	msgFind    = 'p' // a FindResult, gob
	msgCode    = 'c' // a CodeResult, gob
	msgSymbols = 'd' // a SymbolResult, gob
	msgFields  = 'k' // fields of files, as in fields.go
	msgTexts   = 't' // a TextsAnswer, gob
	msgStatus  = 'i' // an IndexStatus, gob
	msgNone    = 'n' // the owner has no index for the query: the client must scan
)

// answer serves other processes.
func (m *Member) answer(ctx context.Context, raw []byte, send func([]byte) error) error {
	var req request
	if err := gob.NewDecoder(bytes.NewReader(raw)).Decode(&req); err != nil {
		return fmt.Errorf("damaged request: %w", err)
	}
	return m.reply(ctx, &req, send)
}

func (m *Member) reply(ctx context.Context, req *request, send func([]byte) error) error {
	switch {
	case !m.Owns(): // this process is not yet, or no longer, the owner
		return send([]byte{msgNone})
	case req.Status: // answered for clients of any version, so that they learn this one's version
		st := m.holds().status()
		place, err := m.holds().root.Place()
		st.FolderReplaced = err != nil || place != req.Place
		return sendGob(send, msgStatus, st)
	case req.Version != shareVersion:
		return send([]byte{msgNone})
	case req.Mark != nil:
		answer, err := m.holds().marked(ctx, req.Mark)
		if err != nil {
			return err
		}
		return sendGob(send, msgMarked, answer)
	case req.Record != nil:
		answer, err := m.recorded(ctx, req)
		if err != nil {
			return err
		}
		return sendGob(send, msgRecord, answer)
	case !m.opening(ctx) || !m.sees(req) || req.Texts != nil && req.Texts.Extractor != m.extractor():
		return send([]byte{msgNone})
	}
	m.holds().recording.deny(&req.View)
	return m.hand(ctx, req, send)
}

// hand passes a query to the reader of Requests and waits for the answer.
func (m *Member) hand(ctx context.Context, req *request, send func([]byte) error) error {
	r := &Request{
		View: req.View, Search: req.Search, Find: req.Find, Code: req.Code, Symbols: req.Symbols, Texts: req.Texts.query(),
		Progress: progress.Of(ctx), OnGone: func(f func()) func() bool { return context.AfterFunc(ctx, f) },
		send: send, done: make(chan error, 1),
	}
	select {
	case m.requests <- r:
		return <-r.done
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Requests returns the channel with the queries of other processes, which arrive while
// this process owns the index. Close closes it. If this process can become the owner, it
// must read the channel.
func (m *Member) Requests() <-chan *Request { return m.requests }

// Request is a query from another process to this one, the owner. The first query that is
// set must be answered through the view. The receiver must call Finish once.
type Request struct {
	View    View
	Search  *search.Query // each file is passed to Request.File
	Find    *search.FindQuery
	Code    *search.CodeQuery
	Symbols *search.SymbolQuery
	Texts   *search.TextQuery // each file is passed to Request.Field

	Progress *progress.Count // sent to the client
	// OnGone calls f when the client disconnects, unless stop is called before.
	OnGone func(f func()) (stop func() bool)

	send   func([]byte) error
	buf    []byte
	failed error // the error from sending fields
	done   chan error
}

// File sends a file of the answer to Search.
func (r *Request) File(f *search.FileMatch) error {
	r.buf = appendFile(append(r.buf[:0], msgFile), f)
	return r.send(r.buf)
}

// Finish ends the answer: with a *search.Summary, *search.FindResult, *search.CodeResult,
// *search.SymbolResult or *TextsAnswer; with nil if no index can answer; or with an
// error.
func (r *Request) Finish(result any, err error) {
	if err == nil {
		err = r.finish(result)
	}
	r.done <- err
}

func (r *Request) finish(result any) error {
	switch result := result.(type) {
	case nil:
		return r.send([]byte{msgNone})
	case *search.Summary:
		return sendGob(r.send, msgSummary, result)
	case *search.FindResult:
		return sendGob(r.send, msgFind, result)
	case *search.CodeResult:
		return sendGob(r.send, msgCode, result)
	case *search.SymbolResult:
		return sendGob(r.send, msgSymbols, result)
	case *TextsAnswer:
		if err := r.flushFields(); err != nil {
			return err
		}
		return sendGob(r.send, msgTexts, result)
	}
	return fmt.Errorf("unexpected answer %T", result)
}

// sees reports whether the indexed folder is the one that a client has. They may differ
// if the folder was replaced, or if the client is in another mount namespace, where it
// may also see other file systems in the folder.
func (m *Member) sees(req *request) bool {
	o := m.holds()
	if o == nil {
		return false
	}
	if _, err := o.root.Follow(); err != nil {
		return false
	}
	place, err := o.root.Place()
	return err == nil && place == req.Place && m.mounts.Sum() == req.Mounts
}

func sendGob(send func([]byte) error, kind byte, v any) error {
	var b bytes.Buffer
	b.WriteByte(kind)
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		return err
	}
	return send(b.Bytes())
}

// ask sends a request to the owner, if there is one, and calls receive for each message.
// ErrNoIndex means that no owner has answered.
func (m *Member) ask(ctx context.Context, req request, receive func(kind byte, body []byte) error) error {
	if m == nil || m.Owns() {
		m.opening(ctx)
		return ErrNoIndex
	}
	if m.opts.Socket == "" || m.silent.still() {
		return ErrNoIndex
	}
	c, err := Dial(m.opts.Socket)
	if err != nil {
		m.alone(ctx)
		return ErrNoIndex
	}
	defer c.Close()
	req.Version, req.View, req.Mounts = shareVersion, *m.view.Load(), m.mounts.Sum()
	if req.Place, err = m.root.Place(); err != nil {
		return ErrNoIndex
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(req); err != nil {
		return ErrNoIndex
	}
	var refused bool
	var own error // the error from receive
	err = c.Ask(ctx, b.Bytes(), func(m []byte) error {
		if refused = len(m) == 0 || m[0] == msgNone; refused {
			return ErrNoIndex
		}
		own = receive(m[0], m[1:])
		return own
	})
	switch {
	case own != nil:
		return own
	case err == nil || ctx.Err() != nil:
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		m.log.Warn("index: its owner shows no life; searching without it until it does")
		m.silent.begin(m.opts.Socket)
	}
	return ErrNoIndex // ignore the owner's error: if it isn't temporary, our own search returns it with its type
}

// alone is called if no owner answers. It makes this process the owner, or opens the
// stored index.
func (m *Member) alone(ctx context.Context) {
	if m.opts.Ask {
		m.lend()
		return
	}
	if err := m.own(); err != nil {
		m.log.Warn("index: can't take it over", "err", err)
	}
	m.opening(ctx)
}

// opening waits while a stored index is being opened, and reports whether it is then
// ready. On Linux 6.1 opening takes a quarter of a second, and a scan half a second.
func (m *Member) opening(ctx context.Context) bool {
	o := m.holds()
	if o == nil {
		return false
	}
	if !o.ready.Load() && o.stored {
		select {
		case <-o.opened:
		case <-ctx.Done():
		}
	}
	return o.ready.Load()
}

// handed delivers files and remembers their paths. If the owner dies, the search can be
// repeated without delivering a file twice.
type handed struct {
	yield func(*search.FileMatch) error
	paths []string
	err   error // the error from yield

	// The last file, if it was delivered only in part, and its lines and matches so far.
	open                    string
	lines, matched, matches int
}

func (h *handed) file(f *search.FileMatch) error {
	if f.More {
		h.open = f.Path
		h.lines, h.matched, h.matches = h.lines+len(f.Lines), h.matched+f.Matched, h.matches+f.Matches
	} else {
		h.paths = append(h.paths, f.Path)
		h.lines, h.matched, h.matches = 0, 0, 0
	}
	h.err = h.yield(f)
	return h.err
}

// resume removes the lines that were already delivered from f, and reports whether any
// remain.
func (h *handed) resume(f *search.FileMatch) bool {
	n := min(h.lines, len(f.Lines))
	f.Lines, h.lines = f.Lines[n:], h.lines-n
	n = min(h.matched, f.Matched)
	f.Matched, h.matched = f.Matched-n, h.matched-n
	n = min(h.matches, f.Matches)
	f.Matches, h.matches = f.Matches-n, h.matches-n
	return !f.More || len(f.Lines) > 0
}

// rest returns a function that delivers only files not yet delivered.
func (h *handed) rest() func(*search.FileMatch) error {
	if len(h.paths) == 0 && h.lines == 0 {
		return h.yield
	}
	had := map[string]int{}
	for _, p := range h.paths {
		had[p]++
	}
	return func(f *search.FileMatch) error {
		if had[f.Path] > 0 {
			if !f.More {
				had[f.Path]--
			}
			return nil
		}
		if h.lines > 0 && f.Path == h.open && !h.resume(f) {
			return nil
		}
		return h.yield(f)
	}
}

// Search makes the owner search, in any order that a query can ask for. If no owner
// answers, sum is nil. The caller must then search and pass its results to rest, which
// skips files already delivered.
func (m *Member) Search(ctx context.Context, q *search.Query, yield func(*search.FileMatch) error) (sum *search.Summary, rest func(*search.FileMatch) error, err error) {
	if q.NoIndex || q.Invert {
		return nil, yield, nil
	}
	to := &handed{yield: yield}
	err = m.ask(ctx, request{Search: q}, func(kind byte, body []byte) error {
		switch kind {
		case msgFile:
			f, err := decodeFile(body)
			if err != nil {
				return err
			}
			if !m.mayKnow(f.Path) {
				return errWire
			}
			return to.file(&f)
		case msgSummary:
			sum = &search.Summary{}
			return gob.NewDecoder(bytes.NewReader(body)).Decode(sum)
		}
		return errWire
	})
	switch {
	case to.err != nil:
		return nil, nil, to.err
	case err == nil && sum != nil:
		sum.Stats.Remote = true
		return sum, nil, nil
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	}
	return nil, to.rest(), nil
}

// mayKnow reports whether this process's own policy allows a file's name. The owner
// should have applied the policy; otherwise its answer is rejected.
func (m *Member) mayKnow(path string) bool {
	p, err := m.root.Known(path)
	return err == nil && !m.root.Policy().Path(p.String(), false).Refused()
}

// Find makes the owner list paths. It returns nil if no owner answers.
func (m *Member) Find(ctx context.Context, q *search.FindQuery) (*search.FindResult, error) {
	if q.NoIndex || q.Stat || q.Links || q.Order != search.ByPath || q.Kind != search.OnlyFiles {
		return nil, nil
	}
	return askOnce(ctx, m, request{Find: q}, msgFind, func(r *search.FindResult) (*search.Summary, bool) {
		return &r.Summary, !slices.ContainsFunc(r.Entries, func(e search.Entry) bool { return !m.mayKnow(e.Path) })
	})
}

// Code makes the owner rank code. It returns nil if no owner answers.
func (m *Member) Code(ctx context.Context, q *search.CodeQuery) (*search.CodeResult, error) {
	if q.NoIndex {
		return nil, nil
	}
	return askOnce(ctx, m, request{Code: q}, msgCode, func(r *search.CodeResult) (*search.Summary, bool) {
		return &r.Summary, !slices.ContainsFunc(r.Chunks, func(c search.Chunk) bool { return !m.mayKnow(c.Path) })
	})
}

// Symbols makes the owner look up definitions. It returns nil if no owner answers.
func (m *Member) Symbols(ctx context.Context, q *search.SymbolQuery) (*search.SymbolResult, error) {
	if q.NoIndex {
		return nil, nil
	}
	return askOnce(ctx, m, request{Symbols: q}, msgSymbols, func(r *search.SymbolResult) (*search.Summary, bool) {
		return &r.Summary, !slices.ContainsFunc(r.Symbols, func(s search.Symbol) bool { return !m.mayKnow(s.Path) })
	})
}

// askOnce sends a request that is answered by one message. check returns the answer's
// summary, and false if the answer has paths that this client may not see. The result is
// nil in that case, and if there is no answer.
func askOnce[T any](ctx context.Context, m *Member, q request, want byte, check func(*T) (*search.Summary, bool)) (*T, error) {
	var answer *T
	err := m.ask(ctx, q, func(kind byte, body []byte) error {
		if kind != want {
			return errWire
		}
		answer = new(T)
		if err := gob.NewDecoder(bytes.NewReader(body)).Decode(answer); err != nil {
			return err
		}
		sum, allowed := check(answer)
		if !allowed {
			return errWire
		}
		sum.Stats.Remote = true
		return nil
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, nil
	}
	return answer, nil
}

func (m *Member) askStatus(ctx context.Context) (*search.IndexStatus, error) {
	st := &search.IndexStatus{}
	err := m.ask(ctx, request{Status: true}, func(kind byte, body []byte) error {
		if kind != msgStatus {
			return errWire
		}
		return gob.NewDecoder(bytes.NewReader(body)).Decode(st)
	})
	st.Remote = true
	return st, err
}
