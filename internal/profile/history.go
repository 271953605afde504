package profile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/render"
	"quarry/tool"
)

const logSchema = `{"type":"object","properties":{"changes":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"tool":{"type":"string"},"paths":{"type":"array","items":{"type":"string"}},"summary":{"type":"string"}},"required":["id","paths","summary"]}},` + noteSchema + `},"required":["changes"]}`

// logAnswer is the answer of list_changes.
type logAnswer struct {
	change.Log
	remark
}

var listChanges = action{logSchema, readOnly, changes}

func changes(ctx context.Context, c *call) (*answer, error) {
	log, err := c.ws.Changes(ctx, c.Int("limit")+1)
	if errors.Is(err, change.ErrNoState) { // the workspace was opened read-only
		log, err = &change.Log{}, nil
	}
	if err != nil {
		return nil, err
	}
	more := len(log.Changes) > c.Int("limit")
	if more {
		log.Changes = log.Changes[:c.Int("limit")]
	}
	data := &logAnswer{Log: change.Log{Changes: []change.Change{}, Dropped: log.Dropped, DroppedTo: log.DroppedTo, Damaged: log.Damaged, Lost: log.Lost}}
	a := &answer{data: data}
	if len(log.Changes) == 0 {
		a.text = []byte("No changes have been made.")
	} else {
		a.text = []byte("The last change:\n")
		if n := len(log.Changes); n > 1 {
			a.text = fmt.Appendf(nil, "The last %d changes:\n", n)
		}
	}
	for i := range log.Changes {
		change := &log.Changes[i]
		a.text = append(a.text, '\n')
		a.text = append(a.text, change.ID...)
		a.text = append(a.text, "  "...)
		a.text = change.Time.In(c.o.Zone).AppendFormat(a.text, time.DateTime)
		a.text = fmt.Appendf(a.text, "  %s  %s", change.Tool, change.Summary)
		if change.Outside {
			a.text = append(a.text, " by "+changer(change)...)
		}
		switch {
		case change.UndoneBy != "":
			a.text = append(a.text, "  (undone)"...)
		case len(change.PartlyBy) > 0:
			a.text = append(a.text, "  (undone in part)"...)
		case change.Partly != nil:
			a.text = fmt.Appendf(a.text, "  (half applied; %v; undo_change with its id brings the old files back)", change.Partly)
		case change.Pending:
			a.text = append(a.text, "  (unfinished)"...)
		case change.NoUndo != "":
			a.text = append(a.text, "  (can't be undone: "+change.NoUndo+")"...)
		}
		data.Changes = append(data.Changes, *changeData(change))
	}
	if more {
		a.receipt = append(a.receipt, "older ones not shown: give a larger limit")
	}
	if log.Dropped > 0 {
		a.receipt = append(a.receipt, fault.Count(log.Dropped, "older change")+" no longer kept")
	}
	if log.Damaged > 0 {
		a.receipt = append(a.receipt, fault.Count(log.Damaged, "record")+" can't be read")
	}
	if log.Lost > 0 {
		a.receipt = append(a.receipt, fault.Count(log.Lost, "change")+" missing from the undo log")
	}
	return a, nil
}

var undoChange = action{changeSchema, tool.Hints{Destructive: true}, undo}

func undo(ctx context.Context, c *call) (*answer, error) {
	if id := c.String("id"); id != "" {
		o := c.changing()
		if path := c.String("path"); path != "" {
			o.Parts = []change.UndoPart{{Path: path, Hunk: c.Int("hunk")}}
		} else if c.Given("hunk") {
			return nil, &tool.Error{Code: fault.InvalidArgument, Message: "A hunk is one of a file", Hint: "Give path too."}
		}
		change, err := c.ws.Undo(ctx, id, o)
		if err != nil {
			return nil, c.undoError(ctx, err)
		}
		return c.changed(change, render.Undone(change)), nil
	}
	if c.Given("path") || c.Given("hunk") {
		return nil, &tool.Error{Code: fault.InvalidArgument, Message: "Which change is to be undone in part?", Hint: "Give its id. " + c.whichID(ctx)}
	}
	// Without an id, undo the last change of this connection. Changes made by other
	// clients can only be undone by id.
	for id := c.conn.last(); id != ""; id = c.conn.last() {
		change, err := c.ws.Undo(ctx, id, c.changing())
		switch {
		case err == nil:
			if !change.DryRun {
				c.conn.drop(id)
			}
			return c.changed(change, render.Undone(change)), nil
		case !c.undone(ctx, id):
			return nil, c.undoError(ctx, err)
		}
		c.conn.drop(id) // the change was already undone
	}
	return nil, c.needsID(ctx)
}

