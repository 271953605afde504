// Package ecma parses JavaScript regular expressions (ECMAScript 2025, with Annex B if
// neither u nor v is given).
//
// In a text where the pattern matches in JavaScript, Parsed.Root matches too. Without Superset
// the spans are the same; otherwise package re/backref decides exactly, from the same Tree.
// The reasons of errors use V8's familiar wording.
//
// Differences from a JavaScript engine, mostly because text here is UTF-8 and not UTF-16:
//
//   - Without u or v a character over U+FFFF is one character, not two code
//     units: /^.$/ matches "😀", /[😀]/ is that character, and its quantifier
//     repeats all of it. Two \u escapes of a surrogate pair are one character.
//   - A lone surrogate is accepted and never matches, not even /[^a]/; nor
//     does any set match a byte that isn't UTF-8.
//   - The tables are those of package ucd, which may have an older or newer
//     Unicode version than an engine.
package ecma
