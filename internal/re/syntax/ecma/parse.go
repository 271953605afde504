package ecma

import (
	"strings"
	"unicode/utf8"

	"quarry/internal/re/hir"
	"quarry/internal/re/syntax"
)

const (
	// maxDepth limits the nesting of groups and classes. The parser and all users of the tree are
	// recursive. A thousand levels are far below any stack limit and above any handwritten pattern.
	maxDepth = 1000

	// defaultBudget limits the tree to about 40 MB. Runs of literal characters are one
	// node, so a literal of a megabyte is accepted.
	defaultBudget = 64 << 20

	// maxGroups is V8's limit.
	maxGroups = 1<<16 - 1

	// maxSameName limits the number of groups with one name, because each is compared with all
	// previous ones.
	maxSameName = 1000
)

// Parse parses a pattern as JavaScript's RegExp does with these flags. Its error is a
// *syntax.Error. Patterns may share a budget; nil means a separate budget.
func Parse(pattern string, flags Flags, budget *syntax.Budget) (*syntax.Parsed, error) {
	t, err := ParseTree(pattern, flags, budget)
	if err != nil {
		return nil, err
	}
	return t.Parsed(), nil
}

// ParseTree is Parse for callers that also need the exact tree.
func ParseTree(pattern string, flags Flags, budget *syntax.Budget) (*Tree, error) {
	if budget == nil {
		budget = syntax.NewBudget(defaultBudget, nil)
	}
	p := &parser{src: pattern, flags: flags, budget: budget}
	if off := invalidUTF8(pattern); off >= 0 {
		p.fail(off, 1, "Invalid UTF-8 in pattern", "Write the byte as an escape, or the pattern as UTF-8.")
		return nil, p.err
	}
	if flags&Unicode != 0 && flags&UnicodeSets != 0 {
		p.fail(0, 0, "Invalid regular expression flags", "Use either u or v, v includes u.")
		return nil, p.err
	}
	p.scanGroups()
	root := p.disjunction()
	if p.err == nil && p.pos < len(p.src) {
		p.fail(p.pos, 1, "Unmatched ')'", `Remove it, or write \) for a literal parenthesis.`)
	}
	p.resolve()
	if p.err != nil {
		return nil, p.err
	}
	annotate(root)
	return &Tree{Pattern: pattern, Flags: flags, Root: root, Names: p.names}, nil
}

func invalidUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return -1
}

// parser is the state of one parse. After the first error pos is at the end of the pattern, so
// that every loop ends; the result is then discarded.
type parser struct {
	src   string
	pos   int
	flags Flags // current flags: groups can change i, m and s
	err   *syntax.Error

	depth  int
	budget *syntax.Budget
	behind int // number of enclosing look-behinds

	names     []string // groups opened so far; 0 is the match
	total     int      // groups in the whole pattern
	named     bool     // some group in the pattern has a name
	open      []int    // groups that are open at the current position
	path      []choice // alternatives around the current position
	nextDisj  int
	where     map[string][]namedGroup
	backrefs  []backref
	foldCache map[foldKey]*hir.Class
}

// choice is one alternative of one disjunction.
type choice struct{ disj, alt int }

type namedGroup struct {
	cap  int
	path []choice
}

// backref is a reference. Its groups are known only after all groups are parsed.
type backref struct {
	node   *Node
	name   string // "" for a number, already in node.Groups
	off    int
	opened int   // number of groups opened before it
	inside []int // enclosing groups
	behind bool  // in a look-behind, where later groups match first
}

func (p *parser) fail(off, length int, reason, hint string) {
	if p.err == nil {
		p.err = &syntax.Error{Pattern: p.src, Offset: off, Length: length, Reason: reason, Hint: hint}
	}
	p.pos = len(p.src)
}

func (p *parser) done() bool { return p.pos >= len(p.src) }

// at returns the byte at distance d, or 0 past the end.
func (p *parser) at(d int) byte {
	if p.pos+d < len(p.src) {
		return p.src[p.pos+d]
	}
	return 0
}

func (p *parser) has(s string) bool { return strings.HasPrefix(p.src[p.pos:], s) }

