package match

import (
	"context"
	"fmt"

	"quarry/internal/re/backref"
	"quarry/internal/re/hir"
	"quarry/internal/re/syntax/rust"
)

// Syntax is the language of a pattern: Rust, ECMAScript, Literal or Words.
type Syntax uint8

const (
	// Rust is the syntax of Rust's regex crate, and so of ripgrep.
	Rust Syntax = iota
	// ECMAScript is JavaScript's RegExp.
	ECMAScript
	// Literal matches the text itself.
	Literal
	// Words is a list of words separated by white space. A line matches if it contains any of
	// them, in any case, but Need requires all of them in the text.
	Words
)

func (s Syntax) String() string {
	switch s {
	case Rust:
		return "rust"
	case ECMAScript:
		return "javascript"
	case Literal:
		return "literal"
	case Words:
		return "words"
	}
	return fmt.Sprintf("syntax(%d)", uint8(s))
}

// Case determines which letters are equal: Sensitive, Insensitive or Smart.
type Case uint8

const (
	// Sensitive distinguishes upper and lower case.
	Sensitive Case = iota
	// Insensitive ignores case, by Unicode's simple case folding.
	Insensitive
	// Smart is Insensitive if the pattern has literal characters and none of them is
	// upper case: foo, but not Foo or \p{Lu}.
	Smart
)

// Mode determines the text that the pattern is matched against: Lines, Multiline or Text.
type Mode uint8

const (
	// Lines matches every line separately, without its line ending: \n, or \r\n. ^ and $
	// match at the ends of the line, and nothing matches across lines.
	Lines Mode = iota
	// Multiline matches the whole buffer; ^ and $ match at every line.
	Multiline
	// Text matches the whole buffer, with the syntax's own defaults: ^ is the start of the
	// text unless the pattern contains (?m).
	Text
)

// Options are the options of Compile. The zero value is a case-sensitive Rust pattern
// matched line by line.
type Options struct {
	Syntax    Syntax
	Case      Case
	Mode      Mode
	WholeWord bool // only matches with no word character directly before or after
	WholeLine bool // only matches that are a whole line
	DotAll    bool // . also matches \n, in Multiline and Text

	// Unicode enables the u flag of ECMAScript. Rust patterns have Unicode classes by
	// default and can disable them with (?-u).
	Unicode bool

	// UnicodeSets enables the v flag of ECMAScript, which includes u: classes nest and
	// support && and --, \q{abc|d} and properties of strings such as \p{RGI_Emoji}.
	UnicodeSets bool

	// KeepCR makes a carriage return before a line feed part of the line, as in ripgrep: $
	// does not match before it. Otherwise \r\n is one line ending.
	KeepCR bool

	// SizeLimit limits the memory of the compiled pattern in bytes, or of all patterns of
	// one Compiler; 0 means 64 MB.
	SizeLimit int
}

// Pattern is a compiled pattern. It is immutable and safe for concurrent use.
type Pattern struct {
	opts  Options
	exprs []string
	names []string
	need  Need
	plan  *plan
}

// Compile parses and compiles one expression. Its error is an *Error.
func Compile(expr string, opts Options) (*Pattern, error) {
	return CompileAny([]string{expr}, opts)
}

// CompileAny compiles several expressions into one pattern that matches where any of them
// does. At the same position the earlier expression wins.
func CompileAny(exprs []string, opts Options) (*Pattern, error) {
	return NewCompiler(context.Background(), opts).Any(exprs)
}

// MustCompile is Compile for patterns known to be valid; it panics otherwise.
func MustCompile(expr string, opts Options) *Pattern {
	p, err := Compile(expr, opts)
	if err != nil {
		panic(fmt.Sprintf("match: Compile(%q): %v", expr, err))
	}
	return p
}

// Hints returns sentences about parts of the expressions that probably don't have the intended
// meaning, such as grep's \| in Rust's syntax.
func (p *Pattern) Hints() []string {
	if p.opts.Syntax != Rust {
		return nil
	}
	var out []string
	for _, e := range p.exprs {
		out = append(out, rust.Hints(e)...)
	}
	return out
}

// String returns the expressions, joined by line feeds.
func (p *Pattern) String() string {
	s := p.exprs[0]
	for _, e := range p.exprs[1:] {
		s += "\n" + e
	}
	return s
}

// Mode returns the mode the pattern was compiled for.
func (p *Pattern) Mode() Mode { return p.opts.Mode }

// KeepsCR reports whether a carriage return before a line feed belongs to the line.
func (p *Pattern) KeepsCR() bool { return p.opts.KeepCR }

// Groups returns the number of capture groups, including the whole match.
func (p *Pattern) Groups() int { return len(p.names) }

// GroupNames returns the groups' names by index; unnamed ones are "".
func (p *Pattern) GroupNames() []string { return p.names }

// Need returns what a text must contain for the pattern to match.
func (p *Pattern) Need() Need { return p.need }

// Strategy describes the search strategy for statistics: "literal", "literals, then
// automaton", "automaton", ….
func (p *Pattern) Strategy() string { return p.plan.describe() }

// source is a parsed pattern before planning.
type source struct {
	root         *hir.Node
	names        []string
	superset     bool             // root matches more than the pattern
	groupsDiffer bool             // root has the same matches, but other groups
	exact        *backref.Program // set if superset or groupsDiffer is
	ahead        []*hir.Node      // besides root, these trees must match somewhere in the text
}
