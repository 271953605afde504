package structure

import (
	"strings"
	"sync"
)

// Levels of precedence, loosest first. Only their order matters: a language uses some of them
// and compares only its own. C binds &, ^ and | looser than comparisons, Python tighter, so
// each of the three has two levels.
const (
	level0         = iota // statements, declarations, lists
	levelArrow            // x => y
	assign                // =, +=; Ruby's trailing if
	colon                 // : of c ? a : b; Ruby's words or and and, which also end an expression
	ternary               // c ? a : b, Python's a if c else b, lambda
	rangeOp               // a..b
	nullish               // ??, ?:, orelse
	orOp                  // ||, or
	andOp                 // &&, and
	notWord               // Python's not
	infixWord             // Kotlin's until, downTo, step
	comparison            // all of Python's, Rust's and Swift's
	looseBitOr            // C's |
	looseBitXor           // C's ^
	looseBitAnd           // C's &
	equality              // C's == and !=; all comparisons of Go
	relational            // C's < and >, instanceof, TypeScript's as
	bitOr                 // | of Python and Rust
	bitXor                // ^
	bitAnd                // &
	shift                 // <<, >>
	additive              // +, -
	multiplicative        // *, /, %
	power                 // JavaScript's **
	cast                  // Rust's as
	unary                 // -a, !a, *a
	tightPower            // Python's **: -a ** b is -(a ** b)
	postfix               // a.b, a(b), a[b], a++
)

// newlines tells how line ends affect statements.
type newlines uint8

const (
	ignored  newlines = iota // statements end with ; or }
	asGo                     // as in Go: a line end after a token that can end a statement ends it
	loose                    // a line end ends a statement unless the next line continues it
	indented                 // as in Python: line ends end statements, and indentation makes blocks
)

// dialect describes a language for matching: how its lines end, how tightly its operators
// bind, and which tokens may be adjacent.
type dialect struct {
	newlines newlines
	ops      map[string]int // binary operators
	words    map[string]int // words that are binary operators
	casts    bool           // (T)x
	macros   bool           // has C's preprocessor
	lines    bool           // # begins a preprocessor line
	generics bool           // F<T>
	lists    bool           // a, b = c: the comma binds tighter than =
	arrow    bool           // -> is member access
	question bool           // has c ? a : b
	blocks   bool           // in f(x) {, f(x) is a call and not the head of a function
	tuples   bool           // (a,) is not (a)
	closures bool           // |x| y, and if, match and blocks are expressions
	header   bool           // T { begins a literal, except in a header, where it begins the body
	trailing bool           // f(x) { … } passes the block
	fresh    bool           // new T() { … } is one expression
	keeps    bool           // ; before } has a meaning
	dollar   bool           // $ is part of names
	power    bool           // ** is an operator
	elseIf   bool           // else takes if or a block, and no other statement

	starts   map[string]bool // words that begin a statement or a clause; an expression may follow
	prefixes map[string]bool // words before an operand that are part of it
}

func table(levels ...any) map[string]int {
	t := map[string]int{}
	for i := 0; i < len(levels); i += 2 {
		for _, op := range strings.Fields(levels[i+1].(string)) {
			t[op] = levels[i].(int)
		}
	}
	return t
}

const assigns = "= += -= *= /= %= &= |= ^= <<= &^= **= &&= ||= ??= //= :="

