package searcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"quarry/fault"
	"quarry/internal/repos"
	"quarry/internal/rootfs/version"
	"quarry/search"
)

// Stat describes a file or folder. Times are those of the commit.
func (r *Servers) Stat(ctx context.Context, path string) (*search.Info, error) {
	ask, at, err := r.find(ctx, path)
	if err != nil {
		return nil, err
	}
	if c := r.checkout(at.Checkout); c != nil {
		info, err := c.folder.Stat(ctx, at.Rel)
		if err != nil {
			return nil, c.located(err)
		}
		info.Path = at.Path
		return info, nil
	}
	info := &search.Info{Path: at.Path, Folder: !at.IsFile}
	info.Path = cmp.Or(info.Path, ".")
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
func (r *Servers) find(ctx context.Context, path string) (*repos.Question, *repos.Place, error) {
	ask, err := r.tree.Ask(ctx)
	if err != nil {
		return nil, nil, err
	}
	at, err := ask.Locate(ctx, path)
	return ask, at, err
}

// Read returns lines of a text file.
func (r *Servers) Read(ctx context.Context, path string, opts *search.ReadOptions) (*search.Text, error) {
	opts, err := checkedRead(opts)
	if err != nil {
		return nil, err
	}
	ask, at, err := r.find(ctx, path)
	if err != nil {
		return nil, err
	}
	if c := r.checkout(at.Checkout); c != nil {
		t, err := c.folder.Read(ctx, at.Rel, opts)
		if err != nil {
			return nil, c.located(err)
		}
		t.Path = at.Path
		return t, nil
	}
	content, err := r.content(ctx, ask, at)
	if err != nil {
		return nil, err
	}
	return readText(at.Path, content, version.SumOf(content).Version(), opts)
}

// content fetches a text file whole.
func (r *Servers) content(ctx context.Context, ask *repos.Question, at *repos.Place) ([]byte, error) {
	if !at.IsFile {
		return nil, &fault.PathError{Op: "read", Path: at.Path, Kind: fault.NotRegular}
	}
	content, err := ask.Content(ctx, at)
	var absent *repos.Absence
	switch {
	case errors.As(err, &absent) && absent.Why == repos.Binary:
		return nil, fmt.Errorf("%w: %s: %v", fault.ErrNotText, fault.Printable(at.Path), absent)
	case errors.As(err, &absent):
		return nil, &fault.PathError{Op: "read", Path: at.Path, Kind: fault.TooLarge, Err: err}
	case err != nil:
		return nil, err
	}
	return content, nil
}

// ReadBytes returns the bytes of a file as they are. Of what isn't text, servers
// keep nothing.
func (r *Servers) ReadBytes(ctx context.Context, path string, max int64) ([]byte, error) {
	ask, at, err := r.find(ctx, path)
	if err != nil {
		return nil, err
	}
	if c := r.checkout(at.Checkout); c != nil {
		data, err := c.folder.ReadBytes(ctx, at.Rel, max)
		return data, c.located(err)
	}
	content, err := r.content(ctx, ask, at)
	if err == nil && max > 0 && int64(len(content)) > max {
		err = &fault.PathError{Op: "read", Path: at.Path, Kind: fault.TooLarge}
	}
	if err != nil {
		return nil, err
	}
	return content, nil
}
