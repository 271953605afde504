package page

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"quarry/change"
	"quarry/internal/colour"
)

// diffFile is the part of a change that affects one file.
type diffFile struct {
	Path  string     `json:"path"`
	Old   string     `json:"old,omitempty"` // the previous path, if it was another
	Kind  string     `json:"kind"`          // edit, create, delete, move, trash, restore, note
	Note  string     `json:"note,omitempty"`
	Add   int        `json:"add"` // added lines, including those not shown
	Del   int        `json:"del"`
	Cut   int        `json:"cut,omitempty"` // number of changed lines not shown
	Hunks []diffHunk `json:"hunks,omitempty"`
	mode  bool       // Note describes a change of mode
	// Deferred reports that the hunks are omitted and can be requested separately.
	Deferred bool `json:"deferred,omitempty"`
}

type diffHunk struct {
	Head     string     `json:"head"`
	In       string     `json:"in,omitempty"` // the enclosing definition
	OldStart int        `json:"old_start"`
	OldCount int        `json:"old_count"`
	NewStart int        `json:"new_start"`
	NewCount int        `json:"new_count"`
	Lines    []diffLine `json:"lines"`
}

// diffLine is a line of a hunk. Marks holds the words that differ from the replaced line, as pairs
// of UTF-16 offsets.
type diffLine struct {
	Kind   string `json:"k"` // " ", "-" or "+"
	Old    int    `json:"o,omitempty"`
	New    int    `json:"w,omitempty"`
	Text   string `json:"t"`
	Marks  []int  `json:"m,omitempty"`
	Colour []any  `json:"c,omitempty"`
	NoEnd  bool   `json:"e,omitempty"` // the file's last line, without a newline at its end
	CR     bool   `json:"r,omitempty"` // the line ends with CR LF, unlike others in the hunk
}

// filesOf splits a diff by path.
func filesOf(diffs []change.PathDiff) []diffFile {
	var list []diffFile
	for _, d := range diffs {
		f := diffFile{Path: pathID(d.New), Kind: "edit"}
		if d.New == "" {
			f.Path = pathID(d.Old)
		}
		switch d.Kind {
		case change.DiffContent, change.DiffBinary:
			switch {
			case d.Old == "":
				f.Kind = "create"
			case d.New == "":
				f.Kind = "delete"
			}
			if d.Kind == change.DiffBinary {
				f.Note = "The content is not text."
			}
		case change.DiffRenamed:
			f.Kind, f.Old = "move", pathID(d.Old)
		case change.DiffTrashed:
			f.Kind, f.Note = "trash", "It went to the trash."
		case change.DiffRestored:
			f.Kind, f.Note = "restore", "It came back from the trash."
		case change.DiffMade:
			f.Kind, f.Note = "create", "A new "+d.Entry+"."
		case change.DiffDeleted:
			f.Kind, f.Note = "delete", "A "+d.Entry+" was deleted."
		case change.DiffNotKept:
			f.Kind, f.Note = "note", "The journal did not keep the content."
		case change.DiffMode:
			f.Note, f.mode = modeNote(d), true
		}
		// The same change has moved this file or changed its mode before: merge both entries.
		if k := len(list) - 1; k >= 0 && f.continues(d.Kind, &list[k]) {
			f.Kind, f.Old = list[k].Kind, list[k].Old
			if f.Note == "" {
				f.Note = list[k].Note
			}
			list = list[:k]
		}
		f.read(d.Hunks)
		if n := d.Cut.Added + d.Cut.Removed; n > 0 {
			_, f.Add, f.Del = d.Counts()
			f.Cut = n
		}
		list = append(list, f)
	}
	return list
}

// continues reports whether f, of the given kind, is a further step on the path of last.
func (f *diffFile) continues(kind change.DiffKind, last *diffFile) bool {
	if last.Path != f.Path || last.Hunks != nil {
		return false
	}
	return kind == change.DiffContent && (last.Kind == "move" || last.mode) || kind == change.DiffMode && last.Kind == "move"
}

// read parses the hunks of a unified diff and adds them to f.
func (f *diffFile) read(hunks string) {
	p := &diffParser{file: f}
	for line := range strings.Lines(hunks) {
		p.line(strings.TrimSuffix(line, "\n"))
	}
}

// diffParser parses hunks. The kind of a line depends on its position in the hunk, not only on its
// first character.
type diffParser struct {
	file     *diffFile
	old, now int // remaining old and new lines of the hunk
	o, n     int // numbers of the next old and new line
}

