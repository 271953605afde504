package render

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/splice"
)

// HunkBytes limits how much of a change an answer shows: about 60 lines.
const HunkBytes = 3 << 10

// Hunks shows the changes in a file with one line of context. Each hunk begins with "@@"
// and the number of its first line. Hunks returns "" if the text would exceed most bytes.
func Hunks(d *change.PathDiff, most int) string {
	if d.Cut != (change.Cut{}) {
		return ""
	}
	var b strings.Builder
	number := 0
	var group []string // lines of one hunk of the diff
	end := func() { appendHunk(&b, group, number); group = group[:0] }
	for line := range strings.Lines(d.Hunks) {
		if strings.HasPrefix(line, "@@") {
			end()
			number = newLine(line)
			continue
		}
		if group = append(group, strings.TrimSuffix(line, "\n")); b.Len() > most {
			return ""
		}
	}
	if end(); b.Len() > most {
		return ""
	}
	return b.String()
}

// newLine parses the number, in the new file, of a hunk's first line.
func newLine(header string) int {
	_, rest, _ := strings.Cut(header, "+")
	n, _ := strconv.Atoi(rest[:strings.IndexFunc(rest+" ", func(r rune) bool { return r < '0' || r > '9' })])
	return n
}

// appendHunk appends the changed lines of a hunk, with one line before and one after.
func appendHunk(b *strings.Builder, lines []string, number int) {
	keep := make([]bool, len(lines))
	for i, l := range lines {
		if l != "" && l[0] == ' ' {
			continue
		}
		for j := max(i-1, 0); j <= min(i+1, len(lines)-1); j++ {
			keep[j] = true
		}
	}
	for i, l := range lines {
		if keep[i] {
			if i == 0 || !keep[i-1] {
				fmt.Fprintf(b, "\n@@ %d", number)
			}
			b.WriteString("\n" + l)
		}
		if l == "" || l[0] == ' ' || l[0] == '+' {
			number++
		}
	}
}

// ChangedLines shows the changed lines after the sentence about a change: the hunks of all
// files if they fit, else nothing. New files are not shown, since the caller has just
// written them.
func ChangedLines(c *change.Change, named bool) string {
	left := HunkBytes
	var b strings.Builder
	for i := range c.Diffs {
		d := &c.Diffs[i]
		if d.Old == "" || d.New == "" || d.Hunks == "" {
			continue
		}
		text := Hunks(d, left)
		if text == "" {
			return ""
		}
		if named {
			text = "\n# " + Path(d.New) + text
		}
		if left -= len(text); left < 0 {
			return ""
		}
		b.WriteString(text)
	}
	return b.String()
}

// Extent says which lines of a file a change wrote, or where it removed lines, and how many
// were added and removed: " Lines 14-16, 30: +4 -2." It returns "" if this is unknown.
func Extent(c *change.Change) string {
	if len(c.Diffs) != 1 || c.Diffs[0].Kind != change.DiffContent || c.Diffs[0].Cut.Hunks > 0 {
		return ""
	}
	var ranges []string
	first, line := 0, 0
	end := func(last int) {
		switch {
		case first > 0 && last > first:
			ranges = append(ranges, fmt.Sprintf("%d-%d", first, last))
		case first > 0:
			ranges = append(ranges, strconv.Itoa(first))
		}
		first = 0
	}
	for text := range strings.Lines(c.Diffs[0].Hunks) {
		switch text[0] {
		case '@':
			end(line - 1)
			if _, after, ok := strings.Cut(text, " +"); ok {
				number, _, _ := strings.Cut(after, " ")
				number, _, _ = strings.Cut(number, ",")
				line, _ = strconv.Atoi(number)
			}
		case '+', '-':
			if first == 0 {
				first = max(line, 1)
			}
			if text[0] == '+' {
				line++
			}
		case ' ':
			end(line - 1)
			line++
		}
	}
	end(line - 1)
	_, added, removed := c.Diffs[0].Counts()
	if len(ranges) == 0 || len(ranges) > maxRanges {
		return fmt.Sprintf(" +%d -%d.", added, removed)
	}
	word := "Lines"
	if len(ranges) == 1 && !strings.Contains(ranges[0], "-") {
		word = "Line"
	}
	return fmt.Sprintf(" %s %s: +%d -%d.", word, strings.Join(ranges, ", "), added, removed)
}

