package rust

import (
	"errors"
	"strings"
	"unicode/utf8"

	"quarry/internal/re/hir"
	"quarry/internal/re/ucd"
)

// classKey identifies a class that is built once per pattern.
type classKey struct {
	name string
	fold bool
}

// cached returns the class of key, built on first use.
func (p *parser) cached(key classKey, build func() (*hir.Class, error)) (*hir.Class, error) {
	if c, ok := p.classes[key]; ok {
		return c, nil
	}
	c, err := build()
	if err != nil {
		return nil, err
	}
	if p.classes == nil {
		p.classes = map[classKey]*hir.Class{}
	}
	p.classes[key] = c
	return c, nil
}

// oneOf returns the node of class c; the same class always has the same node.
func (p *parser) oneOf(c *hir.Class) *hir.Node {
	n, ok := p.nodes[c]
	if !ok {
		if p.nodes == nil {
			p.nodes = map[*hir.Class]*hir.Node{}
		}
		n = hir.OneOf(c)
		p.nodes[c] = n
	}
	return n
}

// perlClass returns \d, \s, \w or a negation of these. They don't change under folding.
func (p *parser) perlClass(start int, c rune) (atom, error) {
	lower := c | 0x20
	name := string(c)
	if p.flags.NoUnicode {
		name = "ascii" + name
	}
	class, err := p.cached(classKey{name: name}, func() (*hir.Class, error) {
		var class *hir.Class
		switch {
		case p.flags.NoUnicode && lower == 'd':
			class = asciiClass("digit", true)
		case p.flags.NoUnicode && lower == 's':
			class = asciiClass("space", true)
		case p.flags.NoUnicode:
			class = asciiClass("word", true)
		case lower == 'd':
			class = hir.ScalarClass(ucd.Digit())
		case lower == 's':
			class = hir.ScalarClass(ucd.Space())
		default:
			class = hir.ScalarClass(ucd.Word())
		}
		if c != lower {
			class = class.Negate()
		}
		return class, nil
	})
	if err != nil {
		return atom{}, err
	}
	if p.flags.UTF8 && class.Bytes && !class.IsASCII() {
		return atom{}, p.failNotUTF8(start, p.pos)
	}
	return atom{kind: atomClass, class: class, start: start, end: p.pos}, nil
}

// unicodeClass parses \pX, \p{name} or \p{name=value}; p.pos is at the p.
func (p *parser) unicodeClass(start int) (atom, error) {
	negated := p.char() == 'P'
	unfinished := func() (atom, error) {
		return atom{}, p.fail(start, p.pos, "unfinished Unicode class", `Write \pL or \p{Greek}.`)
	}
	if !p.bumpSpace() {
		return unfinished()
	}
	var name strings.Builder
	if p.char() == '{' {
		for p.bumpSpace() && p.char() != '}' {
			name.WriteRune(p.char())
		}
		if p.eof() {
			return unfinished()
		}
		p.bump()
	} else {
		if p.char() == '\\' {
			return atom{}, p.fail(p.pos, p.pos+1, "invalid Unicode class", `Write \pL or \p{Greek}.`)
		}
		name.WriteRune(p.char())
		p.bumpSpace()
	}
	if p.flags.NoUnicode {
		return atom{}, p.fail(start, p.pos, "a Unicode class isn't allowed where Unicode is off", "Leave out (?-u), or write (?u:…) around the class.")
	}
	prefix := "p"
	if negated {
		prefix = "P"
	}
	class, err := p.cached(classKey{prefix + name.String(), p.flags.CaseInsensitive}, func() (*hir.Class, error) {
		class, not, err := lookup(name.String())
		if err != nil {
			return nil, p.unknownProperty(start, name.String(), err)
		}
		if p.flags.CaseInsensitive {
			class = class.Fold()
		}
		if negated != not {
			class = class.Negate()
		}
		return class, nil
	})
	return atom{kind: atomClass, class: class, start: start, end: p.pos}, err
}

// lookup returns the class of a property as written in the braces. not reports that != was used.
func lookup(query string) (class *hir.Class, not bool, err error) {
	name, value, byValue := strings.Cut(query, "!=")
	not = byValue
	if !byValue {
		if name, value, byValue = strings.Cut(query, ":"); !byValue {
			name, value, byValue = strings.Cut(query, "=")
		}
	}
	var set []ucd.Range
	if byValue {
		set, err = ucd.LookupValue(name, value)
	} else {
		set, err = ucd.Lookup(name)
	}
	return hir.ScalarClass(set), not, err
}

func (p *parser) unknownProperty(start int, name string, err error) error {
	hint := `Scripts, general categories and binary properties are known, as in \p{Greek}, \p{Lu}, \p{Emoji}.`
	switch {
	case strings.HasPrefix(name, "^"):
		hint = `Write \P{…} for the negation.`
	case errors.Is(err, ucd.ErrValue):
		hint = `Properties with values are gc, sc, scx, age, gcb, wb and sb, as in \p{sc=Greek}.`
	}
	return p.fail(start, p.pos, err.Error(), hint)
}

// asciiClass returns the class of [:name:], nil if the name is unknown.
func asciiClass(name string, bytes bool) *hir.Class {
	type r = hir.Range
	digit, upper, lower := r{Lo: '0', Hi: '9'}, r{Lo: 'A', Hi: 'Z'}, r{Lo: 'a', Hi: 'z'}
	tab, space := r{Lo: '\t', Hi: '\t'}, r{Lo: ' ', Hi: ' '}
	var set []r
	switch name {
	case "alnum":
		set = []r{digit, upper, lower}
	case "alpha":
		set = []r{upper, lower}
	case "ascii":
		set = []r{{Lo: 0, Hi: utf8.RuneSelf - 1}}
	case "blank":
		set = []r{tab, space}
	case "cntrl":
		set = []r{{Lo: 0, Hi: 0x1F}, {Lo: 0x7F, Hi: 0x7F}}
	case "digit":
		set = []r{digit}
	case "graph":
		set = []r{{Lo: '!', Hi: '~'}}
	case "lower":
		set = []r{lower}
	case "print":
		set = []r{{Lo: ' ', Hi: '~'}}
	case "punct":
		set = []r{{Lo: '!', Hi: '/'}, {Lo: ':', Hi: '@'}, {Lo: '[', Hi: '`'}, {Lo: '{', Hi: '~'}}
	case "space":
		set = []r{{Lo: '\t', Hi: '\r'}, space}
	case "upper":
		set = []r{upper}
	case "word":
		set = []r{digit, upper, lower, {Lo: '_', Hi: '_'}}
	case "xdigit":
		set = []r{digit, {Lo: 'A', Hi: 'F'}, {Lo: 'a', Hi: 'f'}}
	default:
		return nil
	}
	if bytes {
		return hir.NewByteClass(set...)
	}
	return hir.NewClass(set...)
}
