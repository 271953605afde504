package walk

import (
	"cmp"
	"errors"
	"slices"
	"sort"
	"strings"
	"unsafe"

	"quarry/fault"
	"quarry/internal/ignore"
	"quarry/internal/policy"
	"quarry/internal/rootfs"
)

// work executes one task: it opens and lists the folder, judges the entries, queues the subfolders
// and calls back.
func (w *worker) work(t *task) {
	w.ignored = t.ignored
	if w.opts.Before != nil && t.files == nil {
		w.opts.Before(t.label())
	}
	dir, err := w.open(t)
	if err != nil {
		w.lose(t, err)
		return
	}
	shown := t.shown
	if !t.linked {
		if !t.at(dir.Path()) {
			// The name is now a symlink, which rootfs followed. Its target is visited under its own
			// path.
			dir.Close()
			w.lose(t, &fault.PathError{Op: "open", Path: t.label(), Kind: fault.NotFolder})
			return
		}
		shown = plainPath(dir.Path())
	}
	h := &handle{dir: dir}
	h.refs.Store(1)
	w.handles.Add(1)
	defer w.release(h)
	if t.files != nil { // a part of a folder that was already listed
		w.call(h, shown, t.parts, t.files, nil, nil)
		return
	}
	if w.opts.FollowLinks && !w.enter(t, dir, shown) || w.opts.OneFileSystem && w.otherDevice(dir, shown) {
		return
	}
	w.entries, err = dir.Read(w.entries[:0])
	if err != nil { // the entries listed before the error are used
		w.skip(shown, Unreadable, err)
	}
	frame := t.frame
	if !t.ignored { // an ignored folder needs no rules of its own
		frame = w.pushRules(frame, dir, shown, w.entries)
	}
	w.judge(t, h, shown, frame)
	w.nDirs++
	if w.ordered {
		w.once()
	}
	if w.announce != nil {
		w.announce(shown, w.dirs)
	}
	parts := w.split(t, dir.Path(), shown)
	if len(w.subs) > 0 {
		w.push(w.subs, shown)
		clear(w.subs)
	}
	w.call(h, shown, parts, w.files[:min(len(w.files), w.opts.Batch)], w.dirs, w.excluded)
}

// once sorts the subfolders and removes duplicates from the listing, because a folder must be
// announced and visited only once.
func (w *worker) once() {
	slices.SortFunc(w.subs, func(a, b task) int { return compareDirs(b.name, a.name) })
	same := false
	for i := 1; i < len(w.subs); i++ {
		same = same || w.subs[i].name == w.subs[i-1].name
	}
	if !same {
		return
	}
	kept := w.subs[:1]
	for _, t := range w.subs[1:] {
		if t.name == kept[len(kept)-1].name {
			w.release(t.from)
			continue
		}
		kept = append(kept, t)
	}
	w.subs = kept
	slices.SortFunc(w.dirs, func(a, b rootfs.Entry) int { return compareDirs(a.Name, b.Name) })
	w.dirs = slices.CompactFunc(w.dirs, func(a, b rootfs.Entry) bool { return a.Name == b.Name })
}

// split turns the files after the first batch into tasks that any worker can take, and returns the
// number of parts. These tasks are above the subfolders in the stack, so that the folder is
// finished first.
func (w *worker) split(t *task, path rootfs.Path, shown string) int {
	parts := max(1, (len(w.files)+w.opts.Batch-1)/w.opts.Batch)
	if parts == 1 {
		return 1
	}
	rest := slices.Clone(w.files[w.opts.Batch:])
	for batch := range slices.Chunk(rest, w.opts.Batch) {
		w.subs = append(w.subs, task{path: path, linked: t.linked, shown: shown, files: batch, parts: parts})
	}
	return parts
}

func (w *worker) open(t *task) (*rootfs.Dir, error) {
	if t.from == nil {
		return w.root.OpenDir(t.path)
	}
	defer w.release(t.from)
	return t.from.dir.OpenDir(t.name)
}

