package profile

import (
	"bytes"
	"strings"
)

// shown is how much of an answer a client passes on to its model. Shortening the answer
// ourselves, with a hint how to continue, is better than letting the client cut it.
type shown struct {
	bytes int // of the text as a JSON string
	lines int // 0 means unlimited
}

// cutters maps clients known to cut long answers to their limits. Codex cut after 256 lines
// or 10 KB, later after 10,000 bytes, and counts the text as JSON (its issues 6544 and
// 7906); Copilot's command line cuts after 10 KB.
var cutters = map[string]shown{"codex": {10_000, 256}, "copilot-cli": {bytes: 10_000}, "github-copilot-cli": {bytes: 10_000}}

// clientShows returns how much of an answer the client passes to its model. The result is false
// if there is no limit.
func (c *call) clientShows() (shown, bool) {
	name := strings.ToLower(c.client.Name)
	for client, s := range cutters {
		if c.d.receipts && strings.HasPrefix(name, client) {
			return s, true
		}
	}
	return shown{}, false
}

// clientRoom returns how many bytes the client passes to its model; 0 means all.
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

// tooLong reports whether the client would cut the answer. share is the fraction of the
// current room that may make it fit: line lengths and the JSON overhead are known only
// once the text is complete.
func (c *call) tooLong(a *answer) (share float64, cut bool) {
	s, ok := c.clientShows()
	if !ok {
		return 0, false
	}
	over := float64(jsonLength(a.text)+receiptLength(a.receipt)) / float64(s.bytes)
	if s.lines > 0 {
		over = max(over, float64(bytes.Count(a.text, []byte("\n"))+2)/float64(s.lines)) // the receipt is one more line
	}
	if over <= 1 {
		return 0, false
	}
	given := 1.0
	if c.narrow > 0 {
		given = c.narrow
	}
	// The answer may not have used all of its room.
	given = min(given, float64(len(a.text)+receiptRoom)/float64(s.bytes))
	return given / over * 0.95, true
}

func receiptLength(parts []string) (n int) {
	for _, p := range parts {
		n += len(p) + len("; ")
	}
	return n + len(`\n[]`)
}

// jsonLength returns the length of a text as a JSON string.
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

// room returns how many bytes the text of an answer may have: the caller's limit or else
// the dialect's, but never more than the client passes on.
func (c *call) room() int {
	room := c.o.Budget
	if n := c.Int("budget"); n > 0 {
		room = n * tokenBytes
	}
	if shown := c.clientRoom(); shown > 0 {
		room = min(room, shown)
	}
	return room / max(c.sharing, 1)
}
