package profile

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"quarry/internal/render"
	"quarry/search"
	"quarry/tool"
)

// Structured answers have one schema for quarry call --json, the Go API and servers
// started with --structured. They repeat everything in the text, because some clients
// read only the structured answer.

// remark holds the remarks that the profile quarry adds to an answer: why nothing was
// found, the call that continues, the files not searched.
type remark struct {
	Note []string `json:"note,omitempty"`
}

func (r *remark) add(parts []string) { r.Note = parts }

const noteSchema = `"note":{"type":"array","items":{"type":"string"}}`

// receipt reports how complete and how fresh the results of a search are.
type receipt struct {
	// Complete reports that nothing was omitted: no limit was reached and no file failed.
	Complete bool `json:"complete"`
	// Limit is the limit that ended the answer.
	Limit string `json:"limit,omitempty"`
	// Considered, Searched and Skipped count files; Skipped is keyed by reason. They are
	// set only if the whole scope was searched.
	Considered int                   `json:"considered,omitempty"`
	Searched   int                   `json:"searched,omitempty"`
	Skipped    map[search.Reason]int `json:"skipped,omitempty"`
	// Failed names the first files that should have been searched but could not be.
	Failed []failedPath `json:"failed,omitempty"`
	// Freshness says how changes are detected: event, sweep or remote.
	Freshness string `json:"freshness"`
}

// received embeds the receipt in structured answers.
type received struct {
	Receipt *receipt `json:"receipt,omitempty"`
}

func (r *received) receive(sum receipt) { r.Receipt = &sum }

// failedPath is a file that should have been searched but could not be.
type failedPath struct {
	foundPath
	Reason search.Reason `json:"reason"`
	Detail string        `json:"detail,omitempty"`
}

// folderReplaced is added once after the workspace's folder was replaced, to the next
// answer of any tool.
const folderReplaced = "the workspace's folder was replaced since the last answer: this answer is about the new folder; read files again before changing them"

// replaced adds to an error that the folder was replaced: a missing file may have been
// in the old folder.
func (c *call) replaced(err error) error {
	var worded *tool.Error
	if !c.watch.Replaced.Load() || !errors.As(err, &worded) {
		return err
	}
	with := *worded
	with.Hint = strings.TrimSpace(with.Hint + " " + render.Sentence(folderReplaced) + ".")
	return &with
}

// maxFailed is the number of failed files named.
const maxFailed = 20

// sumUp makes the receipt of a search. cut names the limit that shortened the answer's
// text.
func (c *call) sumUp(ctx context.Context, s *search.Summary, cut string) receipt {
	r := receipt{Complete: s.Stopped == "" && cut == "", Limit: string(s.Stopped), Freshness: c.freshness(ctx, &s.Stats)}
	if cut != "" {
		r.Limit = cut
	}
	if s.Stopped == "" {
		r.Considered, r.Searched, r.Skipped = s.Stats.Considered, s.Stats.Searched, s.SkippedCount
		if len(r.Skipped) == 0 {
			r.Skipped = nil
		}
	}
	for _, k := range s.Skipped {
		if (k.Reason == search.Unreadable || k.Reason == search.TooLarge) && len(r.Failed) < maxFailed {
			r.Failed = append(r.Failed, failedPath{pathOf(k.Path), k.Reason, k.Detail})
		}
	}
	if r.Skipped[search.Unreadable] > 0 || r.Skipped[search.TooLarge] > 0 {
		r.Complete = false
	}
	return r
}

// freshness says how the answer detects changes. Without an index every file is read.
func (c *call) freshness(ctx context.Context, s *search.Stats) string {
	if s.Remote {
		return "remote"
	}
	if s.Plan.Scanned() {
		return "sweep"
	}
	st, err := c.ws.Index().Status(ctx)
	if err != nil || st.Freshness != "event" {
		return "sweep"
	}
	c.overlay = st.Overlay
	return "event"
}

// onOverlay is added once per session, to the first answer that relies on change events
// of an overlay file system.
const onOverlay = "the workspace is on an overlay: a file that is written beneath the mount may not be seen"

// foundPath is a path in an answer. A path that can't be printed is escaped and
// also given as base64, which every tool accepts as a path.
type foundPath struct {
	Path   string `json:"path"`
	Base64 string `json:"path_base64,omitempty"`
}