func (w *worker) call(h *handle, shown string, parts int, files, dirs, excluded []rootfs.Entry) {
	w.nFiles += len(files)
	w.visited = Visit{Path: h.dir.Path(), Shown: shown, Dir: h.dir, Files: files, Dirs: dirs, Excluded: excluded, Parts: parts, Worker: w.id}
	if err := w.visit(&w.visited); err != nil {
		w.fail(err)
	}
}

// otherDevice reports whether a folder is on another file system than Start.
func (w *worker) otherDevice(dir *rootfs.Dir, shown string) bool {
	info, err := dir.Info()
	if err != nil || info.Dev == w.device {
		return false
	}
	w.counts[Filtered]++
	w.miss(shown, 1)
	return true
}

// enter reports whether a folder may be entered, which is not so if it is one of its own ancestors.
func (w *worker) enter(t *task, dir *rootfs.Dir, shown string) bool {
	info, err := dir.Info()
	if err != nil {
		w.lose(t, err)
		return false
	}
	for a := t.chain; a != nil; a = a.up {
		if a.ino == info.Ino && a.dev == info.Dev && info.Ino != 0 {
			w.skip(shown, Loop, nil)
			w.miss(shown, 1)
			return false
		}
	}
	t.chain = &ancestor{t.chain, info.Dev, info.Ino}
	return true
}

// maxFolder limits the length of a folder's path; longer ones are not entered. It is twice the
// system's limit for one call. The paths of 30,000 nested folders take 900 MB, and each is kept
// several times until its folder is done.
const maxFolder = 8 << 10

var errTooDeep = fault.New(fault.TooLarge, "the path is longer than 8,192 bytes", "")

// judge sorts the listing into w.files, w.dirs and w.subs, and counts the omitted entries.
func (w *worker) judge(t *task, h *handle, shown string, frame *ignore.Frame) {
	w.files, w.dirs, w.excluded, w.subs = w.files[:0], w.dirs[:0], w.excluded[:0], w.subs[:0]
	dirPath := h.dir.Path()
	w.path = append(w.path[:0], shown...)
	if shown != "" {
		w.path = append(w.path, '/')
	}
	base := len(w.path)
	for i := range w.entries {
		e := &w.entries[i]
		typ, target := e.Type, rootfs.Path{}
		if typ == rootfs.TypeSymlink {
			switch {
			case w.opts.FollowLinks:
				if typ, target = w.follow(dirPath, shown, e.Name); typ == rootfs.TypeUnknown {
					continue
				}
			case w.opts.Links:
				typ = rootfs.TypeFile
			default:
				w.counts[Symlink]++
				continue
			}
		}
		if typ != rootfs.TypeDir && typ != rootfs.TypeFile {
			w.counts[Special]++
			continue
		}
		isDir := typ == rootfs.TypeDir
		if v := w.policy.Entry(dirPath.String(), e.Name, isDir); v != policy.Allowed {
			w.counts[Protected]++
			if isDir && w.opts.Protected != nil {
				w.opts.Protected(join(shown, strings.Clone(e.Name)))
			}
			if v == policy.Secret || v == policy.Denied {
				w.deny(t, shown, frame, e.Name, isDir, v)
			}
			continue
		}
		w.path = append(w.path[:base], e.Name...)
		// path shares memory with the buffer, so it is only valid until the next entry. Making a
		// string for each entry would take a third of the walk's time.
		path := unsafe.String(unsafe.SliceData(w.path), len(w.path))
		answer := ignore.Ignore
		if !t.ignored {
			answer = frame.Answer(path, path[base:], isDir)
		}
		if e.Ignored = answer == ignore.Ignore; e.Ignored && !w.marks() {
			w.counts[Ignored]++
			w.excluded = append(w.excluded, *e)
			continue
		}
		if e.Name[0] == '.' && !w.opts.Hidden && (answer != ignore.Keep || w.opts.StrictHidden) {
			w.counts[Hidden]++
			continue
		}
		if !isDir {
			if w.opts.Filter != nil && !w.opts.Filter.MatchFile(path[w.below:]) {
				w.counts[Filtered]++
				continue
			}
			if e.Ignored {
				w.marked.Add(1)
			}
			w.files = append(w.files, *e)
			continue
		}
		if w.opts.MaxDepth > 0 && t.depth+1 >= w.opts.MaxDepth || w.opts.Filter != nil && !w.opts.Filter.Descend(path[w.below:]) {
			w.counts[Filtered]++
			continue
		}
		if len(path) > maxFolder {
			w.skip(path, Unreadable, errTooDeep)
			continue
		}
		w.dirs = append(w.dirs, *e)
		sub := task{frame: frame, name: e.Name, chain: t.chain, depth: t.depth + 1, linked: t.linked, ignored: e.Ignored}
		if e.Type == rootfs.TypeSymlink {
			sub.linked = true
			sub.path = target
		} else if w.handles.Load() < w.keep {
			h.refs.Add(1)
			sub.from = h
		} else if p, err := dirPath.Child(e.Name); err == nil {
			sub.path = p
		}
		if sub.linked || w.ordered {
			sub.shown = strings.Clone(path)
		}
		w.subs = append(w.subs, sub)
	}
}

