package page

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"quarry/internal/rank"
	"quarry/internal/usage"
	"quarry/match"
	"quarry/search"
)

const (
	maxHits      = 200 // matching lines in one answer
	maxFileHits  = 50  // matching lines in one file
	maxLineBytes = 600 // bytes of one line, around the match
	// countTo limits the number of matching lines that are counted. The page requests the count
	// after the answer, when the user has stopped typing. Otherwise, on a machine with two cores,
	// counting delayed the next answer.
	countTo    = 6000
	maxQuery   = 4096
	flushEvery = 8 * time.Millisecond // delay that lets several files share a packet
)

// wireLine is a line in an answer. Spans holds pairs of UTF-16 offsets.
type wireLine struct {
	N     int    `json:"n"`
	Text  string `json:"t"`
	Hit   bool   `json:"h,omitempty"`
	Spans []int  `json:"s,omitempty"`
	Left  int    `json:"l,omitempty"` // bytes omitted before the text
	Right int    `json:"r,omitempty"` // bytes omitted after it
}

type wireFile struct {
	Path    string     `json:"path"`
	Matched int        `json:"matched"`
	Lines   []wireLine `json:"lines,omitempty"`
	Score   float64    `json:"score,omitempty"`
	Folder  bool       `json:"folder,omitempty"`
	Kind    string     `json:"kind,omitempty"`  // of a definition
	In      string     `json:"in,omitempty"`    // the enclosing definition
	More    bool       `json:"more,omitempty"`  // there may be more matching lines
	Place   int        `json:"place,omitempty"` // the line that a query path:line names
}

// wireDone is the receipt at the end of an answer.
type wireDone struct {
	Files      int            `json:"files"`
	Lines      int            `json:"lines"`
	Exact      bool           `json:"exact"`
	Stopped    string         `json:"stopped,omitempty"` // a search.Stop, or "file" if only lines in the shown files may be missing
	Considered int            `json:"considered"`
	Searched   int            `json:"searched"`
	Skipped    map[string]int `json:"skipped,omitempty"`
	Missed     int            `json:"missed,omitempty"` // files that could match but are closed, unreadable or too large
	Examples   []wireSkip     `json:"examples,omitempty"`
	Plan       string         `json:"plan,omitempty"`
	Replaced   bool           `json:"replaced,omitempty"` // the workspace's folder was replaced by another
	Millis     float64        `json:"ms"`
	First      float64        `json:"first_ms"`
	Unit       string         `json:"unit"` // what Lines counts
	// Types and Folders hold the numbers of matching lines by file type and by folder, if
	// requested.
	Types   map[string]int `json:"types,omitempty"`
	Folders map[string]int `json:"folders,omitempty"`
}

type wireSkip struct {
	Path   string `json:"path,omitempty"`
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// asked is a search with the parameters from the request's address.
type asked struct {
	q, mode         string
	sensitive, word bool
	globs, types    []string
	hidden, ignored bool
	offset, limit   int
	count, exact    bool // return only the count: up to countTo, or exact
}

func readAsked(v url.Values) (asked, error) {
	a := asked{
		q: v.Get("q"), mode: v.Get("mode"), sensitive: v.Get("case") == "1", word: v.Get("word") == "1",
		hidden: v.Get("hidden") == "1", ignored: v.Get("ignored") == "1", exact: v.Get("exact") == "1", count: v.Get("count") == "1", limit: maxHits,
	}
	a.mode = cmp.Or(a.mode, "text")
	if !slices.Contains([]string{"text", "regex", "words", "paths", "symbols", "uses"}, a.mode) {
		return a, badRequest("unknown mode " + strconv.Quote(a.mode))
	}
	if a.q == "" {
		return a, badRequest("nothing to search for")
	}
	if len(a.q) > maxQuery {
		return a, badRequest("the query is longer than " + strconv.Itoa(maxQuery) + " bytes")
	}
	for g := range splitGlobs(v.Get("glob")) {
		a.globs = append(a.globs, g)
	}
	for t := range strings.SplitSeq(v.Get("type"), ",") {
		if t = strings.TrimSpace(t); t == "(none)" {
			a.types = append(a.types, "*", "!*.*")
		} else if t != "" {
			a.types = append(a.types, "*."+escapeGlob(t))
		}
	}
	if s := v.Get("offset"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return a, badRequest("invalid offset " + strconv.Quote(s))
		}
		a.offset = n
	}
	return a, nil
}

