package page

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"quarry/change"
	"quarry/internal/review"
)

const (
	pageSize  = 100
	maxUndone = 500 // changes that one request may undo
)

// wireChange is an entry of the undo log as sent to the page.
type wireChange struct {
	ID       string    `json:"id"`
	Time     time.Time `json:"time"`
	Client   string    `json:"client"`
	Tool     string    `json:"tool"`
	Summary  string    `json:"summary"`
	Quoted   bool      `json:"quoted,omitempty"` // the client gave the summary
	Session  string    `json:"session,omitempty"`
	Paths    []string  `json:"paths"`
	Files    int       `json:"files"` // number of files, even if Paths lists fewer
	Undoes   string    `json:"undoes,omitempty"`
	UndoneBy string    `json:"undone_by,omitempty"`
	Pending  bool      `json:"pending,omitempty"`
	NoUndo   string    `json:"no_undo,omitempty"`
	Rule     string    `json:"rule,omitempty"` // the rule that accepted it
	Proposal string    `json:"proposal,omitempty"`
	Partly   string    `json:"partly,omitempty"` // for a half-applied change, the affected files on disk
}

const (
	maxPaths = 20
	// A client's own summary is shorter; this limit is for summaries made from paths.
	maxSummary = 1000
)

func (s *Server) changeOf(c *change.Change) wireChange {
	w := wireChange{
		ID: c.ID, Time: c.Time, Client: clientOf(c), Tool: change.OneLine(c.Tool, change.MaxName), Summary: change.OneLine(c.Summary, maxSummary), Files: len(c.Paths),
		Undoes: c.Undoes, UndoneBy: c.UndoneBy, Pending: c.Pending, NoUndo: c.NoUndo, Rule: change.OneLine(c.Rule, maxSummary), Proposal: c.Proposal, Paths: []string{},
	}
	if c.Client.Name != "" || c.Client.Session != "" {
		w.Session, w.Quoted = c.Client.Session, c.Did.Verb == change.Noted && c.Undoes == "" && c.PartOf == "" && !s.ownWords(c)
	}
	if c.Partly != nil {
		w.Partly = c.Partly.String()
	}
	for _, p := range c.Paths[:min(len(c.Paths), maxPaths)] {
		w.Paths = append(w.Paths, pathID(p))
	}
	return w
}

// ownWords reports whether Quarry worded the summary of a change. It does so if the agent gave none
// and the change was accepted in part.
func (s *Server) ownWords(c *change.Change) bool {
	if c.Proposal == "" || s.opts.Review == nil || !strings.HasSuffix(c.Summary, " hunks)") {
		return false
	}
	p, err := s.opts.Review.Get(c.Proposal)
	return err == nil && p.State == review.Partly && p.Set.Summary == ""
}

// clientOf returns the name of the client that made a change. A change without a client was made on
// the command line or by another program.
func clientOf(c *change.Change) string {
	if c.Author() == change.AnotherProgram {
		return change.AnotherProgram
	}
	return clientName(c.Client.Name)
}

// changeFilter selects entries of the undo log.
type changeFilter struct {
	client, path string
	since        time.Time
}

func (f *changeFilter) matches(c *change.Change) bool {
	if f.client != "" && clientOf(c) != f.client || !f.since.IsZero() && c.Time.Before(f.since) {
		return false
	}
	return f.path == "" || slices.ContainsFunc(c.Paths, func(p string) bool {
		return strings.Contains(strings.ToLower(p), strings.ToLower(f.path))
	})
}

// changes returns a page of the undo log, newest first.
func (s *Server) changes(w http.ResponseWriter, r *http.Request) (any, error) {
	v := r.URL.Query()
	f := changeFilter{client: v.Get("client"), path: v.Get("path")}
	if d := v.Get("since"); d != "" {
		age, err := age(d)
		if err != nil {
			return nil, err
		}
		f.since = time.Now().Add(-age)
	}
	log, err := s.journal(r.Context(), 0)
	if err != nil {
		return nil, err
	}
	list, matching := []wireChange{}, 0
	clients, sessions := map[string]int{}, map[string]int{}
	after := v.Get("after") // return only entries older than this one
	begun := after == ""
	more := false
	for i := range log.Changes {
		c := &log.Changes[i]
		clients[clientOf(c)]++
		if c.Client.Session != "" {
			sessions[c.Client.Session]++
		}
		if !f.matches(c) {
			begun = begun || c.ID == after
			continue
		}
		matching++
		switch {
		case !begun:
			begun = c.ID == after
		case len(list) == pageSize:
			more = true
		default:
			list = append(list, s.changeOf(c))
		}
	}
	return map[string]any{
		"changes": list, "matching": matching, "total": len(log.Changes), "clients": clients, "sessions": sessions, "more": more,
		"dropped": log.Dropped, "dropped_to": log.DroppedTo, "damaged": log.Damaged,
	}, nil
}

