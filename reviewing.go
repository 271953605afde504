package quarry

import (
	"context"
	"time"

	"quarry/internal/backend"
	"quarry/internal/review"
	"quarry/internal/rootfs"
)

// ReviewOptions makes changes wait for a person's decision. A change becomes a proposal, and no
// file is written before it is accepted. If it is not decided in time, the call fails with a
// change.PendingError; it can then be decided with quarry review.
type ReviewOptions struct {
	// Dir is the folder for proposals. It must exist, be private to the user, and be outside the
	// workspace.
	Dir string
	// Wait is how long a call waits for the decision; 0 means 45 s, and a negative value means that
	// it does not wait. After that the call fails, but the proposal remains.
	Wait time.Duration
	// Stays means that the program continues after a call has waited, as a server does. Its
	// proposals count as abandoned when the program ends. Without Stays, they do so only if it ends
	// while a call waits.
	Stays bool
	// Clients lists the names of the clients whose changes have to wait; empty means all clients.
	Clients []string
	// Rules returns the rules that decide whether a change is accepted, has to wait, or is refused.
	// It is called for each change; nil means that there are no rules. If it fails, every change
	// has to wait. With OnlyRules, a change that matches no rule is applied at once.
	Rules     func() ([]string, error)
	OnlyRules bool
	// Waiting, if set, is called every 10 s while a change waits for its decision.
	Waiting func(ctx context.Context, proposal string, waited time.Duration)
	// Offer, if set, is called when a change starts to wait while the page of quarry ui is running.
	// address is the proposal's address on that page; it contains no secret. done is called when
	// the change no longer waits.
	Offer func(ctx context.Context, proposal, address string) (done func())
	// OnEnd, if set, calls f when the connection of a call has ended. The connection's proposals
	// are then abandoned, so that new changes of the same files can be proposed.
	OnEnd func(ctx context.Context, f func())
}

// gate wraps a backend so that its changes are reviewed.
func (o *ReviewOptions) gate(b backend.Backend, layer *rootfs.Layer) (*review.Gate, error) {
	store, err := review.OpenLayered(o.Dir, layer)
	if err != nil {
		return nil, err
	}
	g := &review.Gate{Store: store, Wait: o.Wait, Stays: o.Stays, Clients: o.Clients, Rules: o.Rules, OnlyRules: o.OnlyRules, Progress: o.Waiting, Offer: o.Offer, OnEnd: o.OnEnd}
	return g.Guard(b), nil
}

// Reviewed reports whether changes in the workspace may have to wait for a decision.
func (w *Workspace) Reviewed() bool {
	_, ok := w.b.(*review.Gate)
	return ok
}
