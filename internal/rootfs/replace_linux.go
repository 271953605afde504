//go:build linux && !portable

package rootfs

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Replace gives the file at p new content, if its content is the expected
// version; a zero expected accepts any. The file is the old one or the new one,
// whole, at every moment and after any crash, and when Replace returns without
// an error the new one is durable. A change someone else made since the
// expected version is never lost: it stays, and Replace fails with Conflict.
//
// Mode, owner and extended attributes stay. A file with several names keeps
// them all.
func (r *Root) Replace(p Path, data []byte, expected Version, opts *ReplaceOptions) (Replaced, error) {
	return r.replace(p, []Edit{{Off: 0, Len: toEnd, Data: data}}, expected, opts)
}

// Splice is Replace for content that differs from the old one in a few places:
// the rest is copied without being held in memory. Edits are in order and don't
// overlap; offsets are those of the old content.
func (r *Root) Splice(p Path, edits []Edit, expected Version, opts *ReplaceOptions) (Replaced, error) {
	for _, e := range edits {
		if e.Len < 0 {
			return Replaced{}, &Error{Op: "replace", Path: p.String(), Kind: InvalidArgument, Err: errEditOrder}
		}
	}
	return r.replace(p, edits, expected, opts)
}

// replacement is one change under way.
type replacement struct {
	r        *Root
	at       place
	old      *File
	edits    []Edit
	expected Version
	keep     func(*File) error
	temp     tempName
	leased   bool // a lease on old has been held since before it was read
	got      poured
}

func (r *Root) replace(p Path, edits []Edit, expected Version, opts *ReplaceOptions) (Replaced, error) {
	if err := r.editable("replace", p, false); err != nil {
		return Replaced{}, err
	}
	c := &replacement{r: r, edits: edits, expected: expected}
	if opts != nil {
		c.keep = opts.Keep
	}
	err := r.retry("replace", &p, func(rel string) error { return c.open(Path{rel}) })
	if err != nil {
		return Replaced{}, err
	}
	defer c.at.close()
	defer func() { c.old.Close() }()
	res, err := c.run()
	if err != nil {
		return Replaced{}, wrap("replace", c.at.path.String(), err)
	}
	return res, nil
}

func (c *replacement) open(p Path) error {
	r := c.r
	if err := r.inject(callOpen); err != nil {
		return err
	}
	dir, err := r.sys.openRel(p.Dir().s, flagsDir)
	if err != nil {
		return err
	}
	fd, err := r.openName(dir, p.Base(), flagsFile)
	if err == nil {
		c.old = new(File)
		err = c.old.adopt(fd)
	}
	if err != nil {
		syscall.Close(dir)
		if err == unix.ELOOP {
			return errSwapped
		}
		return notRegularErr(err)
	}
	c.at = place{dir, p.Base(), p}
	return nil
}

// largeFile is the size from which reading the old content a second time costs
// more than holding off other writers while we work.
const largeFile = 1 << 20

func (c *replacement) run() (Replaced, error) {
	info := c.old.Info()
	if err := checkEdits(c.edits, info.Size); err != nil {
		return Replaced{}, err
	}
	if info.Nlink > 1 {
		return c.inPlace()
	}
	if info.Size >= largeFile {
		c.leased = c.lease() == nil
	}
	res, err := c.exchanged()
	if err == errUnpreservable {
		c.unlease()
		return c.inPlace()
	}
	return res, err
}

// exchanged is the usual way: a new inode takes the old one's name.
func (c *replacement) exchanged() (Replaced, error) {
	r, dir := c.r, c.at.dir
	c.temp = r.temps.next(r.owner(), phaseWrite)
	defer r.temps.done(c.temp)
	name := c.temp.String()
	info, err := c.write(name)
	if err != nil || c.got.new == c.got.old {
		r.unlink(dir, name, 0)
		if err == nil {
			return Replaced{Old: c.got.old, New: c.got.new, Info: c.old.Info(), Unchanged: true}, nil
		}
		return Replaced{}, err
	}
	// From here on the name tells what may be dropped.
	c.temp.phase, c.temp.newIno, c.temp.version = phaseExchange, info.Ino, c.got.old
	marked := c.temp.String()
	err = r.renameNoReplace(dir, name, dir, marked)
	if err == nil {
		name = marked
		err = r.exchange(dir, name, c.at.name)
	}
	if err != nil {
		r.unlink(dir, name, 0)
		switch err {
		case unix.ENOENT: // deleted by someone
			return Replaced{}, errMeanwhile
		case unix.EINVAL, unix.ENOSYS, unix.ENOTSUP:
			return Replaced{}, errUnpreservable
		}
		return Replaced{}, err
	}
	if err := c.settle(name); err != nil {
		return Replaced{}, c.takeBack(name, info, err)
	}
	// The new content is durable under its name; a left-over is only untidy.
	r.unlink(dir, name, 0)
	if now, err := infoAt(dir, c.at.name, 0); err == nil && now.Ino == info.Ino {
		info = now
	}
	return Replaced{Old: c.got.old, New: c.got.new, Info: info}, nil
}

// write makes the new file under a temporary name, complete and synced.
func (c *replacement) write(name string) (Info, error) {
	r := c.r
	fd, err := r.create(c.at.dir, name, 0o600)
	if err != nil {
		return Info{}, err
	}
	info, err := c.fill(fd)
	if e := r.closeWritten(fd); err == nil {
		err = e
	}
	return info, err
}