// marks reports whether to list ignored files, which ends when there are more than MaxIgnored.
func (w *walker) marks() bool {
	return w.opts.MaxIgnored > 0 && w.marked.Load() <= int64(w.opts.MaxIgnored)
}

// follow returns the type and path of a symlink's target. If the target can't be listed, it counts
// the symlink as omitted.
func (w *worker) follow(dir rootfs.Path, shown, name string) (rootfs.Type, rootfs.Path) {
	link, err := dir.Child(name)
	var target rootfs.Path
	var info rootfs.Info
	if err == nil {
		target, err = w.root.Resolve(link.String())
	}
	if err == nil {
		info, err = w.root.Stat(target)
	}
	switch {
	case err == nil:
		return info.Type, target
	case rootfs.KindOf(err) == fault.NotFound:
		w.counts[Symlink]++
	case rootfs.KindOf(err) == fault.ProtectedPath:
		w.counts[Protected]++
	case rootfs.KindOf(err) == fault.OutsideRoot:
		w.skip(join(shown, name), Outside, nil)
	default:
		w.skip(join(shown, name), Unreadable, err)
	}
	return rootfs.TypeUnknown, rootfs.Path{}
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// lose reports a folder that was listed but can't be entered.
func (w *worker) lose(t *task, err error) {
	shown := t.label()
	switch rootfs.KindOf(err) {
	case fault.NotFound, fault.NotFolder, fault.Conflict:
		w.skip(shown, Vanished, err)
	case fault.ProtectedPath:
		w.counts[Protected]++
	default:
		w.skip(shown, Unreadable, err)
	}
	w.miss(shown, max(1, t.parts))
}

func (w *worker) miss(shown string, parts int) {
	if w.missed != nil {
		w.missed(shown, parts)
	}
}

// skip counts and records an entry that the caller would have wanted. If the root is closed, skip
// ends the walk, because nothing more can be read.
func (w *worker) skip(shown string, why Reason, err error) {
	if errors.Is(err, rootfs.ErrClosed) {
		w.fail(err)
		return
	}
	w.counts[why]++
	shown = cmp.Or(shown, ".")
	w.walker.mu.Lock()
	defer w.walker.mu.Unlock()
	// Record more than MaxSkips, because only at the end is it known which are first in path order.
	if len(w.skipped) < 16*w.opts.MaxSkips {
		w.skipped = append(w.skipped, Skip{strings.Clone(shown), why, err, w.ignored})
	}
}

func (w *walker) report() Report {
	var r Report
	for i := range w.workers {
		k := &w.workers[i]
		r.Files += k.nFiles
		r.Dirs += k.nDirs
		r.Denied += k.denied
		r.Secrets = append(r.Secrets, k.secrets...)
		for j, n := range k.counts {
			r.Counts[j] += n
		}
	}
	r.Marked = int(w.marked.Load())
	sort.Slice(w.skipped, func(i, j int) bool { return w.skipped[i].Path < w.skipped[j].Path })
	r.Skipped = w.skipped[:min(len(w.skipped), w.opts.MaxSkips)]
	return r
}
