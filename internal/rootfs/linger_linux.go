//go:build linux && !portable

package rootfs

import (
	"sync"
	"syscall"
	"time"

	"quarry/internal/rootfs/linux"
)

// A program opens a file in two steps: it looks the name up, then opens the file it found. If we exchange the
// files between these steps, it opens the displaced file and writes to a file that no longer has a name. A
// program that appends all the time lost about 1 % of its lines in this way.
//
// So a displaced file stays open for a while under its lease. A program that opens it late has to wait for
// us. We let it write, and save its output as a conflict copy.
type linger struct {
	mu      sync.Mutex
	late    []displaced
	running bool
	hurry   chan struct{} // wakes the loop
	ended   chan struct{} // closed when the loop ends
}

// displaced is a file that lost its name to a replacement.
type displaced struct {
	old     *File
	at      place
	version Version
	until   time.Time
}

const (
	lingerTime = 500 * time.Millisecond
	lingerStep = 5 * time.Millisecond
	// maxLinger limits the watched files, each of which takes two handles. If there are
	// more, some are released early.
	maxLinger = 64
)

// watchLate watches the displaced file of a finished replacement, and closes its handles
// afterwards.
func (r *Root) watchLate(old *File, at place, v Version) {
	l := &r.sys.linger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late = append(l.late, displaced{old, at, v, time.Now().Add(lingerTime)})
	if !l.running {
		l.running = true
		l.hurry, l.ended = make(chan struct{}, 1), make(chan struct{})
		go r.lingerLoop(l.hurry, l.ended)
	}
}

// lingerLoop runs until no file is watched. Close waits for it.
func (r *Root) lingerLoop(hurry <-chan struct{}, ended chan<- struct{}) {
	l := &r.sys.linger
	defer close(ended)
	for {
		select {
		case <-time.After(lingerStep):
		case <-hurry:
		}
		l.mu.Lock()
		var expired []displaced
		keep := l.late[:0]
		for i, d := range l.late {
			if !linux.LeaseHeld(d.old.fd) || time.Now().After(d.until) || len(l.late)-i > maxLinger {
				expired = append(expired, d)
			} else {
				keep = append(keep, d)
			}
		}
		l.late = keep
		l.mu.Unlock()
		for _, d := range expired {
			r.finishLate(d)
		}
		l.mu.Lock()
		if len(l.late) == 0 {
			l.running = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
	}
}

// drain waits for the loop to end. With hurry, files that no program has tried to open are released at once.
func (r *Root) drain(hurry bool) {
	l := &r.sys.linger
	l.mu.Lock()
	running, wake, ended := l.running, l.hurry, l.ended
	if hurry {
		for i := range l.late {
			l.late[i].until = time.Time{}
		}
	}
	l.mu.Unlock()
	for running {
		if hurry {
			select {
			case wake <- struct{}{}:
			default:
			}
		}
		select {
		case <-ended:
			return
		case <-time.After(lingerStep):
		}
	}
}

// letGo releases the displaced files that are still watched, to free their space. It
// reports whether there were any.
func (r *Root) letGo() bool {
	l := &r.sys.linger
	l.mu.Lock()
	any := len(l.late) > 0
	l.mu.Unlock()
	if any {
		r.drain(true)
	}
	return any
}

// finishLate releases a displaced file, after saving the output of a late writer.
func (r *Root) finishLate(d displaced) {
	defer d.at.close()
	defer d.old.Close()
	if linux.LeaseHeld(d.old.fd) {
		return
	}
	linux.Unlease(d.old.fd)
	// The writer has the file open now or soon will; wait until it is done.
	for wait := lingerStep; wait < 2*time.Second; wait *= 2 {
		time.Sleep(wait)
		if linux.Lease(d.old.fd) == nil {
			break
		}
	}
	info, err := d.old.Stat()
	if err != nil {
		return
	}
	if v, err := r.sys.Hash(d.old.fd, 0, info.Size); err != nil || v == d.version {
		return
	}
	name := conflictName(d.at.name)
	fd, err := r.sys.Create(d.at.dir, name, 0o600)
	if err != nil {
		return
	}
	_, err = r.sys.Copy(d.old.fd, 0, fd, 0, info.Size)
	if err == nil {
		err = r.sys.Sync(fd)
	}
	syscall.Close(fd)
	if err == nil && r.rescued != nil {
		r.rescued(d.at.path.Dir().child(name))
	}
}
