package glob

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type opKind uint8

const (
	opLit   opKind = iota // these bytes, without slashes
	opFold                // these characters, ignoring case
	opSep                 // one slash
	opAny                 // one character except a slash
	opByte                // one byte except a slash, under git's rules
	opClass               // one character of a class, never a slash
	opStar                // any run without a slash
	opDirs                // nothing, or a run that ends in a slash: **/
	opDirs1               // a run that ends in a slash: git's **\/
	opDeep                // any run, including slashes
	opRest                // the whole rest: a trailing **
	opExt                 // one whole part, matched by an extglob
	opNever               // never matches: git rejects the pattern
)

type op struct {
	kind  opKind
	last  bool   // opDirs: the rest of the row is one part, so try only the path's last part
	lit   string // opLit; opFold: folded
	class *class
	ext   []item
}

// A row is one pattern without alternatives. Nearly all patterns have a shape with a shortcut.
type row struct {
	shape shape
	bytes bool // * extends by bytes, because ? and classes match bytes
	lit   string
	end   string
	need  string // shapeOps: text that every match contains
	ops   []op
}

type shape uint8

const (
	shapeOps    shape = iota
	shapeAll          // **
	shapeExact        // src/main.go
	shapeName         // **/name
	shapeSuffix       // **/*.go
	shapePrefix       // **/test*
	shapeUnder        // dir/**, lit is "dir/"
	shapeBelow        // dir/**/*.go, lit is "dir/", end is ".go"
	shapeTop          // *.go at the top
)

// newRow makes a row: it joins literals and determines the shape. Matching by shape must give
// the same result as matching ops; TestShapesAgree checks this.
func newRow(ops []op) row {
	ops = joinLits(ops)
	r := row{ops: ops}
	is := func(kinds ...opKind) bool {
		if len(kinds) != len(ops) {
			return false
		}
		for i, k := range kinds {
			if ops[i].kind != k {
				return false
			}
		}
		return true
	}
	switch {
	case is(opRest):
		r.shape = shapeAll
	case is(opDirs, opLit):
		r.shape, r.lit = shapeName, ops[1].lit
	case is(opDirs, opStar, opLit):
		r.shape, r.lit = shapeSuffix, ops[2].lit
	case is(opDirs, opLit, opStar):
		r.shape, r.lit = shapePrefix, ops[1].lit
	case is(opStar, opLit):
		r.shape, r.lit = shapeTop, ops[1].lit
	default:
		lit, n := literalPrefix(ops)
		if n == len(ops) {
			r.shape, r.lit = shapeExact, lit
		} else if n == len(ops)-1 && n > 0 && ops[n].kind == opRest && ops[n-1].kind == opSep {
			r.shape, r.lit = shapeUnder, lit
		} else if n == len(ops)-3 && n > 0 && ops[n].kind == opDirs && ops[n-1].kind == opSep &&
			ops[n+1].kind == opStar && ops[n+2].kind == opLit {
			r.shape, r.lit, r.end = shapeBelow, lit, ops[n+2].lit
		}
	}
	if r.shape == shapeOps && len(ops) > 0 && ops[0].kind != opLit { // ops that begin with a literal are rejected fast without need
		for _, o := range ops {
			if o.kind == opLit && len(o.lit) > max(len(r.need), 1) {
				r.need = o.lit
			}
		}
	}
	for i := len(ops) - 1; i >= 0; i-- {
		if ops[i].kind == opDirs {
			ops[i].last = true
		}
		if ops[i].kind == opSep || ops[i].kind >= opDirs && ops[i].kind <= opRest {
			break
		}
	}
	return r
}

// literalPrefix returns the text of the leading literals and slashes of ops, and their number.
func literalPrefix(ops []op) (string, int) {
	var b strings.Builder
	for i, o := range ops {
		switch o.kind {
		case opLit:
			b.WriteString(o.lit)
		case opSep:
			b.WriteByte('/')
		default:
			return b.String(), i
		}
	}
	return b.String(), len(ops)
}

// joinLits joins adjacent literals, and adjacent stars. It copies each text once, because a
// pattern may have 65,000 escaped characters.
func joinLits(ops []op) []op {
	out := make([]op, 0, len(ops))
	for i := 0; i < len(ops); i++ {
		o := ops[i]
		switch o.kind {
		case opLit, opFold, opStar, opDirs, opDeep:
			end := i + 1
			for end < len(ops) && ops[end].kind == o.kind {
				end++
			}
			if end > i+1 && o.lit != "" {
				var b strings.Builder
				for _, part := range ops[i:end] {
					b.WriteString(part.lit)
				}
				o.lit = b.String()
			}
			i = end - 1
		}
		out = append(out, o)
	}
	return out
}

func (r *row) match(s string) bool {
	switch r.shape {
	case shapeAll:
		return true
	case shapeExact:
		return s == r.lit
	case shapeName:
		n := len(s) - len(r.lit)
		return n >= 0 && s[n:] == r.lit && (n == 0 || s[n-1] == '/')
	case shapeSuffix:
		return strings.HasSuffix(s, r.lit)
	case shapePrefix:
		return strings.HasPrefix(s[strings.LastIndexByte(s, '/')+1:], r.lit)
	case shapeUnder:
		return len(s) > len(r.lit) && s[:len(r.lit)] == r.lit
	case shapeBelow:
		return len(s) >= len(r.lit)+len(r.end) && s[:len(r.lit)] == r.lit && strings.HasSuffix(s, r.end)
	case shapeTop:
		return strings.HasSuffix(s, r.lit) && strings.IndexByte(s, '/') < 0
	}
	if r.need != "" && !strings.Contains(s, r.need) {
		return false
	}
	return r.run(s, false)
}

