package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"quarry/change"
	"quarry/fault"
	"quarry/internal/replacer"
	"quarry/internal/script"
	"quarry/internal/textfile"
)

// text reads a file that is to be changed, decoded.
func (h *Host) text(ctx context.Context, p string) ([]byte, error) {
	if _, err := h.view.Read(ctx, p, &searchOneLine); err != nil { // notes the version, words the error
		return nil, err
	}
	data, err := h.view.ReadBytes(ctx, p, 0)
	if err != nil {
		return nil, err
	}
	doc, err := textfile.New(data)
	if err != nil {
		return nil, err
	}
	return doc.Text(), nil
}

// lineSpan is where lines begin and end in a text.
func lineSpan(text []byte, first, last int) (start, end int) {
	n := 1
	end = len(text)
	for i, c := range text {
		if n == first && (i == 0 || text[i-1] == '\n') {
			start = i
		}
		if c == '\n' {
			if n == last {
				return start, i + 1
			}
			n++
		}
	}
	return start, end
}

func lineAt(text []byte, at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }

// occurrences finds a text; a line feed in it stands for \r\n too.
func occurrences(text []byte, old string) (spans [][2]int) {
	for _, form := range []string{old, strings.ReplaceAll(strings.ReplaceAll(old, "\r\n", "\n"), "\n", "\r\n")} {
		for at := 0; form != ""; {
			i := bytes.Index(text[at:], []byte(form))
			if i < 0 {
				break
			}
			spans = append(spans, [2]int{at + i, at + i + len(form)})
			at += i + len(form)
		}
		if len(spans) > 0 {
			return spans
		}
	}
	return nil
}

func (h *Host) replace(ctx context.Context, a args) (any, error) {
	p, err := h.existing(ctx, a.text("path"))
	if err != nil {
		return nil, err
	}
	old, want := a.text("old"), a.number("count", 1)
	switch {
	case old == "":
		return nil, &script.Error{Message: "the text to replace is empty", Hint: "insert() adds lines."}
	case old == a.text("new"):
		return nil, &script.Error{Message: "the old and the new text are the same"}
	case want < 0:
		return nil, &script.Error{Message: "count is 0 (any number) or more"}
	}
	text, err := h.text(ctx, p)
	if err != nil {
		return nil, err
	}
	from, to, where := 0, len(text), p
	if name := a.text("within"); name != "" {
		first, last, err := h.within(ctx, p, name)
		if err != nil {
			return nil, err
		}
		from, to = lineSpan(text, first, last)
		where = fmt.Sprintf("%s of %s (lines %d-%d)", name, p, first, last)
	}
	spans := occurrences(text[from:to], old)
	if len(spans) == 0 {
		e := &script.Error{Message: fmt.Sprintf("%q is not in %s", fault.Clip(old, 200), where), Code: string(fault.NotFound)}
		// textedit knows what comes closest.
		var near *change.NotFoundError
		if err := h.view.Edit(ctx, p, change.Edit{Old: old, New: a.text("new")}); errors.As(err, &near) {
			e.Hint = near.Hint()
		}
		if all := occurrences(text, old); len(all) > 0 {
			e.Hint = fmt.Sprintf("It is in line %d of the file.", lineAt(text, all[0][0]))
		}
		return nil, e
	}
	if want > 0 && len(spans) != want {
		var lines []string
		for _, s := range spans[:min(len(spans), 20)] {
			lines = append(lines, fmt.Sprint(lineAt(text, from+s[0])))
		}
		return nil, &script.Error{
			Message: fmt.Sprintf("%q occurs %d times in %s, not %d: lines %s", fault.Clip(old, 200), len(spans), where, want, strings.Join(lines, ", ")),
			Hint:    fmt.Sprintf("Give more of the text around it, within=\"a definition\", or count=%d for all.", len(spans)), Code: string(fault.InvalidArgument),
		}
	}
	edits := make([]change.Edit, len(spans))
	for i, s := range spans {
		edits[i] = change.Edit{Verb: change.ReplaceSpan, Start: from + s[0], End: from + s[1], New: a.text("new")}
	}
	if err := h.view.Edit(ctx, p, edits...); err != nil {
		return nil, err
	}
	return len(spans), nil
}

