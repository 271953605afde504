// Package pcre translates patterns in PCRE2's syntax, with UTF and UCP set as ripgrep does, to
// JavaScript's syntax, which our engine runs. A pattern that JavaScript can't express, or
// would match differently, gives an error, never an approximation.
package pcre

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"quarry/internal/re/syntax/ecma"
	"quarry/match"
)

// The classes of PCRE2 with Unicode properties.
const (
	// Word is the set of \w, for use in brackets.
	Word     = `\p{L}\p{N}\p{Mn}\p{Pc}`
	space    = `\p{Z}\t\n\v\f\r\x85`
	blank    = `\t \xA0\u1680\u180E\u2000-\u200A\u202F\u205F\u3000`
	vertical = `\n\v\f\r\x85\u2028\u2029`
)

// Refused returns the error for an unsupported part of a pattern.
func Refused(part, why string) error {
	return fmt.Errorf("PCRE2's %s is not supported: %s", part, why)
}

// frame is an open group.
type frame struct {
	begin   int          // offset of its start in the output
	flags   flags        // flags before the group
	inner   int          // number of groups (?i: opened in it, which are closed at the end of each alternative
	group   int          // number of the group; 0 if it doesn't capture
	set     map[int]bool // groups that are certainly set after the parsed part
	several bool         // the group has alternatives
	atomic  bool
	forgets bool // a look-around: groups set inside don't count as set after it
	behind  bool // a look-behind
	starts  int  // number of capturing groups before it
}

// flags are the flags i and s, which a pattern can change.
type flags struct{ fold, dotAll bool }

// reader translates one pattern.
type reader struct {
	s      string
	at     int
	out    strings.Builder
	frames []frame
	groups int
	names  map[string]int
	flags
	Options
	refers bool // the pattern has a backreference
	atomic int  // number of groups that only JavaScript's pattern has
	// nested is set if a capturing group is repeated. If an iteration does not set the group,
	// PCRE2 keeps the text of the previous iteration, and JavaScript does not.
	nested bool
}

// Text is a PCRE2 pattern in JavaScript's syntax.
type Text struct {
	JavaScript string
	Nested     bool // a group's text or number may differ from PCRE2's
	Refers     bool // the pattern has a backreference
}

// Options define how a pattern is translated.
type Options struct {
	Fold   bool // ignore case
	DotAll bool // . matches a line feed
	ByLine bool // the pattern sees one line at a time
	CRLF   bool // \r and \r\n end a line, like \n
}

// Translate translates a pattern to JavaScript's syntax.
func Translate(pattern string, o Options) (Text, error) {
	if !utf8.ValidString(pattern) {
		return Text{}, Refused("pattern", "it is not UTF-8")
	}
	r := &reader{s: pattern, Options: o, flags: flags{o.Fold, o.DotAll}, names: map[string]int{}, frames: []frame{{set: map[int]bool{}}}}
	for r.at < len(r.s) {
		if err := r.item(); err != nil {
			return Text{}, err
		}
	}
	if len(r.frames) > 1 {
		return Text{}, Refused("(", "it is not closed")
	}
	js := r.out.String() + strings.Repeat(")", r.top().inner)
	if t, err := ecma.ParseTree(js, ecma.Unicode, nil); err == nil && t.RefusesEmpty() {
		return Text{}, Refused("repetition", "PCRE2 ends it where its part matches nothing; put the longer alternatives first, or make them not empty")
	}
	return Text{js, r.nested || r.atomic > 0, r.refers || r.atomic > 0}, nil
}

// lineEnd returns the line terminators, for use in brackets.
func (r *reader) lineEnd() string {
	if r.CRLF {
		return `\r\n`
	}
	return `\n`
}

func (r *reader) rest() string      { return r.s[r.at:] }
func (r *reader) top() *frame       { return &r.frames[len(r.frames)-1] }
func (r *reader) has(p string) bool { return strings.HasPrefix(r.rest(), p) }

