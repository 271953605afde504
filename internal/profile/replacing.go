package profile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/render"
	"quarry/internal/replacer"
	"quarry/match"
	"quarry/search"
	"quarry/tool"
)

var replaceInFiles = action{setSchema, tool.Hints{Destructive: true}, runReplace}

func runReplace(ctx context.Context, c *call) (*answer, error) {
	if c.String("digest") != "" {
		return c.applySet(ctx, nil) // apply the changes of an earlier dry run
	}
	q := replacer.Query{Replacement: c.String("replacement"), Expected: c.Int("expected_count")}
	switch {
	case !c.Given("replacement"):
		return nil, invalid("replacement is required and must be a string.")
	case len(c.Texts("also")) > 0 && c.String("symbol")+c.String("structure") != "":
		return nil, invalid("also can be used with regex and text alone.")
	case c.String("symbol") != "" && c.Given("lacking"):
		return nil, invalid("lacking can't be used together with symbol.")
	case c.String("symbol") != "":
		return c.renameSymbol(ctx)
	case c.String("structure") != "" && c.String("regex") == "" && c.String("text") == "":
		q.Structure = c.String("structure")
	case c.String("regex") != "" && c.String("text") != "", c.String("regex") == "" && c.String("text") == "", c.String("structure") != "":
		if c.takes("structure") {
			return nil, invalid("Give one of regex, text and structure.")
		}
		return nil, invalid("Give either regex or text.")
	}
	if c.Bool("ignore_case") {
		q.Match.Case = match.Insensitive
	}
	if c.Bool("multiline") {
		q.Match.Mode = match.Multiline
	}
	if q.Lacking = c.Strings("lacking"); len(q.Lacking) > 0 && q.Structure != "" {
		return nil, invalid("lacking can't be used together with structure.")
	}
	if p := c.file(ctx, "path"); p != "" {
		q.Paths = []string{p}
	}
	filter := "file_pattern"
	if c.takes("glob") {
		filter = "glob"
	}
	if globs := c.globs(ctx, filter, c.path(ctx, "path")); len(globs) > 0 {
		q.Globs, q.Dialect = globs, search.Gitignore
	}
	expected := q.Expected
	if c.Bool("dry_run") {
		q.Expected = 0 // the preview reports the count itself
	}
	list, err := c.replacements(ctx, q)
	if err != nil {
		return nil, err
	}
	found, err := replacer.FindAll(ctx, c.ws, list)
	if err != nil {
		return nil, c.unreplaced(ctx, &list[0].Query, found, filter, err)
	}
	more := ""
	if len(list) > 1 {
		more = fmt.Sprintf(", and %d more", len(list)-1)
	}
	set := func() change.Set {
		return change.Set{Ops: found.Ops, Summary: fmt.Sprintf("replaced %s by %s%s: %s in %s", fault.Clip(render.Quote(c.String("regex")+c.String("text")+q.Structure), 60), fault.Clip(render.Quote(q.Replacement), 60), more,
			fault.Count(found.Matches, "match", "matches"), fault.Count(len(found.Ops), "file"))}
	}
	first := set()
	first.Again = func(ctx context.Context) (_ change.Set, err error) {
		if found, err = replacer.FindAll(ctx, c.ws, list); err != nil {
			return change.Set{}, err
		}
		return set(), nil
	}
	c.sampled = len(found.Samples) > 0 && c.d.shows && (!c.Bool("dry_run") || !c.Bool("diff"))
	a, err := c.applySummed(ctx, first)
	if err != nil {
		return nil, err
	}
	made, _ := a.data.(*change.Change)
	if n := found.Matches; c.d.shows && (made == nil || made.Reviewed == nil) {
		count := fmt.Sprintf("%s in %s. ", fault.Count(n, "match", "matches"), fault.Count(len(found.Ops), "file"))
		if q.Expected != expected && n != expected {
			count = fmt.Sprintf("expected_count is %d, but there are %s", expected, count)
		}
		count += ofEach(list, found.Each)
		a.text = append([]byte(count), a.text...)
		if c.sampled && !c.quiet() && !bytes.Contains(a.text, []byte("\n@@ ")) {
			for _, s := range found.Samples {
				a.text = fmt.Appendf(a.text, "\n%d like %s → %s", s.Count, render.Quote(fault.Clip(s.Old, sampleText)), render.Quote(fault.Clip(s.New, sampleText)))
			}
			if more := found.Forms - len(found.Samples); more > 0 {
				a.text = fmt.Appendf(a.text, "\nand %s", fault.Count(more, "other form"))
			}
		}
	}
	if refused := replacer.RefusedText(found.Refused, found.Places); refused != "" {
		a.receipt = append(a.receipt, refused)
	}
	if hidden := c.hiddenToo(ctx, list, found.Counts); hidden != "" {
		a.receipt = append(a.receipt, hidden)
	}
	if len(q.Lacking) > 0 {
		if left := c.leftBy(ctx, "lacking", list, found.Counts, func(q *search.Query) { q.Lacking = nil }); left != "" {
			a.receipt = append(a.receipt, left)
		}
	}
	if len(q.Globs) > 0 {
		if left := c.leftBy(ctx, filter, list, found.Counts, func(q *search.Query) { q.Globs = nil }); left != "" {
			a.receipt = append(a.receipt, left)
		}
	}
	c.tellMissed(a, found.Summary)
	return a, nil
}

