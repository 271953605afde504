package recorder

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/fault"
	"quarry/internal/journal"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
)

// baseline has the state of all recorded files at the last comparison with the disk,
// including their contents.
//
// In memory, each folder is a string of encoded entries, about 60 bytes per file. On
// disk, a log has the entries in the order in which they changed. It is read at the
// start, and rewritten when most of it is outdated. A second file has compressed contents
// that git does not have. Both files have a generation number in their names: the files
// of a new generation are complete before its log gets its final name.
type baseline struct {
	root   *rootfs.Root
	budget int64 // limit on stored contents, in bytes

	mu       sync.Mutex // guards the fields below
	folders  map[string]string
	gen      uint64
	log      *rootfs.Log
	end      int64 // size of the log
	contents *rootfs.Log
	size     int64  // size of the stored contents
	live     int64  // size of the contents used by entries
	waiting  []byte // records not yet written to the log

	// own and outside are the ids of the newest entries that the baseline includes, in
	// the two journals. head is git's commit. built is set once all files were read.
	own, outside journal.ID
	head         string
	built        bool
	since        time.Time // when all files had been read; zero if an older version made the baseline

	counts [4]int // number of files whose content is not kept, by why
	files  int
}

const logPrefix, contentsPrefix = "baseline-", "contents-"

// A record of the log has a checksum, a length and a body, whose first byte is its kind.
const (
	recFolder = 'f'
	recState  = 's'
)

func openBaseline(root *rootfs.Root, budget int64) (*baseline, error) {
	b := &baseline{root: root, budget: budget, folders: map[string]string{}}
	list, err := root.List(rootfs.Path{})
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		var gen uint64
		if n, _ := fmt.Sscanf(e.Name, logPrefix+"%d", &gen); n == 1 && e.Name == fmt.Sprint(logPrefix, gen) {
			b.gen = max(b.gen, gen)
		}
	}
	if err := b.open(); err != nil {
		return nil, errors.Join(err, b.close())
	}
	if err := b.load(); err != nil {
		return nil, errors.Join(err, b.close())
	}
	for _, e := range list { // files of other generations
		if (strings.HasPrefix(e.Name, logPrefix) || strings.HasPrefix(e.Name, contentsPrefix)) && !strings.HasSuffix(e.Name, fmt.Sprint("-", b.gen)) {
			_ = root.Remove(root.Own(e.Name)) // on error, the next start tries again
		}
	}
	return b, nil
}

func (b *baseline) open() (err error) {
	if b.contents, err = b.root.OpenLog(b.root.Own(fmt.Sprint(contentsPrefix, b.gen)), true); err != nil {
		return err
	}
	if b.size, err = b.contents.Size(); err != nil {
		return err
	}
	b.log, err = b.root.OpenLog(b.root.Own(fmt.Sprint(logPrefix, b.gen)), true)
	return err
}

