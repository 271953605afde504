package value

import (
	"errors"
	"fmt"
	"slices"

	"quarry/fault"
	"quarry/internal/splice"
)

// Edit is one change of a value.
type Edit struct {
	At Path
	// Value is the new value. Missing parents are created; [+] at the end of the path
	// appends an item.
	Value *Node
	// Delete removes the value with its key. Rename renames the value's key. Exactly one of
	// Value, Delete and Rename must be set.
	Delete bool
	Rename string
}

// Edit returns the splices that make one change, or the error that refuses it. There are no
// splices if the value is already as wanted.
func (d *Doc) Edit(e Edit) ([]splice.Splice, error) {
	out, err := d.edit(e)
	if r, ok := errors.AsType[*Refused](err); ok && r.Path == nil {
		r.Path = e.At
	}
	return out, err
}

func (d *Doc) edit(e Edit) ([]splice.Splice, error) {
	at, rest, err := d.find(e.At)
	if err != nil {
		return nil, err
	}
	if d.unsure != "" {
		return nil, refuse(Cramped, "the text has %s, which programs read in different ways", d.unsure)
	}
	touched, inside := at, len(rest) == 0
	if e.Rename != "" && len(at.chain) > 1 { // the value itself is unchanged
		touched, inside = at.up(), false
	}
	if err := d.shared(touched, inside); err != nil {
		return nil, err
	}
	if len(rest) > 0 && (e.Delete || e.Rename != "") {
		return nil, d.missing(e.At, len(e.At)-len(rest), at)
	}
	switch {
	case e.Value == nil:
	case d.format == INI:
		e.Value = asTexts(e.Value)
	case d.yaml():
		e.Value = yamlNumbers(e.Value)
	}
	if len(rest) == 0 && at.node().Kind == Date && e.Value != nil && e.Value.Kind == Text && isDate(e.Value.Text) {
		e.Value = &Node{Kind: Date, Text: e.Value.Text}
	}
	var out []splice.Splice
	var want *Node
	switch {
	case e.Delete:
		out, want, err = d.remove(at)
	case e.Rename != "":
		out, want, err = d.rename(at, e.Rename)
	default:
		out, want, err = d.set(at, rest, e)
	}
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return out, d.verify(out, want)
}

// verify parses the text after the splices and compares it with the wanted document.
func (d *Doc) verify(out []splice.Splice, want *Node) error {
	text, err := splice.Apply(d.text, out)
	if err != nil {
		return refuse(WouldChange, "the places to change overlap")
	}
	after, err := ParseUntil(d.stop, d.format, text)
	if err == ErrStopped {
		return err
	} else if err != nil {
		return refuse(WouldChange, "the result could not be read: %v", err)
	}
	if !same(want, after.Root, d.format != TOML) || d.several != after.several {
		return refuse(WouldChange, "other values would change with it")
	}
	return nil
}

// shared refuses a value that is used elsewhere in the document. It checks the nodes of the
// chain and, if inside is set, those within the value.
func (d *Doc) shared(at place, inside bool) error {
	for _, n := range at.chain {
		if n.used {
			return refuse(Anchored, "aliases use &%s, so they would change with it", n.Anchor)
		}
		if n.Tag == "!!omap" || n.Tag == "!!pairs" || n.Tag == "!!set" {
			return refuse(Cramped, "programs read %s in different ways", n.Tag)
		}
	}
	if inside {
		if name := usedIn(at.node()); name != "" {
			return refuse(Anchored, "it has the anchor &%s, which aliases use", name)
		}
	}
	return nil
}

func usedIn(n *Node) string {
	if n.used {
		return n.Anchor
	}
	for _, item := range n.Items {
		if name := usedIn(item); name != "" {
			return name
		}
	}
	for _, m := range n.Members {
		if name := usedIn(m.Value); name != "" {
			return name
		}
	}
	return ""
}

