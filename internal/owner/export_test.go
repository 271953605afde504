package owner

import "context"

// WireRequest is a request as it travels to an owner.
type WireRequest = request

const ShareVersion = shareVersion

// LendFrom sets the number of files from which a stored index is lent, and returns the
// previous one.
func LendFrom(n int) (before int) {
	before, lendFrom = lendFrom, n
	return before
}

// Reply answers a request of a client that sees the same folder.
func (m *Member) Reply(ctx context.Context, req *WireRequest, send func([]byte) error) (err error) {
	if req.Place, err = m.root.Place(); err != nil {
		return err
	}
	req.Mounts = m.mounts.Sum()
	return m.reply(ctx, req, send)
}
