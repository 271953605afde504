package notebook

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/notefields"
	"quarry/internal/splice"
	"quarry/internal/vault"
)

// Property is a property of a note.
type Property struct {
	Name  string
	Value any
	Raw   string // the source text of key and value
	Line  int    // first line of Raw, starting at 1; 0 without Raw
}

// Properties returns the properties of a note in file order.
func (b *Book) Properties(ctx context.Context, path string) (*Note, []Property, error) {
	n, err := b.Read(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	head := vault.ReadHead(ctx, n.Text)
	names, err := head.Names()
	if err != nil {
		return n, nil, err
	}
	values, err := head.Properties()
	if err != nil {
		return n, nil, err
	}
	spans, err := vault.PropertySpans(ctx, n.Text)
	if err != nil {
		return n, nil, err
	}
	var out []Property
	line, at := 1, 0
	for i, name := range names {
		p := Property{Name: name, Value: values[name]}
		if span := spans[i]; span.Len() > 0 {
			line, at = line+bytes.Count(n.Text[at:span.Start], []byte("\n")), span.Start
			p.Raw, p.Line = string(span.In(n.Text)), line
		}
		out = append(out, p)
	}
	return n, out, nil
}

// SetProperties sets and deletes properties of notes, as one change. A nil value is null;
// remove lists the properties to delete. If filters selected the notes, a note may lack
// some of the properties to delete.
func (b *Book) SetProperties(ctx context.Context, notes Chosen, set map[string]any, remove []string, o Options) (*change.Change, error) {
	var done []string
	if len(set) > 0 {
		done = append(done, "set "+strings.Join(slices.Sorted(maps.Keys(set)), ", "))
	}
	if len(remove) > 0 {
		done = append(done, "deleted "+strings.Join(remove, ", "))
	}
	what := strings.Join(done, " and ")
	if notes.Path == "" {
		lacks := "the same value"
		if len(set) == 0 {
			lacks = "no " + strings.Join(remove, ", ")
		}
		replaced := 0 // number of notes that had another value
		summary := func(notes int) string {
			if replaced == 0 {
				return inNotes(what)(notes)
			}
			return fmt.Sprintf("%s, replaced in %d", inNotes(what)(notes), replaced)
		}
		return b.editAll(ctx, notes, nil, summary, lacks, ErrNoNote, o, func(text []byte) ([]vault.Splice, error) {
			after, err := withProperties(ctx, text, set, remove, true)
			if err != nil || string(after) == string(text) {
				return nil, err
			}
			old, _ := vault.ReadHead(ctx, text).Properties()
			for key := range set {
				if old[vault.PropertyName(slices.Collect(maps.Keys(old)), key)] != nil {
					replaced++
					break
				}
			}
			return []vault.Splice{{Span: vault.Span{Start: 0, End: frontMatterEnd(text)}, New: string(after[:frontMatterEnd(after)])}}, nil
		})
	}
	n, err := b.Read(ctx, notes.Path)
	if err != nil {
		return nil, err
	}
	if err := n.expect(o); err != nil {
		return nil, err
	}
	text, err := withProperties(ctx, n.Text, set, remove, false)
	if err != nil {
		return nil, err
	}
	old, now := frontMatterEnd(n.Text), frontMatterEnd(text)
	op := n.edit([]vault.Splice{{Span: vault.Span{Start: 0, End: old}, New: string(text[:now])}})
	if string(text) == string(n.Text) {
		op.Edits = nil
	}
	return b.apply(ctx, fmt.Sprintf("%s in %s", what, fault.Printable(n.Path)), o, narrow(n, op, text))
}

// withProperties returns the text of a note after properties are set and deleted.
// Deleting a property that the note lacks is an error unless missing is set.
func withProperties(ctx context.Context, text []byte, set map[string]any, remove []string, missing bool) ([]byte, error) {
	names, err := vault.ReadHead(ctx, text).Names()
	if err != nil {
		return nil, err
	}
	step := func(splices []vault.Splice, err error) error {
		if err == nil {
			text, err = vault.ApplySplices(text, splices)
		}
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if err := step(vault.SetProperty(text, key, set[key])); err != nil {
			return nil, err
		}
	}
	for _, key := range remove {
		if !slices.Contains(names, vault.PropertyName(names, key)) {
			if missing {
				continue
			}
			return nil, &vault.NoPartError{Kind: "property", Want: key, Have: names}
		}
		if err := step(vault.RemoveProperty(text, key)); err != nil {
			return nil, err
		}
	}
	return text, nil
}

func frontMatterEnd(text []byte) int { return vault.FindFrontMatter(text).Body }

// narrow reduces the edit of a note to the bytes that differ.
func narrow(n *Note, op change.Op, text []byte) change.Op {
	a, z := splice.Ends(n.Text, text)
	op.Edits = []change.Edit{{Verb: change.ReplaceSpan, Start: a, End: len(n.Text) - z, New: string(text[a : len(text)-z])}}
	return op
}

// Name is the name of a property or tag, with the number of notes that have it.
type Name struct {
	Name  string
	Notes int
	Uses  int // number of occurrences, for a tag
}

// PropertyNames lists the properties in the vault, the most frequent first.
func (b *Book) PropertyNames(ctx context.Context) ([]Name, error) {
	counts := map[string]*Name{}
	err := b.eachFact(ctx, factQuery{globs: onlyNotes, want: notefields.Names, look: func(_ string, f *notefields.Facts, _ []byte) any {
		return some(f.PropertyNames(ctx))
	}}, func(_ string, names any) {
		for _, name := range names.([]string) {
			if counts[name] == nil {
				counts[name] = &Name{Name: name}
			}
			counts[name].Notes++
		}
	})
	return byCount(counts), err
}

// onlyNotes matches the files that can have tags and properties.
var onlyNotes = []string{"**/*.md"}

// some returns a list, or a nil interface if it is empty.
func some[T any](list []T) any {
	if len(list) == 0 {
		return nil
	}
	return list
}

func byCount(counts map[string]*Name) []Name {
	var out []Name
	for _, n := range counts {
		out = append(out, *n)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Notes != out[j].Notes {
			return out[i].Notes > out[j].Notes
		}
		return strings.ToLower(out[i].Name) < strings.ToLower(out[j].Name)
	})
	return out
}

