// Package colour finds keywords, strings, comments and similar pieces of a source text by the
// lexical rules of its language.
//
// The pieces cover the text in order and without gaps. There is no grammar: a word is classified by
// its spelling and the byte after it. That is good enough for reading, and takes linear time. No
// table is built before a language is first requested, so commands without colours have no cost.
package colour

import (
	"path"
	"strings"
	"sync"
)

// Class is the kind of a piece, which the style sheet maps to a colour.
type Class byte

const (
	Plain    Class = 0
	Keyword  Class = 'k'
	String   Class = 's'
	Comment  Class = 'c'
	Function Class = 'f'
	Number   Class = 'n' // also attributes and variables
	Type     Class = 't'
)

// Language holds the lexical rules of a language.
type Language struct {
	Name string // for display

	line    []string    // begin a comment that ends with the line
	block   [][2]string // begin and end of comments
	nested  bool        // block comments can be nested
	quotes  []quote
	words   map[string]Class
	fold    bool // keywords may be in any letter case
	ident   string
	capital Class // class of words that begin with a capital letter
	calls   bool  // a word before ( is a function
	sigil   string
	at      bool // @word is a function
	hash    bool // #word at the start of a line is a keyword
	keys    string

	whole func(text string, yield func(n int, c Class))
}

// quote describes one kind of string.
type quote struct {
	open, close string
	raw         bool // there are no escapes
	lines       bool // may extend over several lines
	letter      bool // must contain one character: 'a' is not Rust's lifetime 'a
}

// For returns the language for a file name; nil if it is unknown.
func For(name string) *Language {
	base := strings.ToLower(path.Base(name))
	table := byName()
	if l := table[base]; l != nil {
		return l
	}
	for {
		_, ext, ok := strings.Cut(base, ".")
		if !ok {
			return nil
		}
		if l := table["."+ext]; l != nil {
			return l
		}
		base = ext
	}
}

var byName = sync.OnceValue(func() map[string]*Language {
	table := map[string]*Language{}
	for _, e := range languages() {
		l := e.language()
		for _, name := range strings.Fields(e.Files) {
			table[name] = l
		}
	}
	return table
})

// Each calls yield with each piece of text and its class, until yield returns false.
func (l *Language) Each(text string, yield func(piece string, c Class) bool) {
	going, at, class, from := true, 0, Plain, 0
	add := func(n int, c Class) {
		if !going || n == 0 {
			return
		}
		if c != class && at > from {
			going = yield(text[from:at], class)
			from = at
		}
		class = c
		at += n
	}
	if l.whole != nil {
		l.whole(text, add)
	} else {
		s := scanner{l: l, text: text, add: add, lineStart: true}
		for s.pos < len(text) && going {
			s.next()
		}
	}
	if going && at > from {
		yield(text[from:at], class)
	}
}

// scanner holds the position in a text and the state there.
type scanner struct {
	l         *Language
	text      string
	pos       int
	lineStart bool // only white space precedes in this line
	add       func(n int, c Class)
}

func (s *scanner) take(n int, c Class) {
	s.add(n, c)
	s.pos += n
}

// next scans one token.
func (s *scanner) next() {
	rest := s.text[s.pos:]
	c := rest[0]
	start := s.lineStart
	switch c {
	case '\n':
		s.take(1, Plain)
		s.lineStart = true
		return
	case ' ', '\t', '\r':
		s.take(1, Plain)
		return
	}
	s.lineStart = false
	switch {
	case s.comment(rest), s.quoted(rest):
	case start && s.l.hash && c == '#':
		s.take(1+wordLen(strings.TrimLeft(rest[1:], " \t"), "")+len(rest[1:])-len(strings.TrimLeft(rest[1:], " \t")), Keyword)
	case s.l.at && c == '@' && wordLen(rest[1:], "") > 0:
		s.take(1+wordLen(rest[1:], "."), Function)
	case strings.IndexByte(s.l.sigil, c) >= 0 && wordLen(rest[1:], "") > 0:
		s.take(1+wordLen(rest[1:], ""), Number)
	case c >= '0' && c <= '9':
		s.take(wordLen(rest, "."), Number)
	case wordLen(rest, s.l.ident) > 0:
		s.word(rest, start)
	default:
		s.take(1, Plain)
	}
}

func (s *scanner) comment(rest string) bool {
	for _, b := range s.l.block {
		if strings.HasPrefix(rest, b[0]) {
			s.take(s.blockLen(rest, b), Comment)
			return true
		}
	}
	for _, p := range s.l.line {
		if !strings.HasPrefix(rest, p) {
			continue
		}
		if p == "#" && s.pos > 0 && !blank(s.text[s.pos-1]) {
			continue // not a comment, as in $# and a#b
		}
		s.take(lineLen(rest), Comment)
		return true
	}
	return false
}

func (s *scanner) blockLen(rest string, b [2]string) int {
	depth := 0
	for i := 0; i < len(rest); {
		switch {
		case strings.HasPrefix(rest[i:], b[1]) && i > 0:
			i += len(b[1])
			if depth--; depth <= 0 {
				return i
			}
		case strings.HasPrefix(rest[i:], b[0]) && (depth == 0 || s.l.nested):
			depth++
			i += len(b[0])
		default:
			i++
		}
	}
	return len(rest)
}

func (s *scanner) quoted(rest string) bool {
	for _, q := range s.l.quotes {
		if !strings.HasPrefix(rest, q.open) {
			continue
		}
		n, closed := q.length(rest)
		if q.letter && (!closed || !oneLetter(rest[1:n-1])) {
			continue
		}
		c := String
		if s.l.keys != "" && followedBy(rest[n:], s.l.keys) {
			c = Keyword
		}
		s.take(n, c)
		return true
	}
	return false
}

func (q *quote) length(rest string) (n int, closed bool) {
	i := len(q.open)
	for i < len(rest) {
		switch {
		case rest[i] == '\\' && !q.raw && i+1 < len(rest) && rest[i+1] != '\n':
			i += 2
			continue
		case strings.HasPrefix(rest[i:], q.close):
			return i + len(q.close), true
		case rest[i] == '\n' && !q.lines:
			return i, false
		}
		i++
	}
	return len(rest), false
}

// oneLetter reports whether s can be the content of a character literal.
func oneLetter(s string) bool {
	return strings.HasPrefix(s, `\`) || len([]rune(s)) == 1
}

func (s *scanner) word(rest string, start bool) {
	n := wordLen(rest, s.l.ident)
	word := rest[:n]
	if s.l.fold {
		word = strings.ToLower(word)
	}
	c, known := s.l.words[word]
	switch {
	case known:
	case start && s.l.keys != "" && followedBy(rest[n:], s.l.keys):
		c = Keyword
	case s.l.calls && n < len(rest) && rest[n] == '(':
		c = Function
	case s.l.capital != 0 && word[0] >= 'A' && word[0] <= 'Z':
		c = s.l.capital
	}
	s.take(n, c)
}

// followedBy reports whether rest begins with one of marks, after optional blanks.
func followedBy(rest, marks string) bool {
	rest = strings.TrimLeft(rest, " \t")
	return rest != "" && strings.IndexByte(marks, rest[0]) >= 0
}

func blank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ';' || c == '('
}

func lineLen(rest string) int {
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		return i
	}
	return len(rest)
}

// wordLen returns the length of the word at the start of s. The bytes in more are allowed after the
// first byte.
func wordLen(s, more string) int {
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 || c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || i > 0 && strings.IndexByte(more, c) >= 0 {
			continue
		}
		return i
	}
	return len(s)
}
