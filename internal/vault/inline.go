package vault

import (
	"bytes"
	"context"
	"unicode"
	"unicode/utf8"
)

// inlineScanner finds links, tags and block ids in one paragraph. It makes one pass from
// left to right; the construct that starts first wins, and one that isn't closed is text.
// Every search for a closer is cached, so even a paragraph full of openers takes linear
// time (TestScanIsLinear).
type inlineScanner struct {
	p     []byte
	off   int // offset of p in the note
	i     int
	note  *Note
	refs  map[string]*Link // definitions by label, see foldLabel
	aside bool             // text of an HTML block or a comment

	brackets []bracket
	inactive int // brackets with a lower index can't become links, because links can't be nested

	bang  int           // index of the last unescaped "!", -1 if there is none
	ticks map[int][]int // starts of backtick runs by length, ascending

	wikiClose, wikiOpen, newline seeker
	dollars, commentEnd, infoEnd seeker
	dataEnd, declEnd             seeker
	mathClose                    int // no "$" before this offset may close a formula
}

type bracket struct {
	at    int
	image bool
}

// seeker caches the next occurrence of a string.
type seeker struct {
	known bool
	from  int
	at    int // len(p) if there is none
}

func (s *seeker) next(p []byte, from int, what string) int {
	if s.known && s.from <= from && from <= s.at {
		return s.at
	}
	s.known, s.from, s.at = true, from, len(p)
	if from < len(p) {
		if i := bytes.Index(p[from:], []byte(what)); i >= 0 {
			s.at = from + i
		}
	}
	return s.at
}

func (s *inlineScanner) run(ctx context.Context) {
	s.bang = -1
	check := checkEvery
	for s.i < len(s.p) {
		if s.i >= check {
			if check = s.i + checkEvery; ctx.Err() != nil {
				return
			}
		}
		switch c := s.p[s.i]; c {
		case '\\':
			s.i++
			if s.i < len(s.p) && isPunct(s.p[s.i]) {
				s.i++
			}
		case '`':
			s.codeSpan()
		case '$':
			s.math()
		case '<':
			s.angle()
		case '!':
			s.bang = s.i
			s.i++
		case '[':
			s.open()
		case ']':
			s.close()
		case '#':
			s.tag()
		case '^':
			s.blockID()
		case 'h', 'H':
			s.bareURL()
		default:
			s.i++
			for s.i < len(s.p) && !special[s.p[s.i]] {
				s.i++
			}
		}
	}
}

// special marks the bytes that may start a construct; all others are skipped.
var special = [256]bool{'\\': true, '`': true, '$': true, '<': true, '!': true, '[': true, ']': true, '#': true, '^': true, 'h': true, 'H': true}

func isPunct(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}

func (s *inlineScanner) codeSpan() {
	start, n := s.i, countByte(s.p[s.i:], '`')
	defer func() {
		if s.i > start+n && !s.aside {
			s.note.Code = append(s.note.Code, s.shift(Span{Start: start, End: s.i}))
		}
	}()
	// The closer is nearly always the next run. The table is only needed for a paragraph
	// with many runs of other lengths.
	for j, tries := s.i+n, 0; tries < 4 && s.ticks == nil; tries++ {
		k := bytes.IndexByte(s.p[j:], '`')
		if k < 0 {
			s.i += n
			return
		}
		j += k
		m := countByte(s.p[j:], '`')
		if j += m; m == n {
			s.i = j
			return
		}
	}
	if s.ticks == nil {
		s.ticks = map[int][]int{}
		for j := s.i; j < len(s.p); {
			if s.p[j] != '`' {
				j++
				continue
			}
			m := countByte(s.p[j:], '`')
			s.ticks[m] = append(s.ticks[m], j)
			j += m
		}
	}
	runs := s.ticks[n]
	for len(runs) > 0 && runs[0] <= s.i {
		runs = runs[1:]
	}
	s.ticks[n] = runs
	s.i += n
	if len(runs) > 0 {
		s.i = runs[0] + n
	}
}

