package recorder

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"quarry/fault"
	"quarry/internal/githead"
	"quarry/internal/rootfs"
	"quarry/internal/rootfs/version"
	"quarry/internal/walk"
)

// Files over these sizes are recorded without their content.
const (
	maxText   = 4 << 20
	maxBinary = 1 << 20
)

// state is the entry at a path: on disk, or according to the baseline and the journals.
// nil means that there is none.
type state struct {
	entry
	size int64
	time time.Time
	// version is the version of the content, if known; load returns the content.
	version rootfs.Version
	load    func() ([]byte, error)
	data    []byte // the loaded content, while it is compared
	// anyMode is set if the permissions are unknown.
	anyMode bool
}

// disk reads the workspace's files under the built-in policy.
type disk struct {
	root   *rootfs.Root
	covers func(path string, dir bool) bool
	blobs  *githead.Blobs // nil if there is no repository
}

// at returns the state of a path on disk. covered is false for a path that is not
// recorded: ignored, denied, or neither a file, a folder nor a symlink. Then s has at most the type.
// If the content is to be kept, at reads it.
func (d *disk) at(path string) (s *state, covered bool, err error) {
	_, name := split(path)
	p, err := d.root.Known(path)
	if err != nil || rootfs.IsTemp(name) {
		return nil, false, nil
	}
	read := time.Now()
	info, err := d.root.Stat(p)
	switch k := rootfs.KindOf(err); {
	case k == fault.NotFound, k == fault.NotFolder:
		return nil, true, nil
	case k == fault.ProtectedPath:
		return nil, false, nil
	case err != nil:
		return nil, true, err
	}
	if !d.covers(path, info.Type == rootfs.TypeDir) {
		return &state{entry: entry{typ: info.Type}}, false, nil
	}
	s = &state{entry: entry{name: name, typ: info.Type, mode: info.Mode.Perm(), stamp: stampOf(info, read)}, size: info.Size, time: info.ModTime}
	switch info.Type {
	case rootfs.TypeDir:
	case rootfs.TypeSymlink:
		if s.target, err = d.root.Readlink(p); rootfs.KindOf(err) == fault.NotFound {
			return nil, true, nil
		}
	case rootfs.TypeFile:
		err = d.file(s, func() ([]byte, rootfs.Info, error) { return d.root.ReadContent(p, maxText) }, read)
		if k := rootfs.KindOf(err); k == fault.NotFound || k == fault.NotFolder {
			return nil, true, nil
		} else if k == fault.ProtectedPath {
			return nil, false, nil
		}
	default:
		return nil, false, nil
	}
	return s, true, err
}

func (d *disk) isFolder(path string) bool {
	p, err := d.root.Known(path)
	if err != nil {
		return false
	}
	info, err := d.root.Stat(p)
	return err == nil && info.Type == rootfs.TypeDir
}

// file reads a file whose content may be kept, and checks whether git has it.
func (d *disk) file(s *state, read func() ([]byte, rootfs.Info, error), at time.Time) error {
	if s.size > maxText {
		s.why = tooLarge
		return nil
	}
	data, info, err := read()
	switch k := rootfs.KindOf(err); {
	case k == fault.TooLarge:
		s.why = tooLarge
		return nil
	case k == fault.Permission:
		s.why = unreadable
		return nil
	case err != nil:
		return err
	}
	s.mode, s.stamp, s.size, s.time = info.Mode.Perm(), stampOf(info, at), info.Size, info.ModTime
	if len(data) > maxBinary && bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		s.why = tooLarge
		return nil
	}
	s.load = func() ([]byte, error) { return data, nil }
	if d.blobs != nil {
		if id := d.blobs.ID(data); d.blobs.Has(id) {
			s.place, s.blob = inGit, id
			return nil
		}
	}
	s.place, s.version = inStore, version.Of(data)
	return nil
}

// sweep compares file stamps below a folder with the baseline and returns the paths that
// may have changed.
func (r *Recorder) sweep(ctx context.Context, start string) ([]string, error) {
	var found []string
	var p rootfs.Path
	var err error
	if start != "" {
		if p, err = r.disk.root.Known(start); err != nil {
			return nil, nil
		}
	}
	seen := map[string]bool{}
	var mu sync.Mutex
	if start == "" || r.disk.covers(start, true) {
		_, err = walk.Walk(ctx, r.disk.root, r.walkOptions(p), func(v *walk.Visit) error {
			list := r.differs(v)
			mu.Lock()
			defer mu.Unlock()
			seen[strings.Clone(v.Shown)] = true
			found = append(found, list...)
			return nil
		})
	}
	if k := rootfs.KindOf(err); k == fault.NotFound || k == fault.NotFolder || errors.Is(err, fault.NotFolder) {
		err = nil
	}
	for _, dir := range r.base.under(start) {
		if !seen[dir] {
			for _, e := range r.base.folder(dir) {
				found = append(found, join(dir, strings.Clone(e.name)))
			}
		}
	}
	if start != "" {
		found = append(found, start)
	}
	return found, err
}

