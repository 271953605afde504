package textedit

import (
	"errors"
	"fmt"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/splice"
	"quarry/internal/value"
)

// values computes all edits of values together: a key added by one edit exists for the next,
// while all paths refer to the original text.
func (p *planner) values(edits []change.Edit) error {
	var list []value.Edit
	var from []int // their indexes in edits
	for i, e := range edits {
		if e.Verb < change.SetValue || e.Verb > change.RenameKey {
			continue
		}
		v, err := valueEdit(e)
		if err != nil {
			return wrap(edits, i, err)
		}
		list, from = append(list, v), append(from, i)
	}
	if len(list) == 0 {
		return nil
	}
	format := value.FormatOf(p.name)
	switch {
	case format == value.None:
		return wrap(edits, from[0], fault.New(fault.InvalidArgument, fmt.Sprintf("%q is not known as JSON, YAML, TOML, ini or markdown with a YAML header", p.name), "edit its text instead"))
	case p.doc.Len() > value.MaxSize:
		return wrap(edits, from[0], fault.New(fault.TooLarge, fmt.Sprintf("the file has %d MB; values are changed in at most %d", p.doc.Len()>>20, value.MaxSize>>20), "edit its text instead"))
	}
	out, err := value.ApplyUntil(p.doc.Stopped, format, p.doc.Slice(0, p.doc.Len()), list...)
	if err != nil {
		at := 0
		if one, ok := errors.AsType[*value.EditError](err); ok {
			at, err = one.Index, one.Err
		}
		return wrap(edits, from[at], err)
	}
	// The splices of several edits may have been joined, so all count for the first edit.
	p.valued = map[int][]splice.Splice{from[0]: out}
	return nil
}

func valueEdit(e change.Edit) (value.Edit, error) {
	at, err := value.ParsePath(e.At)
	if err != nil {
		return value.Edit{}, invalid("%v", err)
	}
	out := value.Edit{At: at}
	switch e.Verb {
	case change.DeleteValue:
		out.Delete = true
	case change.RenameKey:
		if out.Rename = e.New; e.New == "" {
			return out, invalid("the new name of %s is empty", at)
		}
	default:
		if out.Value, err = value.FromJSON([]byte(e.New)); err != nil {
			return out, invalid("the value for %s has to be JSON: %v", at, err)
		}
	}
	return out, nil
}

func (p *planner) changeValue(change.Edit) (Outcome, error) {
	out := Outcome{Count: 1}
	for _, s := range p.valued[p.edit] {
		p.add(s.Start, s.End, s.New, p.endingAt(s.Start))
		if out.Line == 0 {
			out.Line = p.doc.LineAt(s.Start)
		}
	}
	return out, nil
}
