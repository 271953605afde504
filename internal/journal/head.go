package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"quarry/fault"
	"quarry/internal/rootfs"
)

// A log whose last segment was truncated or deleted looks like a shorter log. The head
// detects such a loss. It is a small log of claims: the number of entries and bytes that
// a segment must have. A claim is written only after these are durable, and is not synced
// itself. So after a power failure the head may claim too little, but never too much.
//
// Each segment has a head, made when the segment begins and named after it. The head
// starts with the claims of the previous head, and is durable before that one is removed.
// If the head can't be written, the segment isn't begun.
//
//	magic 2 | kind 1 | zero 1 | segment 4 | entries 4 | end 8 | last id 8 | crc 4
//
// Numbers are little endian, and the checksum is CRC-32C. Because of the last id and the
// head's own number, neither an id nor a segment number is reused after a loss.
const headRecLen = 32

var headMagic = [2]byte{'Q', 'H'}

type headKind uint8

const (
	headFirst headKind = iota + 1 // segments before this one were dropped; the first record of a head
	headClaim                     // the segment has this many entries and bytes
	headLost                      // this many entries were missing when the segment was the newest
)

// claim describes the contents that a segment must have.
type claim struct {
	entries uint32
	end     int64
	last    ID // the newest id in the log when the claim was made
}

// lostEntries is a detected loss, and the number of the newest segment at that time. It
// is reported until all older segments have been dropped.
type lostEntries struct {
	entries, seg uint32
}

// head is the part of a head file read so far.
type head struct {
	log    *rootfs.Log
	num    uint32
	read   int64
	first  uint32
	claims map[uint32]claim
	lost   []lostEntries
	last   ID // the newest id in any claim
}

func headName(num uint32) string { return fmt.Sprintf("%08d.head", num) }

func appendHeadRecord(b []byte, k headKind, seg uint32, c claim) []byte {
	start := len(b)
	b = append(b, headMagic[0], headMagic[1], byte(k), 0)
	b = binary.LittleEndian.AppendUint32(b, seg)
	b = binary.LittleEndian.AppendUint32(b, c.entries)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.end))
	last, _ := c.last.number() // 0 if there is none
	b = binary.LittleEndian.AppendUint64(b, last)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli()))
}

// take processes records, and skips invalid ones.
func (h *head) take(b []byte) {
	for len(b) >= headRecLen {
		r := b[:headRecLen]
		if r[0] != headMagic[0] || r[1] != headMagic[1] || crc32.Checksum(r[:headRecLen-4], castagnoli()) != binary.LittleEndian.Uint32(r[headRecLen-4:]) {
			b = b[1:]
			continue
		}
		seg := binary.LittleEndian.Uint32(r[4:])
		c := claim{entries: binary.LittleEndian.Uint32(r[8:]), end: int64(binary.LittleEndian.Uint64(r[12:]))}
		if n := binary.LittleEndian.Uint64(r[20:]); n > 0 {
			c.last = idOf(n)
			h.last = max(h.last, c.last)
		}
		switch headKind(r[2]) {
		case headFirst:
			h.drop(seg)
		case headClaim:
			h.claim(seg, c)
		case headLost:
			h.lost = append(h.lost, lostEntries{c.entries, seg})
			for num := range h.claims { // the loss is counted; claims start again
				if num >= seg {
					delete(h.claims, num)
				}
			}
		}
		b = b[headRecLen:]
	}
}

// claim keeps the larger claim, because processes may write theirs in any order.
func (h *head) claim(seg uint32, c claim) {
	if have := h.claims[seg]; seg >= h.first && c.end > have.end {
		h.claims[seg] = c
	}
}

func (h *head) drop(first uint32) {
	h.first = max(h.first, first)
	for num := range h.claims {
		if num < h.first {
			delete(h.claims, num)
		}
	}
}

// all encodes the whole head, as the beginning of the next one.
func (h *head) all() []byte {
	b := appendHeadRecord(nil, headFirst, h.first, claim{last: h.last})
	for _, l := range h.lost {
		if l.seg >= h.first {
			b = appendHeadRecord(b, headLost, l.seg, claim{entries: l.entries})
		}
	}
	for num, c := range h.claims {
		b = appendHeadRecord(b, headClaim, num, c)
	}
	return b
}

// newestHead returns the newest head that has records. Older ones that were not removed
// have fewer records.
func (j *Journal) newestHead() (*head, error) {
	entries, err := j.root.List(rootfs.Path{})
	if err != nil {
		return nil, err
	}
	var best *head
	for _, e := range entries {
		stem, ok := strings.CutSuffix(e.Name, ".head")
		num, err := strconv.ParseUint(stem, 10, 32)
		if !ok || err != nil || headName(uint32(num)) != e.Name || best != nil && best.num > uint32(num) {
			continue
		}
		h, err := j.openHead(uint32(num), false)
		if errors.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if len(h.claims) == 0 && len(h.lost) == 0 && h.first == 0 {
			h.log.Close()
			continue
		}
		if best != nil {
			best.log.Close()
		}
		best = h
	}
	return best, nil
}

