package rust

import (
	"fmt"
	"strings"
	"unicode"

	"quarry/internal/re/hir"
	"quarry/internal/re/ucd"
)

// openGroup parses the start of a group, from ( to before the group's expression, or a whole (?flags).
func (p *parser) openGroup() error {
	open := p.pos
	p.bumpSpace()
	for _, look := range []string{"?=", "?!", "?<=", "?<!"} {
		if p.bumpIf(look) {
			return p.failECMA(open, p.pos, "look-around isn't supported in Rust syntax",
				"Use the JavaScript syntax for this pattern, or search without the look-around and filter.")
		}
	}
	f := &frame{outer: p.frame, open: open, last: lastNone, saved: p.flags}
	switch {
	case p.bumpIf("?P<"), p.bumpIf("?<"):
		if err := p.groupName(f); err != nil {
			return err
		}
	case p.bumpIf("?"):
		flags, only, err := p.groupFlags(open)
		if err != nil {
			return err
		}
		p.flags = flags
		if only {
			p.frame.flush()
			p.frame.last = lastNone
			p.frame.note(measure{})
			return nil
		}
	default:
		f.cap = len(p.names)
		p.names = append(p.names, "")
	}
	p.depth++
	if p.depth > p.flags.NestLimit {
		return p.failNest(open)
	}
	p.frame = f
	return nil
}

// closeGroup ends the innermost group; p.pos is at the ).
func (p *parser) closeGroup() error {
	f := p.frame
	if f.outer == nil {
		return p.fail(p.pos, p.pos+1, "unopened group",
			`Write \) to match a parenthesis.`)
	}
	n, m := f.finish()
	m.depth++
	p.bump()
	if err := p.check(f.open, m); err != nil {
		return err
	}
	if f.cap > 0 {
		n = hir.Capture(n, f.cap, f.name)
	}
	p.flags, p.frame = f.saved, f.outer
	p.depth--
	p.frame.push(n, m)
	return nil
}

// groupName parses a name and the > after it.
func (p *parser) groupName(f *frame) error {
	start := p.pos
	for !p.eof() && p.char() != '>' {
		if !nameChar(p.char(), p.pos == start) {
			at := p.pos
			p.bump()
			return p.fail(at, p.pos, "invalid character in a group name",
				"A name starts with a letter or _ and goes on with letters, digits, _ . [ ].")
		}
		p.bump()
	}
	if p.eof() {
		return p.fail(start, p.pos, "unclosed group name", `End the name with ">".`)
	}
	name := p.pattern[start:p.pos]
	p.bump()
	if name == "" {
		return p.fail(start, start, "empty group name", "Name the group, or write (?:…) for one without a name.")
	}
	if first, dup := p.byName[name]; dup {
		return p.fail(start, start+len(name), fmt.Sprintf("duplicate group name, first used at offset %d", first),
			"Give each group its own name.")
	}
	if p.byName == nil {
		p.byName = map[string]int{}
	}
	p.byName[name] = start
	f.cap, f.name = len(p.names), strings.Clone(name)
	p.names = append(p.names, f.name)
	return nil
}

// nameChar reports whether r may be part of a group's name.
func nameChar(r rune, first bool) bool {
	switch {
	case r == '_' || unicode.IsLetter(r):
		return true
	case !first && (r == '.' || r == '[' || r == ']' || unicode.IsNumber(r)):
		return true
	case r < 0x80:
		return false
	}
	set, _ := ucd.Lookup("Alphabetic") // rare: letter-like marks, letters unknown to package unicode
	return hir.ScalarClass(set).Contains(r)
}

// groupFlags parses flags after (? up to : or ). only reports that they are a directive
// without a group.
func (p *parser) groupFlags(open int) (flags Flags, only bool, err error) {
	flags = p.flags
	start := p.pos
	if p.eof() {
		return flags, false, p.fail(open, open+1, "unclosed group", `Close it with ")", or write \( to match a parenthesis.`)
	}
	var seen [128]bool
	on, dash := true, -1
	for p.char() != ':' && p.char() != ')' {
		c, at := p.char(), p.pos
		p.bump()
		switch {
		case c == '-' && !on:
			return flags, false, p.fail(at, p.pos, "a second - among the flags", "Write all flags to clear after one -, as in (?i-ms).")
		case c == '-':
			on, dash = false, p.pos
		case !setFlag(&flags, c, on):
			return flags, false, p.unknownFlag(open, at, c)
		case seen[c]:
			return flags, false, p.fail(at, p.pos, fmt.Sprintf("duplicate flag %q", string(c)), "Name each flag once.")
		default:
			seen[c] = true
		}
		if p.eof() {
			return flags, false, p.fail(p.pos, p.pos, "unclosed flags", `End the flags with ")" or ":".`)
		}
	}
	if dash == p.pos {
		return flags, false, p.fail(dash-1, dash, "nothing after - in the flags", "Name the flags to clear, as in (?-i).")
	}
	only = p.char() == ')'
	if only && p.pos == start {
		return flags, false, p.fail(open+1, open+2, "repetition of nothing",
			"There is nothing before the ?; write (?:…) for a group that doesn't capture.")
	}
	p.bump()
	return flags, only, nil
}

// setFlag sets flag c to on, and returns false if c isn't a flag.
func setFlag(f *Flags, c rune, on bool) bool {
	switch c {
	case 'i':
		f.CaseInsensitive = on
	case 'm':
		f.MultiLine = on
	case 's':
		f.DotMatchesNewLine = on
	case 'U':
		f.SwapGreed = on
	case 'u':
		f.NoUnicode = !on
	case 'R':
		f.CRLF = on
	case 'x':
		f.IgnoreWhitespace = on
	default:
		return false
	}
	return true
}

func (p *parser) unknownFlag(open, at int, c rune) error {
	hint := "The flags are i, m, s, R, U, u and x."
	rest := p.pattern[at:]
	switch {
	case strings.HasPrefix(rest, "P="), strings.HasPrefix(rest, "P>"), c == '&':
		return p.failECMA(at, p.pos, fmt.Sprintf("unknown flag %q", string(c)),
			"Backreferences and recursion need another engine; the JavaScript syntax has backreferences.")
	case c == '>':
		hint = "Matching never backtracks here: write (?:…) for an atomic group."
	case c == '|', c == '(':
		hint = "Write (?:…) for a group that doesn't capture."
	case c == '#':
		hint = "Use the flag x for comments."
	}
	if c == '>' || c == '|' || c == '(' || c == '#' {
		return p.fail(open, p.pos, fmt.Sprintf("unsupported group (?%c", c), hint)
	}
	return p.fail(at, p.pos, fmt.Sprintf("unknown flag %q", string(c)), hint)
}
