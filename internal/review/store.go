package review

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
)

const (
	keepDecided = 200                // decided proposals to keep
	keepFor     = 7 * 24 * time.Hour // and for how long
	maxProposal = 64 << 20           // maximal bytes of one proposal
	newsFor     = 24 * time.Hour     // how long a client is told of a decision

	// A decided proposal whose client knows the decision is renamed, so that it is
	// not read when waiting ones are searched: 1,200 decisions in a row took 26 s for reading
	// the earlier ones. A failed rename only costs time.
	unsettledName = ".json"
	settledName   = ".settled.json"

	lockName = "lock" // its length counts replacements
)

// Store keeps the proposals of one workspace in a folder of the state folder, private
// to its user. It is safe for concurrent use, also by several processes.
type Store struct {
	root *rootfs.Root
	now  func() time.Time

	mu   sync.Mutex // guards the lock file: locks don't exclude other goroutines of the same process
	lock *rootfs.Log

	closed error // why nothing can be written; nil if the store is writable

	holding    sync.Mutex
	holder     *rootfs.Log // its lock shows that this process runs; guarded by holding
	holderName string      // guarded by holding
	page       *rootfs.Log // of the page that this process serves, see ShowAt; guarded by holding
	pageName   string      // guarded by holding
}

// Open opens the store in dir, which must exist.
func Open(dir string) (*Store, error) { return OpenLayered(dir, nil) }

// OpenLayered is Open with a layer above the system calls, for tests.
func OpenLayered(dir string, layer *rootfs.Layer) (*Store, error) {
	root, err := rootfs.Open(dir, &rootfs.Options{Trusted: true, AllowAny: true, Layer: layer})
	if err != nil {
		return nil, err
	}
	s := &Store{root: root, now: time.Now}
	s.lock, err = root.OpenLog(root.Own(lockName), true)
	if errors.Is(err, fault.ReadOnly) || errors.Is(err, fault.Permission) {
		// It can still be read.
		s.closed, err = fmt.Errorf("the folder of proposals can't be written: %w", err), nil
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

// Close releases the store.
func (s *Store) Close() error {
	if s.closed != nil {
		return s.root.Close()
	}
	return errors.Join(s.release(), s.lock.Close(), s.root.Close())
}

// locked runs f while no other process or goroutine changes the store. It releases the
// lock even if f panics, because callers may recover and go on.
func (s *Store) locked(f func() error) (err error) {
	if s.closed != nil {
		return s.closed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.lock.Lock(true); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.lock.Unlock()) }()
	return f()
}

// number parses the id of a proposal; the prefix "p-" is optional.
func number(id string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(id)), "p-"))
	return n, err == nil && n > 0
}

// IsID reports whether a text is the id of a proposal rather than of a change.
func IsID(id string) bool {
	_, ok := number(id)
	return ok && strings.HasPrefix(strings.ToLower(strings.TrimSpace(id)), "p-")
}

func idOf(n int) string { return fmt.Sprintf("p-%04d", n) }

func (s *Store) path(id, name string) (rootfs.Path, error) {
	n, ok := number(id)
	if !ok {
		return rootfs.Path{}, errUnknown
	}
	return s.root.Known(idOf(n) + name)
}

// content reads the file of a proposal. Settled ones are renamed, and never back, so a
// proposal that is not under the first name is under the second.
func (s *Store) content(id string) (data []byte, version rootfs.Version, err error) {
	for _, name := range []string{unsettledName, settledName} {
		path, err := s.path(id, name)
		if err != nil {
			return nil, version, err
		}
		data, version, _, err = s.root.ReadFile(path, maxProposal)
		if !errors.Is(err, fault.NotFound) {
			return data, version, err
		}
	}
	return nil, version, errUnknown
}

// read reads one proposal and the version of its file. A proposal is abandoned if its
// process ended while waiting; the next write records that.
func (s *Store) read(id string) (*Proposal, rootfs.Version, error) {
	data, version, err := s.content(id)
	if err != nil {
		return nil, version, err
	}
	p := &Proposal{}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, version, fmt.Errorf("proposal %s is damaged: %w", id, err)
	}
	if p.State == Waiting && p.Waits != "" && s.ended(p.Waits) {
		p.State = Abandoned
	}
	return p, version, nil
}

