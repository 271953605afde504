package zoekt

import (
	"quarry/internal/zoekt/wire"
	"strings"
	"unicode/utf8"
)

// Query is a condition on documents. It is a tree from the first to the last
// step: what a caller gives as a text or a path is a leaf, sent with its length
// before it, and nothing in it can become an operator.
type Query struct {
	op   op
	subs []Query
	text string
	set  []string
	fold bool // any letter case
	name bool // about the path, not the content
}

type op uint8

const (
	opAll op = iota // the zero Query: every document
	opNone
	opAnd
	opOr
	opSubstring
	opRegexp
	opRepos
	opPaths
	opBranch
	opNamesOnly
)

// Trivial reports the query that holds for every document.
func (q Query) Trivial() bool { return q.op == opAll }

// None holds for no document.
func None() Query { return Query{op: opNone} }

// And holds where all do.
func And(subs ...Query) Query {
	var kept []Query
	for _, s := range subs {
		switch s.op {
		case opAll:
		case opNone:
			return s
		case opAnd:
			kept = append(kept, s.subs...)
		default:
			kept = append(kept, s)
		}
	}
	return joined(opAnd, kept, Query{})
}

// Or holds where one does.
func Or(subs ...Query) Query {
	var kept []Query
	for _, s := range subs {
		switch s.op {
		case opNone:
		case opAll:
			return s
		case opOr:
			kept = append(kept, s.subs...)
		default:
			kept = append(kept, s)
		}
	}
	return joined(opOr, kept, None())
}

func joined(o op, subs []Query, empty Query) Query {
	switch len(subs) {
	case 0:
		return empty
	case 1:
		return subs[0]
	}
	return Query{op: o, subs: subs}
}

// Text holds for documents whose content has the text, with fold in any case.
// An empty text, or one that is no UTF-8 and so can't be sent, says nothing.
func Text(text string, fold bool) Query {
	if text == "" || !utf8.ValidString(text) {
		return Query{}
	}
	return Query{op: opSubstring, text: text, fold: fold}
}

// PathMatch holds for documents in whose path an RE2 expression matches.
func PathMatch(re string, fold bool) Query {
	return Query{op: opRegexp, text: re, fold: fold, name: true}
}

// Paths holds for documents with one of these paths. What is no UTF-8 can't be
// sent as a path; it is asked for by a pattern that finds it and its likes.
func Paths(paths ...string) Query {
	var set []string
	var odd []Query
	for _, p := range paths {
		if utf8.ValidString(p) {
			set = append(set, p)
			continue
		}
		odd = append(odd, PathMatch("^"+QuoteRE(p)+"$", false))
	}
	if len(set) > 0 {
		odd = append(odd, Query{op: opPaths, set: set})
	}
	return Or(odd...)
}

// In holds for documents of these repositories.
func In(repos ...string) Query {
	if len(repos) == 0 {
		return None()
	}
	return Query{op: opRepos, set: repos}
}

// Head holds for documents of the first branch that is indexed.
func Head() Query { return Query{op: opBranch, text: "HEAD"} }

// NamesOnly holds where q does, and has the server tell just the paths.
func NamesOnly(q Query) Query { return Query{op: opNamesOnly, subs: []Query{q}} }

// QuoteRE is an RE2 expression that matches the text. Bytes that are no UTF-8
// match any such byte: the server's engine sees no more of them.
func QuoteRE(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			b.WriteString(`\x{FFFD}`)
		case strings.ContainsRune(`\.+*?()|[]{}^$`, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// kindFileName asks for names as the result.
const kindFileName = 2

// encode writes the query as the message Q.
func (q Query) encode() []byte {
	switch q.op {
	case opNone, opAll:
		b := wire.AppendTag(nil, 5, wire.Varint) // const
		if q.op == opAll {
			return append(b, 1)
		}
		return append(b, 0)
	case opAnd, opOr:
		var body []byte
		for _, s := range q.subs {
			body = wire.AppendMessage(body, 1, s.encode())
		}
		return wire.AppendMessage(nil, map[op]int{opAnd: 14, opOr: 15}[q.op], body)
	case opNamesOnly:
		body := wire.AppendMessage(nil, 1, q.subs[0].encode())
		return wire.AppendMessage(nil, 12, wire.AppendInt(body, 2, kindFileName))
	case opSubstring:
		body := wire.AppendBool(wire.AppendString(nil, 1, q.text), 2, !q.fold)
		return wire.AppendMessage(nil, 13, wire.AppendBool(wire.AppendBool(body, 3, q.name), 4, !q.name))
	case opRegexp:
		body := wire.AppendBool(wire.AppendBool(wire.AppendString(nil, 1, q.text), 2, q.name), 3, !q.name)
		return wire.AppendMessage(nil, 2, wire.AppendBool(body, 4, !q.fold))
	case opRepos:
		var body []byte
		for _, s := range q.set { // a map of names to true
			body = wire.AppendMessage(body, 1, wire.AppendBool(wire.AppendString(nil, 1, s), 2, true))
		}
		return wire.AppendMessage(nil, 10, body)
	case opPaths:
		var body []byte
		for _, s := range q.set {
			body = wire.AppendString(body, 1, s)
		}
		return wire.AppendMessage(nil, 11, body)
	}
	return wire.AppendMessage(nil, 17, wire.AppendBool(wire.AppendString(nil, 1, q.text), 2, true)) // a branch
}