// RenameProperty renames a property as one change, in one note or, if path is "", in
// every note that has it. Notes whose front matter can't be changed safely are left
// unchanged and named in the change's warnings.
func (b *Book) RenameProperty(ctx context.Context, path, from, to string, o Options) (*change.Change, error) {
	if strings.TrimSpace(from) == "" || strings.TrimSpace(to) == "" {
		return nil, fault.New(fault.InvalidArgument, "name the property and its new name", "")
	}
	what := fmt.Sprintf("renamed property %s to %s", from, to)
	var none error = fault.New(fault.NotFound, fmt.Sprintf("no note has a property %q", from), "list the properties first")
	if path != "" {
		n, err := b.Read(ctx, path)
		if err != nil {
			return nil, err
		}
		names, _ := vault.ReadHead(ctx, n.Text).Names()
		none = &vault.NoPartError{Kind: "property", Want: from, Have: names}
	}
	return b.editAll(ctx, Chosen{Path: path}, []string{`^---`}, inNotes(what), "", none, o, func(text []byte) ([]vault.Splice, error) {
		return vault.RenameProperty(text, from, to)
	})
}

// Tags lists the tags of the vault, or of one note, the most frequent first. A nested tag
// doesn't count for its parents.
func (b *Book) Tags(ctx context.Context, path string) ([]Name, error) {
	counts := map[string]*Name{}
	add := func(tags []string) {
		seen := map[string]bool{}
		for _, t := range tags {
			key := strings.ToLower(t)
			if counts[key] == nil {
				counts[key] = &Name{Name: t}
			}
			if counts[key].Uses++; !seen[key] {
				counts[key].Notes++
				seen[key] = true
			}
		}
	}
	if path != "" {
		n, err := b.Read(ctx, path)
		if err != nil {
			return nil, err
		}
		add(notefields.Of(n.Path, n.Text).Tags(ctx))
		return byCount(counts), nil
	}
	err := b.eachFact(ctx, factQuery{globs: onlyNotes, want: notefields.Tags, look: func(_ string, f *notefields.Facts, _ []byte) any {
		return some(f.Tags(ctx))
	}}, func(_ string, tags any) { add(tags.([]string)) })
	return byCount(counts), err
}

// Tagged lists the notes with a tag or one nested in it, in path order.
func (b *Book) Tagged(ctx context.Context, tag string) ([]string, error) {
	tag, err := vault.CleanTag(tag)
	if err != nil {
		return nil, err
	}
	var out []string
	err = b.eachFact(ctx, factQuery{globs: onlyNotes, want: notefields.Tags, look: func(_ string, f *notefields.Facts, _ []byte) any {
		if hasTag(ctx, f, tag) {
			return true
		}
		return nil
	}}, func(path string, _ any) { out = append(out, path) })
	return out, err
}

// RenameTag renames a tag, and the tags nested in it, as one change: in one note or in
// all.
func (b *Book) RenameTag(ctx context.Context, path, from, to string, o Options) (*change.Change, error) {
	clean, err := vault.CleanTag(from)
	if err != nil {
		return nil, err
	}
	if _, err := vault.CleanTag(to); err != nil {
		return nil, err
	}
	what := fmt.Sprintf("renamed tag #%s to #%s", clean, strings.TrimPrefix(to, "#"))
	none := fault.New(fault.NotFound, fmt.Sprintf("no note has the tag #%s", clean), "list the tags first")
	return b.editAll(ctx, Chosen{Path: path}, []string{`#`, `^"?'?tags?"?'?:`}, inNotes(what), "", none, o, func(text []byte) ([]vault.Splice, error) {
		return vault.RenameTag(ctx, text, from, to)
	})
}

