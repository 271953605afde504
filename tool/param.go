package tool

import (
	"encoding/json"
	"slices"
)

// Kind is the type of a parameter: String, Integer, Boolean, Strings, Object, Objects, Any
// or Texts.
type Kind uint8

const (
	String Kind = iota
	Integer
	Boolean
	Strings // a list of strings
	Object  // with Fields
	Objects // a list of objects with Fields
	Any     // any JSON value, including null
	Texts   // an object whose members are strings with arbitrary names
)

var kindNames = [...]string{"string", "integer", "boolean", "array", "object", "array", "", "object"}

// Param is one parameter of a tool. Its schema, validation and documentation are generated from it.
type Param struct {
	Name        string
	Description string
	Kind        Kind
	Required    bool
	Default     any      // a string, int or bool; nil if there is no default
	Enum        []string // the allowed values of a String
	Min, Max    *int     // limits of an Integer, or of the length of a String in characters
	Fields      []Param  // of an Object, or of each item of Objects

	// AllowEmpty allows "" for a required String.
	AllowEmpty bool
	// Clamp replaces an Integer below Min or above Max by that limit instead of refusing it.
	Clamp bool
	// Missing is the message for a required parameter that is missing or has the wrong type;
	// "" means a generated message.
	Missing string
	// Several is the advice in the error if a list is given for a String.
	Several string
	// OrList makes a String also accept a list of strings. Args.Strings returns the value in both
	// cases.
	OrList bool
	// Also lists other accepted names, which are known from similar tools and not shown to models.
	// They are accepted in any style (old_string, oldString, old-string), and with Also set, so is
	// the parameter's own name.
	Also []string
	// List is the name of the parameter to use instead if a list is given for this one.
	List string
	// Unlisted omits the parameter from the schema, but it is accepted.
	Unlisted bool
}

// Limit returns a pointer to n, for Min and Max.
func Limit(n int) *int { return &n }

// InputSchema returns the JSON schema of the tool's arguments. Models read it in every turn, so it
// omits facts that an error would explain: that unknown keys are refused, and that a number without
// an upper limit starts at 0 or 1.
func (t *Tool) InputSchema() json.RawMessage {
	b, err := json.Marshal(objectSchema(t.Params))
	if err != nil {
		panic("tool: " + err.Error()) // can't happen: all values are defined in this program
	}
	return b
}

// schema holds the parts of JSON schema that tools need, in the order in which they are written.
type schema struct {
	Type        string     `json:"type,omitempty"`
	AnyOf       []schema   `json:"anyOf,omitempty"`
	Description string     `json:"description,omitempty"`
	Properties  properties `json:"properties,omitempty"`
	Required    []string   `json:"required,omitempty"`
	Additional  *bool      `json:"additionalProperties,omitempty"`
	Items       *schema    `json:"items,omitempty"`
	Enum        []string   `json:"enum,omitempty"`
	Default     any        `json:"default,omitempty"`
	Minimum     *int       `json:"minimum,omitempty"`
	Maximum     *int       `json:"maximum,omitempty"`
	MinLength   *int       `json:"minLength,omitempty"`
	MaxLength   *int       `json:"maxLength,omitempty"`
}

// properties marshals to an object that keeps the order of the parameters, because models read them
// in that order.
type properties []property

type property struct {
	name string
	s    schema
}

func (p properties) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, prop := range p {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := json.Marshal(prop.name)
		if err != nil {
			return nil, err
		}
		val, err := json.Marshal(prop.s)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), val...)
	}
	return append(b, '}'), nil
}

func objectSchema(params []Param) schema {
	s := schema{Type: "object", Properties: properties{}}
	if len(params) == 0 {
		no := false
		s.Additional = &no
	}
	for _, p := range params {
		if p.Unlisted {
			continue
		}
		s.Properties = append(s.Properties, property{p.Name, p.schema()})
		if p.Required {
			s.Required = append(s.Required, p.Name)
		}
	}
	return s
}

func (p *Param) schema() schema {
	var s schema
	if p.Kind == Object {
		s = objectSchema(p.Fields)
	}
	if s.Type = kindNames[p.Kind]; p.OrList {
		s.Type, s.AnyOf = "", []schema{{Type: "string"}, {Type: "array", Items: &schema{Type: "string"}}}
	}
	s.Description = p.Description
	s.Default = p.Default
	switch p.Kind {
	case Strings:
		s.Items = &schema{Type: "string"}
	case Objects:
		items := objectSchema(p.Fields)
		s.Items = &items
	case Integer:
		s.Minimum, s.Maximum = p.Min, p.Max
		if p.Clamp || p.Max == nil {
			s.Minimum, s.Maximum = nil, nil // any number is accepted
		}
	case String:
		s.Enum = p.Enum
		s.MaxLength = p.Max
		if p.Min != nil && *p.Min > 1 { // "" is refused anyway
			s.MinLength = p.Min
		}
	}
	return s
}

// maxNamed limits the length of a name in an error. It is longer than any misspelt name; a call may
// have a name of 16 MB.
const maxNamed = 200

// nearest returns the one of names that a misspelt name probably means, or "".
func nearest(name string, names []string) string {
	if len(name) > maxNamed {
		return ""
	}
	best, least := "", max(2, len(name)/3)+1
	for _, n := range names {
		if d := distance(name, n); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance returns the number of insertions, deletions and replacements that turn one short word
// into another. It ignores case, hyphens and underscores.
func distance(a, b string) int {
	x, y := plain(a), plain(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(x); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := diagonal
			if x[i-1] != y[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(y)]
}

func plain(s string) []byte {
	b := []byte(s)
	b = slices.DeleteFunc(b, func(c byte) bool { return c == '_' || c == '-' })
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b[:min(len(b), 64)]
}
