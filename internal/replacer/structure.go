package replacer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/rootfs/version"
	"quarry/internal/structure"
	"quarry/internal/textfile"
)

// Place is a match of a structure that was not replaced.
type Place struct {
	Path string
	Line int
	Why  string
}

// maxPlaces limits the list of such matches.
const maxPlaces = 20

// RefusedError reports that a structure has matches, but none of them can be replaced.
type RefusedError struct {
	Places []Place
	Counts map[string]int
}

func (e *RefusedError) Error() string {
	return "nothing was changed: " + RefusedText(e.Counts, e.Places)
}

// Code returns Conflict.
func (e *RefusedError) Code() fault.Code { return fault.Conflict }

// Is lets errors.Is match the error's code.
func (e *RefusedError) Is(target error) bool { return target == e.Code() }

// Hint returns advice on how to proceed.
func (e *RefusedError) Hint() string {
	return "write more of the code around the holes, or edit these places one by one"
}

// RefusedText describes the matches that were not replaced: their number by reason, and the
// first of them. It returns "" if there are none.
func RefusedText(counts map[string]int, places []Place) string {
	if len(counts) == 0 {
		return ""
	}
	var parts []string
	total := 0
	for why, n := range counts {
		parts = append(parts, fmt.Sprintf("%d (%s)", n, why))
		total += n
	}
	slices.Sort(parts)
	text := "not replaced: " + strings.Join(parts, ", ")
	var at []string
	for _, p := range places[:min(len(places), 5)] {
		at = append(at, fmt.Sprintf("%s:%d", fault.Printable(p.Path), p.Line))
	}
	text += ": " + strings.Join(at, ", ")
	if total > len(at) {
		text += fmt.Sprintf(" and %d more", total-len(at))
	}
	return text
}

// findShapes computes the edits that replace every match of a structure.
func findShapes(ctx context.Context, files Files, q Query) (*Found, error) {
	var sign rune
	for _, sign = range q.Hole {
		break
	}
	pattern, err := structure.Compile(q.Structure, sign)
	if err != nil {
		return nil, err
	}
	template, err := pattern.Template(q.Replacement, sign)
	if err != nil {
		return nil, err
	}
	found := &Found{Refused: map[string]int{}}
	paths, err := found.search(ctx, files, q)
	if err != nil {
		return nil, err
	}
	size := 0
	var seen forms
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		op, n, err := found.shapes(ctx, files, template, path, &size, &seen)
		if err != nil {
			return nil, err
		}
		found.add(op, n)
	}
	found.Samples, found.Forms = seen.samples(), len(seen.order)
	return found, found.asExpected(&q)
}

// errManySteps reports a file whose code takes too many steps to match or to rewrite.
var errManySteps = fault.New(fault.TooLarge, "finding and writing its matches takes too many steps, so nothing was changed", "use fewer holes in the replacement, or exclude the file with a glob")

// shapes replaces the matches of one file.
func (f *Found) shapes(ctx context.Context, files Files, t *structure.Template, path string, size *int, seen *forms) (change.Op, int, error) {
	op := change.Op{Verb: change.EditFile, Path: path}
	doc, err := textOf(ctx, files, path)
	if doc == nil {
		return op, 0, err
	}
	text := doc.Text()
	code := structure.NewText(func() bool { return ctx.Err() != nil }, path, text)
	if code == nil && ctx.Err() != nil {
		return op, 0, context.Cause(ctx)
	}
	if code == nil {
		return op, 0, fmt.Errorf("%s: %w", path, errManySteps)
	}
	edits, refused, n, complete := t.Replace(code)
	if ctx.Err() != nil {
		return op, 0, context.Cause(ctx)
	}
	if !complete {
		return op, 0, fmt.Errorf("%s: %w", path, errManySteps)
	}
	for _, r := range refused {
		f.Refused[string(r.Why)]++
		if len(f.Places) < maxPlaces {
			f.Places = append(f.Places, Place{path, 1 + strings.Count(string(text[:r.Start]), "\n"), string(r.Why)})
		}
	}
	for _, e := range edits {
		if e.New == string(text[e.Start:e.End]) {
			n--
			continue
		}
		seen.add(string(text[e.Start:min(e.End, e.Start+maxSample+utf8.UTFMax)]), e.New)
		if strings.Contains(e.New, "\n") {
			e.New = textfile.EndingAt(text, e.Start).Convert(e.New)
		}
		if *size += len(e.New); *size > maxText {
			return op, 0, ErrTooMuch
		}
		op.Edits = append(op.Edits, change.Edit{Verb: change.ReplaceSpan, Start: e.Start, End: e.End, New: e.New, Verbatim: true})
	}
	op.Version = version.Of(doc.Raw()).String()
	return op, n, nil
}
