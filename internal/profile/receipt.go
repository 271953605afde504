package profile

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"quarry"
	"quarry/fault"
	"quarry/internal/render"
	"quarry/search"
)

// skipped describes unsearched files that might have matched. Files omitted on purpose
// (hidden, ignored, filtered) are not mentioned. Files denied by the owner are counted
// but not named.
func (c *call) skipped(s *search.Summary) string {
	c.told = true
	var parts []string
	// Omitted binary files are mentioned once per session.
	binary := s.SkippedCount[search.Binary] > 0
	if binary && c.d.saysOnce && c.made != &c.env.made {
		binary = !c.made.said("binary files")
	}
	for _, why := range []search.Reason{search.Binary, search.TooLarge, search.Unreadable} {
		if n := s.SkippedCount[why]; n > 0 && (binary || why != search.Binary) {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.ReplaceAll(string(why), "_", " ")))
		}
	}
	if s.Denied > 0 {
		parts = append(parts, c.protected(s))
	}
	if len(parts) == 0 {
		return ""
	}
	return "not searched: " + strings.Join(parts, ", ")
}

// protected counts the files closed by the policy and names some. Dialects with saysOnce
// name them once per session.
func (c *call) protected(s *search.Summary) string {
	names := s.Secrets
	if c.d.saysOnce && c.made != &c.env.made && c.made.said(strings.Join(names, "\n")) {
		names = nil
	}
	return render.Protected(s.Denied, names)
}

// tellMissed adds to the receipt how many files were unreadable or closed by the policy.
// Binary and oversized files don't count, since they have no definitions. If a call makes
// several searches, only the first one adds this.
func (c *call) tellMissed(a *answer, s *search.Summary) {
	if c.told {
		return
	}
	missed := search.Summary{Denied: s.Denied, Secrets: s.Secrets, SkippedCount: map[search.Reason]int{search.Unreadable: s.SkippedCount[search.Unreadable]}}
	if text := c.skipped(&missed); text != "" {
		a.receipt = append(a.receipt, text)
	}
}

// tellPartly names the first files in which only some definitions are known.
func (a *answer) tellPartly(s *search.Summary) {
	n := s.SkippedCount[search.TooLarge]
	if n == 0 {
		return
	}
	const most = 3
	var names []string
	for _, k := range s.Skipped {
		if k.Reason == search.TooLarge && len(names) < most {
			names = append(names, render.Path(k.Path))
		}
	}
	if n > len(names) {
		names = append(names, fmt.Sprintf("%d more", n-len(names)))
	}
	a.receipt = append(a.receipt, "definitions are incomplete, because a text is too large or takes too long to read: "+strings.Join(names, ", "))
}

// tellProtected does the same as tellMissed for searches that only count protected files.
func (a *answer) tellProtected(n int) {
	if n > 0 {
		a.receipt = append(a.receipt, fmt.Sprintf("not searched: %d protected", n))
	}
}

// tallied is a workspace that records how many files the policy excluded from the
// searches of one call. The scopes of the searches overlap, so it keeps the largest
// number.
type tallied struct {
	*quarry.Workspace
	denied atomic.Int64
}

func (w *tallied) count(s *search.Summary) {
	if n := int64(s.Denied); n > w.denied.Load() {
		w.denied.Store(n)
	}
}

func (w *tallied) Find(ctx context.Context, q search.FindQuery) (*search.FindResult, error) {
	r, err := w.Workspace.Find(ctx, q)
	if err == nil {
		w.count(&r.Summary)
	}
	return r, err
}

func (w *tallied) Search(ctx context.Context, q search.Query) (*search.Result, error) {
	r, err := w.Workspace.Search(ctx, q)
	if err == nil {
		w.count(&r.Summary)
	}
	return r, err
}

func (w *tallied) EachText(ctx context.Context, q search.TextQuery, look func(path string, text []byte) any, yield func(path string, found any)) (*search.Summary, error) {
	s, err := w.Workspace.EachText(ctx, q, look, yield)
	if err == nil {
		w.count(s)
	}
	return s, err
}

// Remember also stores how many files the policy excluded from the answer.
func (w *tallied) Remember(ctx context.Context, key string, make func(context.Context) (any, error)) (any, error) {
	type counted struct {
		value  any
		denied search.Summary
	}
	v, err := w.Workspace.Remember(ctx, "counted "+key, func(ctx context.Context) (any, error) {
		v, err := make(ctx)
		return counted{v, search.Summary{Denied: int(w.denied.Load())}}, err
	})
	if err != nil {
		return nil, err
	}
	c := v.(counted)
	w.count(&c.denied)
	return c.value, nil
}

