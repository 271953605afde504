// Package replacer replaces the matches of a search: it returns the edits as a set of
// operations, and changes nothing itself.
//
// A file's new text equals the output of "rg --passthru --replace", except that the replacement
// gets the file's line endings. Every operation names the version of the file that it is based on.
package replacer

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs/version"
	"quarry/internal/textfile"
	"quarry/match"
	"quarry/search"
)

// Template is the replacement of matches. It must not be used concurrently.
type Template struct {
	text    string
	literal bool // the replacement has no groups
	asGiven bool // the caller asked for a literal replacement
	m       *match.Matcher
	slots   []int
	ending  []byte // the line ending, if it is part of the match
}

// NewTemplate makes a template for the matches of m. Unless literal is set, $1, ${1}, $name
// and ${name} are replaced by groups, and $$ by a dollar sign.
func NewTemplate(text string, literal bool, m *match.Matcher) *Template {
	return &Template{text: text, asGiven: literal, literal: literal || !strings.Contains(text, "$"), m: m}
}

// Append appends the replacement of the match [start, end) of text. Unset groups are empty.
func (t *Template) Append(out, text []byte, start, end int) []byte {
	if t.literal {
		return append(out, t.text...)
	}
	slots, ok := t.m.Captures(text, start, t.slots)
	if ok {
		t.slots = slots
	}
	if !ok || slots[0] != start || slots[1] != end {
		// If the match depended on lines outside of text, its groups are unknown.
		slots = []int{start, end}
	}
	for rest := t.text; rest != ""; {
		i := strings.IndexByte(rest, '$')
		if i < 0 {
			return append(out, rest...)
		}
		out, rest = append(out, rest[:i]...), rest[i:]
		if strings.HasPrefix(rest, "$$") {
			out, rest = append(out, '$'), rest[2:]
			continue
		}
		name, size := groupName(rest)
		if size == 0 {
			out, rest = append(out, '$'), rest[1:]
			continue
		}
		if g := t.group(name); g >= 0 && 2*g < len(slots) && slots[2*g] >= 0 {
			out = append(out, text[slots[2*g]:slots[2*g+1]]...)
			if g == 0 {
				out = append(out, t.ending...)
			}
		}
		rest = rest[size:]
	}
	return out
}

// GroupError refuses a replacement with a group that the pattern doesn't have. Such a group
// would be empty, and text would be lost.
type GroupError struct {
	Group string // as written in the replacement
	Fix   string // the probably intended group; "" if unknown
	Have  int    // number of groups in the pattern
}

