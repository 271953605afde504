package journal

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"quarry/internal/rootfs"
)

// segment is the part of a log file read so far.
type segment struct {
	num    uint32
	m      marker
	log    *rootfs.Log
	end    int64 // offset up to which it was read
	torn   bool  // a crash left bytes after end
	weight int64 // size including the packs of its entries

	hasStart bool
	start    start
	dropped  dropped
	last     ID // the newest id, in this segment or before
	entries  []*Entry
	blobs    map[rootfs.Version]ref
	diffs    map[diffKey]extent
	commits  map[ID]commit
	aborts   map[ID]bool
	damaged  int

	used    uint64 // when it was last used; see Journal.keep
	syncing int    // number of callers that will still sync it
}

type diffKey struct {
	id ID
	op int
}

// extent locates a record by its offset and the size of its body.
type extent struct{ at, size int64 }

func segmentName(num uint32, m marker) string { return fmt.Sprintf("%08d-%x.seg", num, m[:]) }

func parseSegmentName(name string) (num uint32, m marker, ok bool) {
	stem, found := strings.CutSuffix(name, ".seg")
	digits, mark, split := strings.Cut(stem, "-")
	if !found || !split || len(digits) < 8 || len(mark) != 2*len(m) {
		return 0, m, false
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return 0, m, false
	}
	if _, err := hex.Decode(m[:], []byte(mark)); err != nil {
		return 0, m, false
	}
	return uint32(n), m, segmentName(uint32(n), m) == name
}

// segmentFile is the file of a segment.
type segmentFile struct {
	num uint32
	m   marker
}

// listSegments lists the segment files, oldest first.
func (j *Journal) listSegments() ([]segmentFile, error) {
	entries, err := j.root.List(rootfs.Path{})
	if err != nil {
		return nil, err
	}
	var found []segmentFile
	for _, e := range entries {
		if num, m, ok := parseSegmentName(e.Name); ok {
			found = append(found, segmentFile{num, m})
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].num < found[j].num })
	return found, nil
}

func newSegment(num uint32, m marker, log *rootfs.Log) *segment {
	return &segment{num: num, m: m, log: log, blobs: map[rootfs.Version]ref{}, diffs: map[diffKey]extent{},
		commits: map[ID]commit{}, aborts: map[ID]bool{}}
}

// read reads the records after end.
func (s *segment) read(root *rootfs.Root) error {
	size, err := s.log.Size()
	if err != nil {
		return err
	}
	if size <= s.end {
		s.torn = false
		return nil
	}
	data := make([]byte, size-s.end)
	if n, err := s.log.ReadAt(data, s.end); err != nil {
		return err
	} else if n < len(data) {
		data = data[:n]
	}
	f := &frames{m: s.m, base: s.end, data: data}
	for {
		r, ok := f.next()
		if !ok {
			break
		}
		if r.body != nil && s.take(root, r) != nil {
			s.damaged++
		}
	}
	s.damaged += f.damaged
	s.torn = f.torn
	s.weight += int64(f.pos)
	s.end += int64(f.pos)
	return nil
}

// holds returns the claim for all records read so far.
func (s *segment) holds() claim { return claim{uint32(len(s.entries)), s.end, s.last} }

// take processes one record.
func (s *segment) take(root *rootfs.Root, r record) error {
	switch r.typ {
	case recStart:
		st, err := decodeStart(r.body)
		if err != nil {
			return err
		}
		s.hasStart, s.start, s.dropped = true, st, st.dropped
		s.last = max(s.last, st.last)
	case recBlob:
		v, at, err := decodeBlob(r)
		if err != nil {
			return err
		}
		s.blobs[v] = at
	case recDiff:
		id, op, err := diffHead(r.body)
		if err != nil {
			return err
		}
		s.diffs[diffKey{id, op}] = extent{r.at, int64(len(r.body))}
	case recIntent:
		en, err := decodeIntent(root, r.body)
		if err != nil {
			return err
		}
		en.seg = s.num
		s.weight += en.packed()
		s.entries = append(s.entries, en)
		s.last = max(s.last, en.ID)
	case recCommit:
		c, err := decodeCommit(r.body)
		if err != nil {
			return err
		}
		s.commits[c.id] = c
	case recAbort:
		d := &decoder{b: r.body}
		id := d.id()
		if err := d.end(); err != nil {
			return err
		}
		s.aborts[id] = true
	case recDrop:
		x, err := decodeDropped(r.body)
		if err != nil {
			return err
		}
		s.dropped = x
	case recBack: // located by its operation
	default:
		return errBody
	}
	return nil
}