func pathOf(path string) foundPath { return foundPath{render.Name(path), render.EncodedName(path)} }

// text is the path as other tools accept it.
func (f *foundPath) text() string {
	if f.Base64 != "" {
		return f.Base64
	}
	return f.Path
}

// searchAnswer is the answer of a text search.
type searchAnswer struct {
	Files []foundFile `json:"files"`
	// Total counts results in the unit that the text uses: blocks, files or lines. It is
	// a lower bound unless Exact is set.
	Total      int  `json:"total"`
	Exact      bool `json:"exact"`
	Shown      int  `json:"shown"`
	NextOffset int  `json:"next_offset,omitempty"`
	// Definitions holds the definitions that contain matches, if the parameter show asks
	// for them. Files then holds only the matches outside any definition.
	Definitions []foundSymbol `json:"definitions,omitempty"`
	// Distinct holds the distinct matched texts, if the parameter show asks for them.
	Distinct []distinctMatch `json:"distinct,omitempty"`
	received
	remark
}

type foundFile struct {
	foundPath
	Matched int         `json:"matched"` // number of matching lines shown
	Lines   []foundLine `json:"lines"`
}

type foundLine struct {
	Line  int      `json:"line"`
	Text  string   `json:"text"`
	Spans [][2]int `json:"spans,omitempty"` // byte ranges in the uncut line
	// Context is a line that doesn't match.
	Context bool `json:"context,omitempty"`
	// Symbol is the definition around a match, qualified by its container.
	Symbol string `json:"symbol,omitempty"`
	// CutBefore and CutAfter count bytes missing from the text.
	CutBefore int `json:"cut_before,omitempty"`
	CutAfter  int `json:"cut_after,omitempty"`
	// Holes holds the captures of the structural matches that begin in this line. Doubts
	// says why one of them may be a false match.
	Holes  []map[string]string `json:"holes,omitempty"`
	Doubts []string            `json:"doubts,omitempty"`
}

// newSearchAnswer makes the structured answer from the shown results. Lines are cut to
// the given number of characters, as in the text.
func newSearchAnswer(shown *render.Shown, total render.Total, characters int) *searchAnswer {
	a := &searchAnswer{Files: []foundFile{}, Total: total.N, Exact: !total.More, Shown: shown.Results}
	for i := range shown.Files {
		f := &shown.Files[i]
		out := foundFile{foundPath: pathOf(f.Path), Matched: f.Matched, Lines: []foundLine{}}
		for j := range f.Lines {
			l := &f.Lines[j]
			line := foundLine{Line: l.Number, Context: !l.Hit, Symbol: render.Around(l)}
			for _, s := range l.Spans {
				line.Spans = append(line.Spans, [2]int{s.Start + l.CutBefore, s.End + l.CutBefore})
			}
			text, before, after := render.Window(l, characters)
			line.Text = strings.ToValidUTF8(string(text), "\uFFFD")
			line.CutBefore, line.CutAfter = before, after
			line.Holes, line.Doubts = render.Holes(f.Lines, j), l.Doubts
			out.Lines = append(out.Lines, line)
		}
		a.Files = append(a.Files, out)
	}
	return a
}

// Output schemas name the fields that callers rely on and leave the rest open.
const (
	receiptSchema = `{"type":"object"}`

	searchSchema = `{"type":"object","properties":{"files":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"matched":{"type":"integer"},"lines":{"type":"array","items":{"type":"object","properties":{"line":{"type":"integer"},"text":{"type":"string"},"spans":{"type":"array"},"context":{"type":"boolean"}},"required":["line","text"]}}},"required":["path","matched","lines"]}},"total":{"type":"integer"},"exact":{"type":"boolean"},"shown":{"type":"integer"},"next_offset":{"type":"integer"},"definitions":{"type":"array"},"receipt":` + receiptSchema + `,` + noteSchema + `},"required":["files","total","exact","shown","receipt"]}`

	changeSchema = `{"type":"object","properties":{"id":{"type":"string"},"paths":{"type":"array"},"summary":{"type":"string"},"version":{"type":"string"},"diff":{"type":"string"},"hunks":{"type":"string"},` + noteSchema + `},"required":["paths","summary"]}`
)

func schema(s string) json.RawMessage { return json.RawMessage(s) }
