package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"quarry/internal/splice"
	"quarry/internal/value"
)

// noticesDamage makes a change and damages the result. The check must notice wrong values, a
// missing comment and a missing line ending.
func noticesDamage(o *readers) error {
	f := file{name: "planted.yml", format: value.YAML, text: []byte("a: 1 # d\nb: x # c\n")}
	before, err := o.read(f.format, f.text)
	if err != nil {
		return err
	}
	d, err := value.Parse(f.format, f.text)
	if err != nil {
		return err
	}
	at := place{path: value.Keys("a"), node: d.Root.Get("a")}
	other, err := o.second(f.format, f.text)
	if err != nil {
		return err
	}
	bare := &trial{o: o, f: f, before: before, other: other, t: &tally{}, quiet: true}
	bare.judge(at, bare.set(at.path, `"22:22"`), nil, []byte("a: 22:22 # d\nb: x # c\n"))
	if bare.t.wrong != 1 {
		return errors.New("the second reader takes a bare 22:22 for a text")
	}
	for _, after := range []string{"a: 2 # d\nb: y # c\n", "a: 2 # d\n", "a: [2\nb: x # c\n"} {
		t := &trial{o: o, f: f, before: before, t: &tally{}, quiet: true}
		t.judge(at, t.set(at.path, "2"), nil, []byte(after))
		if t.t.wrong != 1 {
			return fmt.Errorf("the comparison accepts the wrong result %q", after)
		}
	}
	for _, s := range []splice.Splice{
		{Span: splice.Span{Start: 3, End: 8}, New: "2"},
		{Span: splice.Span{Start: 3, End: 10}, New: "2 # d\nb"},
	} {
		after, err := splice.Apply(f.text, []splice.Splice{s})
		if err != nil {
			return err
		}
		t := &trial{o: o, f: f, before: before, t: &tally{}, quiet: true}
		t.judge(at, t.set(at.path, "2"), []splice.Splice{s}, after)
		if t.t.wrong != 0 || t.t.outside != 1 {
			return fmt.Errorf("the comparison does not see which bytes of %q are changed", after)
		}
	}
	return nil
}

// trial makes the five changes in one file.
type trial struct {
	o      *readers
	f      file
	before any // document before the change, by the first reader
	other  any // document by the second reader; nil if it can't read the file
	ws     *workspace
	rng    *rand.Rand
	t      *tally
	show   bool
	quiet  bool
	gone   error // error if a reader has ended
}

// place is a value that can be changed.
type place struct {
	path value.Path
	node *value.Node
}

// places returns the places of all values below the top.
func places(n *value.Node, at value.Path, out []place) []place {
	for _, m := range n.Members {
		p := append(slices.Clone(at), value.Step{Key: m.Key})
		out = places(m.Value, p, append(out, place{p, m.Value}))
	}
	for i, item := range n.Items {
		p := append(slices.Clone(at), value.Step{Kind: value.ByIndex, Index: i})
		out = places(item, p, append(out, place{p, item}))
	}
	return out
}

var awkward = []string{`"no"`, `"22:22"`, `"8080:80"`, `"off"`, `"="`, `"<<"`, `"0o7"`, `"014"`, `"0x1F"`, `"1_000"`, `"2001-12-15"`, `"~"`, `".inf"`, `"1e3"`, `" x "`, `"y"`, `"-"`, `"? a"`, `"a\tb"`, `"a: b # c"`, `"yes"`, `"it's \"q\""`, `"é — ü"`, `"12"`, `"- x"`, `""`, `"{{ x }}"`, `"C:\\dir"`, `"@x"`, `"null"`, `"a, b"`}

