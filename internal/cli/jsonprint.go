package cli

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"quarry/internal/replacer"
	"quarry/search"
)

// jsonPrinter writes ripgrep's JSON Lines, one message a line, so that what
// reads ripgrep's reads ours.
type jsonPrinter struct {
	w     *bufio.Writer
	enc   *json.Encoder
	total jsonStats

	multiline bool
	numbers   bool               // null without them
	replace   *replacer.Template // nil without --replace
}

func newJSONPrinter(w io.Writer, tty, multiline, numbers bool, r *replacer.Template) *jsonPrinter {
	b := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(jsonTo(b, tty))
	enc.SetEscapeHTML(false)
	return &jsonPrinter{w: b, enc: enc, multiline: multiline, numbers: numbers, replace: r}
}

type jsonMessage struct {
	Type string `json:"type"`
	Data any    `json:"data"`
}

// jsonText is text, or base64 when it isn't UTF-8.
type jsonText struct {
	Text  *string `json:"text,omitempty"`
	Bytes *string `json:"bytes,omitempty"`
}

func textOrBytes(b []byte) jsonText {
	if utf8.Valid(b) {
		s := string(b)
		return jsonText{Text: &s}
	}
	s := base64.StdEncoding.EncodeToString(b)
	return jsonText{Bytes: &s}
}

type jsonLine struct {
	Path       jsonText   `json:"path"`
	Lines      jsonText   `json:"lines"`
	LineNumber *int       `json:"line_number"`
	Offset     int64      `json:"absolute_offset"`
	Submatches []jsonSpan `json:"submatches"`
}

type jsonSpan struct {
	Match jsonText `json:"match"`
	// Replacement is what --replace makes of the match.
	Replacement *jsonText `json:"replacement,omitempty"`

	Start int `json:"start"`
	End   int `json:"end"`
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

// file writes a file's messages. Lines of one multiline block are one message.
func (p *jsonPrinter) file(path string, f *search.FileMatch) error {
	name := textOrBytes([]byte(path))
	if err := p.message("begin", map[string]any{"path": name}); err != nil {
		return err
	}
	for lines := range blocksOf(f.Lines, p.multiline) {
		if err := p.lines(name, lines); err != nil {
			return err
		}
	}
	return p.message("end", map[string]any{"path": name, "binary_offset": nil, "stats": p.count(f)})
}

// count adds a file to the totals and gives its own. A multiline match counts
// all the lines it touches.
func (p *jsonPrinter) count(f *search.FileMatch) jsonStats {
	stats := jsonStats{
		Elapsed: duration(0), Searches: 1, WithMatch: 1,
		BytesSearched: f.Bytes, Matches: f.Matches,
	}
	for i := range f.Lines {
		if f.Lines[i].Hit {
			stats.MatchedLines++
		}
	}
	p.total.BytesSearched += stats.BytesSearched
	p.total.MatchedLines += stats.MatchedLines
	p.total.Matches += stats.Matches
	return stats
}

func (p *jsonPrinter) lines(path jsonText, lines []search.Line) error {
	first := &lines[0]
	text, found := joined(nil, lines)
	subject := text
	if !p.multiline {
		subject = first.Text
	}
	spans := make([]jsonSpan, 0, len(found))
	for _, s := range found {
		span := jsonSpan{Match: textOrBytes(text[s.Start:s.End]), Start: s.Start, End: s.End}
		if p.replace != nil {
			r := textOrBytes(p.replace.Append(nil, subject, s.Start, s.End))
			span.Replacement = &r
		}
		spans = append(spans, span)
	}
	kind := "context"
	if first.Hit {
		kind = "match"
	}
	number := &first.Number
	if !p.numbers {
		number = nil
	}
	return p.message(kind, jsonLine{path, textOrBytes(text), number, first.Offset, spans})
}

// summary writes the closing message.
func (p *jsonPrinter) summary(s *search.Summary) error {
	p.total.Searches = s.Stats.Searched
	p.total.WithMatch = s.FilesMatched
	p.total.Elapsed = duration(s.Stats.Elapsed)
	body := map[string]any{
		"elapsed_total": duration(s.Stats.Elapsed),
		"stats":         p.total,
	}
	if s.Stopped != "" { // not in ripgrep's format: the answer is not whole
		body["stopped"] = s.Stopped
	}
	err := p.message("summary", body)
	if err != nil {
		return err
	}
	return p.w.Flush()
}
