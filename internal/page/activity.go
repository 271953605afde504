package page

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"quarry/change"
	"quarry/internal/activity"
)

// maxCalls limits the calls in one answer.
const maxCalls = 500

// activity lists the tool calls after a given number, oldest first.
func (s *Server) activity(w http.ResponseWriter, r *http.Request) (any, error) {
	if s.opts.Activity == nil {
		return map[string]any{"on": false, "calls": []activity.Numbered{}}, nil
	}
	after, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("after"), "0"))
	if err != nil || after < 0 {
		return nil, badRequest("invalid number")
	}
	last, epoch, err := s.opts.Activity.Look()
	if err != nil {
		return nil, err
	}
	calls := s.opts.Activity.Since(after, maxCalls)
	out := map[string]any{"on": true, "calls": calls, "last": last, "epoch": epoch, "made": s.madeBy(r.Context(), calls)}
	if s.opts.Clients != nil {
		if list, err := s.opts.Clients(); err == nil {
			there := []string{}
			for _, c := range list {
				there = append(there, c.Sessions...)
			}
			out["there"] = there
		}
	}
	return out, nil
}

// madeBy maps the number of a call to the change it made, which is the one that the call's session
// made while the call ran.
func (s *Server) madeBy(ctx context.Context, calls []activity.Numbered) map[int]string {
	made := map[int]string{}
	if len(calls) == 0 {
		return made
	}
	log, err := s.journal(ctx, 0)
	if err != nil {
		return made
	}
	of := map[string][]*change.Change{}
	for i := range log.Changes {
		if c := &log.Changes[i]; c.Client.Session != "" {
			of[c.Client.Session] = append(of[c.Client.Session], c)
		}
	}
	for _, c := range calls {
		for _, m := range of[c.Session] {
			if d := m.Time.Sub(c.Time); m.Tool == c.Tool && d >= 0 && d <= time.Duration(c.Millis+1)*time.Millisecond {
				made[c.N] = m.ID
			}
		}
	}
	return made
}

// purgeActivity deletes all recorded calls.
func (s *Server) purgeActivity(w http.ResponseWriter, r *http.Request) (any, error) {
	var req struct{}
	err := readBody(w, r, &req)
	if err == nil && s.opts.Activity != nil {
		err = s.opts.Activity.Purge()
	}
	if err != nil {
		return nil, err
	}
	s.pulse.poke()
	return map[string]any{}, nil
}
