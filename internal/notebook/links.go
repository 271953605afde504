package notebook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"quarry/fault"
	"quarry/internal/notefields"
	"quarry/internal/vault"
	"quarry/match"
)

// Link is a link in a note with its line. Some links get their line only by Book.Place.
type Link struct {
	Source string
	Line   int    // 0 in a canvas
	Text   string // the line, cut around the link
	Link   string // path and subpath as written
	Target string // the file that the link resolves to, "" if there is none
	Embed  bool

	unplaced bool // Line and Text are not yet known
	nth      int  // number of the link within its source
}

// lineReach is how many bytes of a line are shown before and after a link.
const lineReach = 120

// show makes the Link for a link found in a note.
func show(n *Note, l *vault.Link, target string) Link {
	out := Link{Source: n.Path, Link: l.Path + l.Subpath, Target: target, Embed: l.Embed}
	if l.Kind == vault.CanvasFile || strings.HasSuffix(strings.ToLower(n.Path), ".canvas") {
		return out
	}
	out.Line = n.lineAt(l.Span.Start)
	from := bytes.LastIndexByte(n.Text[:l.Span.Start], '\n') + 1
	to := len(n.Text)
	if i := bytes.IndexByte(n.Text[l.Span.End:], '\n'); i >= 0 {
		to = l.Span.End + i
	}
	cut := func(at int) int {
		for at > from && at < to && !utf8.RuneStart(n.Text[at]) {
			at--
		}
		return at
	}
	a, z := max(from, cut(l.Span.Start-lineReach)), min(to, cut(l.Span.End+lineReach))
	text := strings.TrimSpace(string(n.Text[a:z]))
	if a > from {
		text = "…" + text
	}
	if z < to {
		text += "…"
	}
	out.Text = text
	return out
}

// namesakes makes an index of the files that a link with one of these names could refer
// to. No other files are needed to resolve such a link.
func (b *Book) namesakes(ctx context.Context, all bool, names ...string) (*vault.Index, error) {
	paths, err := b.named(ctx, all, names...)
	if err != nil {
		return nil, err
	}
	return b.index(paths), nil
}

// index makes the index of paths. Outside a vault, Markdown links are paths, not names.
func (b *Book) index(paths []string) *vault.Index {
	ix := vault.NewIndex(paths)
	ix.Plain = vault.Outside(b.ws.IsVaultAt)
	return ix
}

// Called lists the notes with a name, given as in a link.
func (b *Book) Called(ctx context.Context, name string) ([]string, error) {
	paths, err := b.named(ctx, false, name)
	return slices.DeleteFunc(paths, func(p string) bool { return !strings.HasSuffix(strings.ToLower(p), ".md") }), err
}

// named lists the files that have one of these names.
func (b *Book) named(ctx context.Context, all bool, names ...string) ([]string, error) {
	keys := map[string]bool{}
	var globs []string
	for _, name := range names {
		keys[vault.NameKey(name)] = true
		globs = append(globs, "**/"+anyCase(name)+"*")
	}
	paths, err := b.paths(ctx, all, globs...)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(paths, func(p string) bool { return !keys[vault.NameKey(p)] }), nil
}

// anyCase returns a glob that matches all names equivalent to name. Non-ASCII characters
// may have several equivalents.
func anyCase(name string) string {
	key := vault.NameKey(name)
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf || r == '*' || r == '?' {
			return '*'
		}
		return r
	}, key)
}

