package review

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"quarry/fault"
)

// A process that waits for decisions has a file next to the proposals and holds its lock.
// The proposals contain the file's name. If the lock is free or the file is gone, the
// process has ended.

const holderPrefix = "waits-"

// holderAge is the age at which an unlocked file is removed. Younger files may be about
// to be locked by the process that created them.
const holderAge = 10 * time.Second

// hold returns the name of this process's file. If it can't be created, changes can still
// be proposed, but other processes won't notice when this one ends.
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

// release undoes hold and ShowAt.
func (s *Store) release() error {
	s.holding.Lock()
	defer s.holding.Unlock()
	hidden := s.hide()
	if s.holder == nil {
		return hidden
	}
	_ = s.root.Remove(s.root.Own(s.holderName)) // otherwise the next reader of a proposal removes it
	err := s.holder.Close()
	s.holder, s.holderName = nil, ""
	return errors.Join(err, hidden)
}

// ended reports whether the process of a file has ended. If so, it removes the file,
// which changes the store's stamp.
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

// Sweep removes the files of waiting processes and pages that have ended. Each removal
// changes the stamp. It reads no proposals.
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
