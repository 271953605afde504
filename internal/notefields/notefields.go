// Package notefields is what an index keeps of a note: how its words are counted,
// and its headings, tags, properties and links. An answer about all notes needs
// no other part of their texts.
//
// Facts of a note are the same whether they come from its text or from the index.
// The package is pure.
package notefields

import (
	"context"
	"encoding/binary"
	"slices"

	"quarry/internal/index"
	"quarry/internal/noterank"
	"quarry/internal/terms"
	"quarry/internal/vault"
)

// version changes when a note would get other fields or keys.
const version = 2

// linkKey is the kind of the keys of links: names of files that they may mean.
const linkKey = noterank.Others

// Extractor takes the fields out of notes and canvases.
func Extractor() *index.Extractor {
	return &index.Extractor{Version: version, Has: vault.HasLinks, Extract: extract}
}

// The values of a note, in order. A canvas has links alone.
const (
	linksValue = iota
	wordsValue
	headingsValue
	tagsValue
	namesValue
	propertiesValue
	values
)

func extract(path string, text []byte, out *index.Fields) {
	ctx := context.Background() // the index reads a file to its end
	f := Of(path, text)
	out.Add(appendLinks(nil, f.Links(ctx)))
	targets := map[string]int{}
	for _, l := range f.Links(ctx) {
		if l.Path != "" {
			targets[vault.NameKey(l.Path)]++
		}
	}
	seen := map[terms.Key]int{}
	for name, n := range targets {
		seen[LinkKey(name)] += n
	}
	for k, n := range seen {
		out.Count(k, n)
	}
	if !isNote(path) {
		return
	}
	words := noterank.Index(ctx, path, text, f.scanned(ctx), out.Count)
	out.Add(appendWords(nil, words))
	out.Add(appendStrings(nil, f.Headings(ctx)))
	out.Add(appendStrings(nil, f.Tags(ctx)))
	out.Add(appendStrings(nil, f.PropertyNames(ctx)))
	out.Add(appendProperties(nil, f.Properties(ctx)))
}

func isNote(path string) bool { return vault.HasLinks(path) && path[len(path)-1]|0x20 == 'd' }

// LinkKey is the key of the files that have a link with this vault.NameKey.
func LinkKey(name string) terms.Key { return noterank.KeyOf([]byte(name), linkKey) }

// Facts are what is known of a note. One goroutine uses them.
type Facts struct {
	path  string
	text  []byte
	scan  *vault.Note
	known index.Values // instead of the text
	value [values][]byte
	split bool
}

// Of returns the facts of a text, which are found when they are asked for. Once the
// context of a question has ended there are none.
func Of(path string, text []byte) *Facts { return &Facts{path: path, text: text} }

// Known returns the facts that an index has of a note.
func Known(path string, known []byte) *Facts { return &Facts{path: path, known: known} }

func (f *Facts) scanned(ctx context.Context) *vault.Note {
	if f.scan == nil {
		var err error
		if f.scan, err = vault.Scan(ctx, f.text); err != nil {
			return &vault.Note{}
		}
	}
	return f.scan
}

// stored returns a value of the index; false if the text is there.
func (f *Facts) stored(n int) ([]byte, bool) {
	if f.known == nil {
		return nil, false
	}
	if !f.split {
		rest := f.known
		for i := range f.value {
			f.value[i] = rest.Next()
		}
		f.split = true
	}
	return f.value[n], true
}

// Words are those of a note that an index has.
func (f *Facts) Words() noterank.Words {
	data, _ := f.stored(wordsValue)
	s := source(data)
	w := noterank.Words{}
	for i := range w.Lengths {
		w.Lengths[i] = s.number()
	}
	w.Names = func() []string { return readStrings(s) }
	return w
}

// Headings are the texts of all headings.
func (f *Facts) Headings(ctx context.Context) (out []string) {
	if data, ok := f.stored(headingsValue); ok {
		return readStrings(data)
	}
	for _, h := range f.scanned(ctx).Headings {
		out = append(out, h.Text)
	}
	return out
}

// Tags are those of the front matter and of the text.
func (f *Facts) Tags(ctx context.Context) []string {
	if data, ok := f.stored(tagsValue); ok {
		return readStrings(data)
	}
	return f.scanned(ctx).AllTags(ctx, f.text)
}

// PropertyNames are the names of the properties, in order.
func (f *Facts) PropertyNames(ctx context.Context) []string {
	if data, ok := f.stored(namesValue); ok {
		return readStrings(data)
	}
	names, _ := vault.PropertyNames(ctx, f.text)
	return names
}

