package value

import (
	"bytes"

	"quarry/internal/splice"
)

// bracketed is a list or a map in brackets, as in JSON, TOML and YAML's flow style. Its parts
// are separated by commas.
type bracketed struct {
	text    []byte
	span    splice.Span   // including the brackets
	parts   []splice.Span // of keys with their values, or of items
	comment comments
	eol     string
}

// comments is the comment syntax of a format.
type comments uint8

const (
	slashes comments = iota // // to the end of the line, or /* */
	hashes                  // # to the end of the line
)

// comment returns the length of the comment at the start of s, without its line ending, or 0
// if there is none.
func (c comments) comment(s []byte) int {
	rest := func() int {
		if n := bytes.IndexAny(s, "\r\n"); n >= 0 {
			return n
		}
		return len(s)
	}
	switch {
	case len(s) == 0:
	case c == hashes && s[0] == '#', c == slashes && bytes.HasPrefix(s, []byte("//")):
		return rest()
	case c == slashes && bytes.HasPrefix(s, []byte("/*")):
		if n := bytes.Index(s[2:], []byte("*/")); n >= 0 {
			return n + 4
		}
		return len(s)
	}
	return 0
}

// skip returns the offset of the first byte, at or after at, that is neither white space nor
// part of a comment.
func (c comments) skip(text []byte, at int) int {
	for at < len(text) {
		switch n := c.comment(text[at:]); {
		case n > 0:
			at += n
		case text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n':
			at++
		default:
			return at
		}
	}
	return at
}

// blanksAndComments returns the length of the blanks and comments at the start of s, at most
// to the end of the line. Blanks before other text are not counted.
func (c comments) blanksAndComments(s []byte) int {
	i, kept := 0, 0
	for i < len(s) {
		switch n := c.comment(s[i:]); {
		case n > 0:
			i += n
			kept = i
		case s[i] == ' ' || s[i] == '\t':
			i++
		case s[i] == '\r' || s[i] == '\n':
			return i
		default:
			return kept
		}
	}
	return i
}

// commaAfter returns the offset after the comma that follows part i, or 0 if there is none.
func (b *bracketed) commaAfter(i int) int {
	if at := b.comment.skip(b.text, b.parts[i].End); at < b.span.End && b.text[at] == ',' {
		return at + 1
	}
	return 0
}

func (b *bracketed) oneLine() bool { return bytes.IndexByte(b.span.In(b.text), '\n') < 0 }

// add appends a part. If lined is set, the part gets its own line with this indent. Otherwise
// it is added to the line of the previous part.
func (b *bracketed) add(part, indent string, lined bool) []splice.Splice {
	closing := b.span.End - 1
	outer, _ := lineIndent(b.text, b.span.Start)
	if len(b.parts) == 0 {
		inner := b.text[b.span.Start+1 : closing]
		kept := len(bytes.TrimRight(inner, " \t\r\n"))
		if !lined {
			if kept > 0 {
				part = " " + part
			}
			return []splice.Splice{{Span: splice.Span{Start: b.span.Start + 1 + kept, End: closing}, New: part}}
		}
		return []splice.Splice{{Span: splice.Span{Start: b.span.Start + 1 + kept, End: closing}, New: b.eol + indent + part + b.eol + outer}}
	}
	last := b.parts[len(b.parts)-1].End
	at, after := last, ""
	var out []splice.Splice
	if comma := b.commaAfter(len(b.parts) - 1); comma > 0 {
		at, after = comma, ","
		if !lined {
			after = ""
		}
	} else {
		out = append(out, splice.Splice{Span: splice.Span{Start: last, End: last}, New: ","})
	}
	if !lined {
		if n := b.comment.blanksAndComments(b.text[at:closing]); bytes.ContainsAny(b.text[at:at+n], "#/") {
			at += n
		}
		return append(out, splice.Splice{Span: splice.Span{Start: at, End: at}, New: b.gap() + part + after})
	}
	at += b.comment.blanksAndComments(b.text[at:closing])
	if at == closing {
		after += b.eol + outer
	}
	return append(out, splice.Splice{Span: splice.Span{Start: at, End: at}, New: b.eol + indent + part + after})
}

// gap returns the white space to write between a comma and the following part.
func (b *bracketed) gap() string {
	if len(b.parts) > 1 {
		if comma := b.commaAfter(0); comma > 0 && comma == b.parts[1].Start {
			return ""
		}
	}
	return " "
}

// remove removes part i, together with its lines if these contain nothing else. For the last
// part, it removes the preceding comma too.
func (b *bracketed) remove(i int) []splice.Splice {
	from, to := b.parts[i].Start, b.parts[i].End
	comma := b.commaAfter(i)
	if comma > 0 {
		to = comma
	}
	indent, alone := lineIndent(b.text, from)
	rest := b.text[to : b.span.End-1]
	n := b.comment.blanksAndComments(rest)
	switch {
	case alone && n < len(rest) && (rest[n] == '\n' || rest[n] == '\r'):
		from -= len(indent)
		if to += n; b.text[to] == '\r' {
			to++
		}
		if b.text[to] == '\n' {
			to++
		}
	case alone: // other parts follow on its last line
		to += n
		from -= len(indent)
		if i+1 < len(b.parts) {
			from += len(indent)
			to = b.blanks(to)
		}
	case comma > 0 && i > 0: // remove the blank before the part, and keep the ones after the comma
		for b.text[from-1] == ' ' || b.text[from-1] == '\t' {
			from--
		}
	case comma > 0 && i+1 < len(b.parts):
		to = b.blanks(to)
	}
	out := []splice.Splice{{Span: splice.Span{Start: from, End: to}}}
	if i > 0 && comma == 0 {
		if last := b.commaAfter(i - 1); last > 0 {
			if between := b.text[last:from]; !alone && len(bytes.TrimLeft(between, " \t")) == 0 {
				out[0].Start = last
			}
			out = append([]splice.Splice{{Span: splice.Span{Start: last - 1, End: last}}}, out...)
		}
	}
	return out
}

func (b *bracketed) blanks(at int) int {
	for b.text[at] == ' ' || b.text[at] == '\t' {
		at++
	}
	return at
}

// lineIndent returns the white space at the start of the line at offset. alone reports whether
// only white space precedes offset on the line.
func lineIndent(text []byte, offset int) (indent string, alone bool) {
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	line := text[start:offset]
	n := len(line) - len(bytes.TrimLeft(line, " \t"))
	return string(line[:n]), n == len(line) && start > 0
}
