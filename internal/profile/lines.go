package profile

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"quarry/internal/render"
	"quarry/match"
	"quarry/search"
)

var searchByLines = searching(always(form{
	pattern: "pattern", filter: "glob", syntax: match.Rust,
	sizes:   func(*limits) (limit, most, context int) { return maxLines, maxBlocks, 0 },
	find:    findLines,
	results: "results", line: shownLine, remark: "\n\n",
	none: func(*textSearch) string { return "No matches." },
	text: func(c *call, s *textSearch, r *textFound) ([]byte, render.Shown) {
		return linesText([]byte(matchCount(r.Summary)), r.files, aroundLines, c.limits())
	},
	cut: func(*call, *textSearch, *page) string { return "" },
	receipt: func(c *call, s *textSearch, r *textFound, p *page) []string {
		switch {
		case p.more:
			return []string{fmt.Sprintf("lines %d-%d; narrow it, show: \"files\", or offset %d", p.offset+1, p.next(), p.next())}
		case s.Symbols && r.LinesMatched > aroundLines:
			return []string{fmt.Sprintf("the functions around are named for the first %d lines", aroundLines)}
		}
		return nil
	},
}))

// maxLines limits the matching lines read for one answer unless the caller asks for more;
// the budget is usually smaller.
const maxLines = 400

// findLines finds matching lines, grouped by file.
func findLines(ctx context.Context, c *call, s *textSearch) (*textFound, error) {
	q := s.Query
	q.Limits.Lines, q.Limits.CountTo, q.Limits.CountCheaply = s.limit, c.countTo(s.limit), true
	q.CountMatches = true
	r, err := c.run(ctx, q)
	if err != nil {
		return nil, err
	}
	return &textFound{Summary: &r.Summary, files: r.Files, total: render.Total{N: r.LinesMatched, More: !r.Exact}, asked: s.limit}, nil
}

// aroundLines limits the matching lines whose containing definition is named: agents only
// skim the rest.
const aroundLines = 30

// linesText appends matching lines by file: the path, then matches as "12: text" and
// context as "13- text". For the first names lines, "@@ Name" is added whenever the
// containing definition changes. The returned results count matching lines.
func linesText(dst []byte, files []search.FileMatch, names int, lim render.Limits) ([]byte, render.Shown) {
	var shown render.Shown
	same := false // the previous two files had the same line
	for i := range files {
		f := &files[i]
		part := search.FileMatch{Path: f.Path}
		if i > 0 && sameLine(&files[i-1], f) {
			mark, where := len(dst), render.Path(f.Path)
			if path.Dir(f.Path) == path.Dir(files[i-1].Path) {
				where = render.Path(path.Base(f.Path))
			}
			if same {
				dst = append(dst, ", "...)
			} else {
				dst = append(dst, "\nthe same line in "...)
			}
			if dst = fmt.Appendf(dst, "%s:%d", where, f.Lines[0].Number); lim.Full(len(dst)) {
				return dst[:mark], shown
			}
			part.Lines, part.Matched = f.Lines, 1
			shown.Files, shown.Results, same = append(shown.Files, part), shown.Results+1, true
			continue
		}
		same = false
		around, last, indent := "", 0, 0
		var blocks repeated
		for j := 0; j < len(f.Lines); j++ {
			l := &f.Lines[j]
			mark, named := len(dst), shown.Results < names
			if j == 0 || l.Number > last+1 {
				block := blockOf(f.Lines[j:])
				if first, again := blocks.seen(block, named); first > 0 {
					if again {
						dst = append(dst, ", "...)
					} else {
						dst = fmt.Appendf(dst, "\nthe same lines as at %d: ", first)
					}
					if dst = strconv.AppendInt(dst, int64(l.Number), 10); lim.Full(len(dst)) {
						shown.Files = append(shown.Files, part)
						return dst[:mark], shown
					}
					for k := range block {
						part.Lines = append(part.Lines, block[k])
						if block[k].Hit {
							part.Matched++
							shown.Results++
						}
					}
					last, j = block[len(block)-1].Number, j+len(block)-1
					continue
				}
				indent = blockIndent(block)
			}
			if j == 0 {
				dst = append(append(dst, "\n# "...), render.Path(f.Path)...)
			} else if len(f.Lines) > j && l.Number > last+1 && !l.Hit {
				dst = append(dst, "\n--"...)
			}
			if name := render.Around(l); named && l.Hit && name != around {
				if around = name; name != "" && l.Symbol.Line != l.Number {
					dst = append(append(dst, "\n@@ "...), render.Name(name)...)
				}
			}
			text, before, after := render.Window(l, shownLine)
			colon, line := ": ", strings.TrimRight(strings.ToValidUTF8(string(text), "\uFFFD"), " \t\r")
			if line = line[min(indent, leading(line)):]; before > 0 {
				line = strings.TrimLeft(line, " \t")
			}
			if !l.Hit {
				colon = "- "
			}
			if before > 0 {
				line = "..." + line
			}
			if after > 0 {
				line += "..."
			}
			dst = fmt.Appendf(dst, "\n%d%s%s", l.Number, colon, line)
			if lim.Full(len(dst)) && shown.Results > 0 {
				if len(part.Lines) > 0 {
					shown.Files = append(shown.Files, part)
				}
				return dst[:mark], shown
			}
			last = l.Number
			part.Lines = append(part.Lines, *l)
			if l.Hit {
				part.Matched++
				shown.Results++
			}
		}
		shown.Files = append(shown.Files, part)
	}
	return dst, shown
}

