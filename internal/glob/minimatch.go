package glob

import (
	"slices"
	"strings"
	"unicode/utf8"
)

func (g *Glob) compileMinimatch() error {
	p := g.pattern
	if err := checkBalance(p); err != nil {
		return err
	}
	if p[0] == '#' { // a comment: matches nothing
		return nil
	}
	for p != "" && p[0] == '!' {
		g.invert = !g.invert
		p = p[1:]
	}
	alts, err := expandShell(p)
	if err != nil {
		return relocate(err, g.pattern, len(g.pattern)-len(p))
	}
	for _, a := range alts {
		ops, ok, reason := parseMinimatchRow(a)
		if reason != "" {
			return failure(g.pattern, 0, reason)
		}
		if ok {
			g.rows = append(g.rows, newRow(ops))
		}
	}
	return nil
}

// checkBalance refuses unbalanced brackets, which minimatch takes literally. They are probably
// mistakes.
func checkBalance(p string) *Error {
	var opens []int
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			part := p[i:]
			if _, n := parseMinimatchClass(part); n == len(part) && part[n-1] != ']' {
				// The class can't match; find its end by a simple search.
				if k := strings.IndexByte(part[1:], ']'); k >= 0 {
					i += k + 1
					continue
				}
				return failure(p, i, `"[" is never closed by "]"`)
			} else if n == 0 {
				return failure(p, i, `"[" is never closed by "]"`)
			} else {
				i += n - 1
			}
		case '{':
			opens = append(opens, i)
		case '}':
			if len(opens) == 0 {
				return failure(p, i, `"}" without "{" before it`)
			}
			opens = opens[:len(opens)-1]
		}
	}
	if len(opens) > 0 {
		return failure(p, opens[0], `"{" is never closed by "}"`)
	}
	return nil
}

// parseMinimatchRow parses one pattern without braces. ok is false if no clean relative path
// can match it.
func parseMinimatchRow(p string) (ops []op, ok bool, reason string) {
	parts := resolveDots(p)
	for i, part := range parts {
		last := i == len(parts)-1
		switch {
		case part == "**" && last:
			ops = append(ops, op{kind: opRest})
			continue
		case part == "**":
			ops = append(ops, op{kind: opDirs})
			continue
		case part == "" || part == "." || part == "..":
			return nil, false, "" // leading or trailing slash, or a part that no clean path has
		}
		seg, reason := parsePart(part)
		if reason != "" {
			return nil, false, reason
		}
		if slices.ContainsFunc(seg, func(o op) bool { return o.kind == opNever }) {
			return nil, false, ""
		}
		ops = append(ops, seg...)
		if !last {
			ops = append(ops, op{kind: opSep})
		}
	}
	return ops, len(ops) > 0, ""
}

// resolveDots splits a pattern at runs of slashes, joins adjacent ** parts, and lets ".."
// remove the preceding name.
func resolveDots(p string) []string {
	var parts []string
	for i := 0; ; {
		k := strings.IndexByte(p[i:], '/')
		part := p[i:]
		if k >= 0 {
			part = p[i : i+k]
		}
		prev := ""
		if len(parts) > 0 {
			prev = parts[len(parts)-1]
		}
		switch {
		case part == "**" && prev == "**":
		case part == ".." && prev != "" && prev != ".." && prev != "." && prev != "**":
			parts = parts[:len(parts)-1]
		default:
			parts = append(parts, part)
		}
		if k < 0 {
			return parts
		}
		for i += k; i < len(p) && p[i] == '/'; i++ {
		}
	}
}