func (p *parser) accept(s string) bool {
	if p.has(s) {
		p.pos += len(s)
		return true
	}
	return false
}

func (p *parser) rune() rune {
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += n
	return r
}

func (p *parser) enter(off int) bool {
	if p.depth++; p.depth > maxDepth {
		p.fail(off, 1, "Regular expression too large", "Nest fewer groups.")
		return false
	}
	return true
}

func (p *parser) node(n Node) *Node {
	p.take(syntax.NodeBytes)
	return &n
}

// take spends bytes of the budget.
func (p *parser) take(bytes int) {
	if p.err == nil && !p.budget.Take(bytes) {
		p.fail(p.pos, 0, "Regular expression too large", "Search for fewer or shorter patterns.")
	}
}

// closed returns a set with all characters added that equal one of its members under the current flags.
func (p *parser) closed(set *hir.Class) *hir.Class {
	p.take(syntax.RangeBytes * len(set.Ranges))
	return closeOver(p.flags.fold(), set)
}

// scanGroups counts the groups before parsing, because whether \7 is a reference and \k a
// letter depends on later text.
func (p *parser) scanGroups() {
	p.names = []string{""}
	class := 0
	for i := 0; i < len(p.src); i++ {
		switch c := p.src[i]; {
		case c == '\\':
			i++
		case c == '[' && (class == 0 || p.flags&UnicodeSets != 0):
			class++
		case c == ']' && class > 0:
			class--
		case c == '(' && class == 0:
			rest := p.src[i+1:]
			switch {
			case !strings.HasPrefix(rest, "?"):
				p.total++
			case strings.HasPrefix(rest, "?<") && !strings.HasPrefix(rest, "?<=") && !strings.HasPrefix(rest, "?<!"):
				p.total++
				p.named = true
			}
		}
	}
}

func (p *parser) disjunction() *Node {
	p.nextDisj++
	p.path = append(p.path, choice{disj: p.nextDisj})
	here := len(p.path) - 1
	alts := []*Node{p.alternative()}
	for p.accept("|") {
		p.path[here].alt++
		alts = append(alts, p.alternative())
	}
	p.path = p.path[:here]
	return newAlt(alts)
}

func (p *parser) alternative() *Node {
	var seq []*Node
	for !p.done() && p.at(0) != '|' && p.at(0) != ')' {
		if p.literalRun(&seq) {
			continue
		}
		capLo := len(p.names)
		n, quantifiable := p.term()
		if quantifiable || n.Kind == KindLook {
			bare, at := n, p.pos
			if n = p.quantified(n, capLo); n != bare && !quantifiable {
				p.fail(at, p.pos-at, "Invalid quantifier", "A look-around takes no quantifier: once is enough.")
			}
		}
		if n.Kind != KindEmpty {
			seq = append(seq, n)
		}
	}
	return newConcat(seq)
}

// literalRun parses a run of plain characters as one node. It leaves the last character if a
// quantifier follows.
func (p *parser) literalRun(seq *[]*Node) bool {
	if p.flags&IgnoreCase != 0 {
		return false
	}
	end := p.pos
	for end < len(p.src) && strings.IndexByte(`^$\.*+?()[]{}|`, p.src[end]) < 0 {
		end++
	}
	if end < len(p.src) && strings.IndexByte(`*+?{`, p.src[end]) >= 0 && end > p.pos {
		_, n := utf8.DecodeLastRuneInString(p.src[p.pos:end])
		end -= n
	}
	if end == p.pos {
		return false
	}
	*seq = append(*seq, p.node(Node{Kind: KindLiteral, Lit: []byte(p.src[p.pos:end])}))
	p.pos = end
	return true
}

// term parses an atom or assertion; quantifiable reports whether a quantifier may follow.
func (p *parser) term() (n *Node, quantifiable bool) {
	start := p.pos
	switch c := p.at(0); c {
	case '^', '$':
		p.pos++
		return p.lineAssertion(c), false
	case '(':
		return p.group()
	case '*', '+', '?':
		p.nothingToRepeat(start)
	case '{':
		if _, _, ok := p.interval(); ok {
			p.nothingToRepeat(start)
			break
		}
		return p.lone(), true
	case '}', ']':
		return p.lone(), true
	case '.':
		p.pos++
		set := hir.AnyScalar()
		if p.flags&DotAll == 0 {
			set = lineTerminators.Negate()
		}
		return p.node(Node{Kind: KindSet, Set: set}), true
	case '[':
		return p.class(), true
	case '\\':
		return p.atomEscape()
	default:
		return p.char(p.rune()), true
	}
	return &Node{}, false
}