// splitGlobs yields the globs of a comma-separated list. Commas in braces are part of a glob.
func splitGlobs(list string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		depth, start := 0, 0
		for i := 0; i <= len(list); i++ {
			if i < len(list) {
				switch list[i] {
				case '{':
					depth++
				case '}':
					depth--
				}
				if list[i] != ',' || depth > 0 {
					continue
				}
			}
			if g := strings.TrimSpace(list[start:i]); g != "" && !yield(g) {
				return
			}
			start = i + 1
		}
	}
}

func escapeGlob(s string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`, `\`, `\\`).Replace(s)
}

func (a *asked) scope() search.Scope {
	return search.Scope{Globs: a.globs, Types: a.types, IncludeHidden: a.hidden, IncludeIgnored: a.ignored}
}

func (a *asked) query() search.Query {
	q := search.Query{
		Pattern: a.q, Scope: a.scope(), Before: 1, After: 1, Spans: true, Offset: a.offset,
		Limits: search.Limits{Lines: a.limit, LinesPerFile: maxFileHits, LineBytes: maxLineBytes},
	}
	q.Match.WholeWord = a.word
	if !a.sensitive {
		q.Match.Case = match.Insensitive
	}
	if a.mode == "text" {
		q.Match.Syntax = match.Literal
	}
	return q
}

// search sends the found files as soon as they are known, then the receipt.
func (s *Server) search(w http.ResponseWriter, r *http.Request) {
	a, err := readAsked(r.URL.Query())
	if err != nil {
		fail(w, err)
		return
	}
	start := time.Now()
	run := &running{out: newLines(w), start: start}
	var done *wireDone
	if err = s.places(r.Context(), &a, run); err != nil {
		return // the client has disconnected
	}
	switch {
	case a.mode == "paths":
		done, err = s.searchPaths(r.Context(), &a, run)
	case a.mode == "symbols":
		done, err = s.searchSymbols(r.Context(), &a, run)
	case a.mode == "uses":
		done, err = s.searchUses(r.Context(), &a, run)
	case a.mode == "words":
		done, err = s.searchWords(r.Context(), &a, run)
	default:
		done, err = s.searchText(r.Context(), &a, run)
	}
	if r.Context().Err() != nil {
		return // the client has disconnected
	}
	if err != nil {
		_ = run.out.send(map[string]any{"error": problemOf(err)}, true)
		return
	}
	took := time.Since(start)
	done.Millis, done.First = millis(took), millis(run.first)
	if !a.count && !a.exact {
		s.times.add(timing{Total: done.Millis, First: done.First, Scan: done.Plan == string(search.PlanScan)})
	}
	_ = run.out.send(map[string]any{"done": done}, true)
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// running is the state of an answer being sent.
type running struct {
	out     *lines
	start   time.Time
	first   time.Duration
	flushed time.Time
	cut     bool // a file may have more matching lines than were sent
}

// file sends a file. The first file is sent at once, further ones after at most flushEvery.
func (r *running) file(f wireFile) error {
	now := time.Now()
	if r.first == 0 {
		r.first = now.Sub(r.start)
	}
	flush := now.Sub(r.flushed) >= flushEvery
	if flush {
		r.flushed = now
	}
	return r.out.send(map[string]any{"file": f}, flush)
}

func (s *Server) searchText(ctx context.Context, a *asked, run *running) (*wireDone, error) {
	q := a.query()
	if a.count || a.exact {
		q.Detail, q.Limits, q.Before, q.After, q.Spans, q.Offset = search.Counts, search.Limits{}, 0, 0, false, 0
		if !a.exact {
			q.Limits = search.Limits{Lines: countTo, Time: 2 * time.Second}
		}
	}
	where := facets{types: map[string]int{}, folders: map[string]int{}}
	sum, err := s.ws.SearchEach(ctx, q, func(f *search.FileMatch) error {
		if a.count || a.exact {
			where.add(f.Path, f.Matched)
			return nil
		}
		out := fileOf(f)
		if out.cut(); out.More {
			run.cut = true
		}
		return run.file(out)
	})
	if err != nil {
		return nil, err
	}
	d := receipt(sum)
	if run.cut && d.Stopped == "" {
		d.Stopped, d.Exact = "file", false
	}
	if a.count || a.exact {
		d.Types, d.Folders = where.types, where.folders
	}
	return d, nil
}

// placeAsked matches path:line, the form in which the page copies places and compilers report them.
var placeAsked = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(\S.*?):(\d{1,9})(?::\d{1,9})?:?\s*$`)
})

// maxPlaces limits the files shown for path:line before the results.
const maxPlaces = 5

