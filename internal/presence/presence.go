// Package presence records which clients are connected to a workspace.
//
// Each server has one file in a subfolder of the state folder, and locks it while it
// runs. A file that is not locked belongs to a process that has ended or crashed: List
// omits and removes it.
package presence

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"quarry/internal/rootfs"
)

// Client is a connected program, as described by itself.
type Client struct {
	Name      string    `json:"name"`
	Version   string    `json:"version,omitempty"`
	Transport string    `json:"transport,omitempty"`
	Profile   string    `json:"profile,omitempty"`
	ReadOnly  bool      `json:"read_only,omitempty"`
	Review    bool      `json:"review,omitempty"`
	PID       int       `json:"pid"`
	Since     time.Time `json:"since"`
	Last      time.Time `json:"last,omitzero"`
	LastTool  string    `json:"last_tool,omitempty"`
	Calls     int       `json:"calls"`
	// Sessions names its latest connections.
	Sessions []string `json:"sessions,omitempty"`
}

// maxSessions limits Client.Sessions: over HTTP, each request may be a connection.
const maxSessions = 50

// writeEvery is the minimum time between two writes of a server's file.
const writeEvery = 500 * time.Millisecond

// newFor is the minimum age at which an unlocked file is removed: a server locks the file
// a moment after making it.
const newFor = 10 * time.Second

// maxFile limits the size of a server's file.
const maxFile = 1 << 20

// Server records the clients of one server.
type Server struct {
	root *rootfs.Root
	path rootfs.Path
	log  *rootfs.Log
	like Client // the facts that all its clients share

	mu      sync.Mutex
	clients []Client    // guarded by mu
	written time.Time   // guarded by mu
	later   *time.Timer // writes changes made too soon after the last write; guarded by mu
	closed  bool        // guarded by mu
}

// Open makes the server's file in the folder dir, which must exist.
func Open(dir string, like Client) (*Server, error) {
	root, err := rootfs.Open(dir, &rootfs.Options{Trusted: true, AllowAny: true})
	if err != nil {
		return nil, err
	}
	s := &Server{root: root, like: like}
	s.like.PID, s.like.Since = os.Getpid(), time.Now()
	name := fmt.Sprintf("%d-%d.json", os.Getpid(), time.Now().UnixNano())
	s.path = root.Own(name)
	if s.log, err = root.Hold(name, true); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

// Close removes the server's file.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.later != nil {
		s.later.Stop()
	}
	return errors.Join(s.root.Remove(s.path), s.log.Close(), s.root.Close())
}

// Connected records a client; session names its connection.
func (s *Server) Connected(name, version, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client(name, version, session)
	s.writeSoon()
}

// Called records a call of a tool. Errors in writing are ignored, so that the call
// doesn't fail.
func (s *Server) Called(name, version, session, tool string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.client(name, version, session)
	c.Last, c.LastTool = time.Now(), tool
	c.Calls++
	s.writeSoon()
}

// client returns the client with a name, and adds it if it is new. The caller holds mu.
func (s *Server) client(name, version, session string) *Client {
	i := slices.IndexFunc(s.clients, func(c Client) bool { return c.Name == name })
	if i < 0 {
		c := s.like
		c.Name, c.Version = name, version
		s.clients, i = append(s.clients, c), len(s.clients)
	}
	c := &s.clients[i]
	if session != "" && !slices.Contains(c.Sessions, session) {
		c.Sessions = append(c.Sessions, session)
		c.Sessions = c.Sessions[max(0, len(c.Sessions)-maxSessions):]
	}
	return c
}

// writeSoon writes the file now, or once writeEvery has passed. The caller holds mu.
func (s *Server) writeSoon() {
	if s.later != nil {
		return
	}
	if wait := writeEvery - time.Since(s.written); wait > 0 {
		s.later = time.AfterFunc(wait, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.later = nil; !s.closed {
				s.write()
			}
		})
		return
	}
	s.write()
}

// write replaces the contents of the file. The caller holds mu.
func (s *Server) write() {
	s.written = time.Now()
	data, err := json.Marshal(s.clients)
	if err == nil && len(data) <= maxFile && s.log.Truncate(0) == nil {
		_ = s.log.Append(data, 0)
	}
}

// List returns the connected clients, sorted by name.
func List(dir string) ([]Client, error) {
	root, err := rootfs.Open(dir, &rootfs.Options{Trusted: true, AllowAny: true})
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := root.List(rootfs.Path{})
	if err != nil {
		return nil, err
	}
	var list []Client
	for _, e := range entries {
		if strings.HasSuffix(e.Name, ".json") {
			list = append(list, read(root, e.Name)...)
		}
	}
	sort.Slice(list, func(i, j int) bool {
		return cmp.Or(cmp.Compare(list[i].Name, list[j].Name), cmp.Compare(list[i].PID, list[j].PID)) < 0
	})
	return list, nil
}

// read reads the file of one server, and removes it if the server is gone.
func read(root *rootfs.Root, name string) []Client {
	held, err := root.Held(name)
	if !held {
		if info, gone := root.Stat(root.Own(name)); err == nil && gone == nil && time.Since(info.ModTime) > newFor {
			_ = root.Remove(root.Own(name))
		}
		return nil
	}
	var list []Client
	data, _, _, err := root.ReadFile(root.Own(name), maxFile)
	if err != nil || json.Unmarshal(data, &list) != nil {
		return nil // the file is being written; the next call reads it
	}
	return list
}
