package quarry

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"quarry/internal/rootfs"
	"quarry/internal/zoekt"
)

// Stat describes a file or folder. Times are those of the commit.
func (r *remote) Stat(ctx context.Context, path string) (*Info, error) {
	at, err := r.find(ctx, path)
	if err != nil {
		return nil, err
	}
	if at.checkout != nil {
		info, err := at.checkout.ws.Stat(ctx, at.rel)
		if err != nil {
			return nil, at.checkout.located(err)
		}
		info.Path = at.path
		return info, nil
	}
	info := &Info{Path: at.path, Folder: !at.isFile}
	if info.Path == "" {
		info.Path = "."
	}
	if at.repo != nil {
		info.ModTime = at.repo.Changed
	}
	if at.isFile {
		doc, err := r.document(ctx, at)
		var absent *absentError
		if err != nil && !errors.As(err, &absent) {
			return nil, err
		}
		if err == nil {
			info.Size = int64(len(doc.Content))
		}
	}
	return info, nil
}

func (r *remote) find(ctx context.Context, path string) (*place, error) {
	l, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	return r.locate(ctx, l, path)
}

// Read returns lines of a text file.
func (r *remote) Read(ctx context.Context, path string, opts *ReadOptions) (*Text, error) {
	opts, err := opts.checked()
	if err != nil {
		return nil, err
	}
	at, err := r.find(ctx, path)
	if err != nil {
		return nil, err
	}
	if at.checkout != nil {
		t, err := at.checkout.ws.Read(ctx, at.rel, opts)
		if err != nil {
			return nil, at.checkout.located(err)
		}
		t.Path = at.path
		return t, nil
	}
	if !at.isFile {
		return nil, &rootfs.Error{Op: "read", Path: path, Kind: rootfs.NotRegular}
	}
	doc, err := r.document(ctx, at)
	var absent *absentError
	switch {
	case errors.As(err, &absent) && absent.why == Binary:
		return nil, fmt.Errorf("%w: %s: %s", ErrNotText, rootfs.Printable(at.path), absent.detail)
	case errors.As(err, &absent):
		return nil, &rootfs.Error{Op: "read", Path: at.path, Kind: rootfs.TooLarge, Err: err}
	case err != nil:
		return nil, err
	}
	return readText(at.path, doc.Content, rootfs.SumOf(doc.Content).Version(), opts)
}

// document fetches a file.
func (r *remote) document(ctx context.Context, at *place) (*zoekt.Doc, error) {
	contents, failed := r.fetch(ctx, []remoteFile{{path: at.path, repo: at.repo, rel: at.rel}})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for server, err := range failed {
		return nil, zoekt.Failure{Server: server, Name: r.client.Name(server), Err: err}
	}
	doc := contents[at.path]
	if doc == nil {
		return nil, &rootfs.Error{Op: "read", Path: at.path, Kind: rootfs.NotFound}
	}
	f := newFacts()
	f.learn(doc)
	if a, absent := f.missing[at.rel]; absent {
		return nil, &absentError{&a}
	}
	return doc, nil
}

// IndexStatus tells what the servers have.
func (r *remote) IndexStatus(ctx context.Context) (*IndexStatus, error) {
	l, err := r.list(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return &IndexStatus{State: "failed", Remote: true, Freshness: "remote", Error: err.Error()}, nil
	}
	st := &IndexStatus{State: "ready", Remote: true, Freshness: "remote"}
	for i := range l.repos {
		p := &l.repos[i]
		st.Files += p.Files
		st.TextBytes += p.Bytes
		if p.Indexed.After(st.Updated) {
			st.Updated = p.Indexed
		}
	}
	for _, f := range l.failures {
		st.State = "failed"
		st.Error = strings.TrimPrefix(st.Error+"; "+f.Error(), "; ")
	}
	return st, nil
}