func (s *inlineScanner) math() {
	if s.i+1 < len(s.p) && s.p[s.i+1] == '$' {
		s.i += 2
		if end := s.dollars.next(s.p, s.i, "$$"); end < len(s.p) {
			s.i = end + 2
		}
		return
	}
	s.i++
	if s.i >= len(s.p) || isBlank(s.p[s.i]) {
		return
	}
	if end := s.nextMathClose(s.i); end < len(s.p) {
		s.i = end + 1
	}
}

// nextMathClose finds the next "$" that may close a formula: one that doesn't follow a
// blank or a backslash, and precedes no digit (as in a price).
func (s *inlineScanner) nextMathClose(from int) int {
	j := max(from, s.mathClose)
	for ; j < len(s.p); j++ {
		if s.p[j] != '$' || j == from || isBlank(s.p[j-1]) || s.p[j-1] == '\\' {
			continue
		}
		if j+1 < len(s.p) && ('0' <= s.p[j+1] && s.p[j+1] <= '9') {
			continue
		}
		break
	}
	s.mathClose = j
	return j
}

// angle handles "<": an autolink, an HTML comment or a tag, whose attributes are not
// prose.
func (s *inlineScanner) angle() {
	rest := s.p[s.i:]
	switch {
	case bytes.HasPrefix(rest, []byte("<!-->")), bytes.HasPrefix(rest, []byte("<!--->")):
		s.i += bytes.IndexByte(rest, '>') + 1
		return
	case bytes.HasPrefix(rest, []byte("<!--")) && s.skipTo(&s.commentEnd, 4, "-->"),
		bytes.HasPrefix(rest, []byte("<?")) && s.skipTo(&s.infoEnd, 2, "?>"),
		bytes.HasPrefix(rest, []byte("<![CDATA[")) && s.skipTo(&s.dataEnd, 9, "]]>"),
		len(rest) > 2 && rest[1] == '!' && isLetter(rest[2]) && s.skipTo(&s.declEnd, 2, ">"):
		return
	}
	if n := autolink(rest); n > 0 {
		s.external(Span{Start: s.i, End: s.i + n}, Span{Start: s.i + 1, End: s.i + n - 1})
		s.i += n
		return
	}
	s.i += max(1, htmlTag(rest))
}

// skipTo moves past the next closer that begins at least after bytes further on.
func (s *inlineScanner) skipTo(k *seeker, after int, closer string) bool {
	end := k.next(s.p, s.i+after, closer)
	if end == len(s.p) {
		return false
	}
	s.i = end + len(closer)
	return true
}

// autolink returns the length of <scheme:…> at the start of s, 0 if there is none.
func autolink(s []byte) int {
	n := schemeLen(s[1:])
	if n == 0 {
		return mailAutolink(s)
	}
	for i := 1 + n; i < len(s); i++ {
		switch c := s[i]; {
		case c == '>':
			return i + 1
		case c <= ' ' || c == '<':
			return 0
		}
	}
	return 0
}

// mailAutolink returns the length of <name@host> at the start of s, 0 if there is none.
func mailAutolink(s []byte) int {
	i := 1
	for i < len(s) && (isAlnum(s[i]) || bytes.IndexByte([]byte(".!#$%&'*+/=?^_`{|}~-"), s[i]) >= 0) {
		i++
	}
	if i == 1 || i >= len(s) || s[i] != '@' {
		return 0
	}
	for {
		i++
		label := i
		for i < len(s) && (isAlnum(s[i]) || s[i] == '-') {
			i++
		}
		if i == label || i-label > 63 || s[label] == '-' || s[i-1] == '-' || i >= len(s) {
			return 0
		}
		switch s[i] {
		case '>':
			return i + 1
		case '.':
		default:
			return 0
		}
	}
}

func isAlnum(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }

