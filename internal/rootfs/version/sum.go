package version

import (
	"crypto/sha256"
	"hash"
	"sync/atomic"
)

// Sum is the version of a content that is hashed while its owner goes on
// working with it. It remembers the hash at every mebibyte, so that an edited
// content is hashed from the first edit on only. In an edit of 100 MB hashing
// was half of the work.
type Sum struct {
	data   []byte
	marks  []hash.Hash  // before each step; those up to marked are set
	marked atomic.Int64 // how many
	done   chan struct{}
	v      Version
}

const sumStep = 1 << 20

// SumOf starts hashing data, which must stay as it is.
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

// NewHash begins with nothing.
func NewHash() Hash { return Hash{sha256.New()} }

// Version returns the version of the bytes written so far.
func (h Hash) Version() Version { return ofHash(h.Hash) }

// Clone returns a second hash of the bytes written so far.
func (h Hash) Clone() Hash { return Hash{clone(h.Hash)} }

// RunningSum is the version of a content that comes in blocks. It hashes on its
// own while the next block is read, and remembers the hash on the way, so that an
// edited content is hashed from the first edit on only.
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

// NewRunningSum begins a sum. It must be ended with Version.
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

// Write takes the next block, which must stay as it is. It never fails.
func (s *RunningSum) Write(b []byte) (int, error) {
	s.blocks <- b
	return len(b), nil
}

// Version ends the sum. It must be called once, and nothing be written afterwards.
func (s *RunningSum) Version() Version {
	close(s.blocks)
	<-s.done
	return s.v
}

// From returns the hash of the first bytes of the content, as many of them before
// off as it remembers, and their number. The sum has ended.
func (s *RunningSum) From(off int64) (h Hash, at int64) {
	i := len(s.marks) - 1
	for s.marks[i].at > off {
		i--
	}
	return Hash{clone(s.marks[i].h)}, s.marks[i].at
}
