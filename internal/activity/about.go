package activity

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"quarry/change"
)

// telling lists the arguments that describe a call, the most telling first. File contents
// are not among them.
var telling = []string{"path", "file", "from", "source", "to", "destination", "new_path", "query", "regex", "pattern", "text", "glob", "file_pattern", "name", "symbol", "id", "paths", "summary"}

const (
	maxValue = 80
	maxAbout = 160
)

// closedText replaces the name of a closed file.
const closedText = "(closed)"

// About describes a call in one line by some of its arguments, clipped. closed reports
// whether a path is closed to agents; arguments that name one are replaced.
func About(args json.RawMessage, closed func(path string) bool) string {
	var given map[string]any
	if json.Unmarshal(args, &given) != nil {
		return ""
	}
	var parts []string
	for _, name := range telling {
		text := ""
		switch v := given[name].(type) {
		case string:
			text = v
		case []any:
			for i, one := range v {
				if s, ok := one.(string); ok && i < 5 {
					text += " " + s
				}
			}
		}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if names(text, closed) {
			text = closedText
		}
		parts = append(parts, cut(change.OneLine(text, 4*maxValue), maxValue))
		if len(parts) == 3 {
			break
		}
	}
	if list, ok := given["changes"].([]any); ok {
		parts = append(parts, fmt.Sprintf("%d changes", len(list)))
	}
	return cut(strings.Join(parts, " · "), maxAbout)
}

// names reports whether a text names something closed, as a whole or as one of its words.
func names(text string, closed func(string) bool) bool {
	if closed == nil {
		return false
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`,;|(){}[]<>=:", r) })
	if len(words) != 1 || words[0] != text {
		words = append(words, text)
	}
	for _, w := range words {
		w = strings.Trim(strings.TrimPrefix(strings.ReplaceAll(w, `\`, "/"), "./"), "/*^$!")
		if w != "" && closed(w) {
			return true
		}
	}
	return false
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}
