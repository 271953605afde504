package page

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"quarry/change"
	"quarry/internal/review"
	"quarry/search"
)

// Review stores proposals and the decisions about them.
type Review interface {
	List() ([]*review.Proposal, error)
	Pending() ([]*review.Proposal, error)
	Get(id string) (*review.Proposal, error)
	Stamp() (string, error)
	Sweep()
	Whole(ctx context.Context, ws review.Workspace, p *review.Proposal, file int) (*review.File, error)
	Stale(ctx context.Context, ws review.Files, p *review.Proposal) []review.Drift
	Seen(ctx context.Context, ws review.Files, p *review.Proposal) *review.Proposal
	Decide(ctx context.Context, ws review.Workspace, id string, d review.Decision) (*review.Proposal, error)
}

// wireProposal is a proposal in the list.
type wireProposal struct {
	ID      string    `json:"id"`
	Made    time.Time `json:"made"`
	Client  string    `json:"client"`
	Session string    `json:"session,omitempty"`
	Tool    string    `json:"tool"`
	Summary string    `json:"summary"` // as given by the agent
	Quoted  bool      `json:"quoted,omitempty"`
	Does    string    `json:"does"` // what the change does
	State   string    `json:"state"`
	Until   time.Time `json:"until,omitzero"`
	Hunks   int       `json:"hunks"`
	Yes     int       `json:"yes"`
	Add     int       `json:"add"`
	Del     int       `json:"del"`
	// Since maps each file that was modified after the proposal was made to the numbers of its
	// hunks that can no longer be accepted.
	Since   map[string][]int `json:"since,omitempty"`
	Decided time.Time        `json:"decided,omitzero"`
	By      string           `json:"by,omitempty"`
	Comment string           `json:"comment,omitempty"`
	Change  string           `json:"change,omitempty"`
	Problem string           `json:"problem,omitempty"`
	Undo    string           `json:"undo,omitempty"`
	Rule    string           `json:"rule,omitempty"`  // the rule that requires a decision
	Whole   bool             `json:"whole,omitempty"` // the proposal can only be decided as a whole
}

// wireReviewFile is a file of a proposal. If it has fewer Decisions than Count, the page requests
// the others separately.
type wireReviewFile struct {
	diffFile
	Count     int              `json:"count"`
	Decisions []wireReviewHunk `json:"decisions"`
}

// wireReviewHunk is the smallest part that can be decided. It may consist of several hunks.
type wireReviewHunk struct {
	Verdict string     `json:"verdict,omitempty"`
	Comment string     `json:"comment,omitempty"`
	Parts   []diffHunk `json:"parts"`
}

func (s *Server) proposalOf(ctx context.Context, p *review.Proposal) (w wireProposal, seen *review.Proposal) {
	since := map[string][]int{}
	if p.State.Open() {
		for _, d := range s.opts.Review.Stale(ctx, s.opts.Decide, p) {
			since[pathID(d.Path)] = append([]int{}, d.Blocked...)
		}
	}
	p = s.opts.Review.Seen(ctx, s.opts.Decide, p)
	w = wireProposal{
		ID: p.ID, Made: p.Made, Client: clientName(p.Client.Name), Session: p.Client.Session, Tool: change.OneLine(p.Tool, change.MaxName), Summary: change.OneLine(p.Summary, maxSummary), Quoted: p.Set.Summary != "", Does: p.Does(), State: string(p.State), Until: p.Until,
		Decided: p.Decided, By: p.By, Comment: p.Comment, Change: p.Change, Problem: p.Problem, Rule: p.Rule, Whole: p.Whole(), Since: since,
	}
	w.Hunks, w.Yes, _ = p.Counts()
	w.Add, w.Del = p.Lines()
	return w, p
}

func (s *Server) proposals(w http.ResponseWriter, r *http.Request) (any, error) {
	out := map[string]any{"on": s.opts.Review != nil, "proposals": []wireProposal{}}
	if s.opts.Review != nil {
		list, err := s.opts.Review.List()
		if err != nil && list == nil {
			return nil, err
		}
		if err != nil {
			out["problem"] = err.Error()
		}
		rows := []wireProposal{}
		for _, p := range list {
			row, _ := s.proposalOf(r.Context(), p)
			rows = append(rows, row)
		}
		out["proposals"] = rows
	}
	return out, nil
}

// asked returns the proposal whose id is in the request.
func (s *Server) asked(r *http.Request) (*review.Proposal, error) {
	if s.opts.Review == nil {
		return nil, review.ErrUnknown()
	}
	return s.opts.Review.Get(r.PathValue("id"))
}