// schemeLen returns the length of a URL scheme including its colon, or 0. A single letter
// is not a scheme but a Windows drive.
func schemeLen(s []byte) int {
	for i, c := range s {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		switch {
		case letter:
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '.' || c == '-'):
		case c == ':' && i >= 2 && i <= 32:
			return i + 1
		default:
			return 0
		}
		if i > 32 {
			return 0
		}
	}
	return 0
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func (s *inlineScanner) external(whole, path Span) {
	s.note.Links = append(s.note.Links, Link{Kind: Autolink, External: true, aside: s.aside,
		Span: s.shift(whole), PathSpan: s.shift(path), SubpathSpan: s.shift(Span{Start: path.End, End: path.End}),
		AliasSpan: s.shift(Span{Start: path.End, End: path.End}), Path: string(path.In(s.p))})
}

func (s *inlineScanner) shift(p Span) Span { return Span{Start: p.Start + s.off, End: p.End + s.off} }

func (s *inlineScanner) bareURL() {
	rest := s.p[s.i:]
	if !hasPrefixFold(rest, "http://") && !hasPrefixFold(rest, "https://") ||
		s.i > 0 && (isLetter(s.p[s.i-1]) || '0' <= s.p[s.i-1] && s.p[s.i-1] <= '9') {
		s.i++
		return
	}
	n := 7
	for n < len(rest) && rest[n] > ' ' && bytes.IndexByte([]byte("<>[]()|`\"\\"), rest[n]) < 0 {
		n++
	}
	for n > 7 && bytes.IndexByte([]byte(".,:;!?*_~'"), rest[n-1]) >= 0 {
		n--
	}
	s.external(Span{Start: s.i, End: s.i + n}, Span{Start: s.i, End: s.i + n})
	s.i += n
}

func (s *inlineScanner) tag() {
	start := s.i
	s.i++
	if start > 0 && !isBlank(s.p[start-1]) && bytes.IndexByte([]byte("([{\"'*~|>,;"), s.p[start-1]) < 0 {
		return
	}
	numeric := true
	for s.i < len(s.p) {
		r, n := utf8.DecodeRune(s.p[s.i:])
		if !isTagRune(r, n) {
			break
		}
		numeric = numeric && '0' <= r && r <= '9'
		s.i += n
	}
	if !numeric {
		s.note.Tags = append(s.note.Tags, Tag{Name: string(s.p[start+1 : s.i]), Span: s.shift(Span{Start: start, End: s.i})})
	}
}

// isTagRune reports whether a tag may contain r: letters, digits, "_", "-", "/" and all
// non-ASCII characters except blanks and general punctuation.
func isTagRune(r rune, n int) bool {
	switch {
	case r == utf8.RuneError && n <= 1:
		return false
	case r < utf8.RuneSelf:
		return isLetter(byte(r)) || '0' <= r && r <= '9' || r == '_' || r == '-' || r == '/'
	case 0x2000 <= r && r <= 0x206F || 0x2E00 <= r && r <= 0x2E7F:
		return false
	}
	return !unicode.IsSpace(r) && !unicode.IsControl(r)
}

// blockID reads "^id" at the end of a line, after a blank or at its start.
func (s *inlineScanner) blockID() {
	start := s.i
	s.i++
	if start > 0 && !isBlank(s.p[start-1]) {
		return
	}
	j := s.i
	for j < len(s.p) && (isLetter(s.p[j]) || '0' <= s.p[j] && s.p[j] <= '9' || s.p[j] == '-') {
		j++
	}
	end := j
	for end < len(s.p) && (s.p[end] == ' ' || s.p[end] == '\t' || s.p[end] == '\r') {
		end++
	}
	if j > s.i && (end == len(s.p) || s.p[end] == '\n') {
		s.note.BlockIDs = append(s.note.BlockIDs, BlockID{ID: string(s.p[s.i:j]), Span: s.shift(Span{Start: start, End: j})})
		s.i = end
	}
}
