// Package check reports whether a change broke the syntax of a file. It does not report doubtful
// cases, because a false alarm is worse than a missed error.
package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"slices"
	"strings"

	"quarry/internal/symbols"
	"quarry/internal/value"
)

// MaxSize is the size of the largest text that is checked. YAML has a lower limit because it takes
// ten times as long.
const (
	MaxSize = 1 << 20
	maxYAML = 64 << 10
)

// Broken compares the syntax of a file before and after a change. problem is "" unless the text
// before is valid and the text after is not.
func Broken(name string, before, after []byte) (line int, problem string) {
	if len(after) > MaxSize || len(before) > MaxSize || bytes.Equal(before, after) || len(bytes.TrimSpace(before)) == 0 {
		return 0, ""
	}
	line, problem = Syntax(name, after)
	if problem == "" {
		return 0, ""
	}
	if _, old := Syntax(name, before); old != "" {
		return 0, ""
	}
	return line, problem
}

// Syntax returns the first syntax error of a text. problem is "" if there is none, or if the
// language is unknown.
func Syntax(name string, text []byte) (line int, problem string) {
	if path.Ext(name) == ".go" {
		return goError(text)
	}
	switch format := value.FormatOf(name); format {
	case value.JSON:
		return jsonError(name, text)
	case value.YAML, value.TOML:
		if format == value.YAML && len(text) > maxYAML {
			return 0, ""
		}
		_, err := value.Parse(format, text)
		var bad *value.SyntaxError
		if errors.As(err, &bad) && bad.Line > 0 && !bad.Ours {
			return bad.Line, bad.Problem
		}
		return 0, ""
	}
	return symbols.Unclosed(name, text)
}

func goError(text []byte) (line int, problem string) {
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return list[0].Pos.Line, list[0].Msg
	}
	return 0, ""
}

// jsonError returns the first error of a JSON text. It accepts comments and trailing commas in
// files whose readers accept them.
func jsonError(name string, text []byte) (line int, problem string) {
	if relaxed(name) {
		_, err := value.Parse(value.JSON, text)
		var bad *value.SyntaxError
		if errors.As(err, &bad) {
			return bad.Line, bad.Problem
		}
		return 0, ""
	}
	var raw json.RawMessage
	err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &raw)
	var bad *json.SyntaxError
	if !errors.As(err, &bad) {
		return 0, ""
	}
	if comment := bytes.Contains(text, []byte("//")) || bytes.Contains(text, []byte("/*")); comment {
		if _, err := value.Parse(value.JSON, text); err == nil {
			return 0, "" // since the file has comments already, its reader accepts them
		}
	}
	at := min(max(int(bad.Offset), 0), len(text))
	return 1 + bytes.Count(text[:at], []byte("\n")), bad.Error()
}

// relaxed reports whether a JSON file with this name may contain comments.
func relaxed(name string) bool {
	base := strings.ToLower(path.Base(name))
	return !slices.Contains([]string{".json", ".ipynb", ".webmanifest", ".geojson"}, path.Ext(base)) || strings.Contains(name, ".vscode/") || strings.HasPrefix(base, ".") ||
		slices.ContainsFunc([]string{"tsconfig", "jsconfig", "devcontainer", "api-extractor", "settings", "language-configuration", "keybindings"},
			func(s string) bool { return strings.Contains(base, s) })
}
