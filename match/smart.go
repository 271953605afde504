package match

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// foldCase reports whether to ignore case. For Smart it decides like ripgrep: case is ignored
// if the expressions have literal characters and none of them is upper case.
func foldCase(exprs []string, opts Options) bool {
	if opts.Case != Smart {
		return opts.Case == Insensitive
	}
	var s smart
	for _, expr := range exprs {
		if opts.Syntax == Rust || opts.Syntax == ECMAScript {
			s.pattern(expr)
		} else {
			s.text(expr)
		}
	}
	return s.literal && !s.upper
}

// smart records whether a pattern has literal characters and whether one is upper case. \W,
// \p{Lu}, group names and flags aren't literal characters.
type smart struct {
	literal bool
	upper   bool
}

func (s *smart) char(r rune) {
	s.literal = true
	s.upper = s.upper || unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r)
}

func (s *smart) text(expr string) {
	for _, r := range expr {
		s.char(r)
	}
}

func (s *smart) pattern(expr string) {
	class := 0 // depth of brackets
	for len(expr) > 0 {
		r, size := utf8.DecodeRuneInString(expr)
		switch {
		case r == '\\':
			size = s.escape(expr)
		case r == '[' && strings.HasPrefix(expr, "[:") && class > 0:
			if i := strings.Index(expr, ":]"); i > 0 {
				size = i + 2
			}
		case r == '[':
			class++
		case r == ']':
			class = max(0, class-1)
		case class > 0:
			if r != '^' && r != '-' && r != '&' && r != '~' {
				s.char(r)
			}
		case r == '(':
			size = groupPrefix(expr)
		case r == '{':
			// Skip a count such as {2,3}. In ECMAScript it may also be a literal brace.
			if i := strings.IndexByte(expr, '}'); i > 0 && strings.Trim(expr[1:i], "0123456789, ") == "" {
				size = i + 1
			}
		case !strings.ContainsRune("^$.|?*+)}", r):
			s.char(r)
		}
		expr = expr[size:]
	}
}

// groupPrefix returns the length of a group's opening, with its flags or name.
func groupPrefix(s string) int {
	if !strings.HasPrefix(s, "(?") {
		return 1
	}
	name := strings.TrimPrefix(s[2:], "P")
	if strings.HasPrefix(name, "<") && !strings.HasPrefix(name, "<=") && !strings.HasPrefix(name, "<!") {
		if i := strings.IndexByte(s, '>'); i > 0 {
			return i + 1
		}
	}
	if i := strings.IndexAny(s, ":)=!"); i > 0 {
		return i + 1
	}
	return 2
}

// escape examines the escape sequence at the start of expr and returns its length.
func (s *smart) escape(expr string) int {
	if len(expr) < 2 {
		return len(expr)
	}
	r, size := utf8.DecodeRuneInString(expr[1:])
	end := 1 + size
	braced := 0 // length of {…} or <…>
	if rest := expr[end:]; strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "<") {
		if i := strings.IndexAny(rest, "}>"); i > 0 {
			braced = i + 1
		}
	}
	switch r {
	case 'x', 'u', 'U':
		digits := expr[end : end+braced]
		if braced == 0 {
			digits = expr[end:min(len(expr), end+map[rune]int{'x': 2, 'u': 4, 'U': 8}[r])]
		}
		if v, err := strconv.ParseUint(strings.Trim(digits, "{}"), 16, 31); err == nil {
			s.char(rune(v))
		}
		return end + len(digits)
	case 'p', 'P':
		if braced == 0 && end < len(expr) {
			_, n := utf8.DecodeRuneInString(expr[end:])
			return end + n
		}
		return end + braced
	case 'b', 'k':
		return end + braced
	case 'a', 'f', 't', 'n', 'r', 'v':
		s.char(0) // some character without case
	}
	if r >= utf8.RuneSelf || !('a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' || r == '<' || r == '>') {
		s.char(r)
	}
	return end
}
