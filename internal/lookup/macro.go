package lookup

import (
	"bytes"

	"quarry/internal/symbols"
	"quarry/search"
)

// Headers with register definitions have up to 3 MB of macros, and a name may be defined
// in ten of them. Finding a definition by parsing takes 30 ms per header. So in a text of
// at least largeText bytes a macro is found by its line, and only the lines around it are
// parsed.
const largeText = 128 << 10

// describeMacro completes a macro in a large text, if exactly one line defines it.
func describeMacro(path string, data []byte, want *search.Symbol, text bool) bool {
	if len(data) < largeText || want.Kind != symbols.Macro.String() || want.Line != 1 {
		return false
	}
	at := -1
	for i := 0; ; {
		n := bytes.Index(data[i:], []byte(want.Name))
		if n < 0 {
			break
		}
		if i += n; definesMacro(data, i, len(want.Name)) {
			if at >= 0 {
				return false
			}
			at = i
		}
		i += len(want.Name)
	}
	if at < 0 {
		return false
	}
	e := &enclosing{path: path}
	e.set(data)
	first, last := e.stretch(bytes.Count(data[:at], newline))
	from := e.start(first)
	part := data[from:e.start(last)]
	lines := newLines(part)
	for _, s := range symbols.Of(path, part) {
		if s.Name != want.Name || s.Kind != symbols.Macro || s.NameAt != at-from {
			continue
		}
		score := want.Score
		*want = symbolOf(&s, path, part, lines.count())
		if text {
			want.Text = lines.text(want.StartLine, want.EndLine)
		}
		want.Score, want.Line, want.StartLine, want.EndLine = score, want.Line+first, want.StartLine+first, want.EndLine+first
		return true
	}
	return false
}

// definesMacro reports whether the name at offset at follows #define.
func definesMacro(data []byte, at, size int) bool {
	if end := at + size; end < len(data) && wordByte(data[end]) {
		return false
	}
	line := bytes.TrimLeft(data[bytes.LastIndexByte(data[:at], '\n')+1:at], " \t")
	rest, ok := bytes.CutPrefix(line, []byte("#"))
	if !ok {
		return false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte("define"))
	return ok && len(rest) > 0 && len(bytes.TrimLeft(rest, " \t")) == 0
}

func wordByte(c byte) bool {
	return c >= 0x80 || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
