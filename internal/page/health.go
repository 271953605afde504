package page

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/presence"
)

// timing is the duration of one search, in milliseconds.
type timing struct {
	Total float64 `json:"total"`
	First float64 `json:"first,omitempty"` // time until the first file; 0 if no file was found
	Scan  bool    `json:"scan,omitempty"`  // the search did not use the index
}

// timings holds the durations of the latest searches on the page.
type timings struct {
	mu   sync.Mutex
	list []timing // oldest first; guarded by mu
}

const keptTimings = 60

func (t *timings) add(one timing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, one)
	if n := len(t.list) - keptTimings; n > 0 {
		t.list = slices.Delete(t.list, 0, n)
	}
}

func (t *timings) all() []timing {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]timing{}, t.list...)
}

// wireIndex is the state of the index.
type wireIndex struct {
	State     string    `json:"state"`
	Files     int       `json:"files"`
	TextBytes int64     `json:"text_bytes"`
	DiskBytes int64     `json:"disk_bytes"`
	Pending   int       `json:"pending"`
	Watches   int       `json:"watches"`
	Unwatched int       `json:"unwatched"`
	Freshness string    `json:"freshness"`
	Updated   time.Time `json:"updated,omitzero"`
	PID       int       `json:"pid,omitempty"`
	Remote    bool      `json:"remote,omitempty"`
	Read      int       `json:"read,omitempty"`
	ToRead    int       `json:"to_read,omitempty"`
	Error     string    `json:"error,omitempty"`
}

func (s *Server) indexState(ctx context.Context) wireIndex { return stateOf(ctx, s.ws.Index()) }

// wireRoot describes one of several roots.
type wireRoot struct {
	Name  string     `json:"name"`
	Dir   string     `json:"dir"`
	Index *wireIndex `json:"index,omitempty"`
}

// roots describes the roots of a joined workspace; for a single folder it returns nil. If full is
// set, it includes the state of each index.
func (s *Server) roots(ctx context.Context, full bool) []wireRoot {
	list := []wireRoot{}
	for _, r := range s.ws.Roots() {
		if r.Name == "" {
			continue
		}
		one := wireRoot{Name: r.Name, Dir: r.Workspace.Dir()}
		if full {
			state := stateOf(ctx, r.Workspace.Index())
			one.Index = &state
		}
		list = append(list, one)
	}
	return list
}

func stateOf(ctx context.Context, ix *quarry.Index) wireIndex {
	st, err := ix.Status(ctx)
	if err != nil {
		return wireIndex{State: "failed", Error: err.Error()}
	}
	return wireIndex{
		State: st.State, Files: st.Files, TextBytes: st.TextBytes, DiskBytes: st.DiskBytes, Pending: st.Pending,
		Watches: st.Watches, Unwatched: st.Unwatched, Freshness: st.Freshness, Updated: st.Updated, PID: st.PID, Remote: st.Remote,
		Read: st.Building.Files, ToRead: st.Building.Total, Error: st.Error,
	}
}

// about returns the data needed by every view.
func (s *Server) about(w http.ResponseWriter, r *http.Request) (any, error) {
	theme := ""
	if s.opts.Theme != nil {
		theme = s.opts.Theme()
	}
	return map[string]any{
		"name": s.opts.Name, "dir": s.ws.Dir(), "version": s.opts.Version, "editor": s.editor, "read_only": s.opts.ReadOnly,
		"index": s.indexState(r.Context()), "started": s.started.UnixMilli(),
		"roots": s.roots(r.Context(), false), "waiting": s.waiting(), "review": s.opts.Review != nil, "theme": theme,
	}, nil
}

// keepTheme stores the chosen theme for future runs.
func (s *Server) keepTheme(w http.ResponseWriter, r *http.Request) (any, error) {
	var req struct {
		Theme string `json:"theme"`
	}
	if err := readBody(w, r, &req); err != nil {
		return nil, err
	}
	if req.Theme != "light" && req.Theme != "dark" {
		return nil, badRequest("a theme is light or dark")
	}
	if s.opts.KeepTheme != nil {
		if err := s.opts.KeepTheme(req.Theme); err != nil {
			return nil, err
		}
	}
	return map[string]string{"theme": req.Theme}, nil
}

// health returns everything for the health view except the checks, which take longer.
func (s *Server) health(w http.ResponseWriter, r *http.Request) (any, error) {
	rules := s.opts.Rules
	if rules == nil {
		rules = []Rule{}
	}
	out := map[string]any{
		"index": s.indexState(r.Context()), "searches": s.times.all(), "rules": rules, "dir": s.ws.Dir(), "name": s.opts.Name,
		"roots": s.roots(r.Context(), true), "started": s.started.UnixMilli(), "now": time.Now().UnixMilli(), "version": s.opts.Version,
	}
	log, err := s.journal(r.Context(), 0)
	if err == nil {
		j := map[string]any{"changes": len(log.Changes), "dropped": log.Dropped, "damaged": log.Damaged}
		if n := len(log.Changes); n > 0 {
			j["oldest"], j["newest"] = log.Changes[n-1].Time, log.Changes[0].Time
		}
		out["journal"] = j
	} else {
		log = &change.Log{}
		out["journal"] = map[string]any{"error": err.Error()}
	}
	if st, err := s.ws.Recording(r.Context()); err != nil {
		out["recording"] = &change.Recording{Problem: err.Error()}
	} else if st != nil {
		out["recording"] = st
	}
	if s.opts.Clients != nil {
		list, err := s.opts.Clients()
		if err != nil {
			s.log.Warn("clients", "error", err)
		}
		out["clients"] = clientsOf(list, log)
	}
	return out, nil
}

// wireClient is a connected client.
type wireClient struct {
	presence.Client
	Changes int `json:"changes"` // changes applied, without proposals
}

// clientsOf returns each client with the number of its changes since it connected. It counts in the
// undo log, because calls may have been refused or dry runs.
func clientsOf(list []presence.Client, log *change.Log) []wireClient {
	out := []wireClient{}
	for _, c := range list {
		w := wireClient{Client: c}
		w.Sessions = nil // not used by the page
		for i := range log.Changes {
			by := &log.Changes[i]
			if !by.Pending && slices.Contains(c.Sessions, by.Client.Session) {
				w.Changes++
			}
		}
		out = append(out, w)
	}
	return out
}

// checks runs the checks of quarry doctor.
func (s *Server) checks(w http.ResponseWriter, r *http.Request) (any, error) {
	list := []Check{}
	if s.opts.Checks != nil {
		found, err := s.opts.Checks(r.Context())
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return map[string]any{"checks": list, "at": time.Now().UnixMilli()}, nil
}