// age parses a duration such as 24h or 7d.
func age(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n < 100000 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return d, nil
	}
	return 0, badRequest("invalid time span " + strconv.Quote(s) + ": 24h or 7d, for example")
}

// journal returns the undo log, which is empty if the workspace has none.
func (s *Server) journal(ctx context.Context, limit int) (*change.Log, error) {
	log, err := s.ws.Changes(ctx, limit)
	if errors.Is(err, change.ErrNoState) {
		return &change.Log{}, nil
	}
	return log, err
}

// countCache caches the numbers of added lines, removed lines and files of changes. Its values never
// expire, because an entry of the undo log does not change.
type countCache struct {
	mu   sync.Mutex
	byID map[string][3]int // guarded by mu
}

func (c *countCache) get(id string) ([3]int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.byID[id]
	return n, ok
}

func (c *countCache) put(id string, n [3]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil || len(c.byID) > 20000 {
		c.byID = map[string][3]int{}
	}
	c.byID[id] = n
}

// lineCounts returns the numbers of added lines, removed lines and files of changes. The page requests them only
// for visible changes, because counting needs the diff.
func (s *Server) lineCounts(w http.ResponseWriter, r *http.Request) (any, error) {
	out := map[string][3]int{}
	deadline := time.Now().Add(time.Second)
	for id := range strings.SplitSeq(r.URL.Query().Get("ids"), ",") {
		if id == "" || len(out) >= pageSize || time.Now().After(deadline) {
			continue
		}
		n, known := s.counts.get(id)
		if !known {
			c, err := s.ws.Diff(r.Context(), id, nil)
			if err != nil {
				continue
			}
			for _, f := range filesOf(c.Diffs) {
				n[0], n[1], n[2] = n[0]+f.Add, n[1]+f.Del, n[2]+1
			}
			s.counts.put(id, n)
		}
		out[id] = n
	}
	return map[string]any{"counts": out}, nil
}

// diff returns one change with its diff, and whether it can be undone.
func (s *Server) diff(w http.ResponseWriter, r *http.Request) (any, error) {
	c, err := s.ws.Diff(r.Context(), r.PathValue("id"), nil)
	if err != nil {
		return nil, err
	}
	files, one, err := diffFiles(r, c.Diffs)
	if one != nil || err != nil {
		return one, err
	}
	out := map[string]any{"change": s.changeOf(c), "files": files}
	for k, v := range s.undoable(r.Context(), c) {
		out[k] = v
	}
	return out, nil
}

// diffFiles returns the coloured files of a diff; large files have no lines. If the request names
// one file by its number, counted from 1, one is the answer with that file.
func diffFiles(r *http.Request, diffs []change.PathDiff) (files []diffFile, one any, err error) {
	files = append([]diffFile{}, filesOf(diffs)...)
	if asked := r.URL.Query().Get("file"); asked != "" {
		n, err := positive(asked, 1)
		if err != nil || n > len(files) {
			return nil, nil, badRequest("invalid file " + strconv.Quote(asked))
		}
		finishDiff(r.Context(), files[n-1:n], time.Now().Add(colourBudget))
		return nil, files[n-1], nil
	}
	deferLarge(files)
	finishDiff(r.Context(), files, time.Now().Add(colourBudget))
	return files, nil, nil
}

// maxDiffLines limits the lines of a diff in one answer. The page requests the hunks of further
// files one by one.
const maxDiffLines = 4000

func deferLarge(files []diffFile) {
	lines := 0
	for i := range files {
		for _, h := range files[i].Hunks {
			lines += len(h.Lines)
		}
		if i > 0 && lines > maxDiffLines && files[i].Hunks != nil {
			files[i].Hunks, files[i].Deferred = nil, true
		}
	}
}

// undoable reports what undoing a change would do.
func (s *Server) undoable(ctx context.Context, c *change.Change) map[string]any {
	if s.opts.ReadOnly {
		return map[string]any{"undo": false, "why": "this page is read-only"}
	}
	if c.UndoneBy != "" {
		return map[string]any{"undo": false, "undone": true, "why": "undone by " + c.UndoneBy}
	}
	if c.NoUndo != "" {
		return map[string]any{"undo": false, "why": c.NoUndo}
	}
	_, err := s.ws.Undo(ctx, c.ID, &change.Options{DryRun: true})
	if err == nil {
		return map[string]any{"undo": true}
	}
	out := map[string]any{"undo": false, "why": err.Error()}
	if conflicts := conflictsOf(err); conflicts != nil {
		out["conflicts"] = conflicts
		if rest, err := s.ws.Undo(ctx, c.ID, &change.Options{DryRun: true, SkipConflicts: true}); err == nil {
			out["others"] = len(rest.Paths)
		}
	}
	return out
}

