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
	"quarry/internal/vault"
)

// Link is a link of a note with the line it stands on.
type Link struct {
	Source string
	Line   int    // 0 in a canvas
	Text   string // of the line, cut around the link
	Link   string // as it is written: path and subpath
	Target string // the file it means, "" for none
	Embed  bool
}

// lineReach is how many bytes of a line are shown on either side of a link.
const lineReach = 120

// show makes the Link of one found in a note.
func show(n *Note, l *vault.Link, target string) Link {
	out := Link{Source: n.Path, Link: l.Path + l.Subpath, Target: target, Embed: l.Embed}
	if l.Kind == vault.CanvasFile || strings.HasSuffix(strings.ToLower(n.Path), ".canvas") {
		return out
	}
	out.Line = 1 + bytes.Count(n.Text[:l.Span.Start], []byte("\n"))
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

// namesakes makes the index of the files that a link with one of these names
// could mean. Resolving such a link needs no others.
func (b *Book) namesakes(ctx context.Context, all bool, names ...string) (*vault.Index, error) {
	paths, err := b.named(ctx, all, names...)
	if err != nil {
		return nil, err
	}
	return vault.NewIndex(paths), nil
}

// Called lists the notes of a name, as a link spells it.
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

// anyCase is a glob for the names that count as equal to one. Beyond ASCII there
// may be several spellings.
func anyCase(name string) string {
	key := vault.NameKey(name)
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf || r == '*' || r == '?' {
			return '*'
		}
		return r
	}, key)
}

// Backlinks returns the links to a file, by source. Only files that mention its
// name are read.
func (b *Book) Backlinks(ctx context.Context, path string) ([]Link, error) {
	path, err := b.resolve(ctx, path)
	if err != nil {
		return nil, err
	}
	var out []Link
	err = b.linking(ctx, false, path, func(n *Note, l *vault.Link) {
		if n.Path != path {
			out = append(out, show(n, l, path))
		}
	})
	return out, err
}

// resolve finds the file a path means, in any case; ".md" may be left out.
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

// linking calls f for every link that means a file, its own among them.
func (b *Book) linking(ctx context.Context, all bool, path string, f func(*Note, *vault.Link)) error {
	ix, err := b.namesakes(ctx, all, path)
	if err != nil {
		return err
	}
	ix.Add(path)
	exprs, ok := vault.Mentions([]string{path})
	if !ok {
		exprs = nil
	}
	sources, err := b.mentioning(ctx, all, exprs, notesGlobs...)
	if err != nil {
		return err
	}
	if vault.HasLinks(path) && !contains(sources, path) {
		sources = append(sources, path) // links to its own headings name no file
		slices.Sort(sources)
	}
	key := vault.NameKey(path)
	return b.eachNote(ctx, sources, func(n *Note) error {
		for _, l := range vault.ScanLinks(n.Path, n.Text) {
			if l.Path != "" && vault.NameKey(l.Path) != key {
				continue
			}
			if target, ok := ix.ResolveLink(n.Path, &l); ok && target == path {
				f(n, &l)
			}
		}
		return nil
	})
}

// Outgoing returns the links of a note, external ones left out.
func (b *Book) Outgoing(ctx context.Context, path string) ([]Link, error) {
	n, err := b.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	links := vault.ScanLinks(n.Path, n.Text)
	names := []string{}
	for _, l := range links {
		if !l.External && l.Path != "" {
			names = append(names, l.Path)
		}
	}
	ix := vault.NewIndex(nil)
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

// Unresolved returns the links of the vault, or of one note, that mean no file.
func (b *Book) Unresolved(ctx context.Context, path string) ([]Link, error) {
	if path != "" {
		links, err := b.Outgoing(ctx, path)
		return slices.DeleteFunc(links, func(l Link) bool { return l.Target != "" }), err
	}
	var out []Link
	_, err := b.all(ctx, func(n *Note, l *vault.Link, target string) {
		if target == "" {
			out = append(out, show(n, l, ""))
		}
	})
	return out, err
}

// all calls f for every link of the vault that is not external, and returns the
// paths of its files.
func (b *Book) all(ctx context.Context, f func(n *Note, l *vault.Link, target string)) ([]string, error) {
	paths, err := b.paths(ctx, false)
	if err != nil {
		return nil, err
	}
	ix := vault.NewIndex(paths)
	sources := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return !vault.HasLinks(p) })
	type linked struct {
		note    *Note
		links   []vault.Link
		targets []string
	}
	err = inParallel(ctx, sources, func(path string) (linked, error) {
		n, _, err := b.readText(ctx, path)
		if err != nil {
			return linked{}, err
		}
		found := linked{note: n}
		for _, l := range vault.ScanLinks(n.Path, n.Text) {
			if l.External || l.Path+l.Subpath == "" {
				continue
			}
			target, _ := ix.ResolveLink(n.Path, &l)
			found.links, found.targets = append(found.links, l), append(found.targets, target)
		}
		return found, nil
	}, func(found linked) error {
		for i := range found.links {
			f(found.note, &found.links[i], found.targets[i])
		}
		return nil
	})
	return paths, err
}

// Orphans returns the notes that no other file links to.
func (b *Book) Orphans(ctx context.Context) ([]string, error) {
	linked := map[string]bool{}
	paths, err := b.all(ctx, func(n *Note, _ *vault.Link, target string) {
		if target != n.Path {
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