func (j *Journal) openHead(num uint32, create bool) (*head, error) {
	log, err := j.root.OpenLog(j.root.Own(headName(num)), create)
	if err != nil {
		return nil, err
	}
	h := &head{log: log, num: num, claims: map[uint32]claim{}}
	if err := h.refresh(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return h, nil
}

// refresh reads records appended since the last call.
func (h *head) refresh() error {
	size, err := h.log.Size()
	if err != nil || size <= h.read {
		return err
	}
	b := make([]byte, size-h.read)
	n, err := h.log.ReadAt(b, h.read)
	if err != nil && n < len(b) {
		return err
	}
	h.take(b)
	h.read = size
	return nil
}

// loadHead updates the head. The caller holds the lock, at least shared.
func (j *Journal) loadHead() error {
	if j.head != nil && j.tail != nil && j.head.num >= j.tail.num {
		return j.head.refresh()
	}
	h, err := j.newestHead()
	if err != nil {
		return err
	}
	if j.head != nil {
		j.head.log.Close()
	}
	j.head = h
	return nil
}

// startHead writes the head of a new segment. The caller holds the lock exclusively.
func (j *Journal) startHead(num uint32, sealed *segment) error {
	if err := j.loadHead(); err != nil {
		return err
	}
	old := j.head
	if old == nil {
		old = &head{claims: map[uint32]claim{}, first: num}
		if sealed != nil { // the journal was made before heads were introduced
			old.first = sealed.num
		}
	}
	if sealed != nil {
		old.claim(sealed.num, sealed.holds())
	}
	h, err := j.openHead(num, true)
	if err != nil {
		return err
	}
	b := old.all()
	err = h.log.Append(b, h.read)
	if err == nil {
		err = h.log.Sync()
	}
	if err != nil {
		return errors.Join(err, h.log.Close(), j.remove(headName(num)))
	}
	h.take(b)
	h.read += int64(len(b))
	if old.log != nil {
		old.log.Close()
	}
	j.head = h
	if old.log != nil {
		return j.remove(headName(old.num))
	}
	return nil
}

// newestClaimed returns the number of the newest segment with a claim, and the last
// claimed id. The caller holds the lock.
func (j *Journal) newestClaimed() (num uint32, last ID, err error) {
	if err := j.loadHead(); err != nil || j.head == nil {
		return 0, "", err
	}
	return j.head.num, j.head.last, nil
}

// noteLoss records missing entries before new ones are added. The caller holds the lock
// exclusively and has updated the tail.
func (j *Journal) noteLoss() error {
	missing, err := j.missingAtEnd()
	if err != nil || missing == 0 {
		return err
	}
	return j.addToHead(headLost, j.tail.num, claim{entries: missing})
}

// missingAtEnd counts the newest entries that are missing. The caller holds the lock and
// has updated the tail.
func (j *Journal) missingAtEnd() (uint32, error) {
	if err := j.loadHead(); err != nil || j.head == nil || j.tail == nil {
		return 0, err
	}
	missing := uint32(0)
	for num, c := range j.head.claims {
		switch {
		case num > j.tail.num:
			missing += c.entries
		case num == j.tail.num && j.tail.end < c.end:
			missing += c.entries - min(c.entries, uint32(len(j.tail.entries)))
		}
	}
	return missing, nil
}

// addToHead appends one record in a single write, because another process may append at
// the same time.
func (j *Journal) addToHead(k headKind, seg uint32, c claim) error {
	if j.head == nil {
		return nil
	}
	b := appendHeadRecord(nil, k, seg, c)
	size, err := j.head.log.Size()
	if err != nil {
		return err
	}
	if err := j.head.log.Append(b, size); err != nil {
		return err
	}
	return j.head.refresh()
}

// claimDurable records how much of the segment is durable. The caller holds mu.
func (j *Journal) claimDurable(seg *segment, c claim) {
	if j.head != nil && j.head.num >= seg.num {
		// If this fails, a later loss may go unnoticed, but the change is fine.
		_ = j.addToHead(headClaim, seg.num, c)
	}
}

// Lost returns the number of entries that are missing because segments were truncated or
// deleted. Dropped entries don't count.
func (j *Journal) Lost() (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	lost := 0
	err := j.locked(false, func() error {
		found, err := j.listSegments()
		if err != nil {
			return err
		}
		if err := j.catchUp(); err != nil {
			return err
		}
		if err := j.loadHead(); err != nil || j.head == nil {
			return err
		}
		for _, l := range j.head.lost {
			lost += int(l.entries)
		}
		there := map[uint32]segmentFile{}
		for _, f := range found {
			there[f.num] = f
		}
		for num, c := range j.head.claims {
			f, ok := there[num]
			if !ok {
				lost += int(c.entries)
				continue
			}
			missing, err := j.missingFrom(f, c)
			if err != nil {
				return err
			}
			lost += missing
		}
		return nil
	})
	return lost, err
}

// missingFrom counts the missing entries of a segment. It only reads a segment that has
// become shorter or ends in a zero byte, because an end destroyed by a bad block or a
// crash reads as zeros.
func (j *Journal) missingFrom(f segmentFile, c claim) (int, error) {
	if s := j.segs[f.num]; s == nil {
		whole, err := j.reaches(f, c.end)
		if err != nil || whole {
			return 0, err
		}
	}
	s, err := j.load(f)
	if err != nil || s.end >= c.end {
		return 0, err
	}
	return max(0, int(c.entries)-len(s.entries)), nil
}

// reaches reports whether the last byte before end exists in a segment and is not zero.
func (j *Journal) reaches(f segmentFile, end int64) (bool, error) {
	log, err := j.root.OpenLog(j.root.Own(segmentName(f.num, f.m)), false)
	if err != nil {
		return false, err
	}
	defer log.Close()
	size, err := log.Size()
	if err != nil || size < end || end == 0 {
		return false, err
	}
	var last [1]byte
	_, err = log.ReadAt(last[:], end-1)
	return last[0] != 0, err
}
