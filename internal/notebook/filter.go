package notebook

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"quarry/fault"
	"quarry/internal/fuzzy"
	"quarry/internal/notefields"
	"quarry/internal/notefilter"
	"quarry/internal/vault"
)

// noteFilter decides which notes are selected. The zero value selects all.
type noteFilter struct {
	want   uint64 // the facts it needs, as bits
	slow   bool   // it needs information from the file system
	admits func(ctx context.Context, path string, f *notefields.Facts) bool
}

// ErrFilter is returned for an invalid filter in a query.
var ErrFilter = fault.New(fault.InvalidArgument, "invalid filter", "use tag:name, property:name, property:name>=value, has:name, path:text, heading:text, link:note, task:todo, modified:>date; a minus before a filter, OR and parentheses combine them")

// readFilters splits a query into words and filters.
func (b *Book) readFilters(ctx context.Context, query string) (words string, filter *noteFilter, err error) {
	words, expr, err := notefilter.Parse(query)
	if err != nil || expr == nil {
		return words, nil, filterError(err)
	}
	f, err := b.filter(ctx, expr)
	return words, &f, filterError(err)
}

var errWords = fault.New(fault.InvalidArgument, "notes are selected here by filters alone, without words", fault.HintOf(ErrFilter))

// onlyFilters reads a query that must have filters and no words.
func onlyFilters(query string) (*notefilter.Expr, error) {
	words, expr, err := notefilter.Parse(query)
	if err == nil && (expr == nil || words != "") {
		err = errWords
	}
	return expr, filterError(err)
}

// filterError adds the code and the hint to an error of the parser.
func filterError(err error) error {
	if at := (*notefilter.Error)(nil); errors.As(err, &at) {
		return fmt.Errorf("%w %w", ErrFilter, at)
	}
	return err
}

func (b *Book) filter(ctx context.Context, e *notefilter.Expr) (noteFilter, error) {
	switch {
	case e.Term != nil:
		return b.term(ctx, e.Term)
	case e.Not != nil:
		f, err := b.filter(ctx, e.Not)
		admits := f.admits
		f.admits = func(ctx context.Context, path string, facts *notefields.Facts) bool { return !admits(ctx, path, facts) }
		return f, err
	}
	all, list := len(e.All) > 0, slices.Concat(e.All, e.Any)
	parts := make([]noteFilter, len(list))
	out := noteFilter{}
	for i, part := range list {
		var err error
		if parts[i], err = b.filter(ctx, part); err != nil {
			return out, err
		}
		out.want |= parts[i].want
		out.slow = out.slow || parts[i].slow
	}
	// Filters that use the file system come last.
	sort.SliceStable(parts, func(i, j int) bool { return !parts[i].slow && parts[j].slow })
	out.admits = func(ctx context.Context, path string, facts *notefields.Facts) bool {
		return all != slices.ContainsFunc(parts, func(f noteFilter) bool { return f.admits(ctx, path, facts) != all })
	}
	return out, nil
}

// term makes the filter for one term.
func (b *Book) term(ctx context.Context, t *notefilter.Term) (noteFilter, error) {
	switch t.Name {
	case "tag":
		tag, err := vault.CleanTag(t.Value)
		if err != nil {
			return noteFilter{}, err
		}
		return noteFilter{want: notefields.Tags, admits: func(ctx context.Context, _ string, f *notefields.Facts) bool { return hasTag(ctx, f, tag) }}, nil
	case "property":
		return propertyFilter(t, time.Now())
	case "has":
		return hasFilter(t.Value), nil
	case "path":
		part := strings.ToLower(norm.NFC.String(strings.Trim(t.Value, "/")))
		return noteFilter{admits: func(_ context.Context, path string, _ *notefields.Facts) bool {
			return strings.Contains(strings.ToLower(norm.NFC.String(path)), part)
		}}, nil
	case "heading":
		part := strings.ToLower(t.Value)
		return noteFilter{want: notefields.Headings, admits: func(ctx context.Context, _ string, f *notefields.Facts) bool {
			return slices.ContainsFunc(f.Headings(ctx), func(h string) bool { return strings.Contains(strings.ToLower(h), part) })
		}}, nil
	case "link":
		return b.linkFilter(ctx, t)
	case "task":
		return taskFilter(t, time.Now())
	}
	switch t.Name {
	case "base":
		_, f, err := b.view(ctx, t)
		return f, err
	case "statement":
		return b.statementFilter(ctx, t)
	}
	return b.timeFilter(t)
}

func hasTag(ctx context.Context, f *notefields.Facts, tag string) bool {
	return slices.ContainsFunc(f.Tags(ctx), func(t string) bool { return vault.HasTag(t, tag) })
}

