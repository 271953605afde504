package glob

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// expandGitignore expands {a,b}. Braces and commas in classes or after a backslash are
// literal. Groups may be nested, and {a} is a group with one member.
func expandGitignore(p string) ([]string, *Error) {
	e := gitBraces{pattern: p}
	alts, end, err := e.sequence(0, 0)
	if err != nil {
		return nil, err
	}
	if end < len(p) {
		return nil, failure(p, end, `"}" without "{" before it`)
	}
	return alts, nil
}

type gitBraces struct {
	pattern string
}

// sequence parses up to the next unescaped , or } of the enclosing group.
func (e *gitBraces) sequence(i, depth int) ([]string, int, *Error) {
	p := e.pattern
	acc := []string{""}
	start := i
	flush := func() {
		for k := range acc {
			acc[k] += p[start:i]
		}
	}
	for i < len(p) {
		switch p[i] {
		case '\\':
			i = min(i+2, len(p))
		case '[':
			c, n, reason := parseGitClass(p[i:], true)
			if c == nil {
				return nil, 0, failure(p, i, reason)
			}
			i += n
		case '{':
			flush()
			if depth == maxDepth {
				return nil, 0, failure(p, i, fmt.Sprintf("braces nested deeper than %d", maxDepth))
			}
			alts, end, err := e.group(i, depth+1)
			if err != nil {
				return nil, 0, err
			}
			if acc, err = product(p, i, acc, alts); err != nil {
				return nil, 0, err
			}
			i, start = end, end
		case ',', '}':
			if p[i] == '}' || depth > 0 {
				flush()
				return acc, i, nil
			}
			i++
		default:
			i++
		}
	}
	flush()
	return acc, i, nil
}

func (e *gitBraces) group(open, depth int) ([]string, int, *Error) {
	var alts []string
	for i := open + 1; ; i++ {
		part, end, err := e.sequence(i, depth)
		if err != nil {
			return nil, 0, err
		}
		alts = append(alts, part...)
		if i = end; i >= len(e.pattern) {
			return nil, 0, failure(e.pattern, open, `"{" is never closed by "}"`)
		}
		if err := checkExpansion(e.pattern, open, len(alts), 0); err != nil {
			return nil, 0, err
		}
		if e.pattern[i] == '}' {
			return alts, i + 1, nil
		}
	}
}

func product(p string, at int, acc, alts []string) ([]string, *Error) {
	size := 0
	for _, a := range acc {
		size += len(a)
	}
	total := size * len(alts)
	for _, a := range alts {
		total += len(a) * len(acc)
	}
	if err := checkExpansion(p, at, len(acc)*len(alts), total); err != nil {
		return nil, err
	}
	out := make([]string, 0, len(acc)*len(alts))
	for _, a := range acc {
		for _, b := range alts {
			out = append(out, a+b)
		}
	}
	return out, nil
}

func checkExpansion(p string, at, count, size int) *Error {
	if count > maxExpansions || size > maxExpanded {
		return failure(p, at, fmt.Sprintf("braces expand to more than %d patterns", maxExpansions))
	}
	return nil
}

// minimatch expands braces like the shell before any other parsing. The expansion works on
// characters and replaces five escaped ones by these values, which lose their backslash in the
// result. So {a,b}\\* becomes a\* and b\*, as in minimatch.
const (
	escBackslash rune = -1 - iota
	escOpen
	escClose
	escComma
	escPeriod
)

type shellBraces struct {
	pattern string
}

