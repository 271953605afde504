package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// beat is the interval of polling the undo log while a page is open. Polling is needed because
	// other processes write the log too. One poll costs about 50 µs.
	beat = 250 * time.Millisecond
	// slowBeat is the interval of polling the index.
	slowBeat = time.Second
	// activityBeat is the interval of polling the recorded tool calls.
	activityBeat = 500 * time.Millisecond
	// keepAlive is the interval at which the server tells a page that it is still running.
	keepAlive = 10 * time.Second
	// maxStreams limits the open event streams, of which each page has one.
	maxStreams = 64
)

// event is an event sent to the page.
type event struct {
	Name string
	Data any
}

// pulse polls for changes by other processes and informs the open pages.
type pulse struct {
	s    *Server
	wake chan struct{}

	stamp   string    // stamp of the proposals when last counted; only used by run
	waiting int       // pending proposals when last counted; only used by run
	called  time.Time // when the activity was last polled; only used by run

	mu   sync.Mutex
	subs map[chan event]bool // guarded by mu
	last map[string]string   // last data sent, by event name; guarded by mu
}

func newPulse(s *Server) *pulse {
	return &pulse{s: s, wake: make(chan struct{}, 1), subs: map[chan event]bool{}, last: map[string]string{}}
}

// poke makes run poll immediately.
func (p *pulse) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *pulse) run(ctx context.Context) {
	fast, slow := time.NewTicker(beat), time.NewTicker(slowBeat)
	defer fast.Stop()
	defer slow.Stop()
	for {
		index := false
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
			index = true
		case <-fast.C:
		case <-slow.C:
			index = true
		}
		if p.listeners() > 0 {
			p.look(ctx, index)
		}
	}
}

func (p *pulse) listeners() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.subs)
}

func (p *pulse) look(ctx context.Context, index bool) {
	now := time.Now()
	if log, err := p.s.journal(ctx, 1); err == nil {
		newest, pending := "", false
		if len(log.Changes) > 0 {
			newest, pending = log.Changes[0].ID, log.Changes[0].Pending
		}
		p.tell("journal", map[string]any{"newest": newest, "pending": pending})
	}
	if r := p.s.opts.Review; r != nil {
		if index && p.waiting > 0 {
			r.Sweep() // remove killed agents, which don't report their end
		}
		if stamp, err := r.Stamp(); err == nil && stamp != p.stamp {
			open := p.s.waiting()
			open.Stamp = stamp
			p.stamp, p.waiting = stamp, open.Waiting
			p.tell("review", open)
		}
	}
	if a := p.s.opts.Activity; a != nil && now.Sub(p.called) >= activityBeat {
		p.called = now
		if last, epoch, err := a.Look(); err == nil {
			p.tell("activity", map[string]any{"last": last, "epoch": epoch})
		}
	}
	if index {
		p.tell("index", p.s.indexState(ctx))
	}
}

// tell sends data to all pages as event name, if it differs from the data last sent.
func (p *pulse) tell(name string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last[name] == string(text) {
		return
	}
	p.last[name] = string(text)
	for c := range p.subs {
		select {
		case c <- event{name, json.RawMessage(text)}:
		default: // the page is too slow; the next event supersedes this one
			delete(p.last, name)
		}
	}
}

// subscribe returns the last events, and a channel for new ones.
func (p *pulse) subscribe() (now []event, c chan event, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.subs) >= maxStreams {
		return nil, nil, false
	}
	for name, text := range p.last {
		now = append(now, event{name, json.RawMessage(text)})
	}
	c = make(chan event, 64)
	p.subs[c] = true
	return now, c, true
}

func (p *pulse) unsubscribe(c chan event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.subs, c)
}

// events sends events to the page as server-sent events.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	now, c, ok := s.pulse.subscribe()
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	defer s.pulse.unsubscribe(c)
	s.pulse.poke()
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	send := func(e event) error {
		data, err := json.Marshal(e.Data)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.Name, data); err != nil {
			return err
		}
		return flush.Flush()
	}
	if send(event{"hello", map[string]any{"started": s.started.UnixMilli()}}) != nil {
		return
	}
	for _, e := range now {
		if send(e) != nil {
			return
		}
	}
	tick := time.NewTicker(keepAlive)
	defer tick.Stop()
	for {
		var e event
		select {
		case <-r.Context().Done():
			return
		case e = <-c:
		case <-tick.C:
			e = event{"alive", map[string]any{"at": time.Now().UnixMilli()}}
		}
		if send(e) != nil {
			return
		}
	}
}