// propertyFilter selects the notes that have the property and whose values pass the
// comparison. A note without the property is never selected, not even by !=.
func propertyFilter(t *notefilter.Term, now time.Time) (noteFilter, error) {
	test, err := t.Comparison(now)
	return noteFilter{want: notefields.Properties | notefields.Inline, admits: func(ctx context.Context, _ string, f *notefields.Facts) (passes bool) {
		for _, p := range f.Named(ctx, t.Key, true) {
			if passes = t.Op == "" || test.Passes(p.Values); passes == (t.Op != "!=") { // if several properties have that name, != must hold for each
				break
			}
		}
		return passes
	}}, err
}

// hasFilter selects the notes that have tags, links, headings, tasks, or a property with
// a value.
func hasFilter(name string) noteFilter {
	switch name = strings.ToLower(name); name {
	case "tags", "tag":
		return noteFilter{want: notefields.Tags, admits: func(ctx context.Context, _ string, f *notefields.Facts) bool { return len(f.Tags(ctx)) > 0 }}
	case "headings", "heading":
		return noteFilter{want: notefields.Headings, admits: func(ctx context.Context, _ string, f *notefields.Facts) bool { return len(f.Headings(ctx)) > 0 }}
	case "tasks", "task":
		return noteFilter{want: notefields.Tasks, admits: func(ctx context.Context, _ string, f *notefields.Facts) bool {
			has := false
			f.EachTask(ctx, func(t *vault.Task) bool {
				has = t.Open || t.Done
				return !has
			})
			return has
		}}
	case "links", "link":
		return noteFilter{want: notefields.Links, admits: func(ctx context.Context, _ string, f *notefields.Facts) (has bool) {
			f.EachLink(ctx, func(int, *vault.Link) bool { has = true; return false })
			return has
		}}
	}
	return noteFilter{want: notefields.Properties | notefields.Inline, admits: func(ctx context.Context, _ string, f *notefields.Facts) bool {
		return slices.ContainsFunc(f.Named(ctx, name, true), func(p notefields.Property) bool {
			return slices.ContainsFunc(notefields.Filled(p.Values), func(v string) bool { return v != "" })
		})
	}}
}

// taskFilter selects the notes with a task that is open, or done, or has such a date.
func taskFilter(t *notefilter.Term, now time.Time) (noteFilter, error) {
	key := strings.ToLower(t.Key)
	date := slices.Index(vault.TaskDates[:], key)
	var test notefilter.Test
	if t.Op == "" {
		key = strings.ToLower(t.Value)
		date = slices.Index(vault.TaskDates[:len(vault.TaskDates)-1], key)
	}
	if date < 0 && (t.Op != "" || key != "todo" && key != "done") {
		return noteFilter{}, &notefilter.Error{At: t.At, What: fmt.Sprintf("unknown state or date %q: use task:todo, task:done, or a comparison as task:due<2026-05-01 with due, scheduled, start or done", key)}
	}
	if t.Op != "" {
		var err error
		if test, err = t.Time(now); err != nil {
			return noteFilter{}, err
		}
	}
	return noteFilter{want: notefields.Tasks, admits: func(ctx context.Context, _ string, f *notefields.Facts) (found bool) {
		f.EachTask(ctx, func(task *vault.Task) bool {
			switch {
			case date >= 0:
				at := task.Dates[date]
				found = at != "" && (t.Op == "" || test.Passes([]string{at}))
			case key == "todo":
				found = task.Open
			default:
				found = task.Done
			}
			return !found
		})
		return found
	}}, nil
}

// timeFilter compares a time of the note's file. The property created comes before the
// creation time of the file, which is that of its last edit, because edits replace files.
func (b *Book) timeFilter(t *notefilter.Term) (noteFilter, error) {
	test, err := t.Time(time.Now())
	times := fileInfos{b: b, created: t.Name == "created"}
	out := noteFilter{slow: true}
	if times.created {
		out.want = notefields.Properties | notefields.Inline
	}
	out.admits = func(ctx context.Context, path string, f *notefields.Facts) bool {
		if times.created {
			for _, p := range f.Named(ctx, t.Name, true) {
				for _, v := range p.Values {
					if at, ok := notefilter.ReadDate(v); ok {
						return test.At(at)
					}
				}
			}
		}
		at, _, ok := times.of(ctx, path)
		return ok && !at.IsZero() && test.At(at)
	}
	return out, err
}

