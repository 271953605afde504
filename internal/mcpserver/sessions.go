package mcpserver

import (
	"crypto/rand"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/tool"
)

// sessions has what tools remember of each connection, for as long as the
// connection is there. A request without a session is a connection of its own.
type sessions struct{ known sync.Map }

func (s *sessions) of(c *mcp.ServerSession) *tool.Session {
	// A name of our own: the one of the protocol lets its owner into the session.
	found, had := s.known.LoadOrStore(c, &tool.Session{ID: strings.ToLower(rand.Text()[:8])})
	session := found.(*tool.Session)
	if !had {
		go func() { // it ends with the connection
			_ = c.Wait()
			s.known.Delete(c)
			if c.ID() != "" { // otherwise it was one request, or the program ends with it
				session.End()
			}
		}()
	}
	return session
}
