package profile

import "strings"

// cutters are clients known to cut long answers, and where: Codex after 10 KB or
// 256 lines, Copilot's command line after 10 KB. What they would drop is better
// left out with a word on how to go on.
var cutters = map[string]int{"codex": 10 << 10, "copilot-cli": 10 << 10, "github-copilot-cli": 10 << 10}

// clientRoom is how many bytes the calling client shows its model; 0 is all.
func (c *call) clientRoom() int {
	name := strings.ToLower(c.client.Name)
	for client, room := range cutters {
		if c.d.receipts && strings.HasPrefix(name, client) {
			return room
		}
	}
	return 0
}

// room is how many bytes the text of an answer may have: what the caller asked
// for, else what the dialect gives, never more than the client shows.
func (c *call) room() int {
	room := c.o.Budget
	if n := c.Int("budget"); n > 0 {
		room = n * tokenBytes
	}
	if shown := c.clientRoom(); shown > 0 {
		room = min(room, shown)
	}
	return room
}
