// Package notefilter reads queries for notes: words, and filters such as
// tag:work, property:rating>=3 or -link:"Some note", joined by OR and parentheses.
//
// A query without filters consists of words, whatever else it contains. In a query with
// filters, every part is valid or causes an [Error] with its position: a misspelt filter
// never silently selects nothing.
package notefilter

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Names lists the filters, in the order of error messages.
var Names = []string{"tag", "property", "has", "path", "heading", "link", "task", "modified", "created", "base"}

// Term is one filter.
type Term struct {
	Name  string // one of Names
	Key   string // of a property
	Op    string // = != < <= > >= contains; or ""
	Value string
	At    int // position in the query, in characters from 1

	Literal Literal // the kind of Value in a statement of a base
	List    bool    // in such a statement: treat the property as a list, even with one value
}

// Expr is a combination of filters. Exactly one of its fields is set; a nil Expr
// selects every note.
type Expr struct {
	Term *Term
	Not  *Expr
	All  []*Expr
	Any  []*Expr
}

// Error reports an invalid query. At is the position in characters from 1.
type Error struct {
	At   int
	What string
}

func (e *Error) Error() string { return fmt.Sprintf("at character %d: %s", e.At, e.What) }

// token is a part of a query between blanks and parentheses, without its quotes.
type token struct {
	text   string
	at     int  // in characters from 1
	quoted bool // begins with a quote
	open   bool // the quote is not closed
	// minus is set for -name:. colon is the offset after the colon of name:, unless a
	// quote precedes it.
	minus bool
	colon int
	paren byte // "(" or ")"
}

// Parse splits a query into words and filters.
func Parse(query string) (words string, filter *Expr, err error) {
	tokens := lex(query)
	if !slices.ContainsFunc(tokens, token.isFilter) {
		if t := tokens[max(0, len(tokens)-1):]; len(t) == 1 && t[0].open && slices.ContainsFunc(Names, func(n string) bool { return strings.Contains(t[0].text, n+":") }) {
			return "", nil, &Error{t[0].at, "a quote is not closed"}
		}
		return plain(query), nil, nil
	}
	p := &parser{tokens: tokens}
	filter, err = p.parseAny()
	if err == nil && len(p.tokens) > 0 {
		err = &Error{p.tokens[0].at, "there is no parenthesis to close"}
	}
	if err != nil {
		return "", nil, err
	}
	return strings.Join(p.words, " "), filter, nil
}

// plain returns a query without its quotes.
func plain(query string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(query, `"`, "")), " ")
}

func lex(query string) (out []token) {
	at := 1
	for i := 0; i < len(query); {
		c := query[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			at++
			continue
		case c == '(' || c == ')':
			out = append(out, token{at: at, paren: c})
			i++
			at++
			continue
		case c == '-' && strings.HasPrefix(query[i+1:], "("):
			out = append(out, token{at: at, minus: true, paren: '('})
			i += 2
			at += 2
			continue
		}
		t := token{at: at, quoted: c == '"'}
		end, inside, nested := i, false, 0
		for end < len(query) && (inside || !strings.ContainsRune(" \t\r\n", rune(query[end])) && (query[end] != ')' || nested > 0)) {
			switch c := query[end]; {
			case c == '"':
				inside = !inside
			case inside:
			case c == '(':
				nested++
			case c == ')':
				nested--
			}
			if query[end] != '"' {
				t.text += query[end : end+1]
			}
			if query[end] == ':' && t.colon == 0 && !strings.Contains(query[i:end], `"`) {
				t.colon = len(t.text)
			}
			end++
		}
		t.open = inside
		at += utf8.RuneCountInString(query[i:end])
		i = end
		if t.minus = t.colon > 0 && strings.HasPrefix(t.text, "-"); t.minus {
			t.text, t.colon = t.text[1:], t.colon-1
		}
		out = append(out, t)
	}
	return out
}

// name returns the part before the colon, in lower case.
func (t token) name() string {
	if t.colon == 0 {
		return ""
	}
	return strings.ToLower(t.text[:t.colon-1])
}

// isFilter reports whether a token is a filter, or looks like one with a wrong name.
// URLs, times, a::b, and a word with a colon before a blank are not filters.
func (t token) isFilter() bool {
	name := t.name()
	if slices.Contains(Names, name) {
		return true
	}
	value := t.text[t.colon:]
	letters := strings.IndexFunc(name, func(r rune) bool { return r != '-' && r != '_' && (r < 'a' || r > 'z') }) < 0
	return len(name) > 1 && letters && value != "" && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, ":")
}

type parser struct {
	tokens []token
	words  []string
	depth  int // of parentheses
	ors    int // number of ORs read in this group
}

func (p *parser) next() (t token, ok bool) {
	if len(p.tokens) == 0 {
		return t, false
	}
	return p.tokens[0], true
}

func (p *parser) skip() { p.tokens = p.tokens[1:] }

// maxDepth limits nested parentheses.
const maxDepth = 50

func isWord(t token, word string) bool { return t.paren == 0 && !t.quoted && t.text == word }

// parseAny parses alternatives, separated by OR.
func (p *parser) parseAny() (*Expr, error) {
	var any []*Expr
	for {
		e, err := p.parseAll()
		if err != nil {
			return nil, err
		}
		any = append(any, e)
		t, ok := p.next()
		if !ok || !isWord(t, "OR") {
			break
		}
		if e == nil {
			return nil, &Error{t.at, "a filter is missing before OR"}
		}
		if len(p.words) > 0 && p.depth == 0 {
			return nil, &Error{t.at, errAlternatives}
		}
		p.ors++
		p.skip()
	}
	if len(any) == 1 {
		return any[0], nil
	}
	return &Expr{Any: any}, nil
}

