// Package notefields extracts the facts about a note that an index stores: counts of its
// words, headings, tags, properties, inline fields, tasks and links. Answers about all
// notes need nothing else from their texts.
//
// The facts are the same whether they come from the text or from the index. The package
// reads no files.
package notefields

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"quarry/internal/index"
	"quarry/internal/noterank"
	"quarry/internal/splice"
	"quarry/internal/terms"
	"quarry/internal/vault"
)

// version must be increased if notes get different fields or keys.
const version = 7

// linkKey is the kind of the keys of links. A key is the name of the files to which a
// link may resolve.
const linkKey = noterank.Others

// Extractor returns the extractor of the fields of notes and canvases.
func Extractor() *index.Extractor {
	return &index.Extractor{Version: version, Has: vault.HasLinks, Extract: extract}
}

// The values stored for a note, in order. A canvas only has links.
const (
	linksValue = iota
	wordsValue
	headingsValue
	tagsValue
	namesValue
	propertiesValue
	inlineValue
	tasksValue
	values
)

// The same values as bits of search.FieldQuery.Want.
const (
	Links      uint64 = 1 << linksValue
	Words      uint64 = 1 << wordsValue
	Headings   uint64 = 1 << headingsValue
	Tags       uint64 = 1 << tagsValue
	Names      uint64 = 1 << namesValue // of properties
	Properties uint64 = Names | 1<<propertiesValue
	Inline     uint64 = 1 << inlineValue
	Tasks      uint64 = 1 << tasksValue
)