// tellOmitted adds what a listing omits, if it seems to be complete. Only protected files are
// counted, because the other counts include names that don't match the pattern.
func (a *answer) tellOmitted(s *search.Summary, complete bool) {
	var parts []string
	for why, words := range map[search.Reason]string{search.Hidden: "hidden", search.Ignored: "ignored", search.Symlink: "symlinks"} {
		if complete && s.SkippedCount[why] > 0 {
			parts = append(parts, words)
		}
	}
	slices.Sort(parts)
	if s.Denied > 0 {
		parts = append(parts, render.Protected(s.Denied, s.Secrets))
	}
	if len(parts) > 0 {
		a.receipt = append(a.receipt, "omitted: "+strings.Join(parts, ", "))
	}
}

// tellTrash adds, to the receipt of a call that includes hidden files, that the local
// trash was omitted: listings show it only if a path names it.
func (c *call) tellTrash(ctx context.Context, a *answer) {
	if !c.d.receipts || !c.Bool("include_hidden") || len(a.receipt) == 0 {
		return
	}
	at := strings.Trim(c.path(ctx, "path"), "./")
	for _, r := range c.ws.Roots() {
		if at != "" && at != r.Name {
			continue
		}
		inside := search.Scope{Paths: []string{localTrash}, Globs: []string{"!/.quarry"}, IncludeHidden: true, IncludeIgnored: true, MaxDepth: 1}
		found, err := r.Workspace.Find(ctx, search.FindQuery{Scope: inside, Kind: search.FilesAndFolders, Limit: 1})
		if err == nil && found.Total > 0 {
			a.receipt = append(a.receipt, "the trash is omitted: path "+path.Join(r.Name, localTrash)+" shows it")
		}
	}
}

// localTrash is the folder for deleted files if the trash setting is "local".
const localTrash = ".trash"

// cut is the limit that shortened an answer.
type cut string

const (
	byBudget cut = "bytes"   // the text reached its size limit
	byLimit  cut = "results" // the requested number of results was reached
)

// why words a cut for the receipt. The body says how much is shown.
func (c *call) why(by cut, limit string) string {
	if by == byBudget {
		return "cut at " + c.budget()
	}
	return "cut by " + limit
}

// advice says how to see more. It completes the sentence about how much is shown.
func (c *call) advice(by cut, narrower string, larger bool) string {
	switch {
	case by == byBudget:
		return ", as many as fit in " + c.budget() + ". Use " + narrower + "."
	case larger:
		return ". Use " + narrower + " or a larger max_results."
	}
	return ". Use " + narrower + "."
}

// budget words the size limit of an answer's text.
func (c *call) budget() string { return itoa(max(c.room()>>10, 1)) + " KB" }

// page describes which results an answer shows.
type page struct {
	what   string // the answer's noun for results
	limit  string // the parameter that limits the number of results
	offset int
	shown  render.Shown
	total  render.Total
	more   bool
	by     cut    // the limit that ended the page, if there are more results
	cut    string // by, in the form of the structured answer
}

// next returns the offset of the next page.
func (p *page) next() int { return p.offset + p.shown.Results }

// page says which results are shown and which limit ended the page, and gives the next
// call if there are more. said is set if the body already has the counts.
func (c *call) page(p *page, said bool) []string {
	if p.offset == 0 && p.shown.Results == p.total.N && !p.total.More {
		return []string{"all " + p.what + " shown"}
	}
	if p.shown.Results == 0 {
		return []string{fmt.Sprintf("offset %d is past the last of %s %s", p.offset, p.total, p.what)}
	}
	var parts []string
	if !said || !p.more {
		parts = append(parts, fmt.Sprintf("%s %d-%d of %s", p.what, p.offset+1, p.next(), p.total))
	}
	if p.more {
		parts = append(parts, c.why(p.by, p.limit), "next: "+c.next(p.next()))
	}
	return parts
}

// scope words where a search looked.
func (c *call) scope(q *search.Query, filter string) string {
	where := "the whole workspace"
	if names := RootNames(c.ws); len(names) > 0 {
		where = "the roots " + strings.Join(names, ", ")
	}
	if len(q.Paths) > 0 && q.Paths[0] != "" && q.Paths[0] != "." {
		where = quoted(q.Paths[0])
	}
	if len(q.Globs) > 0 {
		where += ", " + filter + " " + quoted(fault.Clip(strings.Join(q.Globs, ", "), maxShown))
	}
	if q.Changed.Any() {
		where += ", changed files only"
	}
	hidden := "hidden"
	if named := q.Paths; len(named) > 0 && hiddenPath(named[0]) {
		hidden = "other hidden" // hidden paths given by name are searched
	}
	switch {
	case !q.IncludeHidden && !q.IncludeIgnored:
		where += ", without " + hidden + " and ignored files"
	case !q.IncludeHidden:
		where += ", without " + hidden + " files"
	case !q.IncludeIgnored:
		where += ", without ignored files"
	}
	return where
}

// hiddenPath reports whether an element of a path begins with a dot.
func hiddenPath(p string) bool {
	return strings.HasPrefix(p, ".") && p != "." && !strings.HasPrefix(p, "./") || strings.Contains(p, "/.")
}