// expandShell expands {a,b}, {1..9} and {a..e..2}. Groups that a shell doesn't expand, such as
// {a}, remain as they are.
func expandShell(p string) ([]string, *Error) {
	if !hasBracePair(p) {
		return []string{p}, nil
	}
	e := shellBraces{p}
	var in []rune
	text := p
	if strings.HasPrefix(text, "{}") {
		in = append(in, escOpen, escClose)
		text = text[2:]
	}
	for i := 0; i < len(text); {
		if text[i] == '\\' && i+1 < len(text) {
			if k := strings.IndexByte(`\{},.`, text[i+1]); k >= 0 {
				in = append(in, escBackslash-rune(k))
				i += 2
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		in = append(in, r)
		i += n
	}
	sets, err := e.expand(in, true, 0)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(sets))
	var out []string
	for _, s := range sets {
		t := plain(s)
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out, nil
}

// hasBracePair reports whether some { is followed by a } with no other { between them.
func hasBracePair(p string) bool {
	open := false
	for i := 0; i < len(p); i++ {
		if p[i] == '{' {
			open = true
		} else if p[i] == '}' && open {
			return true
		}
	}
	return false
}

func plain(s []rune) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0 {
			r = rune(`\{},.`[escBackslash-r])
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (e *shellBraces) expand(s []rune, top bool, depth int) ([][]rune, *Error) {
	if depth > maxDepth {
		return nil, failure(e.pattern, 0, fmt.Sprintf("braces nested deeper than %d", maxDepth))
	}
	acc := [][]rune{nil}
	dropEmpty, first := false, true
	for {
		open, end, ok := balanced(s)
		if !ok {
			return e.combine(acc, s, nil, dropEmpty)
		}
		pre, body, post := s[:open], s[open+1:end], s[end+1:]
		var err *Error
		if open > 0 && pre[open-1] == '$' {
			if acc, err = e.combine(acc, s[:end+1], nil, dropEmpty && len(post) == 0); err != nil {
				return nil, err
			}
			first = false
			if len(post) == 0 {
				return acc, nil
			}
			s = post
			continue
		}
		seq, isSeq := parseSequence(string(body))
		if !isSeq && !slices.Contains(body, ',') {
			if commaThenClose(post) { // in {a},b} the first } is literal, as in a shell
				s = slices.Concat(pre, []rune{'{'}, body, []rune{escClose}, post)
				top = true
				continue
			}
			return e.combine(acc, s, nil, dropEmpty)
		}
		if first {
			dropEmpty, first = top && !isSeq, false
		}
		var values [][]rune
		if isSeq {
			values, err = e.sequence(seq)
		} else {
			values, err = e.members(body, depth)
		}
		if err != nil {
			return nil, err
		}
		if acc, err = e.combine(acc, pre, values, dropEmpty && len(post) == 0); err != nil {
			return nil, err
		}
		if len(post) == 0 {
			return acc, nil
		}
		s = post
	}
}

// members expands the comma-separated parts of one group.
func (e *shellBraces) members(body []rune, depth int) ([][]rune, *Error) {
	parts := commaParts(body)
	if len(parts) == 1 { // {{a,b}} gives {a} and {b}
		inner, err := e.expand(parts[0], false, depth+1)
		if err != nil {
			return nil, err
		}
		parts = parts[:0]
		for _, v := range inner {
			parts = append(parts, slices.Concat([]rune{'{'}, v, []rune{'}'}))
		}
		if len(parts) == 1 {
			return parts, nil
		}
	}
	var values [][]rune
	for _, part := range parts {
		v, err := e.expand(part, false, depth+1)
		if err != nil {
			return nil, err
		}
		values = append(values, v...)
		if err := checkExpansion(e.pattern, 0, len(values), 0); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// combine appends pre and each value to each prefix in acc. If values is nil, it appends pre alone.
func (e *shellBraces) combine(acc [][]rune, pre []rune, values [][]rune, dropEmpty bool) ([][]rune, *Error) {
	if values == nil {
		values = [][]rune{nil}
	}
	size := 0
	for _, a := range acc {
		size += (len(a) + len(pre)) * len(values)
	}
	for _, v := range values {
		size += len(v) * len(acc)
	}
	if err := checkExpansion(e.pattern, 0, len(acc)*len(values), size); err != nil {
		return nil, err
	}
	out := make([][]rune, 0, len(acc)*len(values))
	for _, a := range acc {
		for _, v := range values {
			if x := slices.Concat(a, pre, v); len(x) > 0 || !dropEmpty {
				out = append(out, x)
			}
		}
	}
	return out, nil
}

// balanced finds the first { that has a closing }.
func balanced(s []rune) (open, end int, ok bool) {
	var opens []int
	left, right := len(s), -1
	for i, r := range s {
		switch r {
		case '{':
			opens = append(opens, i)
		case '}':
			switch n := len(opens); n {
			case 0:
			case 1:
				return opens[0], i, true
			default:
				if opens[n-1] < left {
					left, right = opens[n-1], i
				}
				opens = opens[:n-1]
			}
		}
	}
	return left, right, right >= 0
}

// commaParts splits at commas outside of nested groups.
func commaParts(s []rune) [][]rune {
	var parts [][]rune
	var part []rune
	for {
		open, end, ok := balanced(s)
		if !ok {
			open, end = len(s), len(s)-1
		}
		for _, r := range s[:open] {
			if r == ',' {
				parts = append(parts, part)
				part = nil
			} else {
				part = append(part, r)
			}
		}
		if ok {
			part = append(part, s[open:end+1]...)
		}
		if s = s[end+1:]; len(s) == 0 {
			return append(parts, part)
		}
	}
}

// commaThenClose reports whether s has a comma, not followed by another one, and a } after it.
func commaThenClose(s []rune) bool {
	last := -1
	for i, r := range s {
		if r == '}' {
			last = i
		}
	}
	for i, r := range s {
		if r == ',' && i < last && s[i+1] != ',' {
			return true
		}
	}
	return false
}

type sequence struct {
	from, to, step int
	width          int // pad numbers with zeros to this width; 0 means no padding
	letters        bool
}

// parseSequence parses 1..9, 01..10..3, a..e and similar. If a number doesn't fit an int, the
// group is plain text.
func parseSequence(body string) (q sequence, ok bool) {
	f := strings.Split(body, "..")
	if len(f) != 2 && len(f) != 3 {
		return q, false
	}
	letter := func(s string) bool {
		return len(s) == 1 && ('a' <= s[0]|0x20 && s[0]|0x20 <= 'z')
	}
	q.step = 1
	if len(f) == 3 {
		n, ok := decimal(f[2])
		if !ok {
			return q, false
		}
		q.step = max(n, -n, 1)
	}
	if letter(f[0]) && letter(f[1]) {
		q.from, q.to, q.letters = int(f[0][0]), int(f[1][0]), true
		return q, true
	}
	var okFrom, okTo bool
	q.from, okFrom = decimal(f[0])
	q.to, okTo = decimal(f[1])
	for _, s := range f {
		if s = strings.TrimPrefix(s, "-"); len(s) > 1 && s[0] == '0' {
			q.width = max(len(f[0]), len(f[1]))
		}
	}
	return q, okFrom && okTo
}

func decimal(s string) (int, bool) {
	for i := 0; i < len(s); i++ {
		if (s[i] < '0' || s[i] > '9') && (i > 0 || s[i] != '-') {
			return 0, false
		}
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && int64(n) > -1<<52 && int64(n) < 1<<52
}

func (e *shellBraces) sequence(q sequence) ([][]rune, *Error) {
	count := max(q.to-q.from, q.from-q.to)/q.step + 1
	if err := checkExpansion(e.pattern, 0, count, count*q.width); err != nil {
		return nil, err
	}
	if q.to < q.from {
		q.step = -q.step
	}
	out := make([][]rune, 0, count)
	for k := range count {
		v := q.from + k*q.step
		switch {
		case q.letters && v == '\\':
			out = append(out, nil)
		case q.letters:
			out = append(out, []rune{rune(v)})
		case q.width > 0 && v < 0:
			out = append(out, []rune(fmt.Sprintf("-%0*d", q.width-1, -v)))
		case q.width > 0:
			out = append(out, []rune(fmt.Sprintf("%0*d", q.width, v)))
		default:
			out = append(out, []rune(strconv.Itoa(v)))
		}
	}
	return out, nil
}
