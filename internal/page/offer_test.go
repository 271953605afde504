package page

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/internal/review"
)

// dialog simulates the user of a client that can open addresses. It receives the addresses, and
// answers when the test tells it to.
type dialog struct {
	offered chan *mcp.ElicitParams
	answer  chan string // the actions chosen by the user
}

func newDialog() *dialog {
	return &dialog{offered: make(chan *mcp.ElicitParams, 1), answer: make(chan string, 1)}
}

func (d *dialog) ask(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	d.offered <- req.Params
	select {
	case action := <-d.answer:
		return &mcp.ElicitResult{Action: action}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func byURL() *mcp.ElicitationCapabilities {
	return &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}
}

// TestOffersThePage checks that a client that supports elicitation by URL gets the address of a
// pending proposal, in both versions of the protocol. The user's answer to this offer decides
// nothing, and the agent gets its tool's result.
func TestOffersThePage(t *testing.T) {
	offers := 0
	for _, protocol := range []string{"2025-11-25", "2026-07-28"} {
		for _, c := range []struct {
			name, answer string
			decidedFirst bool // the proposal is decided before the user answers
			verdict      review.Verdict
			want         string
		}{
			{"opened, then accepted", "accept", false, review.Yes, "a.txt"},
			{"declined, then accepted", "decline", false, review.Yes, "a.txt"},
			{"closed, then refused", "cancel", false, review.No, "refused"},
			{"accepted while the client asks", "accept", true, review.Yes, "a.txt"},
			{"refused while the client asks", "accept", true, review.No, "refused"},
		} {
			t.Run(protocol+" "+c.name, func(t *testing.T) {
				s := serveAgents(t, map[string]string{"a.txt": thirty})
				s.showAt(t)
				d := newDialog()
				s.protocol, s.elicitation, s.dialog = protocol, byURL(), d.ask
				agent := s.agent(t, "claude-code", time.Minute)
				answer := agent.start("edit_file", map[string]any{"path": "a.txt", "edits": edits("\n28\n", "\n")})
				offer := <-d.offered
				offers++
				p := s.waiting(t, 1)
				if offer.Mode != "url" || offer.URL != s.base+"/review/"+p.ID || offer.ElicitationID != p.ID || !strings.Contains(offer.Message, p.ID) || strings.Contains(offer.URL, s.token) {
					t.Errorf("offered %+v", offer)
				}
				decide := func() {
					t.Helper()
					if _, err := s.opts.Review.Decide(t.Context(), s.opts.Decide, p.ID, review.Decision{By: "page", Rest: c.verdict}); err != nil {
						t.Fatal(err)
					}
				}
				if c.decidedFirst {
					decide()
				}
				d.answer <- c.answer
				if !c.decidedFirst {
					if got := s.text(t, "a.txt"); got != thirty {
						t.Errorf("the answer of the client decided: %q", got)
					}
					decide()
				}
				if got := <-answer; !strings.Contains(got, c.want) || strings.Contains(got, "waits") {
					t.Errorf("the agent reads %s", got)
				}
				if changed := s.text(t, "a.txt") != thirty; changed != (c.verdict == review.Yes) {
					t.Errorf("changed: %v", changed)
				}
			})
		}
	}
	t.Logf("%d offers", offers)
	if offers != 10 {
		t.Errorf("%d offers, want 10", offers)
	}
}

// TestOffersNothing checks that the address is not offered if the client doesn't support it or
// there is no page.
func TestOffersNothing(t *testing.T) {
	for _, protocol := range []string{"2025-11-25", "2026-07-28"} {
		for name, caps := range map[string]*mcp.ElicitationCapabilities{"forms only": {Form: &mcp.FormElicitationCapabilities{}}, "no page": byURL()} {
			t.Run(protocol+" "+name, func(t *testing.T) {
				s := serveAgents(t, map[string]string{"a.txt": thirty})
				if name != "no page" {
					s.showAt(t)
				}
				d := newDialog()
				s.protocol, s.elicitation, s.dialog = protocol, caps, d.ask
				answer := s.agent(t, "claude-code", time.Minute).start("edit_file", map[string]any{"path": "a.txt", "edits": edits("\n28\n", "\n")})
				if _, err := s.opts.Review.Decide(t.Context(), s.opts.Decide, s.waiting(t, 1).ID, review.Decision{By: "page", Rest: review.Yes}); err != nil {
					t.Fatal(err)
				}
				if got := <-answer; !strings.Contains(got, "a.txt") {
					t.Errorf("the agent reads %s", got)
				}
				if len(d.offered) > 0 {
					t.Errorf("asked %+v", <-d.offered)
				}
			})
		}
	}
}

// TestBrowserOffered opens the offered address in a browser in which the page is already open, and
// decides the proposal there.
func TestBrowserOffered(t *testing.T) {
	s := serveAgents(t, map[string]string{"a.txt": thirty})
	s.showAt(t)
	b := s.open(t, "/health", 1600, 1000, "light")
	b.has("#live", "Live")
	d := newDialog()
	s.elicitation, s.dialog = byURL(), d.ask
	answer := s.agent(t, "claude-code", time.Minute).start("edit_file", map[string]any{"path": "a.txt", "edits": edits("\n28\n", "\n")})
	offer := <-d.offered
	d.answer <- "accept"
	opened := b.another(t, strings.TrimPrefix(offer.URL, s.base))
	opened.has(".hunk.now", "1 of 1")
	opened.keys("a")
	opened.until(`document.activeElement.matches(".decide .primary:not(:disabled)")`)
	opened.keys("\r")
	if got := <-answer; !strings.Contains(got, "a.txt") || s.text(t, "a.txt") == thirty {
		t.Errorf("the agent reads %s", got)
	}
}
