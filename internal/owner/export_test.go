package owner

import "context"

// WireRequest is a request in the form sent to an owner.
type WireRequest = request

const ShareVersion = shareVersion

// LendFrom sets the smallest number of files for which a stored index is used, and
// returns the previous value.
func LendFrom(n int) (before int) {
	before, lendFrom = lendFrom, n
	return before
}

// Reply answers a request of a client that has the same folder at the root's path.
func (m *Member) Reply(ctx context.Context, req *WireRequest, send func([]byte) error) (err error) {
	if req.Place, err = m.root.Place(); err != nil {
		return err
	}
	req.Mounts = m.mounts.Sum()
	return m.reply(ctx, req, send)
}