// parsePart parses the part of a pattern between two slashes.
func parsePart(p string) ([]op, string) {
	switch p { // minimatch takes an empty group that is the whole part literally
	case "+()", "@()":
		return []op{{kind: opLit, lit: p}}, ""
	case "?()":
		return []op{{kind: opAny}, {kind: opLit, lit: "()"}}, ""
	case "*()":
		return []op{{kind: opStar}, {kind: opLit, lit: "()"}}, ""
	}
	toks := tokenize(p)
	b := extBuilder{toks: toks, close: pairExts(toks)}
	alts := b.build(0, len(toks), 0, 0)
	if b.reason != "" {
		return nil, b.reason
	}
	items := alts[0]
	ops := make([]op, 0, len(items))
	for _, it := range items {
		if it.kind == itemExt {
			return []op{{kind: opExt, ext: items}}, ""
		}
		ops = append(ops, it.op)
	}
	return ops, ""
}

type token struct {
	kind  tokKind
	op    op
	text  string // as written in the pattern
	class byte   // kind of an opening token: one of ! ? + * @
}

type tokKind uint8

const (
	tokOp tokKind = iota
	tokOpen
	tokBar
	tokClose
)

func tokenize(p string) []token {
	var toks []token
	lit := func(s string) { toks = append(toks, token{op: op{kind: opLit, lit: s}, text: s}) }
	for i := 0; i < len(p); {
		c := p[i]
		_, w := utf8.DecodeRuneInString(p[i:])
		switch {
		case c == '\\':
			if i+1 == len(p) {
				lit(`\`)
			} else {
				_, w := utf8.DecodeRuneInString(p[i+1:])
				lit(p[i+1 : i+1+w])
				i += w
			}
			i++
			continue
		case c == '[':
			if cl, n := parseMinimatchClass(p[i:]); n > 0 {
				o := op{kind: opClass, class: cl}
				if cl == nil {
					o = op{kind: opNever}
				}
				toks = append(toks, token{op: o})
				i += n
				continue
			}
			lit("[")
		case strings.IndexByte("!?+*@", c) >= 0 && i+1 < len(p) && p[i+1] == '(':
			toks = append(toks, token{kind: tokOpen, class: c, text: p[i : i+2]})
			i += 2
			continue
		case c == '|':
			toks = append(toks, token{kind: tokBar, text: "|"})
		case c == ')':
			toks = append(toks, token{kind: tokClose, text: ")"})
		case c == '*':
			toks = append(toks, token{op: op{kind: opStar}})
		case c == '?':
			toks = append(toks, token{op: op{kind: opAny}})
		default:
			lit(p[i : i+w])
		}
		i += w
	}
	return toks
}

// pairExts maps each opening token to its closing token.
func pairExts(toks []token) map[int]int {
	pairs := map[int]int{}
	var stack []int
	for i, t := range toks {
		if t.kind == tokOpen {
			stack = append(stack, i)
		} else if t.kind == tokClose && len(stack) > 0 {
			pairs[stack[len(stack)-1]] = i
			stack = stack[:len(stack)-1]
		}
	}
	return pairs
}

type extBuilder struct {
	toks   []token
	close  map[int]int
	reason string
}

// build parses the alternatives between two tokens. At depth 0 there is one alternative,
// because bars and lone brackets are literal there.
func (b *extBuilder) build(start, end, depth, neg int) [][]item {
	if depth > maxExtDepth {
		b.reason = "extglobs nested too deep"
		return [][]item{nil}
	}
	if neg > maxNegDepth {
		b.reason = "!(…) nested too deep"
		return [][]item{nil}
	}
	alts := [][]item{nil}
	for i := start; i < end; i++ {
		t := b.toks[i]
		seq := &alts[len(alts)-1]
		if closing, ok := b.close[i]; ok && t.kind == tokOpen {
			n := neg
			if t.class == '!' {
				n++
			}
			*seq = append(*seq, item{kind: itemExt, class: t.class, alts: b.build(i+1, closing, depth+1, n)})
			i = closing
			continue
		}
		switch {
		case t.kind == tokBar && depth > 0:
			alts = append(alts, nil)
		case t.kind == tokOp:
			*seq = append(*seq, item{op: t.op})
		default:
			*seq = append(*seq, item{op: op{kind: opLit, lit: t.text}})
		}
	}
	return alts
}