func (e *GroupError) Error() string {
	if strings.HasPrefix(e.Group, `\`) {
		return fmt.Sprintf("the replacement has %s, which is not a group here", e.Group)
	}
	have := fmt.Sprintf("the pattern has %d groups", e.Have)
	switch e.Have {
	case 0:
		have = "the pattern has no groups"
	case 1:
		have = "the pattern has 1 group"
	}
	return fmt.Sprintf("unknown group %s in the replacement: %s", e.Group, have)
}

// Unwrap returns the error code.
func (e *GroupError) Unwrap() error { return fault.InvalidArgument }

// Hint says how to write the intended replacement.
func (e *GroupError) Hint() string {
	switch {
	case strings.HasPrefix(e.Group, `\`):
		return fmt.Sprintf("a group is written %s; if the text itself is meant, give the replacement as literal text (quarry replace --literal)", e.Fix)
	case e.Fix != "":
		return fmt.Sprintf("write %s; $$ is a dollar sign", e.Fix)
	}
	return "$$ is a dollar sign"
}

// check refuses \1 and groups that the pattern doesn't have.
func (t *Template) check() error {
	have := len(t.m.Pattern().GroupNames()) - 1
	if !t.asGiven {
		if i := strings.IndexByte(t.text, '\\'); i >= 0 && i+1 < len(t.text) && '0' <= t.text[i+1] && t.text[i+1] <= '9' && t.group(t.text[i+1:i+2]) >= 0 && have > 0 {
			return &GroupError{Group: t.text[i : i+2], Fix: "${" + t.text[i+1:i+2] + "}", Have: have}
		}
	}
	if t.literal {
		return nil
	}
	for rest := t.text; ; {
		i := strings.IndexByte(rest, '$')
		if i < 0 {
			return nil
		}
		rest = rest[i:]
		name, size := groupName(rest)
		switch {
		case strings.HasPrefix(rest, "$$"):
			size = 2
		case size == 0:
			size = 1
		case t.group(name) < 0:
			return &GroupError{Group: rest[:size], Fix: t.fix(name), Have: have}
		}
		rest = rest[size:]
	}
}

// fix returns what a name that begins with a group's name probably means: ${1}_x for $1_x.
func (t *Template) fix(name string) string {
	for n := len(name) - 1; n > 0; n-- {
		if t.group(name[:n]) >= 0 {
			return "${" + name[:n] + "}" + name[n:]
		}
	}
	return ""
}

// groupName parses $name or ${name} at the start of s.
func groupName(s string) (name string, size int) {
	if strings.HasPrefix(s, "${") {
		if i := strings.IndexByte(s, '}'); i > 0 {
			return s[2:i], i + 1
		}
		return "", 0
	}
	i := 1
	for i < len(s) && (s[i] == '_' || '0' <= s[i] && s[i] <= '9' || 'a' <= s[i]|0x20 && s[i]|0x20 <= 'z') {
		i++
	}
	if i == 1 {
		return "", 0
	}
	return s[1:i], i
}

func (t *Template) group(name string) int {
	names := t.m.Pattern().GroupNames()
	if n, err := strconv.Atoi(name); err == nil {
		if 0 <= n && n < len(names) {
			return n
		}
		return -1
	}
	for i, have := range names {
		if have == name && i > 0 {
			return i
		}
	}
	return -1
}

// Files is the workspace to search and read.
type Files interface {
	SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error)
	ReadBytes(ctx context.Context, path string, max int64) ([]byte, error)
}

// Query defines a replacement. All matches in all files are replaced; limits and details of
// the search are ignored.
type Query struct {
	search.Query
	Replacement string
	Literal     bool // no groups in the replacement
	// Expected is the required number of matches; 0 means any number.
	Expected int

	given string // the pattern before TakeEndings changed it
}

// Found describes a planned replacement.
type Found struct {
	Ops     []change.Op
	Matches int
	Counts  []FileCount // for each of Ops
	Each    []int       // matches of each replacement, if there are several
	Samples []Sample    // some of the forms, if the replacement has groups
	Forms   int         // the number of forms
	Summary *search.Summary

	// Refused counts the matches of a structure that are not replaced, by reason. Places has
	// the first of them.
	Refused map[string]int
	Places  []Place
}

// CountError refuses a replacement because it doesn't have the expected number of matches.
type CountError struct {
	Want, Have int
	Files      []FileCount
}

// FileCount is the number of matches in a file.
type FileCount struct {
	Path    string
	Matches int
}

func (e *CountError) Error() string {
	be := "are"
	if e.Have == 1 {
		be = "is"
	}
	return fmt.Sprintf("there %s %s in %s, not the expected %d; nothing was changed", be, fault.Count(e.Have, "match", "matches"), fault.Count(len(e.Files), "file"), e.Want)
}

// Unwrap returns the error code.
func (e *CountError) Unwrap() error { return fault.Conflict }

// Hint returns advice on how to proceed.
func (e *CountError) Hint() string {
	return "look at the matches with a search or a dry run, then correct the pattern or the number"
}

// ErrNone reports a pattern without matches.
var ErrNone = fault.New(fault.NotFound, "nothing matches, so nothing was changed", "")

// ErrTooMuch refuses a replacement with more new text than maxText.
var ErrTooMuch = fault.New(fault.TooLarge, fmt.Sprintf("the new text is over %d MB in all, so nothing was changed", maxText>>20), "replace in fewer files at once: name a folder, or give a glob")

// IncompleteError refuses a replacement because not all files could be searched, so some
// matches would not be replaced.
type IncompleteError struct {
	Skipped []search.Skip // the first files that could not be searched
	Count   int
	Stopped search.Stop // the limit that ended the search
}

func (e *IncompleteError) Error() string {
	if e.Count == 0 {
		return "the search did not finish, so nothing was changed"
	}
	var names []string
	for _, k := range e.Skipped[:min(len(e.Skipped), 10)] {
		name := fault.Printable(k.Path)
		if k.Detail != "" {
			name += " (" + fault.Printable(k.Detail) + ")"
		}
		names = append(names, name)
	}
	if more := e.Count - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return "not everything could be searched, so nothing was changed: " + strings.Join(names, ", ")
}

// Unwrap returns the error code: Permission, or Timeout for a search that took too long.
func (e *IncompleteError) Unwrap() error {
	if e.Count == 0 {
		return fault.Timeout
	}
	return fault.Permission
}

// Hint returns advice on how to proceed.
func (e *IncompleteError) Hint() string {
	if e.Count == 0 {
		return "name a folder, or simplify the pattern"
	}
	return "exclude these with a path or a glob, or make them readable"
}

const (
	// maxFile is the largest file that is changed.
	maxFile = 1 << 30
	// maxText limits the new text of all files together.
	maxText = 256 << 20
	// The first maxEdits matches of a file become separate edits. Each further match joins the
	// previous edit, together with the text between them, if that text is at most joinGap bytes
	// and the edit at most joinSize. An edit costs about 650 bytes of memory until it is made.
	maxEdits = 4096
	joinGap  = 128
	joinSize = 32 << 10
)

// Find computes the edits that replace every match.
func Find(ctx context.Context, files Files, q Query) (*Found, error) {
	if q.Structure != "" {
		return findShapes(ctx, files, q)
	}
	r, done, err := newReplacing(ctx, &q)
	if err != nil {
		return nil, err
	}
	defer done()
	found := &Found{}
	paths, err := found.search(ctx, files, q)
	if err != nil {
		return nil, err
	}
	var out editing
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		op, n, err := r.file(ctx, files, path, &out)
		if err != nil {
			return nil, err
		}
		found.add(op, n)
	}
	if r.m.Err() != nil {
		return nil, r.m.Err()
	}
	found.Samples, found.Forms = r.forms.samples(), len(r.forms.order)
	return found, found.asExpected(&q)
}

// add records the operation on a file, and the number of matches that it replaces.
func (f *Found) add(op change.Op, matches int) {
	if matches > 0 {
		f.Ops, f.Matches = append(f.Ops, op), f.Matches+matches
		f.Counts = append(f.Counts, FileCount{op.Path, matches})
	}
}

// asExpected refuses a number of matches other than the expected one.
func (f *Found) asExpected(q *Query) error {
	want := q.Expected
	switch {
	case f.Matches == 0 && f.onlyBinary(q.Paths):
		which := "the named files are binary, so they were"
		if len(q.Paths) == 1 {
			which = fault.Printable(q.Paths[0]) + " is binary, so it was"
		}
		return fault.New(fault.NotText, which+" not searched and nothing was changed", "name a text file; a binary file can only be written as a whole")
	case f.Matches == 0 && len(f.Refused) > 0:
		return &RefusedError{f.Places, f.Refused}
	case f.Matches == 0:
		return ErrNone
	case want > 0 && f.Matches != want:
		return &CountError{want, f.Matches, f.Counts}
	}
	return nil
}

// onlyBinary reports whether each of the paths of a query is a file that was skipped as
// binary.
func (f *Found) onlyBinary(paths []string) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool {
		return !slices.Contains(f.Summary.Skipped, search.Skip{Path: path.Clean(p), Reason: search.Binary})
	})
}

// search lists the matching files, and those with lines that are too long to search.
// Unreadable files are an error.
func (f *Found) search(ctx context.Context, files Files, q Query) (paths []string, err error) {
	each := q.Query
	each.Detail, each.Limits, each.Offset, each.Order = search.Files, search.Limits{}, 0, search.ByPath
	if f.Summary, err = files.SearchEach(ctx, each, func(f *search.FileMatch) error {
		paths = append(paths, f.Path)
		return nil
	}); err != nil {
		return nil, err
	}
	long, err := Missed(f.Summary, len(q.Lacking) > 0)
	if err != nil {
		return nil, err
	}
	paths = append(paths, long...)
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// Missed returns an IncompleteError if a search skipped files. The exception is files with a
// line that is too long to search, because they can still be read: it returns them in long,
// unless lacking is set, which means that the query lists files without a match.
func Missed(sum *search.Summary, lacking bool) (long []string, err error) {
	missed := &IncompleteError{Stopped: sum.Stopped}
	for why, n := range sum.SkippedCount {
		if why == search.Unreadable || why == search.Loop || why == search.TooLarge {
			missed.Count += n
		}
	}
	for _, k := range sum.Skipped {
		switch k.Reason {
		case search.Unreadable, search.Loop:
			missed.Skipped = append(missed.Skipped, k)
		case search.TooLarge:
			if lacking { // it is unknown whether the file has a match
				missed.Skipped = append(missed.Skipped, k)
				continue
			}
			long = append(long, k.Path)
			missed.Count--
		}
	}
	if missed.Count > 0 || missed.Stopped != "" {
		return nil, missed
	}
	return long, nil
}

// replacing computes the replacements in one file after the other.
type replacing struct {
	m        *match.Matcher
	template *Template
	forms    forms
	endings  bool // matches include the ending of their line

	// eol is the line ending of the current file's text up to offset to.
	eol textfile.Ending
	to  int
	// The current line is text[from:end]; the next one begins at next.
	from, end, next int
	// literal caches the template's text with either line ending.
	literal [2]string
}

// newReplacing prepares the replacement of a query's matches. The work stops with ctx; done
// releases the resources.
func newReplacing(ctx context.Context, q *Query) (r *replacing, done func(), err error) {
	q.TakeEndings(ctx)
	pattern, err := match.NewCompiler(ctx, q.Match).Any(append([]string{q.Pattern}, q.Patterns...))
	if err != nil {
		return nil, nil, err
	}
	matching := pattern.NewSearch()
	m := matching.NewMatcher()
	r = &replacing{m: m, template: NewTemplate(q.Replacement, q.Literal, m), endings: q.given != ""}
	if err := r.template.check(); err != nil {
		return nil, nil, err
	}
	return r, matching.StopWith(ctx), nil
}

// textOf reads a file in which the search found matches. If the file has become binary since
// the search, it returns nil without an error.
func textOf(ctx context.Context, files Files, path string) (*textfile.Document, error) {
	data, err := files.ReadBytes(ctx, path, maxFile)
	if err != nil {
		return nil, err
	}
	doc, err := textfile.New(data)
	if err != nil {
		return nil, nil
	}
	return doc, nil
}

// file replaces the matches in one file, and returns the operation and the number of matches.
func (r *replacing) file(ctx context.Context, files Files, path string, out *editing) (change.Op, int, error) {
	op := change.Op{Verb: change.EditFile, Path: path}
	doc, err := textOf(ctx, files, path)
	if doc == nil {
		return op, 0, err
	}
	text, n := doc.Text(), 0
	r.each(text, func(start, end int, new string) bool {
		n++
		out.add(text, start, end, new)
		return out.size <= maxText && (n&0xFFFF != 0 || ctx.Err() == nil)
	})
	op.Edits = out.take()
	switch {
	case out.size > maxText:
		return op, 0, ErrTooMuch
	case ctx.Err() != nil:
		return op, 0, context.Cause(ctx)
	case n > 0:
		op.Version = version.Of(doc.Raw()).String()
	}
	return op, n, nil
}

// each calls f with the matches of a text and their replacements, until f returns false.
func (r *replacing) each(text []byte, f func(start, end int, new string) bool) {
	r.to, r.next = 0, 0
	r.m.Each(text, func(start, end int) bool {
		match := end
		if r.endings {
			if end = endOf(text, match); start == end {
				return true // an empty match at the end of a last line without an ending
			}
			r.template.ending = text[match:end]
		}
		new := r.newText(text, start, match)
		if !r.template.literal {
			r.forms.add(string(text[start:min(end, start+maxSample+utf8.UTFMax)]), new)
		}
		return f(start, end, new)
	})
}

// editing makes edits of replaced matches, which must be added in order.
type editing struct {
	size  int           // new text of all files so far, in bytes
	edits []change.Edit // edits of the current file
	buf   []byte        // new text of the last edit, while more may join it
}

// add replaces one match.
func (e *editing) add(text []byte, start, end int, new string) {
	e.size += len(new)
	if len(e.edits) >= maxEdits && len(new) < joinSize {
		last := &e.edits[len(e.edits)-1]
		if e.buf != nil && start-last.End <= joinGap && len(e.buf) < joinSize {
			e.size += start - last.End
			e.buf = append(append(e.buf, text[last.End:start]...), new...)
			last.End = end
			return
		}
		e.flush()
		e.buf = append(make([]byte, 0, 2*len(new)+joinGap), new...)
		new = ""
	} else {
		e.flush()
	}
	e.edits = append(e.edits, change.Edit{Verb: change.ReplaceSpan, Start: start, End: end, New: new, Verbatim: true})
}

// flush completes the last edit, which further matches could join.
func (e *editing) flush() {
	if e.buf != nil {
		e.edits[len(e.edits)-1].New = string(e.buf)
		e.buf = nil
	}
}

// take completes the current file and returns its edits.
func (e *editing) take() []change.Edit {
	e.flush()
	edits := e.edits
	e.edits = nil
	return edits
}

// lineOf returns the text in which a match was found, and the text's offset. The text is the line
// without its ending, because a pattern may assert the end of the line, or with -U everything.
func (r *replacing) lineOf(text []byte, start int) (line []byte, from int) {
	if r.m.Pattern().Mode() != match.Lines {
		return text, 0
	}
	if start >= r.next {
		r.from = r.next + bytes.LastIndexByte(text[r.next:start], '\n') + 1
		r.end, r.next = len(text), len(text)+1
		if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
			r.end, r.next = start+i, start+i+1
			if r.end > r.from && text[r.end-1] == '\r' {
				r.end--
			}
		}
	}
	return text[r.from:r.end], r.from
}

// newText returns the replacement of a match, with the line endings in use at its position. A
// literal replacement is not copied.
func (r *replacing) newText(text []byte, start, end int) string {
	new := r.template.text
	if !r.template.literal {
		line, from := r.lineOf(text, start)
		new = string(r.template.Append(nil, line, start-from, end-from))
	}
	if !strings.Contains(new, "\n") {
		return new
	}
	if start >= r.to {
		r.eol, r.to = textfile.EndingAt(text, start), len(text)+1
		if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
			r.to = start + i + 1
		}
	}
	if !r.template.literal {
		return r.eol.Convert(new)
	}
	if r.literal[r.eol] == "" {
		r.literal[r.eol] = r.eol.Convert(new)
	}
	return r.literal[r.eol]
}
