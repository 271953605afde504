package value

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"quarry/internal/splice"
)

// Kind is the kind of a value.
type Kind uint8

const (
	Null Kind = iota
	Bool
	Number
	Text
	Date // TOML only
	List
	Map
	Alias // YAML only; Text is the anchor's name
)

var kindNames = [...]string{"null", "true or false", "a number", "a text", "a date", "a list", "a map", "an alias"}

func (k Kind) String() string { return kindNames[k] }

// Node is a value and its position. A value to be written has no position.
type Node struct {
	Kind    Kind
	Text    string    // a text without its quotes; other scalars as written
	Items   []*Node   // of a List
	Members []*Member // of a Map, in source order
	// Span covers the value, with the anchor and the tag of YAML. It is empty for an implied
	// value, such as the one of "key:".
	splice.Span
	// Body is the offset of the value without its anchor and tag.
	Body int

	Tag, Anchor string
	// Plain requires that a Text is written without quotes, like dates in headers.
	Plain bool
	// Flow requires that a new YAML map or list is written in brackets.
	Flow   bool
	form   form
	used   bool   // some alias refers to this anchor
	dashes []int  // offsets of the dashes of a YAML block list
	toml   *table // set for a TOML Map or List made by headings or dotted keys
}

// form is the way in which a value is written.
type form uint8

const (
	block   form = iota // without brackets, on separate lines
	flow                // in brackets
	pair                // a map without brackets in a flow list: [a: 1]
	plain               // a scalar without quotes
	single              // 'x'
	double              // "x"
	literal             // a block scalar
)

// Member is a key of a map with its value.
type Member struct {
	Key   string
	Place splice.Span   // of the key
	also  []splice.Span // further occurrences of the key in TOML headings
	colon int           // offset after the colon or the equals sign; 0 if there is none
	odd   bool          // the key is not a plain scalar on one line
	Value *Node
}

func Str(s string) *Node { return &Node{Kind: Text, Text: s, form: plain} }

func ListOf(items ...*Node) *Node { return &Node{Kind: List, Items: items} }

// MapOf returns a map with one member.
func MapOf(key string, v *Node) *Node {
	return &Node{Kind: Map, Members: []*Member{{Key: key, Value: v}}}
}

// Get returns the value of a key, or nil if there is none. If the key occurs several times, it
// returns the last value.
func (n *Node) Get(key string) *Node {
	var out *Node
	if n != nil {
		for _, m := range n.Members {
			if m.Key == key && !m.odd {
				out = m.Value
			}
		}
	}
	return out
}

// InBrackets reports whether a map or a list is written in brackets.
func (n *Node) InBrackets() bool { return n.form == flow }

// Spread makes a map or a list that was read in brackets one to be written in lines.
func (n *Node) Spread() {
	if !n.scalar() {
		n.form = block
	}
}

// Quote returns the quote character of a text: ' or ", or | for a block of lines, or 0 if it
// has no quotes.
func (n *Node) Quote() byte {
	switch n.form {
	case single:
		return '\''
	case double:
		return '"'
	case literal:
		return '|'
	}
	return 0
}

func (n *Node) scalar() bool { return n.Kind != List && n.Kind != Map }

// same reports whether two values have the same meaning. The order of members matters only if
// ordered is set.
func same(a, b *Node, ordered bool) bool {
	if a.Kind != b.Kind || a.Text != b.Text || a.Tag != b.Tag || a.Anchor != b.Anchor || len(a.Items) != len(b.Items) || len(a.Members) != len(b.Members) {
		return false
	}
	for i := range a.Items {
		if !same(a.Items[i], b.Items[i], ordered) {
			return false
		}
	}
	if !ordered && len(a.Members) > 1 {
		byKey := func(x, y *Member) int { return strings.Compare(x.Key, y.Key) }
		a, b = &Node{Members: slices.SortedStableFunc(slices.Values(a.Members), byKey)}, &Node{Members: slices.SortedStableFunc(slices.Values(b.Members), byKey)}
	}
	for i, m := range a.Members {
		if m.Key != b.Members[i].Key || m.odd != b.Members[i].odd || !same(m.Value, b.Members[i].Value, ordered) {
			return false
		}
	}
	return true
}

// Go converts the value to the type that encoding/json, with UseNumber, would decode it to.
// Duplicate members are an error.
func (n *Node) Go() (any, error) {
	switch n.Kind {
	case Null:
		return nil, nil
	case Bool:
		return strings.EqualFold(n.Text, "true"), nil
	case Number:
		return goNumber(n.Text), nil
	case List:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			v, err := item.Go()
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return out, nil
	case Map:
		out := make(map[string]any, len(n.Members))
		for _, m := range n.Members {
			if _, twice := out[m.Key]; twice {
				return nil, fmt.Errorf("%q occurs twice", m.Key)
			}
			v, err := m.Value.Go()
			if err != nil {
				return nil, err
			}
			out[m.Key] = v
		}
		return out, nil
	case Alias:
		return "*" + n.Text, nil
	}
	return n.Text, nil
}

// goNumber converts a number of any format to an int, or else a float, or else its text.
func goNumber(s string) any {
	clean := strings.ReplaceAll(s, "_", "")
	if i, err := strconv.ParseInt(clean, 0, 64); err == nil && (len(clean) < 2 || clean[0] != '0' || clean[1] > '9') {
		return i
	}
	if i, err := strconv.ParseInt(clean, 10, 64); err == nil {
		return i
	}
	if f, err := strconv.ParseFloat(clean, 64); err == nil && f-f == 0 {
		return f
	}
	return s
}

// summary describes a value for an error: the keys of a map, the length of a list, or the
// kind.
func (n *Node) summary() string {
	switch n.Kind {
	case Map:
		var names []string
		for i, m := range n.Members {
			if i == 20 {
				names = append(names, fmt.Sprintf("and %d more", len(n.Members)-i))
				break
			}
			names = append(names, m.Key)
		}
		if len(names) == 0 {
			return "it is empty"
		}
		return "it has " + strings.Join(names, ", ")
	case List:
		return fmt.Sprintf("it has %d items, [0] to [%d]", len(n.Items), len(n.Items)-1)
	}
	return "it is " + n.Kind.String()
}
