package structure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"quarry/fault"
	"quarry/internal/symbols"
)

// Template is the replacement for matches of a pattern. It is safe for concurrent use.
type Template struct {
	*Pattern
	texts []string // around the holes: one more than holes
	used  []string // names of the holes, in order

	mu    sync.Mutex
	forms map[string]*form // by language
}

// HoleError reports a template with a hole that the pattern does not have.
type HoleError struct {
	Name string
	Have []string
}

func (e *HoleError) Error() string {
	return fmt.Sprintf("unknown hole %s in the replacement", e.Name)
}

func (e *HoleError) Code() fault.Code { return fault.InvalidArgument }

// Is lets errors.Is match the error's code.
func (e *HoleError) Is(target error) bool { return target == e.Code() }

// Hint lists the pattern's holes.
func (e *HoleError) Hint() string {
	if len(e.Have) == 0 {
		return "the structure has no holes with a name"
	}
	return "the structure has " + strings.Join(e.Have, ", ") + "; another sign than $ for holes keeps $ as text"
}

// Template parses a replacement: code with the holes of the pattern.
func (p *Pattern) Template(body string, sign rune) (*Template, error) {
	sign = cmp.Or(sign, DefaultHole)
	t := &Template{Pattern: p, forms: map[string]*form{}}
	text := ""
	for rest := strings.ReplaceAll(body, "\r\n", "\n"); rest != ""; {
		h, size := readHole(rest, byte(sign))
		if size == 0 {
			text, rest = text+rest[:1], rest[1:]
			continue
		}
		if !slices.Contains(p.names, h.name) {
			return nil, &HoleError{rest[:size], p.names}
		}
		t.texts, t.used = append(t.texts, text), append(t.used, h.name)
		text, rest = "", rest[size:]
	}
	t.texts = append(t.texts, text)
	return t, nil
}

// form is a template parsed as code of one language.
type form struct {
	first, last string // tokens
	statement   bool   // begins with a word that begins only statements
	slots       []slot // of the holes
}

// slot describes the neighbours of a hole in a template. They decide whether a piece
// needs brackets there.
type slot struct {
	left, right int  // how tightly the adjacent operators bind; 0 without one
	dot         bool // a . follows
	argument    bool // between the brackets and commas of a call or list
	last        bool // before the ) of a call
	bracket     byte // the opening bracket if the hole is alone in it, or 0
	bare        bool // outside of brackets
	arrow       bool // after =>
	start       bool // the template begins with it
	glued       bool // part of a longer name, or in a string
	kept        bool // has the same neighbours in the pattern
}

// form returns the template parsed as code of a language.
func (t *Template) form(language string) *form {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.forms[language]
	if f == nil {
		f = t.read(language)
		t.forms[language] = f
	}
	return f
}

func (t *Template) read(language string) *form {
	f := &form{slots: make([]slot, len(t.used))}
	body := ""
	for i, text := range t.texts {
		if body += text; i < len(t.used) {
			body += fmt.Sprintf("%s%dx", mark, i)
		}
	}
	for i := range f.slots {
		f.slots[i] = slot{glued: true}
	}
	code := symbols.LexAs(language, []byte(body))
	if code == nil || len(code.Tokens) == 0 {
		return f
	}
	s := newSource(code, []byte(body), true)
	f.first, f.last = s.str(0), s.str(len(s.toks)-1)
	f.statement = s.kindAt(0) == word && statements[f.first] && !s.memberOp(1)
	before := t.slotsBefore(language)
	for k := range s.toks {
		if n, ok := holeNumber(s.str(k)); ok && n < len(f.slots) && s.kindAt(k) == word {
			f.slots[n] = s.slot(k)
			was, ok := before[t.used[n]]
			f.slots[n].kept = ok && was == f.slots[n]
		}
	}
	return f
}

// slotsBefore returns the slots of the pattern's holes by name; repeated holes are omitted.
func (t *Template) slotsBefore(language string) map[string]slot {
	out := map[string]slot{}
	code := symbols.LexAs(language, []byte(t.Pattern.text))
	if code == nil {
		return out
	}
	twice := map[string]bool{}
	s := newSource(code, []byte(t.Pattern.text), true)
	for k := range s.toks {
		if n, ok := holeNumber(s.str(k)); ok && n < len(t.holes) && s.kindAt(k) == word {
			name := t.holes[n].name
			if _, known := out[name]; known {
				twice[name] = true
			}
			out[name] = s.slot(k)
		}
	}
	for name := range twice {
		delete(out, name)
	}
	return out
}

// slot describes the neighbours of token k of a template.
func (s *source) slot(k int) slot {
	return slot{
		left: s.leftLevel(k - 1), right: s.rightLevel(k + 1), dot: s.is(k+1, "."),
		argument: (s.is(k-1, ",") || s.opens(k-1, '(') || s.opens(k-1, '[')) && (s.is(k+1, ",") || s.closes(k+1, ')') || s.closes(k+1, ']')),
		bracket:  s.alone(k-1, k+1), bare: s.bare(k), last: s.closes(k+1, ')'), start: k == 0, arrow: s.is(k-1, "=>") || s.is(k-1, "->"),
	}
}

// alone returns the opening bracket at o if it closes at c, or 0. Parentheses count only
// if they belong to a call: (a) may not be (a,).
func (s *source) alone(o, c int) byte {
	if s.kindAt(o) != opening || s.toks[o].virtual || int(s.toks[o].mate) != c {
		return 0
	}
	b := s.text[s.toks[o].start]
	if b == '(' && s.kindAt(o-1) != word && s.kindAt(o-1) != closing {
		return 0
	}
	return b
}

// leftLevel returns how tightly the operator at k binds the code after it; 0 if it is not one.
func (s *source) leftLevel(k int) int {
	switch s.kindAt(k) {
	case op:
		switch {
		case s.is(k, ",") || s.is(k, ":") || s.loneBracket(k):
			return 0
		case s.memberOp(k):
			return postfix
		case s.prefixAt(k):
			return unary
		}
		return s.binary(k)
	case word:
		if w := s.str(k); s.prefixes[w] {
			return wordLevel(w)
		}
		return s.words[s.str(k)]
	}
	return 0
}

// rightLevel returns how tightly the operator or bracket at k binds the code before it; 0
// if it is neither.
func (s *source) rightLevel(k int) int {
	switch s.kindAt(k) {
	case op:
		switch {
		case s.is(k, ",") || s.is(k, ":") || s.loneBracket(k):
			return 0
		case s.memberOp(k) || s.after(k):
			return postfix
		}
		return s.binary(k)
	case opening:
		if s.joined(k) && (s.opens(k, '(') || s.opens(k, '[')) {
			return postfix
		}
	case word:
		return s.words[s.str(k)]
	}
	return 0
}

// loneBracket reports whether token k is an unpaired bracket, which is tokenized as an operator.
func (s *source) loneBracket(k int) bool {
	return s.kindAt(k) == op && strings.Contains("()[]{}", s.str(k))
}
