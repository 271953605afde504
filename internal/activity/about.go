package activity

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"quarry/change"
)

// telling are the arguments that say what a call is about, the most telling first.
// Texts of files are not among them.
var telling = []string{"path", "file", "from", "source", "to", "destination", "new_path", "query", "regex", "pattern", "text", "glob", "file_pattern", "name", "symbol", "id", "paths", "summary"}

const (
	maxValue = 80
	maxAbout = 160
)

// closedText stands for what is not named.
const closedText = "(closed)"

// About is what a call is about, in a line: some of its arguments, cut. closed says
// whether a path is closed to agents; what names one is left out.
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

// names reports whether a text names something that is closed: as a whole, or as one
// of its words.
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
