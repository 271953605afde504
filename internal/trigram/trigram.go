// Package trigram converts texts to sets of grams, patterns to formulas over grams, and sets
// of documents to posting lists.
//
// If a pattern matches a text, its formula holds for the text's grams. Texts and literals are
// processed by the same function, which folds every character like match.FoldRune and maps it
// to one of 127 classes. One more bit tells whether the three characters contain a capital, so
// one index serves all case modes, and case-sensitive searches profit from it. A formula omits
// the uncertain parts of a literal, such as a line feed or bytes that may belong to a longer
// character: it may be too weak, but is never too strong.
package trigram
