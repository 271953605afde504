package rust

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"quarry/internal/re/hir"
	"quarry/internal/re/syntax"
)

// repeat parses ?, * or +.
func (p *parser) repeat(op rune) error {
	start := p.pos
	sub := p.frame.pop()
	if sub == nil {
		return p.missing(op)
	}
	p.bump()
	greedy := !p.bumpIf("?")
	switch op {
	case '?':
		return p.pushRepeat(start, sub, 0, 1, greedy)
	case '*':
		return p.pushRepeat(start, sub, 0, hir.Unlimited, greedy)
	}
	return p.pushRepeat(start, sub, 1, hir.Unlimited, greedy)
}

// countedRepeat parses {n}, {n,} or {n,m}. Spaces around the numbers are ignored, with or
// without the flag x.
func (p *parser) countedRepeat() error {
	start := p.pos
	sub := p.frame.pop()
	if sub == nil {
		return p.missing('{')
	}
	unclosed := func() error {
		return p.fail(start, p.pos, "unclosed repetition count", `Write {n}, {n,} or {n,m}; write \{ to match a brace.`)
	}
	if !p.bumpSpace() {
		return unclosed()
	}
	least, err := p.decimal(start)
	if p.eof() {
		return unclosed()
	}
	most := least
	if p.char() == ',' {
		if !p.bumpSpace() {
			return unclosed()
		}
		if p.char() == '}' {
			most = hir.Unlimited
		} else if err == nil {
			most, err = p.decimal(start)
		}
	}
	if err != nil {
		return err
	}
	if p.eof() || p.char() != '}' {
		return unclosed()
	}
	p.bumpSpace()
	greedy := !p.bumpIf("?")
	if most != hir.Unlimited && least > most {
		return p.fail(start, p.pos, fmt.Sprintf("repetition count {%d,%d} is reversed", least, most), "Put the smaller number first.")
	}
	return p.pushRepeat(start, sub, least, most, greedy)
}

// decimal parses a number and the spaces around it. Counts over 2^31-1 are clamped to that
// value, which exceeds every limit.
func (p *parser) decimal(open int) (int, error) {
	for !p.eof() && unicode.IsSpace(p.char()) {
		p.bump()
	}
	start, digits, n := p.pos, 0, int64(0)
	for !p.eof() && '0' <= p.char() && p.char() <= '9' {
		n = min(n*10+int64(p.char()-'0'), math.MaxUint32+1)
		digits++
		p.bumpSpace()
	}
	end := p.pos
	for !p.eof() && unicode.IsSpace(p.char()) {
		p.bumpSpace()
	}
	switch {
	case digits == 0 && strings.HasPrefix(p.pattern[p.pos:], ","):
		return 0, p.fail(open, start, "repetition count without a number", "Write {0,m} for at most m times.")
	case digits == 0:
		return 0, p.fail(open, start, "repetition count without a number", `Write \{ to match a brace, or {n}, {n,} or {n,m} to repeat.`)
	case n > math.MaxUint32:
		return 0, p.fail(start, end, "repetition count is too large", "Use a smaller count, or an unbounded repetition such as x+.")
	}
	return int(min(n, math.MaxInt32)), nil
}

// pushRepeat adds a repetition of sub, which was just popped.
func (p *parser) pushRepeat(start int, sub *hir.Node, least, most int, greedy bool) error {
	m := p.frame.prev
	m.depth++
	if times := int64(max(least, most)); times > 1 {
		m.size = min(m.size*times, math.MaxInt32*2)
	}
	if err := p.check(start, m); err != nil {
		return err
	}
	p.frame.count--
	p.frame.push(hir.Repeat(sub, least, most, greedy != p.flags.SwapGreed), m)
	return nil
}

// missing returns the error for a repetition with nothing before it.
func (p *parser) missing(op rune) error {
	hint := fmt.Sprintf(`Put what to repeat before it, or write \%c to match the character.`, op)
	rest := p.pattern[p.pos:]
	switch {
	case op == '{':
		hint = `Write \{ to match a brace.`
	case p.pos == 0 && op == '*' && len(rest) > 1 && !strings.ContainsAny(rest[1:], `()[]|\+^$`):
		// These are globs: *.go, **/x, *foo*.
		return &syntax.Error{Pattern: p.pattern, Length: 1, Reason: nothingRepeated, Glob: true,
			Hint: fmt.Sprintf("This looks like a glob; as a regular expression it is %s.", globAsRegex(rest))}
	}
	return p.fail(p.pos, p.pos+1, nothingRepeated, hint)
}

const nothingRepeated = "repetition of nothing"

// globAsRegex converts a glob of *, ? and plain characters to a regular expression.
func globAsRegex(glob string) string {
	if i := strings.IndexByte(glob, '\n'); i >= 0 || len(glob) > 60 {
		return `of the form .*\.go$`
	}
	return "^" + strings.NewReplacer("**", ".*", "*", "[^/]*", "?", "[^/]", ".", `\.`, "{", `\{`, "}", `\}`).Replace(glob) + "$"
}
