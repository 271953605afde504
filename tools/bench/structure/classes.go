package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"quarry/internal/symbols"
)

// The classes of differences that follow from the design of the two tools. docs/STRUCTURE.md
// explains each. Other differences reduce the agreement. In the comments, "theirs" means that only
// ast-grep has the match, and "ours" that only Quarry does.
const (
	classElse    = "statement goes on"     // theirs: if without else matches one with else
	classList    = "list"                  // theirs: a hole matches a whole list, so return nil matches return nil, err
	classMore    = "longer"                // both begin at the same place; ast-grep's match also has a comment, from e or a class body
	classString  = "in a string"           // theirs: the expressions of f"{x}" and `${x}`
	classMacro   = "in a macro"            // ours: ast-grep doesn't parse the tokens of Rust's macros or C's #define
	classType    = "type or pattern"       // ours: the same tokens in a type, or in a pattern of match and let
	classUnread  = "their pattern differs" // ours: ast-grep parses the pattern as something that never occurs
	classDeclare = "declaration"           // ours: = in a declaration, a default or an attribute; C's int a[2] and for (int i = 0; …)
	classUnseen  = "not read"              // theirs: #if lines and #if 0 of C, which Quarry's lexer skips
	classNothing = "nothing after a comma" // ours: printf($A, $$$B) also matches printf("x")
	classComment = "comment in between"    // ours: ast-grep doesn't match if (a) /* b */ return, because of the comment
	classTyped   = "type arguments"        // ours: new $A($$$B) also matches new Map<K, V>()
	classAwait   = "for await"             // theirs: for (const a of b) also matches for await
)

// file is one of the compared files, with its tokens.
type file struct {
	text []byte
	code *symbols.Code
}

func (c *comparing) open(dir, name string) *file {
	p := filepath.Join(dir, name)
	if c.files == nil {
		c.files = map[string]*file{}
	}
	if f := c.files[p]; f != nil {
		return f
	}
	text, err := os.ReadFile(p)
	if err != nil {
		return &file{code: &symbols.Code{}}
	}
	f := &file{text, symbols.Lex(nil, name, text)}
	if f.code == nil {
		f.code = &symbols.Code{}
	}
	c.files[p] = f
	return f
}

// trimmed returns a place without a semicolon and white space at its end.
func (c *comparing) trimmed(dir string, p place) place {
	text := c.open(dir, p.file).text
	for p.end > p.start && p.end <= len(text) && bytes.IndexByte([]byte("; \t\r\n"), text[p.end-1]) >= 0 {
		p.end--
	}
	return p
}

var goesOn = regexp.MustCompile(`[}:)\s](else|elif|finally|catch|except)\b`)

func (c *comparing) classTheirs(dir, pattern string, p place, starts map[place]bool) string {
	f := c.open(dir, p.file)
	text := string(f.text[p.start:p.end])
	word, _, _ := strings.Cut(pattern, " ")
	switch {
	case f.inLiteral(p.start):
		return classString
	case !f.tokenAt(p.start):
		return classUnseen
	case strings.HasPrefix(text, "for await"):
		return classAwait
	case word == "for" && f.listed(place{p.file, p.start + strings.IndexByte(text, '(') + 1, p.start + max(0, strings.IndexByte(text, '{'))}), word == "import" && f.listed(p):
		return classList
	case (word == "if" || word == "while" || word == "for") && goesOn.MatchString(text):
		return classElse
	case starts[place{p.file, p.start, 0}]:
		return classMore
	case (strings.Contains(pattern, "=") || word == "return" || word == "assert" || word == "for" || word == "var" || word == "raise" || strings.Contains(pattern, "[")) && f.listed(p):
		return classList
	case word == "var" && strings.Contains(text, "="):
		return classList
	}
	return ""
}

// inLiteral reports whether offset at is in a string or comment.
func (f *file) inLiteral(at int) bool {
	for _, t := range f.code.Tokens {
		if t.Kind == symbols.Text && t.Start < at && at < t.End {
			return true
		}
	}
	for _, s := range f.code.Comments {
		if s[0] <= at && at < s[1] {
			return true
		}
	}
	return false
}

// listed reports whether the text at a place has a comma that is not in brackets.
func (f *file) listed(p place) bool {
	depth := 0
	for _, t := range f.code.Tokens {
		if t.Start < p.start || t.End > p.end || t.Kind != symbols.Punct {
			continue
		}
		switch f.text[t.Start] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				return true
			}
		}
	}
	return false
}

var (
	beforeType    = regexp.MustCompile(`(->|[:<|&,(]|\b(as|is|extends|keyof|typeof|infer|impl|dyn|where|for|let|type|static|readonly|const|return|in)|\?:|=)\s*(mut\s*|&\s*|'\w+\s*)*$`)
	afterPattern  = regexp.MustCompile(`^\s*(=>|\||if\b.*=>|\)+\s*(=>|=[^=]|\||if|,|in\b)|=[^=]|,)`)
	typeLine      = regexp.MustCompile(`(\b(fn|type|interface|struct|trait|impl|enum|where|class|function|extends|implements|declare)\b|=>|->|: )`)
	defaultAfter  = regexp.MustCompile(`^\s*[,}>]`)
	declaredFor   = regexp.MustCompile(`^for \(\s*(const |struct |unsigned )*\w+[\s*]+\w+\s*[=,;]`)
	declaredArray = regexp.MustCompile(`^\s*(static |const |extern |struct |unsigned |volatile |typedef )*\w+[\s*]+[^=(]*\[`)
	attributeLine = regexp.MustCompile(`^\s*(#\[|#!\[|@|export type|type |interface |const |let |var |static |public |private |protected |final |readonly |pub |for \()`)
)

