package notefilter

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Test compares the displayed values of a property with the value of a Term. A list
// passes if one of its values does; != passes if none is equal.
//
// Numbers are compared with numbers and dates with dates; 2024 is both. A date of a day or
// a month is a period: = means a time in it, > a time after it. Other texts are equal in any
// letter case and ordered by their letters; a number or date is never ordered with a text. A
// link is also equal to the names in it.
type Test struct {
	op       string
	text     string
	number   float64
	isNumber bool
	from, to time.Time // of a date
	isDate   bool
}

// Comparison returns the Test of a term; today, yesterday and tomorrow count from now. It is
// an error to order by a span of time or an impossible date, since as texts they would be
// ordered wrongly.
func (t *Term) Comparison(now time.Time) (Test, error) {
	c := Test{op: t.Op, text: strings.ToLower(t.Value)}
	c.number, c.isNumber = ReadNumber(c.text)
	c.from, c.to, c.isDate = readDate(c.text, now)
	if strings.ContainsAny(c.op, "<>") && !c.isNumber && !c.isDate && likeDate().MatchString(c.text) {
		return c, t.notDate(now)
	}
	return c, nil
}

// likeDate matches texts that are meant as a date but aren't one.
var likeDate = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[-+]?[0-9]+ ?(?:[hdwmy]|(?:hour|day|week|month|year)s?)|[0-9]{4}-[0-9]{1,2}(?:-[0-9]{1,2}.*)?|now|(?:next|last|this) (?:week|month|year))$`)
})

// notDate returns the error for a value that isn't a date. Of a span it names both dates that
// can be meant.
func (t *Term) notDate(now time.Time) error {
	what := fmt.Sprintf("invalid date %q: write 2026-05-01, 2026-05, 2026, today, yesterday or tomorrow", t.Value)
	if n, days, ok := span(strings.TrimLeft(strings.ToLower(t.Value), "+-")); ok && days > 0 {
		day := func(n int) string { return now.AddDate(0, 0, n*days).Format(time.DateOnly) }
		what = fmt.Sprintf("%q can be before or after today: write %s or %s", t.Value, day(-n), day(n))
	}
	return &Error{t.At, what}
}

// span reads a span such as 7d. days is 0 for a span of hours.
func span(s string) (n, days int, ok bool) {
	unit := s[max(0, len(s)-1):]
	days, ok = map[string]int{"h": 0, "d": 1, "w": 7}[unit]
	n, err := strconv.Atoi(strings.TrimSuffix(s, unit))
	return n, days, ok && err == nil && n >= 0 && n < 100_000
}

// Time returns the Test of a date for the times of files and dates of tasks, where 2024 is a
// year. For files, 7d is the last seven days.
func (t *Term) Time(now time.Time) (Test, error) {
	c := Test{op: t.Op}
	text := strings.ToLower(t.Value)
	if c.from, c.to, c.isDate = readDate(text, now); c.isDate {
		return c, nil
	}
	n, days, ok := span(text)
	if !ok || t.Name == "task" {
		return c, t.notDate(now)
	}
	c.from = now.Add(-time.Duration(n*max(24*days, 1)) * time.Hour)
	if c.to, c.isDate = c.from, true; c.op == "=" {
		c.op = ">="
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
	n, isNumber := ReadNumber(v)
	switch {
	case isNumber && c.isNumber:
		return c.orders(cmp.Compare(n, c.number))
	case !c.isDate && (isNumber || c.isNumber || c.op == "=" || c.op == "!="): // texts are equal above
		return false
	}
	at, isDate := ReadDate(v)
	switch {
	case isDate && c.isDate:
		return c.At(at)
	case isDate || c.isDate:
		return false
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

// dates are the layouts of dates, with the length of their texts and of the period they name.
var dates = []struct {
	layout              string
	shortest, longest   int
	years, months, days int
	length              time.Duration
}{
	{"2006-1-2", 8, 10, 0, 0, 1, 0},
	{"2006-1", 6, 7, 0, 1, 0, 0},
	{"2006", 4, 4, 1, 0, 0, 0},
	{"2006-1-2T15:04", 13, 16, 0, 0, 0, time.Minute},
	{"2006-1-2T15:04:05", 16, 30, 0, 0, 0, time.Second},
	{"2006-1-2T15:04Z07:00", 14, 22, 0, 0, 0, time.Minute},
	{"2006-1-2T15:04:05Z07:00", 17, 36, 0, 0, 0, time.Second},
}

// ReadDate reads a date or the first instant of a period, also of a link to a daily note.
func ReadDate(s string) (time.Time, bool) {
	at, _, ok := readDate(strings.ToLower(s), time.Time{})
	return at, ok
}

// readDate reads a date in lower case, and returns the period that it denotes.
func readDate(s string, now time.Time) (from, to time.Time, ok bool) {
	if isLink(s) {
		s, _, _ = strings.Cut(s[2:len(s)-2], "|")
		s, _, _ = strings.Cut(s, "#")
		s = strings.TrimSuffix(s[strings.LastIndexByte(s, '/')+1:], ".md")
	}
	if !now.IsZero() { // not a value, of which there are many
		if days, named := map[string]int{"yesterday": -1, "today": 0, "tomorrow": 1}[s]; named {
			y, m, d := now.Date()
			from = time.Date(y, m, d+days, 0, 0, 0, 0, time.Local)
			return from, from.AddDate(0, 0, 1), true
		}
	}
	if len(s) < 4 || s[0] < '0' || s[0] > '9' {
		return from, to, false
	}
	s = strings.ReplaceAll(strings.Replace(strings.ToUpper(s), " ", "T", 1), " ", "") // a blank may precede the zone
	for _, d := range dates {
		if len(s) < d.shortest || len(s) > d.longest {
			continue // errors cost more than parsing dates
		}
		t, err := time.ParseInLocation(d.layout, s, time.Local)
		if err == nil {
			return t, t.AddDate(d.years, d.months, d.days).Add(d.length), true
		}
	}
	return from, to, false
}
