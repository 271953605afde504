package match

import (
	"context"
	"fmt"

	"quarry/internal/re/backref"
	"quarry/internal/re/hir"
	"quarry/internal/re/syntax/rust"
)

// Syntax is the language a pattern is written in.
type Syntax uint8

const (
	// Rust is the syntax of Rust's regex crate, and so of ripgrep.
	Rust Syntax = iota
	// ECMAScript is JavaScript's RegExp.
	ECMAScript
	// Literal is the text itself.
	Literal
	// Words is a list of words separated by white space: a line matches when
	// it has one of them, in any case; Need asks for all of them.
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

// Case says which letters are equal.
type Case uint8

const (
	// Sensitive distinguishes upper and lower case.
	Sensitive Case = iota
	// Insensitive ignores case, by Unicode's simple case folding.
	Insensitive
	// Smart is Insensitive when characters of the pattern stand for
	// themselves and none of them is upper case: foo, but not Foo or \p{Lu}.
	Smart
)

// Mode says what the haystack is.
type Mode uint8

const (
	// Lines runs the pattern on every line by itself, without its line
	// ending: \n, or \r\n. ^ and $ are the ends of the line, and nothing
	// matches across lines.
	Lines Mode = iota
	// Multiline runs it on the whole buffer; ^ and $ match at every line.
	Multiline
	// Text runs it on the whole buffer, with the syntax's own defaults: ^ is
	// the start of the text unless the pattern says (?m).
	Text
)

// Options of Compile. The zero value is a case-sensitive Rust pattern run
// line by line.
type Options struct {
	Syntax    Syntax
	Case      Case
	Mode      Mode
	WholeWord bool // only matches with no word character directly before or after
	WholeLine bool // only where the match is a whole line
	DotAll    bool // . also matches \n, in Multiline and Text

	// Unicode turns on the u flag of ECMAScript. Rust patterns have Unicode
	// classes anyway and can switch them off with (?-u).
	Unicode bool

	// UnicodeSets turns on the v flag of ECMAScript, which includes u: classes
	// nest and have && and --, \q{abc|d} and properties of strings such as
	// \p{RGI_Emoji}.
	UnicodeSets bool

	// KeepCR makes a carriage return before a line feed a part of the line, as in
	// ripgrep: $ does not match before it. Otherwise \r\n is one line ending.
	KeepCR bool

	// SizeLimit bounds the memory of the compiled pattern in bytes, or of all
	// patterns of one Compiler; 0 is 64 MB.
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

// CompileAny compiles several expressions into one pattern that matches where
// any of them does; at the same place the earlier one wins.
func CompileAny(exprs []string, opts Options) (*Pattern, error) {
	return NewCompiler(context.Background(), opts).Any(exprs)
}

// MustCompile is Compile for patterns known to be good; it panics otherwise.
func MustCompile(expr string, opts Options) *Pattern {
	p, err := Compile(expr, opts)
	if err != nil {
		panic(fmt.Sprintf("match: Compile(%q): %v", expr, err))
	}
	return p
}

// Hints names parts of the expressions that probably don't mean what was
// intended, such as grep's \| in Rust's syntax. Each hint is a sentence; there
// may be none.
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

// String returns the expression, several joined by line feeds.
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

// Groups returns the number of capture groups, the whole match included.
func (p *Pattern) Groups() int { return len(p.names) }

// GroupNames returns the groups' names by index; unnamed ones are "".
func (p *Pattern) GroupNames() []string { return p.names }

// Need returns what a text must contain for the pattern to match in it.
func (p *Pattern) Need() Need { return p.need }

// Strategy says in a word or two how the pattern is searched for, for
// statistics: "literal", "literals, then automaton", "automaton", ….
func (p *Pattern) Strategy() string { return p.plan.describe() }

// source is a parsed pattern on its way to a plan.
type source struct {
	root         *hir.Node
	names        []string
	superset     bool             // root only widens the pattern
	groupsDiffer bool             // root has the same matches, but other groups
	exact        *backref.Program // set with either of them
	ahead        []*hir.Node      // what has to follow in the text, besides root
}
