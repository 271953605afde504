package version

import (
	"crypto/sha256"
	"hash"
	"sync/atomic"
)

// Sum computes the version of data in the background. It stores the state of the hash at
// every mebibyte, so that edited data is only hashed from the first edit on. Hashing was half
// of the work when editing 100 MB.
type Sum struct {
	data   []byte
	marks  []hash.Hash  // state before each step
	marked atomic.Int64 // number of marks set so far
	done   chan struct{}
	v      Version
}

const sumStep = 1 << 20

// SumOf starts hashing data, which must not be modified.
func SumOf(data []byte) *Sum {
	s := &Sum{data: data, marks: make([]hash.Hash, len(data)/sumStep+1), done: make(chan struct{})}
	if len(data) <= sumStep {
		s.run()
	} else {
		go s.run()
	}
	return s
}

func (s *Sum) run() {
	defer close(s.done)
	h := sha256.New()
	for i := range s.marks {
		s.marks[i] = clone(h)
		s.marked.Store(int64(i + 1))
		h.Write(s.data[i*sumStep : min((i+1)*sumStep, len(s.data))])
	}
	s.v = ofHash(h)
}

// clone copies the state of a SHA-256, which can always be copied.
func clone(h hash.Hash) hash.Hash {
	c, err := h.(hash.Cloner).Clone()
	if err != nil {
		panic(err)
	}
	return c
}

// Version waits for the version of the content.
func (s *Sum) Version() Version {
	<-s.done
	return s.v
}

// Edited returns the version of the content after edits, which are in order and
// inside it.
func (s *Sum) Edited(edits []Edit) Version {
	if len(edits) == 0 {
		return s.Version()
	}
	from := edits[0].Off / sumStep
	if s.marked.Load() <= from {
		<-s.done
	}
	h, at := clone(s.marks[from]), from*sumStep
	for _, e := range edits {
		h.Write(s.data[at:e.Off])
		h.Write(e.Data)
		at = e.Off + e.Len
	}
	h.Write(s.data[at:])
	return ofHash(h)
}

func ofHash(h hash.Hash) Version {
	var full [sha256.Size]byte
	return Version{[16]byte(h.Sum(full[:0])[:16])}
}

// Hash computes the version of the bytes written to it.
type Hash struct{ hash.Hash }

// NewHash returns the hash of no bytes.
func NewHash() Hash { return Hash{sha256.New()} }

// Version returns the version of the bytes written so far.
func (h Hash) Version() Version { return ofHash(h.Hash) }

// Clone returns a second hash of the bytes written so far.
func (h Hash) Clone() Hash { return Hash{clone(h.Hash)} }

// RunningSum is a Sum for data that arrives in blocks. It hashes a block while the next one is
// read.
type RunningSum struct {
	blocks chan []byte
	done   chan struct{}
	marks  []sumMark
	v      Version
}

type sumMark struct {
	at int64
	h  hash.Hash
}

// NewRunningSum starts a sum. Version must be called at the end.
func NewRunningSum() *RunningSum {
	s := &RunningSum{blocks: make(chan []byte, 2), done: make(chan struct{})}
	go s.run()
	return s
}

func (s *RunningSum) run() {
	defer close(s.done)
	h, at := sha256.New(), int64(0)
	s.marks = append(s.marks, sumMark{0, clone(h)})
	for b := range s.blocks {
		if at-s.marks[len(s.marks)-1].at >= sumStep {
			s.marks = append(s.marks, sumMark{at, clone(h)})
		}
		h.Write(b)
		at += int64(len(b))
	}
	s.v = ofHash(h)
}

// Write adds the next block, which must not be modified. It never fails.
func (s *RunningSum) Write(b []byte) (int, error) {
	s.blocks <- b
	return len(b), nil
}

// Version returns the version of all blocks. It must be called once, after the last Write.
func (s *RunningSum) Version() Version {
	close(s.blocks)
	<-s.done
	return s.v
}

// From returns the hash of the first at bytes, where at is the last stored state up to off. It
// must be called after Version.
func (s *RunningSum) From(off int64) (h Hash, at int64) {
	i := len(s.marks) - 1
	for s.marks[i].at > off {
		i--
	}
	return Hash{clone(s.marks[i].h)}, s.marks[i].at
}
