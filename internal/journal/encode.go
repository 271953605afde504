package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"strings"
	"time"

	"quarry/change"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
)

// A body is a sequence of unsigned varints and length-prefixed strings. Paths and names
// are arbitrary bytes.

type encoder struct{ b []byte }

func (e *encoder) num(n uint64) { e.b = binary.AppendUvarint(e.b, n) }
func (e *encoder) str(s string) { e.num(uint64(len(s))); e.b = append(e.b, s...) }
func (e *encoder) bytes(p []byte) {
	e.num(uint64(len(p)))
	e.b = append(e.b, p...)
}
func (e *encoder) bool(v bool) {
	if v {
		e.num(1)
	} else {
		e.num(0)
	}
}

func (e *encoder) time(t time.Time) {
	n := int64(0)
	if !t.IsZero() {
		n = t.UnixNano()
	}
	e.b = binary.AppendVarint(e.b, n)
}

func (e *encoder) version(v rootfs.Version) { e.b = v.Append(e.b) }

func (e *encoder) path(p rootfs.Path) {
	if p.IsRoot() {
		e.str("")
		return
	}
	e.str(p.String())
}

var errBody = errors.New("malformed record")

// decoder reads the output of an encoder. After the first error, err is set and all
// results are zero.
type decoder struct {
	b    []byte
	err  error
	root *rootfs.Root // used to make paths
}

func (d *decoder) fail() { d.b, d.err = nil, errBody }

func (d *decoder) num() uint64 {
	n, size := binary.Uvarint(d.b)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

// count reads the number of following items. Each takes at least one byte, so a damaged
// number can't cause a large allocation.
func (d *decoder) count() int {
	n := d.num()
	if n > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) bytes() []byte { return d.take(d.num()) }
func (d *decoder) str() string   { return string(d.bytes()) }

func (d *decoder) bool() bool {
	n := d.num()
	if n > 1 {
		d.fail()
	}
	return n == 1
}

func (d *decoder) time() time.Time {
	n, size := binary.Varint(d.b)
	if size <= 0 {
		d.fail()
		return time.Time{}
	}
	d.b = d.b[size:]
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n)
}

func (d *decoder) version() rootfs.Version {
	raw := d.take(16)
	if raw == nil {
		return rootfs.Version{}
	}
	return version.From(raw)
}

func (d *decoder) path() rootfs.Path {
	s := d.str()
	if s == "" || d.err != nil {
		return rootfs.Path{}
	}
	p, err := d.root.Known(s)
	if err != nil || p.IsRoot() {
		d.fail()
	}
	return p
}

func (d *decoder) id() ID {
	id := ID(d.str())
	if id != "" {
		if _, ok := id.number(); !ok {
			d.fail()
		}
	}
	return id
}

// end returns the error, also if there are unread bytes.
func (d *decoder) end() error {
	if d.err == nil && len(d.b) > 0 {
		d.fail()
	}
	return d.err
}

// ref is the location of stored content.
type ref struct {
	place  place
	codec  codec
	off    int64 // offset of the stored bytes in the segment or pack
	stored int64
	size   int64
	git    string  // the blob's id, for content stored in git
	src    *source // set in a plan of several entries; nil means the plan's own source
}

type place uint8

const (
	nowhere place = iota
	inSegment
	inPack
	asEdits // a back record: edits of the content after the operation
	inGit   // an object of the git repository
)

func (e *encoder) ref(r ref) {
	e.num(uint64(r.place))
	if r.place == nowhere {
		return
	}
	if r.place == inGit {
		e.str(r.git)
		e.num(uint64(r.size))
		return
	}
	e.num(uint64(r.codec))
	e.num(uint64(r.off))
	e.num(uint64(r.stored))
	e.num(uint64(r.size))
}

func (d *decoder) ref() ref {
	r := ref{place: place(d.num())}
	switch r.place {
	case nowhere:
		return r
	case inGit:
		r.git, r.size = d.str(), int64(min(d.num(), 1<<62))
		return r
	case inSegment, inPack, asEdits:
	default:
		d.fail()
		return ref{}
	}
	c, off, stored, size := d.num(), d.num(), d.num(), d.num()
	if c > uint64(deflated) || off > 1<<62 || stored > 1<<62 || size > 1<<62 {
		d.fail()
		return ref{}
	}
	r.codec, r.off, r.stored, r.size = codec(c), int64(off), int64(stored), int64(size)
	return r
}

const permMask = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

func (e *encoder) node(n Node) {
	e.str(n.Rel)
	e.num(uint64(n.Type))
	e.num(uint64(n.Mode & permMask))
	e.time(n.ModTime)
	e.str(n.Target)
	e.version(n.Version)
	e.num(uint64(n.Size))
	e.ref(n.at)
}

