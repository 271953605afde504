package searcher

import (
	"context"
	"slices"
	"strings"

	"quarry/internal/crew"
	"quarry/search"
)

// foundIn holds entries of one folder in path order. A large folder may have several of
// these.
type foundIn struct {
	prefix  string // the folder's path with its slash; "" for the root
	entries []search.Entry
}

// copyBlock is how many pieces a worker copies at a time.
const copyBlock = 256

// appendInOrder appends the entries of a walk in path order. The workers have already
// sorted the entries of each folder, so only the folders have to be sorted. Sorting all
// paths at once took a quarter of the time to list a kernel tree, and with 16 processors
// half of it. Copying is distributed for the same reason: most of its cost is the first
// access to new memory.
func appendInOrder(ctx context.Context, list []search.Entry, parts []foundIn, workers int) []search.Entry {
	pieces := inPathOrder(parts)
	ends := make([]int, len(pieces))
	n := len(list)
	for i, p := range pieces {
		n += len(p)
		ends[i] = n
	}
	list = slices.Grow(list, n-len(list))[:n]
	crew.Each(context.WithoutCancel(ctx), (len(pieces)+copyBlock-1)/copyBlock, workers, func(block int) {
		for i := block * copyBlock; i < min((block+1)*copyBlock, len(pieces)); i++ {
			copy(list[ends[i]-len(pieces[i]):], pieces[i])
		}
	})
	return list
}

// inPathOrder returns all entries in path order, as pieces. The entries of a folder are
// split where entries of its subfolders come between them.
func inPathOrder(parts []foundIn) (pieces [][]search.Entry) {
	slices.SortFunc(parts, func(a, b foundIn) int { return strings.Compare(a.prefix, b.prefix) })
	var open []foundIn // enclosing folders with entries left
	for _, p := range parts {
		for len(open) > 0 && !strings.HasPrefix(p.prefix, open[len(open)-1].prefix) {
			pieces = append(pieces, open[len(open)-1].entries)
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			top := &open[len(open)-1]
			if top.prefix == p.prefix {
				top.entries = slices.Concat(top.entries, p.entries)
				sortEntries(top.entries, search.ByPath)
				continue
			}
			k := 0
			for k < len(top.entries) && top.entries[k].Path < p.prefix {
				k++
			}
			pieces, top.entries = append(pieces, top.entries[:k]), top.entries[k:]
		}
		open = append(open, p)
	}
	for _, p := range slices.Backward(open) {
		pieces = append(pieces, p.entries)
	}
	return pieces
}
