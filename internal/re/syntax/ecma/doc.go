// Package ecma parses JavaScript regular expressions (ECMAScript 2025, with
// Annex B where neither u nor v is given).
//
// Its invariant: a text in which the pattern matches in JavaScript also
// matches Parsed.Root, and without Superset the spans are the same; the
// package re/backref decides the rest exactly from the same Tree. Reasons of
// errors are in V8's words, which people know.
//
// What differs from a JavaScript engine, most of it because text here is UTF-8
// and not UTF-16:
//
//   - Without u or v a character over U+FFFF is one character, not two code
//     units: /^.$/ matches "😀", /[😀]/ is that character, and its quantifier
//     takes all of it. Two \u escapes of a surrogate pair are one character.
//   - A lone surrogate is accepted and never matches, not even /[^a]/; nor
//     does any set match a byte that isn't UTF-8.
//   - Properties of strings (\p{RGI_Emoji} and its six kin, with v) are refused
//     as unknown; \q{…} is there.
//   - The tables are Unicode's of the package ucd, which may be a version
//     before or after an engine's.
package ecma