// set replaces the value at a place or, if rest is not empty, creates the value at rest
// below it.
func (d *Doc) set(at place, rest Path, e Edit) ([]splice.Splice, *Node, error) {
	n := at.node()
	switch {
	case d.several && len(at.chain) == 1:
		return nil, nil, refuse(Shape, "the file has %d documents: begin with [0], or [kind=Service]", len(n.Items))
	case len(rest) == 0 && len(at.chain) == 1:
		return nil, nil, refuse(Shape, "the whole document can't be set; write the file instead")
	case len(rest) == 0:
		if same(n, e.Value, true) && !(d.yaml() && n.bareAmbiguous()) {
			return nil, nil, nil
		}
		out, err := d.f.replace(at, e.Value)
		return out, at.with(e.Value), err
	}
	first := rest[0]
	v, err := nested(e.At, rest[1:], e.Value)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case n.Kind == Map && first.Kind == ByKey:
		out, err := d.f.add(at, first.Key, v)
		grown := &Node{Kind: Map, Members: append(slices.Clone(n.Members), &Member{Key: first.Key, Value: v}), Tag: n.Tag, Anchor: n.Anchor}
		return out, at.with(grown), err
	case n.Kind == List && first.Kind == Next:
		out, err := d.f.add(at, "", v)
		grown := &Node{Kind: List, Items: append(slices.Clone(n.Items), v), Tag: n.Tag, Anchor: n.Anchor}
		return out, at.with(grown), err
	case n.Kind == Null && len(at.chain) > 1: // a key without a value, such as "env:"
		v, err := nested(e.At, rest, e.Value)
		if err != nil {
			return nil, nil, err
		}
		out, err := d.f.replace(at, v)
		return out, at.with(v), err
	case n.Kind == List && first.Kind != ByKey:
		return nil, nil, d.missing(e.At, len(e.At)-len(rest), at)
	case n.Kind == Map || n.Kind == List:
		return nil, nil, refuse(Shape, "%s is %s", e.At[:len(e.At)-len(rest)], n.Kind)
	}
	return nil, nil, refuse(Shape, "%s is %s and has nothing in it", e.At[:len(e.At)-len(rest)], n.Kind)
}

// nested wraps a value in the maps and lists that rest leads through.
func nested(at, rest Path, v *Node) (*Node, error) {
	for i := len(rest) - 1; i >= 0; i-- {
		switch s := rest[i]; {
		case s.Kind == ByKey:
			v = MapOf(s.Key, v)
		case s.Kind == Next, s.Kind == ByIndex && s.Index == 0:
			v = ListOf(v)
		default:
			return nil, &MissingError{Path: at, Have: "a new list begins with [+]"}
		}
	}
	return v, nil
}

func (d *Doc) remove(at place) ([]splice.Splice, *Node, error) {
	in := at.in()
	if in == nil || d.several && len(at.chain) == 2 {
		return nil, nil, refuse(Shape, "a whole document can't be deleted; delete the file instead")
	}
	out, err := d.f.remove(at)
	if err != nil {
		return nil, nil, err
	}
	up, i := at.up(), at.last()
	less := *in
	if in.Kind == Map {
		less.Members = slices.Delete(slices.Clone(in.Members), i, i+1)
	} else {
		less.Items = slices.Delete(slices.Clone(in.Items), i, i+1)
	}
	// Removing its last entry also removes a TOML table without a heading. A document may
	// become empty.
	for ; len(less.Members)+len(less.Items) == 0 && len(up.chain) > 1 && less.toml != nil && !less.toml.named; up = up.up() {
		i := up.last()
		less = *up.in()
		if less.Kind == Map {
			less.Members = slices.Delete(slices.Clone(less.Members), i, i+1)
		} else {
			less.Items = slices.Delete(slices.Clone(less.Items), i, i+1)
		}
	}
	return out, up.with(&less), nil
}

func (d *Doc) rename(at place, key string) ([]splice.Splice, *Node, error) {
	m := at.member()
	if m == nil {
		return nil, nil, refuse(Shape, "it is not a key of a map")
	}
	if m.Key == key {
		return nil, nil, nil
	}
	if at.in().Get(key) != nil {
		return nil, nil, refuse(Twice, "there is a %q already", key)
	}
	out, err := d.f.rename(at, key)
	if err != nil {
		return nil, nil, err
	}
	changed := *at.in()
	changed.Members = slices.Clone(changed.Members)
	changed.Members[at.last()] = &Member{Key: key, Value: m.Value}
	return out, at.up().with(&changed), nil
}

// with returns a copy of the document with v as the value at the place.
func (p place) with(v *Node) *Node {
	for i := len(p.chain) - 2; i >= 0; i-- {
		in := *p.chain[i]
		at := p.index[i]
		if in.Kind == Map {
			m := *in.Members[at]
			m.Value = v
			in.Members = slices.Clone(in.Members)
			in.Members[at] = &m
		} else {
			in.Items = slices.Clone(in.Items)
			in.Items[at] = v
		}
		v = &in
	}
	return v
}

