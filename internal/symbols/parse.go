package symbols

import (
	"errors"
	"strings"
	"sync"
	"unsafe"
)

// parser holds the tokens of a text and the symbols found so far.
type parser struct {
	lang     *language
	text     []byte
	toks     []token
	match    []int32 // partners of brackets, by token
	angle    []int32 // cached results of angles by token, plus 1; 0 is unknown
	comments []span
	out      []Symbol
	scopes   []scope
	waiting  []opened

	// If names is set, only names are wanted. They share the bytes of the text. Macros, of
	// which a header may have 100,000, are stored as offsets in macros.
	names  bool
	macros []struct{ start, end int32 }

	openText  int  // offset + 1 of the first string or comment that is never closed
	unsure    bool // a slash may be a division or a regular expression
	oneBranch bool // only the first branch of every #if is read

	partial bool                              // the text was not read to its end
	failed  any                               // a reader's panic
	doc     struct{ before, line, first int } // the last comment that docLine looked at, with its line and result

	steps  int         // steps until the next check of budget and stop
	budget int         // total number of remaining steps
	stop   func() bool // nil never stops
}

// Readers look ahead, some of them to the end of the text for each token, so they have a
// budget: real sources take 5 to 30 steps a token. A text crafted to take more is read until
// the budget is used up.
const (
	stepsAToken = 64
	stepsAtOnce = 1 << 16  // under a millisecond
	maxSteps    = 72 << 20 // under a second; 8 MB of real source have two million tokens
)

// budgetOf returns the budget for n tokens or bytes.
func budgetOf(n int) int { return min(stepsAToken*n+1<<20, maxSteps) }

// errSpent ends the reading of a text. Functions that look at tokens panic with it, and
// read recovers.
var errSpent = errors.New("no steps left")

// step counts an access to a token.
func (p *parser) step() {
	if p.steps--; p.steps < 0 {
		p.refill()
	}
}

// stepBy counts n steps, for example for reading a line.
func (p *parser) stepBy(n int) {
	if p.steps -= n; p.steps < 0 {
		p.refill()
	}
}

func (p *parser) refill() {
	if p.budget -= stepsAtOnce; p.budget < 0 || p.stop != nil && p.stop() {
		panic(errSpent)
	}
	p.steps = stepsAtOnce
}

// scope is a definition whose body is being read.
type scope struct {
	end  int // token at which it ends
	name string
	kind Kind
	path string // cached container path of its members
}

// maxScopes limits the nesting of scopes. Deeper definitions have no container.
const maxScopes = 64

func (p *parser) str(i int) string {
	if i < 0 || i >= len(p.toks) {
		return ""
	}
	return p.string(p.text[p.toks[i].start:p.toks[i].end])
}

// string returns bytes of the text as a string.
func (p *parser) string(b []byte) string {
	if p.names && len(b) > 0 {
		return unsafe.String(&b[0], len(b))
	}
	return string(b)
}

// is reports whether token i is exactly s. It does not allocate.
func (p *parser) is(i int, s string) bool {
	p.step()
	if i < 0 || i >= len(p.toks) {
		return false
	}
	t := p.toks[i]
	return int(t.end-t.start) == len(s) && string(p.text[t.start:t.end]) == s && t.kind != text
}

// op reports whether the two bytes of s are the tokens i and i+1, without a gap.
func (p *parser) op(i int, s string) bool {
	return i+1 < len(p.toks) && p.is(i, s[:1]) && p.is(i+1, s[1:2]) && p.toks[i].end == p.toks[i+1].start
}

func (p *parser) isWord(i int) bool {
	p.step()
	return i >= 0 && i < len(p.toks) && p.toks[i].kind == word
}

func (p *parser) in(i int, set *wordSet) bool {
	if !p.isWord(i) {
		return false
	}
	t := p.toks[i]
	return set.has(p.text[t.start:t.end])
}

func (p *parser) byteAt(i int) byte {
	p.step()
	if i < 0 || i >= len(p.toks) || p.toks[i].kind != punct {
		return 0
	}
	return p.text[p.toks[i].start]
}

// after returns the token after the partner of the bracket at i.
func (p *parser) after(i int) int { return min(int(p.match[i])+1, len(p.toks)) }

// past returns the token after i, or after the group that opens at i.
func (p *parser) past(i int) int {
	switch p.byteAt(i) {
	case '(', '[', '{':
		return p.after(i)
	}
	return i + 1
}

// to returns the first token from i, outside of groups, that ends the search; or limit.
func (p *parser) to(i, limit int, ends func(k int) bool) int {
	for i < limit && !ends(i) {
		i = p.past(i)
	}
	return i
}

// enumerators records the member of an enumeration that begins at token i. It returns the
// token after the comma that follows, or the end.
func (p *parser) enumerators(i, end int) int {
	if p.isWord(i) {
		p.add(Member, i, i, i)
	}
	return min(p.to(i, end, func(k int) bool { return p.is(k, ",") })+1, end)
}

// close returns the partner of the bracket at i, at most the last token.
func (p *parser) close(i int) int { return max(i, min(int(p.match[i]), len(p.toks)-1)) }

// angles returns the token after the type arguments that open at i, or i. Results are
// cached, so that a long row of < takes linear time.
func (p *parser) angles(i int) int {
	if !p.is(i, "<") {
		return i
	}
	if p.angle == nil {
		p.angle = make([]int32, len(p.toks))
	}
	if p.angle[i] == 0 {
		p.angle[i] = int32(p.findAngle(i)) + 1
	}
	return int(p.angle[i]) - 1
}

