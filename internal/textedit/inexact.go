package textedit

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"quarry/change"
)

// inexact handles a Lenient edit whose old text does not occur exactly. It removes copied line
// numbers, and accepts other white space if the place is certain. An edit that was already
// made gives a change.AlreadyError.
func (p *planner) inexact(e change.Edit, oldText, newText string) (Outcome, error) {
	if old, new, ok := withoutNumbers(oldText, newText); ok {
		if start, end, once := p.unique(old); once && old != new {
			return p.replaceInexact(start, end, old, new, "the line numbers of old_text were taken off")
		}
	}
	start, end, actual, next, how, ok := p.otherSpace(oldText, newText)
	made, last, once := 0, 0, false
	if spacedOf(newText).distinctWords() && !strings.Contains(oldText, newText) {
		made, last, once = p.unique(newText)
	}
	if ok && (!once || made >= end || last <= start) {
		// The text that the edit adds before or after the old text may already be there.
		if first, last, twice := p.unique(next); strings.Contains(next, actual) && twice && first < end && start < last {
			ok, once, made = false, true, first
		}
	}
	switch {
	case ok && !(once && made < end && start < last):
		return p.replaceInexact(start, end, actual, next, "matched with other white space ("+how+")")
	case once:
		return Outcome{}, &change.AlreadyError{Line: p.doc.LineAt(made)}
	}
	return Outcome{}, &change.NotFoundError{Old: e.Old, Near: p.closest(e.Old)}
}

// unique returns the span of a text. once is false unless the text occurs exactly once.
func (p *planner) unique(text string) (start, end int, once bool) {
	n := 0
	for s, e := range newMatcher(p.doc, text).matches() {
		if n++; n > 1 {
			return 0, 0, false
		}
		start, end = s, e
	}
	return start, end, n == 1
}

// replaceInexact replaces actual, the text at [start, end), by next.
func (p *planner) replaceInexact(start, end int, actual, next, note string) (Outcome, error) {
	if actual == next {
		return Outcome{}, &change.AlreadyError{Line: p.doc.LineAt(start)}
	}
	if err := p.addMatch(newReplacement(actual, next).piece(p.doc, &p.eol, start, end)); err != nil {
		return Outcome{}, err
	}
	return Outcome{Count: 1, Line: p.doc.LineAt(start), Note: note}, nil
}

var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *([0-9]+)(?:: |:$|- | \| ?|\t|→)`) })

// withoutNumbers removes the line numbers of a listing, if every line of the old text has one
// and they are consecutive. It also removes them from the new text if all of its lines have
// one. If only some have, the intention is unclear and ok is false.
func withoutNumbers(oldText, newText string) (old, new string, ok bool) {
	old, n := stripNumbers(oldText, true)
	if n == 0 || n < lineCount(oldText) {
		return "", "", false
	}
	new, n = stripNumbers(newText, false)
	if n > 0 && n < lineCount(newText) {
		return "", "", false
	}
	return old, new, true
}

func lineCount(text string) int { return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1 }

// stripNumbers removes line numbers from text, and returns how many lines had one.
func stripNumbers(text string, ascending bool) (string, int) {
	var b strings.Builder
	n, last := 0, 0
	for line := range strings.Lines(text) {
		m := numbered().FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			b.WriteString(line)
			continue
		}
		number, err := strconv.Atoi(m[1])
		if err != nil || ascending && n > 0 && number != last+1 {
			return text, 0
		}
		n, last = n+1, number
		b.WriteString(line[len(m[0]):])
	}
	return b.String(), n
}

// proseNames are extensions of files in which an ellipsis is ordinary text.
var proseNames = map[string]bool{"md": true, "markdown": true, "mdx": true, "txt": true, "rst": true, "adoc": true, "org": true, "tex": true}

var (
	// ellipsisComment matches a comment in place of omitted code. It doesn't match "* ...",
	// which is part of a comment of several lines.
	ellipsisComment = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?://+|#+|--|/\*+|<!--|;+|%|\{/\*)\s*(?:\.{3,}|…)(.*)$`)
	})
	ellipsisWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^[^\w]*(?:\.{3}|…)\s*\(?\[?(?:the\s+)?(?:(?:rest|remainder) of|existing|unchanged|remaining|previous|other|same as before|omitted|keep)\b.*$|(?i)^(?://+|#+|--|/\*+|<!--|;+|%|\{/\*)\s*(?:\(?\[?(?:the\s+)?(?:(?:rest|remainder) of|existing|unchanged|remaining)\b[^.…]*)(?:\.{3}|…).*$`)
	})
)

// omission returns a line of the new text that replaces omitted code, such as "// ... existing
// code ...", and isn't in the old text. It returns "" if there is none.
func omission(name, oldText, newText string) string {
	if !strings.Contains(newText, "...") && !strings.Contains(newText, "…") {
		return ""
	}
	ext := name[strings.LastIndexByte(name, '.')+1:]
	for line := range strings.Lines(newText) {
		t := strings.TrimSpace(line)
		if !strings.Contains(t, "...") && !strings.Contains(t, "…") || strings.Contains(oldText, t) {
			continue
		}
		if ellipsisWords().MatchString(t) {
			return t
		}
		if m := ellipsisComment().FindStringSubmatch(t); m != nil && !proseNames[strings.ToLower(ext)] && !strings.ContainsFunc(m[1], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return t
		}
	}
	return ""
}
