package render

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendName appends a path so that it can't forge a line or control a terminal: control and
// bidirectional characters and bytes that aren't UTF-8 become escapes.
func AppendName(dst []byte, path string) []byte {
	if plainName(path) {
		return append(dst, path...)
	}
	for len(path) > 0 {
		r, size := utf8.DecodeRuneInString(path)
		switch {
		case r == utf8.RuneError && size <= 1, r < 0x20, r == 0x7f:
			dst = append(dst, '\\', 'x', hexDigits[path[0]>>4], hexDigits[path[0]&15])
		case tricky(r):
			dst = append(dst, `\u{`...)
			dst = strconv.AppendInt(dst, int64(r), 16)
			dst = append(dst, '}')
		default:
			dst = append(dst, path[:size]...)
		}
		path = path[size:]
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// Name returns the result of AppendName as a string.
func Name(path string) string {
	if plainName(path) {
		return path
	}
	return string(AppendName(nil, path))
}

func plainName(path string) bool {
	for i, r := range path {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(path[i:]); size <= 1 {
				return false
			}
		}
		if r < 0x20 || r == 0x7f || tricky(r) {
			return false
		}
	}
	return true
}

// tricky reports whether a character changes how text around it is displayed: C1 controls,
// line separators, bidirectional marks, tags and the byte order mark.
func tricky(r rune) bool {
	return 0x80 <= r && r < 0xa0 ||
		r == 0x61c || 0x200e <= r && r <= 0x200f || 0x2028 <= r && r <= 0x202e ||
		0x2066 <= r && r <= 0x2069 || 0xe0000 <= r && r <= 0xe007f || r == 0xfeff
}

// base64Prefix marks a path encoded as base64.
const base64Prefix = "base64:"

// Path returns a path for a tool's answer: literally, or as base64 if it can't be printed.
// Different paths always have different results. ParseName decodes them.
func Path(path string) string {
	if encoded := EncodedName(path); encoded != "" {
		return encoded
	}
	return path
}

// AppendPath appends the result of Path.
func AppendPath(dst []byte, path string) []byte { return append(dst, Path(path)...) }

// EncodedName returns a path as base64 if its printed form differs from it or would be
// decoded as another path; otherwise it returns "". ParseName decodes the result.
func EncodedName(path string) string {
	if plainName(path) && ParseName(path) == path {
		return ""
	}
	return base64Prefix + base64.StdEncoding.EncodeToString([]byte(path))
}

// ParseName decodes a result of EncodedName. Other paths are returned unchanged.
func ParseName(s string) string {
	rest, ok := strings.CutPrefix(s, base64Prefix)
	if !ok {
		return s
	}
	b, err := base64.StdEncoding.DecodeString(rest)
	if err != nil || EncodedName(string(b)) != s {
		return s // there may be a file with this name
	}
	return string(b)
}

// namedSecrets limits the number of closed files named in an answer, and secretRoom the
// length of their names.
const namedSecrets, secretRoom = 3, 120

// Protected counts the files that the policy closed. It names the first of those whose names
// suggest secrets, so that readers can tell whether they matter: "3 protected: a.key, b.pem,
// …".
func Protected(n int, secrets []string) string {
	text := strconv.Itoa(n) + " protected"
	if len(secrets) == 0 {
		return text
	}
	names, size := []string{}, 0
	for _, name := range secrets {
		name = Path(name)
		if size += len(name) + 2; len(names) == namedSecrets || size > secretRoom && len(names) > 0 {
			break
		}
		names = append(names, name)
	}
	if len(names) < n {
		names = append(names, "…")
	}
	return text + ": " + strings.Join(names, ", ")
}