// places sends the files that a path:line query names, before the answer. It does so in every mode.
func (s *Server) places(ctx context.Context, a *asked, run *running) error {
	m := placeAsked().FindStringSubmatch(a.q)
	if m == nil || a.count || a.exact || a.offset > 0 {
		return nil
	}
	line, _ := strconv.Atoi(m[2])
	name := strings.TrimPrefix(strings.TrimPrefix(filepath.ToSlash(m[1]), filepath.ToSlash(s.ws.Dir())+"/"), "./")
	var found []string
	if info, err := s.ws.Stat(ctx, name); err == nil && !info.Folder {
		found = []string{name}
	} else if res, err := s.ws.Find(ctx, search.FindQuery{Scope: search.Scope{Globs: []string{"**/" + escapeGlob(name)}}, Limit: maxPlaces}); err == nil {
		for _, e := range res.Entries {
			found = append(found, e.Path)
		}
	}
	for _, p := range found {
		if err := run.file(wireFile{Path: pathID(p), Place: line}); err != nil {
			return err
		}
	}
	return nil
}

// facets counts matching lines by file type and by folder. Folders are counted down to the second
// level.
type facets struct{ types, folders map[string]int }

func (c *facets) add(p string, lines int) {
	base := path.Base(p)
	kind := "(none)"
	if dot := strings.LastIndexByte(base, '.'); dot > 0 {
		kind = base[dot+1:]
	}
	dirs := strings.Split(p, "/")
	count(c.types, kind, lines)
	count(c.folders, strings.Join(dirs[:min(len(dirs)-1, 2)], "/"), lines)
}

func count(in map[string]int, key string, lines int) {
	if _, known := in[key]; key != "" && (known || len(in) < maxFacets) && utf8.ValidString(key) {
		in[key] += lines
	}
}

// maxFacets limits the numbers of types and folders counted.
const maxFacets = 2000

// cut is called if a file has reached maxFileHits matching lines. It removes the context after the
// last one, because those lines may match too.
func (f *wireFile) cut() {
	if f.More = f.Matched >= maxFileHits; !f.More {
		return
	}
	for n := len(f.Lines); n > 0 && !f.Lines[n-1].Hit; n-- {
		f.Lines = f.Lines[:n-1]
	}
}

func fileOf(f *search.FileMatch) wireFile {
	out := wireFile{Path: pathID(f.Path), Matched: f.Matched, Score: f.Score}
	for _, l := range f.Lines {
		wl := wireLine{N: l.Number, Text: string(l.Text), Hit: l.Hit, Left: l.CutBefore, Right: l.CutAfter}
		at, n := 0, 0
		for _, sp := range l.Spans {
			if sp.Start < at || sp.End > len(l.Text) {
				continue
			}
			n += units(l.Text[at:sp.Start])
			from := n
			n += units(l.Text[sp.Start:sp.End])
			wl.Spans, at = append(wl.Spans, from, n), sp.End
		}
		out.Lines = append(out.Lines, wl)
	}
	return out
}

func receipt(sum *search.Summary) *wireDone {
	d := &wireDone{
		Files: sum.FilesMatched, Lines: sum.LinesMatched, Exact: sum.Exact, Stopped: string(sum.Stopped),
		Missed:     sum.Denied + sum.SkippedCount[search.Unreadable] + sum.SkippedCount[search.TooLarge],
		Considered: sum.Stats.Considered, Searched: sum.Stats.Searched, Plan: string(sum.Stats.Plan.Kind), Replaced: sum.Stats.Replaced, Unit: "lines",
	}
	for reason, n := range sum.SkippedCount {
		if d.Skipped == nil {
			d.Skipped = map[string]int{}
		}
		d.Skipped[string(reason)] = n
	}
	perReason := map[search.Reason]int{}
	for _, k := range sum.Skipped {
		if perReason[k.Reason]++; perReason[k.Reason] > 5 {
			continue
		}
		e := wireSkip{Path: pathID(k.Path), Reason: string(k.Reason), Detail: k.Detail}
		if k.Reason == search.Protected {
			e.Path = "" // the policy hides the paths
		}
		d.Examples = append(d.Examples, e)
	}
	return d
}

