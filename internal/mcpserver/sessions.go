package mcpserver

import (
	"crypto/rand"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/tool"
)

// sessions has the state that tools keep per connection, while the connection exists. A
// request without a session counts as its own connection.
type sessions struct{ known sync.Map }

func (s *sessions) of(c *mcp.ServerSession) *tool.Session {
	// Not the protocol's session id: that would give access to the session.
	found, had := s.known.LoadOrStore(c, &tool.Session{ID: strings.ToLower(rand.Text()[:8])})
	session := found.(*tool.Session)
	if !had {
		go func() { // it ends with the connection
			_ = c.Wait()
			s.known.Delete(c)
			if c.ID() != "" { // otherwise it was a single request, or the program ends with it
				session.End()
			}
		}()
	}
	return session
}