// Get returns a proposal.
func (s *Store) Get(id string) (*Proposal, error) {
	p, _, err := s.read(id)
	return p, err
}

// write durably replaces a proposal that is not settled. The caller holds the lock.
func (s *Store) write(p *Proposal, old rootfs.Version) error {
	path, err := s.path(p.ID, unsettledName)
	if err != nil {
		return err
	}
	data, err := encode(p)
	if err != nil {
		return err
	}
	if old.IsZero() {
		_, _, err = s.root.Create(path, data, &rootfs.CreateOptions{Mode: 0o600})
		return err
	}
	if _, err = s.root.Replace(path, data, old, nil); err == nil {
		s.count()
		if p.Told && !p.State.Open() {
			s.moveAway(p.ID)
		}
	}
	return err
}

// count appends a byte to the lock file, for Stamp. If that fails, the time of the
// folder still changes. The caller holds the lock.
func (s *Store) count() {
	if size, err := s.lock.Size(); err == nil {
		_ = s.lock.Append([]byte{'.'}, size)
	}
}

// moveAway renames a settled proposal. The caller holds the lock.
func (s *Store) moveAway(id string) {
	from, err := s.path(id, unsettledName)
	if err != nil {
		return
	}
	if to, err := s.path(id, settledName); err == nil {
		_ = s.root.Rename(from, to) // tried again later
	}
}

// encode refuses text that is not UTF-8, which JSON would change silently.
func encode(p *Proposal) ([]byte, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	if len(data) > maxProposal {
		return nil, fault.New(fault.TooLarge, fmt.Sprintf("the change takes %d MB, too much to be reviewed", len(data)>>20), "make it in parts")
	}
	var back Proposal
	if err := json.Unmarshal(data, &back); err != nil {
		return nil, err
	}
	if !sameSet(&p.Set, &back.Set) {
		return nil, errNotText
	}
	return data, nil
}

func sameSet(a, b *change.Set) bool {
	if len(a.Ops) != len(b.Ops) {
		return false
	}
	for i := range a.Ops {
		x, y := a.Ops[i], b.Ops[i]
		if string(x.Content) != string(y.Content) {
			return false
		}
		x.Content, y.Content = nil, nil
		if len(x.Edits) == 0 {
			x.Edits, y.Edits = nil, nil
		}
		if !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}

// entry is a proposal known only by its name.
type entry struct {
	number  int
	settled bool
}

// names lists the folder.
func (s *Store) names() ([]rootfs.Entry, error) { return s.root.List(rootfs.Path{}) }

// entries lists the existing proposals, oldest first.
func (s *Store) entries() ([]entry, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	var list []entry
	for _, e := range names {
		name, settled := strings.CutSuffix(e.Name, settledName)
		ok := settled
		if !settled {
			name, ok = strings.CutSuffix(e.Name, unsettledName)
		}
		if ok && IsID(name) {
			n, _ := number(name)
			list = append(list, entry{n, settled})
		}
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.number, b.number) })
	return list, nil
}

// List returns all proposals, newest first. Unreadable ones are omitted and named in
// the error; the others are returned nevertheless.
func (s *Store) List() ([]*Proposal, error) { return s.list(func(entry) bool { return true }) }

// Pending returns the waiting proposals, as List does. It does not read settled ones.
func (s *Store) Pending() ([]*Proposal, error) {
	list, err := s.unsettled()
	return slices.DeleteFunc(list, func(p *Proposal) bool { return !p.State.Open() }), err
}

func (s *Store) unsettled() ([]*Proposal, error) {
	return s.list(func(e entry) bool { return !e.settled })
}

func (s *Store) list(wanted func(entry) bool) ([]*Proposal, error) {
	entries, err := s.entries()
	if err != nil {
		return nil, err
	}
	var list []*Proposal
	var problems []error
	for _, e := range slices.Backward(entries) {
		if !wanted(e) {
			continue
		}
		p, err := s.Get(idOf(e.number))
		switch {
		case errors.Is(err, errUnknown): // dropped meanwhile
		case err != nil:
			problems = append(problems, err)
		default:
			list = append(list, p)
		}
	}
	return list, errors.Join(problems...)
}

