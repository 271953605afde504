package printing

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

	JSONStyle
	replace *replacer.Template // nil without --replace
}

// JSONStyle is how JSON is written.
type JSONStyle struct {
	Terminal  bool // tricky characters are escaped
	Multiline bool // matches may span lines
	Numbers   bool // of lines; null without them
	Quiet     bool // only the closing message, as ripgrep does with -q
}

// NewJSON writes ripgrep's JSON Lines; r, unless nil, adds replacements.
func NewJSON(w io.Writer, s JSONStyle, r *replacer.Template) Output {
	b := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(JSONWriter(b, s.Terminal))
	enc.SetEscapeHTML(false)
	return &jsonPrinter{w: b, enc: enc, JSONStyle: s, replace: r}
}

type jsonMessage struct {
	Type string `json:"type"`
	Data any    `json:"data"`
}

// JSONText is text, or base64 when it isn't UTF-8.
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

type jsonLine struct {
	Path       JSONText   `json:"path"`
	Lines      JSONText   `json:"lines"`
	LineNumber *int       `json:"line_number"`
	Offset     int64      `json:"absolute_offset"`
	Submatches []jsonSpan `json:"submatches"`
}

type jsonSpan struct {
	Match JSONText `json:"match"`
	// Replacement is what --replace makes of the match.
	Replacement *JSONText `json:"replacement,omitempty"`

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

// File writes a file's messages. Lines of one multiline block are one message.
func (p *jsonPrinter) File(path string, f *search.FileMatch) error {
	if p.Quiet {
		p.count(f)
		return nil
	}
	name := TextOrBytes([]byte(path))
	if err := p.message("begin", map[string]any{"path": name}); err != nil {
		return err
	}
	for lines := range blocksOf(f.Lines, p.Multiline) {
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

func (p *jsonPrinter) lines(path JSONText, lines []search.Line) error {
	first := &lines[0]
	text, found := joined(nil, lines)
	subject := text
	if !p.Multiline {
		subject = first.Text
	}
	spans := make([]jsonSpan, 0, len(found))
	for _, s := range found {
		span := jsonSpan{Match: TextOrBytes(text[s.Start:s.End]), Start: s.Start, End: s.End}
		if p.replace != nil {
			r := TextOrBytes(p.replace.Append(nil, subject, s.Start, s.End))
			span.Replacement = &r
		}
		spans = append(spans, span)
	}
	kind := "context"
	if first.Hit {
		kind = "match"
	}
	number := &first.Number
	if !p.Numbers {
		number = nil
	}
	return p.message(kind, jsonLine{path, TextOrBytes(text), number, first.Offset, spans})
}

// Finish writes the closing message.
func (p *jsonPrinter) Finish(s *search.Summary) error {
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