// item parses one part with its quantifier.
func (r *reader) item() error {
	groups, from, start, once := r.groups, r.at, r.out.Len(), false
	switch c := r.s[r.at]; c {
	case '(':
		return r.open()
	case ')':
		return r.close()
	case '|':
		top := r.top()
		top.several, top.set = true, map[int]bool{}
		r.out.WriteString(strings.Repeat(")", top.inner))
		r.emit("|"+strings.Repeat(r.foldGroup(), min(top.inner, 1)), 1)
		top.inner = min(top.inner, 1)
		return nil
	case '^':
		r.emit(`(?<![^`+r.lineEnd()+`])`, 1)
		if !r.ByLine { // ^ doesn't match after a line feed at the end of the text
			r.out.WriteString(`(?!(?<=\n)(?![\s\S]))`)
		}
		once = true
	case '$':
		r.emit(`(?![^`+r.lineEnd()+`])`, 1)
		once = true
	case '.':
		if r.dotAll {
			r.emit(`[\s\S]`, 1)
		} else {
			r.emit(`[^`+r.lineEnd()+`]`, 1)
		}
	case '[':
		text, err := r.class()
		if err != nil {
			return err
		}
		r.out.WriteString(text)
	case '\\':
		once = r.at+1 < len(r.s) && strings.IndexByte("bBAzZ", r.s[r.at+1]) >= 0
		if err := r.escape(); err != nil {
			return err
		}
	case '*', '+', '?':
		return Refused(string(c), "there is nothing before it to repeat")
	default:
		if n, _ := repeat(r.rest()); n > 0 {
			return Refused(r.rest()[:n], "there is nothing before it to repeat")
		}
		ch, size := utf8.DecodeRuneInString(r.rest())
		r.emit(jsLiteral(ch), size)
	}
	if r.ByLine && r.behind() && matchesLineFeed(r.out.String()[start:]) {
		return Refused(r.s[from:r.at], "in look-behind ripgrep sees the line feed before a line; name the characters, as [ \\t]")
	}
	if n, _ := repeat(r.rest()); n > 0 && once {
		return Refused(r.s[from:r.at+n], "an assertion is not repeated")
	}
	return r.quantifier(groups, start)
}

// foldGroup returns the start of a group that has the current case sensitivity.
func (r *reader) foldGroup() string {
	if r.fold {
		return "(?i:"
	}
	return "(?-i:"
}

func (r *reader) behind() bool {
	return slices.ContainsFunc(r.frames, func(f frame) bool { return f.behind })
}