func (c *comparing) classOurs(dir string, l *language, pattern string, p place, theirs int, starts map[place]bool) string {
	f := c.open(dir, p.file)
	line := f.text[bytes.LastIndexByte(f.text[:p.start], '\n')+1:]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	before, after := f.text[max(0, p.start-200):p.start], f.text[p.end:min(len(f.text), p.end+100)]
	switch {
	case theirs == 0:
		return classUnread
	case starts[place{p.file, p.start, 0}]:
		return classMore
	case strings.Contains(pattern, ", $$$") && !f.listed(place{p.file, p.start + bytes.IndexByte(f.text[p.start:], '(') + 1, p.end - 1}):
		return classNothing
	case strings.HasPrefix(pattern, "if (") && f.commented(p):
		return classComment
	case l.name == "ts" && strings.HasPrefix(pattern, "new ") && bytes.IndexByte(f.text[p.start:p.end], '<') > 0:
		return classTyped
	case l.name == "ts" && strings.Contains(pattern, " = ") && (f.inClass(p.start) || defaultAfter.Match(after) || bytes.HasSuffix(bytes.TrimRight(before, " \n\t"), []byte("extends"))):
		return classDeclare
	case l.name == "c" && strings.HasPrefix(pattern, "sizeof"):
		return classType
	case l.name == "c" && (strings.HasPrefix(pattern, "for (") && declaredFor.Match(f.text[p.start:p.end]) || pattern == "$A[$B]" && declaredArray.Match(line) || pattern == "$A = $B" && f.inEnum(p.start)):
		return classDeclare
	case l.name == "rust" && f.inMacro(p.start):
		return classMacro
	case (l.name == "rust") && (afterPattern.Match(after) || beforeType.Match(before) && typeLine.Match(line)):
		return classType
	case l.name == "ts" && (strings.HasPrefix(pattern, "typeof") || strings.HasPrefix(pattern, "() =>") || strings.Contains(pattern, "?")) && (beforeType.Match(before) || typeLine.Match(line)):
		return classType
	case strings.Contains(pattern, " = ") && (attributeLine.Match(line) || l.name != "go" && f.inParens(p.start)):
		return classDeclare
	}
	return ""
}

// around returns the index of the token that opens the innermost bracket around offset at, or -1.
func (f *file) around(at int) int {
	in := -1
	for i, t := range f.code.Tokens {
		if t.Start >= at {
			break
		}
		if t.Kind == symbols.Punct && t.Partner > i && t.Partner < len(f.code.Tokens) && f.code.Tokens[t.Partner].Start >= at {
			in = i
		}
	}
	return in
}

func (f *file) inParens(at int) bool {
	i := f.around(at)
	return i >= 0 && f.text[f.code.Tokens[i].Start] == '('
}

// inMacro reports whether offset at is in the brackets of name!(…) or macro_rules.
func (f *file) inMacro(at int) bool {
	for i, t := range f.code.Tokens {
		if t.Start >= at {
			break
		}
		if t.Kind != symbols.Punct || t.Partner <= i || t.Partner >= len(f.code.Tokens) || f.code.Tokens[t.Partner].Start < at || i < 1 {
			continue
		}
		prev := f.code.Tokens[i-1]
		if prev.Kind == symbols.Punct && f.text[prev.Start] == '!' || i > 2 && string(f.text[f.code.Tokens[i-2].Start:f.code.Tokens[i-2].End]) == "!" || prev.Kind == symbols.Punct && f.text[prev.Start] == '#' {
			return true
		}
	}
	return false
}

// tokenAt reports whether a token begins at offset at.
func (f *file) tokenAt(at int) bool {
	_, ok := slices.BinarySearchFunc(f.code.Tokens, at, func(t symbols.Token, at int) int { return t.Start - at })
	return ok
}

// commented reports whether a place contains a comment.
func (f *file) commented(p place) bool {
	return slices.ContainsFunc(f.code.Comments, func(c [2]int) bool { return p.start < c[0] && c[1] < p.end })
}

// inClass reports whether offset at is in the body of a class, but not in a nested bracket.
func (f *file) inClass(at int) bool { return f.bodyOf(at, "class") }

// inEnum reports whether offset at is in the body of an enum, but not in a nested bracket.
func (f *file) inEnum(at int) bool { return f.bodyOf(at, "enum") }

// bodyOf reports whether the innermost bracket around offset at is a brace that follows word, with
// no semicolon or brace in between.
func (f *file) bodyOf(at int, word string) bool {
	i := f.around(at)
	if i < 0 || f.text[f.code.Tokens[i].Start] != '{' {
		return false
	}
	for k := i - 1; k >= 0 && k > i-30; k-- {
		t := f.code.Tokens[k]
		switch string(f.text[t.Start:t.End]) {
		case word:
			return true
		case ";", "}", "{":
			return false
		}
	}
	return false
}