func (h *Host) sub(ctx context.Context, a args) (any, error) {
	q, err := h.query(a)
	if err != nil {
		return nil, err
	}
	within := a.text("within")
	if within != "" && len(q.Paths) != 1 {
		return nil, &script.Error{Message: "within needs path=…, the file of the definition"}
	}
	rq := replacer.Query{Query: q, Replacement: a.text("new"), Literal: a.flag("literal")}
	found, err := replacer.Find(ctx, h.view, rq)
	if found != nil && found.Summary != nil {
		h.sum(found.Summary)
	}
	if errors.Is(err, replacer.ErrNone) {
		found, err = &replacer.Found{}, nil
	}
	if err != nil {
		return nil, err
	}
	total := found.Matches
	if within != "" && len(found.Ops) > 0 {
		if total, err = h.narrow(ctx, found, within); err != nil {
			return nil, err
		}
	}
	if a.given("count") && total != a.number("count", 0) || !a.given("count") && total == 0 {
		want := "at least one was expected"
		if a.given("count") {
			want = fmt.Sprintf("not %d", a.number("count", 0))
		}
		return nil, &script.Error{Message: fmt.Sprintf("%q matches %d times in %d files, %s", fault.Clip(q.Pattern+q.Structure, 100), total, len(found.Ops), want), Hint: "show(search(…)) shows them; count=0 allows none.", Code: string(fault.NotFound)}
	}
	for _, op := range found.Ops {
		if len(op.Edits) == 0 {
			continue
		}
		if err := h.view.Edit(ctx, op.Path, op.Edits...); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// narrow keeps the replacements inside of a definition.
func (h *Host) narrow(ctx context.Context, found *replacer.Found, name string) (total int, err error) {
	for i := range found.Ops {
		op := &found.Ops[i]
		first, last, err := h.within(ctx, op.Path, name)
		if err != nil {
			return 0, err
		}
		text, err := h.text(ctx, op.Path)
		if err != nil {
			return 0, err
		}
		from, to := lineSpan(text, first, last)
		var kept []change.Edit
		for _, e := range op.Edits {
			if e.Start >= from && e.End <= to {
				kept = append(kept, e)
			}
		}
		op.Edits = kept
		total += len(kept)
	}
	return total, nil
}

func (h *Host) insert(ctx context.Context, a args) (any, error) {
	p, err := h.existing(ctx, a.text("path"))
	if err != nil {
		return nil, err
	}
	if a.given("after") && a.given("before") {
		return nil, &script.Error{Message: "give after or before, not both"}
	}
	if _, err := h.text(ctx, p); err != nil {
		return nil, err
	}
	e := change.Edit{Verb: change.AppendText, New: a.text("text")}
	switch {
	case a.given("after"):
		e.Verb, e.First = change.InsertAfter, a.number("after", 0)
	case a.given("before"):
		e.Verb, e.First = change.InsertBefore, a.number("before", 1)
	case !strings.HasSuffix(e.New, "\n"):
		e.New += "\n"
	}
	return nil, h.view.Edit(ctx, p, e)
}

func (h *Host) write(ctx context.Context, a args) (any, error) {
	p := h.path(a.text("path"))
	if p == "" || strings.HasSuffix(p, "/") {
		return nil, &script.Error{Message: "the path of a file is needed"}
	}
	content := []byte(a.text("text"))
	if t, err := h.view.Read(ctx, p, &searchOneLine); err == nil {
		p = t.Path
		if t.Ending == "crlf" && !bytes.Contains(content, []byte("\r\n")) { // as write_file keeps it
			content = bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n"))
		}
		data, err := h.view.ReadBytes(ctx, p, 0)
		if err != nil {
			return nil, err
		}
		doc, err := textfile.New(data)
		if err != nil {
			return nil, err
		}
		// Encoding and byte order mark stay: the whole text is one edit.
		if bytes.Equal(doc.Text(), content) {
			return nil, nil
		}
		return nil, h.view.Edit(ctx, p, change.Edit{Verb: change.ReplaceSpan, Start: 0, End: len(doc.Text()), New: string(content), Verbatim: true})
	}
	return nil, h.view.Write(ctx, p, content)
}

// moved is what a move or a renamed heading did to links.
type moved struct {
	Type   string `json:"$"`
	To     string `json:"to"`
	Links  int    `json:"links"` // rewritten
	Broken int    `json:"broken"`
}

func report(kind, to string, r *change.LinkReport) moved {
	m := moved{Type: kind, To: to}
	if r != nil {
		m.Links, m.Broken = r.Updated, r.Broken
	}
	return m
}

func (h *Host) move(ctx context.Context, a args) (any, error) {
	from, to := h.path(a.text("path")), h.path(a.text("to"))
	if from == "" || to == "" {
		return nil, &script.Error{Message: "move() needs two paths"}
	}
	r, err := h.view.Move(ctx, from, to, change.LinksDefault)
	if err != nil {
		return nil, err
	}
	return report("moved", to, r), nil
}

func (h *Host) remove(ctx context.Context, a args) (any, error) {
	p := h.path(a.text("path"))
	if p == "" || p == "." {
		return nil, &script.Error{Message: "the path is empty"}
	}
	return nil, h.view.Delete(ctx, p)
}
