package quarry

import (
	"context"

	"quarry/fault"
	"quarry/internal/repos"
)

// backend is who answers for the files of a workspace: the seam between what
// is asked and where the files are. A Workspace of a folder answers for itself;
// one of OpenRemote has servers to ask.
type backend interface {
	SearchEach(ctx context.Context, q Query, yield func(*File) error) (*Summary, error)
	Find(ctx context.Context, q FindQuery) (*FindResult, error)
	Stat(ctx context.Context, path string) (*Info, error)
	Read(ctx context.Context, path string, opts *ReadOptions) (*Text, error)
	IndexStatus(ctx context.Context) (*IndexStatus, error)
	Close() error
}

var (
	_ backend = (*Workspace)(nil)
	_ backend = (*remote)(nil)
)

// ErrRemoteOnly is for a change of a file that is on a server alone.
var ErrRemoteOnly = fault.New(fault.ReadOnly, "the repository is on a server and not checked out here, so nothing in it can be changed",
	"files on servers can be read and searched; to change one, work in a checkout of its repository")

// ErrServers is for a question that no server could answer.
var ErrServers = repos.ErrServers
