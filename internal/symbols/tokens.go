package symbols

// TokenKind is the kind of a token.
type TokenKind = tokKind

// Kinds of tokens. Each byte of punctuation is a token.
const (
	Word   = word
	Number = number
	Text   = text // a string or another literal
	Punct  = punct
)

// Token is a piece of code between white space and comments.
type Token struct {
	Kind       TokenKind
	First      bool // first token of its line
	Start, End int  // offsets in bytes
	// Partner is the index of a bracket's partner: its own index if it closes nothing,
	// the number of tokens if it is never closed.
	Partner int
}

// Code is a text split into tokens.
type Code struct {
	Language string // "" for an unknown language
	Tokens   []Token
	Comments [][2]int // offsets, in order
}

// langPlain lexes a text in an unknown language: words, numbers, brackets and strings
// between double quotes.
var langPlain = newLanguage("", plainWord, `"`, func(l *lexer, c byte) bool { return l.quoted(0, c, true, false) }, nil)

// Lex splits a text into tokens. A stop that returns true ends it early; nil never does.
// Lex returns nil then, and for a text over 16 MB.
func Lex(stop func() bool, path string, text []byte) *Code {
	l := languageOf(path, text)
	if l == nil || l.plain != nil {
		l = langPlain
	}
	return lexAs(stop, l, text)
}

// LexAs is Lex for a piece of code in the named language.
func LexAs(language string, text []byte) *Code {
	for _, l := range byExtension() {
		if l.name == language && l.plain == nil {
			piece := *l
			piece.begin = nil // PHP code outside of its tags
			return lexAs(nil, &piece, text)
		}
	}
	return lexAs(nil, langPlain, text)
}

// Languages lists the languages that Lex supports.
func Languages() []string {
	var list []string
	seen := map[string]bool{}
	for _, l := range byExtension() {
		if l.plain == nil && !seen[l.name] {
			seen[l.name] = true
			list = append(list, l.name)
		}
	}
	return list
}

func lexAs(stop func() bool, l *language, text []byte) (c *Code) {
	if len(text) > maxText {
		return nil
	}
	defer func() {
		if recover() != nil { // no steps left, or our bug
			c = nil
		}
	}()
	p := &parser{lang: l, text: text, stop: stop, names: true, budget: budgetOf(len(text))}
	lex(p)
	c = &Code{Language: l.name, Tokens: make([]Token, len(p.toks)), Comments: make([][2]int, len(p.comments))}
	for i, t := range p.toks {
		c.Tokens[i] = Token{t.kind, t.first, int(t.start), int(t.end), int(p.match[i])}
	}
	for i, s := range p.comments {
		c.Comments[i] = [2]int{s.start, s.end}
	}
	return c
}
