package printing

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"quarry/internal/replacer"
	"quarry/search"
)

// jsonPrinter writes ripgrep's JSON Lines format, one message per line, for programs that can read
// it.
type jsonPrinter struct {
	rows
	enc   *json.Encoder // for messages written once per file
	total jsonStats

	open     bool  // the "end" message of the current file is still to be written
	begun    int64 // bytes printed before the current file
	nul      int64 // as in search.FileMatch
	file     jsonStats
	named    string
	name     []byte // the file's name as JSON
	text, by []byte // reused

	JSONStyle
	replace *replacer.Template // nil without --replace
}

// JSONStyle holds the options of the JSON output.
type JSONStyle struct {
	Terminal  bool // escape tricky characters
	Multiline bool // matches may span lines
	Numbers   bool // print line numbers instead of null
	Text      bool // don't treat NUL specially
	NulLines  bool // exchange NUL and line feed in the text of files
	Quiet     bool // print only the last message, as ripgrep does with -q
}

// NewJSON returns an Output that writes ripgrep's JSON Lines. If r isn't nil, it adds replacements.
func NewJSON(w io.Writer, s JSONStyle, r *replacer.Template) Output {
	p := &jsonPrinter{rows: rows{w: JSONWriter(w, s.Terminal), eager: s.Terminal}, JSONStyle: s, replace: r}
	p.enc = json.NewEncoder(appender{&p.rows})
	p.enc.SetEscapeHTML(false)
	return p
}

// appender is a writer that appends to rows, for use by an encoder.
type appender struct{ r *rows }

func (a appender) Write(b []byte) (int, error) {
	a.r.row = append(a.r.row, b...)
	return len(b), a.r.err
}

type jsonMessage struct {
	Type string `json:"type"`
	Data any    `json:"data"`
}

// JSONText encodes as a JSON text, or as base64 if it isn't valid UTF-8.
type JSONText struct {
	Text  *string `json:"text,omitempty"`
	Bytes *string `json:"bytes,omitempty"`
}

func TextOrBytes(b []byte) JSONText {
	if utf8.Valid(b) {
		s := string(b)
		return JSONText{Text: &s}
	}
	s := base64.StdEncoding.EncodeToString(b)
	return JSONText{Bytes: &s}
}

type jsonStats struct {
	Elapsed       jsonDuration `json:"elapsed"`
	Searches      int          `json:"searches"`
	WithMatch     int          `json:"searches_with_match"`
	BytesSearched int64        `json:"bytes_searched"`
	BytesPrinted  int64        `json:"bytes_printed"`
	MatchedLines  int          `json:"matched_lines"`
	Matches       int          `json:"matches"`
}

type jsonDuration struct {
	Secs  int64  `json:"secs"`
	Nanos int64  `json:"nanos"`
	Human string `json:"human"`
}

func duration(d time.Duration) jsonDuration {
	return jsonDuration{int64(d / time.Second), int64(d % time.Second), fmt.Sprintf("%.6fs", d.Seconds())}
}

func (p *jsonPrinter) message(kind string, data any) error {
	return p.enc.Encode(jsonMessage{kind, data})
}

// File writes the messages for a file or its next part. The lines of a multiline block become one
// message.
func (p *jsonPrinter) File(path string, f *search.FileMatch) error {
	if !p.open {
		p.begun = p.Printed()
		p.file = jsonStats{Elapsed: duration(0), Searches: 1, WithMatch: 1}
		p.name, p.named = appendJSONText(p.name[:0], []byte(path)), path
		if !p.Quiet {
			p.row = append(append(append(p.row, `{"type":"begin","data":{"path":`...), p.name...), "}}\n"...)
		}
	}
	p.open, p.nul = true, f.NUL
	p.count(f)
	if !p.Quiet {
		for lines := range blocksOf(f.Lines, p.Multiline) {
			p.lines(lines)
			if p.flushRow() != nil {
				break
			}
		}
	}
	if !f.More {
		if err := p.end(); err != nil {
			return err
		}
	}
	return p.done()
}

// end writes the "end" message of a file.
func (p *jsonPrinter) end() error {
	p.open = false
	p.file.BytesPrinted = p.Printed() - p.begun
	p.total.BytesPrinted += p.file.BytesPrinted
	if p.Quiet {
		return nil
	}
	var binary *int64
	if p.nul--; p.nul >= 0 && !p.Text {
		binary = &p.nul
	}
	// The fields are in ripgrep's order, which is not alphabetical.
	return p.message("end", struct {
		Path   any       `json:"path"`
		Binary *int64    `json:"binary_offset"`
		Stats  jsonStats `json:"stats"`
	}{Path: TextOrBytes([]byte(p.named)), Binary: binary, Stats: p.file})
}

