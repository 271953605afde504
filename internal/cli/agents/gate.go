package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"quarry"
	"quarry/change"
	"quarry/internal/mcpserver"
	"quarry/internal/presence"
	"quarry/internal/review"
	"quarry/tool"
)

// reviews reports whether changes in a root have to wait for a person's approval.
func (a *agent) reviews(root string) bool {
	if v, ok := a.s.ForRoot(root, "mcp.review"); ok {
		return v.Text == "true"
	}
	return a.review
}

// gate makes agents' changes wait for review if that is requested. The owner's rules for changes
// always apply.
func (a *agent) gate(root string, opts *quarry.Options) error {
	on := a.reviews(root)
	if len(a.reviewed) > 0 && !on {
		return errors.New("--review-client is for --review")
	}
	if a.noGate || opts.ReadOnly {
		return nil
	}
	if set, err := a.s.ReviewRules(root); err != nil {
		return err
	} else if _, err := review.ParseRules(set.List); err != nil {
		return fmt.Errorf("%s: review.rules: %w", set.Where, err)
	}
	dir, err := a.s.ReviewDir(root)
	if err != nil {
		return err
	}
	wait, err := a.s.ReviewWait(root)
	if err != nil {
		return err
	}
	rules := func() ([]string, error) {
		set, err := a.s.ReviewRules(root)
		return set.List, err
	}
	opts.Review = &quarry.ReviewOptions{Dir: dir, Wait: wait, Stays: a.stays, Clients: a.reviewed, Rules: rules, OnlyRules: !on, Waiting: func(ctx context.Context, id string, waited time.Duration) {
		tool.ProgressOf(ctx)(0, 0, fmt.Sprintf("%s waits for a person's decision, for %v so far", id, waited.Round(time.Second)))
	}, Offer: func(ctx context.Context, id, address string) func() {
		return mcpserver.OfferPage(ctx, mcpserver.Offer{ID: id, Address: address, Message: fmt.Sprintf("The change %s waits for your decision; nothing is written before it. Decide on Quarry's page.", id)})
	}, OnEnd: func(ctx context.Context, f func()) {
		if s := tool.SessionOf(ctx); s != nil && a.stays {
			s.OnEnd(f)
		}
	}}
	return nil
}

// news returns a function that reports new decisions about a client's proposals. Its text is added
// to the next answer of any tool. done closes the proposals.
func (a *agent) news(roots []string) (also func(ctx context.Context) string, done func() error, err error) {
	var stores []*review.Store
	done = func() error {
		var errs []error
		for _, s := range stores {
			errs = append(errs, s.Close())
		}
		return errors.Join(errs...)
	}
	for _, root := range roots {
		dir, err := a.s.ReviewDir(root)
		if err == nil {
			var s *review.Store
			if s, err = review.Open(dir); err == nil {
				stores = append(stores, s)
			}
		}
		if err != nil {
			return nil, nil, errors.Join(err, done())
		}
	}
	return func(ctx context.Context) string {
		var lines []string
		for _, s := range stores {
			list, _ := s.News(change.Client(tool.ClientOf(ctx)))
			for _, p := range list {
				lines = append(lines, "proposal "+p.Verdict())
			}
		}
		return strings.Join(lines, "; ")
	}, done, nil
}

// tellPresence records the connected clients for the page. Failures are only logged, because the
// tool calls don't need the record.
func (f *mcpFlags) tellPresence(set *toolset, ws *quarry.Workspace, log *slog.Logger) {
	var servers []*presence.Server
	for _, r := range ws.Roots() {
		if r.Workspace.Dir() == "" {
			continue
		}
		like := presence.Client{Profile: cmp.Or(f.profile, "quarry"), ReadOnly: f.readOnly, Review: r.Workspace.Reviewed() && f.reviews(r.Workspace.Dir()), Transport: "stdio"}
		if f.http != "" {
			like.Transport = "http"
		}
		dir, err := f.s.ClientsDir(r.Workspace.Dir())
		var s *presence.Server
		if err == nil {
			s, err = presence.Open(dir, like)
		}
		if err != nil {
			log.Info("the page can't show who is connected", "error", err)
			continue
		}
		servers = append(servers, s)
	}
	if len(servers) == 0 {
		return
	}
	set.connected = func(c tool.Client) {
		for _, s := range servers {
			s.Connected(cmp.Or(c.Name, "unknown"), c.Version, c.Session)
		}
	}
	set.called = func(c tool.Client, t *tool.Tool) {
		for _, s := range servers {
			s.Called(cmp.Or(c.Name, "unknown"), c.Version, c.Session, t.Name)
		}
	}
	end := set.close
	set.close = func() error {
		for _, s := range servers {
			_ = s.Close()
		}
		return end()
	}
}
