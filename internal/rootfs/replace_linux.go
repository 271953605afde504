//go:build linux && !portable

package rootfs

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"quarry/internal/rootfs/file"
	"quarry/internal/rootfs/linux"
)

// replacement is a change in progress.
type replacement struct {
	r        *Root
	at       place
	old      *File
	edits    Edits
	expected Version
	keep     func(*File) error
	want     Version
	known    *linux.Known
	temp     tempName
	leased   bool // the lease on old is held
	got      linux.Poured
	meta     linux.Meta // of the old file, as copied to the new one
	given    linux.Meta // of the new file, after that
}

func (r *Root) replace(p Path, edits Edits, expected Version, opts *ReplaceOptions) (Replaced, error) {
	if err := r.editable("replace", p, false); err != nil {
		return Replaced{}, err
	}
	res, err := r.replaceOnce(p, edits, expected, opts)
	if r.madeRoom(err) {
		res, err = r.replaceOnce(p, edits, expected, opts)
	}
	// A change of permissions, links or attributes doesn't affect the content, so the
	// replacement is repeated with the current file.
	for try := 0; try < maxMetaTries && errors.Is(err, errMeta); try++ {
		res, err = r.replaceOnce(p, edits, expected, opts)
	}
	return res, err
}

// maxMetaTries is how often a replacement is repeated because of a changed mode, owner,
// link or attribute. After that it is a Conflict.
const maxMetaTries = 8

// madeRoom reports whether err was caused by lack of space and it could free some, so that the
// change should be repeated. A StuckError must be reported, so the change isn't repeated.
func (r *Root) madeRoom(err error) bool {
	var stuck *StuckError
	return noSpace(err) && !errors.As(err, &stuck) && r.letGo()
}

