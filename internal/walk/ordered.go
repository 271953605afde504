package walk

import (
	"context"

	"quarry/internal/rootfs"
)

// Item is one file or folder of an ordered walk.
type Item struct {
	Dir   rootfs.Path // the real folder of the entry
	Path  string      // path at which the walk found it, relative to the root
	Entry rootfs.Entry
}

// Ordered lists files in the byte order of their paths. If folders is set it lists folders too,
// each before its entries. Workers read ahead in parallel, and an item is passed to yield as soon
// as all items before it are known. yield is called on the caller's goroutine; if it returns an
// error, the walk stops and returns that error.
func Ordered(ctx context.Context, root *rootfs.Root, opts *Options, folders bool, yield func(Item) error) (Report, error) {
	s := sequence[struct{}]{work: func(*Visit, *rootfs.Entry) (struct{}, bool) { return struct{}{}, true }}
	return s.run(ctx, root, opts, func(path string, dir rootfs.Path, o *outcome[struct{}]) error {
		if o.entry.Type == rootfs.TypeDir && !folders {
			return nil
		}
		return yield(Item{dir, path, o.entry})
	})
}

// eachBatch is the default of Options.Batch for Each. It is smaller than the default for listings:
// because Each reads files, dividing a folder between workers pays off much sooner.
const eachBatch = 128

// Each calls work for every file, in parallel and with the file's folder open. It delivers the
// results in the byte order of the paths. A result is delivered as soon as its own folder and all
// folders before it are done. If work returns false, the file has no result.
//
// work is called on several goroutines, deliver on the caller's. An error from deliver or ctx stops
// the walk and is returned.
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
