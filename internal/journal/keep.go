package journal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"quarry/fault"
	"quarry/internal/crew"
	"quarry/internal/progress"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
)

// keeper collects the contents that must be stored with an entry.
type keeper struct {
	j     *Journal
	ws    *rootfs.Root
	en    *Entry
	owner string
	large bool // contents are written to a pack
	// outside, if set, replaces the id and time of the entry; see Record.
	outside func(last ID)
	size    int64
	inline  map[rootfs.Version][]byte
	placed  map[rootfs.Version]ref
	diffs   map[int][]rootfs.Edit
	backs   map[int][]rootfs.Edit // by operation: old contents kept as edits
	// moves has the renames among the operations so far, because the operations use new
	// names, while the files still have their old ones.
	moves expectation
	// written has the paths that the operations so far write.
	written map[rootfs.Path]bool

	packPath rootfs.Path // under its temporary name; zero if there is none
	packed   int64
}

func randomToken() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// survey checks the operations and computes how much must be stored. It runs before
// anything is written.
func (k *keeper) survey(ctx context.Context) error {
	for i := range k.en.Ops {
		op := &k.en.Ops[i]
		if err := op.check(); err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
		if err := k.surveyOp(ctx, op); err != nil {
			return err
		}
		k.passed(op)
	}
	k.moves = expectation{}
	if limit := k.j.opts.MaxBytes / 2; k.size > limit {
		return &TooLargeError{k.size, limit}
	}
	k.large = k.size > maxInline
	return nil
}

func (k *keeper) passed(op *Op) {
	if op.Kind == Replace || op.Kind == Create {
		if k.written == nil {
			k.written = map[rootfs.Path]bool{}
		}
		k.written[op.Path] = true
	}
	if op.Kind == Rename {
		k.moves.moves = append(k.moves.moves, [2]rootfs.Path{op.Path, op.To})
	}
}

func (k *keeper) surveyOp(ctx context.Context, op *Op) error {
	at, err := k.moves.origin(op.Path)
	if err != nil {
		return err
	}
	switch op.Kind {
	case Replace:
		// Large contents are not hashed here: stored content is verified before it is
		// used.
		if op.OldData != nil && (op.Old.IsZero() || len(op.OldData) <= maxInline) {
			v := version.Of(op.OldData)
			if !op.Old.IsZero() && op.Old != v {
				return conflict(op.Path)
			}
			op.Old = v
		}
		if op.NewData != nil && op.New.IsZero() {
			op.New = version.Of(op.NewData)
		}
		info, err := k.ws.Stat(at)
		if err != nil && op.OldData != nil && errors.Is(err, fault.NotFound) {
			// An earlier operation of this change makes the file.
			info, err = rootfs.Info{Size: int64(len(op.OldData))}, nil
		}
		if err != nil {
			return err
		}
		op.Mode = info.Mode
		if op.OldData != nil {
			info.Size = int64(len(op.OldData))
		}
		if cost, ok := op.editsOnly(info.Size); ok {
			k.size += cost
		} else if op.Lost == "" {
			k.size += info.Size
		}
	case Chmod:
		info, err := k.ws.Stat(at)
		if err == nil && (info.Type != rootfs.TypeFile || info.Mode.Perm() != op.Mode.Perm()) {
			err = conflict(op.Path)
		}
		if err != nil {
			return err
		}
	case Create:
		op.Nodes = append([]Node(nil), op.Nodes...)
		if len(op.Nodes) == 0 {
			if op.NewData != nil {
				op.New = version.Of(op.NewData)
			}
			op.Nodes = []Node{{Type: rootfs.TypeFile, Version: op.New, Size: int64(len(op.NewData))}}
		} else if op.New.IsZero() {
			op.New = op.Nodes[0].Version
		}
		for i := range op.Nodes {
			op.Nodes[i].at = ref{} // the location of the content is stored with the undone entry
		}
	case Rename, Trash:
		return k.identify(op, at)
	case Remove:
		op.Nodes = append([]Node(nil), op.Nodes...)
		if len(op.Nodes) == 0 {
			if op.Nodes, err = Scan(ctx, k.ws, at); err != nil {
				return err
			}
		} else if err := k.asOnDisk(op.Nodes, at); err != nil {
			return err
		}
		if op.Lost == "" {
			for i := range op.Nodes {
				k.size += op.Nodes[i].Size
			}
		}
	}
	return nil
}

// maxIdentify is the size of the largest moved file that is hashed, to recognize it
// later. Hashing it takes about a second.
const maxIdentify = 256 << 20