// linkFilter selects the notes with a link to the target. The target is given as in links
// and moves: by its path or name, with or without .md, or by an alias, and may include a
// heading or block. As in Backlinks, a note's links to itself don't count.
func (b *Book) linkFilter(ctx context.Context, t *notefilter.Term) (noteFilter, error) {
	name, sub, _ := strings.Cut(t.Value, "#")
	name = strings.Trim(strings.TrimSpace(name), "/")
	targets, err := b.targets(ctx, name)
	if err != nil {
		return noteFilter{}, err
	}
	if len(targets) == 0 { // there is no such file, but some notes have a link of this name
		return noteFilter{want: notefields.Links, admits: func(ctx context.Context, _ string, f *notefields.Facts) bool { return hasLinkNamed(ctx, f, name) }}, nil
	}
	ix, err := b.namesakes(ctx, false, targets...)
	if err != nil {
		return noteFilter{}, err
	}
	keys := map[string]bool{}
	for _, target := range targets {
		ix.Add(target)
		keys[vault.NameKey(target)] = true
	}
	return noteFilter{want: notefields.Links, admits: func(ctx context.Context, path string, f *notefields.Facts) (found bool) {
		f.EachLink(ctx, func(_ int, l *vault.Link) bool {
			if l.Path != "" && keys[vault.NameKey(l.Path)] && (sub == "" || vault.SameSubpath(l.Subpath, sub)) {
				target, ok := ix.ResolveLink(path, l)
				found = ok && target != path && slices.Contains(targets, target)
			}
			return !found
		})
		return found
	}}, nil
}

// hasLinkNamed reports whether a note has a link with this name, whatever it resolves to.
func hasLinkNamed(ctx context.Context, f *notefields.Facts, name string) (found bool) {
	f.EachLink(ctx, func(_ int, l *vault.Link) bool {
		found = l.Names(name)
		return !found
	})
	return found
}

// targets returns the files that a name means: the file with this path, or else all files
// with this name, or else the notes with this alias. If the name occurs only in links
// that don't resolve, there are none. If it doesn't occur at all, targets returns an
// error.
func (b *Book) targets(ctx context.Context, name string) ([]string, error) {
	if p, err := b.resolve(ctx, name); err == nil {
		return []string{p}, nil
	}
	paths, err := b.named(ctx, false, name)
	if err != nil {
		return nil, err
	}
	suffix := "/" + strings.ToLower(strings.TrimSuffix(strings.ToLower(name), ".md"))
	paths = slices.DeleteFunc(paths, func(p string) bool {
		p = "/" + strings.ToLower(p)
		return !strings.HasSuffix(strings.TrimSuffix(p, ".md"), suffix) && !strings.HasSuffix(p, suffix)
	})
	if len(paths) > 0 {
		return paths, nil
	}
	err = b.eachFact(ctx, factQuery{globs: []string{"**/*.md"}, want: notefields.Properties, look: func(path string, f *notefields.Facts, _ []byte) any {
		for _, p := range f.Properties(ctx) {
			if (strings.EqualFold(p.Name, "aliases") || strings.EqualFold(p.Name, "alias")) && slices.ContainsFunc(p.Values, func(v string) bool { return strings.EqualFold(v, name) }) {
				return path
			}
		}
		return nil
	}}, func(path string, _ any) { paths = append(paths, path) })
	if err != nil || len(paths) > 0 {
		return paths, err
	}
	linked := false
	err = b.eachFact(ctx, factQuery{globs: notesGlobs, want: notefields.Links, look: func(_ string, f *notefields.Facts, _ []byte) any {
		if hasLinkNamed(ctx, f, name) {
			return true
		}
		return nil
	}}, func(string, any) { linked = true })
	if err != nil || linked {
		return nil, err
	}
	return nil, b.noTarget(ctx, name)
}

// noTarget returns the error for an unknown name. It suggests similar names.
func (b *Book) noTarget(ctx context.Context, name string) error {
	paths, err := b.paths(ctx, false, "**/*.md")
	if err != nil {
		return err
	}
	stem := func(p string) string { return strings.ToLower(strings.TrimSuffix(path.Base(p), path.Ext(p))) }
	want := stem(name + ".md")
	if strings.HasSuffix(strings.ToLower(name), ".md") {
		want = stem(name)
	}
	far := max(1, len(want)/3) + 1
	distance := func(p string) int { return fuzzy.Distance(want, stem(p), far) }
	paths = slices.DeleteFunc(paths, func(p string) bool { return distance(p) == far && !strings.Contains(stem(p), want) })
	slices.SortStableFunc(paths, func(a, b string) int { return distance(a) - distance(b) })
	hint := "list the notes with list_files, or the links that lead nowhere with links"
	if len(paths) > 0 {
		for i := range paths {
			paths[i] = fault.Printable(paths[i])
		}
		hint = "the nearest: " + strings.Join(paths[:min(3, len(paths))], ", ")
	}
	return fault.New(fault.NotFound, fmt.Sprintf("link: leads to no note or file %q", name), hint)
}
