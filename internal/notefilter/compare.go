package notefilter

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Test compares the displayed values of a property with the value of a Term. A list
// passes if one of its values does; != passes if none is equal.
//
// Numbers are compared with numbers and dates with dates. A day or a month is a period: =
// means a time in it, > a time after it. Other texts are compared ignoring case. A number
// and a text are neither less nor greater. A link is also equal to the names in it.
type Test struct {
	op       string
	text     string
	number   float64
	isNumber bool
	from, to time.Time // of a date
	isDate   bool
}

// Comparison returns the Test of a term; relative dates refer to now.
func (t *Term) Comparison(now time.Time) Test {
	c := Test{op: t.Op, text: strings.ToLower(t.Value)}
	c.number, c.isNumber = ReadNumber(c.text)
	c.from, c.to, c.isDate = readDate(c.text, now)
	if c.isNumber {
		c.isDate = false // 2024 is a number, except for times of files
	}
	return c
}

// Time returns the Test of a term for times of files: 2024 is a year, and 7d means the
// last seven days.
func (t *Term) Time(now time.Time) (Test, error) {
	c := Test{op: t.Op}
	text := strings.ToLower(t.Value)
	if n, unit := len(text), text[max(0, len(text)-1):]; n > 1 && strings.Contains("hdw", unit) {
		if count, err := strconv.Atoi(text[:n-1]); err == nil && count >= 0 && count < 100_000 {
			hours := map[string]int{"h": 1, "d": 24, "w": 7 * 24}[unit]
			c.from = now.Add(-time.Duration(count*hours) * time.Hour)
			c.to, c.isDate = c.from, true
			if c.op == "=" {
				c.op = ">="
			}
			return c, nil
		}
	}
	if c.from, c.to, c.isDate = readDate(text, now); !c.isDate {
		return c, &Error{t.At, fmt.Sprintf("invalid date %q: write 2026-05-01, 2026-05, 2026, today, yesterday or 7d", t.Value)}
	}
	return c, nil
}

// Passes reports whether one of the values passes, or for != whether none is equal.
func (c Test) Passes(values []string) bool {
	for _, v := range values {
		if c.passes(strings.ToLower(v)) {
			return c.op != "!="
		}
	}
	return c.op == "!="
}

func (c Test) passes(v string) bool {
	switch c.op {
	case "contains":
		return strings.Contains(v, c.text)
	case "=", "!=":
		if v == c.text || strings.HasPrefix(v, "[[") && c.names(v) {
			return true
		}
	}
	if n, ok := ReadNumber(v); ok || c.isNumber {
		return ok && c.isNumber && c.orders(cmp.Compare(n, c.number))
	}
	if c.isDate {
		at, _, ok := readDate(v, time.Time{})
		return ok && c.At(at)
	}
	return c.orders(strings.Compare(v, c.text))
}

// names reports whether c.text names a link: by the path or file name of its target, or
// by its alias.
func (c Test) names(link string) bool {
	inner := strings.TrimSuffix(link[2:], "]]")
	if !isLink(link) || strings.Contains(inner, "]]") { // several links with text between them
		return false
	}
	target, alias, _ := strings.Cut(inner, "|")
	file, part, _ := strings.Cut(target, "#")
	file = strings.TrimSuffix(file, ".md")
	name := file[strings.LastIndexByte(file, '/')+1:]
	text := strings.TrimSuffix(c.text, ".md")
	return text != "" && (text == file || text == name || text == file+"#"+part || c.text == alias)
}

// At reports whether a time passes, depending on whether it is before, in or after the
// period.
func (c Test) At(t time.Time) bool {
	switch {
	case t.Before(c.from):
		return c.orders(-1)
	case t.Before(c.to) || t.Equal(c.from):
		return c.orders(0)
	}
	return c.orders(1)
}

// orders reports whether a comparison's outcome, -1, 0 or 1, passes.
func (c Test) orders(outcome int) bool { return strings.Contains(c.op, "<=>"[outcome+1:outcome+2]) }

// ReadNumber reads a decimal number. It rejects other texts, such as dates, before
// strconv makes an error of them, which is slow.
func ReadNumber(s string) (float64, bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9' || c == '.':
		case (c == 'e' || c == 'E') && i > 0:
		case (c == '+' || c == '-') && (i == 0 || s[i-1]|0x20 == 'e'):
		default:
			return 0, false
		}
	}
	if s == "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

var dates = []struct {
	layout              string
	years, months, days int
	length              time.Duration
}{
	{"2006-01-02", 0, 0, 1, 0},
	{"2006-01", 0, 1, 0, 0},
	{"2006", 1, 0, 0, 0},
	{"2006-01-02T15:04", 0, 0, 0, time.Minute},
	{"2006-01-02 15:04", 0, 0, 0, time.Minute},
	{"2006-01-02T15:04:05", 0, 0, 0, time.Second},
	{"2006-01-02 15:04:05", 0, 0, 0, time.Second},
	{"2006-01-02T15:04:05Z07:00", 0, 0, 0, time.Second},
	{"2006-01-02 15:04:05 -0700 MST", 0, 0, 0, time.Second},
}

// readDate reads a date in lower case, and returns the period that it denotes.
func readDate(s string, now time.Time) (from, to time.Time, ok bool) {
	if days, named := map[string]int{"yesterday": -1, "today": 0, "tomorrow": 1}[s]; named && !now.IsZero() {
		y, m, d := now.Date()
		from = time.Date(y, m, d+days, 0, 0, 0, 0, time.Local)
		return from, from.AddDate(0, 0, 1), true
	}
	if len(s) < 4 || s[0] < '0' || s[0] > '9' {
		return from, to, false
	}
	for _, d := range dates {
		if d.length != time.Second && len(s) != len(d.layout) {
			continue // an error costs more than parsing a date
		}
		t, err := time.ParseInLocation(d.layout, strings.ToUpper(s), time.Local)
		if err == nil {
			return t, t.AddDate(d.years, d.months, d.days).Add(d.length), true
		}
	}
	return from, to, false
}
