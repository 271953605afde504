package change

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// What a caller says about a change is kept in so many characters.
const (
	MaxSummary = 300
	MaxName    = 100 // of a client or a tool
)

// OneLine is a caller's text as it is kept: one line of at most max characters.
// What is cut says so.
func OneLine(text string, max int) string {
	if len(text) <= max && !strings.ContainsAny(text, "\r\n\t") {
		return text
	}
	text = strings.Join(strings.Fields(text), " ")
	count := utf8.RuneCountInString(text)
	if count <= max {
		return text
	}
	end := 0
	for range max {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return fmt.Sprintf("%s… [cut: %d characters]", text[:end], count)
}

// OneLine is the client with short names.
func (c Client) OneLine() Client {
	return Client{Name: OneLine(c.Name, MaxName), Version: OneLine(c.Version, MaxName), Session: OneLine(c.Session, MaxName)}
}
