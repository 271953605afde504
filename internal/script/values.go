package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Record is a value with named fields: a hit, a symbol, a line. In JSON it is an
// object whose first field "$" names its type, as {"$": "hit", "path": …}.
type Record struct {
	*shape
	values []starlark.Value // of names
}

// shape is what records of one type share: a hundred thousand hits have one.
type shape struct {
	kind  string
	names []string
	at    map[string]int
}

// get returns the field with this name, or nil.
func (r *Record) get(name string) starlark.Value {
	if i, ok := r.at[name]; ok {
		return r.values[i]
	}
	return nil
}

var (
	_ starlark.HasAttrs   = (*Record)(nil)
	_ starlark.Mapping    = (*Record)(nil)
	_ starlark.Comparable = (*Record)(nil)
)

// String is the record in a line.
func (r *Record) String() string { return r.line() }

// Type is the kind of the record.
func (r *Record) Type() string { return r.kind }

// Freeze does nothing: a record can't be changed.
func (r *Record) Freeze() {}

// Truth is true.
func (r *Record) Truth() starlark.Bool { return true }

// Hash is that of the fields, so that records may be keys of a dict.
func (r *Record) Hash() (uint32, error) { return starlark.String(r.key()).Hash() }

func (r *Record) key() string {
	var b strings.Builder
	b.WriteString(r.kind)
	for _, v := range r.values {
		fmt.Fprintf(&b, "\x00%s", v)
	}
	return b.String()
}

// CompareSameType compares by fields; records are equal or not.
func (r *Record) CompareSameType(op syntax.Token, y starlark.Value, _ int) (bool, error) {
	a, b := r.key(), y.(*Record).key()
	switch op {
	case syntax.EQL:
		return a == b, nil
	case syntax.NEQ:
		return a != b, nil
	case syntax.LT:
		return r.place(y.(*Record)) < 0, nil
	case syntax.LE:
		return r.place(y.(*Record)) <= 0, nil
	case syntax.GT:
		return r.place(y.(*Record)) > 0, nil
	}
	return r.place(y.(*Record)) >= 0, nil
}

// place orders records by path and line, so that sorted() works.
func (r *Record) place(o *Record) int {
	if c := strings.Compare(r.text("path"), o.text("path")); c != 0 {
		return c
	}
	return r.number("line") - o.number("line")
}

// Attr gives a field.
func (r *Record) Attr(name string) (starlark.Value, error) {
	return r.get(name), nil // nil: starlark words it, with the names that are near
}

// AttrNames lists the fields.
func (r *Record) AttrNames() []string {
	names := append([]string(nil), r.names...)
	sort.Strings(names)
	return names
}

// Get makes hit["path"] the same as hit.path.
func (r *Record) Get(k starlark.Value) (starlark.Value, bool, error) {
	name, ok := starlark.AsString(k)
	if !ok {
		return nil, false, fmt.Errorf("a field of a %s is named by a string", r.kind)
	}
	v := r.get(name)
	if v == nil {
		return nil, false, fmt.Errorf("a %s has no field %q; it has %s", r.kind, name, strings.Join(r.names, ", "))
	}
	return v, true, nil
}

func (r *Record) text(name string) string {
	if v := r.get(name); v != nil {
		s, _ := starlark.AsString(v)
		return s
	}
	return ""
}

func (r *Record) number(name string) int {
	if v := r.get(name); v != nil {
		n, _ := starlark.AsInt32(v)
		return n
	}
	return 0
}

// fromJSON makes a value of an answer.
func fromJSON(data []byte) (starlark.Value, error) {
	d := &decoder{Decoder: json.NewDecoder(bytes.NewReader(data))}
	d.UseNumber()
	v, err := readValue(d)
	if err != nil {
		return nil, fmt.Errorf("the server's answer can't be read: %w", err)
	}
	return v, nil
}

// decoder reads an answer and keeps the shapes of its records.
type decoder struct {
	*json.Decoder
	shapes []*shape
}

// shaped finds the shape of a record, or makes it.
func (d *decoder) shaped(kind string, names []string) *shape {
	for _, s := range d.shapes {
		if s.kind == kind && slices.Equal(s.names, names) {
			return s
		}
	}
	s := &shape{kind: kind, names: slices.Clone(names), at: map[string]int{}}
	for i, n := range s.names {
		s.at[n] = i
	}
	d.shapes = append(d.shapes, s)
	return s
}

// readValue reads one value and keeps the order of the fields of objects.
func readValue(d *decoder) (starlark.Value, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case nil:
		return starlark.None, nil
	case bool:
		return starlark.Bool(t), nil
	case string:
		return starlark.String(t), nil
	case json.Number:
		if n, err := t.Int64(); err == nil {
			return starlark.MakeInt64(n), nil
		}
		f, err := t.Float64()
		return starlark.Float(f), err
	case json.Delim:
		if t == '[' {
			var list []starlark.Value
			for d.More() {
				v, err := readValue(d)
				if err != nil {
					return nil, err
				}
				list = append(list, v)
			}
			_, err := d.Token()
			return starlark.NewList(list), err
		}
		return readObject(d)
	}
	return nil, io.ErrUnexpectedEOF
}

func readObject(d *decoder) (starlark.Value, error) {
	kind := ""
	var names [12]string
	fields := names[:0]
	var values []starlark.Value
	var dict *starlark.Dict
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := readValue(d)
		if err != nil {
			return nil, err
		}
		name := key.(string)
		if name == "$" {
			kind, _ = starlark.AsString(v)
			values = make([]starlark.Value, 0, 8)
			continue
		}
		if kind != "" {
			fields, values = append(fields, name), append(values, v)
			continue
		}
		if dict == nil {
			dict = starlark.NewDict(8)
		}
		if err := dict.SetKey(starlark.String(name), v); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	switch {
	case kind != "":
		return &Record{d.shaped(kind, fields), values}, nil
	case dict == nil:
		return starlark.NewDict(0), nil
	}
	return dict, nil
}

// toJSON makes an argument of a value. A record stands for its path where a text
// is wanted.
func toJSON(v starlark.Value) (any, error) {
	switch v := v.(type) {
	case starlark.NoneType:
		return nil, nil
	case starlark.Bool:
		return bool(v), nil
	case starlark.String:
		return string(v), nil
	case starlark.Int:
		n, ok := v.Int64()
		if !ok {
			return nil, fmt.Errorf("%s is too large", v)
		}
		return n, nil
	case starlark.Float:
		return float64(v), nil
	case *Record:
		if p := v.text("path"); p != "" {
			return p, nil
		}
		return v.line(), nil
	case *starlark.Dict:
		out := map[string]any{}
		for _, item := range v.Items() {
			key, ok := starlark.AsString(item[0])
			if !ok {
				return nil, fmt.Errorf("keys of a dict are texts here, not %s", item[0].Type())
			}
			one, err := toJSON(item[1])
			if err != nil {
				return nil, err
			}
			out[key] = one
		}
		return out, nil
	case starlark.Iterable:
		out := []any{}
		it := v.Iterate()
		defer it.Done()
		var x starlark.Value
		for it.Next(&x) {
			one, err := toJSON(x)
			if err != nil {
				return nil, err
			}
			out = append(out, one)
		}
		return out, nil
	}
	return nil, fmt.Errorf("a %s can't be an argument", v.Type())
}