func (p *parser) findAngle(i int) int {
	depth := 0
	for k := i; k < len(p.toks) && k < i+300; k++ {
		switch p.byteAt(k) {
		case '<':
			depth++
		case '>':
			if p.byteAt(k-1) == '-' || p.byteAt(k-1) == '=' {
				if p.toks[k-1].end == p.toks[k].start {
					continue // -> and =>
				}
			}
			if depth--; depth == 0 {
				return k + 1
			}
		case '(', '[', '{':
			k = p.after(k) - 1
		case ';', '}', ')':
			return i
		}
	}
	return i
}

// enter opens a scope that ends before token end.
func (p *parser) enter(end int, name string, kind Kind) {
	if len(p.scopes) < maxScopes {
		p.scopes = append(p.scopes, scope{end: end, name: name, kind: kind})
	}
}

// leave closes the scopes that end at or before token i.
func (p *parser) leave(i int) {
	for n := len(p.scopes); n > 0 && p.scopes[n-1].end <= i; n = len(p.scopes) {
		p.scopes = p.scopes[:n-1]
	}
}

// scopeKind returns the kind of the innermost scope, or 0 at the top level.
func (p *parser) scopeKind() Kind {
	if n := len(p.scopes); n > 0 {
		return p.scopes[n-1].kind
	}
	return 0
}

func (p *parser) inType() bool {
	k := p.scopeKind()
	return k.IsType() || k == Impl
}

func (p *parser) inCode() bool {
	k := p.scopeKind()
	return k == Function || k == Method
}

func (p *parser) container() string {
	n := len(p.scopes)
	switch n {
	case 0:
		return ""
	case 1:
		return p.scopes[0].name
	}
	if known := p.scopes[n-1].path; known != "" {
		return known
	}
	var parts []string
	for _, s := range p.scopes {
		if s.name != "" {
			parts = append(parts, s.name)
		}
	}
	p.scopes[n-1].path = strings.Join(parts, ".")
	return p.scopes[n-1].path
}

// add records a symbol by the token of its name and its first and last tokens.
func (p *parser) add(kind Kind, name, first, last int) *Symbol {
	return p.named(kind, p.str(name), name, first, last)
}

// named records a symbol whose name is not a single token.
func (p *parser) named(kind Kind, name string, at, first, last int) *Symbol {
	if name == "" || len(name) > maxName || at >= len(p.toks) {
		return &Symbol{}
	}
	if len(p.out) >= maxSymbols {
		p.partial = true
		return &Symbol{}
	}
	last = min(max(last, at), len(p.toks)-1)
	p.out = append(p.out, Symbol{
		Name: name, Kind: kind, Container: p.container(),
		Start: int(p.toks[min(first, at)].start), NameAt: int(p.toks[at].start), End: int(p.toks[last].end),
	})
	return &p.out[len(p.out)-1]
}

// block records a definition whose body opens at brace, and enters it. It returns the
// first token of the body.
func (p *parser) block(kind Kind, name, first, brace int) int {
	return p.namedBlock(kind, p.str(name), name, first, brace)
}

// namedBlock is block for a name that is not a single token.
func (p *parser) namedBlock(kind Kind, name string, at, first, brace int) int {
	p.named(kind, name, at, first, p.close(brace))
	p.enter(int(p.match[brace]), name, kind)
	return brace + 1
}

// member returns Member in an enumeration and Field elsewhere.
func (p *parser) member() Kind {
	if p.scopeKind() == Enum {
		return Member
	}
	return Field
}

// variable returns Field in a type and Variable elsewhere.
func (p *parser) variable() Kind {
	if p.inType() {
		return Field
	}
	return Variable
}

// unquoted returns a literal without its first and last byte.
func (p *parser) unquoted(i int) string {
	s := p.str(i)
	return s[1:max(1, len(s)-1)]
}

// callable returns Method in a type and Function elsewhere.
func (p *parser) callable() Kind {
	if p.inType() {
		return Method
	}
	return Function
}

// lineStart returns the first token of the line of token i.
func (p *parser) lineStart(i int) int {
	for n := 0; i > 0 && !p.toks[i].first && n < lineReach; n++ {
		i--
	}
	return i
}

// lineReach limits how many tokens of a line a reader examines, so that a file with a
// single long line takes linear time.
const lineReach = 200

// lineLast returns the last token of the line of token i.
func (p *parser) lineLast(i int) int {
	for n := 0; i+1 < len(p.toks) && !p.toks[i+1].first && n < lineReach; n++ {
		i++
	}
	return i
}

// column returns the indentation of token i, the first of its line; tabs count 8.
func (p *parser) column(i int) int {
	at := int(p.toks[i].start)
	start := at
	for start > 0 && (p.text[start-1] == ' ' || p.text[start-1] == '\t') {
		start--
	}
	col := 0
	for _, c := range p.text[start:at] {
		if c == '\t' {
			col += 8 - col%8
		} else {
			col++
		}
	}
	return col
}

// walk calls step for each token; step returns the next token to read. Scopes are closed
// on the way.
func (p *parser) walk(step func(i int) int) {
	for i := 0; i < len(p.toks); {
		p.leave(i)
		i = max(step(i), i+1)
	}
}

// wordSet is a set of words. It is built when it is first used, since most runs of the
// program need no symbols.
type wordSet struct {
	list  string // separated by spaces
	once  sync.Once
	words map[string]bool
	sizes uint64 // a bit for each word length, which excludes most words of a text quickly
}

func set(words string) *wordSet { return &wordSet{list: words} }

func (s *wordSet) has(w []byte) bool {
	s.once.Do(func() {
		s.words = map[string]bool{}
		for w := range strings.FieldsSeq(s.list) {
			s.words[w] = true
			s.sizes |= 1 << len(w)
		}
	})
	return s.sizes>>len(w)&1 != 0 && s.words[string(w)]
}
