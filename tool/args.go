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

// Args are the arguments of a call, validated and with defaults filled in.
type Args struct {
	values map[string]any
	given  map[string]bool
}

// Given reports whether the caller set a parameter, so that it isn't a default.
func (a Args) Given(name string) bool { return a.given[name] }

// String returns a String parameter, "" if it isn't set.
func (a Args) String(name string) string { s, _ := a.values[name].(string); return s }

// Int returns an Integer parameter, 0 if it isn't set.
func (a Args) Int(name string) int { n, _ := a.values[name].(int); return n }

// Bool returns a Boolean parameter, false if it isn't set.
func (a Args) Bool(name string) bool { b, _ := a.values[name].(bool); return b }

// Strings returns a Strings parameter, or a String with OrList, nil if it isn't set.
func (a Args) Strings(name string) []string {
	if s, one := a.values[name].(string); one && s != "" { // a parameter with OrList
		return []string{s}
	}
	s, _ := a.values[name].([]string)
	return s
}

// Object returns an Object parameter and whether it is set.
func (a Args) Object(name string) (Args, bool) { o, ok := a.values[name].(Args); return o, ok }

// Objects returns a list of objects.
func (a Args) Objects(name string) []Args { o, _ := a.values[name].([]Args); return o }

// Text is a member of a Texts parameter.
type Text struct{ Name, Value string }

// Texts returns the members of an object of strings, in their order.
func (a Args) Texts(name string) []Text { t, _ := a.values[name].([]Text); return t }

// JSON returns an Any parameter as given, nil if it isn't set.
func (a Args) JSON(name string) json.RawMessage { r, _ := a.values[name].(json.RawMessage); return r }

// decode decodes JSON arguments. It is lenient, since models write "10" for 10, but does not
// guess: an unknown key is an error.
func (t *Tool) decode(raw json.RawMessage) (Args, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	// Some clients send the object as a string.
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

// addedByClients are parameters that clients add to every tool and pass on.
var addedByClients = []string{"wait_for_previous"} // Gemini CLI

// invalidText describes the invalid characters of a JSON text; "" if all are valid. Decoding
// would replace them by U+FFFD, and so change a path or text.
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

// surrogate returns the surrogate encoded by an escape at the start of a text, 0 if none, and
// the length of the escape.
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

// renamed replaces keys in other tools' spelling by the names of the parameters they mean. A
// key that equals a parameter's name is kept, and of two keys for one parameter the first in
// the parameter's list counts; the others are unknown.
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
			var one []json.RawMessage // a list with one element for a single value
			if p.Kind == String && json.Unmarshal(out[p.Name], &one) == nil && len(one) == 1 {
				out[p.Name] = one[0]
			}
			break
		}
	}
	return out
}

// spelled finds the key for a name in any style: old_text, oldText, old-text.
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

// listParams names the parameters: those in the schema first, and then the others, since one
// of these may be wanted.
func listParams(params []Param) string {
	var names, others []string
	for _, p := range params {
		if p.Unlisted && p.Description != "" { // without a description it belongs to other tools
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

// emptyIsAbsent reports whether "" can only mean that a parameter is absent. Models that fill
// in every parameter write "" for numbers and choices.
func (p *Param) emptyIsAbsent() bool {
	switch p.Kind {
	case Integer, Boolean, Object:
		return !p.Required
	case String:
		return !p.Required && len(p.Enum) > 0
	}
	return false
}

// checkKeys refuses a key without a parameter.
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

// unquoted returns an object or a list that was sent as a string, as some clients do.
func unquoted(raw []byte) []byte {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []byte(s)
	}
	return raw
}

// textsValue decodes an object of strings. A duplicate name would lose a value.
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
	if _, err := d.Token(); err != nil { // the end of the object
		return nil, p.wrong(prefix, raw)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, p.wrong(prefix, raw)
	}
	return list, nil
}

// value decodes one argument.
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
	default: // a number instead of a string
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
	n := int(max(min(f, math.MaxInt32), math.MinInt32)) // no count here is larger
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

// objectsValue also accepts a single object, and a list written as a string.
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

// stringsValue also accepts a single string, and a list written as a string.
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
