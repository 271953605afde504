package quarry

import (
	"context"
	"time"

	"quarry/internal/backend"
	"quarry/internal/review"
	"quarry/internal/rootfs"
)

// ReviewOptions hold changes back until a person decides: a change becomes a proposal,
// and nothing is written before. A change that is not decided in time fails with a
// change.PendingError; quarry review decides it.
type ReviewOptions struct {
	// Dir is where proposals are kept. It is private to its user, outside the workspace,
	// and must exist.
	Dir string
	// Wait is how long a change waits for its decision; 0 means 45 s, and a negative
	// value does not wait. Then the call fails and the proposal stays.
	Wait time.Duration
	// Stays means that the program continues after a wait, as a server does: its
	// proposals count as abandoned once it has ended. Without it they do only if the program
	// ends during the wait.
	Stays bool
	// Clients are the names of the clients whose changes are held back; empty means all.
	Clients []string
	// Rules returns the rules by which changes are accepted, held back or refused. It is
	// called for each change; nil means no rules. If it fails, every change is held back. With
	// OnlyRules, changes that match no rule are made instead of held back.
	Rules     func() ([]string, error)
	OnlyRules bool
	// Waiting, if set, is called every 10 s while a change waits.
	Waiting func(ctx context.Context, proposal string, waited time.Duration)
	// Offer, if set, is called when a change waits and the page of quarry ui is running,
	// with the proposal's address on it, which contains no secret. done is called when the
	// change no longer waits.
	Offer func(ctx context.Context, proposal, address string) (done func())
	// OnEnd, if set, runs f once the connection of a call has ended: its proposals are
	// then abandoned, and other changes of the same files may be proposed.
	OnEnd func(ctx context.Context, f func())
}

// gate wraps a backend in a gate for its changes.
func (o *ReviewOptions) gate(b backend.Backend, layer *rootfs.Layer) (*review.Gate, error) {
	store, err := review.OpenLayered(o.Dir, layer)
	if err != nil {
		return nil, err
	}
	g := &review.Gate{Store: store, Wait: o.Wait, Stays: o.Stays, Clients: o.Clients, Rules: o.Rules, OnlyRules: o.OnlyRules, Progress: o.Waiting, Offer: o.Offer, OnEnd: o.OnEnd}
	return g.Guard(b), nil
}

// Reviewed reports whether changes of the workspace may have to wait for a decision.
func (w *Workspace) Reviewed() bool {
	_, ok := w.b.(*review.Gate)
	return ok
}
