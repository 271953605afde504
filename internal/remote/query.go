package remote

import (
	"strings"
	"unicode/utf8"
)

// Query is a condition on documents. It is a tree from the first to the last
// step: what a caller gives as a text or a path is a leaf, sent with its length
// before it, and nothing in it can become an operator.
type Query struct {
	Op   Op
	Subs []Query
	Text string
	Set  []string
	Fold bool // any letter case
	Name bool // about the path, not the content
}

// Op is what a Query says.
type Op uint8

const (
	OpAll Op = iota // the zero Query: every document
	OpNone
	OpAnd
	OpOr
	OpSubstring
	OpRegexp
	OpRepos
	OpPaths
	OpBranch
	OpNamesOnly
)

// Trivial reports the query that holds for every document.
func (q Query) Trivial() bool { return q.Op == OpAll }

// None holds for no document.
func None() Query { return Query{Op: OpNone} }

// And holds where all do.
func And(subs ...Query) Query {
	var kept []Query
	for _, s := range subs {
		switch s.Op {
		case OpAll:
		case OpNone:
			return s
		case OpAnd:
			kept = append(kept, s.Subs...)
		default:
			kept = append(kept, s)
		}
	}
	return joined(OpAnd, kept, Query{})
}

// Or holds where one does.
func Or(subs ...Query) Query {
	var kept []Query
	for _, s := range subs {
		switch s.Op {
		case OpNone:
		case OpAll:
			return s
		case OpOr:
			kept = append(kept, s.Subs...)
		default:
			kept = append(kept, s)
		}
	}
	return joined(OpOr, kept, None())
}

func joined(o Op, subs []Query, empty Query) Query {
	switch len(subs) {
	case 0:
		return empty
	case 1:
		return subs[0]
	}
	return Query{Op: o, Subs: subs}
}

// Text holds for documents whose content has the text, with fold in any case.
// An empty text, or one that is no UTF-8 and so can't be sent, says nothing.
func Text(text string, fold bool) Query {
	if text == "" || !utf8.ValidString(text) {
		return Query{}
	}
	return Query{Op: OpSubstring, Text: text, Fold: fold}
}

// PathMatch holds for documents in whose path an RE2 expression matches.
func PathMatch(re string, fold bool) Query {
	return Query{Op: OpRegexp, Text: re, Fold: fold, Name: true}
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
		odd = append(odd, Query{Op: OpPaths, Set: set})
	}
	return Or(odd...)
}

// In holds for documents of these repositories.
func In(repos ...string) Query {
	if len(repos) == 0 {
		return None()
	}
	return Query{Op: OpRepos, Set: repos}
}

// Head holds for documents of the first branch that is indexed.
func Head() Query { return Query{Op: OpBranch, Text: "HEAD"} }

// NamesOnly holds where q does, and has the server tell just the paths.
func NamesOnly(q Query) Query { return Query{Op: OpNamesOnly, Subs: []Query{q}} }

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