// packed returns the size of the pack that an entry uses.
func (e *Entry) packed() int64 {
	end := int64(0)
	for _, op := range e.Ops {
		if op.old.place == inPack {
			end = max(end, op.old.off+op.old.stored)
		}
		for _, n := range op.Nodes {
			if n.at.place == inPack {
				end = max(end, n.at.off+n.at.stored)
			}
		}
	}
	return end
}

// encodeBlob encodes a blob's body: version (16 bytes), codec (1), size, stored bytes.
func encodeBlob(v rootfs.Version, data []byte) (body []byte, head int, c codec) {
	stored, c := squeeze(data)
	var e encoder
	e.version(v)
	e.num(uint64(c))
	e.num(uint64(len(data)))
	head = len(e.b)
	return append(e.b, stored...), head, c
}

func decodeBlob(r record) (rootfs.Version, ref, error) {
	d := &decoder{b: r.body}
	v, c, size := d.version(), d.num(), d.num()
	if d.err != nil || c > uint64(deflated) || size > maxInline {
		return v, ref{}, errBody
	}
	head := len(r.body) - len(d.b)
	return v, ref{inSegment, codec(c), r.at + headLen + int64(head), int64(len(d.b)), int64(size), "", nil}, nil
}

// catchUp updates the tail. The caller holds the lock, at least shared.
func (j *Journal) catchUp() error {
	found, err := j.listSegments()
	if err != nil {
		return err
	}
	j.forget(found)
	j.tail = nil
	if len(found) > 0 {
		j.tail, err = j.load(found[len(found)-1])
	}
	return err
}

// rotate begins a new segment if the tail is full, old, or missing. The caller holds the
// lock exclusively.
func (j *Journal) rotate() error {
	t := j.tail
	if t != nil && t.hasStart && t.weight < j.segmentSize() &&
		(len(t.entries) == 0 || j.opts.Now().Sub(t.entries[0].Time) < segmentSpan) {
		return nil
	}
	st := start{}
	num, _, err := j.newestClaimed()
	if err != nil {
		return err
	}
	if t != nil {
		num = max(num, t.num)
		open, err := j.openEntries()
		if err != nil {
			return err
		}
		st = start{last: t.last, dropped: t.dropped, open: open}
		if !t.hasStart {
			// The process that made it died before writing the start record. Use the
			// facts in the previous segment.
			if prev, err := j.before(t.num); err != nil {
				return err
			} else if prev != nil {
				st.last, st.dropped = max(st.last, prev.last), prev.dropped
			}
		}
	}
	num++
	var m marker
	rand.Read(m[:])
	p := j.root.Own(segmentName(num, m))
	log, err := j.root.OpenLog(p, true)
	if err != nil {
		return err
	}
	s := newSegment(num, m, log)
	// The start record is synced at once, because later records depend on it.
	err = s.append(j.root, recStart, st.encode())
	if err == nil {
		err = log.Sync()
	}
	if err == nil { // without a head a loss could go unnoticed
		err = j.startHead(num, t)
	}
	if err != nil {
		return errors.Join(err, log.Close(), j.root.Remove(p))
	}
	j.keep(s)
	j.tail = s
	return nil
}

// segmentSize returns the size at which a new segment is begun. Even a small journal has
// several, so that dropping one does not drop everything.
func (j *Journal) segmentSize() int64 { return max(min(maxSegment, j.opts.MaxBytes/16), 4<<10) }

// before loads the segment before num; nil if there is none.
func (j *Journal) before(num uint32) (*segment, error) {
	found, err := j.listSegments()
	if err != nil {
		return nil, err
	}
	for i := len(found) - 1; i >= 0; i-- {
		if found[i].num < num {
			return j.load(found[i])
		}
	}
	return nil, nil
}

// append writes one record at the end.
func (s *segment) append(root *rootfs.Root, t recType, body []byte) error {
	return s.appendAll(root, func(at int64) []byte { return appendRecord(nil, s.m, at, t, body) })
}

// appendAll appends the records that make returns for the offset at, in one write. The
// caller holds the lock exclusively and has read the segment to its end.
func (s *segment) appendAll(root *rootfs.Root, make func(at int64) []byte) error {
	if s.torn {
		if err := s.log.Truncate(s.end); err != nil {
			return err
		}
		s.torn = false
	}
	if err := s.log.Append(make(s.end), s.end); err != nil {
		return err
	}
	return s.read(root)
}