// Backlinks returns the links to a file, by source. Use Place to get their lines.
func (b *Book) Backlinks(ctx context.Context, path string) ([]Link, error) {
	path, err := b.resolve(ctx, path)
	if err != nil {
		return nil, err
	}
	ix, err := b.namesakes(ctx, false, path)
	if err != nil {
		return nil, err
	}
	ix.Add(path)
	key := vault.NameKey(path)
	q := factQuery{keys: []uint64{uint64(notefields.LinkKey(key))}}
	if exprs, ok := vault.Mentions([]string{path}); ok {
		mention, err := match.CompileAny(exprs, match.Options{Case: match.Insensitive, Mode: match.Text})
		if err != nil {
			return nil, err
		}
		q.may = func(text []byte) bool {
			_, _, ok := mention.NewMatcher().Find(text, 0)
			return ok
		}
	}
	return b.links(ctx, q, func(source string, l *vault.Link) (string, bool) {
		if source == path || vault.NameKey(l.Path) != key {
			return "", false
		}
		target, ok := ix.ResolveLink(source, l)
		return target, ok && target == path
	})
}

// links lists the links that pick selects, by source. pick also returns their targets.
// Links from sources that the index knows don't have their lines yet.
func (b *Book) links(ctx context.Context, q factQuery, pick func(source string, l *vault.Link) (target string, ok bool)) (out []Link, err error) {
	q.globs, q.want = notesGlobs, notefields.Links
	var known []Link // links of the notes that the index knows, concatenated
	q.look = func(path string, f *notefields.Facts, text []byte) any {
		if text == nil {
			from := len(known)
			f.EachLink(ctx, func(i int, l *vault.Link) bool {
				if target, ok := pick(path, l); ok {
					known = append(known, Link{Source: path, Link: l.Path + l.Subpath, Target: target, Embed: l.Embed, unplaced: true, nth: i})
				}
				return true
			})
			if len(known) == from {
				return nil
			}
			return knownLinks{from, len(known)}
		}
		n := &Note{Path: path, Text: text}
		links, err := counted(ctx, n)
		if err != nil {
			return nil
		}
		var found []Link
		for _, l := range links {
			if target, ok := pick(path, &l); ok {
				found = append(found, show(n, &l, target))
			}
		}
		return some(found)
	}
	inOrder := 0 // index in known; its links, possibly 36,000, are not copied
	err = b.eachFact(ctx, q, func(_ string, found any) {
		switch found := found.(type) {
		case knownLinks:
			if out == nil && found.from == inOrder {
				inOrder = found.to
				return
			}
			if out == nil {
				out = slices.Clone(known[:inOrder])
			}
			out = append(out, known[found.from:found.to]...)
		case []Link:
			if out == nil {
				out = slices.Clone(known[:inOrder])
			}
			out = append(out, found...)
		}
	})
	if out == nil {
		out = known[:inOrder:inOrder]
	}
	return out, err
}

// knownLinks is the range of one note's links in a list.
type knownLinks struct{ from, to int }

// counted returns the links of a note that an index would store.
func counted(ctx context.Context, n *Note) ([]vault.Link, error) {
	links, err := vault.ScanLinks(ctx, n.Path, n.Text)
	return slices.DeleteFunc(links, func(l vault.Link) bool { return !notefields.Counts(&l) }), err
}

// Place adds the lines of links by reading their sources. A link that no longer exists
// gets none.
func (b *Book) Place(ctx context.Context, links []Link) error {
	at := map[string][]int{} // indexes of the links, by source
	var sources []string
	for i := range links {
		if from := links[i].Source; links[i].unplaced {
			if at[from] == nil {
				sources = append(sources, from)
			}
			at[from] = append(at[from], i)
		}
	}
	type placed struct {
		source string
		links  []Link
	}
	return inParallel(ctx, sources, func(path string) (placed, error) {
		n, _, err := b.readText(ctx, path)
		if err != nil {
			return placed{}, err
		}
		list, err := counted(ctx, n)
		if err != nil {
			return placed{}, err
		}
		p := placed{source: path}
		for _, i := range at[path] {
			l := links[i]
			if l.nth < len(list) && list[l.nth].Path+list[l.nth].Subpath == l.Link {
				where := show(n, &list[l.nth], l.Target)
				l.Line, l.Text = where.Line, where.Text
			}
			l.unplaced = false
			p.links = append(p.links, l)
		}
		return p, nil
	}, func(p placed) error {
		for n, i := range at[p.source] {
			links[i] = p.links[n]
		}
		return nil
	})
}

