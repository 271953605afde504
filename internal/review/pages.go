package review

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// A page that shows proposals stores its address in a file next to them, and holds the
// file's lock. So a server finds a running page, and never one that has ended. The
// address is not secret: it only works in a browser that already has the page open.

const (
	pagePrefix = "page-"
	maxAddress = 1000
)

// ShowAt records that a page shows the proposals, until the store is closed. Appending a
// proposal's id to address gives the proposal's own address.
func (s *Store) ShowAt(address string) error {
	if err := s.renew(); err != nil {
		return err
	}
	return s.show(address)
}

func (s *Store) show(address string) error {
	s.holding.Lock()
	defer s.holding.Unlock()
	if s.page != nil || s.closed != nil {
		return s.closed
	}
	name := fmt.Sprintf("%s%d-%d", pagePrefix, time.Now().UnixNano(), os.Getpid())
	log, err := s.root.Hold(name, true)
	if err != nil {
		return err
	}
	if err := log.Append([]byte(address), 0); err != nil {
		return errors.Join(err, s.root.Remove(s.root.Own(name)), log.Close())
	}
	s.page, s.pageName, s.address = log, name, address
	return nil
}

// Page returns the address of a proposal on the page that was started last, or "" if no
// page is running.
func (s *Store) Page(id string) string {
	names, err := s.names()
	if err != nil {
		return ""
	}
	for _, e := range slices.Backward(names) {
		if !strings.HasPrefix(e.Name, pagePrefix) {
			continue
		}
		if runs, err := s.root.Held(e.Name); err != nil || !runs {
			continue
		}
		data, _, _, err := s.root.ReadFile(s.root.Own(e.Name), maxAddress)
		if at := string(data); err == nil && strings.HasPrefix(at, "http://") {
			return at + id
		}
	}
	return ""
}

// hide undoes ShowAt. The caller holds s.holding.
func (s *Store) hide() error {
	if s.page == nil {
		return nil
	}
	_ = s.root.Remove(s.root.Own(s.pageName)) // on error, Sweep will remove it
	err := s.page.Close()
	s.page, s.pageName, s.address = nil, "", ""
	return err
}