// count adds the lines to the totals of the file and of the search. A match counts every line that
// it touches.
func (p *jsonPrinter) count(f *search.FileMatch) {
	lines := 0
	for i := range f.Lines {
		if f.Lines[i].Hit {
			lines++
		}
	}
	for _, s := range []*jsonStats{&p.file, &p.total} {
		s.BytesSearched += f.Bytes
		s.MatchedLines += lines
		s.Matches += f.Matches
	}
}

// lines writes the message for a line or a block of lines. It doesn't use an encoder, which would
// take four times as long.
func (p *jsonPrinter) lines(lines []search.Line) {
	first := &lines[0]
	var found []search.Span
	p.text, found = joined(p.text[:0], lines)
	if p.NulLines {
		SwapNUL(p.text)
	}
	subject := p.text
	if !p.Multiline {
		subject = first.Text
	}
	kind := `{"type":"context","data":{"path":`
	if first.Hit {
		kind = `{"type":"match","data":{"path":`
	}
	row := append(append(append(p.row, kind...), p.name...), `,"lines":`...)
	row = append(appendJSONText(row, p.text), `,"line_number":`...)
	if p.Numbers {
		row = strconv.AppendInt(row, int64(first.Number), 10)
	} else {
		row = append(row, "null"...)
	}
	row = strconv.AppendInt(append(row, `,"absolute_offset":`...), first.Offset, 10)
	row = append(row, `,"submatches":[`...)
	holes := holesOf(lines)
	for i, s := range found {
		if i > 0 {
			row = append(row, ',')
		}
		row = appendJSONText(append(row, `{"match":`...), p.text[s.Start:s.End])
		if p.replace != nil {
			p.by = p.replace.Append(p.by[:0], subject, s.Start, s.End)
			row = appendJSONText(append(row, `,"replacement":`...), p.by)
		}
		row = strconv.AppendInt(append(row, `,"start":`...), int64(s.Start), 10)
		row = strconv.AppendInt(append(row, `,"end":`...), int64(s.End), 10)
		if i < len(holes) {
			row = p.holes(row, holes[i])
		}
		row = append(row, '}')
	}
	p.row = append(row, "]}}\n"...)
}

// appendJSONText appends b in the same form as the encoding of JSONText.
func appendJSONText(dst, b []byte) []byte {
	if !utf8.Valid(b) {
		dst = append(dst, `{"bytes":"`...)
		return append(base64.StdEncoding.AppendEncode(dst, b), `"}`...)
	}
	dst = append(dst, `{"text":"`...)
	for len(b) > 0 {
		n := 0
		for n < len(b) && b[n] >= ' ' && b[n] != '"' && b[n] != '\\' && b[n] < 0xE2 {
			n++
		}
		dst = append(dst, b[:n]...)
		if b = b[n:]; len(b) == 0 {
			break
		}
		n = 1
		switch c := b[0]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		case c < ' ':
			dst = appendUnit(dst, rune(c))
		case len(b) >= 3 && c == 0xE2 && b[1] == 0x80 && b[2]|1 == 0xA9: // escape U+2028 and U+2029, which are line ends in JavaScript
			dst, n = append(dst, `\u202`...), 3
			dst = append(dst, '8'+b[2]&1)
		default:
			dst = append(dst, c)
		}
		b = b[n:]
	}
	return append(dst, `"}`...)
}

// Finish writes the last message.
func (p *jsonPrinter) Finish(s *search.Summary) error {
	if p.open { // the search ended inside a file
		if err := p.end(); err != nil {
			return err
		}
	}
	p.total.Searches = s.Stats.Searched
	p.total.WithMatch = s.FilesMatched
	p.total.Elapsed = duration(s.Stats.Elapsed)
	body := map[string]any{
		"elapsed_total": duration(s.Stats.Elapsed),
		"stats":         p.total,
	}
	if s.Stopped != "" { // not in ripgrep's format: says why the answer is incomplete
		body["stopped"] = s.Stopped
	}
	err := p.message("summary", body)
	if err != nil {
		return err
	}
	return p.flush()
}

// holes appends the texts that a structural pattern's holes matched.
func (p *jsonPrinter) holes(row []byte, holes []search.Hole) []byte {
	row = append(row, `,"holes":{`...)
	for i, h := range holes {
		if i > 0 {
			row = append(row, ',')
		}
		row = appendJSONText(append(strconv.AppendQuote(row, h.Name), ':'), p.text[h.Start:h.End])
	}
	return append(row, '}')
}

// holesOf returns the holes of each match in a block, as offsets in the block's text.
func holesOf(lines []search.Line) (all [][]search.Hole) {
	at := 0
	for i := range lines {
		for _, holes := range lines[i].Holes {
			moved := make([]search.Hole, len(holes))
			for k, h := range holes {
				moved[k] = search.Hole{Name: h.Name, Span: search.Span{Start: h.Start + at, End: h.End + at}}
			}
			all = append(all, moved)
		}
		at += len(lines[i].Text) + len(lines[i].Ending)
	}
	return all
}