func (p *parser) nothingToRepeat(off int) {
	p.fail(off, 1, "Nothing to repeat", `Put something before the quantifier, or write \`+p.src[off:off+1]+` for a literal one.`)
}

// lone parses an unpaired bracket as a literal or, in the strict grammar, reports an error.
func (p *parser) lone() *Node {
	if p.flags.strict() {
		p.fail(p.pos, 1, "Lone quantifier brackets", `Write \`+string(p.at(0))+` for a literal one.`)
		return &Node{}
	}
	return p.char(p.rune())
}

func (p *parser) lineAssertion(c byte) *Node {
	a := Start
	if c == '$' {
		a = End
	}
	if p.flags&Multiline != 0 {
		a += StartLine - Start
	}
	return p.node(Node{Kind: KindAssert, Assert: a})
}

// char returns one literal character under the current flags.
func (p *parser) char(r rune) *Node {
	if p.flags&IgnoreCase == 0 && utf8.ValidRune(r) {
		return p.node(Node{Kind: KindLiteral, Lit: utf8.AppendRune(nil, r)})
	}
	return p.node(Node{Kind: KindSet, Set: p.folded(r)})
}

type foldKey struct {
	fold Fold
	r    rune
}

// folded returns the set of characters that r matches.
func (p *parser) folded(r rune) *hir.Class {
	key := foldKey{p.flags.fold(), r}
	if c := p.foldCache[key]; c != nil {
		return c
	}
	c := closeOver(key.fold, hir.NewClass(hir.Range{Lo: r, Hi: r}))
	if p.foldCache == nil {
		p.foldCache = map[foldKey]*hir.Class{}
	}
	p.foldCache[key] = c
	return c
}

// quantified wraps n in the quantifier that follows, if there is one. The groups of n begin with capLo.
func (p *parser) quantified(n *Node, capLo int) *Node {
	if p.done() {
		return n
	}
	q := p.pos
	min, max := 0, hir.Unlimited
	switch p.at(0) {
	case '*':
		p.pos++
	case '+':
		p.pos++
		min = 1
	case '?':
		p.pos++
		max = 1
	case '{':
		lo, hi, ok := p.interval()
		if !ok {
			if p.flags.strict() {
				p.fail(q, 1, "Incomplete quantifier", `Write {n}, {n,} or {n,m}, or \{ for a literal brace.`)
			}
			return n
		}
		if hi != hir.Unlimited && hi < lo {
			p.fail(q, p.pos-q, "numbers out of order in {} quantifier", "Put the smaller number first.")
			return n
		}
		min, max = lo, hi
	default:
		return n
	}
	greedy := !p.accept("?")
	return p.node(Node{
		Kind: KindRepeat, Min: min, Max: max, Greedy: greedy,
		CapLo: capLo, CapHi: len(p.names), Subs: []*Node{n},
	})
}

// interval parses {n}, {n,} or {n,m}; if there is none it consumes nothing.
func (p *parser) interval() (min, max int, ok bool) {
	start := p.pos
	p.pos++
	if min, ok = p.number(); ok {
		max = min
		if p.accept(",") {
			max = hir.Unlimited
			if n, given := p.number(); given {
				max = n
			}
		}
		if p.accept("}") {
			return min, max, true
		}
	}
	p.pos = start
	return 0, 0, false
}

// maxCount is the largest count, as in V8.
const maxCount = 1<<31 - 1

func (p *parser) number() (n int, ok bool) {
	for c := p.at(0); '0' <= c && c <= '9'; c = p.at(0) {
		if n = n*10 + int(c-'0'); n > maxCount {
			n = maxCount
		}
		p.pos++
		ok = true
	}
	return n, ok
}