// identify records the version of a file, or the target of a symlink, that an operation
// moves. Undo and redo are refused if the path then has a different entry. It skips files
// that the change itself writes: the writing operation records their version.
func (k *keeper) identify(op *Op, at rootfs.Path) error {
	if len(op.Nodes) != 1 || k.written[op.Path] {
		return nil
	}
	n := op.Nodes[0]
	info, err := k.ws.Stat(at)
	if err != nil || n.Type != info.Type || !n.Version.IsZero() || n.Target != "" || info.Size > maxIdentify {
		return nil // the operation itself will report the error
	}
	switch n.Type {
	case rootfs.TypeFile:
		n.Version, err = hashFile(k.ws, at)
	case rootfs.TypeSymlink:
		n.Target, err = k.ws.Readlink(at)
	}
	if err != nil {
		return nil
	}
	op.Nodes = []Node{n}
	return nil
}

// asOnDisk sets the modes and times of nodes, which are copied from another entry, to
// those on disk.
func (k *keeper) asOnDisk(nodes []Node, top rootfs.Path) error {
	for i := range nodes {
		p, err := join(top, nodes[i].Rel)
		if err != nil {
			return err
		}
		info, err := k.ws.Stat(p)
		if errors.Is(err, fault.NotFound) {
			continue // an earlier operation makes the entry
		}
		if err != nil {
			return err
		}
		if info.Type == nodes[i].Type {
			nodes[i].Mode, nodes[i].ModTime = info.Mode, info.ModTime
		}
	}
	return nil
}

// Scan lists the entries at and below p, the top first, without versions.
func Scan(ctx context.Context, ws *rootfs.Root, p rootfs.Path) ([]Node, error) {
	info, err := ws.Stat(p)
	if err != nil {
		return nil, err
	}
	var nodes []Node
	err = scan(ctx, ws, nil, p, "", info, &nodes)
	return nodes, err
}

// scan adds the entries at and below p to nodes. above is p's parent folder, or nil if
// that is not open.
func scan(ctx context.Context, ws *rootfs.Root, above *rootfs.Dir, p rootfs.Path, rel string, info rootfs.Info, nodes *[]Node) error {
	if err := checkCtx(ctx); err != nil {
		return err
	}
	n := Node{Rel: rel, Type: info.Type, Mode: info.Mode, ModTime: info.ModTime}
	switch info.Type {
	case rootfs.TypeFile:
		n.Size = info.Size
	case rootfs.TypeSymlink:
		target, err := ws.Readlink(p)
		if err != nil {
			return err
		}
		n.Target = target
	case rootfs.TypeDir:
		*nodes = append(*nodes, n)
		d, err := openIn(ws, above, p)
		if err != nil {
			return err
		}
		defer d.Close()
		return scanDir(ctx, ws, d, p, rel, nodes)
	default:
		return fmt.Errorf("%s: %w: its content can't be stored", fault.Printable(p.String()), fault.NotRegular)
	}
	*nodes = append(*nodes, n)
	return nil
}

// openIn opens the folder p from its parent, which is faster than opening it by path.
func openIn(ws *rootfs.Root, above *rootfs.Dir, p rootfs.Path) (*rootfs.Dir, error) {
	if above == nil {
		return ws.OpenDir(p)
	}
	return above.OpenDir(p.Base())
}

func scanDir(ctx context.Context, ws *rootfs.Root, d *rootfs.Dir, p rootfs.Path, rel string, nodes *[]Node) error {
	entries, err := d.Read(nil)
	if err != nil {
		return err
	}
	for _, e := range entries {
		child, err := p.Child(e.Name)
		if err != nil {
			return err
		}
		info, err := d.Stat(e.Name)
		if err != nil {
			return err
		}
		name := e.Name
		if rel != "" {
			name = rel + "/" + e.Name
		}
		if err := scan(ctx, ws, d, child, name, info, nodes); err != nil {
			return err
		}
	}
	return nil
}

func conflict(p rootfs.Path) error {
	return &fault.PathError{Op: "keep", Path: p.String(), Kind: fault.Conflict}
}

// collect reads the contents to be stored, into memory or a pack.
func (k *keeper) collect(ctx context.Context) error {
	k.diffs, k.backs = map[int][]rootfs.Edit{}, map[int][]rootfs.Edit{}
	if !k.large {
		return k.each(ctx, nil)
	}
	token := randomToken()
	p := k.j.root.Own("packs/tmp-" + k.owner + "-" + token)
	_, err := k.j.root.CreateFunc(p, &rootfs.CreateOptions{Mode: 0o600}, func(w *rootfs.Writer) error {
		pw := &packWriter{w: w, seen: map[rootfs.Version]ref{}, squeezed: k.squeezeAll(ctx)}
		if err := k.each(ctx, pw); err != nil {
			return err
		}
		k.packed = pw.off
		return nil
	})
	if err == nil {
		k.packPath = p
	}
	return err
}