func (b *baseline) close() error {
	var errs []error
	for _, l := range []*rootfs.Log{b.log, b.contents} {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	return errors.Join(errs...)
}

// load reads the log up to its end, or up to an incomplete record left by a crash.
func (b *baseline) load() error {
	size, err := b.log.Size()
	if err != nil {
		return err
	}
	data := make([]byte, size)
	if n, err := b.log.ReadAt(data, 0); err != nil && err != io.EOF {
		return err
	} else {
		data = data[:n]
	}
	for rest := data; len(rest) >= 8; {
		n := binary.LittleEndian.Uint32(rest[4:])
		if uint64(n) > uint64(len(rest)-8) || crc32.ChecksumIEEE(rest[8:8+n]) != binary.LittleEndian.Uint32(rest) {
			break
		}
		if !b.take(string(rest[8 : 8+n])) {
			return errFormat
		}
		rest = rest[8+n:]
		b.end += int64(8 + n)
	}
	if b.end < size {
		return b.log.Truncate(b.end)
	}
	return nil
}

// take applies a record from the log.
func (b *baseline) take(body string) bool {
	r := &reader{s: body}
	switch r.byte() {
	case recState:
		b.own, b.outside = journal.ID(strings.Clone(r.str())), journal.ID(strings.Clone(r.str()))
		b.head, b.built = strings.Clone(r.str()), r.byte() == 1
		if at, n := binary.Varint([]byte(r.s)); n > 0 {
			b.since = time.Unix(at, 0)
		}
	case recFolder:
		dir := strings.Clone(r.str())
		var list []entry
		for len(r.s) > 0 && !r.bad {
			list = append(list, r.entry())
		}
		if r.bad {
			return false
		}
		b.merge(dir, list)
	default:
		return false
	}
	return !r.bad
}

// merge updates entries in a folder's string, which is sorted by name.
func (b *baseline) merge(dir string, changed []entry) {
	slices.SortFunc(changed, func(x, y entry) int { return strings.Compare(x.name, y.name) })
	was := b.list(dir)
	out := make([]byte, 0, len(b.folders[dir])+80*len(changed))
	for _, e := range changed {
		for len(was) > 0 && was[0].name < e.name {
			out = was[0].append(out)
			was = was[1:]
		}
		if len(was) > 0 && was[0].name == e.name {
			b.count(&was[0], -1)
			was = was[1:]
		}
		if e.typ != rootfs.TypeUnknown {
			b.count(&e, 1)
			out = e.append(out)
		}
	}
	for i := range was {
		out = was[i].append(out)
	}
	if len(out) == 0 {
		delete(b.folders, dir)
	} else {
		b.folders[dir] = string(out)
	}
}

func (b *baseline) count(e *entry, by int) {
	if e.typ != rootfs.TypeFile || e.uncovered {
		return
	}
	b.files += by
	b.live += int64(by) * e.stored
	b.counts[min(e.why, unreadable)] += by
}

// list returns the entries of a folder. The caller holds mu, or ensures that nothing is
// written.
func (b *baseline) list(dir string) []entry {
	var list []entry
	for r := (&reader{s: b.folders[dir]}); len(r.s) > 0 && !r.bad; {
		list = append(list, r.entry())
	}
	return list
}

// folder is list for a caller that does not hold mu.
func (b *baseline) folder(dir string) []entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.list(dir)
}

// get returns the entry for a path.
func (b *baseline) get(path string) (entry, bool) {
	dir, name := split(path)
	b.mu.Lock()
	defer b.mu.Unlock()
	for r := (&reader{s: b.folders[dir]}); len(r.s) > 0 && !r.bad; {
		if e := r.entry(); e.name == name {
			return e, true
		}
	}
	return entry{}, false
}

// covered reports whether neither a path nor a folder above it has an uncovered entry.
func (b *baseline) covered(path string) bool {
	for i := 0; i <= len(path); i++ {
		if i == len(path) || path[i] == '/' {
			if e, _ := b.get(path[:i]); e.uncovered {
				return false
			}
		}
	}
	return true
}

