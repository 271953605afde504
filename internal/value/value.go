// Package value reads and changes values in configuration files by path: JSON with or
// without comments, YAML, TOML, ini, and the YAML header of markdown.
//
// A change is a list of splices, so all bytes outside of them remain: comments, order, quotes,
// indentation and line endings. Every result is parsed again, and must equal the old document
// except for the wanted change. Otherwise the change is refused with a [Refused], never
// approximated. The package opens no files.
package value

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"

	"quarry/fault"
	"quarry/internal/splice"
)

// Format is a file format.
type Format uint8

const (
	None Format = iota
	JSON        // comments and trailing commas allowed
	YAML
	TOML
	INI
	Header // YAML between --- lines at the top of markdown
)

var formatNames = [...]string{"", "JSON", "YAML", "TOML", "ini", "YAML header"}

func (f Format) String() string { return formatNames[f] }

var byExtension = map[string]Format{
	".json": JSON, ".jsonc": JSON, ".code-workspace": JSON, ".webmanifest": JSON, ".ipynb": JSON, ".canvas": JSON, ".geojson": JSON, ".har": JSON,
	".yaml": YAML, ".yml": YAML, ".cff": YAML,
	".toml": TOML,
	".ini":  INI, ".cfg": INI, ".conf": INI, ".desktop": INI, ".service": INI, ".socket": INI, ".timer": INI, ".target": INI, ".mount": INI,
	".md": Header, ".mdx": Header, ".markdown": Header, ".qmd": Header,
}

var byName = map[string]Format{
	".babelrc": JSON, ".eslintrc": JSON, ".prettierrc": JSON, ".swcrc": JSON, "composer.lock": JSON, "flake.lock": JSON, "deno.lock": JSON,
	".clang-format": YAML, ".clang-tidy": YAML, ".yamllint": YAML,
	"cargo.lock": TOML, "poetry.lock": TOML, "uv.lock": TOML, "pipfile": TOML,
	".editorconfig": INI, ".gitconfig": INI, ".gitmodules": INI, ".npmrc": INI, ".pylintrc": INI, ".flake8": INI, ".coveragerc": INI,
}

// FormatOf returns the format of a file by its name, or None if it is unknown.
func FormatOf(name string) Format {
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	if f := byName[base]; f != None {
		return f
	}
	return byExtension[path.Ext(base)]
}

// MaxSize is the size of the largest text that is parsed. For YAML it is maxYAML, because
// parsing takes half a second per megabyte.
const (
	MaxSize = 16 << 20
	maxYAML = 4 << 20
)

// Doc is a parsed text.
type Doc struct {
	Root    *Node
	format  Format
	text    []byte
	eol     string
	several bool   // the text has several YAML documents, and Root is a list of them
	unsure  string // a construct that programs read differently; if set, changes are refused
	f       editor
	stop    func() bool // may be nil
	ticks   int
}

func (d *Doc) yaml() bool { return d.format == YAML || d.format == Header }

// editor makes changes in one format. Places and nodes belong to its document.
type editor interface {
	// replace replaces the value at a place.
	replace(at place, v *Node) ([]splice.Splice, error)
	// add appends a member to a map, or an item to a list if the key is "".
	add(in place, key string, v *Node) ([]splice.Splice, error)
	// remove removes the entry at a place.
	remove(at place) ([]splice.Splice, error)
	// rename renames the key of the member at a place.
	rename(at place, key string) ([]splice.Splice, error)
}

// place is a value with its parents: chain has the nodes from the root down to the value, and
// index the index of each node, except the root, in its parent.
type place struct {
	chain []*Node
	index []int
}

func (p place) node() *Node { return p.chain[len(p.chain)-1] }

// in returns the map or list that contains the value, or nil for the root.
func (p place) in() *Node {
	if len(p.chain) < 2 {
		return nil
	}
	return p.chain[len(p.chain)-2]
}

func (p place) up() place {
	return place{p.chain[:len(p.chain)-1], p.index[:max(len(p.index)-1, 0)]}
}

func (p place) last() int { return p.index[len(p.index)-1] }

// member returns the map member of the value, or nil for an item or the root.
func (p place) member() *Member {
	if in := p.in(); in != nil && in.Kind == Map {
		return in.Members[p.last()]
	}
	return nil
}

