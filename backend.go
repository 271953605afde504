package quarry

import (
	"quarry/fault"
	"quarry/internal/repos"
)

// ErrRemoteOnly is for a change of a file that is on a server alone.
var ErrRemoteOnly = fault.New(fault.ReadOnly, "the repository is on a server and not checked out here, so nothing in it can be changed",
	"files on servers can be read and searched; to change one, work in a checkout of its repository")

// ErrServers is for a question that no server could answer.
var ErrServers = repos.ErrServers