func (c *replacement) fill(fd int) (info Info, err error) {
	r, old := c.r, c.old
	if c.got, err = r.pour(old.fd, fd, 0, old.info.Size, c.edits); err != nil {
		return Info{}, err
	}
	if !c.expected.IsZero() && c.got.old != c.expected {
		return Info{}, errVersion
	}
	if c.got.new == c.got.old {
		return Info{}, nil
	}
	if err := r.copyMeta(old.fd, old.info, fd); err != nil {
		return Info{}, err
	}
	if err := r.sync(fd); err != nil {
		return Info{}, err
	}
	return r.fdInfo(fd)
}

// settle makes sure, after the exchange, that what we displaced is what we
// read, hands it to Keep, and makes the exchange durable.
func (c *replacement) settle(name string) error {
	r := c.r
	displaced, err := r.infoAt(c.at.dir, name)
	if err != nil {
		return err
	}
	if !displaced.SameFile(c.old.info) {
		return errMeanwhile
	}
	if err := c.undisturbed(displaced); err != nil {
		return err
	}
	if c.keep != nil {
		if _, err := syscall.Seek(c.old.fd, 0, 0); err != nil {
			return err
		}
		if err := c.keep(c.old); err != nil {
			return err
		}
	}
	if err := r.syncDir(c.at.dir); err != nil {
		return err
	}
	// Someone who looked the name up before the exchange may be waiting to open
	// what is about to lose its last name.
	if c.leased && !c.leaseHeld() {
		return errMeanwhile
	}
	return nil
}

// undisturbed verifies that the displaced inode still holds what we read, and
// that nobody is in a position to write to it any more.
func (c *replacement) undisturbed(displaced Info) error {
	if c.leased && c.leaseHeld() {
		return nil
	}
	if err := c.waitForWriters(); err != nil {
		return err
	}
	if displaced.Size != c.got.oldSize {
		return errMeanwhile
	}
	v, err := c.r.hashFD(c.old.fd, 0, c.got.oldSize)
	if err != nil {
		return err
	}
	if now, err := c.r.fdInfo(c.old.fd); err != nil || now.Size != c.got.oldSize {
		return errors.Join(errMeanwhile, err)
	}
	if v != c.got.old {
		return errMeanwhile
	}
	return nil
}

// lease asks the kernel to be told before anyone opens the old file for
// writing. EAGAIN means that someone has it open already.
func (c *replacement) lease() error {
	if c.r.sys.kind != FSLocal {
		return unix.ENOTSUP // NFS answers EAGAIN without a delegation
	}
	_, err := unix.FcntlInt(uintptr(c.old.fd), unix.F_SETLEASE, unix.F_RDLCK)
	return err
}

func (c *replacement) unlease() {
	if c.leased {
		unix.FcntlInt(uintptr(c.old.fd), unix.F_SETLEASE, unix.F_UNLCK)
		c.leased = false
	}
}

// leaseHeld reports whether nobody has asked for the file since.
func (c *replacement) leaseHeld() bool {
	t, err := unix.FcntlInt(uintptr(c.old.fd), unix.F_GETLEASE, 0)
	return err == nil && t == unix.F_RDLCK
}

// waitForWriters takes the lease, waiting a moment for programs that have the
// old file open for writing: what they write would go to an inode without a
// name. Where leases don't exist it does nothing.
func (c *replacement) waitForWriters() error {
	if c.leased {
		return errMeanwhile // someone asked for the file while we worked on it
	}
	for wait := time.Millisecond; wait < 100*time.Millisecond; wait *= 2 {
		err := c.lease()
		if err != unix.EAGAIN {
			c.leased = err == nil
			return nil
		}
		time.Sleep(wait)
	}
	return errBusy
}

// takeBack undoes the exchange after cause. If the name changed hands again in
// the meantime, nothing anyone wrote is dropped: what isn't ours ends up under
// the file's name or as a conflict copy.
func (c *replacement) takeBack(name string, ours Info, cause error) error {
	r, dir := c.r, c.at.dir
	err := r.exchange(dir, name, c.at.name)
	if err != nil {
		// The name is gone, or the system fails: put back what we can.
		if err := r.renameNoReplace(dir, name, dir, c.at.name); err != nil {
			return c.keepCopy(name, cause)
		}
		r.syncDir(dir)
		return cause
	}
	back, err := r.infoAt(dir, name)
	switch {
	case err == nil && back.SameFile(ours):
		r.unlink(dir, name, 0)
		r.syncDir(dir)
		return cause
	case err == nil:
		// A third version came after ours: it is the newest, so it gets the
		// name, and the one it would have overwritten is kept beside it.
		if r.exchange(dir, name, c.at.name) == nil {
			return c.keepCopy(name, cause)
		}
	}
	return c.keepCopy(name, cause)
}

// keepCopy gives a temporary name that holds foreign content a visible one.
func (c *replacement) keepCopy(name string, cause error) error {
	r, dir := c.r, c.at.dir
	copyName := conflictName(c.at.name)
	if err := r.renameNoReplace(dir, name, dir, copyName); err != nil {
		return errors.Join(cause, err)
	}
	r.syncDir(dir)
	return errors.Join(cause, &ConflictError{Copy: copyName})
}
