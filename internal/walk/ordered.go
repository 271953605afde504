package walk

import (
	"context"

	"quarry/internal/rootfs"
)

// Item is one file or folder of an ordered walk.
type Item struct {
	Dir   rootfs.Path // the folder that really contains it
	Path  string      // where the walk found it, relative to the root
	Entry rootfs.Entry
}

// Ordered lists files in the byte order of their paths, and with folders set also the
// folders, each before its entries. Workers read ahead in parallel; an item is passed to
// yield as soon as all before it are known. yield runs on the calling goroutine; its error
// stops the walk and is returned.
func Ordered(ctx context.Context, root *rootfs.Root, opts *Options, folders bool, yield func(Item) error) (Report, error) {
	s := sequence[struct{}]{work: func(*Visit, *rootfs.Entry) (struct{}, bool) { return struct{}{}, true }}
	return s.run(ctx, root, opts, func(path string, dir rootfs.Path, o *outcome[struct{}]) error {
		if o.entry.Type == rootfs.TypeDir && !folders {
			return nil
		}
		return yield(Item{dir, path, o.entry})
	})
}

// eachBatch is the default Options.Batch of Each. Its work reads files, so sharing a folder
// pays off much sooner than for a listing.
const eachBatch = 128

// Each does work on every file, in parallel and with the file's folder open, and delivers
// the results in the byte order of the paths. A result is delivered as soon as its own and
// all earlier folders are done; files for which work reports false have none.
//
// work runs on several goroutines, deliver on the calling one. An error of deliver or of
// the context stops the walk and is returned.
func Each[T any](ctx context.Context, root *rootfs.Root, opts *Options,
	work func(v *Visit, e *rootfs.Entry) (T, bool), deliver func(path string, result T) error) (Report, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.Batch <= 0 {
		o.Batch = eachBatch
	}
	s := sequence[T]{work: work, waiting: o.Waiting}
	return s.run(ctx, root, &o, func(path string, _ rootfs.Path, r *outcome[T]) error {
		if r.entry.Type == rootfs.TypeDir {
			return nil
		}
		return deliver(path, r.result)
	})
}
