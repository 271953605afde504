package page

import (
	"cmp"
	"net/http"
	"strconv"

	"quarry/internal/activity"
)

// maxCalls is how many calls an answer has.
const maxCalls = 500

// activity lists the calls of tools after a number, oldest first.
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
	return map[string]any{"on": true, "calls": s.opts.Activity.Since(after, maxCalls), "last": last, "epoch": epoch}, nil
}

// purgeActivity removes all lines.
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