// proposal returns a proposal. With file and from, it returns the decisions of a file starting at
// number from. With look, it returns only the state and the files modified since.
func (s *Server) proposal(w http.ResponseWriter, r *http.Request) (any, error) {
	p, err := s.asked(r)
	if err != nil {
		return nil, err
	}
	v := r.URL.Query()
	if v.Get("look") == "1" {
		row, _ := s.proposalOf(r.Context(), p)
		return map[string]any{"proposal": row}, nil
	}
	if v.Get("file") == "" {
		return s.wholeProposal(r.Context(), p), nil
	}
	p = s.opts.Review.Seen(r.Context(), s.opts.Decide, p)
	file, err := positive(v.Get("file"), 1)
	if err != nil || file > len(p.Files) {
		return nil, badRequest("invalid file " + strconv.Quote(v.Get("file")))
	}
	from, err := strconv.Atoi(cmp.Or(v.Get("from"), "0"))
	if f := &p.Files[file-1]; err != nil || from < 0 || from > len(f.Hunks) {
		return nil, badRequest("invalid hunk " + strconv.Quote(v.Get("from")))
	}
	d := decisionsFrom{lines: maxDiffLines, deadline: time.Now().Add(colourBudget)}
	return map[string]any{"decisions": d.read(r.Context(), &p.Files[file-1], from)}, nil
}

// wholeFile returns a piece of a proposal's file that is too long for one answer.
func (s *Server) wholeFile(w http.ResponseWriter, r *http.Request) (any, error) {
	p, err := s.asked(r)
	if err != nil {
		return nil, err
	}
	v := r.URL.Query()
	file, err := positive(v.Get("file"), 1)
	from, wrong := strconv.Atoi(cmp.Or(v.Get("from"), "0"))
	if err != nil || wrong != nil || file > len(p.Files) || from < 0 {
		return nil, badRequest("invalid file or piece")
	}
	f, err := s.opts.Review.Whole(r.Context(), s.opts.Decide, p, file-1)
	if err != nil {
		return nil, err
	}
	d := decisionsFrom{lines: maxDiffLines}
	all := d.read(r.Context(), f, 0)[0].Parts
	end := min(from+maxDiffLines/maxPart, len(all))
	out := map[string]any{"parts": all[min(from, end):end], "next": 0}
	if end < len(all) {
		out["next"] = end
	}
	return out, nil
}

func (s *Server) wholeProposal(ctx context.Context, p *review.Proposal) map[string]any {
	row, p := s.proposalOf(ctx, p)
	d := decisionsFrom{lines: maxDiffLines, deadline: time.Now().Add(colourBudget)}
	files := []wireReviewFile{}
	for i := range p.Files {
		f := &p.Files[i]
		lines := f.Lines()
		one := wireReviewFile{
			diffFile: diffFile{Path: pathID(f.Path), Kind: "edit", Note: f.Note, Add: lines.Added, Del: lines.Removed, Cut: f.Cut.Added + f.Cut.Removed},
			Count:    len(f.Hunks),
		}
		switch {
		case f.Op == change.DeletePath:
			one.Kind = "delete"
		case f.To != "":
			one.Old, one.Path, one.Kind = one.Path, pathID(f.To), "move"
		case f.Before == "":
			one.Kind = "create"
		}
		one.Decisions = d.read(ctx, f, 0)
		if _, changed := row.Since[pathID(f.Path)]; !changed && one.Kind == "edit" && i < maxEnclosed {
			s.enclose(ctx, f.Path, one.Decisions)
		}
		files = append(files, one)
	}
	return map[string]any{"proposal": row, "files": files, "now": time.Now()}
}

// maxEnclosed limits the files of a proposal in which enclosing definitions are looked up.
const maxEnclosed = 20

// enclose sets the name of the definition around the first changed line of each hunk. The file must
// be unmodified since the hunks were made.
func (s *Server) enclose(ctx context.Context, file string, hunks []wireReviewHunk) {
	res, err := s.ws.Symbols(ctx, search.SymbolQuery{Scope: search.Scope{Paths: []string{file}, IncludeHidden: true, IncludeIgnored: true, NoIndex: true}})
	if err != nil {
		return
	}
	for i := range hunks {
		if len(hunks[i].Parts) == 0 {
			continue
		}
		part := &hunks[i].Parts[0]
		line := part.OldStart
		for _, l := range part.Lines {
			if l.Kind != " " {
				break
			}
			line = l.Old + 1
		}
		for _, sym := range res.Symbols { // sorted by line, so the innermost comes last
			if sym.Path == file && sym.StartLine <= line && line <= sym.EndLine {
				part.In = change.OneLine(strings.TrimPrefix(sym.Container+"."+sym.Name, "."), change.MaxName)
			}
		}
	}
}

