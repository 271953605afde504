package quarry

import (
	"context"
	"errors"
	"fmt"

	"quarry/internal/repos"
	"quarry/internal/rootfs"
)

// Stat describes a file or folder. Times are those of the commit.
func (r *remote) Stat(ctx context.Context, path string) (*Info, error) {
	ask, at, err := r.find(ctx, path)
	if err != nil {
		return nil, err
	}
	if c := r.checkout(at.Checkout); c != nil {
		info, err := c.ws.Stat(ctx, at.Rel)
		if err != nil {
			return nil, c.located(err)
		}
		info.Path = at.Path
		return info, nil
	}
	info := &Info{Path: at.Path, Folder: !at.IsFile}
	if info.Path == "" {
		info.Path = "."
	}
	if at.Repo != nil {
		info.ModTime = at.Repo.Changed
	}
	if at.IsFile {
		content, err := ask.Content(ctx, at)
		var absent *repos.Absence
		if err != nil && !errors.As(err, &absent) {
			return nil, err
		}
		info.Size = int64(len(content))
	}
	return info, nil
}

// find begins a question about one path.
func (r *remote) find(ctx context.Context, path string) (*repos.Question, *repos.Place, error) {
	ask, err := r.tree.Ask(ctx)
	if err != nil {
		return nil, nil, err
	}
	at, err := ask.Locate(ctx, path)
	return ask, at, err
}

// Read returns lines of a text file.
func (r *remote) Read(ctx context.Context, path string, opts *ReadOptions) (*Text, error) {
	opts, err := checkedRead(opts)
	if err != nil {
		return nil, err
	}
	ask, at, err := r.find(ctx, path)
	if err != nil {
		return nil, err
	}
	if c := r.checkout(at.Checkout); c != nil {
		t, err := c.ws.Read(ctx, at.Rel, opts)
		if err != nil {
			return nil, c.located(err)
		}
		t.Path = at.Path
		return t, nil
	}
	if !at.IsFile {
		return nil, &rootfs.Error{Op: "read", Path: path, Kind: rootfs.NotRegular}
	}
	content, err := ask.Content(ctx, at)
	var absent *repos.Absence
	switch {
	case errors.As(err, &absent) && absent.Why == repos.Binary:
		return nil, fmt.Errorf("%w: %s: %v", ErrNotText, rootfs.Printable(at.Path), absent)
	case errors.As(err, &absent):
		return nil, &rootfs.Error{Op: "read", Path: at.Path, Kind: rootfs.TooLarge, Err: err}
	case err != nil:
		return nil, err
	}
	return readText(at.Path, content, rootfs.SumOf(content).Version(), opts)
}
