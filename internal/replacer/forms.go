package replacer

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Sample is the first match of a form with its replacement, both cut to maxSample bytes. It
// represents all matches of the form.
type Sample struct {
	Old, New string
	Count    int
}

const (
	maxSample = 500
	// maxForms limits how many forms are distinguished. Up to fewForms forms all have a
	// sample, otherwise someForms of them.
	maxForms, fewForms, someForms = 500, 6, 4
)

// forms collects the different forms of matches, each with its first match. For example, after
// swapping the arguments of 118 calls, a user should check the four calls that look different.
type forms struct {
	byForm map[string]*Sample
	order  []*Sample
}

func (f *forms) add(old, new string) {
	form := formOf(cut(old))
	s := f.byForm[form]
	if s == nil {
		if len(f.order) == maxForms {
			return
		}
		if f.byForm == nil {
			f.byForm = map[string]*Sample{}
		}
		s = &Sample{Old: strings.Clone(cut(old)), New: strings.Clone(cut(new))}
		f.byForm[form], f.order = s, append(f.order, s)
	}
	s.Count++
}

// samples returns all forms if there are few, else the most frequent one and the rarest ones.
func (f *forms) samples() (out []Sample) {
	list := slices.Clone(f.order)
	slices.SortStableFunc(list, func(a, b *Sample) int { return cmp.Compare(b.Count, a.Count) })
	for i, s := range list {
		if i == 0 || i > len(list)-someForms || len(list) <= fewForms {
			out = append(out, *s)
		}
	}
	return out
}

func cut(text string) string {
	if len(text) <= maxSample {
		return text
	}
	end := maxSample
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// formOf replaces each word, string and run of white space in a text by one character.
func formOf(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		from, c := i, text[i]
		i++
		switch {
		case isWord(c):
			for i < len(text) && isWord(text[i]) {
				i++
			}
			b.WriteByte('w')
		case c == '"' || c == '\'' || c == '`':
			if end := endOfString(text, from); end > 0 {
				i = end
				b.WriteByte('"')
			} else {
				b.WriteByte(c)
			}
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			for i < len(text) && strings.IndexByte(" \t\r\n", text[i]) >= 0 {
				i++
			}
			b.WriteByte(' ')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c >= utf8.RuneSelf
}

// Unquoted empties every string in a text, so that calls that differ only in their messages
// become equal.
func Unquoted(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		c := text[i]
		b.WriteByte(c)
		i++
		if c == '"' || c == '\'' || c == '`' {
			if end := endOfString(text, i-1); end > 0 {
				b.WriteByte(c)
				i = end
			}
		}
	}
	return b.String()
}

// endOfString returns the end of the string that begins at from, or 0.
func endOfString(text string, from int) int {
	for i := from + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[from]:
			return i + 1
		}
	}
	return 0
}