func (p place) down(i int) place {
	n := p.node()
	var next *Node
	if n.Kind == Map {
		next = n.Members[i].Value
	} else {
		next = n.Items[i]
	}
	return place{append(p.chain[:len(p.chain):len(p.chain)], next), append(p.index[:len(p.index):len(p.index)], i)}
}

const mark = "\xef\xbb\xbf" // a byte order mark

// ErrStopped is returned if reading was stopped.
var ErrStopped = fault.New(fault.Timeout, "reading the values was stopped", "")

// tick occasionally calls stop, and panics with ErrStopped if it returns true. parse recovers
// from that.
func (d *Doc) tick() {
	if d.ticks++; d.ticks%256 == 1 && d.stop != nil && d.stop() {
		panic(ErrStopped)
	}
}

// pieces passes the text to the parser in pieces, and fails once it is stopped.
type pieces struct {
	d    *Doc
	text []byte
}

func (r *pieces) Read(b []byte) (int, error) {
	if r.d.stop != nil && r.d.stop() {
		return 0, ErrStopped
	}
	if len(r.text) == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.text)
	r.text = r.text[n:]
	return n, nil
}

// Parse parses a text. The error for invalid text is a *SyntaxError.
func Parse(format Format, text []byte) (*Doc, error) { return ParseUntil(nil, format, text) }

// ParseUntil is Parse, but returns ErrStopped when stop returns true. JSON is parsed without
// calling stop in between.
func ParseUntil(stop func() bool, format Format, text []byte) (doc *Doc, err error) {
	d := &Doc{format: format, text: text, eol: "\n", stop: stop}
	defer func() {
		switch r := recover(); {
		case r == any(ErrStopped) || r == nil && stop != nil && stop():
			doc, err = nil, ErrStopped
		case r != nil:
			panic(r)
		}
	}()
	d.tick()
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		d.eol = "\r\n"
	}
	limit := MaxSize
	if format == YAML {
		limit = maxYAML
	}
	if len(text) > limit {
		return nil, fault.New(fault.TooLarge, fmt.Sprintf("%d MB of %s; at most %d are read", len(text)>>20, format, limit>>20), "edit the text of the file instead")
	}
	start := 0
	if bytes.HasPrefix(text, []byte(mark)) {
		start = len(mark)
	}
	switch format {
	case JSON:
		err = d.parseJSON(start)
	case YAML:
		err = d.parseYAML(splice.Span{Start: start, End: len(text)})
	case Header:
		err = d.parseHeader()
	case TOML:
		err = d.parseTOML(start)
	case INI:
		err = d.parseINI(start)
	default:
		err = fault.New(fault.InvalidArgument, "values are read in JSON, YAML, TOML, ini and YAML headers", "the name of the file says which it is")
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// SyntaxError reports why a text can't be parsed.
type SyntaxError struct {
	Format  Format
	Line    int // 0 if unknown
	Problem string
	Ours    bool // our limitation: the text may be valid, but the offsets of its values are unknown
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("the %s can't be read: %s", e.Format, e.Problem)
	}
	return fmt.Sprintf("the %s can't be read: line %d: %s", e.Format, e.Line, e.Problem)
}

func (e *SyntaxError) Unwrap() error { return fault.InvalidArgument }

func (e *SyntaxError) Hint() string { return "repair the file, or edit its text instead" }

// Reason is the kind of reason why a change was refused.
type Reason string

// The kinds of reasons.
const (
	Anchored    Reason = "anchor"        // other places use the value
	Twice       Reason = "duplicate key" // the key occurs twice, and it is unclear which one counts
	Cramped     Reason = "shared lines"  // it can't be removed separately from its lines
	Unwritable  Reason = "no such value" // the format can't express the value there
	WouldChange Reason = "would change"  // the result would differ in more than the value
	Shape       Reason = "another shape" // a step of the path is neither a map nor a list
)

// Refused reports a change that can't be made, or not without touching more than the value.
type Refused struct {
	Reason Reason
	Path   Path
	Why    string
}

func (e *Refused) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Why) }

func (e *Refused) Unwrap() error { return fault.InvalidArgument }

func (e *Refused) Hint() string { return "nothing was changed; edit the text of the file instead" }

// refuse returns a Refused without its path, which Edit fills in.
func refuse(r Reason, format string, args ...any) error {
	return &Refused{Reason: r, Why: fmt.Sprintf(format, args...)}
}

// MissingError reports a path to a value that doesn't exist.
type MissingError struct {
	Path Path
	Have string // describes the last value on the path that exists
}

