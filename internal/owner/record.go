package owner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/crew"
	"quarry/internal/policy"
	"quarry/internal/recorder"
	"quarry/internal/rootfs"
)

// The owner of the index records changes for every process that requests it. Such a
// process keeps its connection open. Recording ends with the owner; then one of these
// processes becomes the owner and continues.

// Record specifies where changes of other programs are recorded.
type Record struct {
	StateDir string // of the undo log
	MaxBytes int64
	KeepAge  time.Duration
}

// recordAsk is a request to an owner's recorder, such as to begin recording.
type recordAsk struct {
	On     *Record
	Flush  bool
	Status bool
	Purge  bool
	Path   string // Purge: of these records; "" means everything
}

const (
	msgMarked = 'm' // a change.Marked, encoded with gob
	msgRecord = 'r' // a change.Recording, encoded with gob
)

// recording is an owner's recorder, with the policies of paths that must not be recorded.
type recording struct {
	begin func(to *Record) // starts recording until the owner ends
	rec   atomic.Pointer[recorder.Recorder]
	users atomic.Int32 // number of other processes that requested recording

	mu      sync.Mutex
	on      bool
	to      *Record
	end     func() // stops the recorder and waits for it
	failed  error
	denials map[string]*policy.Policy // by their rules as text
}

// deny adds the deny rules of a client's view.
func (g *recording) deny(v *View) {
	if len(v.Deny) == 0 || v.Trusted {
		return
	}
	key := strings.Join(v.Deny, "\n")
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.denials[key] != nil {
		return
	}
	p, err := policy.New(policy.Rules{AllowSecrets: true, Deny: v.Deny})
	if err != nil {
		return // invalid rules: that process fails to start
	}
	if g.denials == nil {
		g.denials = map[string]*policy.Policy{}
	}
	g.denials[key] = p
	if r := g.rec.Load(); r != nil {
		r.Deny(p)
	}
}

// record starts recording, unless it has started. It continues until the owner ends.
func (o *owned) record(ctx context.Context, to *Record) {
	g := &o.recording
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.on {
		return
	}
	g.on = true
	o.done.Go(func() {
		select {
		case <-o.built:
		case <-ctx.Done():
			return
		}
		r, err := o.openRecorder(to)
		g.mu.Lock()
		g.on, g.failed = err == nil, err
		if err == nil {
			for _, p := range g.denials {
				r.Deny(p)
			}
			g.rec.Store(r)
		}
		g.mu.Unlock()
		if err != nil {
			o.log.Warn("changes of other programs are not recorded", "err", err)
			return
		}
		o.mu.Lock()
		watcher := o.watcher
		o.mu.Unlock()
		var pending <-chan struct{}
		if watcher != nil {
			pending = watcher.Pending()
		}
		running, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		g.mu.Lock()
		g.end = func() { stop(); <-ended }
		g.to = to
		g.mu.Unlock()
		err = apart(func() { r.Run(running, pending) })
		stop()
		g.rec.Store(nil)
		if err = errors.Join(err, r.Close()); err != nil {
			o.log.Warn("recorder", "err", err)
		}
		close(ended)
	})
}

// apart runs f and turns a panic into an error, so that a bug in the recorder doesn't
// stop searches.
func apart(f func()) error {
	var g crew.Group
	g.Go(f)
	return g.WaitErr()
}

func (o *owned) openRecorder(to *Record) (*recorder.Recorder, error) {
	return recorder.Open(o.root.RealDir(), &recorder.Options{
		StateDir: to.StateDir, MaxBytes: to.MaxBytes, KeepAge: to.KeepAge, Walk: o.opts.walk(), Workers: o.opts.Workers, Logger: o.log, Layer: o.root.Layer(),
		Covers: func(path string, dir bool) bool {
			if dir {
				return o.judge.Visits(path)
			}
			return o.judge.Lists(path)
		},
		Refresh: func(ctx context.Context) error {
			snap, err := o.ix.Fresh(ctx)
			if err != nil {
				return err
			}
			snap.Close()
			return nil
		},
	})
}

// purge stops the recorder and removes records.
func (o *owned) purge(ctx context.Context, path string) error {
	g := &o.recording
	g.mu.Lock()
	end, to := g.end, g.to
	g.mu.Unlock()
	if end == nil {
		return nil
	}
	end()
	err := recorder.Purge(ctx, &recorder.Options{StateDir: to.StateDir, Layer: o.root.Layer()}, path)
	g.mu.Lock()
	g.on, g.end = false, nil
	g.mu.Unlock()
	g.begin(to)
	return err
}

// changed passes the watcher's events to the recorder.
func (o *owned) changed(files []rootfs.Path, trees []rootfs.Path) {
	r := o.recording.rec.Load()
	if r == nil || len(files)+len(trees) == 0 {
		return
	}
	r.Changed(texts(files), texts(trees))
	if o.server != nil { // this process serves other processes
		o.server.last.Store(time.Now().UnixNano())
	}
}

func texts(paths []rootfs.Path) []string {
	list := make([]string, 0, len(paths))
	for _, p := range paths {
		if p.IsRoot() {
			list = append(list, "")
		} else {
			list = append(list, p.String())
		}
	}
	return list
}