func extract(path string, text []byte, out *index.Fields) {
	ctx := context.Background() // indexing a single file is never canceled
	f := Of(path, text)
	links := f.links(ctx)
	out.Add(appendLinks(nil, links))
	targets := map[string]int{}
	for _, l := range links {
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
	words := noterank.Index(ctx, path, text, f.Scanned(ctx), f.header(ctx), out.Count)
	out.Add(appendWords(nil, words))
	out.Add(appendStrings(nil, f.Headings(ctx)))
	out.Add(appendStrings(nil, f.Tags(ctx)))
	names := f.PropertyNames(ctx)
	out.Add(appendStrings(nil, names))
	out.Add(appendProperties(nil, names, f.Properties(ctx)))
	out.Add(appendProperties(nil, nil, f.Inline(ctx)))
	out.Add(appendTasks(nil, f.Scanned(ctx).Tasks(text)))
}

func isNote(path string) bool { return vault.HasLinks(path) && path[len(path)-1]|0x20 == 'd' }

// LinkKey returns the key of the files that link to a vault.NameKey.
func LinkKey(name string) terms.Key { return noterank.KeyOf([]byte(name), linkKey) }

// Facts are the known facts about a note. They are not safe for concurrent use.
type Facts struct {
	path  string
	text  []byte
	scan  *vault.Note
	head  *vault.Head
	known index.Values // set if the facts come from an index
	value [values][]byte
	split bool
	names []byte      // of the words
	only  *vault.Task // if set, replaces the note's tasks
	props []Property  // properties read from the text
	named []Property  // the latest result of Named
	texts []string    // the values in named
}

// Of returns the facts about a text. They are computed on demand. A method whose context
// has ended returns no facts.
func Of(path string, text []byte) *Facts { return &Facts{path: path, text: text} }

// Know replaces the facts by those that an index stores for a note. Facts that were not
// requested are missing.
func (f *Facts) Know(path string, known []byte) *Facts {
	*f = Facts{path: path, known: known, named: f.named, texts: f.texts}
	return f
}

// Scanned returns the parts of a text. Facts from an index have none.
func (f *Facts) Scanned(ctx context.Context) *vault.Note {
	if f.scan == nil {
		var err error
		if f.scan, err = vault.Scan(ctx, f.text); err != nil {
			return &vault.Note{}
		}
	}
	return f.scan
}

func (f *Facts) header(ctx context.Context) *vault.Head {
	if f.head == nil {
		f.head = vault.ReadHead(ctx, f.text)
	}
	return f.head
}

// stored returns a value from the index. It returns false if the facts come from a text.
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

// Found makes the Doc of an indexed note from its counts of the keys of a query.
func (f *Facts) Found(by *noterank.Finder, counts []uint8) *noterank.Doc {
	data, _ := f.stored(wordsValue)
	s := source(data)
	w := noterank.Words{}
	for i := range w.Lengths {
		w.Lengths[i] = s.number()
	}
	f.names = s
	return by.Found(counts, w.Lengths, f.readNames)
}

func (f *Facts) readNames() []string { return readStrings(f.names) }

// Headings returns the texts of all headings.
func (f *Facts) Headings(ctx context.Context) (out []string) {
	if data, ok := f.stored(headingsValue); ok {
		return readStrings(data)
	}
	for _, h := range f.Scanned(ctx).Headings {
		out = append(out, h.Text)
	}
	return out
}

// Tags returns the tags of the front matter and of the text.
func (f *Facts) Tags(ctx context.Context) []string {
	if data, ok := f.stored(tagsValue); ok {
		return readStrings(data)
	}
	return f.Scanned(ctx).AllTags(f.header(ctx))
}

// PropertyNames returns the names of the properties, in order.
func (f *Facts) PropertyNames(ctx context.Context) []string {
	if data, ok := f.stored(namesValue); ok {
		return readStrings(data)
	}
	names, _ := f.header(ctx).Names()
	return names
}

// Property is a property with its values as shown: the items of a list, or a single
// value.
type Property struct {
	Name   string
	Values []string
	List   bool // the value is a list, whatever its length
}

// Filled returns the values without the placeholder for a key without a value.
func Filled(values []string) []string {
	empty := func(v string) bool { return v == "<nil>" }
	if !slices.ContainsFunc(values, empty) {
		return values
	}
	return slices.DeleteFunc(slices.Clone(values), empty)
}

// Properties returns the properties in the front matter, by name, if it is valid.
func (f *Facts) Properties(ctx context.Context) []Property {
	if data, ok := f.stored(propertiesValue); ok {
		return f.read(nil, f.value[namesValue], data, "")
	}
	if f.props == nil {
		f.props = []Property{}
		props, _ := f.header(ctx).Properties()
		for name, v := range props {
			list, ok := v.([]any)
			if !ok {
				list = []any{v}
			}
			p := Property{Name: name, List: ok}
			for _, v := range list {
				p.Values = append(p.Values, vault.ShowValue(v))
			}
			f.props = append(f.props, p)
		}
		sortProperties(f.props)
	}
	return f.props
}

// Inline returns the inline fields, key:: value, by name. A name that occurs several times
// is one property with several values.
func (f *Facts) Inline(ctx context.Context) (out []Property) {
	if data, ok := f.stored(inlineValue); ok {
		return f.read(nil, nil, data, "")
	}
	for _, field := range f.Scanned(ctx).Fields(f.text) {
		i := slices.IndexFunc(out, func(p Property) bool { return p.Name == field.Key })
		if i < 0 {
			i, out = len(out), append(out, Property{Name: field.Key})
		}
		out[i].Values = append(out[i].Values, field.Value)
		out[i].List = len(out[i].Values) > 1
	}
	sortProperties(out)
	return out
}

// Named returns the properties with a name, ignoring case. If inline is set, inline fields
// of that name follow. The result is valid until the next call. For 10,000 indexed notes,
// Named takes a fifth of the time of reading all properties.
func (f *Facts) Named(ctx context.Context, name string, inline bool) []Property {
	f.named, f.texts = f.named[:0], f.texts[:0]
	if data, ok := f.stored(propertiesValue); ok {
		f.named = f.read(f.named, f.value[namesValue], data, name)
		if inline {
			f.named = f.read(f.named, nil, f.value[inlineValue], name)
		}
		return f.named
	}
	add := func(list []Property) {
		for _, p := range list {
			if strings.EqualFold(p.Name, name) {
				f.named = append(f.named, p)
			}
		}
	}
	add(f.Properties(ctx))
	if inline {
		add(f.Inline(ctx))
	}
	return f.named
}

// EachTask calls yield for each task until yield returns false. Tasks from an index have no
// position and no text.
func (f *Facts) EachTask(ctx context.Context, yield func(t *vault.Task) bool) {
	if f.only != nil {
		yield(f.only)
		return
	}
	data, ok := f.stored(tasksValue)
	if !ok {
		for _, t := range f.Scanned(ctx).Tasks(f.text) {
			if !yield(&t) {
				return
			}
		}
		return
	}
	for s := source(data); len(s) > 0; {
		t := vault.Task{Open: s[0]&taskOpen != 0, Done: s[0]&taskDone != 0}
		dated := s[0]&taskDated != 0
		s = s[1:]
		for i := range t.Dates {
			if dated {
				t.Dates[i] = s.text()
			}
		}
		if !yield(&t) {
			return
		}
	}
}

// Only returns a copy of the facts in which t is the note's only task.
func (f *Facts) Only(t *vault.Task) *Facts {
	one := *f
	one.only = t
	return &one
}

const (
	taskOpen = 1 << iota
	taskDone
	taskDated
)

func appendTasks(dst []byte, tasks []vault.Task) []byte {
	for _, t := range tasks {
		state := byte(0)
		if t.Open {
			state |= taskOpen
		}
		if t.Done {
			state |= taskDone
		}
		if t.Dates != ([len(vault.TaskDates)]string{}) {
			state |= taskDated
		}
		if dst = append(dst, state); state&taskDated != 0 {
			dst = appendStrings(dst, t.Dates[:])
		}
	}
	return dst
}

func sortProperties(list []Property) {
	slices.SortFunc(list, func(a, b Property) int { return strings.Compare(a.Name, b.Name) })
}

// EachLink calls yield for each link that Counts accepts, without its position, until
// yield returns false. The link is only valid during the call; its texts stay valid.
func (f *Facts) EachLink(ctx context.Context, yield func(i int, l *vault.Link) bool) {
	if data, ok := f.stored(linksValue); ok {
		readLinks(data, yield)
		return
	}
	for i, l := range f.links(ctx) {
		if !yield(i, &l) {
			return
		}
	}
}

// links returns the links of a text.
func (f *Facts) links(ctx context.Context) (out []vault.Link) {
	var links []vault.Link
	if isNote(f.path) {
		links = f.Scanned(ctx).Links
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

// Counts reports whether the facts include a link: it is internal and has a target.
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

// source reads values that were appended to it. Reading stops at invalid bytes. Since the
// index verifies checksums, only forged data can be invalid.
type source []byte

func (s *source) number() int {
	if b := *s; len(b) > 0 && b[0] < 0x80 { // nearly all are
		*s = b[1:]
		return int(b[0])
	}
	n, k := binary.Uvarint(*s)
	if k <= 0 {
		*s = nil
		return 0
	}
	*s = (*s)[k:]
	return int(n)
}

func (s *source) text() string { return string(s.bytes()) }

func (s *source) bytes() []byte {
	n := s.number()
	if n < 0 || n > len(*s) {
		*s = nil
		return nil
	}
	b := (*s)[:n]
	*s = (*s)[n:]
	return b
}

func readStrings(data []byte) (out []string) {
	all := string(data) // one copy for all strings
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
	return appendStrings(dst, w.Names)
}

// appendProperties stores a number for each name, and its values. The number is twice the
// count of values, plus one for a list, plus two for any other value, or 0 if the note
// itself lacks the property. Nothing is stored if the front matter is invalid or has the
// name twice. Properties that YAML merges into the front matter follow, each after its
// name.
func appendProperties(dst []byte, names []string, list []Property) []byte {
	values := make(map[string]Property, len(list))
	for _, p := range list {
		values[p.Name] = p
	}
	add := func(name string) {
		of, ok := values[name]
		if !ok {
			dst = append(dst, 0)
			return
		}
		n := 2*len(of.Values) + 2
		if of.List {
			n--
		}
		dst = appendStrings(binary.AppendUvarint(dst, uint64(n)), of.Values)
		delete(values, name)
	}
	for _, name := range names {
		add(name)
	}
	for _, p := range list {
		if _, ok := values[p.Name]; ok {
			dst = appendText(dst, p.Name)
			add(p.Name)
		}
	}
	return dst
}

// read appends the properties in data to a list. If only is given, it appends just those of
// that name, whose values are in f.texts.
func (f *Facts) read(list []Property, names, data source, only string) []Property {
	from, lone := len(list), []byte(only)
	for len(data) > 0 {
		var name []byte
		if len(names) > 0 {
			name = names.bytes()
		} else {
			name = data.bytes()
		}
		n := data.number()
		p, wanted := Property{Name: only, List: n%2 != 0}, n > 0 && (only == "" || bytes.EqualFold(name, lone))
		at := len(f.texts)
		for left := (n - 1) / 2; left > 0 && len(data) > 0; left-- {
			if v := data.bytes(); wanted {
				f.texts = append(f.texts, string(v))
			}
		}
		if !wanted {
			continue
		}
		if p.Values = f.texts[at:len(f.texts):len(f.texts)]; only == "" {
			p.Values, f.texts = slices.Clone(p.Values), f.texts[:at]
		}
		if string(name) != only {
			p.Name = string(name)
		}
		list = append(list, p)
	}
	sortProperties(list[from:])
	return list
}

// appendLinks stores a link as twice its kind, plus one for an embed; the number of bytes
// that its path shares with the previous one; the rest of the path; and its subpath. On the
// pages of MDN, paths share two thirds of their bytes.
func appendLinks(dst []byte, links []vault.Link) []byte {
	last := ""
	for _, l := range links {
		kind := byte(l.Kind) << 1
		if l.Embed {
			kind++
		}
		shared := splice.Prefix(l.Path, last)
		dst = binary.AppendUvarint(append(dst, kind), uint64(shared))
		dst = appendText(dst, l.Path[shared:])
		dst = appendText(dst, l.Subpath)
		last = l.Path
	}
	return dst
}

// maxLinkText limits the total length of a note's links. A text with fields is smaller
// than 8 MiB, and a byte of Windows-1252 takes up to three in UTF-8, so longer links are
// forged: two stored bytes can represent a path of any length.
const maxLinkText = 24 << 20

// readLinks calls yield for each link until yield returns false. The links' texts share one
// string.
func readLinks(data []byte, yield func(i int, l *vault.Link) bool) {
	b := linkBuffers.Get().(*linkBuffer)
	defer linkBuffers.Put(b)
	b.text, b.links = b.text[:0], b.links[:0]
	from, to := 0, 0 // range of the previous path
	for s := source(data); len(s) > 0; {
		l := storedLink{kind: s[0]}
		s = s[1:]
		shared := min(max(s.number(), 0), to-from)
		if shared > maxLinkText-len(b.text) {
			break
		}
		from, to = len(b.text), from+shared
		b.text = append(b.text, b.text[to-shared:to]...)
		b.text = append(b.text, s.bytes()...)
		to = len(b.text)
		b.text = append(b.text, s.bytes()...)
		l.path, l.end = to, len(b.text)
		b.links = append(b.links, l)
	}
	text, at := string(b.text), 0
	var l vault.Link // allocated once, because passing it to yield moves it to the heap
	for i, s := range b.links {
		l = vault.Link{Kind: vault.Kind(s.kind >> 1), Embed: s.kind&1 != 0, Path: text[at:s.path], Subpath: text[s.path:s.end]}
		at = s.end
		if !yield(i, &l) {
			return
		}
	}
}

// linkBuffer holds the links of a note while they are read.
type linkBuffer struct {
	text  []byte
	links []storedLink
}

// storedLink holds the end offsets of a link's path and subpath.
type storedLink struct {
	kind      byte
	path, end int
}

var linkBuffers = sync.Pool{New: func() any { return new(linkBuffer) }}