// squeezeAll compresses the contents passed by the caller, on all processors. Recording a
// change of 600 source files takes half of its time for compression.
func (k *keeper) squeezeAll(ctx context.Context) map[rootfs.Version]stored {
	var todo []*Op
	for i := range k.en.Ops {
		op := &k.en.Ops[i]
		if op.Kind == Replace && op.Lost == "" && op.old.place != asEdits && len(op.OldData) > 0 && len(op.OldData) <= maxInline {
			todo = append(todo, op)
		}
	}
	done := make([]stored, len(todo))
	crew.Each(ctx, len(todo), runtime.GOMAXPROCS(0), func(i int) { done[i].data, done[i].codec = squeeze(todo[i].OldData) })
	all := make(map[rootfs.Version]stored, len(todo))
	for i, op := range todo {
		if done[i].data != nil {
			all[op.Old] = done[i]
		}
	}
	return all
}

// stored is a content as it is written to the log.
type stored struct {
	data  []byte
	codec codec
}

// each stores the contents of all operations, in pack, or in the log if pack is nil.
func (k *keeper) each(ctx context.Context, pack *packWriter) error {
	watch := progress.Of(ctx)
	for i := range k.en.Ops {
		op := &k.en.Ops[i]
		err := checkCtx(ctx)
		switch {
		case err != nil:
		case op.Kind == Replace:
			err = k.keepOld(ctx, i, op, pack)
		case op.Kind == Remove:
			err = k.keepNodes(ctx, op, pack)
		}
		if err != nil {
			return err
		}
		k.noteDiff(i, op)
		k.passed(op)
		op.OldData, op.NewData, op.Edits = nil, nil, nil
		watch.Step()
	}
	return nil
}

func (k *keeper) keepOld(ctx context.Context, i int, op *Op, pack *packWriter) error {
	switch {
	case op.Lost != "":
		return nil
	case op.old.place == asEdits:
		return k.keepBack(i, op)
	case op.Blobs[0].ID != "":
		op.old, op.made = op.Blobs[0].ref(), op.Blobs[1].ref()
		return nil
	}
	v := op.Old
	at, err := k.keep(ctx, op.Path, op.OldData, &v, pack, !v.IsZero())
	op.old, op.Old = at, v
	return err
}

func (k *keeper) keepNodes(ctx context.Context, op *Op, pack *packWriter) error {
	if op.Lost != "" {
		return nil
	}
	for i := range op.Nodes {
		n := &op.Nodes[i]
		if n.Type != rootfs.TypeFile {
			continue
		}
		if err := checkCtx(ctx); err != nil {
			return err
		}
		p, err := join(op.Path, n.Rel)
		if err != nil {
			return err
		}
		if op.Blobs[0].ID != "" {
			n.at = op.Blobs[0].ref()
		} else if n.at, err = k.keep(ctx, p, op.OldData, &n.Version, pack, false); err != nil {
			return err
		}
		n.Size = n.at.size
		if i == 0 {
			op.Old = n.Version
		}
	}
	return nil
}

// noteDiff records the edits that turn the old content into the new.
func (k *keeper) noteDiff(i int, op *Op) {
	switch {
	case op.Kind != Replace && op.Kind != Create:
	case op.Edits != nil:
		k.diffs[i] = op.Edits
	case op.NewData == nil:
	case op.Kind == Create:
		k.diffs[i] = []rootfs.Edit{{Data: op.NewData}}
	default:
		old := op.OldData
		if old == nil {
			old = k.inline[op.Old]
		}
		if old != nil || op.old.size == 0 {
			k.diffs[i] = span(old, op.NewData)
		}
	}
}

// keep stores one content. The content must have the version *want; if *want is zero,
// keep sets it. A large file is not hashed, because for 100 MB that takes as long as
// copying and syncing: keep only checks that the file does not change during the copy. A
// replacement compares the file with *want when it is made, and stored content is
// verified before it is used.
func (k *keeper) keep(ctx context.Context, p rootfs.Path, data []byte, want *rootfs.Version, pack *packWriter, replaced bool) (ref, error) {
	p, err := k.moves.origin(p)
	if err != nil {
		return ref{}, err
	}
	if data == nil && pack != nil {
		f, err := k.ws.OpenFile(p)
		if err != nil {
			return ref{}, err
		}
		defer f.Close()
		if f.Info().Size > maxInline {
			if replaced {
				return pack.copy(ctx, f, p, *want)
			}
			return pack.stream(ctx, f, p, want)
		}
	}
	if data == nil {
		var v rootfs.Version
		if data, v, _, err = k.ws.ReadFile(p, k.j.opts.MaxBytes/2); err != nil {
			return ref{}, err
		}
		if !want.IsZero() && *want != v {
			return ref{}, conflict(p)
		}
		*want = v
	}
	if pack != nil {
		return pack.put(data, *want)
	}
	if len(data) > maxInline { // the file grew after the survey
		return ref{}, conflict(p)
	}
	k.inline[*want] = data
	return ref{place: inSegment, size: int64(len(data))}, nil
}

