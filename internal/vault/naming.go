package vault

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	maxHeadingName = 100 // in characters, if the name is taken from a heading
	maxLineName    = 50  // in characters, if the name is taken from the first line
	// maxNameBytes leaves room for ".md" and a counter in the 255 bytes that file systems
	// allow. It matters for Chinese titles, with three bytes per character.
	maxNameBytes = 240
)

// NoteName returns the vault path of a new note: the requested path or else a name made
// from the title, the first level 1 heading, the first line of text, or the time:
// Note-<milliseconds>. Headings and lines in front matter and code blocks don't count. A
// path keeps its folders. In a name made from text, characters that are invalid in file
// names or links become "-", and leading dots are removed. ".md" is added if it is
// missing. A path that ends in "/" only selects the folder.
func NoteName(path, title, content string, now time.Time) string {
	isFolder := strings.HasSuffix(path, "/")
	path = strings.Trim(path, "/")
	switch {
	case strings.TrimSpace(path) == "":
	case isFolder && !isNote(path):
		return path + "/" + nameFor(title, content, now)
	default:
		return withMD(path)
	}
	return nameFor(title, content, now)
}

// nameFor returns a name for a note if no path was requested.
func nameFor(title, content string, now time.Time) string {
	if name := NameIn(title, content); name != "" {
		return withMD(name)
	}
	return fmt.Sprintf("Note-%d.md", now.UnixMilli())
}

// NameIn returns a name made from a title, or else from the first heading or line of
// content. It returns "" if there is none.
func NameIn(title, content string) string {
	text := []byte(content)
	// Only the beginning can contain it. A text this short needs no context.
	top, err := Scan(context.Background(), text[:min(len(text), checkEvery)])
	if err != nil {
		top = &Note{}
	}
	for _, name := range []string{
		cleanName(title, maxNameBytes),
		cleanName(top.Title(), maxHeadingName),
		cleanName(firstLine(text), maxLineName),
	} {
		if name != "" {
			return name
		}
	}
	return ""
}

func withMD(name string) string {
	if isNote(name) {
		return name
	}
	return name + ".md"
}

// cleanName makes a file name of at most limit characters from s. It returns "" if no
// letter or digit remains.
func cleanName(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`\/:*?"<>|#^[]`, r):
			return '-'
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
	s = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(s), "."))
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit])
	}
	for len(s) > maxNameBytes {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	s = strings.TrimRight(s, " .")
	if strings.Trim(s, "- ") == "" {
		return ""
	}
	return s
}

// firstLine returns the first line of prose, without the markers of headings, quotes and
// lists.
func firstLine(text []byte) string {
	var open fence
	for at := FindFrontMatter(text).Body; at < len(text); {
		end, next := lineEnd(text, at)
		line := bytes.TrimSpace(text[at:end])
		at = next
		if len(line) == 0 {
			continue
		}
		if open.size > 0 {
			if countByte(line, open.char) == len(line) && len(line) >= open.size {
				open = fence{}
			}
			continue
		}
		if f, ok := openFence(line); ok {
			open = f
			continue
		}
		if isThematicBreak(line) {
			continue
		}
		if s := stripMarkers(line); s != "" {
			return s
		}
	}
	return ""
}

func stripMarkers(line []byte) string {
	for {
		before := len(line)
		if len(line) > 0 && line[0] == '>' {
			line = line[1:]
		} else if n := countByte(line, '#'); n > 0 && n <= 6 && (n == len(line) || isBlank(line[n])) {
			line = line[n:]
		} else if len(line) > 1 && listMarker(line, true) == 1 {
			line = line[1:]
		}
		line = bytes.TrimSpace(line)
		if bytes.HasPrefix(line, []byte("[ ] ")) || bytes.HasPrefix(line, []byte("[x] ")) {
			line = line[4:]
		}
		if len(line) == before || len(line) == 0 {
			return string(line)
		}
	}
}

// Prepend returns the splice that inserts content at the top of a note, after the front
// matter. The content becomes separate lines with the note's line ending.
func Prepend(text []byte, content string) Splice {
	fm := FindFrontMatter(text)
	eol := lineEnding(text)
	content = strings.ReplaceAll(strings.ReplaceAll(content, "\r\n", "\n"), "\n", eol)
	if content != "" && !strings.HasSuffix(content, "\n") && (fm.Body < len(text) || fm.Found) {
		content += eol
	}
	if fm.Found && text[fm.Body-1] != '\n' && content != "" {
		content = eol + content
	}
	return Splice{Span: Span{Start: fm.Body, End: fm.Body}, New: content}
}