func (t *trial) run() error {
	d, err := value.Parse(t.f.format, t.f.text)
	if err != nil {
		t.t.changes += 5
		t.t.refused["not read"] += 5
		if t.show {
			fmt.Printf("not read: %s: %v\n", t.f.name, err)
		}
		return nil
	}
	all := places(d.Root, nil, nil)
	if len(all) == 0 {
		return nil
	}
	scalars := slices.DeleteFunc(slices.Clone(all), func(p place) bool {
		return p.node.Kind == value.List || p.node.Kind == value.Map || p.node.Kind == value.Alias
	})
	boxes := slices.DeleteFunc(slices.Clone(all), func(p place) bool { return p.node.Kind != value.List && p.node.Kind != value.Map })
	keyed := slices.DeleteFunc(slices.Clone(all), func(p place) bool { return p.path[len(p.path)-1].Kind != value.ByKey })
	if len(scalars) > 0 {
		p := t.pick(scalars)
		t.change(p, t.set(p.path, alike(p.node)))
		p = t.pick(scalars)
		t.change(p, t.set(p.path, awkward[t.rng.IntN(len(awkward))]))
	}
	p := t.pick(all)
	t.change(p, value.Edit{At: p.path, Delete: true})
	if len(boxes) > 0 {
		p = t.pick(boxes)
		step := value.Step{Key: "quarry_new"}
		if p.node.Kind == value.List {
			step = value.Step{Kind: value.Next}
		}
		t.change(p, t.set(append(slices.Clone(p.path), step), t.addition(p.node)))
	} else {
		at := value.Keys("quarry_new")
		if d.Root.Kind == value.List {
			at = value.Path{{Kind: value.Next}}
		}
		t.change(place{nil, d.Root}, t.set(at, `"x y"`))
	}
	if len(keyed) > 0 {
		p = t.pick(keyed)
		t.change(p, value.Edit{At: p.path, Rename: "quarry_renamed"})
	}
	return t.gone
}

func (t *trial) pick(list []place) place { return list[t.rng.IntN(len(list))] }

func (t *trial) set(at value.Path, text string) value.Edit {
	v, err := value.FromJSON([]byte(text))
	if err != nil {
		panic(err)
	}
	return value.Edit{At: at, Value: v}
}

// alike returns a different value of the same kind.
func alike(n *value.Node) string {
	switch n.Kind {
	case value.Bool:
		if strings.EqualFold(n.Text, "true") {
			return "false"
		}
		return "true"
	case value.Number:
		return "4711"
	}
	return `"quarry-test"`
}

// addition returns a new entry for a map or list. For a list it is similar to an existing entry.
func (t *trial) addition(n *value.Node) string {
	if n.Kind == value.List && len(n.Items) > 0 && n.Items[0].Kind == value.Map {
		return `{"quarry_name": "x", "quarry_list": [1, "b"]}`
	}
	if t.f.format == value.INI {
		return `"x y"`
	}
	return []string{`"x y"`, `17`, `["a", "b"]`, `{"k": "v", "n": 1}`}[t.rng.IntN(4)]
}

// change makes one change and checks it with the first reader.
func (t *trial) change(p place, e value.Edit) {
	t.t.changes++
	out, err := value.Apply(t.f.format, t.f.text, e)
	if err != nil {
		reason := value.Reason("other")
		if r, ok := errors.AsType[*value.Refused](err); ok {
			reason = r.Reason
		}
		t.t.refused[reason]++
		if t.show {
			fmt.Printf("%s: %s: %v (%s)\n", reason, t.f.name, err, kindOfEdit(e))
		}
		return
	}
	after, err := splice.Apply(t.f.text, out)
	if err != nil {
		t.wrong(e, err.Error(), after)
		return
	}
	t.t.made++
	if bytes.Equal(after, t.f.text) {
		t.t.empty++
	}
	t.judge(p, e, out, after)
	if err := t.ws.there(t.f, e, after); err != nil {
		t.wrong(e, err.Error(), after)
	}
}

func kindOfEdit(e value.Edit) string {
	switch {
	case e.Delete:
		return "delete"
	case e.Rename != "":
		return "rename"
	}
	return "set " + e.Value.JSON("", "")
}

func (t *trial) wrong(e value.Edit, why string, after []byte) {
	t.t.wrong++
	if t.quiet {
		return
	}
	fmt.Printf("WRONG %s: %s at %s: %s\n", t.f.name, kindOfEdit(e), e.At, why)
	if t.show {
		fmt.Printf("--- before\n%s\n--- after\n%s\n", t.f.text, after)
	}
}

