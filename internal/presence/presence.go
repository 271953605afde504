// Package presence tells which clients are connected to a workspace.
//
// Each server keeps one file in a folder of the state folder and holds its lock
// while it runs. So a file whose lock can be taken belongs to a process that has
// ended, in whatever way: List omits and removes it.
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

// Client is a program that is connected, as it introduced itself.
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
	// Sessions name its connections, the last ones.
	Sessions []string `json:"sessions,omitempty"`
}

// maxSessions bounds the connections that are named of a client: over HTTP each
// request may be one.
const maxSessions = 50

// writeEvery is the least time between two writes of a server's file.
const writeEvery = 500 * time.Millisecond

// newFor is the age from which a file whose lock can be had is removed: a server
// makes the file a moment before it takes the lock.
const newFor = 10 * time.Second

// maxFile bounds the file of one server.
const maxFile = 1 << 20

// Server tells of the clients of one server.
type Server struct {
	root *rootfs.Root
	path rootfs.Path
	log  *rootfs.Log
	like Client // what all its clients have in common

	mu      sync.Mutex
	clients []Client    // guarded by mu
	written time.Time   // guarded by mu
	later   *time.Timer // writes what came too soon after the last write; guarded by mu
	closed  bool        // guarded by mu
}

// Open begins to tell, in the folder dir, which must exist.
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

// Close ends it.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.later != nil {
		s.later.Stop()
	}
	return errors.Join(s.root.Remove(s.path), s.log.Close(), s.root.Close())
}

// Connected notes that a client is there; session names its connection.
func (s *Server) Connected(name, version, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client(name, version, session)
	s.writeSoon()
}

// Called notes a call of a tool. What can't be written is not told; a call
// never fails for it.
func (s *Server) Called(name, version, session, tool string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.client(name, version, session)
	c.Last, c.LastTool = time.Now(), tool
	c.Calls++
	s.writeSoon()
}

// client finds a client, or adds it. The caller holds mu.
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

// writeSoon writes, now or in a moment. The caller holds mu.
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

// write replaces what is told. The caller holds mu.
func (s *Server) write() {
	s.written = time.Now()
	data, err := json.Marshal(s.clients)
	if err == nil && len(data) <= maxFile && s.log.Truncate(0) == nil {
		_ = s.log.Append(data, 0)
	}
}

// List tells which clients are connected, by name.
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
		return nil // it is being written; the next look has it
	}
	return list
}