// searchWords ranks passages by relevance to the query's words.
func (s *Server) searchWords(ctx context.Context, a *asked, run *running) (*wireDone, error) {
	res, err := s.ws.SearchCode(ctx, search.CodeQuery{Query: a.q, Scope: a.scope(), Limit: 30})
	if errors.Is(err, search.ErrNoWords) {
		return nil, badRequest("the query has no word in it")
	}
	if err != nil {
		return nil, err
	}
	files, words := map[string]bool{}, rank.NewQuery(a.q)
	for _, c := range res.Chunks {
		files[c.Path] = true
		f := wireFile{Path: pathID(c.Path), Matched: 1, Score: c.Score}
		f.Lines = passage(c, words)
		if err := run.file(f); err != nil {
			return nil, err
		}
	}
	d := receipt(&res.Summary)
	d.Unit, d.Lines, d.Files = "passages", res.Total, len(files)
	if d.Stopped = ""; res.Total > len(res.Chunks) {
		d.Stopped = "lines"
	}
	return d, nil
}

// passage returns the lines of a chunk that contain a word of the query, and the lines next to
// them. If there are none, it returns the first lines.
func passage(c search.Chunk, words *rank.Query) []wireLine {
	const most = 9
	texts := strings.Split(strings.TrimSuffix(c.Text, "\n"), "\n")
	all := make([]wireLine, len(texts))
	keep := make([]bool, len(texts))
	hits := 0
	for i, t := range texts {
		t = strings.TrimSuffix(t, "\r")
		t = clip(t)
		all[i] = wireLine{N: c.StartLine + i, Text: t, Spans: marksIn(t, wordsIn(words, t), 0)}
		if all[i].Hit = len(all[i].Spans) > 0; all[i].Hit && hits < most {
			hits++
			for j := max(0, i-1); j <= min(i+1, len(texts)-1); j++ {
				keep[j] = true
			}
		}
	}
	var out []wireLine
	for i := range all {
		if keep[i] || hits == 0 && i < 5 {
			out = append(out, all[i])
		}
	}
	return out
}

func clip(s string) string {
	if len(s) <= maxLineBytes {
		return s
	}
	return strings.ToValidUTF8(s[:maxLineBytes], "")
}

// wordsIn returns the byte offsets of the words in a line that are relevant for the ranking.
func wordsIn(q *rank.Query, line string) (spans []int) {
	if q != nil {
		q.Marks([]byte(line), func(start, end int) { spans = append(spans, start, end) })
	}
	return spans
}

// spansOf returns the occurrences of words in a text, as pairs of UTF-16 offsets.
func spansOf(text string, words []string) []int {
	type span struct{ from, to int }
	low := strings.ToLower(text)
	if len(low) != len(text) {
		return nil // offsets differ, because lower case changed a letter's length
	}
	var found []span
	for _, w := range words {
		if len(w) < 2 {
			continue
		}
		for at := 0; ; {
			i := strings.Index(low[at:], w)
			if i < 0 {
				break
			}
			found = append(found, span{at + i, at + i + len(w)})
			at += i + len(w)
		}
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	var out []int
	end, n := 0, 0
	for _, f := range found {
		if f.from < end {
			continue
		}
		n += units([]byte(text[end:f.from]))
		from := n
		n += units([]byte(text[f.from:f.to]))
		out, end = append(out, from, n), f.to
	}
	return out
}

// searchPaths finds files by parts of their paths, best match first.
func (s *Server) searchPaths(ctx context.Context, a *asked, run *running) (*wireDone, error) {
	scope := a.scope()
	pattern := strings.ContainsAny(a.q, "*?[{")
	if pattern {
		scope.Globs = append(slices.Clone(scope.Globs), a.q)
		if len(a.globs) > 0 {
			scope.Globs, scope.Types = a.globs, append(slices.Clone(a.types), a.q)
		}
	}
	if !pattern && !a.sensitive {
		return s.searchNear(ctx, a, run, scope)
	}
	res, err := s.ws.Find(ctx, search.FindQuery{Scope: scope})
	if err != nil {
		return nil, err
	}
	type ranked struct {
		path  string
		score int
	}
	var list []ranked
	parts := strings.Fields(a.q)
	for _, e := range res.Entries {
		if pattern {
			list = append(list, ranked{e.Path, 0})
		} else if score, ok := pathScore(e.Path, parts); ok {
			list = append(list, ranked{e.Path, score})
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.path, b.path))
	})
	total := len(list)
	list = list[min(a.offset, total):min(a.offset+maxHits, total)]
	for _, l := range list {
		f := wireFile{Path: pathID(l.path), Matched: 1}
		if !pattern {
			f.Lines = []wireLine{{Text: pathID(l.path), Spans: spansOf(l.path, wordsAsGiven(parts)), Hit: true}}
		}
		if err := run.file(f); err != nil {
			return nil, err
		}
	}
	d := receipt(&res.Summary)
	d.Unit, d.Files, d.Lines, d.Exact, d.Searched, d.Considered = "files", total, total, true, res.Total, res.Total
	if a.offset+len(list) < total {
		d.Stopped = "files"
	}
	return d, nil
}