func (e *MissingError) Error() string { return fmt.Sprintf("there is no %s", e.Path) }

func (e *MissingError) Unwrap() error { return fault.NotFound }

// Hint describes the last value on the path that exists.
func (e *MissingError) Hint() string { return e.Have }

// Find returns the value at a path.
func (d *Doc) Find(p Path) (*Node, error) {
	at, rest, err := d.find(p)
	switch {
	case err != nil:
		return nil, err
	case len(rest) > 0:
		return nil, d.missing(p, len(p)-len(rest), at)
	}
	return at.node(), nil
}

// Lines returns the first and the last line of a value, including its key.
func (d *Doc) Lines(p Path) (first, last int, err error) {
	at, rest, err := d.find(p)
	switch {
	case err != nil:
		return 0, 0, err
	case len(rest) > 0:
		return 0, 0, d.missing(p, len(p)-len(rest), at)
	}
	span := d.extent(at)
	line := func(at int) int { return 1 + bytes.Count(d.text[:at], []byte("\n")) }
	end := max(span.Start, span.End)
	if at.node().toml != nil && end > span.Start && d.text[end-1] == '\n' { // the span ends after a line feed
		end--
	}
	return line(span.Start), line(end), nil
}

// extent returns the span of a value with its key. For a TOML table, that is from its first
// line to its last.
func (d *Doc) extent(at place) splice.Span {
	n := at.node()
	span := n.Span
	if n.toml != nil {
		if t, ok := d.f.(*tomlText); ok {
			span = t.extent(n, span)
		}
	} else if m := at.member(); m != nil && m.Place.End > 0 {
		span = splice.Span{Start: min(m.Place.Start, n.Start), End: max(m.Place.End, n.End)}
	}
	return span
}

func (d *Doc) missing(p Path, known int, at place) error {
	have := at.node().summary()
	if known > 0 {
		have = fmt.Sprintf("%s is there; %s", p[:known], have)
	}
	if d.several && known == 0 {
		have = fmt.Sprintf("the file has %d documents: begin with [0], or [kind=Service]", len(d.Root.Items))
	}
	if y, ok := d.f.(*yamlText); ok && y.tomlHeader() {
		have = tomlHeader
	}
	return &MissingError{Path: p, Have: have}
}

// find follows a path as far as it exists. rest is the part that doesn't exist.
func (d *Doc) find(p Path) (at place, rest Path, err error) {
	at = place{chain: []*Node{d.Root}}
	for i, s := range p {
		n := at.node()
		next, err := choose(n, s)
		if err != nil {
			if r, ok := err.(*Refused); ok {
				r.Path = p[:i+1]
			}
			return at, nil, err
		}
		if next < 0 {
			return at, p[i:], nil
		}
		at = at.down(next)
	}
	return at, nil, nil
}

// choose returns the index of the member or item of n that a step selects, or -1 if there is none.
func choose(n *Node, s Step) (int, error) {
	found, twice := -1, false
	switch {
	case n.Kind == Alias:
		return -1, refuse(Anchored, "it goes through the alias *%s; name the value at &%s", n.Text, n.Text)
	case n.Kind == Map && s.Kind == ByKey:
		for i, m := range n.Members {
			switch {
			case m.Key != s.Key:
			case m.odd:
				return -1, refuse(Cramped, "its key has an unusual form")
			default:
				found, twice = i, twice || found >= 0
			}
		}
		if twice {
			return -1, refuse(Twice, "%q occurs twice", s.Key)
		}
	case n.Kind == List && s.Kind == ByField:
		for i, item := range n.Items {
			if v := item.Get(s.Field); v != nil && v.scalar() && v.Text == s.Equals && v.Kind != Alias {
				found, twice = i, twice || found >= 0
			}
		}
		if twice {
			return -1, refuse(Twice, "several items have %s: %s; choose one by its index", s.Field, s.Equals)
		}
	case n.Kind == List:
		i := s.Index
		if s.Kind == Next {
			return -1, nil
		}
		if s.Kind == ByKey { // a key that is an item number, as in steps.2.run
			if n, _ := fmt.Sscanf(s.Key, "%d", &i); n != 1 || fmt.Sprint(i) != s.Key {
				return -1, nil
			}
		}
		if i < 0 {
			i += len(n.Items)
		}
		if i >= 0 && i < len(n.Items) {
			found = i
		}
	}
	return found, nil
}