func (p *diffParser) line(l string) {
	switch {
	case (p.old > 0 || p.now > 0) && l != "" && strings.IndexByte(" -+", l[0]) >= 0:
		p.content(l)
	case strings.HasPrefix(l, `\`):
		if k := len(p.file.Hunks) - 1; k >= 0 && len(p.file.Hunks[k].Lines) > 0 {
			p.file.Hunks[k].Lines[len(p.file.Hunks[k].Lines)-1].NoEnd = true
		}
	case strings.HasPrefix(l, "@@ "):
		p.hunk(l)
	case strings.HasPrefix(l, "[diff cut: "):
		p.old, p.now = 0, 0
		p.cut(l)
	}
}

func (p *diffParser) hunk(l string) {
	h := diffHunk{Head: l}
	fields := strings.Fields(l)
	if len(fields) < 3 {
		return
	}
	h.OldStart, h.OldCount = diffRange(fields[1])
	h.NewStart, h.NewCount = diffRange(fields[2])
	p.old, p.now, p.o, p.n = h.OldCount, h.NewCount, h.OldStart, h.NewStart
	p.file.Hunks = append(p.file.Hunks, h)
}

func diffRange(s string) (start, count int) {
	a, b, two := strings.Cut(strings.TrimLeft(s, "-+"), ",")
	start, _ = strconv.Atoi(a)
	if count = 1; two {
		count, _ = strconv.Atoi(b)
	}
	return start, count
}

func (p *diffParser) content(l string) {
	f := p.file
	if len(f.Hunks) == 0 {
		return
	}
	h := &f.Hunks[len(f.Hunks)-1]
	d := diffLine{Kind: l[:1], Text: strings.ToValidUTF8(l[1:], "\uFFFD")}
	d.Text, d.CR = strings.CutSuffix(d.Text, "\r")
	switch l[0] {
	case '-':
		d.Old = p.o
		p.old, p.o = p.old-1, p.o+1
		f.Del++
	case '+':
		d.New = p.n
		p.now, p.n = p.now-1, p.n+1
		f.Add++
	default:
		d.Old, d.New = p.o, p.n
		p.old, p.now, p.o, p.n = p.old-1, p.now-1, p.o+1, p.n+1
	}
	h.Lines = append(h.Lines, d)
}

func (p *diffParser) cut(l string) {
	var n int
	if _, err := fmt.Sscanf(l, "[diff cut: %d", &n); err == nil {
		p.file.Cut += n
	}
}

// finishDiff adds word marks and colours to files.
func finishDiff(ctx context.Context, files []diffFile, deadline time.Time) {
	for i := range files {
		for j := range files[i].Hunks {
			h := &files[i].Hunks[j]
			markEnds(h.Lines)
			markWords(h.Lines)
			if time.Now().Before(deadline) {
				colourHunk(ctx, files[i].Path, h, deadline)
			}
		}
	}
}

// markEnds removes the marks of line endings if all lines end the same way.
func markEnds(ls []diffLine) {
	if !slices.ContainsFunc(ls, func(l diffLine) bool { return !l.CR }) {
		for i := range ls {
			ls[i].CR = false
		}
	}
}

// colourHunk colours the old and the new side of a hunk as separate texts.
func colourHunk(ctx context.Context, path string, h *diffHunk, deadline time.Time) {
	for _, side := range []string{"-", "+"} {
		var texts []string
		var at []int
		for i, l := range h.Lines {
			if l.Kind == side || l.Kind == " " {
				texts, at = append(texts, l.Text), append(at, i)
			}
		}
		if h.OldStart > 1 { // the text does not begin here: not with front matter either
			texts, at = append([]string{fenceAbove(path, texts)}, texts...), append([]int{-1}, at...)
		}
		for i, c := range colourLines(ctx, pathOf(path), texts, deadline) {
			if at[i] >= 0 {
				h.Lines[at[i]].Colour = c
			}
		}
	}
}

var fences = regexp.MustCompile("(?m)^[ \\t]*(```+|~~~+)(.*)$")

// fenceAbove returns the opening fence that is probably above a hunk of Markdown, or "". A fence
// with words after it opens a block. If the number of bare ones before it is odd, the first of them
// closes a block.
func fenceAbove(path string, texts []string) string {
	all := fences.FindAllStringSubmatch(strings.Join(texts, "\n")+"\n```end", -1)
	bare := slices.IndexFunc(all, func(m []string) bool { return strings.TrimSpace(m[2]) != "" })
	if bare%2 == 0 || colour.For(path) != colour.For("a.md") {
		return ""
	}
	return all[0][1]
}

// markWords pairs the removed lines of a block with the added lines after them, in order, and marks
// the words that differ in each pair.
func markWords(ls []diffLine) {
	for i := 0; i < len(ls); {
		if ls[i].Kind != "-" {
			i++
			continue
		}
		mid := i
		for mid < len(ls) && ls[mid].Kind == "-" {
			mid++
		}
		end := mid
		for end < len(ls) && ls[end].Kind == "+" {
			end++
		}
		for k := 0; i+k < mid && mid+k < end; k++ {
			ls[i+k].Marks, ls[mid+k].Marks = wordDiff(ls[i+k].Text, ls[mid+k].Text)
		}
		i = max(end, i+1)
	}
}

// maxWords limits the words of a line that are compared one by one. The common beginning and end of
// both lines don't count.
const maxWords = 400

// wordDiff returns marks for the words that lines a and b don't share. If they have little in
// common there are no marks, because nearly everything would be marked.
func wordDiff(a, b string) (ma, mb []int) {
	wa, wb := splitWords(a), splitWords(b)
	head, tail := 0, 0 // number of words in the common beginning and end
	for head < min(len(wa), len(wb)) && wa[head] == wb[head] {
		head++
	}
	for tail < min(len(wa), len(wb))-head && wa[len(wa)-1-tail] == wb[len(wb)-1-tail] {
		tail++
	}
	inA, inB := make([]bool, len(wa)), make([]bool, len(wb))
	same := len(strings.TrimSpace(strings.Join(wa[:head], ""))) + len(strings.TrimSpace(strings.Join(wa[len(wa)-tail:], "")))
	for k := range head {
		inA[k], inB[k] = true, true
	}
	for k := range tail {
		inA[len(wa)-1-k], inB[len(wb)-1-k] = true, true
	}
	allA, allB := wa, wb
	wa, wb = wa[head:len(wa)-tail], wb[head:len(wb)-tail]
	if len(wa) > maxWords || len(wb) > maxWords {
		return nil, nil
	}
	// Longest common subsequence. The table has at most 160,000 numbers.
	t := make([][]uint16, len(wa)+1)
	for i := range t {
		t[i] = make([]uint16, len(wb)+1)
	}
	for i := len(wa) - 1; i >= 0; i-- {
		for j := len(wb) - 1; j >= 0; j-- {
			if wa[i] == wb[j] {
				t[i][j] = t[i+1][j+1] + 1
			} else {
				t[i][j] = max(t[i+1][j], t[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(wa) && j < len(wb); {
		switch {
		case wa[i] == wb[j]:
			inA[head+i], inB[head+j] = true, true
			if strings.TrimSpace(wa[i]) != "" {
				same += len(wa[i])
			}
			i, j = i+1, j+1
		case t[i+1][j] >= t[i][j+1]:
			i++
		default:
			j++
		}
	}
	if shorter := min(len(strings.TrimSpace(a)), len(strings.TrimSpace(b))); same*3 < shorter {
		return nil, nil
	}
	return marksOf(allA, inA), marksOf(allB, inB)
}

func marksOf(words []string, shared []bool) []int {
	var out []int
	at := 0
	for i, w := range words {
		n := units([]byte(w))
		if !shared[i] {
			if k := len(out); k > 0 && out[k-1] == at {
				out[k-1] = at + n
			} else {
				out = append(out, at, at+n)
			}
		}
		at += n
	}
	return out
}

// splitWords splits a line into words, runs of white space, and single other characters.
func splitWords(s string) []string {
	var out []string
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		class := wordClass(r)
		n := size
		for class != 0 && n < len(s) {
			r, size := utf8.DecodeRuneInString(s[n:])
			if wordClass(r) != class {
				break
			}
			n += size
		}
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}

func wordClass(r rune) int {
	switch {
	case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
		return 1
	case unicode.IsSpace(r):
		return 2
	}
	return 0
}

// modeNote describes the change of a file's mode.
func modeNote(d change.PathDiff) string {
	if (d.Modes[0]^d.Modes[1])&0o100 == 0 {
		return fmt.Sprintf("Its mode %o was changed to %o.", d.Modes[0].Perm(), d.Modes[1].Perm())
	}
	if d.Modes[1]&0o100 != 0 {
		return "It was made executable."
	}
	return "It is no longer executable."
}
