package cli

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry/match"
)

// message is an error as a person should read it: a pattern's with the place
// marked, and the next step where one is known.
func message(err error) string {
	var e *match.Error
	if !errors.As(err, &e) || e.Pattern == "" {
		return err.Error()
	}
	var b strings.Builder
	b.WriteString(e.Reason)
	line, column, width := markedLine(e)
	fmt.Fprintf(&b, "\n    %s\n    %s%s", line, strings.Repeat(" ", column), strings.Repeat("^", width))
	if e.Hint != "" {
		fmt.Fprintf(&b, "\n%s", e.Hint)
		if strings.Contains(e.Hint, "JavaScript") {
			b.WriteString("\nHere: quarry search --syntax javascript")
		}
		if strings.Contains(e.Hint, "multiline") {
			b.WriteString("\nHere: quarry search -U")
		}
	}
	return b.String()
}

// markedLine gives the pattern's line with the trouble, at most 60 characters
// of it around the place, and where to put the mark under it.
func markedLine(e *match.Error) (line string, column, width int) {
	at := min(max(e.Offset, 0), len(e.Pattern))
	start := strings.LastIndexByte(e.Pattern[:at], '\n') + 1
	end := len(e.Pattern)
	if i := strings.IndexByte(e.Pattern[at:], '\n'); i >= 0 {
		end = at + i
	}
	cutBefore, cutAfter := "", ""
	for utf8.RuneCountInString(e.Pattern[start:at]) > 40 {
		_, size := utf8.DecodeRuneInString(e.Pattern[start:])
		start, cutBefore = start+size, "…"
	}
	for utf8.RuneCountInString(e.Pattern[at:end]) > 60 {
		_, size := utf8.DecodeLastRuneInString(e.Pattern[at:end])
		end, cutAfter = end-size, "…"
	}
	show := func(s string) string { return string(appendEscaped(nil, []byte(strings.ReplaceAll(s, "\t", " ")))) }
	before := cutBefore + show(e.Pattern[start:at])
	stop := min(max(at+e.Length, at), end)
	width = max(1, utf8.RuneCountInString(show(e.Pattern[at:stop])))
	return before + show(e.Pattern[at:end]) + cutAfter, utf8.RuneCountInString(before), width
}

// elsewhere says what to do instead of flags people know from ripgrep.
var elsewhere = map[string]string{
	"files":      "quarry find lists files",
	"passthru":   "quarry search '^|PATTERN' shows every line",
	"search-zip": "compressed files are not searched",
	"encoding":   "UTF-8, UTF-16 and Windows-1252 are told apart without it",
	"iglob":      "use -g with a class: -g '*.[jJ][pP][gG]'",
	"follow":     "symlinks are not followed; name the link as a path",
}

// flagError adds the nearest flag to the complaint about an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	name := unknown.GetSpecifiedName()
	if hint, ok := elsewhere[name]; ok && cmd.Name() == "search" {
		return fmt.Errorf("%w\n  %s", err, hint)
	}
	if unknown.GetSpecifiedShortnames() == "" {
		if near := nearestFlag(cmd, name); near != "" {
			return fmt.Errorf("%w\n  did you mean --%s?", err, near)
		}
	}
	return fmt.Errorf("%w\n  %s --help lists the flags", err, cmd.CommandPath())
}

func nearestFlag(cmd *cobra.Command, name string) string {
	best, least := "", len(name)/3+2
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := distance(name, f.Name); d < least && !f.Hidden {
			best, least = f.Name, d
		}
	})
	return best
}

// distance counts the letters to insert, drop or change to get b from a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