// maxRanges limits the ranges of lines in a sentence.
const maxRanges = 8

// A dry run lists up to maxRewrites distinct rewrites. If there are more, or if not all are
// known, it lists someRewrites: a pattern with groups may rewrite each line differently.
const maxRewrites, someRewrites = 20, 4

// For the sampleRewrites most frequent rewrites, a line is shown, cut to sampleLine
// characters.
const sampleRewrites, sampleLine = 2, 160

// shortLine is the maximum length of a line that is only clear together with the line
// above it.
const shortLine = 8

// Rewrites lists the distinct rewrites of a change with their counts, the most frequent
// first, each with one line before and after it. It returns "" if the change adds or
// removes lines.
func Rewrites(c *change.Change) string {
	count := map[[2]string]int{}
	sample := map[[2]string]string{}
	lines := 0
	for i := range c.Diffs {
		var removed, added []string
		before := "" // the line above, which gives context for an empty list item
		end := func() bool {
			ok := len(removed) == len(added)
			for k := range min(len(removed), len(added)) {
				of := differing(removed[k], added[k])
				if count[of]++; count[of] == 1 {
					if k == 0 && len(removed[k]) < shortLine && before != "" {
						sample[of] = "\n   " + fault.Clip(before, sampleLine)
					}
					sample[of] += "\n  -" + fault.Clip(removed[k], sampleLine) + "\n  +" + fault.Clip(added[k], sampleLine)
				}
				lines++
			}
			removed, added = removed[:0], added[:0]
			return ok
		}
		for line := range strings.Lines(c.Diffs[i].Hunks) {
			text := strings.TrimRight(line[1:], "\r\n")
			switch line[0] {
			case '-':
				if len(added) > 0 && !end() {
					return ""
				}
				removed = append(removed, text)
			case '+':
				added = append(added, text)
			case '\\':
			default:
				if !end() {
					return ""
				}
				before = text
			}
		}
		if !end() {
			return ""
		}
	}
	type rewrite struct {
		of [2]string
		n  int
	}
	var list []rewrite
	for of, n := range count {
		list = append(list, rewrite{of, n})
	}
	sort.Slice(list, func(i, j int) bool {
		a, b := &list[i], &list[j]
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.of[0], b.of[0]), cmp.Compare(a.of[1], b.of[1])) < 0
	})
	// If the diffs are cut or don't include all files, the list contains only examples.
	cut := c.Links != nil && lines < c.Links.Updated || partial(c)
	most := maxRewrites
	if cut || len(list) > maxRewrites {
		most = someRewrites
	}
	var b strings.Builder
	for i, r := range list {
		if i == most && cut {
			b.WriteString("\n… and more")
			break
		}
		if i == most {
			fmt.Fprintf(&b, "\n… and %s more", fault.Count(len(list)-i, "rewrite", "different rewrites"))
			break
		}
		b.WriteByte('\n')
		if !cut && c.Links == nil { // links are counted below instead
			fmt.Fprintf(&b, "%d× ", r.n)
		}
		fmt.Fprintf(&b, "%s → %s", clipped(r.of[0]), clipped(r.of[1]))
		if i < sampleRewrites {
			b.WriteString(sample[r.of])
		}
	}
	return b.String()
}

// partial reports whether the diffs of a change are incomplete. A change lists all its
// paths, but diffs only up to a number of lines.
func partial(c *change.Change) bool {
	shown := map[string]bool{}
	for _, d := range c.Diffs {
		if d.Cut != (change.Cut{}) {
			return true
		}
		shown[d.Old], shown[d.New] = true, true
	}
	return slices.ContainsFunc(c.Paths, func(p string) bool { return !shown[p] })
}

// differing returns the parts in which two lines differ, extended to whole words.
func differing(old, text string) [2]string {
	start, end := splice.Ends(old, text)
	word := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for start > 0 {
		r, n := utf8.DecodeLastRuneInString(old[:start])
		if !word(r) && r != utf8.RuneError {
			break
		}
		start -= n
	}
	for end > 0 {
		r, n := utf8.DecodeRuneInString(old[len(old)-end:])
		if !word(r) && r != utf8.RuneError {
			break
		}
		end -= n
	}
	return [2]string{old[start : len(old)-end], text[start : len(text)-end]}
}

// clipped quotes a text, cut to 80 characters.
func clipped(s string) string {
	return Quote(fault.Clip(s, 80))
}