// walkOptions returns the options of a walk over the recorded files, with one visit per
// folder.
func (r *Recorder) walkOptions(start rootfs.Path) *walk.Options {
	o := r.opts.Walk
	o.Start, o.Links, o.Batch, o.Workers = start, true, 1<<30, r.opts.Workers
	return &o
}

// differs returns the paths in a folder whose stamps differ from the baseline's.
func (r *Recorder) differs(v *walk.Visit) (paths []string) {
	had := map[string]entry{}
	for _, e := range r.base.folder(v.Shown) {
		had[e.name] = e
	}
	for i, list := range [][]rootfs.Entry{v.Files, v.Dirs, v.Excluded} {
		for _, e := range list {
			if rootfs.IsTemp(e.Name) {
				continue
			}
			was, known := had[e.Name]
			delete(had, e.Name)
			if was.uncovered && (i == 2 || !r.disk.covers(join(v.Shown, e.Name), e.Type == rootfs.TypeDir)) {
				continue
			}
			if known && was.typ == e.Type && !was.uncovered && i < 2 {
				if e.Type == rootfs.TypeDir {
					continue
				}
				if info, err := v.Dir.Stat(e.Name); err == nil && was.stamp != 0 && stampOf(info, time.Now()) == was.stamp && info.Mode.Perm() == was.mode {
					continue
				}
			}
			paths = append(paths, strings.Clone(join(v.Shown, e.Name)))
		}
	}
	for name := range had {
		paths = append(paths, strings.Clone(join(v.Shown, name)))
	}
	return paths
}

// build adds all files to an empty baseline.
func (r *Recorder) build(ctx context.Context) error {
	own, err := r.journal.Newest()
	if err != nil {
		return err
	}
	_, err = walk.Walk(ctx, r.disk.root, r.walkOptions(rootfs.Path{}), func(v *walk.Visit) error {
		list := make([]entry, 0, len(v.Files)+len(v.Dirs))
		for _, d := range v.Dirs {
			list = append(list, entry{name: d.Name, typ: rootfs.TypeDir})
		}
		for _, e := range v.Excluded {
			list = append(list, entry{name: e.Name, typ: e.Type, uncovered: true})
		}
		for _, f := range v.Files {
			e, err := r.adopted(v, f.Name)
			if err != nil {
				return err
			}
			if e != nil {
				list = append(list, *e)
			}
		}
		r.base.put(strings.Clone(v.Shown), list...)
		return nil
	})
	if err != nil {
		return err
	}
	outside, err := r.outside.Newest()
	if err != nil {
		return err
	}
	if !r.base.built {
		r.base.since = time.Now()
	}
	r.base.own, r.base.outside, r.base.built = max(r.base.own, own), max(outside, own), true
	if r.disk.blobs != nil {
		r.base.head = r.disk.blobs.Head(ctx)
	}
	return r.base.flush()
}

// adopted returns the entry for the present state of a file, or nil if the file is not
// recorded.
func (r *Recorder) adopted(v *walk.Visit, name string) (*entry, error) {
	read := time.Now()
	info, err := v.Dir.Stat(name)
	if err != nil || rootfs.IsTemp(name) {
		return nil, nil
	}
	if r.denied(join(v.Shown, name)) {
		return &entry{name: name, typ: info.Type, uncovered: true}, nil
	}
	s := &state{entry: entry{name: name, typ: info.Type, mode: info.Mode.Perm(), stamp: stampOf(info, read)}, size: info.Size}
	if info.Type == rootfs.TypeSymlink {
		p, err := v.Path.Child(name)
		if err != nil {
			return nil, nil
		}
		if s.target, err = r.disk.root.Readlink(p); err != nil {
			return nil, nil
		}
		return &s.entry, nil
	}
	err = r.disk.file(s, func() ([]byte, rootfs.Info, error) {
		f, err := v.Dir.OpenFile(name)
		if err != nil {
			return nil, rootfs.Info{}, err
		}
		defer f.Close()
		data := make([]byte, min(f.Info().Size, maxText)+1)
		n, err := io.ReadFull(f, data)
		if err == io.ErrUnexpectedEOF || err == io.EOF {
			err = nil
		}
		return data[:n], f.Info(), err
	}, read)
	if err != nil {
		switch rootfs.KindOf(err) {
		case fault.NotFound, fault.NotRegular, fault.ProtectedPath:
			return nil, nil
		}
		return nil, err
	}
	return &s.entry, r.keep(s)
}

// keep stores the content of a state unless git has it.
func (r *Recorder) keep(s *state) error {
	if s.typ != rootfs.TypeFile || s.place != inStore || s.load == nil {
		return nil
	}
	data, err := s.load()
	if err != nil {
		return err
	}
	s.entry.version = s.version
	return r.base.store(&s.entry, data)
}
