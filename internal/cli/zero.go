package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"quarry/fault"
	"quarry/internal/cli/printing"
	"quarry/internal/explain"
	"quarry/internal/render"
	"quarry/search"
)

// explainZero tells a person why nothing was found. It names the folder and filters, and suggests a
// search that would find something.
func (r *searching) explainZero(ctx context.Context) {
	if r.f.quiet || r.f.mode != "" && r.f.mode != "files-with-matches" && r.f.mode != "count" && r.f.mode != "count-matches" ||
		!r.s.ErrTerminal() || !r.s.OutTerminal() {
		return
	}
	var where []string
	for i := range r.targets {
		where = append(where, printing.Escape(r.targets[i].arg()))
	}
	n := r.total.Stats.Searched
	fmt.Fprintf(r.s.Err, "quarry: no match in %s (%s searched)\n", strings.Join(where, ", "), fault.Count(n, "file"))
	for _, note := range r.zeroNotes(ctx) {
		fmt.Fprintf(r.s.Err, "  %s\n", note)
	}
}

func (r *searching) zeroNotes(ctx context.Context) []string {
	notes := r.pattern.Hints()
	filters := printing.Escape(r.f.filters())
	if filters != "" {
		notes = append(notes, "only files that pass "+filters)
	}
	if q, t := r.sameRoot(); t != nil {
		look := explain.After(t.ws, &r.total)
		for _, f := range look.Text(ctx, q, &r.total) {
			if f.Way == explain.Name {
				notes = append(notes, "by name: "+explain.OfName(f.Paths, f.Total, t.fromHere))
				continue
			}
			notes = append(notes, f.Sentence(flagsOf(&f, filters, &q), t.fromHere))
		}
	}
	if n := r.total.SkippedCount[search.Binary] - r.binaryTold; n > 0 {
		notes = append(notes, fault.Count(n, "binary file was skipped: -a searches it", "binary files were skipped: -a searches them"))
	}
	return notes
}

// sameRoot returns the query of all targets in the first target's root, and that target. The target
// is nil if there is only standard input, which can't be read twice.
func (r *searching) sameRoot() (search.Query, *target) {
	q := r.q
	q.FilesWithoutMatch, q.CountMatches, q.Paths = false, false, nil
	if len(q.Patterns) == 1 {
		q.Pattern, q.Patterns = q.Patterns[0], nil
	}
	var first *target
	for i := range r.targets {
		t := &r.targets[i]
		if t.stdin || first != nil && t.ws != first.ws {
			continue
		}
		if first == nil {
			first = t
		}
		q.Paths = append(q.Paths, t.path)
	}
	return q, first
}

// flagsOf writes the change that a finding suggests as flags of the search.
func flagsOf(f *explain.Finding, filters string, q *search.Query) string {
	switch f.Way {
	case explain.AllFiles, explain.NoFilter:
		return "without " + filters
	case explain.NoPath:
		return "outside " + printing.Escape(strings.Join(q.Paths, ", "))
	case explain.NoPathOrGlob:
		return "in the whole workspace, without " + filters + ","
	case explain.AnyCase:
		return "with -i"
	case explain.InsideWords:
		return "without -w"
	case explain.PlainText:
		return "with -F"
	case explain.Regex:
		return "without -F"
	case explain.OtherSpace:
		return "with other white space (" + render.ShellQuote(f.Text) + ")"
	case explain.Hidden, explain.Ignored, explain.HiddenIgnored:
		words := map[explain.Way]string{explain.Hidden: "with --hidden", explain.Ignored: "with --no-ignore", explain.HiddenIgnored: "with -uu"}[f.Way]
		if f.Unfiltered {
			words = "without " + filters + ", " + words
		}
		return words
	}
	return f.Common()
}

// nearPaths suggests another find command that would list something.
func (f *findFlags) nearPaths(ctx context.Context, t *target, q search.FindQuery, pattern []string, sum *search.Summary) []string {
	if len(pattern) != 1 || f.fuzzy != "" {
		return nil
	}
	glob := pattern[0]
	if !strings.ContainsAny(glob, `*?[{!`) {
		glob = "*" + glob + "*"
	}
	q.Globs, q.FoldedGlobs = []string{glob}, nil
	var lines []string
	for _, found := range explain.After(t.ws, sum).Paths(ctx, q) {
		words := found.Common()
		switch found.Way {
		case explain.AnyCase:
			words = "with -i"
		case explain.Hidden:
			words = "with --hidden"
		case explain.Ignored:
			words = "with --no-ignore"
		case explain.HiddenIgnored:
			words = "with -uu"
		}
		lines = append(lines, found.Sentence(words, t.fromHere))
	}
	return lines
}

// fromHere returns a workspace path relative to the current folder.
func (t *target) fromHere(path string) string {
	if t.here == "" {
		return printing.Escape(filepath.Join(t.root, filepath.FromSlash(path)))
	}
	if rel, err := filepath.Rel(filepath.FromSlash(t.here), filepath.FromSlash(path)); err == nil {
		path = rel
	}
	return printing.Escape(path)
}