const errAlternatives = "OR joins filters; words go before or after them in parentheses, as in: words (tag:a OR tag:b)"

// parseAll parses filters that must all hold, and words.
func (p *parser) parseAll() (*Expr, error) {
	var all []*Expr
	for {
		t, ok := p.next()
		if !ok || t.paren == ')' || isWord(t, "OR") {
			break
		}
		p.skip()
		switch {
		case t.open:
			return nil, &Error{t.at, "a quote is not closed"}
		case isWord(t, "AND"):
		case t.paren == '(':
			e, err := p.group(t)
			if err != nil {
				return nil, err
			}
			all = append(all, e)
		case t.isFilter():
			term, err := p.term(t)
			if err != nil {
				return nil, err
			}
			e := &Expr{Term: term}
			if t.minus {
				e = &Expr{Not: e}
			}
			all = append(all, e)
		case p.depth > 0 || p.ors > 0:
			return nil, &Error{t.at, errAlternatives}
		case !t.quoted && len(t.text) > 1 && t.text[0] == '-':
			return nil, &Error{t.at, fmt.Sprintf("a minus is for filters; to search for the text, quote it: %q", t.text)}
		case t.text != "":
			p.words = append(p.words, t.text)
		}
	}
	switch len(all) {
	case 0:
		if t, ok := p.next(); p.ors > 0 || p.depth > 0 || ok && t.paren == ')' {
			at := 1
			if ok {
				at = t.at
			}
			return nil, &Error{at, "a filter is missing"}
		}
		return nil, nil
	case 1:
		return all[0], nil
	}
	return &Expr{All: all}, nil
}

func (p *parser) group(open token) (*Expr, error) {
	ors := p.ors
	p.ors = 0
	p.depth++
	if p.depth > maxDepth {
		return nil, &Error{open.at, "too many parentheses"}
	}
	e, err := p.parseAny()
	if err != nil {
		return nil, err
	}
	if t, ok := p.next(); !ok || t.paren != ')' {
		return nil, &Error{open.at, "a parenthesis is not closed"}
	}
	p.skip()
	p.depth--
	p.ors = ors
	if open.minus {
		e = &Expr{Not: e}
	}
	return e, nil
}

var operators = []string{"!=", "<=", ">=", "=", "<", ">"}

// operator splits a text at its first operator.
func operator(s string) (before, op, after string) {
	at := len(s)
	for _, o := range operators {
		if i := strings.Index(s, o); i >= 0 && i < at {
			at, op = i, o
		}
	}
	return s[:at], op, s[at+len(op):]
}

func (p *parser) term(t token) (*Term, error) {
	name, value := t.name(), t.text[t.colon:]
	out := &Term{Name: name, Value: value, At: t.at}
	switch name {
	case "property":
		return out, p.property(out)
	case "modified", "created":
		before, op, after := operator(value)
		if op == "" {
			op, after = "=", before
		} else if before != "" {
			return nil, &Error{t.at, fmt.Sprintf("%s: takes a date or a comparison with one, as in %s:>2026-05-01", name, name)}
		}
		out.Op, out.Value = op, after
		if after == "" {
			return nil, p.missing(out, op)
		}
		return out, nil
	case "tag", "has", "path", "heading", "link", "task", "base":
		if value == "" {
			return nil, p.missing(out, name+":")
		}
		if key, op, after := operator(value); name == "task" && op != "" {
			if out.Key, out.Op, out.Value = key, op, after; after == "" {
				return nil, p.missing(out, op)
			}
		}
		return out, nil
	}
	return nil, &Error{t.at, fmt.Sprintf("unknown filter %q: for a property write property:%s=%s; to search for the text, quote it", name+":", name, value)}
}

func (p *parser) missing(t *Term, after string) error {
	return &Error{t.At, fmt.Sprintf("%s: needs a value after %q", t.Name, after)}
}

// property parses name, name=value, name = value or name contains value.
func (p *parser) property(t *Term) error {
	key, op, value := operator(t.Value)
	if next, ok := p.next(); op == "" && ok && !next.quoted && next.paren == 0 {
		switch _, found, rest := operator(next.text); {
		case next.text == "contains":
			op = "contains"
			p.skip()
		case found != "" && strings.HasPrefix(next.text, found):
			op, value = found, rest
			p.skip()
		}
	}
	if next, ok := p.next(); op != "" && value == "" && ok && next.paren == 0 && (next.quoted || !next.isFilter()) && !isWord(next, "OR") && !isWord(next, "AND") {
		value = next.text
		if next.open {
			return &Error{next.at, "a quote is not closed"}
		}
		p.skip()
	}
	t.Key, t.Op, t.Value = strings.TrimSpace(key), op, strings.TrimSpace(value)
	switch {
	case t.Key == "":
		return &Error{t.At, "property: needs a name, as in property:status=done"}
	case op != "" && t.Value == "":
		return p.missing(t, op)
	case strings.ContainsAny(t.Value[:min(1, len(t.Value))], "=<>!"):
		return &Error{t.At, fmt.Sprintf("unknown comparison %q: use =, !=, <, <=, >, >= or contains", op+t.Value[:1])}
	}
	return nil
}