func (r *row) couldMatchBelow(dir string) bool {
	switch r.shape {
	case shapeAll, shapeName, shapeSuffix, shapePrefix:
		return true
	case shapeTop:
		return false
	}
	return r.run(dir, true)
}

// run matches s against ops. With below set it reports instead whether a longer path, s + "/"
// + more, could match; the first op that can cross slashes then decides that it could.
//
// On a mismatch it suffices to extend the last * of the part and, when that reaches a slash, the
// last **. The ops before it were matched as far left as possible, which leaves the most for the
// rest. So time is bounded by parts × len(s) × len(ops) and no results need to be cached.
func (r *row) run(s string, below bool) bool {
	ops := r.ops
	i, j := 0, 0
	star, starPos := -1, 0
	deep, deepPos := -1, 0
	for {
		ok := false
		if i == len(ops) {
			if j == len(s) && !below {
				return true
			}
		} else {
			o := &ops[i]
			switch o.kind {
			case opStar:
				star, starPos = i, j
				ok = true
			case opDirs, opDeep, opDirs1, opRest:
				if below || o.kind == opRest {
					return true
				}
				p := j
				if o.kind == opDirs1 {
					if p = afterSlash(s, j); p < 0 {
						return false
					}
				}
				if o.last {
					p += strings.LastIndexByte(s[p:], '/') + 1
				}
				deep, deepPos, star, j = i, p, -1, p
				ok = true
			case opSep:
				if j < len(s) && s[j] == '/' {
					j++
					star = -1
					ok = true
				} else if below && j == len(s) {
					return true
				}
			case opNever:
				return false
			default:
				if n := o.step(s[j:]); n >= 0 {
					j += n
					ok = true
				}
			}
		}
		if ok {
			i++
			continue
		}
		if star >= 0 && starPos < len(s) && s[starPos] != '/' {
			if r.bytes {
				starPos++
			} else {
				starPos += width(s[starPos:])
			}
			if star+1 < len(ops) {
				starPos = ops[star+1].hurry(s, starPos)
			}
			i, j = star+1, starPos
			continue
		}
		if star = -1; deep < 0 || deepPos >= len(s) {
			return false
		}
		if ops[deep].kind == opDeep {
			deepPos += width(s[deepPos:])
		} else if deepPos = afterSlash(s, deepPos); deepPos < 0 {
			return false
		}
		i, j = deep+1, deepPos
	}
}

// hurry moves p to the next position where op o, which follows a star, could match, at most to
// the next slash. Stopping too early only costs time.
func (o *op) hurry(s string, p int) int {
	switch o.kind {
	case opLit:
		for c := o.lit[0]; p < len(s) && s[p] != c && s[p] != '/'; {
			p++
		}
	case opFold:
		c := o.lit[0] // lit is folded, so also look for a capital
		if c >= utf8.RuneSelf || c == 'K' || c == 'S' {
			return p // has case variants of several bytes
		}
		lower := c
		if 'A' <= c && c <= 'Z' {
			lower = c + ('a' - 'A')
		}
		for p < len(s) && s[p] != c && s[p] != lower && s[p] != '/' {
			p++
		}
	}
	return p
}

// afterSlash returns the position after the next slash at or after j, or -1.
func afterSlash(s string, j int) int {
	k := strings.IndexByte(s[j:], '/')
	if k < 0 {
		return -1
	}
	return j + k + 1
}

// step matches one op within a part, at the start of s. It returns the number of bytes matched, or -1.
func (o *op) step(s string) int {
	switch o.kind {
	case opLit:
		if strings.HasPrefix(s, o.lit) {
			return len(o.lit)
		}
	case opFold:
		return foldPrefix(s, o.lit)
	case opAny, opByte:
		if s != "" && s[0] != '/' {
			if o.kind == opByte {
				return 1
			}
			return width(s)
		}
	case opClass:
		if s != "" && s[0] != '/' {
			return o.class.step(s)
		}
	case opExt:
		part := s
		if k := strings.IndexByte(s, '/'); k >= 0 {
			part = s[:k]
		}
		if matchExt(o.ext, part) {
			return len(part)
		}
	}
	return -1
}

// width returns the number of bytes of the first character of s, or 1 for a byte that isn't UTF-8.
func width(s string) int {
	if s[0] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// foldPrefix returns the number of bytes at the start of s that equal lit when folded, or -1.
func foldPrefix(s, lit string) int {
	j := 0
	for _, want := range lit {
		if j == len(s) {
			return -1
		}
		r, n := utf8.DecodeRuneInString(s[j:])
		if fold(r) != want {
			return -1
		}
		j += n
	}
	return j
}

// foldOps makes a row ignore case.
func foldOps(ops []op) {
	for i := range ops {
		switch o := &ops[i]; o.kind {
		case opLit:
			o.kind, o.lit = opFold, strings.Map(fold, o.lit)
		case opClass:
			c := *o.class
			c.fold = true
			o.class = &c
		}
	}
}

// fold returns the smallest character that differs from r only in case.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			return r - ('a' - 'A')
		}
		return r
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}
