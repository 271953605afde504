package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"quarry/fault"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
	"quarry/internal/scan"
	"quarry/internal/symbols"
	"quarry/internal/terms"
	"quarry/internal/textfile"
	"quarry/internal/trigram"
)

const (
	readSize = 256 << 10
	// A scan gives up on lines longer than about MaxLine, and in multiline mode on texts of
	// that size. It always accepts half of it.
	longLine  = scan.MaxLine / 2
	largeText = scan.MaxLine / 2

	// WideLine is the longest line of a large text that isn't Wide.
	WideLine = 64 << 10
)

// outcome is the result of reading one file.
type outcome struct {
	state outcomeState
	flags Flags
	stamp Stamp
	parts uint32 // number of parts of the text, or unknownParts
	// layout is nil if the file has one block and was read once: nearly all.
	layout *layout
}

// layout describes the blocks of a file.
type layout struct {
	// dropped counts the blocks made by failed attempts to read the file. They precede
	// the valid ones.
	dropped int
	starts  []byte // starts of the blocks except the first, as in a blockTable
}

// blocks returns how many blocks of a file are valid, how many dropped blocks precede
// them, and where the valid ones start.
func (o *outcome) blocks() (count, dropped int, starts []byte) {
	if o.state == indexed {
		count = 1
	}
	if o.layout != nil {
		dropped, starts = o.layout.dropped, o.layout.starts
	}
	return count + len(starts)/8, dropped, starts
}

type outcomeState uint8

const (
	notRead  outcomeState = iota // not read yet
	indexed                      // it has a document
	gone                         // the file doesn't exist
	unstable                     // it changed while it was read
)

// blockSink receives the blocks that a reader reads.
type blockSink interface {
	// block adds the grams of the next block.
	block(grams *trigram.Extractor)
}

// reader reads files and passes on the grams of their blocks. It must be used by one goroutine
// at a time.
type reader struct {
	root  *rootfs.Root
	sink  blockSink
	grams *trigram.Extractor
	terms *terms.Counter
	buf   []byte // text
	raw   []byte // undecoded bytes of a file in UTF-16
	bytes int64  // read so far
	racy  time.Duration

	extractor *Extractor

	// The current block of the current file.
	length  int64 // intended size of blocks
	limit   int64 // no block may start after this offset: the size of the file
	size    int64 // size so far
	offset  int64 // offset of its end
	made    int   // number of earlier blocks, including those of failed attempts
	dropped int   // number of blocks made by failed attempts
	starts  []byte
	wide    bool // the current file has a line of more than WideLine
	// uncounted reports that the terms of the current file can't be counted from its
	// bytes, or that there are too many.
	uncounted bool
	// whole is the text of the current file. It is empty if the file has no definitions or
	// is too long to have them read.
	whole   []byte
	tooLong bool
	invalid bool // the file contains invalid UTF-8
	marked  bool // the file begins with a UTF-8 byte order mark
	names   symbols.Names

	dir     *rootfs.Dir // the folder of the last file
	dirName string
}

func newReader(root *rootfs.Root, racy time.Duration, sink blockSink, extractor *Extractor) *reader {
	return &reader{root: root, racy: racy, sink: sink, extractor: extractor, grams: new(trigram.Extractor), terms: terms.NewCounter(), buf: make([]byte, 0, readSize)}
}

func (r *reader) close() {
	if r.dir != nil {
		r.dir.Close()
		r.dir = nil
	}
}

// file reads the file at path and passes on its blocks. The outcome says which of them
// are valid: only if the file's stamps before and after reading are equal.
func (r *reader) file(path string) outcome {
	r.made, r.dropped = 0, 0
	out := outcome{}
	again := !policy.IsSecret(path) && !policy.IsSuspect(path)
	if !again {
		r.begin()
		out = r.unread(path)
	}
	for tries := 0; again && tries < 3; tries++ {
		r.begin()
		out, again = r.try(path)
	}
	if again {
		out = outcome{state: unstable}
	}
	if out.state != indexed || out.flags&(Binary|AlwaysScan) != 0 {
		r.begin()
	}
	if out.state != indexed || out.flags&(Binary|AlwaysScan) != 0 || len(r.whole) > symbols.MaxText {
		r.whole = r.whole[:0]
	}
	out.parts = uint32(r.terms.Parts())
	if r.uncounted || out.flags&AlwaysScan != 0 {
		out.parts = unknownParts
	}
	if out.state == indexed && r.made == r.dropped {
		r.endBlock() // a block without grams
	}
	if r.dropped > 0 || len(r.starts) > 0 {
		out.layout = &layout{r.dropped, slices.Clone(r.starts)}
	}
	return out
}

// begin resets the state of the previous file.
func (r *reader) begin() {
	r.grams.Reset()
	r.terms.Reset()
	r.uncounted, r.invalid, r.marked, r.whole, r.tooLong = false, false, false, r.whole[:0], false
	r.dropped, r.starts = r.made, r.starts[:0]
	r.size, r.offset, r.length, r.wide = 0, 0, math.MaxInt64, false
}

