package vault

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// momentTokens are the tokens of a format, the longest of each letter first.
var momentTokens = []string{
	"YYYYYY", "YYYYY", "YYYY", "YY", "Y", "Qo", "Q", "MMMM", "MMM", "MM", "Mo", "M", "DDDD", "DDDo", "DDD", "DD", "Do", "D",
	"dddd", "ddd", "dd", "do", "d", "e", "E", "wo", "ww", "w", "Wo", "WW", "W", "gggg", "gg", "GGGG", "GG",
	"HH", "H", "hh", "h", "kk", "k", "mm", "m", "ss", "s", "SSS", "SS", "S", "A", "a", "ZZ", "Z", "X", "x",
	"LLLL", "LLL", "LL", "LTS", "LT", "L",
}

// FormatMoment writes a time in a format of moment.js, in English. Text in
// [brackets] and text that is not a token are copied.
func FormatMoment(format string, t time.Time) string {
	var b strings.Builder
	for format != "" {
		if format[0] == '[' {
			if end := strings.IndexByte(format, ']'); end > 0 {
				b.WriteString(format[1:end])
				format = format[end+1:]
				continue
			}
		}
		if format[0] == '\\' && len(format) > 1 {
			b.WriteByte(format[1])
			format = format[2:]
			continue
		}
		token := ""
		for _, tok := range momentTokens {
			if strings.HasPrefix(format, tok) {
				token = tok
				break
			}
		}
		if token == "" {
			b.WriteByte(format[0])
			format = format[1:]
			continue
		}
		b.WriteString(momentToken(token, t))
		format = format[len(token):]
	}
	return b.String()
}

func momentToken(token string, t time.Time) string {
	isoYear, isoWeek := t.ISOWeek()
	switch token {
	case "YYYYYY":
		return fmt.Sprintf("%+07d", t.Year())
	case "YYYYY":
		return pad(t.Year(), 5)
	case "YYYY":
		return pad(t.Year(), 4)
	case "YY":
		return pad(t.Year()%100, 2)
	case "Y":
		return strconv.Itoa(t.Year())
	case "MMMM":
		return t.Month().String()
	case "MMM":
		return t.Month().String()[:3]
	case "DDDD":
		return pad(t.YearDay(), 3)
	case "dddd":
		return t.Weekday().String()
	case "ddd":
		return t.Weekday().String()[:3]
	case "dd":
		return t.Weekday().String()[:2]
	case "gggg":
		y, _ := localeWeek(t)
		return pad(y, 4)
	case "gg":
		y, _ := localeWeek(t)
		return pad(y%100, 2)
	case "GGGG":
		return pad(isoYear, 4)
	case "GG":
		return pad(isoYear%100, 2)
	case "SSS":
		return pad(t.Nanosecond()/1e6, 3)
	case "SS":
		return pad(t.Nanosecond()/1e7, 2)
	case "S":
		return strconv.Itoa(t.Nanosecond() / 1e8)
	case "A":
		return t.Format("PM")
	case "a":
		return t.Format("pm")
	case "Z":
		return t.Format("-07:00")
	case "ZZ":
		return t.Format("-0700")
	case "X":
		return strconv.FormatInt(t.Unix(), 10)
	case "x":
		return strconv.FormatInt(t.UnixMilli(), 10)
	case "L":
		return FormatMoment("MM/DD/YYYY", t)
	case "LL":
		return FormatMoment("MMMM D, YYYY", t)
	case "LLL":
		return FormatMoment("MMMM D, YYYY h:mm A", t)
	case "LLLL":
		return FormatMoment("dddd, MMMM D, YYYY h:mm A", t)
	case "LT":
		return FormatMoment("h:mm A", t)
	case "LTS":
		return FormatMoment("h:mm:ss A", t)
	}
	return momentNumber(token, t, isoWeek)
}

// momentNumber writes the tokens that are a number: alone, with two digits, or
// as an ordinal.
func momentNumber(token string, t time.Time, isoWeek int) string {
	_, week := localeWeek(t)
	hour12 := (t.Hour()+11)%12 + 1
	hour24 := (t.Hour()+23)%24 + 1
	n := map[byte]int{
		'Q': int(t.Month()-1)/3 + 1, 'M': int(t.Month()), 'D': t.Day(), 'd': int(t.Weekday()), 'e': int(t.Weekday()),
		'E': int(t.Weekday()+6)%7 + 1, 'w': week, 'W': isoWeek, 'H': t.Hour(), 'h': hour12, 'k': hour24, 'm': t.Minute(), 's': t.Second(),
	}[token[0]]
	if strings.HasPrefix(token, "DDD") {
		n = t.YearDay()
	}
	switch {
	case strings.HasSuffix(token, "o"):
		return strconv.Itoa(n) + ordinal(n)
	case len(token) == 2:
		return pad(n, 2)
	}
	return strconv.Itoa(n)
}

func pad(n, width int) string { return fmt.Sprintf("%0*d", width, n) }

func ordinal(n int) string {
	if n%100/10 == 1 {
		return "th"
	}
	switch n % 10 {
	case 1:
		return "st"
	case 2:
		return "nd"
	case 3:
		return "rd"
	}
	return "th"
}

// localeWeek is the year and number of a week that begins on Sunday; the first
// one has January 1st in it.
func localeWeek(t time.Time) (year, week int) {
	saturday := t.AddDate(0, 0, 6-int(t.Weekday()))
	return saturday.Year(), (saturday.YearDay()-1)/7 + 1
}