func (d *decoder) node() Node {
	n := Node{Rel: d.str(), Type: rootfs.Type(d.num()), Mode: fs.FileMode(d.num()) & permMask, ModTime: d.time(),
		Target: d.str(), Version: d.version(), Size: int64(d.num()), at: d.ref()}
	if n.Type > rootfs.TypeOther || n.Size < 0 || n.Rel != "" && !d.validRel(n.Rel) {
		d.fail()
		return Node{}
	}
	return n
}

// validRel reports whether rel is inside the folder. A damaged or forged rel may not be.
func (d *decoder) validRel(rel string) bool {
	p, err := d.root.Known(rel)
	return err == nil && !p.IsRoot() && !strings.HasPrefix(rel, "/")
}

// edits writes a compressed list of edits: codec, size, stored bytes.
func (e *encoder) edits(edits []rootfs.Edit) {
	var in encoder
	in.num(uint64(len(edits)))
	for _, x := range edits {
		in.num(uint64(x.Off))
		in.num(uint64(x.Len))
		in.bytes(x.Data)
	}
	stored, c := squeeze(in.b)
	e.num(uint64(c))
	e.num(uint64(len(in.b)))
	e.bytes(stored)
}

func (d *decoder) edits() []rootfs.Edit {
	c, size, stored := codec(d.num()), d.num(), d.bytes()
	if d.err != nil || size > maxDeflated || c > deflated {
		d.fail()
		return nil
	}
	if c == deflated {
		stored, _ = inflate(bytes.NewReader(stored), int64(size)) // nil fails the size check
	}
	if uint64(len(stored)) != size {
		d.fail()
		return nil
	}
	in := &decoder{b: stored}
	var list []rootfs.Edit
	for range in.count() {
		off, n, data := in.num(), in.num(), in.bytes()
		if in.err != nil || off > 1<<62 || n > 1<<62 {
			d.fail()
			return nil
		}
		list = append(list, rootfs.Edit{Off: int64(off), Len: int64(n), Data: data})
	}
	if in.end() != nil {
		d.fail()
		return nil
	}
	return list
}

func (e *encoder) op(op *Op) {
	e.num(uint64(op.Kind))
	e.path(op.Path)
	e.path(op.To)
	e.version(op.Old)
	e.version(op.New)
	e.num(uint64(op.Mode & permMask))
	e.str(op.Where)
	e.str(op.Lost)
	e.ref(op.old)
	e.bool(op.hasDiff)
	e.num(uint64(len(op.Nodes)))
	for _, n := range op.Nodes {
		e.node(n)
	}
	if op.Kind == Chmod {
		e.num(uint64(op.NewMode & permMask))
	}
	if op.old.place == inGit {
		e.ref(op.made)
	}
}

func (d *decoder) op() Op {
	op := Op{Kind: Kind(d.num()), Path: d.path(), To: d.path(), Old: d.version(), New: d.version(),
		Mode: fs.FileMode(d.num()) & permMask, Where: d.str(), Lost: d.str(), old: d.ref(), hasDiff: d.bool()}
	if op.Kind < Create || op.Kind > Chmod {
		d.fail()
	}
	for range d.count() {
		op.Nodes = append(op.Nodes, d.node())
		if d.err != nil {
			return Op{}
		}
	}
	if op.Kind == Chmod {
		op.NewMode = fs.FileMode(d.num()) & permMask
	}
	if op.old.place == inGit {
		op.made = d.ref()
	}
	return op
}

func encodeIntent(en *Entry) []byte {
	var e encoder
	e.str(string(en.ID))
	e.time(en.Time)
	e.str(en.owner)
	e.str(en.pack)
	e.str(en.Tool)
	e.str(string(en.Undoes))
	e.num(uint64(len(en.Ops)))
	for i := range en.Ops {
		e.op(&en.Ops[i])
	}
	e.str(en.Client.Name)
	e.str(en.Client.Version)
	e.action(&en.Did)
	e.str(en.Client.Session)
	e.str(en.Proposal)
	e.str(string(en.PartOf))
	e.num(uint64(len(en.Reverts)))
	for _, id := range en.Reverts {
		e.str(string(id))
	}
	e.bool(true) // no record ends with two zeros; see unwritten
	return e.b
}