// searchNear finds files by an approximate path, best match first, like the tool search_by_path.
func (s *Server) searchNear(ctx context.Context, a *asked, run *running, scope search.Scope) (*wireDone, error) {
	q := search.FindQuery{Scope: scope, Fuzzy: a.q, Fits: true, Offset: a.offset, Limit: maxHits}
	res, err := s.ws.Find(ctx, q)
	if err == nil && res.Total == 0 {
		q.Fits = false
		res, err = s.ws.Find(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	words := wordsAsGiven(strings.FieldsFunc(a.q, func(r rune) bool { return r == ' ' || r == '/' }))
	for _, e := range res.Entries {
		f := wireFile{Path: pathID(e.Path), Matched: 1, Lines: []wireLine{{Text: pathID(e.Path), Spans: spansOf(e.Path, words), Hit: true}}}
		if err := run.file(f); err != nil {
			return nil, err
		}
	}
	d := receipt(&res.Summary)
	d.Unit, d.Files, d.Lines, d.Exact = "files", res.Total, res.Total, true
	if d.Stopped = ""; a.offset+len(res.Entries) < res.Total {
		d.Stopped = "files"
	}
	return d, nil
}

// maxSymbols limits the definitions in one answer.
const maxSymbols = 100

// searchSymbols finds definitions by name, the most likely first.
func (s *Server) searchSymbols(ctx context.Context, a *asked, run *running) (*wireDone, error) {
	res, err := s.ws.Symbols(ctx, search.SymbolQuery{Name: a.q, Fuzzy: true, Scope: a.scope(), Limit: maxSymbols})
	if err != nil {
		return nil, err
	}
	files := map[string]bool{}
	for _, sym := range res.Symbols {
		files[sym.Path] = true
		text := clip(strings.TrimSpace(sym.Signature))
		f := wireFile{Path: pathID(sym.Path), Matched: 1, Score: sym.Score, Kind: sym.Kind, In: sym.Container, Lines: []wireLine{{N: sym.Line, Text: text, Hit: true, Spans: spansOf(text, []string{strings.ToLower(sym.Name)})}}}
		if err := run.file(f); err != nil {
			return nil, err
		}
	}
	d := receipt(&res.Summary)
	d.Unit, d.Lines, d.Files = "definitions", res.Total, len(files)
	if d.Stopped = ""; res.Total > len(res.Symbols) {
		d.Stopped = "lines"
	}
	return d, nil
}

// searchUses finds references to a name in code. References in tests come last.
func (s *Server) searchUses(ctx context.Context, a *asked, run *running) (*wireDone, error) {
	res, err := usage.Find(ctx, s.ws, usage.Query{Name: a.q, Scope: a.scope(), Limit: 2 * maxHits})
	if err != nil {
		return nil, err
	}
	name := a.q[strings.LastIndexAny(a.q, ".:>")+1:]
	files := map[string]bool{}
	for i := 0; i < len(res.Uses); {
		p := res.Uses[i].Path
		f := wireFile{Path: pathID(p)}
		for ; i < len(res.Uses) && res.Uses[i].Path == p; i++ {
			text := clip(res.Uses[i].Text)
			f.Lines = append(f.Lines, wireLine{N: res.Uses[i].Line, Text: text, Hit: true, Spans: spansOf(text, []string{strings.ToLower(name)})})
		}
		files[p], f.Matched = true, len(f.Lines)
		if err := run.file(f); err != nil {
			return nil, err
		}
	}
	d := receipt(&res.Summary)
	d.Unit, d.Lines, d.Files = "uses", res.Total, len(files)
	if d.Stopped = ""; res.Total > len(res.Uses) {
		d.Stopped = "lines"
	}
	return d, nil
}

func wordsAsGiven(parts []string) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = strings.ToLower(p)
	}
	return out
}

// pathScore rates how well a path matches the given parts. All parts must occur in the path, in the
// same letter case. It counts most if the file name begins with a part, less if the name contains
// one; after that, shorter paths are better.
func pathScore(p string, parts []string) (int, bool) {
	base, score := path.Base(p), 0
	for _, part := range parts {
		switch {
		case base == part:
			score += 4000
		case strings.HasPrefix(base, part):
			score += 3000
		case strings.Contains(base, part):
			score += 2000
		case strings.Contains(p, part):
		default:
			return 0, false
		}
	}
	return score - min(len(p), 999), true
}
