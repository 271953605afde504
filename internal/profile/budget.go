package profile

import (
	"bytes"
	"strings"
)

// shown is how much of an answer a client passes on to its model. What it would drop
// is better left out with a word on how to go on.
type shown struct {
	bytes int // of the text as a JSON string
	lines int // 0 is any number
}

// cutters are clients known to cut long answers, and where. Codex cut after 256 lines
// or 10 KB, later after 10,000 bytes, and counts the text as JSON (its issues 6544 and
// 7906); Copilot's command line cuts after 10 KB.
var cutters = map[string]shown{"codex": {10_000, 256}, "copilot-cli": {bytes: 10_000}, "github-copilot-cli": {bytes: 10_000}}

// clientShows is what the calling client shows its model; none is everything.
func (c *call) clientShows() (shown, bool) {
	name := strings.ToLower(c.client.Name)
	for client, s := range cutters {
		if c.d.receipts && strings.HasPrefix(name, client) {
			return s, true
		}
	}
	return shown{}, false
}

// clientRoom is how many bytes the calling client shows its model; 0 is all.
func (c *call) clientRoom() int {
	s, ok := c.clientShows()
	if !ok {
		return 0
	}
	if c.narrow > 0 {
		return int(float64(s.bytes) * c.narrow)
	}
	return s.bytes
}

// tooLong reports that the client would cut an answer, and which share of the room
// that was given may let it fit: how long lines are, and how much longer a text is as
// JSON, is known only when it is there.
func (c *call) tooLong(a *answer) (share float64, cut bool) {
	s, ok := c.clientShows()
	if !ok {
		return 0, false
	}
	over := float64(jsonLength(a.text)+receiptLength(a.receipt)) / float64(s.bytes)
	if s.lines > 0 {
		over = max(over, float64(bytes.Count(a.text, []byte("\n"))+2)/float64(s.lines)) // the receipt is a line, too
	}
	if over <= 1 {
		return 0, false
	}
	given := 1.0
	if c.narrow > 0 {
		given = c.narrow
	}
	// The answer may have taken less than it was given.
	given = min(given, float64(len(a.text)+receiptRoom)/float64(s.bytes))
	return given / over * 0.95, true
}

func receiptLength(parts []string) (n int) {
	for _, p := range parts {
		n += len(p) + len("; ")
	}
	return n + len(`\n[]`)
}

// jsonLength is the length of a text as a JSON string.
func jsonLength(text []byte) int {
	n := len(text) + len(`""`)
	for _, b := range text {
		switch {
		case b == '\n' || b == '\t' || b == '\r' || b == '"' || b == '\\':
			n++
		case b < ' ':
			n += len(`u0000`)
		}
	}
	return n
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