// Apply makes several changes to one text and returns them as splices. All paths refer to the
// original text: deleting an item doesn't change the numbers of others, and a renamed key
// keeps its old name in later paths.
func Apply(format Format, text []byte, edits ...Edit) ([]splice.Splice, error) {
	return ApplyUntil(nil, format, text, edits...)
}

// maxParsed limits the bytes parsed for one list of edits. Each edit parses the text twice.
const maxParsed = 256 << 20

// ApplyUntil is Apply, but stops when stop returns true, as ParseUntil does.
func ApplyUntil(stop func() bool, format Format, text []byte, edits ...Edit) ([]splice.Splice, error) {
	if n := maxParsed / 2 / max(len(text), 1); len(edits) > max(n, 1) {
		return nil, fault.New(fault.TooLarge, fmt.Sprintf("%d values in a file of %d KB; at most %d are changed at once", len(edits), len(text)>>10, max(n, 1)), "change them in several calls, or edit the text of the file instead")
	}
	d, err := ParseUntil(stop, format, text)
	if err != nil {
		return nil, err
	}
	paths := make([]Path, len(edits))
	given := map[string]bool{} // paths to or into which earlier edits assign a value
	for i, e := range edits {
		if paths[i], err = d.exact(e.At); err != nil {
			return nil, &EditError{i, err}
		}
		if e.Rename == "" && given[paths[i].String()] {
			return nil, &EditError{i, &Refused{Reason: Twice, Path: e.At, Why: "an earlier edit gives it a value, which would be lost"}}
		}
		for n, s := range paths[i] {
			if e.Value == nil || s.Kind == Next {
				break
			}
			given[paths[i][:n+1].String()] = true
		}
	}
	pieces, now := splice.Base(len(text)), text
	for i, e := range edits {
		given := e.At
		if e.At = paths[i]; e.At == nil && given != nil {
			return nil, &EditError{i, &Refused{Reason: Shape, Path: given, Why: "an earlier edit deletes it"}}
		}
		out, err := d.Edit(e)
		if err != nil {
			if r, ok := errors.AsType[*Refused](err); ok {
				r.Path = given
			}
			return nil, &EditError{i, err}
		}
		if len(out) == 0 {
			continue
		}
		for j := i + 1; j < len(edits); j++ {
			paths[j] = shifted(paths[j], e)
		}
		slices.SortStableFunc(out, func(a, b splice.Splice) int { return a.Start - b.Start })
		pieces = pieces.Apply(out)
		if now, err = splice.Apply(now, out); err != nil {
			return nil, err
		}
		if i < len(edits)-1 {
			if d, err = ParseUntil(stop, format, now); err != nil {
				return nil, &EditError{i, err}
			}
		}
	}
	return pieces.Splices(len(text)), nil
}

// EditError reports which edit of a list failed, counted from 0.
type EditError struct {
	Index int
	Err   error
}

func (e *EditError) Error() string { return e.Err.Error() }

func (e *EditError) Unwrap() error { return e.Err }

// exact replaces the steps of a path by keys and item numbers, as far as the path exists.
func (d *Doc) exact(p Path) (Path, error) {
	at, rest, err := d.find(p)
	if err != nil {
		return nil, err
	}
	out := make(Path, 0, len(p))
	for i, n := range at.chain[:len(at.chain)-1] {
		if n.Kind == List {
			out = append(out, Step{Kind: ByIndex, Index: at.index[i]})
		} else {
			out = append(out, p[i])
		}
	}
	return append(out, rest...), nil
}

// shifted converts a path that is valid before an edit to the path that is valid after it. It
// returns nil if the edit deleted the value.
func shifted(p Path, e Edit) Path {
	n := len(e.At)
	if !e.Delete && e.Rename == "" || len(p) < n || n == 0 || !slices.Equal(p[:n-1], e.At[:n-1]) {
		return p
	}
	last, own := e.At[n-1], p[n-1]
	out := slices.Clone(p)
	switch {
	case e.Rename != "" && own == last:
		out[n-1].Key = e.Rename
	case e.Delete && own == last:
		return nil
	case e.Delete && last.Kind == ByIndex && own.Kind == ByIndex && own.Index > last.Index:
		out[n-1].Index--
	}
	return out
}
