package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"quarry/fault"
)

// Args holds the validated arguments of a call. Parameters that were not given have their defaults.
type Args struct {
	values map[string]any
	given  map[string]bool
}

// Given reports whether the caller gave a parameter; otherwise its value is the default.
func (a Args) Given(name string) bool { return a.given[name] }

// With returns the arguments together with others, which replace those of the same name.
func (a Args) With(others Args) Args {
	a.values, a.given = maps.Clone(a.values), maps.Clone(a.given)
	maps.Copy(a.values, others.values)
	maps.Copy(a.given, others.given)
	return a
}

// String returns the value of a String parameter; "" if it isn't set.
func (a Args) String(name string) string { s, _ := a.values[name].(string); return s }

// Int returns the value of an Integer parameter; 0 if it isn't set.
func (a Args) Int(name string) int { n, _ := a.values[name].(int); return n }

// Bool returns the value of a Boolean parameter; false if it isn't set.
func (a Args) Bool(name string) bool { b, _ := a.values[name].(bool); return b }

// Strings returns the value of a Strings parameter, or of a String parameter with OrList; nil if it
// isn't set.
func (a Args) Strings(name string) []string {
	if s, one := a.values[name].(string); one && s != "" { // a parameter with OrList
		return []string{s}
	}
	s, _ := a.values[name].([]string)
	return s
}

// Object returns the value of an Object parameter, and whether it is set.
func (a Args) Object(name string) (Args, bool) { o, ok := a.values[name].(Args); return o, ok }

// Objects returns the value of an Objects parameter.
func (a Args) Objects(name string) []Args { o, _ := a.values[name].([]Args); return o }

// Text is one member of a Texts parameter.
type Text struct{ Name, Value string }

// Texts returns the members of a Texts parameter, in the caller's order.
func (a Args) Texts(name string) []Text { t, _ := a.values[name].([]Text); return t }

// JSON returns the value of an Any parameter as it was given; nil if it isn't set.
func (a Args) JSON(name string) json.RawMessage { r, _ := a.values[name].(json.RawMessage); return r }

// decode decodes JSON arguments. It accepts other spellings of a value, because models write "10"
// for 10. But it does not guess: an unknown key is an error.
func (t *Tool) decode(raw json.RawMessage) (Args, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	// Some clients send the object encoded as a string.
	if raw[0] == '"' {
		var inner string
		if json.Unmarshal(raw, &inner) == nil && strings.HasPrefix(strings.TrimSpace(inner), "{") {
			raw = json.RawMessage(inner)
		}
	}
	if why := invalidText(raw); why != "" {
		return Args{}, &Error{Code: fault.InvalidArgument, Message: why, Hint: "Give the name of a file that is not UTF-8 as base64: and its bytes in base64."}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		why, hint := ", but "+fault.Clip(string(raw), 60), t.knownParams()
		if !json.Valid(raw) {
			why = ": " + err.Error()
			if strings.Contains(why, "in string") {
				hint = `In a string write a tab as \t, a line break as \n, a quote as \" and a backslash as \\.`
			}
		}
		return Args{}, &Error{Code: fault.InvalidArgument, Message: "the arguments are not a JSON object" + why, Hint: hint}
	}
	for _, name := range addedByClients {
		if !slices.ContainsFunc(t.Params, func(p Param) bool { return p.Name == name }) {
			delete(object, name)
		}
	}
	return decodeObject(t.Params, object, "")
}

// addedByClients are parameters that some clients add to the calls of every tool.
var addedByClients = []string{"wait_for_previous"} // Gemini CLI