// Property is a property with its values as they are shown: those of a list, or
// one.
type Property struct {
	Name   string
	Values []string
}

// Properties are those of a valid front matter, by name.
func (f *Facts) Properties(ctx context.Context) (out []Property) {
	if data, ok := f.stored(propertiesValue); ok {
		return readProperties(data)
	}
	props, err := vault.Properties(ctx, f.text)
	if err != nil {
		return nil
	}
	for name, v := range props {
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		p := Property{Name: name}
		for _, v := range list {
			p.Values = append(p.Values, vault.ShowValue(v))
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Property) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return out
}

// Links are those that don't leave the vault and name something, without their
// places.
func (f *Facts) Links(ctx context.Context) (out []vault.Link) {
	if data, ok := f.stored(linksValue); ok {
		return readLinks(data)
	}
	var links []vault.Link
	if isNote(f.path) {
		links = f.scanned(ctx).Links
	} else {
		links, _ = vault.ScanLinks(ctx, f.path, f.text)
	}
	for i := range links {
		if l := &links[i]; Counts(l) {
			out = append(out, vault.Link{Kind: l.Kind, Embed: l.Embed, Path: l.Path, Subpath: l.Subpath})
		}
	}
	return out
}

// Counts reports whether a link is among the facts.
func Counts(l *vault.Link) bool { return !l.External && l.Path+l.Subpath != "" }

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendStrings(dst []byte, list []string) []byte {
	for _, s := range list {
		dst = appendText(dst, s)
	}
	return dst
}

// source reads what was appended. Invalid bytes end it: the index has checked
// sums, so there are none.
type source []byte

func (s *source) number() int {
	n, k := binary.Uvarint(*s)
	if k <= 0 {
		*s = nil
		return 0
	}
	*s = (*s)[k:]
	return int(n)
}

func (s *source) text() string {
	n := s.number()
	if n < 0 || n > len(*s) {
		*s = nil
		return ""
	}
	text := string((*s)[:n])
	*s = (*s)[n:]
	return text
}

func readStrings(data []byte) (out []string) {
	all := string(data) // one copy for all of them
	for s := source(data); len(s) > 0; {
		n := s.number()
		at := len(all) - len(s)
		if n < 0 || n > len(s) {
			break
		}
		out = append(out, all[at:at+n])
		s = s[n:]
	}
	return out
}

func appendWords(dst []byte, w *noterank.Words) []byte {
	for _, n := range w.Lengths {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return appendStrings(dst, w.Names())
}

func appendProperties(dst []byte, list []Property) []byte {
	for _, p := range list {
		dst = appendText(dst, p.Name)
		dst = binary.AppendUvarint(dst, uint64(len(p.Values)))
		dst = appendStrings(dst, p.Values)
	}
	return dst
}

func readProperties(data []byte) (out []Property) {
	for s := source(data); len(s) > 0; {
		p := Property{Name: s.text()}
		for n := s.number(); n > 0 && len(s) > 0; n-- {
			p.Values = append(p.Values, s.text())
		}
		out = append(out, p)
	}
	return out
}

// A link is its kind, doubled and one more for an embed; how many bytes its path
// shares with the one before, and the rest of it; and its subpath. On the pages of
// MDN paths share two thirds of their bytes.
func appendLinks(dst []byte, links []vault.Link) []byte {
	last := ""
	for _, l := range links {
		kind := byte(l.Kind) << 1
		if l.Embed {
			kind++
		}
		shared := 0
		for shared < len(l.Path) && shared < len(last) && l.Path[shared] == last[shared] {
			shared++
		}
		dst = binary.AppendUvarint(append(dst, kind), uint64(shared))
		dst = appendText(dst, l.Path[shared:])
		dst = appendText(dst, l.Subpath)
		last = l.Path
	}
	return dst
}

func readLinks(data []byte) (out []vault.Link) {
	last := ""
	for s := source(data); len(s) > 0; {
		kind := s[0]
		s = s[1:]
		shared := min(max(s.number(), 0), len(last))
		path := last
		if rest := s.text(); shared != len(last) || rest != "" {
			path = last[:shared] + rest
		}
		out = append(out, vault.Link{Kind: vault.Kind(kind >> 1), Embed: kind&1 != 0, Path: path, Subpath: s.text()})
		last = path
	}
	return out
}