// endBlock passes on the current block.
func (r *reader) endBlock() {
	if r.made > r.dropped {
		r.starts = binary.LittleEndian.AppendUint64(r.starts, uint64(r.offset-r.size))
	}
	r.sink.block(r.grams)
	r.made++
	r.size = 0
}

// add adds whole lines to the current block, and starts a new block when it is large
// enough.
func (r *reader) add(text []byte) {
	for len(text) > 0 {
		n := len(text)
		if r.size+int64(n) > r.length && r.offset < r.limit {
			from := max(0, int(r.length-r.size)-1)
			if i := bytes.IndexByte(text[from:], '\n'); i >= 0 {
				n = from + i + 1
			}
		}
		r.grams.Add(text[:n])
		r.count(text[:n])
		r.size += int64(n)
		r.offset += int64(n)
		text = text[n:]
		if r.size >= r.length && r.offset < r.limit {
			r.endBlock()
		}
	}
}

// count counts the terms in whole lines. A file that is not UTF-8 is not counted here,
// because it must be decoded from Windows-1252 as a whole.
func (r *reader) count(text []byte) {
	invalid := !utf8.Valid(text)
	r.invalid = r.invalid || invalid
	if r.tooLong = r.tooLong || len(r.whole) > symbols.MaxText; !r.tooLong {
		r.whole = append(r.whole, text...)
	}
	if r.uncounted = r.uncounted || invalid; !r.uncounted {
		r.terms.Add(text)
	}
}

// definitions calls yield with the definitions in the file just read. whole reports whether
// they are complete; if not, there are none.
func (r *reader) definitions(path string, yield func(name string, kind symbols.Kind, container string)) (whole bool) {
	whole = true
	if len(r.whole) > 0 {
		if whole = r.names.Read(path, DefinitionText(r.text8())); whole {
			r.names.Each(yield)
		}
	}
	if cap(r.whole) > 4*readSize { // free the buffer of a large file
		r.whole = nil
	}
	return whole
}

func (r *reader) try(path string) (out outcome, again bool) {
	f, err := r.open(path)
	if err != nil {
		switch rootfs.KindOf(err) {
		case fault.NotFound, fault.NotRegular, fault.NotFolder, fault.ProtectedPath, fault.OutsideRoot:
			return outcome{state: gone}, false
		}
		return r.unreadable(path), false
	}
	defer f.Close()
	info := f.Info()
	before := stampOf(&info)
	now := time.Now()
	r.uncounted = info.Size > terms.MaxText
	flags, err := r.text(f, info.Size)
	if err != nil {
		return outcome{state: indexed, flags: AlwaysScan, stamp: before}, false
	}
	info, err = f.Stat()
	if err != nil || stampOf(&info) != before {
		return outcome{}, true
	}
	if info.Nlink > 1 {
		flags |= Linked
	}
	if before.racy(now, r.racy) {
		flags |= racyFlag
	}
	return outcome{state: indexed, flags: flags, stamp: before}, false
}

// unread makes the outcome for a file that holds, or may hold, credentials. The index does not
// store its text. Clients that may see the file search the file itself.
func (r *reader) unread(path string) outcome {
	p, err := r.root.Known(path)
	if err != nil {
		return outcome{state: gone}
	}
	info, err := r.root.Stat(p)
	switch {
	case err != nil && rootfs.KindOf(err) != fault.NotFound:
		return r.unreadable(path)
	case err != nil || info.Type != rootfs.TypeFile:
		return outcome{state: gone}
	}
	out := outcome{state: indexed, flags: AlwaysScan, stamp: stampOf(&info)}
	if policy.IsSecret(path) {
		out.flags |= Secret
	}
	return out
}

// unreadable makes the outcome for a file that can't be opened. A search tries to open it and
// reports the error.
func (r *reader) unreadable(path string) outcome {
	out := outcome{state: indexed, flags: AlwaysScan | racyFlag}
	if policy.IsSecret(path) {
		out.flags |= Secret
	}
	if p, err := r.root.Known(path); err == nil {
		if info, err := r.root.Stat(p); err == nil {
			out.stamp = stampOf(&info)
		}
	}
	return out
}

// open opens a file. It keeps the folder open, because the next file is usually in the
// same folder.
func (r *reader) open(path string) (*rootfs.File, error) {
	dir, name := "", path
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			dir, name = path[:i], path[i+1:]
			break
		}
	}
	if r.dir == nil || r.dirName != dir {
		r.close()
		p := rootfs.Path{}
		if dir != "" {
			var err error
			if p, err = r.root.Known(dir); err != nil {
				return nil, err
			}
		}
		d, err := r.root.OpenDir(p)
		if err != nil {
			return nil, err
		}
		r.dir, r.dirName = d, dir
	}
	return r.dir.OpenFile(name)
}

var errLongLine = errors.New("line too long")

