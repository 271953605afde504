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
func (s *Server) activity(w http.ResponseWriter, r *http.Request) {
	if s.opts.Activity == nil {
		respond(w, http.StatusOK, map[string]any{"on": false, "calls": []activity.Numbered{}})
		return
	}
	after, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("after"), "0"))
	if err != nil || after < 0 {
		fail(w, badRequest("invalid number"))
		return
	}
	last, epoch, err := s.opts.Activity.Look()
	if err != nil {
		fail(w, err)
		return
	}
	respond(w, http.StatusOK, map[string]any{"on": true, "calls": s.opts.Activity.Since(after, maxCalls), "last": last, "epoch": epoch})
}

// purgeActivity removes all lines.
func (s *Server) purgeActivity(w http.ResponseWriter, r *http.Request) {
	var req struct{}
	err := readBody(w, r, &req)
	if err == nil && s.opts.Activity != nil {
		err = s.opts.Activity.Purge()
	}
	if err != nil {
		fail(w, err)
		return
	}
	s.pulse.poke()
	respond(w, http.StatusOK, map[string]any{})
}
