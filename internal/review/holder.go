package review

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"quarry/fault"
)

// A process that waits for decisions holds the lock of a file of its own beside
// the proposals, and they name the file. If the lock is free or the file is gone,
// the process has ended, in whatever way.

const holderPrefix = "waits-"

// holderAge is the age from which a file whose lock can be had is removed
// unasked: a process makes the file a moment before it takes the lock.
const holderAge = 10 * time.Second

// hold names the file of this process. Without one the end of the process is not
// noticed, which keeps no change from being proposed.
func (s *Store) hold() string {
	s.holding.Lock()
	defer s.holding.Unlock()
	if s.holder != nil || s.closed != nil {
		return s.holderName
	}
	name := fmt.Sprintf("%s%d-%d", holderPrefix, os.Getpid(), time.Now().UnixNano())
	log, err := s.root.Hold(name, true)
	if err != nil {
		return ""
	}
	s.holder, s.holderName = log, name
	return name
}

// release ends what hold and ShowAt began.
func (s *Store) release() error {
	s.holding.Lock()
	defer s.holding.Unlock()
	hidden := s.hide()
	if s.holder == nil {
		return hidden
	}
	_ = s.root.Remove(s.root.Own(s.holderName)) // whoever reads a proposal does it otherwise
	err := s.holder.Close()
	s.holder, s.holderName = nil, ""
	return errors.Join(err, hidden)
}

// ended reports whether the process with a file has ended. The file is removed,
// which changes the stamp of the store.
func (s *Store) ended(name string) bool {
	path := s.root.Own(name)
	log, err := s.root.OpenLog(path, false)
	if err != nil {
		return errors.Is(err, fault.NotFound)
	}
	defer log.Close()
	if free, err := log.TryLock(true); err != nil || !free {
		return false
	}
	_ = s.root.Remove(path)
	return true
}

// Sweep looks for processes that ended while they waited, and for pages that ended;
// the stamp changes with each. It reads no proposal.
func (s *Store) Sweep() {
	names, err := s.names()
	if err != nil {
		return
	}
	for _, e := range names {
		if !strings.HasPrefix(e.Name, holderPrefix) && !strings.HasPrefix(e.Name, pagePrefix) {
			continue
		}
		path, err := s.root.Known(e.Name)
		if err != nil {
			continue
		}
		if info, err := s.root.Stat(path); err == nil && s.now().Sub(info.ModTime) > holderAge {
			s.ended(e.Name)
		}
	}
}