// text reads a file as a scan does. The type is determined by the first block: a binary
// file is not read further, UTF-16 is decoded, and other text is used without its BOM but
// otherwise unchanged.
func (r *reader) text(f *rootfs.File, size int64) (Flags, error) {
	src := &source{f: f, size: size}
	defer func() { r.bytes += src.read }()
	buf, err := r.first(src)
	if err != nil {
		return 0, err
	}
	kind := textfile.Sniff(buf)
	if kind.Binary {
		return Binary, nil
	}
	var total int64
	switch kind.Encoding {
	case textfile.UTF16LE, textfile.UTF16BE:
		total, err = r.decoded(src, buf, kind.Encoding)
	default:
		// The text has the same bytes as the file, so parts of the file can be searched
		// on their own.
		r.length, r.limit = blockLength(size), size
		r.reserve(size)
		if kind.Encoding == textfile.UTF8BOM {
			r.marked = true
			bom := len(kind.Encoding.BOM())
			buf = buf[:copy(buf, buf[bom:])]
			r.offset = int64(bom)
		}
		total, err = r.plain(src, buf)
	}
	if err == errLongLine {
		return AlwaysScan | Large | Wide, nil
	}
	if err != nil {
		return 0, err
	}
	if r.size > 0 {
		r.endBlock()
	}
	if total >= largeText && r.wide {
		return Large | Wide, nil
	}
	if total >= largeText {
		return Large, nil
	}
	return 0, nil
}

// reserve allocates a buffer for a text of known size, including a byte order mark. A
// growing buffer would temporarily take twice as much. Before this, and before texts that
// are too long were freed, texts took 22 MB of the peak for Linux.
func (r *reader) reserve(size int64) {
	r.tooLong = size > symbols.MaxText+int64(len(textfile.UTF8BOM.BOM()))
	if !r.tooLong && size > int64(cap(r.whole)) {
		r.whole = make([]byte, 0, max(size, readSize))
	}
}

// first reads enough to determine the type of the file.
func (r *reader) first(src *source) ([]byte, error) {
	buf := r.buf[:0]
	for !src.ended && len(buf) < textfile.SniffLen {
		var err error
		if buf, err = src.fill(buf); err != nil {
			return nil, err
		}
	}
	return buf, nil
}

func (r *reader) plain(src *source, buf []byte) (total int64, err error) {
	for {
		total += int64(len(buf))
		if buf, err = r.lines(buf, src.ended); err != nil || src.ended {
			return total, err
		}
		total -= int64(len(buf))
		if buf, err = src.fill(buf); err != nil {
			return total, err
		}
	}
}

// lines passes the complete lines of buf to add, or all of buf if last is set. It returns
// the rest, at the start of a buffer that has room for more.
func (r *reader) lines(buf []byte, last bool) ([]byte, error) {
	end := len(buf)
	if !last {
		end = bytes.LastIndexByte(buf, '\n') + 1
	}
	if len(buf)-end > longLine || last && longest(buf) > longLine {
		return nil, errLongLine
	}
	r.wide = r.wide || wide(buf[:end])
	r.add(buf[:end])
	buf = buf[:copy(buf, buf[end:])]
	if cap(buf)-len(buf) < readSize/2 {
		buf = append(make([]byte, 0, 2*cap(buf)), buf...)
	}
	if cap(buf) <= 4*readSize { // keep a buffer of normal size
		r.buf = buf[:0]
	}
	return buf, nil
}

// wide reports whether buf has a line longer than WideLine. It only examines a few lines in
// each piece of that size.
func wide(buf []byte) bool {
	for len(buf) > WideLine {
		i := bytes.LastIndexByte(buf[:WideLine+1], '\n')
		if i < 0 {
			return true
		}
		buf = buf[i+1:]
	}
	return false
}

// longest returns the length of the longest line. It is only called if a line may be too
// long.
func longest(buf []byte) int {
	if len(buf) <= longLine {
		return 0
	}
	most := 0
	for len(buf) > 0 {
		i := bytes.IndexByte(buf, '\n')
		if i < 0 {
			i = len(buf) - 1
		}
		most = max(most, i+1)
		buf = buf[i+1:]
	}
	return most
}

func (r *reader) decoded(src *source, first []byte, enc textfile.Encoding) (total int64, err error) {
	raw := append(r.raw[:0], first[len(enc.BOM()):]...)
	buf := r.buf[:0]
	for {
		had := len(buf)
		var used int
		buf, used = enc.AppendDecoded(buf, raw, src.ended)
		total += int64(len(buf) - had)
		raw = raw[:copy(raw, raw[used:])]
		r.raw = raw[:0]
		if buf, err = r.lines(buf, src.ended); err != nil || src.ended {
			return total, err
		}
		if cap(raw)-len(raw) < readSize/2 {
			raw = append(make([]byte, 0, readSize), raw...)
		}
		if raw, err = src.fill(raw); err != nil {
			return total, err
		}
	}
}

// source reads a file and detects its end without an additional read.
type source struct {
	f     *rootfs.File
	size  int64
	read  int64
	ended bool
}

func (s *source) fill(buf []byte) ([]byte, error) {
	room := buf[len(buf):cap(buf)]
	n, err := s.f.Read(room)
	s.read += int64(n)
	if err == io.EOF || err == nil && n < len(room) && s.read == s.size {
		s.ended = true
		err = nil
	}
	return buf[:len(buf)+n], err
}
