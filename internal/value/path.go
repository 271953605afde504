package value

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Path is the list of steps from the root of a document to a value.
type Path []Step

// Step goes from a map to the value of a key, or from a list to an item.
type Step struct {
	Key    string // of a map, if Kind is ByKey
	Index  int    // ByIndex: counted from 0; a negative index counts from the end
	Field  string // ByField: selects the item where Field equals Equals
	Equals string
	Kind   StepKind
}

// StepKind is the way in which a step selects a value.
type StepKind uint8

const (
	ByKey   StepKind = iota // name, or "a.name" in quotes if it has dots
	ByIndex                 // [2], [-1]
	ByField                 // [name=quarry]
	Next                    // [+], the position after the last item
)

// Keys returns a path of keys.
func Keys(names ...string) Path {
	p := make(Path, len(names))
	for i, n := range names {
		p[i] = Step{Key: n}
	}
	return p
}

// ParsePath parses a path as people write it: dependencies.react,
// jobs.build.steps[2].run, servers[name=quarry].args, paths."/users".get, tags[+].
// "." and "" are the whole document.
func ParsePath(s string) (Path, error) {
	var p Path
	if s == "" || s == "." {
		return p, nil
	}
	bad := func(at int, why string) error {
		return fmt.Errorf("invalid path %q: %s at %q; write a.b[2].c, a[name=x].b, or quote a key with dots: a.\"b.c\"", s, why, s[at:])
	}
	for i := 0; i < len(s); {
		switch {
		case s[i] == '[':
			step, n, err := bracketStep(s[i:])
			if err != nil {
				return nil, bad(i, err.Error())
			}
			p, i = append(p, step), i+n
			if i < len(s) && s[i] != '.' && s[i] != '[' {
				return nil, bad(i, "a dot is missing")
			}
			if i < len(s) && s[i] == '.' {
				if i++; i == len(s) {
					return nil, bad(i-1, "a key is missing")
				}
			}
			continue
		case s[i] == '.':
			return nil, bad(i, "a key is missing")
		}
		key, n, err := keyStep(s[i:])
		if err != nil {
			return nil, bad(i, err.Error())
		}
		p, i = append(p, Step{Key: key}), i+n
		if i < len(s) && s[i] == '.' {
			if i++; i == len(s) {
				return nil, bad(i-1, "a key is missing")
			}
		} else if i < len(s) && s[i] != '[' {
			return nil, bad(i, "a dot is missing")
		}
	}
	return p, nil
}

// keyStep parses a key and returns its length.
func keyStep(s string) (string, int, error) {
	if s[0] == '"' || s[0] == '\'' {
		return quoted(s)
	}
	n := strings.IndexAny(s, ".[")
	if n < 0 {
		n = len(s)
	}
	return s[:n], n, nil
}

// quoted parses a quoted text, in which a backslash escapes the next character.
func quoted(s string) (string, int, error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] == s[0]:
			return b.String(), i + 1, nil
		default:
			b.WriteByte(s[i])
		}
	}
	return "", 0, errors.New("a quote is not closed")
}

// bracketStep parses [2], [+], [name=x] or ["key"].
func bracketStep(s string) (Step, int, error) {
	unclosed := errors.New("a bracket is not closed")
	if len(s) > 1 && (s[1] == '"' || s[1] == '\'') {
		key, n, err := quoted(s[1:])
		if err != nil || n+1 >= len(s) || s[n+1] != ']' {
			return Step{}, 0, errors.Join(err, unclosed)
		}
		return Step{Key: key}, n + 2, nil
	}
	end := strings.IndexAny(s, "=]")
	if end < 0 {
		return Step{}, 0, unclosed
	}
	name := s[1:end]
	if s[end] == ']' {
		if name == "+" {
			return Step{Kind: Next}, end + 1, nil
		}
		n, err := strconv.Atoi(name)
		if err != nil {
			return Step{}, 0, errors.New("neither an index nor name=value")
		}
		return Step{Kind: ByIndex, Index: n}, end + 1, nil
	}
	step := Step{Kind: ByField, Field: name}
	if end+1 < len(s) && (s[end+1] == '"' || s[end+1] == '\'') {
		text, n, err := quoted(s[end+1:])
		if end += 1 + n; err != nil || end >= len(s) || s[end] != ']' {
			return Step{}, 0, errors.Join(err, unclosed)
		}
		step.Equals = text
		return step, end + 1, nil
	}
	n := strings.IndexByte(s[end:], ']')
	if n < 0 || name == "" {
		return Step{}, 0, unclosed
	}
	step.Equals = s[end+1 : end+n]
	return step, end + n + 1, nil
}

// String formats the path for ParsePath.
func (p Path) String() string {
	if len(p) == 0 {
		return "."
	}
	var b strings.Builder
	for i, s := range p {
		switch s.Kind {
		case Next:
			b.WriteString("[+]")
		case ByIndex:
			fmt.Fprintf(&b, "[%d]", s.Index)
		case ByField:
			fmt.Fprintf(&b, "[%s=%s]", s.Field, quoteIf(s.Equals, "]\"'"))
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(quoteIf(s.Key, ".[\"'"))
		}
	}
	return b.String()
}

func quoteIf(s, special string) string {
	if s != "" && !strings.ContainsAny(s, special) {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
