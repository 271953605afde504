package lookup

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/crew"
	"quarry/internal/symbols"
	"quarry/search"
)

// textOf returns the text of a file with line feeds as line endings.
func textOf(ctx context.Context, from Source, path string) ([]byte, error) {
	data, err := from.ReadBytes(ctx, path, symbols.MaxText)
	if err != nil {
		return nil, err
	}
	if plain(data) {
		return data, nil
	}
	t, err := from.Read(ctx, path, &search.ReadOptions{MaxBytes: symbols.MaxText})
	if err != nil {
		return nil, err
	}
	if t.Cut {
		return nil, fault.New(fault.TooLarge, "the file is too large", "")
	}
	return []byte(strings.Join(t.Lines, "\n") + "\n"), nil
}

// Describe adds lines, signatures and, if text is set, texts to the definitions found by
// name. It reads them from the current files and drops definitions that no longer exist.
func Describe(ctx context.Context, from Source, text bool, r *search.SymbolResult) error {
	files := map[string][]*search.Symbol{}
	for i := range r.Symbols {
		files[r.Symbols[i].Path] = append(files[r.Symbols[i].Path], &r.Symbols[i])
	}
	var wg crew.Group
	slots := make(chan struct{}, 4)
	for path, list := range files {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if data, err := textOf(ctx, from, path); err == nil {
				describe(ctx, path, data, list, text)
			}
		})
	}
	wg.Wait()
	before := len(r.Symbols)
	r.Symbols = slices.DeleteFunc(r.Symbols, func(s search.Symbol) bool { return s.StartLine == 0 })
	r.Total -= before - len(r.Symbols)
	return ctx.Err()
}

// describe completes the definitions in one file. On entry, the Line of each is its number
// among equal ones (see Found.Nth).
func describe(ctx context.Context, path string, data []byte, list []*search.Symbol, text bool) {
	list = slices.DeleteFunc(slices.Clone(list), func(want *search.Symbol) bool { return describeMacro(path, data, want, text) })
	if len(list) == 0 {
		return
	}
	type same struct{ name, container, kind string }
	nth, wanted := map[same]int{}, map[same][]*search.Symbol{}
	for _, want := range list {
		of := same{want.Name, want.Container, want.Kind}
		wanted[of] = append(wanted[of], want)
	}
	lines := newLines(data)
	all, _ := symbols.Until(func() bool { return ctx.Err() != nil }, path, data)
	for i := range all {
		s := &all[i]
		of := same{s.Name, s.Container, s.Kind.String()}
		if wanted[of] == nil {
			continue
		}
		nth[of]++
		for _, want := range wanted[of] {
			if want.StartLine > 0 || want.Line != nth[of] {
				continue
			}
			score := want.Score
			*want = symbolOf(s, path, data, lines.count())
			if want.Score = score; text {
				want.Text = lines.text(want.StartLine, want.EndLine)
			}
			break
		}
	}
}

// Outline lists the definitions in a text whose kinds the query selects. whole is false
// if ctx ended before all were read.
func (n *Name) Outline(ctx context.Context, path string, data []byte, text bool) (out []search.Symbol, whole bool) {
	lines := newLines(data)
	all, whole := symbols.Until(func() bool { return ctx.Err() != nil }, path, data)
	for i, s := range all {
		if i%1024 == 0 && ctx.Err() != nil {
			return out, false
		}
		if !n.Takes(s.Kind) {
			continue
		}
		one := symbolOf(&s, path, data, lines.count())
		if text {
			one.Text = lines.text(one.StartLine, one.EndLine)
		}
		out = append(out, one)
	}
	return out, whole
}

// InPart explains why some definitions of a file are missing although it was read.
const InPart = "its definitions were read in part: there are too many, or finding them takes too long"

// lines finds the lines of a text.
type lines struct {
	data   []byte
	starts []int
}

func newLines(data []byte) *lines {
	l := &lines{}
	l.set(data)
	return l
}

func (l *lines) set(data []byte) {
	l.data = data
	l.starts = slices.Grow(l.starts[:0], bytes.Count(data, newline)+1)
	for at := 0; at < len(data); {
		l.starts = append(l.starts, at)
		n := bytes.IndexByte(data[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
}

// start returns the offset of line i. If i is the number of lines, it is the end of the
// text.
func (l *lines) start(i int) int {
	if i < len(l.starts) {
		return l.starts[i]
	}
	return len(l.data)
}

func (l *lines) count() int { return len(l.starts) }

// text returns the lines first to last, without the last line feed.
func (l *lines) text(first, last int) string {
	if first < 1 || first > last || first > len(l.starts) {
		return ""
	}
	return strings.TrimSuffix(string(l.data[l.starts[first-1]:l.start(last)]), "\n")
}

// symbolOf converts a definition. lines is the number of lines in its text.
func symbolOf(s *symbols.Symbol, path string, text []byte, lines int) search.Symbol {
	out := search.Symbol{
		Path: path, Name: s.Name, Container: s.Container, Kind: s.Kind.String(), Line: s.Line,
		StartLine: s.DocFirst(), EndLine: min(s.Last, lines), Level: s.Level, Signature: s.Signature(text),
	}
	if s.Kind != symbols.Heading && s.Container != "" {
		out.Level = strings.Count(s.Container, ".") + 1
	}
	return out
}