// dialects has brackets, words and operators by language; "" is for languages without an
// entry. They are built on first use, because most commands don't need them.
var dialects = sync.OnceValue(func() map[string]*dialect {
	opsC := table(assign, assigns, levelArrow, "=>", ternary, "? ?:", rangeOp, "..", nullish, "??", orOp, "||", andOp, "&&",
		looseBitOr, "|", looseBitXor, "^", looseBitAnd, "&", equality, "== != === !== <=>", relational, "< > <= >=",
		shift, "<<", additive, "+ -", multiplicative, "* / %", power, "**")
	opsGo := table(assign, assigns+" <- ++ --", orOp, "||", andOp, "&&", equality, "== != < > <= >=", additive, "+ - | ^", multiplicative, "* / % << & &^")
	opsPy := table(assign, assigns+" @=", levelArrow, "=> ->", rangeOp, ".. ..=", nullish, "?? ?:", orOp, "||", andOp, "&&", comparison, "== != < > <= >= === !== ~= <=>",
		bitOr, "|", bitXor, "^", bitAnd, "&", shift, "<<", additive, "+ -", multiplicative, "* / % // @", tightPower, "**")

	wordsC := table(relational, "instanceof in")
	wordsTS := table(relational, "instanceof in as satisfies is")
	wordsPy := table(ternary, "if else", orOp, "or", andOp, "and", comparison, "in is not", levelArrow, "for async")
	wordsRs := table(cast, "as")
	wordsSw := table(comparison, "is as in", orOp, "or", andOp, "and xor", infixWord, "until downTo step to")

	startsC := words("return throw case else do if while for switch assert default goto co_return")
	startsPHP := words("return throw case else do if while for switch default in foreach elseif elsif unless until echo print and or")
	startsJS := words("return throw case else do in of if while for switch default yield await extends")
	startsGo := words("return case go defer else if for switch goto range select default")
	startsPy := words("return raise else in if elif while for assert del with except and or is import as from")
	startsRs := words("return else in if while for match loop break")
	startsAny := words("return throw raise case else do in of if elif while for switch when unless until yield and or not then guard defer match")

	prefixesC := words("new sizeof await delete typeof co_await clone alignof")
	prefixesJS := words("await typeof void delete new yield async")
	prefixesTS := words("await typeof void delete new yield async keyof readonly infer unique asserts")
	prefixesGo := words("chan")
	prefixesPy := words("not await yield async")
	prefixesRs := words("mut ref dyn move async box unsafe try comptime")
	prefixesAny := words("await typeof new not try async")

	return map[string]*dialect{
		"C":          {starts: startsC, prefixes: words("sizeof alignof"), ops: opsC, casts: true, macros: true, lines: true, arrow: true, question: true},
		"C++":        {starts: startsC, prefixes: prefixesC, ops: opsC, casts: true, macros: true, lines: true, arrow: true, question: true, generics: true},
		"C#":         {starts: startsPHP, prefixes: prefixesC, ops: opsC, words: table(relational, "is as in"), casts: true, lines: true, question: true, generics: true, fresh: true},
		"Java":       {starts: startsC, prefixes: prefixesC, ops: withArrow(opsC), words: table(relational, "instanceof"), casts: true, question: true, generics: true, fresh: true, dollar: true},
		"PHP":        {power: true, starts: startsPHP, prefixes: prefixesC, ops: opsC, words: table(relational, "instanceof", orOp, "or", andOp, "and xor"), casts: true, arrow: true, question: true, dollar: true},
		"JavaScript": {power: true, starts: startsJS, prefixes: prefixesJS, newlines: loose, ops: opsC, words: wordsC, question: true, dollar: true},
		"TypeScript": {power: true, starts: startsJS, prefixes: prefixesTS, newlines: loose, ops: opsC, words: wordsTS, question: true, generics: true, dollar: true},
		"Go":         {elseIf: true, starts: startsGo, prefixes: prefixesGo, newlines: asGo, ops: opsGo, lists: true, blocks: true},
		"Python":     {power: true, starts: startsPy, prefixes: prefixesPy, newlines: indented, ops: opsPy, words: wordsPy, lists: true, tuples: true, blocks: true},
		"Rust":       {elseIf: true, starts: startsRs, prefixes: prefixesRs, ops: opsPy, words: wordsRs, generics: true, blocks: true, tuples: true, closures: true, header: true, keeps: true},
		"Zig":        {starts: startsRs, prefixes: prefixesRs, ops: opsPy, words: table(orOp, "or", andOp, "and", nullish, "orelse catch"), blocks: true, keeps: true},
		"Swift":      {elseIf: true, starts: startsAny, prefixes: prefixesAny, newlines: loose, ops: opsPy, words: wordsSw, question: true, generics: true, blocks: true, trailing: true},
		"Kotlin":     {starts: startsAny, prefixes: prefixesAny, newlines: loose, ops: withArrow(opsPy), words: wordsSw, generics: true, blocks: true, trailing: true},
		"Scala":      {starts: startsAny, prefixes: prefixesAny, newlines: loose, ops: opsC, words: wordsSw, blocks: true, trailing: true, dollar: true},
		"Ruby":       {power: true, starts: startsAny, prefixes: prefixesAny, newlines: loose, ops: opsPy, words: table(colon, "or and", assign, "if unless while until"), lists: true, question: true, blocks: true, trailing: true},
		"Perl":       {power: true, starts: startsPHP, prefixes: prefixesC, ops: opsC, arrow: true, question: true, dollar: true},
		"Lua":        {starts: startsAny, prefixes: prefixesAny, newlines: loose, ops: opsPy, words: table(orOp, "or", andOp, "and"), lists: true, blocks: true},
		"Elixir":     {starts: startsAny, prefixes: prefixesAny, newlines: loose, ops: opsPy, words: table(orOp, "or", andOp, "and", comparison, "in"), blocks: true},
		"Shell":      {starts: startsAny, prefixes: prefixesAny, newlines: loose, blocks: true, dollar: true},
		"":           {starts: startsAny, prefixes: prefixesAny, newlines: loose, ops: opsC, question: true, blocks: true},
	}
})

