package pcre

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// escape parses an escape outside of a class.
func (r *reader) escape() error {
	if r.at+1 >= len(r.s) {
		return Refused(`\`, "nothing follows it")
	}
	switch c := r.s[r.at+1]; c {
	case 'b', 'B':
		word := "[" + Word + "]"
		text := fmt.Sprintf("(?:(?<=%[1]s)(?!%[1]s)|(?<!%[1]s)(?=%[1]s))", word)
		if c == 'B' {
			text = fmt.Sprintf("(?:(?<=%[1]s)(?=%[1]s)|(?<!%[1]s)(?!%[1]s))", word)
		}
		r.emit(text, 2)
		return nil
	case 'N':
		if r.has(`\N{`) {
			return Refused(`\N{`, `write \x{…}`)
		}
		r.emit(`[^`+r.lineEnd()+`]`, 2)
		return nil
	case 'A', 'z', 'Z':
		last := `\n?`
		if r.CRLF {
			last = `(?:\r?\n|\r)?`
		}
		r.emit(map[byte]string{'A': `(?<![\s\S])`, 'z': `(?![\s\S])`, 'Z': `(?=` + last + `(?![\s\S]))`}[c], 2)
		return nil
	case 'Q':
		text := r.s[r.at+2:]
		end := strings.Index(text, `\E`)
		if end < 0 {
			return Refused(`\Q`, `\E must follow`)
		}
		for _, ch := range text[:end] {
			r.out.WriteString(jsLiteral(ch))
		}
		r.at += 2 + end + 2
		if m, _ := repeat(r.rest()); m > 0 {
			return Refused(`\Q…\E`, "write the repeated part separately")
		}
		return nil
	case 'k', 'g':
		return r.namedEscape()
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		end := r.at + 1
		for end < len(r.s) && '0' <= r.s[end] && r.s[end] <= '9' {
			end++
		}
		n, _ := strconv.Atoi(r.s[r.at+1 : end])
		return r.reference(n, r.s[r.at:end])
	}
	ch, class, n, err := r.unit()
	if err != nil {
		return err
	}
	if class != "" {
		r.emit(class, n)
	} else {
		r.emit(jsLiteral(ch), n)
	}
	return nil
}

// namedEscape parses references by name or in \g form: \k<name> and similar, \g1, \g{1},
// \g{-1} and \g{name}.
func (r *reader) namedEscape() error {
	text := r.rest()
	n := 3
	if n > len(text) {
		return Refused(text, "a group must follow")
	}
	name := ""
	if closing := map[byte]string{'{': "}", '<': ">", '\'': "'"}[text[2]]; closing != "" {
		end := strings.Index(text[3:], closing)
		if end < 0 || text[1] == 'g' && closing != "}" {
			return Refused(text[:3], "JavaScript has no recursion; write a reference as \\g{1} or \\k<name>")
		}
		name, n = text[3:3+end], 3+end+1
	} else if text[1] == 'g' {
		for n = 2; n < len(text) && ('0' <= text[n] && text[n] <= '9' || n == 2 && text[n] == '-'); n++ {
		}
		name = text[2:n]
	} else {
		return Refused(text[:3], `it is \k<name>`)
	}
	group := r.names[name]
	if number, err := strconv.Atoi(name); err == nil && text[1] == 'g' {
		if group = number; number < 0 {
			group = r.groups + 1 + number
		}
	}
	return r.reference(group, text[:n])
}

// unit parses an escape for a character or a class, inside or outside of a class. The result
// class is in a form valid in both: inside of a class it needs no further brackets.
func (r *reader) unit() (ch rune, class string, n int, err error) {
	text := r.rest()
	bad := func(why string) (rune, string, int, error) {
		return 0, "", 0, Refused(text[:min(len(text), 2)], why)
	}
	if len(text) < 2 {
		return bad("nothing follows it")
	}
	if set, ok := map[byte]string{'w': Word, 's': space, 'd': `\p{Nd}`, 'h': blank, 'v': vertical}[text[1]|0x20]; ok && text[1] != 'N' {
		if 'A' <= text[1] && text[1] <= 'Z' {
			return 0, "[^" + set + "]", 2, nil
		}
		return 0, "[" + set + "]", 2, nil
	}
	switch c := text[1]; c {
	case 't', 'n', 'r', 'f', 'e', 'a':
		return map[byte]rune{'t': '\t', 'n': '\n', 'r': '\r', 'f': '\f', 'e': 0x1B, 'a': 7}[c], "", 2, nil
	case 'p', 'P':
		return r.property()
	case 'x':
		return r.hex()
	case 'o':
		if end := strings.IndexByte(text, '}'); len(text) > 2 && text[2] == '{' && end > 0 {
			if v, err := strconv.ParseUint(text[3:end], 8, 32); err == nil && utf8.ValidRune(rune(v)) {
				return rune(v), "", end + 1, nil
			}
		}
		return bad(`it is \o{101}`)
	case '0':
		n = 2
		for n < len(text) && n < 4 && '0' <= text[n] && text[n] <= '7' {
			n++
		}
		v, _ := strconv.ParseUint(text[1:n], 8, 32)
		return rune(v), "", n, nil
	case 'c':
		if len(text) > 2 && text[2] >= ' ' && text[2] < 127 {
			up := text[2]
			if 'a' <= up && up <= 'z' {
				up -= 0x20
			}
			return rune(up ^ 0x40), "", 3, nil
		}
		return bad("a character must follow")
	case 'A', 'z', 'Z':
		return bad("not in a class")
	case 'G':
		return bad("a search has no start position")
	case 'K':
		return bad("to show a part of a match, put it into a group and give -o -r '$1'")
	case 'R', 'X', 'C':
		return bad(`write the characters as a class: [\r\n]`)
	case 'E':
		return bad(`there is no \Q before it`)
	}
	ch, size := utf8.DecodeRuneInString(text[1:])
	if ch < utf8.RuneSelf && (ch >= '0' && ch <= '9' || ch|0x20 >= 'a' && ch|0x20 <= 'z') {
		return bad("no such escape")
	}
	return ch, "", 1 + size, nil
}

// hex parses \xHH and \x{H…}.
func (r *reader) hex() (ch rune, class string, n int, err error) {
	text := r.rest()
	digits, n := "", 2
	if end := strings.IndexByte(text, '}'); len(text) > 2 && text[2] == '{' && end > 0 {
		digits, n = text[3:end], end+1
	} else {
		for n < len(text) && n < 4 && strings.IndexByte("0123456789abcdefABCDEF", text[n]) >= 0 {
			n++
		}
		digits = text[2:n]
	}
	v, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || !utf8.ValidRune(rune(v)) {
		return 0, "", 0, Refused(text[:min(len(text), n)], `it is \xC9 or \x{C9}`)
	}
	return rune(v), "", n, nil
}

// pcreCategories are the properties with the same meaning in PCRE2 and JavaScript.
const pcreCategories = " C Cc Cf Cn Co L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs "

// property parses \pL, \p{Lu}, \p{^Lu} and the same with \P.
func (r *reader) property() (ch rune, class string, n int, err error) {
	text := r.rest()
	name, n := "", 3
	if len(text) > 2 && text[2] == '{' {
		end := strings.IndexByte(text, '}')
		if end < 0 {
			return 0, "", 0, Refused(text[:3], "it is not closed")
		}
		name, n = text[3:end], end+1
	} else if len(text) > 2 {
		name = text[2:3]
	} else {
		return 0, "", 0, Refused(text, "a property must follow")
	}
	kind := text[1]
	if inner, not := strings.CutPrefix(name, "^"); not {
		name, kind = inner, kind^0x20
	}
	if name == "L&" {
		return 0, map[byte]string{'p': `[\p{Lu}\p{Ll}\p{Lt}]`, 'P': `[^\p{Lu}\p{Ll}\p{Lt}]`}[kind], n, nil
	}
	if !strings.Contains(pcreCategories, " "+name+" ") || name == "" {
		return 0, "", 0, Refused(text[:n], "only general categories are supported, such as \\p{L} and \\p{Lu}")
	}
	if r.fold && (name == "Lu" || name == "Ll" || name == "Lt") {
		return 0, "", 0, Refused(text[:n], "with -i it has two meanings; write \\p{L&}")
	}
	return 0, fmt.Sprintf(`\%c{%s}`, kind, name), n, nil
}

// posixClasses are the POSIX classes that have the same meaning with UCP in all versions of PCRE2.
var posixClasses = map[string]string{
	"alpha": `\p{L}`, "alnum": `\p{L}\p{N}`, "digit": `\p{Nd}`, "space": space, "blank": blank, "word": Word, "cntrl": `\p{Cc}`,
}

// class parses [...].
func (r *reader) class() (string, error) {
	var b strings.Builder
	begin := r.at
	r.at++
	b.WriteByte('[')
	if r.has("^") {
		b.WriteByte('^')
		r.at++
	}
	negated := b.Len() == 2
	single := func(ch rune) string {
		if strings.ContainsRune(`^$\.*+?()[]{}|/-`, ch) {
			return `\` + string(ch)
		}
		return string(ch)
	}
	for first := true; ; first = false {
		if r.at >= len(r.s) {
			return "", Refused("[", "it is not closed")
		}
		if r.s[r.at] == ']' && !first {
			r.at++
			break
		}
		lo, set, err := r.member(negated)
		if err != nil {
			return "", err
		}
		if set != "" {
			b.WriteString(set)
			if r.has("-") && !r.has("-]") {
				return "", Refused(r.s[begin:r.at+1], `write \- for a hyphen after a class`)
			}
			continue
		}
		if !r.has("-") || r.has("-]") {
			b.WriteString(single(lo))
			continue
		}
		r.at++
		hi, set, err := r.member(negated)
		if err != nil {
			return "", err
		}
		if set != "" || hi < lo {
			return "", Refused(r.s[begin:r.at], "it is not a valid range")
		}
		b.WriteString(single(lo) + "-" + single(hi))
	}
	b.WriteByte(']')
	return b.String(), nil
}

// member parses one character of a class, or a class in it. For a class, it returns set, which
// has no outer brackets.
func (r *reader) member(negated bool) (ch rune, set string, err error) {
	if r.has("[:") {
		if end := strings.Index(r.rest(), ":]"); end > 0 {
			name := r.rest()[2:end]
			set, ok := posixClasses[name]
			if !ok {
				return 0, "", Refused(r.rest()[:end+2], "write the characters, or a property as \\p{L}")
			}
			r.at += end + 2
			return 0, set, nil
		}
	}
	if r.has("[.") || r.has("[=") {
		return 0, "", Refused(r.rest()[:2], `write \[ for a bracket`)
	}
	if r.s[r.at] != '\\' {
		ch, size := utf8.DecodeRuneInString(r.rest())
		r.at += size
		return ch, "", nil
	}
	if r.has(`\b`) {
		r.at += 2
		return 8, "", nil
	}
	if r.has(`\Q`) || r.has(`\E`) || r.has(`\N`) || r.has(`\B`) {
		return 0, "", Refused(r.rest()[:2], "not in a class")
	}
	if len(r.rest()) > 1 && '1' <= r.s[r.at+1] && r.s[r.at+1] <= '9' {
		return 0, "", Refused(r.rest()[:2], `write \o{…} or \x{…}`)
	}
	ch, class, n, err := r.unit()
	if err != nil {
		return 0, "", err
	}
	r.at += n
	if class == "" {
		return ch, "", nil
	}
	if strings.HasPrefix(class, "[^") {
		// A negated class in another class is not supported, unless an escape has the same meaning.
		for _, c := range []struct{ from, to string }{{`[^\p{Nd}]`, `\P{Nd}`}} {
			if class == c.from {
				return 0, c.to, nil
			}
		}
		return 0, "", Refused(`\`+string(class[0]), "a negated class is not supported in a class")
	}
	return 0, strings.TrimSuffix(strings.TrimPrefix(class, "["), "]"), nil
}