// Chosen selects the notes to change: one note, those that filters select, or all.
type Chosen struct {
	Path  string
	Where string // filters as in search_notes
}

// paths lists the chosen notes. If all notes are chosen, it lists only those that match
// one of the expressions.
func (c *Chosen) paths(ctx context.Context, b *Book, exprs []string) ([]string, error) {
	if c.Where == "" {
		return b.mentioning(ctx, true, exprs, "**/*.md")
	}
	if _, err := onlyFilters(c.Where); err != nil {
		return nil, err
	}
	r, err := b.Search(ctx, Query{Query: c.Where, Loose: true, Limit: math.MaxInt, Scope: scope(false, "**/*.md")})
	if err != nil {
		return nil, err
	}
	if r.Stopped != "" {
		return nil, fault.New(fault.Timeout, "not all notes could be searched in time, so nothing was changed", "choose fewer notes with path:")
	}
	out := make([]string, len(r.Notes))
	for i := range r.Notes {
		out[i] = r.Notes[i].Path
	}
	slices.Sort(out)
	return out, nil
}

// ErrNoNote is returned if filters select no note, or if none of the notes would change.
var ErrNoNote = fault.New(fault.NotFound, "no chosen note changes", "look at the notes with search_notes")

// AddTag adds a tag to the front matter of notes, as one change. Notes that already have
// it are left unchanged.
func (b *Book) AddTag(ctx context.Context, notes Chosen, tag string, o Options) (*change.Change, error) {
	clean, err := vault.CleanTag(tag)
	if err != nil {
		return nil, err
	}
	return b.editAll(ctx, notes, nil, inNotes("added tag #"+clean), "the tag", ErrNoNote, o, func(text []byte) ([]vault.Splice, error) {
		return vault.AddTag(ctx, text, clean)
	})
}

// inNotes returns a function that formats the summary of a change in a number of notes.
func inNotes(what string) func(notes int) string {
	return func(notes int) string { return fmt.Sprintf("%s in %s", what, fault.Count(notes, "note")) }
}

// editAll makes the same edit in every chosen note, as one change. lacks gives the reason
// if a selected note doesn't need the edit.
func (b *Book) editAll(ctx context.Context, notes Chosen, exprs []string, summary func(notes int) string, lacks string, none error, o Options, splices func([]byte) ([]vault.Splice, error)) (*change.Change, error) {
	var ops []change.Op
	left := map[string][]string{} // the unchanged notes, by reason
	add := func(n *Note) error {
		s, err := splices(n.Text)
		reason := lacks
		switch {
		case err != nil && notes.Path != "":
			return err
		case err != nil:
			reason = fmt.Sprintf("can't be changed (%v)", err)
		case len(s) > 0:
			ops = append(ops, n.edit(s))
			return nil
		case notes.Where == "":
			return nil
		case frontMatterEnd(n.Text) == 0:
			reason = "no front matter"
		}
		left[reason] = append(left[reason], n.Path)
		return nil
	}
	if notes.Path != "" {
		n, err := b.Read(ctx, notes.Path)
		if err != nil {
			return nil, err
		}
		if err := n.expect(o); err != nil {
			return nil, err
		}
		if err := add(n); err != nil {
			return nil, err
		}
	} else {
		paths, err := notes.paths(ctx, b, exprs)
		if err != nil {
			return nil, err
		}
		if err := b.eachNote(ctx, paths, add); err != nil {
			return nil, err
		}
	}
	alone := leftAlone(left)
	if len(ops) == 0 {
		if len(alone) > 0 {
			none = fault.New(fault.CodeOf(none), none.Error()+": "+strings.Join(alone, "; "), fault.HintOf(none))
		}
		return nil, none
	}
	c, err := b.apply(ctx, summary(len(ops)), o, ops...)
	if c != nil {
		c.Warnings = append(c.Warnings, alone...)
	}
	return c, err
}

// leftNamed limits the unchanged notes that are named for each reason.
const leftNamed = 10

// leftAlone lists why notes are unchanged: "1 note has no front matter: c.md".
func leftAlone(left map[string][]string) (out []string) {
	for _, reason := range slices.Sorted(maps.Keys(left)) {
		paths := left[reason]
		verb := " have "
		switch {
		case strings.HasPrefix(reason, "can't "):
			verb = " "
		case len(paths) == 1:
			verb = " has "
		}
		out = append(out, fault.Count(len(paths), "note")+verb+reason+": "+fewOf(paths))
	}
	return out
}

// fewOf lists the first of some paths.
func fewOf(paths []string) string {
	names := make([]string, min(len(paths), leftNamed))
	for i := range names {
		names[i] = fault.Printable(paths[i])
	}
	text := strings.Join(names, ", ")
	if more := len(paths) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