// namePack gives the pack a name with the segment's number, so that both are dropped
// together. The caller holds the lock.
func (k *keeper) namePack(seg uint32) error {
	if k.packPath.IsRoot() {
		return nil
	}
	name := fmt.Sprintf("%08d-%s", seg, strings.TrimPrefix(k.packPath.Base(), "tmp-"))
	p := k.j.root.Own("packs/" + name)
	if err := k.j.root.Rename(k.packPath, p); err != nil {
		return err
	}
	k.packPath, k.en.pack = p, name
	return nil
}

// discard removes the pack of an entry that was not recorded.
func (k *keeper) discard() {
	if !k.packPath.IsRoot() {
		k.j.root.Remove(k.packPath) // on error, tidy will remove it
	}
}

// packWriter writes one pack.
type packWriter struct {
	w    *rootfs.Writer
	off  int64
	seen map[rootfs.Version]ref
	// squeezed has contents that are already compressed.
	squeezed map[rootfs.Version]stored
}

func (pw *packWriter) put(data []byte, v rootfs.Version) (ref, error) {
	if r, ok := pw.seen[v]; ok {
		return r, nil
	}
	stored, c := data, plain
	if s, ok := pw.squeezed[v]; ok {
		stored, c = s.data, s.codec
	} else if len(data) <= maxInline {
		stored, c = squeeze(data)
	}
	if _, err := pw.w.Write(stored); err != nil {
		return ref{}, err
	}
	r := ref{inPack, c, pw.off, int64(len(stored)), int64(len(data)), "", nil}
	pw.off += r.stored
	pw.seen[v] = r
	return r, nil
}

// copy copies a large file to the pack, or shares its blocks if the file system supports
// that.
func (pw *packWriter) copy(ctx context.Context, f *rootfs.File, p rootfs.Path, v rootfs.Version) (ref, error) {
	r, err := pw.pour(ctx, f, nil)
	if err != nil {
		return ref{}, err
	}
	if err := checkUnchanged(f, p, r.size); err != nil {
		return ref{}, err
	}
	pw.seen[v] = r
	return r, nil
}

// stream is like copy, and hashes the copied bytes.
func (pw *packWriter) stream(ctx context.Context, f *rootfs.File, p rootfs.Path, want *rootfs.Version) (ref, error) {
	h := version.NewHash()
	r, err := pw.pour(ctx, f, h)
	if err != nil {
		return ref{}, err
	}
	v := h.Version()
	if !want.IsZero() && *want != v {
		return ref{}, conflict(p)
	}
	*want = v
	pw.seen[v] = r
	return r, nil
}

// pour copies f to the end of the pack in steps, and writes the bytes to h unless it is
// nil.
func (pw *packWriter) pour(ctx context.Context, f *rootfs.File, h io.Writer) (ref, error) {
	r := ref{place: inPack, codec: plain, off: pw.off}
	var in io.Reader = f
	var out io.Writer = pw.w
	if pw.off == 0 && pw.w.Clone(f) {
		// Hash the copy, because no other process can change it.
		in, out = io.NewSectionReader(pw.w, 0, 1<<62), io.Discard
	}
	buf := make([]byte, 1<<20)
	for {
		if err := checkCtx(ctx); err != nil {
			return ref{}, err
		}
		n, err := in.Read(buf)
		// Hashing takes as long as writing, so both are done concurrently.
		hashed := make(chan struct{})
		go func() {
			if h != nil {
				h.Write(buf[:n])
			}
			close(hashed)
		}()
		_, werr := out.Write(buf[:n])
		<-hashed
		if werr != nil {
			return ref{}, werr
		}
		r.size += int64(n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return ref{}, err
		}
	}
	r.stored = r.size
	pw.off += r.size
	return r, nil
}

// join appends the relative path rel, as listed by Scan, to p.
func join(p rootfs.Path, rel string) (rootfs.Path, error) {
	if rel == "" {
		return p, nil
	}
	return p.Below(rel)
}
