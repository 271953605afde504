package symbols

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Version changes whenever names, kinds or containers of some text change. An index
// stores it, so that definitions found by an older program are never served. TestVersion
// fails if the samples change and Version does not.
const Version = 6

// MaxText is the size of the largest text that is searched for definitions.
const MaxText = 8 << 20

// AppendKey appends the key of a definition: the last component of its name in lower
// case, without underscores and hyphens, so that all styles of a name have the same key.
// A name with spaces, such as a heading, is one component.
func AppendKey(dst []byte, name []byte) []byte {
	if i := bytes.LastIndexByte(name, '.'); i >= 0 && i+1 < len(name) && bytes.IndexByte(name, ' ') < 0 {
		name = name[i+1:]
	}
	return AppendFolded(dst, name)
}

// AppendFolded appends a name in lower case and without underscores and hyphens.
func AppendFolded(dst []byte, name []byte) []byte {
	for i := 0; i < len(name); i++ {
		switch c := keyByte[name[i]]; c {
		case skipped:
		case beyond:
			r, n := utf8.DecodeRune(name[i:])
			if r == utf8.RuneError {
				dst = append(dst, name[i])
				continue
			}
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
			i += n - 1
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// keyByte maps each byte of a name to its byte in the key.
var keyByte = func() (t [256]byte) {
	for c := range t {
		switch {
		case c == '_' || c == '-':
			t[c] = skipped
		case c >= utf8.RuneSelf:
			t[c] = beyond
		case c >= 'A' && c <= 'Z':
			t[c] = byte(c) + 'a' - 'A'
		default:
			t[c] = byte(c)
		}
	}
	t[skipped], t[beyond] = ' ', ' ' // no name has these
	return t
}()

const (
	skipped = 0
	beyond  = 1
)

// Keys makes the keys of a sequence of names. A prefix shared with the previous name is
// not folded again.
type Keys struct {
	key   []byte
	marks []uint16 // length of the key for each length of the name
	anew  bool     // the next name is folded from its beginning
}

// Next returns the key of a name that shares its first shared bytes with the previous
// name. The key is valid until the next call.
func (k *Keys) Next(name []byte, shared int) []byte {
	if k.anew || shared >= len(k.marks) {
		shared = 0
	}
	if len(k.marks) <= len(name) {
		k.marks = append(make([]uint16, 0, 2*len(name)+64), k.marks...)[:2*len(name)+64]
	}
	n := int(k.marks[shared])
	if k.anew = len(name) >= 1<<16; !k.anew {
		if cap(k.key) < n+len(name) {
			k.key = append(make([]byte, 0, 2*len(name)+64), k.key[:n]...)
		}
		key := k.key[:cap(k.key)]
		i := shared
		for ; i < len(name); i++ {
			c := keyByte[name[i]]
			if c <= beyond || c == '.' {
				if c != skipped {
					break
				}
			} else {
				key[n] = c
				n++
			}
			k.marks[i+1] = uint16(n)
		}
		k.anew = i < len(name)
		k.key = key[:n]
	}
	if k.anew {
		k.key = AppendKey(k.key[:0], name)
	}
	return k.key
}

// Key returns the key of a name; see AppendKey.
func Key(name string) string { return string(AppendKey(nil, []byte(name))) }

// Names reads the definitions of texts, one text at a time, without their lines. It takes
// two thirds of the time of Of and little memory. It must be used by one goroutine.
type Names struct {
	// Stop, if not nil, ends Read early when it returns true.
	Stop func() bool
	p    parser
}

// Read finds the symbols of a text, for Each to return. Like Until, it reports whether it
// reached the end of the text.
func (n *Names) Read(path string, text []byte) (whole bool) {
	p := &n.p
	l := languageOf(path, text)
	if l == nil || len(text) > maxText {
		p.macros, p.out = p.macros[:0], p.out[:0]
		return l == nil
	}
	if cap(p.toks) > 1<<17 { // after a large text
		*p = parser{}
	}
	*p = parser{lang: l, text: text, toks: p.toks[:0], match: p.match, comments: p.comments[:0], out: p.out[:0], scopes: p.scopes[:0],
		waiting: p.waiting[:0], macros: p.macros[:0], names: true, stop: n.Stop}
	p.read()
	p.order()
	return !p.partial
}

// Each calls yield with the names, kinds and containers of the symbols of the last text.
// Symbols equal in all three occur as often as in Of. The strings are valid until the
// text changes.
func (n *Names) Each(yield func(name string, kind Kind, container string)) {
	p := &n.p
	for _, m := range p.macros {
		yield(p.string(p.text[m.start:m.end]), Macro, "")
	}
	for i := range p.out {
		if i%1024 == 0 && n.Stop != nil && n.Stop() {
			return
		}
		yield(p.out[i].Name, p.out[i].Kind, p.out[i].Container)
	}
}

// families maps the name of a kind to further kinds it includes, and adds other words for
// kinds.
var families = map[string][]Kind{
	"function": {Function, Method},
	"func":     {Function, Method}, "fn": {Function, Method}, "def": {Function, Method},
	"type":  {Class, Struct, Interface, Enum, Type},
	"trait": {Interface}, "protocol": {Interface}, "alias": {Type}, "typedef": {Type}, "union": {Struct},
	"const": {Const}, "var": {Variable}, "package": {Module}, "namespace": {Module},
}

// Family returns the kinds that a word means: type includes structs, classes, interfaces
// and enumerations, function includes methods. It is nil for an unknown word.
func Family(kind string) []Kind {
	if list, ok := families[kind]; ok {
		return list
	}
	if k := ParseKind(kind); k != 0 {
		return []Kind{k}
	}
	return nil
}
