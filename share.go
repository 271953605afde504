package quarry

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"

	"quarry/internal/owner"
)

// A process that doesn't keep the index sends its whole query to the one that
// does. If anything goes wrong, it answers by itself, and of files that came
// before it gives no second time (see handed).

// shareVersion changes with the form of the messages: two programs of different
// versions don't understand each other, and scan.
const shareVersion = 2

// request is what is asked of an owner.
type request struct {
	Version int
	Search  *Query
	Find    *FindQuery
	Status  bool
}

// The first byte of a message says what follows.
const (
	msgFile    = 'f' // a file, as in wire.go
	msgSummary = 's' // a Summary, gob
	msgFind    = 'p' // a FindResult, gob
	msgStatus  = 'i' // an IndexStatus, gob
	msgNone    = 'n' // the owner has no index to answer by: scan
)

// answer serves other processes.
func (w *Workspace) answer(ctx context.Context, raw []byte, send func([]byte) error) error {
	var req request
	if err := gob.NewDecoder(bytes.NewReader(raw)).Decode(&req); err != nil {
		return fmt.Errorf("damaged request: %w", err)
	}
	if req.Version != shareVersion {
		return send([]byte{msgNone})
	}
	switch {
	case w.keeper.Load() == nil: // not yet, or no longer
		return send([]byte{msgNone})
	case req.Status:
		return sendGob(send, msgStatus, w.keeper.Load().status())
	case !w.keeper.Load().ready.Load():
		return send([]byte{msgNone})
	case req.Find != nil:
		r, err := w.Find(ctx, *req.Find)
		if err != nil {
			return err
		}
		return sendGob(send, msgFind, r)
	case req.Search != nil:
		var buf []byte
		sum, err := w.SearchEach(ctx, *req.Search, func(f *File) error {
			buf = appendFile(append(buf[:0], msgFile), f)
			return send(buf)
		})
		if err != nil {
			return err
		}
		return sendGob(send, msgSummary, sum)
	}
	return errors.New("empty request")
}

func sendGob(send func([]byte) error, kind byte, v any) error {
	var b bytes.Buffer
	b.WriteByte(kind)
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		return err
	}
	return send(b.Bytes())
}

// ask sends a request to the owner, if there is one, and passes the messages to
// receive. errNoIndex means that nobody has answered.
func (w *Workspace) ask(ctx context.Context, req request, receive func(kind byte, body []byte) error) error {
	if w.indexOpts == nil || w.indexOpts.Socket == "" || w.keeper.Load() != nil {
		return errNoIndex
	}
	c, err := owner.Dial(w.indexOpts.Socket)
	if err != nil {
		if !w.indexOpts.Ask { // the owner is gone: take its place
			if err := w.becomeKeeper(); err != nil {
				w.log.Warn("index: can't take it over", "err", err)
			}
		}
		return errNoIndex
	}
	defer c.Close()
	req.Version = shareVersion
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(req); err != nil {
		return errNoIndex
	}
	var refused bool
	var own error // of receive
	err = c.Ask(ctx, b.Bytes(), func(m []byte) error {
		if refused = len(m) == 0 || m[0] == msgNone; refused {
			return errNoIndex
		}
		own = receive(m[0], m[1:])
		return own
	})
	switch {
	case own != nil:
		return own
	case err == nil || ctx.Err() != nil:
		return err
	}
	return errNoIndex // an error of the owner's comes up again, typed, when we search
}

// handed passes files on and remembers which, so that a search whose owner died
// half-way can be made again without giving a file twice.
type handed struct {
	yield func(*File) error
	paths []string
	err   error // of yield
}

func (h *handed) file(f *File) error {
	h.paths = append(h.paths, f.Path)
	h.err = h.yield(f)
	return h.err
}

// rest passes on what file hasn't. A query may name a file several times.
func (h *handed) rest() func(*File) error {
	if len(h.paths) == 0 {
		return h.yield
	}
	had := map[string]int{}
	for _, p := range h.paths {
		had[p]++
	}
	return func(f *File) error {
		if had[f.Path] > 0 {
			had[f.Path]--
			return nil
		}
		return h.yield(f)
	}
}

// askSearch lets the owner search. Relevance and times are its business too.
// With errNoIndex the search is still to be made, and what it finds is for
// rest: the files of an owner that died don't come twice.
func (w *Workspace) askSearch(ctx context.Context, q *Query, yield func(*File) error) (sum *Summary, rest func(*File) error, err error) {
	if q.NoIndex || q.IncludeIgnored || q.Invert {
		return nil, yield, errNoIndex
	}
	to := &handed{yield: yield}
	err = w.ask(ctx, request{Search: q}, func(kind byte, body []byte) error {
		switch kind {
		case msgFile:
			f, err := decodeFile(body)
			if err != nil {
				return err
			}
			return to.file(&f)
		case msgSummary:
			sum = &Summary{}
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
	case err != nil && ctx.Err() != nil:
		return nil, nil, err
	}
	return nil, to.rest(), errNoIndex
}

func (w *Workspace) askFind(ctx context.Context, q *FindQuery) (*FindResult, error) {
	if q.NoIndex || q.IncludeIgnored || q.Stat || q.Order != ByPath || q.Kind != OnlyFiles {
		return nil, errNoIndex
	}
	var r *FindResult
	err := w.ask(ctx, request{Find: q}, func(kind byte, body []byte) error {
		if kind != msgFind {
			return errWire
		}
		r = &FindResult{}
		return gob.NewDecoder(bytes.NewReader(body)).Decode(r)
	})
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	if err != nil || r == nil {
		return nil, errNoIndex
	}
	r.Stats.Remote = true
	return r, nil
}

func (w *Workspace) askStatus(ctx context.Context) (*IndexStatus, error) {
	if w.elsewhere != nil {
		return w.elsewhere.IndexStatus(ctx)
	}
	st := &IndexStatus{}
	err := w.ask(ctx, request{Status: true}, func(kind byte, body []byte) error {
		if kind != msgStatus {
			return errWire
		}
		return gob.NewDecoder(bytes.NewReader(body)).Decode(st)
	})
	st.Remote = true
	return st, err
}
