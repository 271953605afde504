package mcpserver

import (
	"crypto/rand"
	"runtime"
	"strings"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/tool"
)

// sessions has what tools remember of each connection, for as long as the
// connection is there. A request without a session is a connection of its own.
type sessions struct{ known sync.Map }

func (s *sessions) of(c *mcp.ServerSession) *tool.Session {
	key := weak.Make(c)
	// A name of our own: the one of the protocol lets its owner into the session.
	found, had := s.known.LoadOrStore(key, &tool.Session{ID: strings.ToLower(rand.Text()[:8])})
	if !had {
		runtime.AddCleanup(c, func(key weak.Pointer[mcp.ServerSession]) { s.known.Delete(key) }, key)
	}
	return found.(*tool.Session)
}