// matchesLineFeed reports whether a part of a pattern can match a line feed. Assertions and
// references can't.
func matchesLineFeed(part string) bool {
	if !strings.HasPrefix(part, "[") && !strings.HasPrefix(part, `\`) && part != "\n" {
		return false
	}
	p, err := match.Compile(part, match.Options{Syntax: match.ECMAScript, Unicode: true, Mode: match.Text})
	if err != nil {
		return false
	}
	_, _, ok := p.NewMatcher().Find([]byte("\n"), 0)
	return ok
}

func (r *reader) emit(text string, n int) {
	r.out.WriteString(text)
	r.at += n
}

// jsLiteral returns a pattern that matches the character ch.
func jsLiteral(ch rune) string {
	if strings.ContainsRune(`^$\.*+?()[]{}|/`, ch) {
		return `\` + string(ch)
	}
	return string(ch)
}

// quantifier parses the quantifier of the preceding part. The part's output begins at from,
// and its groups have numbers above groups.
func (r *reader) quantifier(groups, from int) error {
	n, text := repeat(r.rest())
	if n == 0 {
		return nil
	}
	if text == "" {
		return Refused(r.rest()[:n], "write {0,n}")
	}
	for _, count := range strings.FieldsFunc(text, func(c rune) bool { return c < '0' || c > '9' }) {
		if len(count) > 5 || len(count) == 5 && count > "65535" {
			return Refused(text, "at most 65535 times")
		}
	}
	r.at += n
	switch {
	case r.has("+"):
		if err := r.keep(from, text); err != nil {
			return err
		}
		text = ""
		r.at++
	case r.has("?"):
		text += "?"
		r.at++
	}
	if m, _ := repeat(r.rest()); m > 0 {
		return Refused(r.rest()[:m], "two quantifiers in a row")
	}
	if r.behind() && (strings.Trim(text, "{0123456789,}?") != "" || strings.Contains(text, ",}")) {
		return Refused(text, "look-behind has to have a length")
	}
	r.out.WriteString(text)
	for g := groups + 1; g <= r.groups; g++ {
		delete(r.top().set, g) // the group may be unset, or have the text of another iteration
		r.nested = true
	}
	return nil
}

// keep makes the output after from, with its quantifier, atomic. JavaScript has no atomic
// groups, but its look-aheads are atomic.
func (r *reader) keep(from int, repeated string) error {
	if r.behind() {
		return Refused("atomic group", "not in look-behind")
	}
	part := r.out.String()[from:]
	if strings.Contains(part, "(?<Atomic") || r.atomic == 9 {
		return Refused("atomic group", "at most nine, none in another one")
	}
	r.atomic++
	text := r.out.String()[:from] + fmt.Sprintf(`(?:(?=(?<Atomic%[1]d>%[2]s%[3]s))\k<Atomic%[1]d>)`, r.atomic, part, repeated)
	r.out.Reset()
	r.out.WriteString(text)
	return nil
}

// repeat parses a quantifier at the start of s. It returns the quantifier's length, 0 if there
// is none, and its form in JavaScript, "" if versions of PCRE2 treat it differently.
func repeat(s string) (n int, js string) {
	if s == "" {
		return 0, ""
	}
	if strings.IndexByte("*+?", s[0]) >= 0 {
		return 1, s[:1]
	}
	end := strings.IndexByte(s, '}')
	if s[0] != '{' || end < 0 {
		return 0, ""
	}
	body := s[1:end]
	if strings.Trim(body, "0123456789, \t") != "" || strings.Trim(body, ", \t") == "" || strings.Count(body, ",") > 1 {
		return 0, ""
	}
	if body[0] == ',' || strings.ContainsAny(body, " \t") {
		return end + 1, ""
	}
	return end + 1, s[:end+1]
}

// open parses the start of a group.
func (r *reader) open() error {
	f := frame{set: map[int]bool{}, starts: r.groups, begin: r.out.Len(), flags: r.flags}
	for g := range r.top().set {
		f.set[g] = true
	}
	switch {
	case r.has("(?#"):
		end := strings.IndexByte(r.rest(), ')')
		if end < 0 {
			return Refused("(?#", "it is not closed")
		}
		r.at += end + 1
		return nil
	case r.has("(*"):
		return Refused("(*", "JavaScript has no verbs")
	case r.has("(?:"):
		r.emit("(?:", 3)
	case r.has("(?="), r.has("(?!"):
		f.forgets = true
		r.emit(r.rest()[:3], 3)
	case r.has("(?<="), r.has("(?<!"):
		f.forgets, f.behind = true, true
		r.emit(r.rest()[:4], 4)
	case r.has("(?<"), r.has("(?P<"), r.has("(?'"):
		return r.named(f)
	case r.has("(?P=") || r.has("(?P>"):
		return r.namedReference()
	case r.has("(?>"):
		f.atomic = true
		r.emit("(?:", 3)
	case r.has("(?"):
		n, closed, err := r.change()
		if err != nil {
			return err
		}
		if closed {
			r.top().inner++
		}
		if r.emit(r.foldGroup(), n); closed {
			return nil
		}
	default:
		r.groups++
		f.group = r.groups
		r.emit("(", 1)
	}
	r.frames = append(r.frames, f)
	return nil
}

// change parses the flags of (?i) or (?i:. closed reports whether they apply to the rest of
// the enclosing group.
func (r *reader) change() (n int, closed bool, err error) {
	refused := Refused(r.rest()[:min(len(r.rest()), 4)], "of the groups with ?, only (?:, (?>, look-around, names and the flags i, m and s are supported")
	on := true
	for n = 2; n < len(r.rest()); n++ {
		switch c := r.rest()[n]; {
		case c == 'i':
			r.fold = on
		case c == 's':
			r.dotAll = on
		case c == 'm' && on: // m is always set
		case c == '-' && on:
			on = false
		case c == ':' || c == ')':
			return n + 1, c == ')', nil
		default:
			return 0, false, refused
		}
	}
	return 0, false, refused
}

func (r *reader) named(f frame) error {
	begin := strings.IndexAny(r.rest(), "<'") + 1
	stop := strings.IndexAny(r.rest()[begin:], ">'")
	if stop <= 0 {
		return Refused(r.rest()[:begin], "a name must follow")
	}
	name := r.rest()[begin : begin+stop]
	if r.names[name] > 0 {
		return Refused("(?<"+name+">", "the name is used twice")
	}
	r.groups++
	f.group = r.groups
	r.names[name] = r.groups
	r.emit("(?<"+name+">", begin+stop+1)
	r.frames = append(r.frames, f)
	return nil
}

func (r *reader) namedReference() error {
	end := strings.IndexByte(r.rest(), ')')
	if end < 0 || !r.has("(?P=") {
		return Refused("(?P>", "JavaScript has no recursion")
	}
	name := r.rest()[4:end]
	groups, from := r.groups, r.out.Len()
	if err := r.reference(r.names[name], r.rest()[:end+1]); err != nil {
		return err
	}
	return r.quantifier(groups, from)
}

// close parses the end of a group, and its quantifier.
func (r *reader) close() error {
	if len(r.frames) == 1 {
		return Refused(")", "it closes nothing")
	}
	f := *r.top()
	r.frames, r.flags = r.frames[:len(r.frames)-1], f.flags
	r.emit(strings.Repeat(")", f.inner+1), 1)
	top := r.top()
	if !f.several && !f.forgets {
		top.set = f.set
	}
	if f.group > 0 && !f.forgets {
		top.set[f.group] = true
	}
	if f.atomic {
		if err := r.keep(f.begin, ""); err != nil {
			return err
		}
	}
	return r.quantifier(f.starts, f.begin)
}

// reference writes a backreference. It has the same meaning only for a group that is certainly set:
// a reference to an unset group never matches in PCRE2, and matches the empty text in JavaScript.
func (r *reader) reference(group int, text string) error {
	if r.behind() {
		return Refused(text, "no backreference in look-behind")
	}
	if group <= 0 || group > r.groups || !r.top().set[group] {
		return Refused(text, "it must refer to a group that is always set before it: not an optional, repeated or alternative one")
	}
	r.refers = true
	if r.atomic > 0 {
		return Refused(text, "not after an atomic group or a possessive quantifier")
	}
	r.emit(`(?:\`+strconv.Itoa(group)+`)`, len(text))
	return nil
}
