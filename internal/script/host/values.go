package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/script"
	"quarry/internal/value"
)

// value reads the value at a path of a configuration file.
func (h *Host) value(ctx context.Context, a args) (any, error) {
	p, err := h.existing(ctx, a.text("path"))
	if err != nil {
		return nil, err
	}
	at, err := value.ParsePath(a.text("at"))
	if err != nil {
		return nil, &script.Error{Message: err.Error(), Code: string(fault.InvalidArgument)}
	}
	text, err := h.text(ctx, p)
	if err != nil {
		return nil, err
	}
	d, err := value.ParseUntil(func() bool { return ctx.Err() != nil }, value.FormatOf(p), text)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	n, err := d.Find(at)
	if errors.Is(err, fault.NotFound) && a.given("default") {
		return a["default"], nil
	}
	if err != nil {
		return nil, &script.Error{Message: fmt.Sprintf("%s: %v", p, err), Hint: fault.HintOf(err), Code: string(fault.CodeOf(err))}
	}
	return n.Go()
}

// setValue changes the value at a path.
func (h *Host) setValue(ctx context.Context, a args) (any, error) {
	p, err := h.existing(ctx, a.text("path"))
	if err != nil {
		return nil, err
	}
	e := change.Edit{Verb: change.SetValue, At: a.text("at")}
	switch {
	case a.flag("delete") && a.text("rename") != "":
		return nil, &script.Error{Message: "give delete or rename, not both"}
	case a.flag("delete"):
		e.Verb = change.DeleteValue
	case a.text("rename") != "":
		e.Verb, e.New = change.RenameKey, a.text("rename")
	default:
		v, ok := a["value"].(json.RawMessage)
		if !ok {
			return nil, &script.Error{Message: "give a value, delete=True or rename"}
		}
		e.New = string(v)
	}
	if _, err := h.text(ctx, p); err != nil { // notes the version
		return nil, err
	}
	return nil, h.view.Edit(ctx, p, e)
}