// noSpace recognizes errors caused by lack of space.
func noSpace(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

func (r *Root) replaceOnce(p Path, edits Edits, expected Version, opts *ReplaceOptions) (Replaced, error) {
	c := &replacement{r: r, edits: edits, expected: expected}
	if opts != nil {
		c.keep, c.want = opts.Keep, opts.Want
		if opts.Old != nil && !expected.IsZero() && !opts.Want.IsZero() {
			c.known = &linux.Known{Old: opts.Old, Version: expected, Next: opts.Want}
		}
	}
	err := r.retry("replace", &p, func(rel string) error { return c.open(Path{rel}) })
	if err != nil {
		return Replaced{}, err
	}
	res, err := c.run()
	if err == nil && c.leased && !res.Unchanged && !res.InPlace {
		r.watchLate(c.old, c.at, res.Old)
		return res, nil
	}
	c.old.Close()
	c.at.close()
	if err != nil {
		return Replaced{}, Wrap("replace", c.at.path.String(), err)
	}
	return res, nil
}

func (c *replacement) open(p Path) error {
	r := c.r
	if err := r.sys.Inject("open"); err != nil {
		return err
	}
	dir, err := r.sys.openRel(p.Dir().s, linux.FlagsDir)
	if err != nil {
		return err
	}
	fd, err := r.sys.OpenName(dir, p.Base(), linux.FlagsFile)
	if err == nil {
		c.old = new(File)
		err = c.old.adopt(fd)
	}
	if err == nil {
		if err = r.notOwn("replace", &folder{Calls: &r.sys.Calls, FD: dir}, p, c.old.Info()); err != nil {
			c.old.Close()
		}
	}
	if err != nil {
		syscall.Close(dir)
		if err == unix.ELOOP {
			return file.ErrSwapped
		}
		return notRegularErr(err)
	}
	c.at = place{dir, p.Base(), p}
	return nil
}

// largeFile is the size above which reading the old content twice costs more than blocking
// other writers during the change.
const largeFile = 1 << 20

func (c *replacement) run() (Replaced, error) {
	info := c.old.Info()
	// The exchange needs no write permission for the old file, but a missing one is meant to
	// protect the content.
	if err := unix.Faccessat(c.at.dir, c.at.name, unix.W_OK, unix.AT_EACCESS); err != nil && err != unix.ENOENT {
		return Replaced{}, err
	}
	if info.Nlink > 1 {
		return c.inPlace()
	}
	if info.Size >= largeFile {
		c.leased = c.lease() == nil
	}
	res, err := c.exchanged()
	if err == linux.ErrUnpreservable {
		c.unlease()
		return c.inPlace()
	}
	return res, err
}

// exchanged is the usual method: a new inode gets the name of the old one.
func (c *replacement) exchanged() (Replaced, error) {
	r, dir := c.r, c.at.dir
	c.temp = r.temps.next(r.owner(), phaseWrite)
	defer r.temps.done(c.temp)
	name := c.temp.String()
	info, err := c.write(name)
	if err != nil || c.got.New == c.got.Old {
		r.drop(c.at, name)
		if err == nil {
			return Replaced{Old: c.got.Old, New: c.got.New, Info: c.old.Info(), Unchanged: true}, nil
		}
		return Replaced{}, err
	}
	defer linux.LockDir(dir)()
	if err := c.ready(); err != nil {
		r.drop(c.at, name)
		return Replaced{}, err
	}
	// From here on the temporary name records which content may be dropped.
	c.temp.phase, c.temp.newIno, c.temp.version = phaseExchange, info.Ino, c.got.Old
	marked := c.temp.String()
	err = r.sys.RenameNoReplace(dir, name, dir, marked)
	if err == nil {
		name = marked
		err = r.sys.Exchange(dir, name, c.at.name)
	}
	if err != nil {
		r.drop(c.at, name)
		switch err {
		case unix.ENOENT: // deleted by another program
			return Replaced{}, file.ErrMeanwhile
		case unix.EINVAL, unix.ENOSYS, unix.ENOTSUP:
			return Replaced{}, linux.ErrUnpreservable
		}
		return Replaced{}, err
	}
	if err := c.settle(name); err != nil {
		return Replaced{}, c.rollBack(name, info, err)
	}
	// The new content is durable under its name, so a remaining temporary file is harmless.
	r.drop(c.at, name)
	if now, err := linux.InfoAt(dir, c.at.name, 0); err == nil && now.Ino == info.Ino {
		info = now
	}
	return Replaced{Old: c.got.Old, New: c.got.New, Info: info}, nil
}

// write makes the new file under a temporary name, complete and synced.
func (c *replacement) write(name string) (Info, error) {
	r := c.r
	fd, err := r.sys.Create(c.at.dir, name, 0o600)
	if err != nil {
		return Info{}, err
	}
	info, err := c.fill(fd)
	if e := r.sys.CloseWritten(fd); err == nil {
		err = e
	}
	return info, err
}

func (c *replacement) fill(fd int) (info Info, err error) {
	r, old := c.r, c.old
	if c.got, err = r.sys.Pour(old.fd, fd, 0, old.info.Size, c.edits, c.known); err != nil {
		return Info{}, err
	}
	if !c.expected.IsZero() && c.got.Old != c.expected {
		return Info{}, file.ErrVersion
	}
	if !c.want.IsZero() && c.got.New != c.want {
		return Info{}, errWant
	}
	if c.got.New == c.got.Old {
		return Info{}, nil
	}
	if c.meta, err = linux.MetaOf(old.fd); err != nil {
		return Info{}, err
	}
	if c.meta.Nlink > 1 {
		return Info{}, errMeta // another name was added: the next try rewrites in place
	}
	old.info.Mode, old.info.UID, old.info.GID = c.meta.Mode, c.meta.UID, c.meta.GID
	if err := r.sys.CopyMeta(old.fd, old.info, fd); err != nil {
		return Info{}, err
	}
	if c.given, err = linux.MetaOf(fd); err != nil {
		return Info{}, err
	}
	if err := r.sys.Sync(fd); err != nil {
		return Info{}, err
	}
	return r.sys.FDInfo(fd)
}

// ready verifies, before the exchange, that the name still leads to the file that was read and that its content
// is unchanged, and takes the lease, so that no program can write to it. A conflict found here costs nothing; one
// found after the exchange must be rolled back.
func (c *replacement) ready() error {
	now, err := c.r.sys.InfoAt(c.at.dir, c.at.name)
	switch {
	case err == unix.ENOENT:
		return file.ErrMeanwhile
	case err != nil:
		return err
	case !now.SameFile(c.old.info):
		return file.ErrMeanwhile
	}
	if err := c.sameMeta(); err != nil {
		return err
	}
	switch {
	case c.leased && linux.LeaseHeld(c.old.fd):
		return nil // held since before reading
	case c.leased:
		return file.ErrMeanwhile // another program has opened the file
	}
	if err := c.waitForWriters(); err != nil {
		return err
	}
	return c.r.sys.Holds(c.old.fd, c.got.OldSize, c.got.Old)
}

// settle verifies, after the exchange, that the displaced file is the one that was read, passes it to Keep,
// and makes the exchange durable.
func (c *replacement) settle(name string) error {
	r := c.r
	displaced, err := r.sys.InfoAt(c.at.dir, name)
	if err != nil {
		return err
	}
	if !displaced.SameFile(c.old.info) {
		return file.ErrMeanwhile
	}
	if err := c.sameMeta(); err != nil {
		return err
	}
	if !c.leased {
		if err := r.sys.Holds(c.old.fd, c.got.OldSize, c.got.Old); err != nil {
			return err
		}
	}
	if c.keep != nil {
		if _, err := syscall.Seek(c.old.fd, 0, 0); err != nil {
			return err
		}
		if err := c.keep(c.old); err != nil {
			return err
		}
	}
	if err := r.sys.SyncDir(c.at.dir); err != nil {
		return err
	}
	// A program that looked the name up before the exchange may be waiting to open the file that is about to
	// lose its last name.
	if c.leased && !linux.LeaseHeld(c.old.fd) {
		return file.ErrMeanwhile
	}
	// A program that resolved the name before the exchange may since have changed the
	// metadata of the old file, for example removed permissions. Don't lose that.
	return c.sameMeta()
}

// sameMeta verifies that the old file still has the permissions, owner, links and
// attributes that were copied to the new one.
func (c *replacement) sameMeta() error {
	now, err := linux.MetaOf(c.old.fd)
	if err != nil {
		return err
	}
	if now != c.meta {
		return errMeta
	}
	return nil
}

// lease takes the lease on the old file if the file system supports leases.
func (c *replacement) lease() error {
	if c.r.FSKind() != FSLocal {
		return unix.ENOTSUP // NFS would return EAGAIN without a delegation
	}
	return linux.Lease(c.old.fd)
}

func (c *replacement) unlease() {
	if c.leased {
		linux.Unlease(c.old.fd)
		c.leased = false
	}
}

// waitForWriters takes the lease. It waits up to 0.1 s for programs that have the old file open for writing,
// because their writes would go to an inode without a name. Without leases it does nothing.
func (c *replacement) waitForWriters() error {
	for wait := time.Millisecond; wait < 100*time.Millisecond; wait *= 2 {
		err := c.lease()
		if err != unix.EAGAIN {
			c.leased = err == nil
			return nil
		}
		time.Sleep(wait)
	}
	return file.ErrBusy
}

// rollBack undoes the exchange because of cause. If another program has reassigned the name, its
// content is kept, under the file's name or as a conflict copy.
func (c *replacement) rollBack(name string, ours Info, cause error) error {
	r, dir := c.r, c.at.dir
	err := twice(func() error { return r.sys.Exchange(dir, name, c.at.name) })
	if err != nil {
		// The name was removed, or a system call fails: restore as much as possible.
		if r.sys.RenameNoReplace(dir, name, dir, c.at.name) != nil {
			return c.keepCopy(name, errors.Join(cause, &StuckError{err}))
		}
		r.sys.SyncDir(dir)
		return cause
	}
	back, err := r.sys.InfoAt(dir, name)
	switch {
	case err == nil && back.SameFile(ours):
		return c.retract(name, cause)
	case err == nil:
		// A third version came after ours: it is the newest, so it gets the name, and the
		// version it would have overwritten is kept as a copy.
		if r.sys.Exchange(dir, name, c.at.name) == nil {
			return c.keepCopy(name, cause)
		}
	}
	return c.keepCopy(name, cause)
}

// retract deletes the new file after a rollback. If another program wrote to it while it had
// the name, it is kept as a conflict copy.
func (c *replacement) retract(name string, cause error) error {
	r, dir := c.r, c.at.dir
	fd, err := linux.Openat(dir, name, linux.FlagsFile, 0)
	f := new(File)
	if err == nil {
		err = f.adopt(fd)
	}
	if err != nil {
		return c.keepCopy(name, errors.Join(cause, err))
	}
	if now, err := linux.MetaOf(fd); err == nil && now != c.given {
		// Another program changed its metadata while it had the name: apply that to the old
		// file.
		r.sys.CopyMeta(fd, f.info, c.old.fd)
	}
	mine := &replacement{r: r, at: c.at, old: f}
	if mine.waitForWriters() != nil || r.sys.Holds(fd, c.got.NewSize, c.got.New) != nil {
		f.Close()
		return c.keepCopy(name, cause)
	}
	r.drop(c.at, name)
	r.sys.SyncDir(dir)
	if at, err := c.at.again(); err == nil && mine.leased {
		r.watchLate(f, at, c.got.New)
	} else {
		f.Close()
	}
	return cause
}

// keepCopy renames a temporary file with another program's content to a visible name.
func (c *replacement) keepCopy(name string, cause error) error {
	r, dir := c.r, c.at.dir
	copyName := conflictName(c.at.name)
	if err := r.sys.RenameNoReplace(dir, name, dir, copyName); err != nil {
		r.temps.leave(c.at.path.Dir()) // CleanTemps tries again
		return errors.Join(cause, err)
	}
	r.sys.SyncDir(dir)
	return errors.Join(cause, &ConflictError{Copy: copyName})
}