// decisionsFrom collects decisions up to a number of lines.
type decisionsFrom struct {
	lines    int
	deadline time.Time // time limit for colouring
}

// maxPart limits the lines of a hunk that are sent at once.
const maxPart = 500

func (d *decisionsFrom) read(ctx context.Context, f *review.File, from int) []wireReviewHunk {
	list := []wireReviewHunk{}
	for _, h := range f.Hunks[from:] {
		if d.lines <= 0 {
			break
		}
		one := wireReviewHunk{Verdict: string(h.Verdict), Comment: h.Comment, Parts: []diffHunk{}}
		head := h.Head()
		for _, text := range splitHeads(h.Text) {
			if strings.HasPrefix(text, "@@ ") {
				head, text, _ = strings.Cut(text, "\n")
			}
			if text == "" {
				continue
			}
			part := diffFile{Path: pathID(f.Path)}
			part.read(head + "\n" + text)
			part.Hunks = inParts(part.Hunks)
			finishDiff(ctx, []diffFile{part}, d.deadline)
			one.Parts = append(one.Parts, part.Hunks...)
		}
		for _, p := range one.Parts {
			d.lines -= len(p.Lines)
		}
		list = append(list, one)
	}
	return list
}

// inParts splits hunks into parts of at most maxPart lines.
func inParts(hunks []diffHunk) []diffHunk {
	var list []diffHunk
	for _, h := range hunks {
		all := h.Lines
		for len(all) > maxPart {
			h.Lines = all[:maxPart:maxPart]
			list, all = append(list, h), all[maxPart:]
		}
		h.Lines = all
		list = append(list, h)
	}
	return list
}

// splitHeads splits the text of a whole change at the hunk headers in it. Only these begin with @:
// content lines begin with a space, + or -.
func splitHeads(text string) []string {
	var list []string
	for {
		i := strings.Index(text, "\n@@ ")
		if i < 0 {
			return append(list, text)
		}
		list, text = append(list, text[:i+1]), text[i+1:]
	}
}

// decision is the page's request to decide a proposal.
type decision struct {
	Hunks    [][]review.Verdict `json:"hunks"`
	Rest     review.Verdict     `json:"rest"`
	Comment  string             `json:"comment"`
	Comments [][]string         `json:"comments"`
	Confirm  bool               `json:"confirm"`
}

// maxDecision limits the size of a request with a decision. It allows for all the text that a
// browser stores before sending, even if every character is escaped.
const maxDecision = 32 << 20

func (s *Server) decide(w http.ResponseWriter, r *http.Request) (any, error) {
	var d decision
	if err := readBodyOf(w, r, maxDecision, &d); err != nil {
		return nil, err
	}
	if s.opts.Review == nil {
		return nil, review.ErrUnknown()
	}
	// A decision that was sent is applied even if the page is closed meanwhile.
	ctx := context.WithoutCancel(r.Context())
	p, err := s.opts.Review.Decide(ctx, s.opts.Decide, r.PathValue("id"), review.Decision{
		By: "page", Hunks: d.Hunks, Rest: d.Rest, Comment: d.Comment, Comments: d.Comments, Confirm: d.Confirm,
	})
	s.pulse.poke()
	if err != nil {
		return nil, err
	}
	return s.wholeProposal(ctx, p), nil
}

// wireWaiting lists the undecided proposals. Stamp changes whenever the list does.
type wireWaiting struct {
	Waiting int        `json:"waiting"`
	Open    []wireOpen `json:"open"`
	Stamp   string     `json:"stamp,omitempty"`
}

type wireOpen struct {
	ID    string       `json:"id"`
	State review.State `json:"state"`
	Made  time.Time    `json:"made"`
	Until time.Time    `json:"until,omitzero"`
}

// maxOpen limits the proposals listed in an event.
const maxOpen = 200

func (s *Server) waiting() wireWaiting {
	w := wireWaiting{Open: []wireOpen{}}
	if s.opts.Review == nil {
		return w
	}
	list, _ := s.opts.Review.Pending()
	w.Waiting = len(list)
	for _, p := range list[:min(len(list), maxOpen)] {
		w.Open = append(w.Open, wireOpen{p.ID, p.State, p.Made, p.Until})
	}
	return w
}

// clientName returns the name that a client gives itself. An empty name means the person, so that
// no client can use the person's name.
func clientName(name string) string {
	switch name = change.OneLine(name, change.MaxName); {
	case name == "":
		return "you"
	case strings.EqualFold(strings.TrimSpace(name), "you"):
		return "client " + strconv.Quote(name)
	}
	return name
}
