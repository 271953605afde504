package changer

import (
	"context"
	"testing"

	"quarry/change"
)

// Text that overwrites a file is converted to its encoding, byte order mark and line
// ending; bytes are written unchanged.
func TestWriteText(t *testing.T) {
	utf16 := func(s string) string {
		out := "\xff\xfe"
		for _, r := range s {
			out += string([]byte{byte(r), byte(r >> 8)})
		}
		return out
	}
	for _, c := range []struct {
		name, old, text string
		bytes           bool
		want, kept      string
	}{
		{"plain", "a\nb\n", "c\nd\n", false, "c\nd\n", ""},
		{"CRLF", "a\r\nb\r\n", "c\nd\n", false, "c\r\nd\r\n", "CRLF"},
		{"CRLF given", "a\r\nb\r\n", "c\nd\r\n", false, "c\nd\r\n", ""},
		{"CRLF given for LF", "a\nb\n", "c\r\nd\r\n", false, "c\r\nd\r\n", ""},
		{"CRLF as bytes", "a\r\nb\r\n", "c\nd\n", true, "c\nd\n", ""},
		{"more CRLF than LF", "a\r\nb\r\nc\n", "d\n", false, "d\r\n", "CRLF"},
		{"no line ending", "a\r\nb\r\n", "c", false, "c", ""},
		{"byte order mark", "\ufeffa\n", "ä\n", false, "\ufeffä\n", "utf-8-bom"},
		{"byte order mark given", "\ufeffa\n", "\ufeffb\n", false, "\ufeffb\n", ""},
		{"UTF-16", utf16("a\r\nb\r\n"), "ä\nd\n", false, utf16("ä\r\nd\r\n"), "CRLF and utf-16le"},
		{"Windows-1252", "caf\xe9 x\n", "th\u00e9\n", false, "th\xe9\n", "windows-1252"},
		{"Windows-1252 can't hold it", "caf\xe9 x\n", "\u4e2d\n", false, "", ""},
		{"empty file", "", "ä\n", false, "ä\n", ""},
		{"binary file", "a\x00\r\n", "b\n", false, "b\n", ""},
		{"bytes given", "a\r\n", "\xff\xfeb\x00\n\x00", false, "\xff\xfeb\x00\n\x00", ""},
	} {
		w := changing(t, map[string]string{"f": c.old})
		ch, err := w.Apply(context.Background(), change.Set{Ops: []change.Op{{Verb: change.WriteFile, Path: "f", Content: []byte(c.text), Text: !c.bytes}}})
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%s: written", c.name)
		case c.want == "" && text(t, w, "f") != c.old:
			t.Errorf("%s: refused and changed", c.name)
		case c.want == "":
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case text(t, w, "f") != c.want || ch.Kept != c.kept || len(ch.Files) != 1 || ch.Files[0].Kept != c.kept:
			t.Errorf("%s: %q, kept %q, %+v; want %q, kept %q", c.name, text(t, w, "f"), ch.Kept, ch.Files, c.want, c.kept)
		}
	}
}