// judge checks the values by the first reader, and the bytes around the change.
func (t *trial) judge(p place, e value.Edit, out []splice.Splice, after []byte) {
	got, err := t.o.read(t.f.format, after)
	if isGone(err) {
		t.gone = err
		return
	} else if err != nil {
		t.wrong(e, "the outside reader can't read it: "+err.Error(), after)
		return
	}
	want, err := wanted(t.before, e, t.f.format)
	if err != nil {
		t.wrong(e, "read in another way: "+err.Error(), after)
		return
	}
	if !t.equal(e, got, want) {
		t.wrong(e, fmt.Sprintf("got %s, want %s", short(got), short(want)), after)
		return
	}
	if !t.judgeSecond(e, after) {
		return
	}
	if why := outside(t.f, p, e, out); why != "" {
		t.t.outside++
		if t.quiet {
			return
		}
		fmt.Printf("OUTSIDE %s: %s at %s: %s\n", t.f.name, kindOfEdit(e), e.At, why)
	}
}

// equal reports whether a reader's document is the wanted one.
func (t *trial) equal(e value.Edit, got, want any) bool {
	if m, ok := got.(map[string]any); ok && len(m) == 0 && want == nil && e.Delete {
		return true // a deletion leaves {} of { a: 1 }, and no front matter at all
	}
	if reflect.DeepEqual(got, want) {
		return true
	}
	return e.Delete && t.f.format == value.TOML && reflect.DeepEqual(pruned(got, e.At[:len(e.At)-1]), pruned(want, e.At[:len(e.At)-1]))
}

// judgeSecond checks the change with the second reader, which uses YAML 1.1.
func (t *trial) judgeSecond(e value.Edit, after []byte) bool {
	if t.other == nil {
		return true
	}
	t.t.second++
	got, err := t.o.second(t.f.format, after)
	if isGone(err) {
		t.gone = err
		return false
	} else if err != nil {
		t.wrong(e, "the second reader can't read it: "+err.Error(), after)
		return false
	}
	format := t.f.format
	if format == value.JSON {
		format = value.TOML // with the kind of each number
	}
	want, err := wanted(t.other, e, format)
	if err != nil {
		t.wrong(e, "the second reader reads it in another way: "+err.Error(), after)
		return false
	}
	if !t.equal(e, got, want) {
		t.wrong(e, fmt.Sprintf("the second reader has %s, want %s", short(got), short(want)), after)
		return false
	}
	return true
}

func short(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b[:min(len(b), 1500)])
}

// outside checks which bytes were removed. Replacing or adding a value may remove only white space
// around it; renaming may also remove the old key. Deleting an entry may also remove commas, its
// dash, and the comments after it.
func outside(f file, p place, e value.Edit, out []splice.Splice) string {
	d, err := value.Parse(f.format, f.text)
	if err != nil {
		return err.Error()
	}
	first, last := 1, 1+bytes.Count(f.text, []byte("\n"))
	if len(p.path) > 0 {
		if first, last, err = d.Lines(p.path); err != nil {
			return err.Error()
		}
	}
	line := func(at int) int { return 1 + bytes.Count(f.text[:at], []byte("\n")) }
	adding := e.Value != nil && len(e.At) > len(p.path)
	for _, s := range out {
		gone := string(s.In(f.text))
		around := ""
		if n := p.node; n.Start < s.End && s.Start < n.End {
			around = string(f.text[s.Start:max(n.Start, s.Start)]) + string(f.text[min(n.End, s.End):s.End])
		} else {
			around = gone
		}
		switch {
		case adding:
			if strings.Trim(gone, "{}[] \t\r\n") != "" {
				return fmt.Sprintf("%q is gone", gone)
			}
		case e.Rename != "":
			if key := p.path[len(p.path)-1].Key; !strings.Contains(gone, key) && !strings.ContainsAny(gone, `\'`) || strings.Contains(gone, "\n") {
				return fmt.Sprintf("%q is gone, the key is %q", gone, key)
			}
		case e.Delete && (gone == "" || gone == "," || f.format == value.TOML):
			// An emptied map becomes {}; the comma before a last entry is removed; tables.
		case e.Delete:
			if line(s.Start) < first-1 {
				return fmt.Sprintf("lines %d-%d changed, the value has %d-%d", line(s.Start), line(s.End), first, last)
			}
			if above := lines(f.text, line(s.Start), first-1); line(s.Start) < first && strings.HasPrefix(gone, above) && strings.Trim(above, "- \t\r\n") != "" {
				return fmt.Sprintf("%q is gone above it", above)
			}
		default:
			if strings.TrimSpace(around) != "" && p.node.Len() > 0 && !tableOf(f, p) {
				return fmt.Sprintf("%q is gone beside it", around)
			}
			if line(s.Start) < first || line(s.End) > last {
				return fmt.Sprintf("lines %d-%d changed, the value has %d-%d", line(s.Start), line(s.End), first, last)
			}
		}
	}
	return ""
}

