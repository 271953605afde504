// Package replacer replaces what a search finds: it says which edits that is,
// as a set of operations, and changes nothing itself.
//
// A file's new text is what "rg --passthru --replace" prints for it, line
// endings of the replacement aside, which are the file's. Every operation names
// the version it was worked out from.
package replacer

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs"
	"quarry/internal/textfile"
	"quarry/match"
	"quarry/search"
)

// Template is what a match is replaced by. It is for one goroutine.
type Template struct {
	text    string
	literal bool
	m       *match.Matcher
	slots   []int
}

// NewTemplate makes a template for the matches of m. In one that is not literal
// $1, ${1}, $name and ${name} stand for groups, and $$ for a dollar sign.
func NewTemplate(text string, literal bool, m *match.Matcher) *Template {
	return &Template{text: text, literal: literal || !strings.Contains(text, "$"), m: m}
}

// Append appends what the match [start, end) of text is replaced by. A group
// that is not there is empty.
func (t *Template) Append(out, text []byte, start, end int) []byte {
	if t.literal {
		return append(out, t.text...)
	}
	slots, ok := t.m.Captures(text, start, t.slots)
	if ok {
		t.slots = slots
	}
	if !ok || slots[0] != start || slots[1] != end {
		// A match that looked at lines outside the text has only itself.
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
		}
		rest = rest[size:]
	}
	return out
}

// groupName reads $name or ${name} at the start of s.
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

// Files is where to search and read.
type Files interface {
	SearchEach(ctx context.Context, q search.Query, yield func(*search.FileMatch) error) (*search.Summary, error)
	ReadBytes(ctx context.Context, path string, max int64) ([]byte, error)
}

// Query says what to replace. Limits and details of the search don't count: all
// matches of all files are replaced.
type Query struct {
	search.Query
	Replacement string
	Literal     bool // no groups in the replacement
	// Expected, unless it is 0, is the number of matches there must be.
	Expected int
}

// Found is what is to be replaced.
type Found struct {
	Ops     []change.Op
	Matches int
	Summary *search.Summary
}

// CountError refuses a replacement because of the number of its matches.
type CountError struct{ Want, Have, Files int }

func (e *CountError) Error() string {
	return fmt.Sprintf("there are %d matches in %d files, not the expected %d; nothing was changed", e.Have, e.Files, e.Want)
}

// Code is Conflict.
func (e *CountError) Code() fault.Code { return fault.Conflict }

// Hint says how to go on.
func (e *CountError) Hint() string {
	return "look at the matches with a search or a dry run, then correct the pattern or the number"
}

// ErrNone is for a pattern that matches nowhere.
var ErrNone = fault.New(fault.NotFound, "nothing matches, so nothing was changed", "")

// maxFile is the largest file that is changed.
const maxFile = 1 << 30

// Find works out the edits that replace every match.
func Find(ctx context.Context, files Files, q Query) (*Found, error) {
	pattern, err := match.CompileAny(append([]string{q.Pattern}, q.Patterns...), q.Match)
	if err != nil {
		return nil, err
	}
	matching := pattern.NewSearch()
	defer matching.StopWith(ctx)()
	m := matching.NewMatcher()
	template := NewTemplate(q.Replacement, q.Literal, m)
	var paths []string
	each := q.Query
	each.Detail, each.Limits, each.Offset, each.Order = search.Files, search.Limits{}, 0, search.ByPath
	found := &Found{}
	if found.Summary, err = files.SearchEach(ctx, each, func(f *search.FileMatch) error {
		paths = append(paths, f.Path)
		return nil
	}); err != nil {
		return nil, err
	}
	for _, path := range paths {
		op, n, err := inFile(ctx, files, path, m, template)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			found.Ops = append(found.Ops, op)
			found.Matches += n
		}
	}
	if m.Err() != nil {
		return nil, m.Err()
	}
	switch {
	case q.Expected > 0 && found.Matches != q.Expected:
		return nil, &CountError{q.Expected, found.Matches, len(found.Ops)}
	case found.Matches == 0:
		return found, ErrNone
	}
	return found, nil
}

// inFile replaces the matches of one file.
func inFile(ctx context.Context, files Files, path string, m *match.Matcher, t *Template) (change.Op, int, error) {
	op := change.Op{Verb: change.EditFile, Path: path}
	data, err := files.ReadBytes(ctx, path, maxFile)
	if err != nil {
		return op, 0, err
	}
	doc, err := textfile.New(data)
	if err != nil {
		return op, 0, nil // it has become binary since the search
	}
	op.Version = rootfs.VersionOf(data).String()
	text := doc.Text()
	m.Each(text, func(start, end int) bool {
		op.Edits = append(op.Edits, change.Edit{
			Verb: change.ReplaceSpan, Start: start, End: end, New: string(t.Append(nil, text, start, end)),
		})
		return true
	})
	return op, len(op.Edits), nil
}