// recorded answers a recordAsk.
func (o *owned) recorded(ctx context.Context, req *request) (*change.Recording, error) {
	ask := req.Record
	if ask.On != nil {
		o.recording.begin(ask.On)
		o.recording.users.Add(1)
		context.AfterFunc(ctx, func() { o.recording.users.Add(-1) })
		return &change.Recording{On: true}, nil
	}
	o.recording.mu.Lock()
	err, on := o.recording.failed, o.recording.on
	o.recording.mu.Unlock()
	r := o.recording.rec.Load()
	if r == nil {
		st := &change.Recording{Starting: on}
		if err != nil {
			st.Problem = err.Error()
		}
		return st, nil
	}
	var failed error
	err = apart(func() {
		switch {
		case ask.Flush:
			_, failed = r.Flush(ctx)
		case ask.Purge:
			failed = o.purge(ctx, ask.Path)
		}
	})
	if err = cmp.Or(err, failed); err != nil {
		return nil, err
	}
	if r = o.recording.rec.Load(); r == nil {
		return &change.Recording{On: true}, nil // recording restarts after a purge
	}
	st := r.Status()
	st.Starting = !st.On
	o.mu.Lock()
	if o.watcher != nil {
		st.Unwatched = o.watcher.Status().Unwatched
	}
	o.mu.Unlock()
	return st, nil
}

// marked answers a request with a mark.
func (o *owned) marked(ctx context.Context, m *change.Mark) (*change.Marked, error) {
	answer := &change.Marked{}
	r := o.recording.rec.Load()
	if r == nil {
		return answer, nil
	}
	var failed error
	err := apart(func() { answer, failed = r.Mark(ctx, m) })
	return answer, cmp.Or(err, failed)
}

// SendMark sends a mark to the owner at a socket. It does not start an owner: ErrNoOwner
// means that no process has the index, so nothing is being recorded.
func SendMark(ctx context.Context, socket string, mark *change.Mark) (*change.Marked, error) {
	answer := &change.Marked{}
	c, err := tell(ctx, socket, &request{Mark: mark}, msgMarked, answer)
	if c != nil {
		c.Close()
	}
	return answer, err
}

// tell sends a request that is answered by one message. The connection stays open.
func tell(ctx context.Context, socket string, req *request, want byte, answer any) (*Client, error) {
	c, err := Dial(socket)
	if err != nil {
		return nil, err
	}
	req.Version = shareVersion
	var b bytes.Buffer
	if err = gob.NewEncoder(&b).Encode(req); err == nil {
		err = c.Ask(ctx, b.Bytes(), func(m []byte) error {
			if len(m) == 0 || m[0] != want {
				return ErrNoIndex
			}
			return gob.NewDecoder(bytes.NewReader(m[1:])).Decode(answer)
		})
	}
	return c, err
}

// Flush waits until the owner has recorded all changes up to now. Without a recorder it
// does nothing.
func (m *Member) Flush(ctx context.Context) error {
	_, err := m.askRecorder(ctx, recordAsk{Flush: true})
	if errors.Is(err, errSilent) {
		_, err = m.askRecorder(ctx, recordAsk{Flush: true}) // on a busy machine the first sign may come late
	}
	return err
}

// Recording returns the state of the recording, or nil if no process owns the index.
func (m *Member) Recording(ctx context.Context) (*change.Recording, error) {
	return m.askRecorder(ctx, recordAsk{Status: true})
}

// Purge removes the records of path and everything below it, or all records if path is
// "". It returns false if no process is recording.
func (m *Member) Purge(ctx context.Context, path string) (bool, error) {
	st, err := m.askRecorder(ctx, recordAsk{Purge: true, Path: path})
	return st != nil && st.On, err
}

// recorded answers a request about the recording. From now on, paths denied by this
// process or by the requesting one are not recorded.
func (m *Member) recorded(ctx context.Context, req *request) (*change.Recording, error) {
	o := m.holds()
	o.recording.deny(m.view.Load())
	o.recording.deny(&req.View)
	return o.recorded(ctx, req)
}

var errSilent = fault.New(fault.Timeout, "the process that records changes of other programs does not answer", "try again; quarry doctor names the process")

func (m *Member) askRecorder(ctx context.Context, ask recordAsk) (*change.Recording, error) {
	if m == nil {
		return nil, nil
	}
	if m.holds() != nil {
		return m.recorded(ctx, &request{Record: &ask})
	}
	answer := &change.Recording{}
	c, err := tell(ctx, m.opts.Socket, &request{Record: &ask, View: *m.view.Load()}, msgRecord, answer)
	if c != nil {
		c.Close()
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, errSilent
	case c == nil:
		return nil, nil // no process owns the index
	}
	if errors.Is(err, ErrNoOwner) || errors.Is(err, ErrNoIndex) {
		return nil, ctx.Err()
	}
	return answer, err
}

// keepRecording makes the owner record until the member is closed, whichever process is
// the owner.
func (m *Member) keepRecording() {
	ctx, stop := context.WithCancel(context.Background())
	m.stopRecording = stop
	m.recordingEnds.Go(func() {
		for wait := time.Duration(0); ctx.Err() == nil; {
			if err := m.own(); err == nil && m.Owns() {
				m.holds().recording.deny(m.view.Load())
				m.holds().recording.begin(m.opts.Record)
				return
			}
			c, err := tell(ctx, m.opts.Socket, &request{Record: &recordAsk{On: m.opts.Record}, View: *m.view.Load()}, msgRecord, &change.Recording{})
			if err == nil {
				wait = 0
				stop := context.AfterFunc(ctx, func() { c.Close() })
				_, _ = io.Copy(io.Discard, c.conn) // returns when the owner ends
				stop()
			}
			if c != nil {
				c.Close()
			}
			if err != nil { // the owner has another version, or is starting or ending
				wait = min(max(2*wait, 50*time.Millisecond), 10*time.Second)
			}
			select {
			case <-ctx.Done():
			case <-time.After(wait):
			}
		}
	})
}