// lines returns some lines of a text.
func lines(text []byte, first, last int) string {
	list := strings.SplitAfter(string(text), "\n")
	return strings.Join(list[first-1:max(last, first-1)], "")
}

// tableOf reports whether a place is a TOML table, which has no span of its own.
func tableOf(f file, p place) bool {
	return f.format == value.TOML && (p.node.Kind == value.Map || p.node.Kind == value.List)
}

// wanted returns the document that a reader should see after a change.
func wanted(v any, e value.Edit, format value.Format) (any, error) {
	return rebuilt(v, e.At, e, format)
}

func rebuilt(v any, at value.Path, e value.Edit, format value.Format) (any, error) {
	last := len(at) == 1
	switch box := v.(type) {
	case nil:
		if last && e.Value != nil && at[0].Kind == value.ByKey { // there was no such key before
			return map[string]any{at[0].Key: asRead(e.Value, format)}, nil
		}
	case map[string]any:
		out := maps.Clone(box)
		key := at[0].Key
		old, there := box[key]
		switch {
		case at[0].Kind != value.ByKey:
			return nil, fmt.Errorf("%v is a map", at)
		case !there && !(last && e.Value != nil):
			return nil, fmt.Errorf("there is no %q", key)
		case last && e.Delete:
			delete(out, key)
			if len(out) == 0 && len(e.At) == 1 && (format == value.Header || format == value.YAML) {
				return nil, nil
			}
		case last && e.Rename != "":
			delete(out, key)
			out[e.Rename] = old
		case last:
			out[key] = asRead(e.Value, format)
		default:
			next, err := rebuilt(old, at[1:], e, format)
			if err != nil {
				return nil, err
			}
			out[key] = next
		}
		return out, nil
	case []any:
		if at[0].Kind == value.Next {
			return append(slices.Clone(box), asRead(e.Value, format)), nil
		}
		i := at[0].Index
		if at[0].Kind != value.ByIndex || i >= len(box) {
			return nil, fmt.Errorf("%v is not in a list of %d", at, len(box))
		}
		out := slices.Clone(box)
		switch {
		case last && e.Delete:
			return slices.Delete(out, i, i+1), nil
		case last:
			out[i] = asRead(e.Value, format)
		default:
			next, err := rebuilt(box[i], at[1:], e, format)
			if err != nil {
				return nil, err
			}
			out[i] = next
		}
		return out, nil
	}
	return nil, fmt.Errorf("%v is a %T", at, v)
}

// pruned removes maps and lists along a path that have become empty: a TOML table without a heading
// disappears with its last entry.
func pruned(v any, at value.Path) any {
	if len(at) == 0 {
		return v
	}
	empty := func(v any) bool {
		m, isMap := v.(map[string]any)
		l, isList := v.([]any)
		return isMap && len(m) == 0 || isList && len(l) == 0
	}
	switch box := v.(type) {
	case map[string]any:
		if next, ok := box[at[0].Key]; ok && at[0].Kind == value.ByKey {
			if next = pruned(next, at[1:]); empty(next) {
				delete(box, at[0].Key)
			} else {
				box[at[0].Key] = next
			}
		}
	case []any:
		if i := at[0].Index; at[0].Kind == value.ByIndex && i < len(box) {
			box[i] = pruned(box[i], at[1:])
		}
	}
	return v
}

// asRead returns a new value in the form in which the reader returns it.
func asRead(n *value.Node, format value.Format) any {
	switch n.Kind {
	case value.List:
		out := []any{}
		for _, item := range n.Items {
			out = append(out, asRead(item, format))
		}
		return out
	case value.Map:
		out := map[string]any{}
		for _, m := range n.Members {
			out[m.Key] = asRead(m.Value, format)
		}
		return out
	case value.Bool:
		if format == value.INI {
			return n.Text
		}
		return n.Text == "true"
	case value.Number:
		switch format {
		case value.INI:
			return n.Text
		case value.JSON:
			return json.Number(n.Text)
		}
		if strings.ContainsAny(n.Text, ".e") {
			return json.Number(n.Text)
		}
		return "int " + n.Text
	case value.Null:
		return nil
	}
	return n.Text
}