// undone reports whether a change was undone.
func (c *call) undone(ctx context.Context, id string) bool {
	log, err := c.ws.Changes(ctx, 0)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(log.Changes, func(ch change.Change) bool { return ch.ID == id && ch.UndoneBy != "" })
}

// needsID refuses an undo without an id and lists the latest changes.
func (c *call) needsID(ctx context.Context) error {
	list, err := c.latest(ctx)
	if err != nil {
		return err
	}
	if list == "" {
		return &tool.Error{Code: fault.NotFound, Message: "There is no change to undo"}
	}
	return &tool.Error{Code: fault.InvalidArgument, Message: "This connection has made no change that could be undone", Hint: "Give an id. " + list}
}

// latest lists the last changes, those of this connection's client first; "" if there are
// none.
func (c *call) latest(ctx context.Context) (string, error) {
	log, err := c.ws.Changes(ctx, maxMade)
	if err != nil || len(log.Changes) == 0 {
		return "", err
	}
	own, others := []change.Change{}, []change.Change{}
	for _, ch := range log.Changes {
		if c.own(&ch) {
			own = append(own, ch)
		} else {
			others = append(others, ch)
		}
	}
	list := "The last changes:"
	for _, ch := range append(own, others...)[:min(5, len(log.Changes))] {
		list += "\n" + ch.ID + "  " + ch.Time.In(c.o.Zone).Format(time.TimeOnly) + "  " + ch.Summary
		if ch.Client.Name != "" || ch.Outside {
			list += " by " + changer(&ch)
		}
		if some := ch.Paths[:min(3, len(ch.Paths))]; len(ch.Paths) > 1 {
			list += ": " + strings.Join(names(some), ", ")
			if len(some) < len(ch.Paths) {
				list += ", …"
			}
		}
		if ch.UndoneBy != "" {
			list += " (undone)"
		}
	}
	return list, nil
}

// connState holds the ids of the changes that one connection has made and not undone, the
// remarks it was given, and the files it knows.
type connState struct {
	mu   sync.Mutex
	ids  []string
	told []string // remarks that are made only once
	// files holds the files that were read or changed.
	files map[string]knownFile
}

// said records a remark and reports whether it was made before.
func (m *connState) said(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Contains(m.told, text) {
		return true
	}
	if len(m.told) < maxMade {
		m.told = append(m.told, text)
	}
	return false
}

// maxMade limits the changes remembered; older changes can only be undone by id.
const maxMade = 1000

func (m *connState) add(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ids = append(m.ids, id); len(m.ids) > maxMade {
		m.ids = slices.Delete(m.ids, 0, len(m.ids)-maxMade)
	}
}

func (m *connState) last() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.ids) == 0 {
		return ""
	}
	return m.ids[len(m.ids)-1]
}

func (m *connState) drop(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ids = slices.DeleteFunc(m.ids, func(have string) bool { return have == id })
}

// connKey is the key under which a session stores its connState. Each toolset has its own.
type connKey struct{ *env }

// connOf returns the state of a call's connection. Calls from Go programs have no session
// and share one state.
func (e *env) connOf(ctx context.Context) *connState {
	s := tool.SessionOf(ctx)
	if s == nil {
		return &e.conn
	}
	m, _ := s.Notes.LoadOrStore(connKey{e}, &connState{})
	return m.(*connState)
}

func (c *call) undoError(ctx context.Context, err error) error {
	var conflict *change.UndoError
	var root *fault.RootError
	hint := sentence(fault.HintOf(err))
	switch code := fault.CodeOf(err); {
	case errors.As(err, &conflict):
		return &tool.Error{Code: fault.Conflict, Message: conflict.Error(), Hint: hint}
	case code == fault.NotFound && hint == "", errors.As(err, &root):
		if c.String("id") == "" {
			return &tool.Error{Code: fault.NotFound, Message: "There is no change to undo"}
		}
		return &tool.Error{Code: fault.NotFound, Message: fmt.Sprintf("There is no change %q", c.String("id")), Hint: c.whichID(ctx)}
	case errors.Is(err, change.ErrBadID):
		return &tool.Error{Code: fault.InvalidArgument, Message: fmt.Sprintf("%q is not the id of a change", c.String("id")), Hint: c.whichID(ctx)}
	}
	return err
}

// whichID says where to find the ids of changes.
func (c *call) whichID(ctx context.Context) string {
	if slices.ContainsFunc(c.d.tools, func(s spec) bool { return s.name == "list_changes" }) {
		return "List them with list_changes."
	}
	list, _ := c.latest(ctx)
	return list
}