// resolve finds the file with a path, in any case. ".md" may be omitted.
func (b *Book) resolve(ctx context.Context, path string) (string, error) {
	info, err := b.ws.Stat(ctx, path)
	if errors.Is(err, fault.NotFound) && !strings.HasSuffix(strings.ToLower(path), ".md") {
		if note, err2 := b.ws.Stat(ctx, path+".md"); err2 == nil {
			info, err = note, nil
		}
	}
	if err != nil {
		return "", err
	}
	if info.Folder {
		return "", fault.New(fault.InvalidArgument, fmt.Sprintf("%s is a folder", strconv.QuoteToGraphic(path)), "name a note")
	}
	return info.Path, nil
}

// Outgoing returns the links in a note, except external ones.
func (b *Book) Outgoing(ctx context.Context, path string) ([]Link, error) {
	n, err := b.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	links, err := vault.ScanLinks(ctx, n.Path, n.Text)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, l := range links {
		if !l.External && l.Path != "" {
			names = append(names, l.Path)
		}
	}
	ix := b.index(nil)
	if len(names) > 0 {
		if ix, err = b.namesakes(ctx, false, distinct(names)...); err != nil {
			return nil, err
		}
	}
	ix.Add(n.Path)
	var out []Link
	for i := range links {
		if links[i].External || links[i].Path+links[i].Subpath == "" {
			continue
		}
		target, _ := ix.ResolveLink(n.Path, &links[i])
		out = append(out, show(n, &links[i], target))
	}
	return out, nil
}

// Unresolved returns the links of the vault, or of one note, that don't resolve to a
// file. Use Place to get their lines.
func (b *Book) Unresolved(ctx context.Context, path string) ([]Link, error) {
	if path != "" {
		links, err := b.Outgoing(ctx, path)
		return slices.DeleteFunc(links, func(l Link) bool { return l.Target != "" }), err
	}
	list, err := b.ws.Remember(ctx, "unresolved links", func(ctx context.Context) (any, error) {
		paths, err := b.paths(ctx, false)
		if err != nil {
			return nil, err
		}
		ix := b.index(paths)
		return b.links(ctx, factQuery{must: true}, func(source string, l *vault.Link) (string, bool) {
			_, ok := ix.ResolveLink(source, l)
			return "", !ok
		})
	})
	if err != nil {
		return nil, err
	}
	return slices.Clone(list.([]Link)), nil // Place modifies the list
}

// Orphans returns the notes that no other file links to.
func (b *Book) Orphans(ctx context.Context) ([]string, error) {
	list, err := b.ws.Remember(ctx, "orphans", func(ctx context.Context) (any, error) { return b.orphans(ctx) })
	if err != nil {
		return nil, err
	}
	return slices.Clone(list.([]string)), nil
}

func (b *Book) orphans(ctx context.Context) ([]string, error) {
	paths, err := b.paths(ctx, false)
	if err != nil {
		return nil, err
	}
	ix := b.index(paths)
	linked := map[string]bool{}
	err = b.eachFact(ctx, factQuery{must: true, globs: notesGlobs, want: notefields.Links, look: func(path string, f *notefields.Facts, _ []byte) any {
		var targets []string
		f.EachLink(ctx, func(_ int, l *vault.Link) bool {
			if target, ok := ix.ResolveLink(path, l); ok && target != path {
				targets = append(targets, target)
			}
			return true
		})
		return some(targets)
	}}, func(_ string, targets any) {
		for _, target := range targets.([]string) {
			linked[target] = true
		}
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(paths, func(p string) bool {
		return linked[p] || !strings.HasSuffix(strings.ToLower(p), ".md")
	}), nil
}
