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
	keepDecided = 200                // number of decided proposals to keep
	keepFor     = 7 * 24 * time.Hour // how long to keep decided proposals
	maxProposal = 64 << 20           // largest size of a proposal in bytes
	newsFor     = 24 * time.Hour     // how long after a decision its client is told

	// Once the client of a decided proposal knows the decision, the proposal is renamed,
	// so that it is not read in the search for waiting ones. Otherwise 1,200 consecutive
	// decisions took 26 s. If renaming fails, that only costs time.
	unsettledName = ".json"
	settledName   = ".settled.json"

	lockName = "lock" // its size counts replaced proposals
)

// Store keeps the proposals of a workspace in a private folder of the state folder. It is
// safe for concurrent use, also by several processes.
type Store struct {
	root *rootfs.Root
	now  func() time.Time

	mu   sync.Mutex  // guards the lock file, because file locks don't exclude goroutines of one process
	lock *rootfs.Log // nil if it couldn't be made again in a new folder

	closed error // why the store can't be written; nil if it can

	holding    sync.Mutex
	holder     *rootfs.Log // its lock shows that this process is running; guarded by holding
	holderName string      // guarded by holding
	page       *rootfs.Log // file of the page served by this process, see ShowAt; guarded by holding
	pageName   string      // guarded by holding
	address    string      // where the page shows proposals; guarded by holding
}

// Open opens the store in dir, which must exist.
func Open(dir string) (*Store, error) { return OpenLayered(dir, nil) }

// OpenLayered is Open with a test layer around the system calls.
func OpenLayered(dir string, layer *rootfs.Layer) (*Store, error) {
	root, err := rootfs.Open(dir, &rootfs.Options{Trusted: true, AllowAny: true, Private: layer == nil, Layer: layer})
	if err != nil {
		return nil, fmt.Errorf("open folder of proposals: %w", err)
	}
	s := &Store{root: root, now: time.Now}
	s.lock, err = root.OpenLog(root.Own(lockName), true)
	if errors.Is(err, fault.ReadOnly) || errors.Is(err, fault.Permission) {
		// The store can still be read.
		s.closed, err = fmt.Errorf("the folder of proposals can't be written: %w", err), nil
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

// Close closes the store.
func (s *Store) Close() error {
	err := s.release()
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return errors.Join(err, s.root.Close())
}

// renew makes the store's folder again if it was deleted, or switches to the folder that
// replaced it. It must not be called by a function that runs in locked.
func (s *Store) renew() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.renewed()
}

// renewed is renew for callers that hold s.mu.
func (s *Store) renewed() error {
	if s.closed != nil {
		return nil
	}
	moved, err := s.root.Renew()
	if err != nil {
		return err
	}
	if moved {
		s.holding.Lock()
		address := s.address
		s.holding.Unlock()
		_ = s.release() // its files were in the old folder
		if s.lock != nil {
			_ = s.lock.Close()
			s.lock = nil
		}
		if address != "" {
			_ = s.show(address) // otherwise agents are not told the page's address
		}
	}
	if s.lock == nil {
		s.lock, err = s.root.OpenLog(s.root.Own(lockName), true)
	}
	return err
}

// locked runs f while no other process or goroutine changes the store. If f panics it
// releases the lock, because a caller may recover.
func (s *Store) locked(f func() error) (err error) {
	if s.closed != nil {
		return s.closed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.renewed(); err != nil {
		return err
	}
	if err := s.lock.Lock(true); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.lock.Unlock()) }()
	return f()
}

// number parses a proposal's id. The prefix "p-" is optional.
func number(id string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(id)), "p-"))
	return n, err == nil && n > 0
}

// IsID reports whether id is a proposal's id, not a change's.
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

// content reads the file of a proposal. Settled proposals are renamed, and never back, so
// a file that isn't found under its first name has the second.
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

// read reads a proposal and its file's version. If the process ended while waiting, the
// returned proposal is abandoned; the next write stores that.
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

// write durably replaces an unsettled proposal. The caller holds the lock.
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

// count appends a byte to the lock file, for Stamp. If that fails, Stamp still includes
// the folder's time. The caller holds the lock.
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
		_ = s.root.Rename(from, to) // on error it is renamed later
	}
}

// encode refuses text that is not UTF-8, because JSON would silently change it.
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

// entry is the number and state of a proposal, from its file name.
type entry struct {
	number  int
	settled bool
}

// names lists the store's folder.
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

// List returns all proposals, newest first. The error names proposals that can't be read;
// the others are returned nevertheless.
func (s *Store) List() ([]*Proposal, error) {
	if err := s.renew(); err != nil {
		return nil, err
	}
	return s.list(func(entry) bool { return true })
}

// Pending returns the undecided proposals, like List, without reading settled ones.
func (s *Store) Pending() ([]*Proposal, error) {
	if err := s.renew(); err != nil {
		return nil, err
	}
	return s.pending()
}

func (s *Store) pending() ([]*Proposal, error) {
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
		case errors.Is(err, errUnknown): // removed meanwhile
		case err != nil:
			problems = append(problems, err)
		default:
			list = append(list, p)
		}
	}
	return list, errors.Join(problems...)
}

// Stamp returns a text that differs after every change of the store, at little cost. The
// folder's time alone is not enough: two changes within a tick of the file system's clock
// give the same time. A tick is 4 ms on Linux, more on a busy machine, and 2 s on FAT. So
// the stamp includes the file names, also those of waiting processes, and the number of
// replaced proposals.
func (s *Store) Stamp() (string, error) {
	if err := s.renew(); err != nil {
		return "", err
	}
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

// add stores a new proposal and removes old ones. The caller holds the lock.
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

// drop removes decided proposals that are too old or not among the newest keepDecided. If
// a removal fails, the next call tries again.
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
		// ModTime is when the proposal was decided, or its client was told.
		if info, err := s.root.Stat(path); decided > keepDecided || err == nil && s.now().Sub(info.ModTime) > keepFor {
			_ = s.root.Remove(path)
		}
	}
}

// update calls f for a proposal while holding the lock. It writes the proposal if f
// returns true.
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

// abandon records that the client of a waiting proposal has disconnected. If Until is no
// longer until, a later call waits for the proposal, and nothing is changed.
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

// Withdraw withdraws a proposal. Only the client that made it may do so.
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
// them as told. A later session of the same client isn't told, because it doesn't know
// the proposals.
func (s *Store) News(client change.Client) ([]*Proposal, error) {
	if err := s.renew(); err != nil {
		return nil, err
	}
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