// wireConflict is a file that prevents an undo because it was modified after the change.
type wireConflict struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

func conflictsOf(err error) []wireConflict {
	var conflict *change.UndoError
	if !errors.As(err, &conflict) {
		return nil
	}
	list := []wireConflict{}
	for _, p := range conflict.Paths {
		list = append(list, wireConflict{pathID(p.Path), p.Words()})
	}
	return list
}

// backTo restores the state right after the change called id. If by isn't "", only that author's
// later changes are undone. If others is set, files with conflicting later modifications are kept
// as they are.
func (s *Server) backTo(ctx context.Context, id, by string, others, dry bool) (*change.Change, error) {
	log, err := s.journal(ctx, 0)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(log.Changes, func(c change.Change) bool { return c.ID == id }) {
		return nil, badRequest("unknown change " + strconv.Quote(id))
	}
	return s.ws.Undo(ctx, "", &change.Options{Tool: "undo", To: &change.Back{After: id, By: by, Name: id}, SkipConflicts: others, DryRun: dry, FullDiff: dry})
}

// back previews backTo: the authors whose changes would be undone, and the effect on the files as
// one diff.
func (s *Server) back(w http.ResponseWriter, r *http.Request) (any, error) {
	v := r.URL.Query()
	c, err := s.backTo(r.Context(), r.PathValue("id"), v.Get("by"), v.Get("others") != "", true)
	if conflicts := conflictsOf(err); conflicts != nil {
		return map[string]any{"conflicts": conflicts}, nil
	}
	if err != nil {
		return nil, err
	}
	files, one, err := diffFiles(r, c.Diffs)
	if one != nil || err != nil {
		return one, err
	}
	authors := []map[string]any{}
	for _, a := range c.Authors {
		authors = append(authors, map[string]any{"name": change.OneLine(a.Name, change.MaxName), "changes": a.Changes})
	}
	return map[string]any{"authors": authors, "files": files, "nothing": c.Unchanged, "warnings": c.Warnings}, nil
}

// goBack restores the state right after a change. This is recorded as one change.
func (s *Server) goBack(w http.ResponseWriter, r *http.Request) (any, error) {
	var req struct {
		By     string `json:"by"`
		Others bool   `json:"others"`
	}
	if err := readBody(w, r, &req); err != nil {
		return nil, err
	}
	_, err := s.backTo(r.Context(), r.PathValue("id"), req.By, req.Others, false)
	s.pulse.poke()
	return map[string]any{}, err
}

// undo undoes changes in the given order and stops at the first failure. With others, files
// modified since are skipped, and the other files of the change are undone. A change without
// remaining files is skipped.
func (s *Server) undo(w http.ResponseWriter, r *http.Request) {
	var req struct {
		IDs    []string          `json:"ids"`
		Others bool              `json:"others"`
		Parts  []change.UndoPart `json:"parts"` // for a single change: the parts to undo
	}
	if err := readBody(w, r, &req); err != nil {
		fail(w, err)
		return
	}
	if len(req.IDs) == 0 || len(req.IDs) > maxUndone || slices.Contains(req.IDs, "") {
		fail(w, badRequest("name 1 to "+strconv.Itoa(maxUndone)+" changes to undo"))
		return
	}
	if len(req.Parts) > 0 && (len(req.IDs) > 1 || req.Others) {
		fail(w, badRequest("parts are those of one change"))
		return
	}
	for i := range req.Parts {
		req.Parts[i].Path = pathOf(req.Parts[i].Path)
	}
	done, left := []wireChange{}, []string{}
	for _, id := range req.IDs {
		c, err := s.ws.Undo(r.Context(), id, &change.Options{Tool: "undo", SkipConflicts: req.Others, Parts: req.Parts})
		if req.Others && len(req.IDs) > 1 && conflictsOf(err) != nil {
			left = append(left, id)
			continue
		}
		if err != nil {
			out := map[string]any{"done": done, "failed": id, "error": problemOf(err)}
			if conflicts := conflictsOf(err); conflicts != nil {
				out["conflicts"] = conflicts
			}
			respond(w, http.StatusConflict, out)
			s.pulse.poke()
			return
		}
		done = append(done, s.changeOf(c))
	}
	s.pulse.poke()
	respond(w, http.StatusOK, map[string]any{"done": done, "left": left})
}