// invalidText describes the invalid characters in a JSON text; "" if there are none. Decoding would
// replace them by U+FFFD, which would change a path or text.
func invalidText(raw []byte) string {
	if !utf8.Valid(raw) {
		return "the arguments are not valid UTF-8"
	}
	for rest := raw; ; {
		i := bytes.IndexByte(rest, '\\')
		if i < 0 || i+1 >= len(rest) {
			return ""
		}
		high, n := surrogate(rest[i:])
		if low, m := surrogate(rest[i+n:]); high >= 0xdc00 || high >= 0xd800 && low < 0xdc00 {
			return fmt.Sprintf(`the arguments have half of a character, \u%04x`, high)
		} else if high >= 0xd800 {
			n += m
		}
		rest = rest[i+n:]
	}
}

// surrogate returns the surrogate that an escape at the start of text encodes, or 0, and the
// escape's length.
func surrogate(text []byte) (half uint64, length int) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, min(2, len(text))
	}
	v, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil || v < 0xd800 || v > 0xdfff {
		return 0, 6
	}
	return v, 6
}

func (t *Tool) knownParams() string {
	return listParams(t.Params)
}

// renamed replaces keys from similar tools by the names of the parameters they mean. A key that is
// a parameter's name is kept. If several keys mean the same parameter, the one listed first in
// Param.Also is used, and the others remain and are refused as unknown.
func renamed(params []Param, object map[string]json.RawMessage) map[string]json.RawMessage {
	known := make(map[string]bool, len(params))
	for i := range params {
		known[params[i].Name] = true
	}
	out := maps.Clone(object)
	for i := range params {
		p := &params[i]
		raw, given := object[p.Name]
		if _, taken := object[p.List]; given && p.List != "" && known[p.List] && !taken && bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
			out[p.List] = raw
			delete(out, p.Name)
			continue
		}
		if len(p.Also) == 0 || given && string(raw) != "null" {
			continue
		}
		for _, name := range append([]string{p.Name}, p.Also...) {
			key, ok := spelled(out, name, known)
			if !ok {
				continue
			}
			out[p.Name] = out[key]
			delete(out, key)
			var one []json.RawMessage // a list of one element is accepted for a single value
			if p.Kind == String && json.Unmarshal(out[p.Name], &one) == nil && len(one) == 1 {
				out[p.Name] = one[0]
			}
			break
		}
	}
	return out
}

// spelled returns the key in object that is name in some style: old_text, oldText or old-text.
func spelled(object map[string]json.RawMessage, name string, known map[string]bool) (string, bool) {
	if _, ok := object[name]; ok && !known[name] {
		return name, true
	}
	want := string(plain(name))
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if !known[key] && string(plain(key)) == want {
			return key, true
		}
	}
	return "", false
}

// listParams lists the names of the parameters for an error. Those in the schema are first,
// followed by the unlisted ones, one of which may be meant.
func listParams(params []Param) string {
	var names, others []string
	for _, p := range params {
		if p.Unlisted && p.Description != "" { // unlisted parameters without a description are other tools' names
			others = append(others, p.Name)
		} else if !p.Unlisted {
			names = append(names, p.Name)
		}
	}
	if names = append(names, others...); len(names) == 0 {
		return "It takes no parameters."
	}
	return "Known parameters: " + strings.Join(names, ", ") + "."
}

func decodeObject(params []Param, object map[string]json.RawMessage, prefix string) (Args, error) {
	object = renamed(params, object)
	if err := checkKeys(params, object, prefix); err != nil {
		return Args{}, err
	}
	a := Args{values: map[string]any{}, given: map[string]bool{}}
	for i := range params {
		p := &params[i]
		raw := bytes.TrimSpace(object[p.Name])
		if len(raw) == 0 || string(raw) == "null" && p.Kind != Any || string(raw) == `""` && p.emptyIsAbsent() {
			if p.Required {
				return Args{}, p.missing(prefix)
			}
			if p.Default != nil {
				a.values[p.Name] = p.Default
			}
			continue
		}
		v, err := p.value(raw, prefix)
		if err != nil {
			return Args{}, err
		}
		a.values[p.Name], a.given[p.Name] = v, true
	}
	return a, nil
}

