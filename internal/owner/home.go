package owner

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"quarry/fault"
	"quarry/internal/index"
	"quarry/internal/rootfs"
	"quarry/search"
)

// maxIndexBytes limits the total size of a user's indexes. The index of Linux 6.1 has 94
// MB, so there is room for a hundred large trees.
const maxIndexBytes = 10 << 30

// errEvicted means that the index's folder was deleted while it was being opened.
var errEvicted = errors.New("the index was deleted meanwhile")

func (o *Options) maxBytes() int64 {
	if o.MaxBytes > 0 {
		return o.MaxBytes
	}
	return maxIndexBytes
}

func openTrusted(dir string) (*rootfs.Root, error) {
	return rootfs.Open(dir, &rootfs.Options{Trusted: true, AllowAny: true, Private: true})
}

// openDir opens the index's folder. With Home set, it creates the folder if missing.
func (o *Options) openDir() (*rootfs.Root, error) {
	state, err := openTrusted(o.Dir)
	if err == nil || o.Home == "" {
		return state, err
	}
	home, name, err := o.openHome()
	if err != nil {
		return nil, err
	}
	defer home.Close()
	if err := home.Mkdir(name); err != nil && rootfs.KindOf(err) != fault.AlreadyExists {
		return nil, err
	}
	return openTrusted(o.Dir)
}

// openHome opens the folder of all indexes, and returns the path of this index in it.
func (o *Options) openHome() (*rootfs.Root, rootfs.Path, error) {
	home, err := openTrusted(o.Home)
	if err != nil {
		return nil, rootfs.Path{}, err
	}
	name, err := home.Known(filepath.Base(o.Dir))
	if err == nil && filepath.Dir(o.Dir) != filepath.Clean(o.Home) {
		err = errors.New("the index's folder is not in the folder of all indexes")
	}
	if err != nil {
		home.Close()
	}
	return home, name, err
}

// inPlace reports whether the open folder is the one now at Dir. It may have been deleted
// after it was opened.
func (o *Options) inPlace(state *rootfs.Root) bool {
	now, err := openTrusted(o.Dir)
	if err != nil {
		return false
	}
	defer now.Close()
	return sameFolder(state, now)
}

func sameFolder(a, b *rootfs.Root) bool {
	x, errA := folderInfo(a)
	y, errB := folderInfo(b)
	return errA == nil && errB == nil && x.Dev == y.Dev && x.Ino == y.Ino
}

func folderInfo(r *rootfs.Root) (rootfs.Info, error) {
	d, err := r.OpenDir(rootfs.Path{})
	if err != nil {
		return rootfs.Info{}, err
	}
	defer d.Close()
	return d.Info()
}

// markUsed records that the index is in use now.
func (o *owned) markUsed() {
	if o.opts.Home == "" {
		return
	}
	home, name, err := o.opts.openHome()
	if err == nil {
		err = errors.Join(index.MarkUsed(home, name, o.root.RealDir(), time.Now()), home.Close())
	}
	if err != nil {
		o.log.Warn("index: can't note that it is in use", "err", err)
	}
}

// evict deletes indexes if all together are too large.
func (o *owned) evict() {
	if o.opts.Home == "" {
		return
	}
	o.markUsed()
	home, name, err := o.opts.openHome()
	if err != nil {
		o.log.Warn("index: other indexes can't be read", "err", err)
		return
	}
	defer home.Close()
	gone, err := index.Evict(home, o.opts.maxBytes(), name.String())
	if err != nil {
		o.log.Warn("index: can't free space", "err", err)
	}
	for _, s := range gone {
		o.log.Info("index: deleted one that was not used for long", "name", s.Name, "bytes", s.Bytes, "used", s.Used)
	}
}

// usage adds the size of all indexes to a status.
func (o *Options) usage(st *search.IndexStatus) {
	if o.Home == "" {
		return
	}
	home, name, err := o.openHome()
	if err != nil {
		return
	}
	defer home.Close()
	st.MaxBytes = o.maxBytes()
	all, _ := index.List(home)
	for _, s := range all {
		st.AllBytes += s.Bytes
		if s.Name != name.String() {
			continue
		}
		st.Used = s.Used
		st.DiskBytes = cmp.Or(st.DiskBytes, s.Bytes)
	}
}

// ErrInUse means that a process owns the index.
var ErrInUse = errors.New("a process owns this index")

// Delete deletes an index that no process owns, and reports whether it existed. opts.Home
// must be set.
func Delete(opts *Options) (bool, error) {
	home, name, err := opts.openHome()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // no index was ever built here
	}
	if err != nil {
		return false, err
	}
	defer home.Close()
	state, err := openTrusted(opts.Dir)
	if err != nil {
		return false, nil
	}
	defer state.Close()
	lease, err := Claim(state)
	if err != nil {
		return false, err
	}
	if lease == nil {
		return false, ErrInUse
	}
	defer lease.Release()
	ok, err := index.Delete(home, name)
	if err == nil && !ok {
		err = ErrInUse
	}
	return ok, err
}
