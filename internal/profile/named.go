package profile

import (
	"context"
	"fmt"
	"strings"

	"quarry/change"
	"quarry/internal/value"
	"quarry/search"
	"quarry/tool"
)

// replacesNamed reports whether a change gives only a new text and a path that ends in the
// name of a definition, such as a.go#Store.Open.
func (c *call) replacesNamed(one tool.Args) bool {
	if !c.d.spellings || !one.Given("new_text") || !strings.Contains(one.String("path"), "#") {
		return false
	}
	for _, other := range []string{"old_text", "start_line", "edits", "insert_after_line", "insert_before_line", "delete_lines", "content", "move_to", "at"} {
		if one.Given(other) {
			return false
		}
	}
	return true
}

// namedEdit returns an edit that replaces the definition named after a path, and the
// version of the file in which it was found. The comment and annotations above the
// definition are kept unless the new text brings its own. ok is false if the path doesn't
// name exactly one definition.
func (c *call) namedEdit(ctx context.Context, given, text string) (path string, e change.Edit, version string, ok bool, err error) {
	parts := c.partsOf(ctx, given)
	if len(parts) != 1 || parts[0].symbol == "" || value.FormatOf(parts[0].path) != value.None {
		return "", e, "", false, nil
	}
	path = parts[0].path
	q := search.SymbolQuery{Name: parts[0].symbol, Scope: search.Scope{Paths: []string{path}, IncludeHidden: true, IncludeIgnored: true}, Limit: 20}
	found, err := c.ws.Symbols(ctx, q)
	if err != nil {
		return path, e, "", false, err
	}
	switch len(found.Symbols) {
	case 0:
		_, _, err := c.symbolLinesOf(ctx, path, parts[0].symbol)
		return path, e, "", false, err // the error lists the existing names
	case 1:
	default:
		var lines []string
		for _, s := range found.Symbols {
			lines = append(lines, fmt.Sprintf("%d %s", s.Line, strings.TrimPrefix(s.Container+"."+s.Name, ".")))
		}
		return path, e, "", false, invalid("%s defines %s several times: line %s. Name it with its type, or give old_text.", quoted(path), quoted(parts[0].symbol), strings.Join(lines, ", "))
	}
	s := found.Symbols[0]
	t, err := c.ws.Read(ctx, path, &search.ReadOptions{Start: s.StartLine, End: s.EndLine})
	if err != nil {
		return path, e, "", false, err
	}
	first := s.StartLine + kept(t.Lines[:max(min(s.Line-s.StartLine, len(t.Lines)), 0)], text)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return path, change.Edit{Verb: change.ReplaceLines, First: first, Last: s.EndLine, New: text}, t.Version, true, nil
}

// kept counts the lines above a definition that are kept when its text is replaced.
func kept(above []string, text string) (n int) {
	inside := false // in a block comment
	for _, line := range above {
		if !inside && (!isAbove(line) || isAbove(text) && (isComment(text) || !isComment(line))) {
			break
		}
		if opens := strings.LastIndex(line, "/*"); opens >= 0 || inside {
			inside = !strings.Contains(line[max(opens, 0):], "*/")
		}
		n++
	}
	return n
}

// isComment reports whether a line starts with a comment.
func isComment(line string) bool {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"//", "/*", "*", "--", ";;", "{-"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "#[")
}

// isAbove reports whether a line is a comment or an annotation that may precede a
// definition.
func isAbove(line string) bool {
	trimmed := strings.TrimSpace(line)
	return isComment(line) || strings.HasPrefix(trimmed, "@") || strings.HasPrefix(trimmed, "#[") || strings.HasPrefix(trimmed, "[[")
}
