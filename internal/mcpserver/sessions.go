package mcpserver

import (
	"runtime"
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
	found, had := s.known.LoadOrStore(key, &tool.Session{})
	if !had {
		runtime.AddCleanup(c, func(key weak.Pointer[mcp.ServerSession]) { s.known.Delete(key) }, key)
	}
	return found.(*tool.Session)
}