// Stamp changes with every change of the store. It is cheap. The time of the folder
// alone is not enough: a second change within a tick of the file system's clock doesn't
// change it, which is 4 ms on Linux, more on a busy machine, 2 s on FAT. So the stamp
// includes the names, among them the files of waiting processes, and the number of
// replacements.
func (s *Store) Stamp() (string, error) {
	info, err := s.root.Stat(rootfs.Path{})
	if err != nil {
		return "", err
	}
	names, err := s.names()
	if err != nil {
		return "", err
	}
	var replaced int64
	if lock, err := s.root.Stat(s.root.Own(lockName)); err == nil {
		replaced = lock.Size
	}
	list := make([]string, len(names))
	for i, e := range names {
		list[i] = e.Name
	}
	slices.Sort(list)
	sum := fnv.New64a()
	for _, name := range list {
		_, _ = io.WriteString(sum, name+"\n")
	}
	return fmt.Sprintf("%x-%x-%x", info.ModTime.UnixNano(), replaced, sum.Sum64()), nil
}

// add stores a new proposal and drops old ones. The caller holds the lock.
func (s *Store) add(p *Proposal) error {
	entries, err := s.entries()
	if err != nil {
		return err
	}
	next := 1
	if len(entries) > 0 {
		next = entries[len(entries)-1].number + 1
	}
	p.ID, p.Made, p.State = idOf(next), s.now(), Waiting
	if err := s.write(p, rootfs.Version{}); err != nil {
		return err
	}
	s.drop(entries)
	return nil
}

// drop removes decided proposals that are too old or beyond the newest keepDecided.
// Failed removals are tried again next time.
func (s *Store) drop(entries []entry) {
	if len(entries) <= keepDecided/2 {
		return
	}
	decided := 0
	for _, e := range slices.Backward(entries) {
		name := settledName
		if !e.settled {
			p, err := s.Get(idOf(e.number))
			if err != nil || p.State.Open() {
				continue
			}
			if name = unsettledName; p.Told || s.now().Sub(p.Decided) > newsFor {
				s.moveAway(p.ID)
				name = settledName
			}
		}
		path, err := s.path(idOf(e.number), name)
		if err != nil {
			continue
		}
		decided++
		// The last write recorded the decision, or that the client knows it.
		if info, err := s.root.Stat(path); decided > keepDecided || err == nil && s.now().Sub(info.ModTime) > keepFor {
			_ = s.root.Remove(path)
		}
	}
}

// update changes a proposal under the lock. If f returns false, nothing is written.
func (s *Store) update(id string, f func(*Proposal) (bool, error)) (*Proposal, error) {
	var out *Proposal
	err := s.locked(func() error {
		p, version, err := s.read(id)
		if err != nil {
			return err
		}
		out = p
		ok, err := f(p)
		if err != nil || !ok {
			return err
		}
		return s.write(p, version)
	})
	return out, err
}

// abandon records that the client of a waiting proposal has gone, unless a later call
// waits for it: until is the value that the call has set.
func (s *Store) abandon(id string, until time.Time) error {
	_, err := s.update(id, func(p *Proposal) (bool, error) {
		if p.State != Waiting || !p.Until.Equal(until) {
			return false, nil
		}
		p.State = Abandoned
		return true, nil
	})
	return err
}

// Withdraw withdraws a proposal; only the client that made it may.
func (s *Store) Withdraw(id string, client change.Client) (*Proposal, error) {
	return s.update(id, func(p *Proposal) (bool, error) {
		if p.Client.Name != client.Name {
			return false, errUnknown
		}
		if p.State != Waiting && p.State != Abandoned {
			return false, &DecidedError{p}
		}
		p.State, p.Decided, p.By, p.Told = Withdrawn, s.now(), "client", true
		return true, nil
	})
}

// News returns the decisions that a client's session has not been told yet, and marks
// them as told. A later session of the same client doesn't know the proposals.
func (s *Store) News(client change.Client) ([]*Proposal, error) {
	list, err := s.unsettled()
	if err != nil && list == nil {
		return nil, err
	}
	var news []*Proposal
	for _, p := range list {
		if p.Told || p.State.Open() || p.Client.Name != client.Name || p.Client.Session != client.Session {
			continue
		}
		if err := s.told(p.ID); err != nil {
			return news, err
		}
		news = append(news, p)
	}
	return news, nil
}

func (s *Store) told(id string) error {
	_, err := s.update(id, func(p *Proposal) (bool, error) {
		was := p.Told
		p.Told = true
		return !was, nil
	})
	return err
}
