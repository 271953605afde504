// Package match compiles patterns and finds them in text.
//
// A [Pattern] is compiled once and shared; each goroutine gets a [Matcher]
// from it. Matching takes time linear in the text for every pattern that is
// regular; patterns with look-around or backreferences run under a budget.
//
// # Modes
//
// In [Lines], the default, every line is a separate text without its line ending (\n, or
// \r\n): ^ and $ match at its ends, \s and negated classes don't match line endings, and a
// pattern that needs a line feed is refused. [Multiline] and [Text] search the whole buffer
// as one text; see [Mode].
//
// # Rust syntax
//
// The syntax of Rust's regex crate, known from ripgrep.
//
//	.             any character but \n ((?s) adds it)
//	[a-z] [^a-z]  a class, and all but it; classes nest: [a-z&&[^aeiou]]
//	              && intersection, -- difference, ~~ symmetric difference
//	[[:alpha:]]   an ASCII class: alnum alpha ascii blank cntrl digit graph
//	              lower print punct space upper word xdigit; [[:^alpha:]]
//	\d \s \w      Unicode digit, white space, word character; \D \S \W not
//	\pL \p{Greek} a Unicode category, script or property; \p{sc=Greek},
//	              \p{scx=Greek}, \p{gc=Lu}, \p{Alphabetic}; \P{…} not
//	ab  a|b       one after the other; a, or else b
//	* + ? {n,m}   repetition, as much as possible; with ? after it, as little
//	^ $           start and end of the line; \A \z of the text
//	\b \B         at a word boundary, not at one
//	\b{start} \b{end}            where a word starts, ends; also \< \>
//	\b{start-half} \b{end-half}  no word character before, after
//	(…) (?<n>…)   a group, by number or name; (?:…) without one
//	(?i) (?i:…)   flags: i any case, m ^ and $ at lines, s dot matches \n,
//	              x white space and # comments ignored, U swap greed,
//	              u Unicode (on; (?-u) off), R \r\n is a line ending
//	\x7F \x{10FFFF} \u007F \u{7F} \U0000007F \a \f \t \n \r \v
//
// Look-around and backreferences are not supported; the error says so and suggests
// ECMAScript.
//
// # ECMAScript syntax
//
// JavaScript's RegExp, ES2025, without the u and v flags unless [Options].Unicode or
// [Options].UnicodeSets is set: \d \w \b are ASCII, \s is ECMAScript's white space, the dot
// excludes \n, \r, U+2028 and U+2029, and the lenient grammar of Annex B applies. Named
// groups, look-ahead, look-behind, backreferences and modifiers (?i:…) work. Text is matched
// by code points, so a character beyond U+FFFF is one character even without the u flag.
//
// Look-around and backreferences need a backtracking engine. It runs only on lines that
// match a widened, linear form of the pattern, and has a total budget; when that is spent,
// [Matcher.Err] says so.
//
// # Literal and Words
//
// [Literal] is literal text. [Words] is words separated by white space, in any case.
//
// # Case
//
// [Insensitive] uses Unicode's simple case folding: the long s matches s, the Kelvin sign
// matches k. ECMAScript without the u flag has its own folding, which doesn't mix ASCII with
// other letters.
package match
