package index

import (
	"context"
	"hash/maphash"

	"quarry/internal/symbols"
	"quarry/internal/terms"
	"quarry/internal/trigram"
)

// tableSums holds, for each block or document of a segment, the sum of the hashes of its
// entries in the tables. The order of entries doesn't affect a sum, so the tables are read in
// one pass. Sets with the same sum are considered equal; with 64 bits, different sets have the
// same sum once in 10^19 files.
type tableSums struct {
	grams             []uint64 // by block
	terms, keys, defs []uint64 // by document
}

// sumsOf computes the sums by reading the tables of a segment.
func sumsOf(ctx context.Context, s *segment) (*tableSums, error) {
	t := &tableSums{grams: make([]uint64, s.blocks.n), terms: make([]uint64, s.docs.n), keys: make([]uint64, s.docs.n), defs: make([]uint64, s.docs.n)}
	for _, read := range []func() error{
		func() error { return sumGrams(ctx, s, t.grams) },
		func() error { return sumTerms(ctx, &s.terms, t.terms) },
		func() error { return sumTerms(ctx, &s.fieldTerms, t.keys) },
		func() error { return sumDefinitions(ctx, &s.defs, t.defs) },
	} {
		err := guard(read)
		s.mapping.Forget() // otherwise the whole segment would count as memory of the process
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

func sumGrams(ctx context.Context, s *segment, sums []uint64) (err error) {
	var blocks []uint32
	for c := (gramCursor{t: &s.grams}); c.next(); {
		if c.n == 1 {
			sums[c.where] += gramSum(c.gram)
			continue
		}
		if blocks, err = s.listOf(&c.gramEntry).Append(blocks[:0], 0, uint32(s.blocks.n)); err != nil {
			return err
		}
		for sum := gramSum(c.gram); len(blocks) > 0; blocks = blocks[1:] {
			sums[blocks[0]] += sum
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func sumTerms(ctx context.Context, t *termTable, sums []uint64) error {
	var ids []uint32
	var counts []uint8
	for c := (termCursor{t: t}); c.next(); {
		ids, counts = t.read(&c.termEntry, ids[:0], counts[:0])
		for i, id := range ids {
			sums[id] += termSum(c.key, counts[i])
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

func sumDefinitions(ctx context.Context, t *defTable, sums []uint64) error {
	containers := make([]uint64, t.containers.n+1)
	for i := range containers {
		containers[i] = textSum([]byte(t.container(uint32(i))))
	}
	for c := (defCursor{t: t}); c.next(); {
		name := textSum(c.name)
		for _, d := range c.list {
			sums[d.doc] += definedSum(name, d.kind, containers[d.container])
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// gramSummer computes the sum of the hashes of the grams in each block of a file.
type gramSummer struct {
	sums  []uint64
	grams []trigram.Gram
}

func (b *gramSummer) block(grams *trigram.Extractor) {
	b.grams = grams.Take(b.grams[:0])
	sum := uint64(0)
	for _, g := range b.grams {
		sum += gramSum(g)
	}
	b.sums = append(b.sums, sum)
}

var textSeed = maphash.MakeSeed()

func textSum(text []byte) uint64 { return maphash.Bytes(textSeed, text) }

func gramSum(g trigram.Gram) uint64 { return mixed(uint64(g)) }

func termSum(k terms.Key, count uint8) uint64 { return mixed(uint64(k)<<countBits | uint64(count)) }

func definedSum(name uint64, kind symbols.Kind, container uint64) uint64 {
	return mixed(name ^ mixed(container+uint64(kind)))
}

// mixed hashes x. It is a bijection in which each bit of the result depends on all bits
// of x (the last step of splitmix64).
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