// under lists dir and the folders below it.
func (b *baseline) under(dir string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var dirs []string
	for d := range b.folders {
		if beneath(d, dir) {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

// put changes entries of a folder, in memory and in the records for the next flush.
func (b *baseline) put(dir string, changed ...entry) {
	if len(changed) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	body := appendString([]byte{recFolder}, dir)
	for i := range changed {
		body = changed[i].append(body)
	}
	b.merge(dir, changed)
	b.waiting = appendRecord(b.waiting, body)
}

func appendRecord(b, body []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(body))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	return append(b, body...)
}

func (b *baseline) state() []byte {
	body := appendString(appendString(appendString([]byte{recState}, string(b.own)), string(b.outside)), b.head)
	if !b.built {
		return append(body, 0)
	}
	if body = append(body, 1); b.since.IsZero() {
		return body
	}
	return binary.AppendVarint(body, b.since.Unix())
}

// flush writes the changed entries and the state to the log.
func (b *baseline) flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := appendRecord(b.waiting, b.state())
	if err := b.log.Append(out, b.end); err != nil {
		return err
	}
	b.end += int64(len(out))
	b.waiting = nil
	whole := int64(0)
	for dir, s := range b.folders {
		whole += int64(len(dir) + len(s))
	}
	if b.end > 4*whole+1<<20 || b.size > 2*b.live+8<<20 {
		return b.rewrite()
	}
	return nil
}

// rewrite begins a new generation without outdated data. The caller holds mu.
func (b *baseline) rewrite() error {
	next := &baseline{root: b.root, budget: b.budget, folders: map[string]string{}, gen: b.gen + 1, own: b.own, outside: b.outside, head: b.head, built: b.built, since: b.since}
	names := [...]string{fmt.Sprint(contentsPrefix, next.gen), fmt.Sprint(logPrefix, next.gen)}
	drop := func(err error) error {
		errs := []error{err, next.close()}
		for _, name := range names {
			if e := b.root.Remove(b.root.Own(name)); !errors.Is(e, fault.NotFound) {
				errs = append(errs, e)
			}
		}
		return errors.Join(errs...)
	}
	var err error
	if next.contents, err = b.root.OpenLog(b.root.Own(names[0]), true); err != nil {
		return drop(err)
	}
	var out []byte
	for dir := range b.folders {
		list := b.list(dir)
		for i := range list {
			if e := &list[i]; e.place == inStore {
				raw := make([]byte, e.stored)
				if _, err := b.contents.ReadAt(raw, e.off); err != nil {
					return drop(err)
				}
				e.off = next.size
				if err := next.contents.Append(raw, next.size); err != nil {
					return drop(err)
				}
				next.size += e.stored
			}
		}
		body := appendString([]byte{recFolder}, dir)
		for i := range list {
			body = list[i].append(body)
		}
		next.merge(dir, list)
		out = appendRecord(out, body)
	}
	out = appendRecord(out, next.state())
	if err := next.contents.Sync(); err != nil {
		return drop(err)
	}
	if next.log, err = b.root.OpenLog(b.root.Own(names[1]), true); err != nil {
		return drop(err)
	}
	if err := next.log.Append(out, 0); err != nil {
		return drop(err)
	}
	if err := next.log.Sync(); err != nil {
		return drop(err)
	}
	old := [...]string{fmt.Sprint(contentsPrefix, b.gen), fmt.Sprint(logPrefix, b.gen)}
	_ = b.close()
	b.folders, b.gen, b.log, b.end, b.contents, b.size, b.live = next.folders, next.gen, next.log, int64(len(out)), next.contents, next.size, next.live
	for _, name := range old {
		_ = b.root.Remove(b.root.Own(name)) // on error, the next start tries again
	}
	return nil
}

// store stores a content for an entry, or sets the reason why it is not stored.
func (b *baseline) store(e *entry, data []byte) error {
	raw := squeeze(data)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.live+int64(len(raw)) > b.budget {
		e.place, e.why = nowhere, overBudget
		return nil
	}
	if err := b.contents.Append(raw, b.size); err != nil {
		e.place, e.why = nowhere, overBudget
		return err
	}
	e.place, e.off, e.stored = inStore, b.size, int64(len(raw))
	b.size += e.stored
	return nil
}

// read returns the stored content of an entry.
func (b *baseline) read(e *entry) ([]byte, error) {
	raw := make([]byte, e.stored)
	b.mu.Lock()
	_, err := b.contents.ReadAt(raw, e.off)
	b.mu.Unlock()
	if err != nil {
		return nil, err
	}
	data, err := expand(raw)
	if err != nil || version.Of(data) != e.version {
		return nil, errFormat
	}
	return data, nil
}

// deflaters are reused, because making one takes longer than compressing a note.
var deflaters = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(io.Discard, flate.BestSpeed) // fails only for unknown levels
	return w
}}

// squeeze compresses a content. The first byte of the result is the compression method.
func squeeze(data []byte) []byte {
	var out bytes.Buffer
	out.WriteByte(1)
	if len(data) > 128 {
		w := deflaters.Get().(*flate.Writer)
		defer deflaters.Put(w)
		w.Reset(&out)
		if _, err := w.Write(data); err == nil && w.Close() == nil && out.Len() < len(data) {
			return out.Bytes()
		}
	}
	return append([]byte{0}, data...)
}

func expand(raw []byte) ([]byte, error) {
	if len(raw) == 0 || raw[0] > 1 {
		return nil, errFormat
	}
	if raw[0] == 0 {
		return raw[1:], nil
	}
	return io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(raw[1:])), maxText+1))
}

// freshBaseline removes a baseline that can't be read and begins a new one.
func freshBaseline(root *rootfs.Root, budget int64) (*baseline, error) {
	list, err := root.List(rootfs.Path{})
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name, logPrefix) || strings.HasPrefix(e.Name, contentsPrefix) {
			if err := root.Remove(root.Own(e.Name)); err != nil {
				return nil, err
			}
		}
	}
	return openBaseline(root, budget)
}
