package host

import (
	"context"
	"slices"
	"strings"

	"quarry/fault"
	"quarry/internal/notebook"
	"quarry/internal/script"
	"quarry/internal/vault"
	"quarry/search"
)

// searchOneLine reads as little as possible.
var searchOneLine = search.ReadOptions{MaxLines: 1}

// note checks that notes can be asked for: links of several roots would be of
// several vaults.
func (h *Host) note(ctx context.Context, a args) (string, error) {
	if len(h.ws.Roots()) > 1 {
		return "", &script.Error{Message: "functions of notes work in a workspace of one root", Hint: "Use the tools of notes, which take a root's name in the path.", Code: string(fault.InvalidArgument)}
	}
	p := h.path(a.text("path"))
	if p == "" {
		return "", &script.Error{Message: "the path of a note is needed"}
	}
	if _, err := h.view.Stat(ctx, p); err != nil && !strings.HasSuffix(strings.ToLower(p), ".md") {
		if _, bad := h.view.Stat(ctx, p+".md"); bad == nil {
			p += ".md"
		}
	}
	if h.change {
		h.view.Note(ctx, p)
	}
	return p, nil
}

type link struct {
	Type   string `json:"$"`
	Source string `json:"source"`
	Line   int    `json:"line"`
	Link   string `json:"link"`
	Target string `json:"target"`
	Text   string `json:"text"`
}

func linksOf(list []notebook.Link, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	out := []link{}
	for _, l := range list {
		out = append(out, link{"link", l.Source, l.Line, l.Link, l.Target, fault.Clip(strings.ToValidUTF8(l.Text, "\uFFFD"), maxLine)})
	}
	return out, nil
}

func (h *Host) links(ctx context.Context, a args) (any, error) {
	p, err := h.note(ctx, a)
	if err != nil {
		return nil, err
	}
	return linksOf(h.book.Outgoing(ctx, p))
}

func (h *Host) backlinks(ctx context.Context, a args) (any, error) {
	p, err := h.note(ctx, a)
	if err != nil {
		return nil, err
	}
	links, err := h.book.Backlinks(ctx, p)
	if err == nil {
		err = h.book.Place(ctx, links)
	}
	return linksOf(links, err)
}

func (h *Host) tags(ctx context.Context, a args) (any, error) {
	p := ""
	if a.given("path") {
		var err error
		if p, err = h.note(ctx, a); err != nil {
			return nil, err
		}
	}
	names, err := h.book.Tags(ctx, p)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, n := range names {
		out[n.Name] = n.Uses
	}
	return out, nil
}

func (h *Host) tagged(ctx context.Context, a args) (any, error) {
	list, err := h.book.Tagged(ctx, a.text("tag"))
	if list == nil {
		list = []string{}
	}
	return list, err
}

func (h *Host) properties(ctx context.Context, a args) (any, error) {
	p, err := h.note(ctx, a)
	if err != nil {
		return nil, err
	}
	_, list, err := h.book.Properties(ctx, p)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, one := range list {
		out[one.Name] = one.Value
	}
	return out, nil
}

// addTag adds a tag to the list in the front matter, unless it is there.
func (h *Host) addTag(ctx context.Context, a args) (any, error) {
	p, err := h.note(ctx, a)
	if err != nil {
		return nil, err
	}
	tag, err := vault.CleanTag(a.text("tag"))
	if err != nil {
		return nil, err
	}
	n, err := h.book.Read(ctx, p)
	if err != nil {
		return nil, err
	}
	var tags []any
	head := vault.ReadHead(ctx, n.Text)
	for _, t := range head.Tags() {
		if strings.EqualFold(t, tag) {
			return false, nil
		}
		tags = append(tags, t)
	}
	key := "tags"
	if names, err := head.Names(); err == nil {
		if i := slices.IndexFunc(names, func(s string) bool { return strings.EqualFold(s, "tags") || strings.EqualFold(s, "tag") }); i >= 0 {
			key = names[i]
		}
	}
	if _, err := h.book.SetProperties(ctx, notebook.Chosen{Path: p}, map[string]any{key: append(tags, tag)}, nil, notebook.Options{}); err != nil {
		return nil, err
	}
	return true, nil
}

func (h *Host) setProperty(ctx context.Context, a args) (any, error) {
	p, err := h.note(ctx, a)
	if err != nil {
		return nil, err
	}
	name := a.text("name")
	if v := a["value"]; v != nil {
		_, err = h.book.SetProperties(ctx, notebook.Chosen{Path: p}, map[string]any{name: v}, nil, notebook.Options{})
	} else {
		_, err = h.book.SetProperties(ctx, notebook.Chosen{Path: p}, nil, []string{name}, notebook.Options{})
	}
	return nil, err
}

func (h *Host) renameHeading(ctx context.Context, a args) (any, error) {
	p, err := h.note(ctx, a)
	if err != nil {
		return nil, err
	}
	c, err := h.book.RenamePart(ctx, p, notebook.Target{Heading: a.text("old")}, a.text("new"), notebook.Options{})
	if err != nil {
		return nil, err
	}
	r := report("renamed", a.text("new"), c.Links)
	if c.Links == nil { // staged: every note but its own has links that follow
		r.Links = max(len(c.Paths)-1, 0)
	}
	return r, nil
}
