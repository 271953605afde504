package vault

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
)

// Task is a list item with a checkbox.
type Task struct {
	Mark Span   // the character between the brackets
	Text string // text of the first line
	Done bool   // the mark is x
	Open bool   // the mark is neither x nor -, which means canceled
	// Dates holds a date such as 2024-12-31, or "", for each of TaskDates. Both 📅
	// 2024-12-31 and the inline field due:: 2024-12-31 are recognized.
	Dates [len(TaskDates)]string
}

// TaskDates are the kinds of dates of a task.
var TaskDates = [...]string{"due", "scheduled", "start", "done"}

// Field is an inline field as in Dataview: a line key:: value, or the same in brackets
// within a line.
type Field struct{ Key, Value string }

// The expressions are compiled on first use, so that they don't delay the start of the
// program.
var (
	taskLine  = compiled(`^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([^\r\n])\][ \t]+([^\r\n]*)`)
	taskDate  = compiled(`(?:(📅|📆|🗓|due::)|(⏳|⌛|scheduled::)|(🛫|start::)|(✅|completion::|done::))\x{FE0F}?[ \t]*(\d{4}-\d{2}-\d{2})`)
	fieldLine = compiled(`^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[^\r\n]\][ \t]+)?)?[*_]{0,2}([\pL\pN][\pL\pN _/-]*)[*_]{0,2}::[ \t]*([^\r\n]*)`)
	fieldIn   = compiled(`[\[(]([\pL\pN][\pL\pN _/-]*)::[ \t]*([^\]\)\r\n]*)[\])]`)
)

func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// eachLine calls yield for each line after the front matter that isn't in a code block,
// with its offset.
func (n *Note) eachLine(text []byte, yield func(start int, line []byte)) {
	for at := n.FrontMatter.Body; at < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		if !n.inCode(at) {
			yield(at, text[at:end])
		}
		at = end + 1
	}
}

func (n *Note) inCode(at int) bool {
	i := sort.Search(len(n.Code), func(i int) bool { return n.Code[i].End > at })
	return i < len(n.Code) && n.Code[i].Start <= at
}

// Tasks returns the tasks of a scanned note in order.
func (n *Note) Tasks(text []byte) (out []Task) {
	if !bytes.Contains(text, []byte("] ")) {
		return nil
	}
	n.eachLine(text, func(start int, line []byte) {
		m := taskLine().FindSubmatchIndex(line)
		if m == nil {
			return
		}
		mark := line[m[2]:m[3]]
		done := mark[0]|0x20 == 'x' && len(mark) == 1
		t := Task{
			Mark: Span{Start: start + m[2], End: start + m[3]}, Text: string(bytes.TrimSpace(line[m[4]:m[5]])),
			Done: done, Open: !done && string(mark) != "-",
		}
		for _, d := range taskDate().FindAllStringSubmatch(t.Text, -1) {
			for i := range t.Dates {
				if d[i+1] != "" {
					t.Dates[i] = d[len(d)-1]
				}
			}
		}
		out = append(out, t)
	})
	return out
}

// Fields returns the inline fields of a scanned note in order.
func (n *Note) Fields(text []byte) (out []Field) {
	if !bytes.Contains(text, []byte("::")) {
		return nil
	}
	add := func(key, value []byte) {
		out = append(out, Field{string(bytes.TrimSpace(key)), string(bytes.TrimSpace(value))})
	}
	n.eachLine(text, func(start int, line []byte) {
		if !bytes.Contains(line, []byte("::")) {
			return
		}
		if m := fieldLine().FindSubmatchIndex(line); m != nil && !n.inCode(start+m[2]) {
			add(line[m[2]:m[3]], line[m[4]:m[5]])
			return
		}
		for _, m := range fieldIn().FindAllSubmatchIndex(line, -1) {
			if !n.inCode(start + m[2]) {
				add(line[m[2]:m[3]], line[m[4]:m[5]])
			}
		}
	})
	return out
}

// TaskLines returns the lines of a task: those of its list item, including nested items.
// It returns false if other text, such as a quote marker, precedes the item on its line.
func (n *Note) TaskLines(text []byte, t Task) (Span, bool) {
	at := lastBefore(n.Items, t.Mark.Start, func(it *Item) Span { return it.Span })
	if at < 0 || n.Items[at].Span.End < t.Mark.End {
		return Span{}, false
	}
	item := n.Items[at]
	out := Span{Start: lineStart(text, item.Span.Start)}
	if len(bytes.TrimSpace(text[out.Start:item.Span.Start])) > 0 {
		return Span{}, false
	}
	end := item.Span.End
	for _, nested := range n.Items[at+1:] {
		if nested.Level <= item.Level {
			break
		}
		end = nested.Span.End
	}
	_, out.End = lineEnd(text, end)
	// An item's span ends before nested items, but its own paragraphs may follow them.
	depth, _ := cursor{line: text[out.Start:t.Mark.Start]}.indent()
	depth += t.Mark.Start - 1 - item.Span.Start
	for next := out.End; next < len(text); {
		start := next
		end, next = lineEnd(text, start)
		switch cols, pos := (cursor{line: text[start:end]}).indent(); {
		case pos == end-start: // blank
		case cols < depth:
			return out, true
		default:
			out.End = next
		}
	}
	return out, true
}

// Outdented removes the indentation of the first line from all lines, and ends them with
// "\n".
func Outdented(text []byte) string {
	var out strings.Builder
	indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(line, indent)
		if !ok {
			rest = bytes.TrimLeft(line, " \t")
		}
		out.Write(bytes.TrimRight(rest, "\r\n"))
		out.WriteByte('\n')
	}
	return out.String()
}

// SameHeadings reports whether a scanned text has the same headings after changes.
func SameHeadings(ctx context.Context, text []byte, n *Note, splices []Splice) (bool, error) {
	changed, err := ApplySplices(text, splices)
	if err != nil {
		return false, err
	}
	after, err := Scan(ctx, changed)
	if err != nil {
		return false, err
	}
	return slices.EqualFunc(n.Headings, after.Headings, func(a, b Heading) bool { return a.Text == b.Text && a.Level == b.Level }), nil
}