func decodeIntent(root *rootfs.Root, b []byte) (*Entry, error) {
	d := &decoder{b: b, root: root}
	en := &Entry{ID: d.id(), Time: d.time(), owner: d.str(), pack: d.str(), Status: Pending}
	en.Tool, en.Undoes = d.str(), d.id()
	for range d.count() {
		en.Ops = append(en.Ops, d.op())
		if d.err != nil {
			return nil, d.err
		}
	}
	en.Client.Name, en.Client.Version = d.str(), d.str()
	d.action(&en.Did)
	en.Client.Session, en.Proposal, en.PartOf = d.str(), d.str(), d.id()
	for range d.count() {
		en.Reverts = append(en.Reverts, d.id())
	}
	if !d.bool() {
		d.fail()
	}
	for _, name := range [...]string{en.owner, en.pack} {
		if name != "" && (!d.validRel(name) || strings.Contains(name, "/")) {
			d.fail()
		}
	}
	if en.ID == "" {
		d.fail()
	}
	return en, d.end()
}

// action writes an action, and the chain of actions that it undid.
func (e *encoder) action(a *change.Action) {
	for ; ; a = a.Of {
		for _, s := range [...]string{string(a.Verb), a.Path, a.To, a.ID, a.Text} {
			e.str(s)
		}
		for _, n := range [...]int{a.Count, a.Line, a.Updated, a.Files, a.Broken} {
			e.num(uint64(max(n, 0)))
		}
		e.bool(a.ToTrash)
		e.bool(a.Of != nil)
		if a.Of == nil {
			return
		}
	}
}

func (d *decoder) action(a *change.Action) {
	for d.err == nil {
		a.Verb, a.Path, a.To, a.ID, a.Text = change.Verb(d.str()), d.str(), d.str(), d.str(), d.str()
		for _, n := range [...]*int{&a.Count, &a.Line, &a.Updated, &a.Files, &a.Broken} {
			*n = int(min(d.num(), 1<<40))
		}
		a.ToTrash = d.bool()
		if !d.bool() {
			return
		}
		a.Of = &change.Action{}
		a = a.Of
	}
}

// Result has the facts about an operation that are known only after it was carried out.
type Result struct {
	Op    int
	New   rootfs.Version // zero: unchanged from the record
	Where string         // empty: unchanged from the record
}

type commit struct {
	id      ID
	done    int // number of operations carried out
	results []Result
}

func (c commit) encode() []byte {
	var e encoder
	e.str(string(c.id))
	e.num(uint64(c.done))
	e.num(uint64(len(c.results)))
	for _, r := range c.results {
		e.num(uint64(r.Op))
		e.version(r.New)
		e.str(r.Where)
	}
	return e.b
}

func decodeCommit(b []byte) (commit, error) {
	d := &decoder{b: b}
	c := commit{id: d.id(), done: int(min(d.num(), maxRecord))}
	for range d.count() {
		c.results = append(c.results, Result{int(min(d.num(), maxRecord)), d.version(), d.str()})
		if d.err != nil {
			break
		}
	}
	return c, d.end()
}

// dropped counts the entries dropped since the journal was created.
type dropped struct {
	count  uint64
	newest time.Time
}

func (x dropped) encode() []byte {
	var e encoder
	e.num(x.count)
	e.time(x.newest)
	return e.b
}

func decodeDropped(b []byte) (dropped, error) {
	d := &decoder{b: b}
	x := dropped{d.num(), d.time()}
	return x, d.end()
}

// start is a segment's first record. It repeats facts from earlier segments, so that this
// segment can be read alone.
type start struct {
	format  uint64
	last    ID // the newest entry before this segment
	dropped dropped
	open    []openEntry
}

// openEntry is an entry in an earlier segment that was in progress when this one began.
type openEntry struct {
	id  ID
	seg uint32
}

// format is the only format that is read. Newer ones are refused with ErrNewer. Older
// ones were never released; the error tells the user to delete the folder.
const format = 7

func (s start) encode() []byte {
	var e encoder
	e.num(format)
	e.str(string(s.last))
	e.num(s.dropped.count)
	e.time(s.dropped.newest)
	e.num(uint64(len(s.open)))
	for _, o := range s.open {
		e.str(string(o.id))
		e.num(uint64(o.seg))
	}
	return e.b
}

func decodeStart(b []byte) (start, error) {
	d := &decoder{b: b}
	if f := (&decoder{b: b}).num(); f != 0 && f != format {
		return start{format: f}, nil // the rest has an unknown format
	}
	s := start{format: d.num(), last: d.id(), dropped: dropped{d.num(), d.time()}}
	for range d.count() {
		s.open = append(s.open, openEntry{d.id(), uint32(d.num())})
		if d.err != nil {
			break
		}
	}
	if s.format != format {
		d.fail()
	}
	return s, d.end()
}
