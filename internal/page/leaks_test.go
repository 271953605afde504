package page

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"quarry"
	"quarry/internal/quarrytest"
	"quarry/internal/review"
)

// If a file is closed, no answer to the page contains its text, although the undo log, the trash or
// a proposal has it.
func TestNothingClosedLeaks(t *testing.T) {
	for _, deny := range []bool{true, false} {
		h := quarrytest.Hush(t, deny)
		store, err := review.Open(h.Reviews)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		h.Agent.Review = nil
		ws, err := quarry.Open(h.Dir, &h.Agent)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ws.Close() })
		s := serve(t, nil, func(o *Options) { o.Workspace, o.Review, o.Decide = ws, store, ws })
		asked, answered := 0, 0
		ask := func(path string) {
			res, body := s.request(t, "GET", path, "")
			if asked++; strings.Contains(body, quarrytest.Canary) {
				t.Errorf("GET %s: %s", path, body)
			} else if res.StatusCode == http.StatusOK {
				answered++
			}
		}
		for _, r := range s.routes() {
			switch {
			case r.fixed || r.method != "GET" || strings.HasSuffix(r.path, "/events") || r.path == helloPath:
			case strings.Contains(r.path, "{id}"):
				for _, id := range h.IDs[:len(h.IDs)-1] {
					for _, q := range []string{"", "?file=0", "?file=1&all=1", "?path=dev.env", "?path=open.txt"} {
						ask(strings.Replace(r.path, "{id}", id, 1) + q)
					}
				}
			default:
				ask(r.path)
				ask(r.path + "?ids=" + url.QueryEscape(strings.Join(h.IDs, ",")) + "&id=" + h.IDs[0] + "&limit=1000")
				for _, p := range h.Paths {
					p = url.QueryEscape(p)
					ask(r.path + "?path=" + p + "&q=q7c%5B4%5Dnary&regex=1&hidden=1&ignored=1&dir=" + p + "&in=" + p)
				}
			}
		}
		t.Logf("%d requests, %d answered", asked, answered)
		if asked < 600 || answered < asked/5 {
			t.Errorf("too few: %d, %d answered", asked, answered)
		}
	}
}
