// Package match compiles patterns and finds them in text.
//
// A [Pattern] is compiled once and shared; each goroutine gets a [Matcher]
// from it. Matching takes time linear in the text for every pattern that is
// regular; patterns with look-around or backreferences run under a budget.
//
// # Modes
//
// In [Lines], the default, every line is a text of its own, without its line
// ending (\n, or \r\n): ^ and $ are its ends, \s and negated classes stop at
// them, and a pattern that asks for a line feed is refused. [Multiline] and
// [Text] take the whole buffer as one text; see [Mode].
//
// # Rust syntax
//
// The syntax of Rust's regex crate, which ripgrep's users know.
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
// There is no look-around and no backreference; the error says so and names
// ECMAScript.
//
// # ECMAScript syntax
//
// JavaScript's RegExp, ES2025, without the u and v flags unless
// [Options].Unicode or [Options].UnicodeSets is set: \d \w \b are ASCII, \s is ECMAScript's white space, the dot excludes \n,
// \r, U+2028 and U+2029, and the lenient grammar of Annex B applies. Named
// groups, look-ahead, look-behind, backreferences and modifiers (?i:…) work.
// Text is matched by code points, so a character beyond U+FFFF is one
// character even without the u flag.
//
// Look-around and backreferences need a backtracking engine. It only sees
// lines that a widened, linear form of the pattern matches, and all of its
// work together has a budget; when that is spent, [Matcher.Err] says so.
//
// # Literal and Words
//
// [Literal] is the text as it stands. [Words] is white-space separated words,
// each in any case.
//
// # Case
//
// [Insensitive] uses Unicode's simple case folding: the long s matches s, the
// Kelvin sign matches k. Without Unicode's flag ECMAScript has its own, which
// doesn't mix ASCII with other letters.
package match