// sameLine reports whether two files have one matching line each, with the same text.
// Such a text is shown only once: a list of 140 links took 28 KB, nearly all of it one
// line.
func sameLine(a, b *search.FileMatch) bool {
	return len(a.Lines) == 1 && len(b.Lines) == 1 && a.Lines[0].Hit && b.Lines[0].Hit &&
		render.Around(&a.Lines[0]) == render.Around(&b.Lines[0]) &&
		bytes.Equal(bytes.TrimSpace(a.Lines[0].Text), bytes.TrimSpace(b.Lines[0].Text))
}

// repeated records the blocks already shown of a file, so that equal ones are only
// mentioned. Before, the matches in similar functions took 250 lines instead of 12.
type repeated struct {
	first map[string]int // first line of a block, by its text
	last  int            // first line of the block that the omitted one repeats
}

// seen returns the first line of an equal block already shown, or 0. again reports
// whether the previous block was omitted as a repetition of the same block.
func (r *repeated) seen(block []search.Line, named bool) (first int, again bool) {
	was := r.last
	r.last = 0
	if len(block) < 2 {
		return 0, false
	}
	var key strings.Builder
	for i := range block {
		if l := &block[i]; l.Hit {
			key.WriteByte('+')
			if named {
				key.WriteString(render.Around(l))
			}
		}
		key.Write(bytes.TrimSpace(block[i].Text))
		key.WriteByte('\n')
	}
	if first = r.first[key.String()]; first > 0 {
		r.last = first
		return first, was == first
	}
	if r.first == nil {
		r.first = map[string]int{}
	}
	r.first[key.String()] = block[0].Number
	return 0, false
}

// blockOf returns the leading run of consecutive lines.
func blockOf(lines []search.Line) []search.Line {
	n := 1
	for n < len(lines) && lines[n].Number == lines[n-1].Number+1 {
		n++
	}
	return lines[:n]
}

// shownLine limits the characters shown of a line, around its match.
const shownLine = 240

// leading counts the spaces and tabs that a line begins with.
func leading(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// blockIndent returns the indentation common to all lines of a block, which answers may
// omit.
func blockIndent(lines []search.Line) int {
	least := -1
	for i := range lines {
		text := strings.TrimRight(string(lines[i].Text), " \t\r\n")
		if n := leading(text); text != "" && (least < 0 || n < least) {
			least = n
		}
	}
	return max(least, 0)
}