// emptyIsAbsent reports whether "" can only mean that the parameter is absent. Models that fill in
// every parameter write "" for numbers and choices.
func (p *Param) emptyIsAbsent() bool {
	switch p.Kind {
	case Integer, Boolean, Object:
		return !p.Required
	case String:
		return !p.Required && len(p.Enum) > 0
	}
	return false
}

// checkKeys returns an error for a key that is not a parameter.
func checkKeys(params []Param, object map[string]json.RawMessage, prefix string) error {
	var names, unknown []string
	for _, p := range params {
		names = append(names, p.Name)
	}
	for key := range object {
		if !slices.Contains(names, key) {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	e := &Error{Code: fault.InvalidArgument, Message: fmt.Sprintf("unknown parameter %q", prefix+unknown[0])}
	e.Hint = listParams(params)
	if near := nearest(unknown[0], names); near != "" {
		e.Message += fmt.Sprintf("; did you mean %q?", near)
	}
	return e
}

func (p *Param) missing(prefix string) error {
	msg := p.Missing
	if msg == "" {
		kind := article(kindNames[p.Kind])
		if p.Kind == String && !p.AllowEmpty {
			kind = "a non-empty string"
		}
		msg = fmt.Sprintf("%s%s is required and must be %s.", prefix, p.Name, kind)
	}
	return &Error{Code: fault.InvalidArgument, Message: msg}
}

func (p *Param) wrong(prefix string, raw []byte) error {
	if p.Required && p.Missing != "" {
		return p.missing(prefix)
	}
	e := Errorf(fault.InvalidArgument, "%s%s must be %s, not %s", prefix, p.Name, article(kindNames[p.Kind]), fault.Clip(string(raw), 60))
	if len(raw) > 0 && raw[0] == '[' {
		e.Hint = p.Several
	}
	return e
}

func article(kind string) string {
	if strings.IndexByte("aeio", kind[0]) >= 0 {
		return "an " + kind
	}
	return "a " + kind
}

// unquoted decodes an object or list that was sent as a string, as some clients do. It returns any
// other value unchanged.
func unquoted(raw []byte) []byte {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []byte(s)
	}
	return raw
}

// textsValue decodes an object of strings. It refuses duplicate names, because one of their values
// would be lost.
func (p *Param) textsValue(raw []byte, prefix string) (any, error) {
	d := json.NewDecoder(bytes.NewReader(unquoted(raw)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, p.wrong(prefix, raw)
	}
	list := []Text{}
	for d.More() {
		name, err := d.Token()
		var v any
		if err == nil {
			err = d.Decode(&v)
		}
		if err != nil {
			return nil, p.wrong(prefix, raw)
		}
		one := Text{Name: name.(string)}
		var ok bool
		if one.Value, ok = v.(string); !ok {
			return nil, Errorf(fault.InvalidArgument, "%s%s: the value of %q must be a string", prefix, p.Name, fault.Clip(one.Name, 60))
		}
		if slices.ContainsFunc(list, func(t Text) bool { return t.Name == one.Name }) {
			return nil, Errorf(fault.InvalidArgument, "%s%s has %q twice", prefix, p.Name, fault.Clip(one.Name, 60))
		}
		list = append(list, one)
	}
	if _, err := d.Token(); err != nil { // consume the end of the object
		return nil, p.wrong(prefix, raw)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, p.wrong(prefix, raw)
	}
	return list, nil
}

// value decodes the argument for one parameter.
func (p *Param) value(raw []byte, prefix string) (any, error) {
	switch p.Kind {
	case String:
		if p.OrList && raw[0] == '[' {
			return p.stringsValue(raw, prefix)
		}
		return p.stringValue(raw, prefix)
	case Integer:
		return p.integerValue(raw, prefix)
	case Boolean:
		return p.booleanValue(raw, prefix)
	case Strings:
		return p.stringsValue(raw, prefix)
	case Objects:
		return p.objectsValue(raw, prefix)
	case Any:
		return json.RawMessage(raw), nil
	case Texts:
		return p.textsValue(raw, prefix)
	}
	inner := unquoted(raw)
	var object map[string]json.RawMessage
	if json.Unmarshal(inner, &object) != nil || object == nil {
		return nil, p.wrong(prefix, raw)
	}
	return decodeObject(p.Fields, object, prefix+p.Name+".")
}

func (p *Param) stringValue(raw []byte, prefix string) (any, error) {
	var s string
	switch raw[0] {
	case '"':
		if json.Unmarshal(raw, &s) != nil {
			return nil, p.wrong(prefix, raw)
		}
	case '{', '[', 't', 'f':
		return nil, p.wrong(prefix, raw)
	default: // a number in place of a string
		s = string(raw)
	}
	if s == "" && p.Required && !p.AllowEmpty {
		return nil, p.missing(prefix)
	}
	n := utf8.RuneCountInString(s)
	if p.Max != nil && n > *p.Max {
		return nil, Errorf(fault.InvalidArgument, "%s%s must be at most %d characters, not %d", prefix, p.Name, *p.Max, n)
	}
	if p.Min != nil && n < *p.Min {
		return nil, Errorf(fault.InvalidArgument, "%s%s must be at least %d characters, not %d", prefix, p.Name, *p.Min, n)
	}
	if len(p.Enum) > 0 {
		for _, known := range p.Enum {
			if strings.EqualFold(known, s) {
				return known, nil
			}
		}
		return nil, Errorf(fault.InvalidArgument, "%s%s must be one of %s, not %q", prefix, p.Name, strings.Join(p.Enum, ", "), s)
	}
	return s, nil
}

func (p *Param) integerValue(raw []byte, prefix string) (any, error) {
	text := strings.TrimSpace(strings.Trim(string(raw), `"`))
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return nil, p.wrong(prefix, raw)
	}
	n := int(max(min(f, math.MaxInt32), math.MinInt32)) // larger numbers mean the same, since no count reaches this limit
	if p.Min != nil && n < *p.Min {
		if !p.Clamp {
			return nil, Errorf(fault.InvalidArgument, "%s%s must be at least %d, not %s", prefix, p.Name, *p.Min, text)
		}
		n = *p.Min
	}
	if p.Max != nil && n > *p.Max {
		if !p.Clamp {
			return nil, Errorf(fault.InvalidArgument, "%s%s must be at most %d, not %s", prefix, p.Name, *p.Max, text)
		}
		n = *p.Max
	}
	return n, nil
}

func (p *Param) booleanValue(raw []byte, prefix string) (any, error) {
	switch strings.ToLower(strings.Trim(string(raw), `" `)) {
	case "true", "1", "yes":
		return true, nil
	case "false", "0", "no":
		return false, nil
	}
	return nil, p.wrong(prefix, raw)
}

// objectsValue decodes a list of objects. It also accepts a single object, and a list sent as a
// string.
func (p *Param) objectsValue(raw []byte, prefix string) (any, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		raw = []byte(strings.TrimSpace(s))
	}
	var list []map[string]json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		var one map[string]json.RawMessage
		if json.Unmarshal(raw, &one) != nil || one == nil {
			return nil, p.wrong(prefix, raw)
		}
		list = append(list, one)
	}
	out := make([]Args, len(list))
	for i, object := range list {
		var err error
		if out[i], err = decodeObject(p.Fields, object, fmt.Sprintf("%s%s[%d].", prefix, p.Name, i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// stringsValue decodes a list of strings. It also accepts a single string, and a list sent as a
// string.
func (p *Param) stringsValue(raw []byte, prefix string) (any, error) {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return list, nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		if t := strings.TrimSpace(s); strings.HasPrefix(t, "[") && json.Unmarshal([]byte(t), &list) == nil {
			return list, nil
		}
		return []string{s}, nil
	}
	return nil, p.wrong(prefix, raw)
}
