package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// maxJSONDepth bounds how deep values nest.
const maxJSONDepth = 200

// commentedParser reads JSON with comments and trailing commas.
type commentedParser struct {
	text []byte
	at   int
}

// parseCommented reads a whole text. Two members of one name in an object are
// an error: nobody can say which one counts.
func parseCommented(text []byte) (*jsonValue, error) {
	p := &commentedParser{text: text, at: len(text) - len(bytes.TrimPrefix(text, utf8BOM))}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if err := p.blanks(); err != nil {
		return nil, err
	}
	if p.at < len(text) {
		return nil, p.errorf("something follows the value")
	}
	return &v, nil
}

func (p *commentedParser) errorf(format string, args ...any) error {
	line := 1 + bytes.Count(p.text[:min(p.at, len(p.text))], []byte("\n"))
	return fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
}

// blanks passes white space and comments.
func (p *commentedParser) blanks() error {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch {
		case bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0:
			p.at++
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest) - 1
			}
			p.at += n + 1
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return p.errorf("a comment has no end")
			}
			p.at += n + 4
		default:
			return nil
		}
	}
	return nil
}

// next passes blanks and returns the byte there, 0 at the end.
func (p *commentedParser) next() (byte, error) {
	if err := p.blanks(); err != nil {
		return 0, err
	}
	if p.at >= len(p.text) {
		return 0, nil
	}
	return p.text[p.at], nil
}

func (p *commentedParser) value(depth int) (v jsonValue, err error) {
	c, err := p.next()
	if err != nil {
		return v, err
	}
	if depth > maxJSONDepth {
		return v, p.errorf("values nest too deep")
	}
	v.start = p.at
	switch c {
	case 0:
		return v, p.errorf("a value is missing at the end")
	case '{':
		err = p.object(&v, depth)
	case '[':
		err = p.array(&v, depth)
	default:
		err = p.scalar(&v)
	}
	v.end = p.at
	return v, err
}

func (p *commentedParser) object(v *jsonValue, depth int) error {
	v.object = true
	plain := map[string]any{}
	v.plain = plain
	p.at++
	for {
		c, err := p.next()
		switch {
		case err != nil:
			return err
		case c == '}':
			p.at++
			return nil
		case c != '"':
			return p.errorf("a name in quotes is expected")
		}
		m := jsonMember{keyStart: p.at}
		var key jsonValue
		if err := p.scalar(&key); err != nil {
			return err
		}
		m.name, _ = key.plain.(string)
		if _, twice := plain[m.name]; twice {
			return p.errorf("%q is there twice", m.name)
		}
		if c, err = p.next(); err != nil {
			return err
		} else if c != ':' {
			return p.errorf("a colon is expected after %q", m.name)
		}
		p.at++
		if m.value, err = p.value(depth + 1); err != nil {
			return err
		}
		plain[m.name] = m.value.plain
		more, err := p.comma('}')
		if err != nil {
			return err
		}
		if more {
			m.comma = p.at
		}
		v.members = append(v.members, m)
	}
}

func (p *commentedParser) array(v *jsonValue, depth int) error {
	items := []any{}
	p.at++
	for {
		c, err := p.next()
		if err != nil {
			return err
		}
		if c == ']' {
			p.at++
			v.plain = items
			return nil
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		items = append(items, item.plain)
		if _, err := p.comma(']'); err != nil {
			return err
		}
	}
}

// comma passes a comma; without one, the end has to follow.
func (p *commentedParser) comma(end byte) (bool, error) {
	c, err := p.next()
	switch {
	case err != nil:
		return false, err
	case c == ',':
		p.at++
		return true, nil
	case c != end:
		return false, p.errorf("a comma or %q is expected", end)
	}
	return false, nil
}

// scalar reads a string, a number or a word, and has encoding/json check it.
func (p *commentedParser) scalar(v *jsonValue) error {
	start := p.at
	if p.text[p.at] == '"' {
		p.at++
		for p.at < len(p.text) && p.text[p.at] != '"' && p.text[p.at] != '\n' {
			if p.text[p.at] == '\\' {
				p.at++
			}
			p.at++
		}
		p.at = min(p.at+1, len(p.text))
	} else {
		for p.at < len(p.text) && bytes.IndexByte([]byte(" \t\r\n,:]}/\""), p.text[p.at]) < 0 {
			p.at++
		}
	}
	dec := json.NewDecoder(bytes.NewReader(p.text[start:p.at]))
	dec.UseNumber()
	if err := dec.Decode(&v.plain); err != nil || dec.More() {
		p.at = start
		return p.errorf("no value of JSON")
	}
	return nil
}
