package quarry

import (
	"context"
	"time"

	"quarry/internal/backend"
	"quarry/internal/review"
	"quarry/internal/rootfs"
)

// ReviewOptions hold changes back until a person decides: a change becomes a
// proposal, and nothing is written before that. A change that is not decided in
// time fails with a change.PendingError; quarry review decides it.
type ReviewOptions struct {
	// Dir keeps the proposals. It is private to its user, outside the
	// workspace, and must exist.
	Dir string
	// Wait is how long a change waits for its decision; 0 is 45 s, and a negative
	// value does not wait. After that time the call fails and the proposal stays.
	Wait time.Duration
	// Stays says that the program goes on when a wait is over, as a server does:
	// what it proposed is called abandoned once it has ended. Without it, that is
	// so only if it ends while it waits.
	Stays bool
	// Clients are the names of the clients whose changes are held back; none
	// means all.
	Clients []string
	// Rules are those by which changes are accepted, held back or refused, read anew
	// for each change; nil is none. If they can't be read, every change is held back.
	// OnlyRules makes what no rule fits, instead of holding it back.
	Rules     func() ([]string, error)
	OnlyRules bool
	// Waiting, if set, is called every 10 s while a change waits.
	Waiting func(ctx context.Context, proposal string, waited time.Duration)
	// Offer, if set, is called when a change waits and the page of quarry ui runs, with
	// the address of the proposal on it, which holds no secret. done is called when the
	// change waits no longer.
	Offer func(ctx context.Context, proposal, address string) (done func())
	// OnEnd, if set, runs f once the connection that a call came from has ended:
	// what it proposed is abandoned then. Other changes of the same files may be
	// proposed.
	OnEnd func(ctx context.Context, f func())
}

// gate puts a gate before the changes of a backend.
func (o *ReviewOptions) gate(b backend.Backend, layer *rootfs.Layer) (*review.Gate, error) {
	store, err := review.OpenLayered(o.Dir, layer)
	if err != nil {
		return nil, err
	}
	g := &review.Gate{Store: store, Wait: o.Wait, Stays: o.Stays, Clients: o.Clients, Rules: o.Rules, OnlyRules: o.OnlyRules, Progress: o.Waiting, Offer: o.Offer, OnEnd: o.OnEnd}
	return g.Guard(b), nil
}

// Reviewed reports whether changes of the workspace may have to wait for a
// decision.
func (w *Workspace) Reviewed() bool {
	_, ok := w.b.(*review.Gate)
	return ok
}
