package glob

import (
	"strings"
	"unicode/utf8"
)

// parsePlain parses the plain dialect, in which every pattern is valid.
func parsePlain(p string) []op {
	p = strings.TrimSuffix(strings.TrimPrefix(p, "/"), "/")
	var ops []op
	for i := 0; i < len(p); {
		switch c := p[i]; c {
		case '*':
			n := 1
			for i+n < len(p) && p[i+n] == '*' {
				n++
			}
			atStart := i == 0 || p[i-1] == '/'
			i += n
			switch {
			case n == 1:
				ops = append(ops, op{kind: opStar})
			case i == len(p):
				ops = append(ops, op{kind: opRest})
			case atStart && p[i] == '/':
				ops = append(ops, op{kind: opDirs})
				i++
			default:
				ops = append(ops, op{kind: opDeep})
			}
		case '?':
			ops = append(ops, op{kind: opAny})
			i++
		case '/':
			ops = append(ops, op{kind: opSep})
			i++
		default:
			r, n := utf8.DecodeRuneInString(p[i:])
			ops = append(ops, op{kind: opFold, lit: string(fold(r))})
			i += n
		}
	}
	return ops
}

type wildFlags uint8

const (
	wildStrict wildFlags = 1 << iota // a malformed pattern is an error; otherwise it matches nothing, as in git
	wildRunes                        // ? and classes match characters; otherwise bytes
)

// parseWild parses git's wildmatch, in which slashes are special: * ? [ ] \ and, between
// slashes or the ends of the pattern, **.
func parseWild(p string, f wildFlags) ([]op, *Error) {
	var ops []op
	never := func(at int, reason string) ([]op, *Error) {
		if f&wildStrict != 0 {
			return nil, failure(p, at, reason)
		}
		return []op{{kind: opNever}}, nil
	}
	for i := 0; i < len(p); {
		switch c := p[i]; c {
		case '*':
			o, n := starOp(p, i)
			ops = append(ops, o)
			i += n
		case '?':
			k := opByte
			if f&wildRunes != 0 {
				k = opAny
			}
			ops = append(ops, op{kind: k})
			i++
		case '[':
			cl, n, reason := parseGitClass(p[i:], f&wildRunes != 0)
			if cl == nil {
				return never(i, reason)
			}
			if f&wildStrict != 0 && reason != "" {
				return nil, failure(p, i, reason)
			}
			ops = append(ops, op{kind: opClass, class: cl})
			i += n
		case '/':
			ops = append(ops, op{kind: opSep})
			i++
		case '\\':
			if i+1 == len(p) {
				return never(i, `"\" at the end escapes nothing`)
			}
			if p[i+1] == '/' {
				ops = append(ops, op{kind: opSep})
			} else {
				ops = append(ops, op{kind: opLit, lit: p[i+1 : i+2]})
			}
			i += 2
		default:
			j := i + 1
			for j < len(p) && !special(p[j]) {
				j++
			}
			ops = append(ops, op{kind: opLit, lit: p[i:j]})
			i = j
		}
	}
	return ops, nil
}

func special(c byte) bool { return c == '*' || c == '?' || c == '[' || c == '\\' || c == '/' }

// starOp returns the op for the run of stars at p[i], and the length of the run.
func starOp(p string, i int) (op, int) {
	n := 1
	for i+n < len(p) && p[i+n] == '*' {
		n++
	}
	rest := p[i+n:]
	switch {
	case n == 1 || i > 0 && p[i-1] != '/':
		return op{kind: opStar}, n
	case rest == "":
		return op{kind: opRest}, n
	case rest[0] == '/':
		return op{kind: opDirs}, n + 1
	case strings.HasPrefix(rest, `\/`):
		return op{kind: opDirs1}, n + 2
	}
	return op{kind: opStar}, n
}

// Wild is one pattern of an ignore file, matched as in git: by bytes, and a malformed pattern
// matches nothing.
type Wild struct {
	row row
}

// WildShape is a form of pattern that can be matched without the engine.
type WildShape uint8

const (
	WildGeneral WildShape = iota
	WildLiteral           // equals the text
	WildSuffix            // ends in the text: *.go
	WildPrefix            // starts with the text: test*
	WildNever             // matches nothing
)

// CompileWild compiles a pattern of an ignore file, given without its !, and without its leading and
// trailing slash. anchored says that the pattern is matched against whole paths rather than names.
//
// For an anchored pattern, git compares the text before the first special character
// separately, and treats the rest as a pattern of its own. So in "/foo**/bar" the rest begins
// with **, and matches "foobar" as well.
func CompileWild(pattern string, anchored bool) *Wild {
	n := 0
	if anchored {
		if n = strings.IndexAny(pattern, `*?[\`); n < 0 {
			n = len(pattern)
		}
	}
	ops, _ := parseWild(pattern[:n], 0) // only slashes are special in this text
	rest, _ := parseWild(pattern[n:], 0)
	if len(rest) == 1 && rest[0].kind == opNever {
		ops = nil
	}
	r := newRow(append(ops, rest...))
	r.bytes = true
	return &Wild{r}
}

// Match reports whether the pattern matches s, which is a path or, if the pattern isn't
// anchored, a name.
func (w *Wild) Match(s string) bool { return w.row.match(s) }

// Ends returns the first and the last byte of all texts that the pattern matches. A byte is 0
// if it varies.
func (w *Wild) Ends() (first, last byte) {
	ops := w.row.ops
	if len(ops) == 0 {
		return 0, 0
	}
	if o := ops[0]; o.kind == opLit {
		first = o.lit[0]
	}
	if o := ops[len(ops)-1]; o.kind == opLit {
		last = o.lit[len(o.lit)-1]
	}
	return first, last
}

// Shape returns a simple form that is equivalent to the pattern for text without slashes.
func (w *Wild) Shape() (WildShape, string) {
	ops := w.row.ops
	switch {
	case len(ops) == 1 && ops[0].kind == opLit || w.row.shape == shapeExact:
		return WildLiteral, w.row.lit
	case w.row.shape == shapeTop:
		return WildSuffix, w.row.lit
	case len(ops) == 2 && ops[0].kind == opLit && ops[1].kind == opStar:
		return WildPrefix, ops[0].lit
	case len(ops) == 1 && ops[0].kind == opNever:
		return WildNever, ""
	}
	return WildGeneral, ""
}
