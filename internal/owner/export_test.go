package owner

// Request is what travels to an owner.
type Request = request

const ShareVersion = shareVersion

// LendFrom sets the number of files from which a stored index is lent, and
// returns the one before.
func LendFrom(n int) (before int) {
	before, lendFrom = lendFrom, n
	return before
}