func dialectOf(language string) *dialect {
	all := dialects()
	if d := all[language]; d != nil {
		return d
	}
	return all[""]
}

func withArrow(ops map[string]int) map[string]int {
	t := map[string]int{"->": levelArrow}
	for op, p := range ops {
		t[op] = p
	}
	return t
}

func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

var (
	// declares are words that begin declarations.
	declares = words("func function def fn class struct interface enum trait impl type let const var val static mod module package import use " +
		"namespace union typedef extern export pub public private protected internal abstract final override async try catch finally fun object extends implements break continue global nonlocal macro_rules local sub defmodule where")
	// statements are words that begin a statement but never an expression.
	statements = words("var let const return throw raise defer go while for switch goto del assert import package type break continue with")
	// basicTypes are the types of C and Java that are words.
	basicTypes = words("int char long short unsigned signed float double bool byte boolean void")
	// continuers are words that continue the previous statement.
	continuers = words("else catch finally elif except rescue ensure")
	// joins are words that continue a line.
	joins = words("instanceof in of as is extends implements from where and or satisfies")
	// headers have a condition in parentheses, followed by a statement.
	headers = words("if while for switch catch with foreach until elsif elseif synchronized using lock")
)

// wordLevel returns how tightly a word binds the operand after it.
func wordLevel(w string) int {
	switch w {
	case "not":
		return notWord
	case "yield", "throw":
		return assign
	}
	return unary
}

// operators, longest first among those with the same first byte. > is never joined with
// another >, since they may close two type argument lists.
var operators = strings.Fields("... ..= === !== **= <<= &&= ||= ??= &^= <=> //= == != <= >= := += -= *= /= %= &= |= ^= && || ?? ?. ?: :: -> => <- ++ -- << ** .. &^ // !! |> ~= @=")

// munch returns the length of the operator at the start of s.
func munch(s []byte, d *dialect) int {
	best := 1
	for _, op := range operators {
		if len(op) > best && len(op) <= len(s) && string(s[:len(op)]) == op {
			best = len(op)
		}
	}
	switch {
	case best < 2:
	case s[0] == '?' && d.closures, s[0] == '!' && s[1] == '!' && !d.trailing, s[0] == '*' && s[1] == '*' && !d.power:
		return 1 // a?.b, !!a, **a
	}
	if best > 1 && s[0] == '/' && s[1] == '/' && d.newlines != indented {
		return 1
	}
	return best
}
