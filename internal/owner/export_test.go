package owner

// Request is what travels to an owner.
type Request = request

const ShareVersion = shareVersion
