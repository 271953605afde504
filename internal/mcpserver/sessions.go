package mcpserver

import (
	"crypto/rand"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/tool"
)

// sessions has the tools' state for each open connection. A request without a session is
// treated as a connection of its own.
type sessions struct{ known sync.Map }

func (s *sessions) of(c *mcp.ServerSession) *tool.Session {
	// Don't use the protocol's session id, which would give access to the session.
	found, had := s.known.LoadOrStore(c, &tool.Session{ID: strings.ToLower(rand.Text()[:8])})
	session := found.(*tool.Session)
	if !had {
		go func() { // ends with the connection
			_ = c.Wait()
			s.known.Delete(c)
			if c.ID() != "" { // without an id it was a single request, or the process ends with it
				session.End()
			}
		}()
	}
	return session
}