// replacements returns the replacement given by the arguments, followed by the ones in the
// parameter also. Those are texts or regexes, the same as the first.
func (c *call) replacements(ctx context.Context, q replacer.Query) ([]replacer.Query, error) {
	if q.Structure != "" {
		return []replacer.Query{q}, nil
	}
	of := func(regex, text, replacement string) replacer.Query {
		one := q
		one.Replacement, one.Pattern = replacement, regex
		if text != "" {
			one.Pattern, one.Literal, one.Match.Syntax = text, true, match.Literal
		}
		one.TakeEndings(ctx)
		c.readAsPCRE(ctx, &one.Query)
		return one
	}
	list := []replacer.Query{of(c.String("regex"), c.String("text"), q.Replacement)}
	for _, one := range c.Texts("also") {
		if one.Name == "" {
			return nil, invalid("also has an empty name: each is what to replace.")
		}
		if c.String("text") != "" {
			list = append(list, of("", one.Name, one.Value))
		} else {
			list = append(list, of(one.Name, "", one.Value))
		}
	}
	return list, nil
}

// ofEach words the number of matches of each replacement.
func ofEach(list []replacer.Query, counts []int) string {
	var out []string
	for i, n := range counts {
		out = append(out, fmt.Sprintf("%s %d", fault.Clip(render.Quote(list[i].Given()), 40), n))
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, ", ") + ". "
}

// leftBy counts the matches that a narrowing argument excluded from the replacement: in
// trials, agents searched for them after each such replacement.
func (c *call) leftBy(ctx context.Context, argument string, list []replacer.Query, replaced []replacer.FileCount, without func(*search.Query)) string {
	if !c.d.shows {
		return ""
	}
	left, matches := map[string]int{}, 0
	for _, one := range list {
		q := one.Query
		without(&q)
		q.Detail, q.CountMatches, q.Limits, q.Offset = search.Counts, true, search.Limits{Time: c.o.Time}, 0
		if _, err := c.ws.SearchEach(ctx, q, func(f *search.FileMatch) error {
			if !isReplaced(replaced, f.Path) {
				left[f.Path] += f.Matches
				matches += f.Matches
			}
			return nil
		}); err != nil {
			return "" // the change is already made, so this error is ignored
		}
	}
	if len(left) == 0 {
		return ""
	}
	first := someOf(left, maxOmitted, func(path string) string { return fmt.Sprintf("%s %d", render.Path(path), left[path]) })
	return fmt.Sprintf("%s leaves %s in %s: %s", argument, fault.Count(matches, "match", "matches"), fault.Count(len(left), "file"), first)
}

func isReplaced(list []replacer.FileCount, path string) bool {
	return slices.ContainsFunc(list, func(r replacer.FileCount) bool { return r.Path == path })
}

// someOf names the first most paths and counts the others.
func someOf(paths map[string]int, most int, name func(path string) string) string {
	var names []string
	for i, p := range slices.Sorted(maps.Keys(paths)) {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(paths)-most))
			break
		}
		names = append(names, name(p))
	}
	return strings.Join(names, ", ")
}

// maxOmitted limits the files that the remark of leftBy names.
const maxOmitted = 5

// hiddenToo names hidden files that also match, because a caller may think that all
// occurrences were replaced. In trials, agents searched for them after each replacement.
func (c *call) hiddenToo(ctx context.Context, list []replacer.Query, replaced []replacer.FileCount) string {
	hidden := map[string]int{}
	for _, one := range list {
		q := one.Query
		if !c.d.shows || q.IncludeHidden || q.Structure != "" {
			return ""
		}
		q.IncludeHidden, q.Detail, q.Limits, q.Offset = true, search.Files, search.Limits{Time: c.o.Time}, 0
		if _, err := c.ws.SearchEach(ctx, q, func(f *search.FileMatch) error {
			if hiddenPath(f.Path) && !isReplaced(replaced, f.Path) {
				hidden[f.Path]++
			}
			return nil
		}); err != nil {
			return "" // the change is already made, so this error is ignored
		}
	}
	if len(hidden) == 0 {
		return ""
	}
	return "hidden files match too and are left alone: " + someOf(hidden, maxHidden, render.Path) + "; name one as path"
}

// maxHidden limits the hidden files that the remark of hiddenToo names.
const maxHidden = 3

// unreplaced explains why nothing was replaced: with the remarks of an empty search or,
// if there were matches, their number in each file.
func (c *call) unreplaced(ctx context.Context, q *search.Query, found *replacer.Found, filter string, err error) error {
	if count := (*replacer.CountError)(nil); errors.As(err, &count) && c.d.limits.countBytes > 0 {
		var paths []string
		var counts []int
		for _, f := range count.Files {
			paths, counts = append(paths, f.Path), append(counts, f.Matches)
		}
		text, _ := render.Paths([]byte(sentence(count.Error())), paths, render.Limits{Budget: c.d.limits.countBytes}, counts)
		return &tool.Error{Code: fault.Conflict, Message: string(text), Hint: "Correct the pattern or the number."}
	}
	if !errors.Is(err, replacer.ErrNone) {
		return err
	}
	message := "Nothing matches, so nothing was changed"
	hint := "Search for it with search_files first."
	if found.Summary.Denied > 0 {
		message += "; not searched: " + c.protected(found.Summary)
	}
	if q.Structure == "" {
		if why := c.whyEmpty(ctx, *q, found.Summary, filter); len(why) > 0 {
			hint = sentence(strings.Join(why, "; "))
		}
	}
	return &tool.Error{Code: fault.NotFound, Message: message, Hint: hint}
}

// sampleText limits the characters shown of a sample.
const sampleText = 120
