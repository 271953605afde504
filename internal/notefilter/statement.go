package notefilter

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Literal is the kind of a value in a statement of a base.
type Literal uint8

const (
	Text Literal = iota
	Number
	Bool
	Null
	Date
	Link
)

// fileFields lists the supported properties file.x of a base.
var fileFields = []string{"name", "basename", "path", "folder", "ext", "size", "mtime", "ctime", "tags", "links"}

// statement parses a filter of a base, in JavaScript's syntax: comparisons of a property
// with a value, and functions, combined by &&, || and !. Its terms have the name
// statement; only hasTag becomes the filter tag.
type statement struct {
	src   string
	at    int
	depth int
	Shown
}

func parseStatement(src string, shown Shown) (*Expr, error) {
	p := &statement{src: src, Shown: shown}
	e, err := p.parseAny()
	if err == nil && p.peek() != "" {
		err = p.fail(fmt.Sprintf("%q is not supported", p.src[p.at:]))
	}
	return e, err
}

func (p *statement) fail(what string) error {
	return &Error{1 + utf8.RuneCountInString(p.src[:p.at]), fmt.Sprintf("%s in the filter %s", what, p.src)}
}

// peek returns the next operator, or the next character; "" at the end.
func (p *statement) peek() string {
	p.at = len(p.src) - len(strings.TrimLeft(p.src[p.at:], " \t\r\n"))
	rest := p.src[p.at:]
	for _, m := range []string{"&&", "||", "==", "!=", "<=", ">="} {
		if strings.HasPrefix(rest, m) {
			return m
		}
	}
	return rest[:min(1, len(rest))]
}

func (p *statement) take(mark string) bool {
	if p.peek() != mark {
		return false
	}
	p.at += len(mark)
	return true
}

func (p *statement) word() string {
	p.peek()
	rest := p.src[p.at:]
	end := strings.IndexFunc(rest+" ", func(r rune) bool { return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	p.at += end
	return rest[:end]
}

func (p *statement) parseAny() (*Expr, error) {
	return p.joined("||", func() (*Expr, error) { return p.joined("&&", p.parseUnary) })
}

func (p *statement) joined(by string, next func() (*Expr, error)) (*Expr, error) {
	var parts []*Expr
	for {
		e, err := next()
		if err != nil {
			return nil, err
		}
		if parts = append(parts, e); !p.take(by) {
			break
		}
	}
	switch {
	case len(parts) == 1:
		return parts[0], nil
	case by == "&&":
		return &Expr{All: parts}, nil
	}
	return &Expr{Any: parts}, nil
}

func (p *statement) parseUnary() (*Expr, error) {
	if p.depth++; p.depth > 4*maxDepth {
		return nil, p.fail("too many parts")
	}
	defer func() { p.depth-- }()
	if p.take("!") {
		e, err := p.parseUnary()
		return &Expr{Not: e}, err
	}
	if !p.take("(") {
		return p.test()
	}
	e, err := p.parseAny()
	if err == nil && !p.take(")") {
		err = p.fail("a parenthesis is not closed")
	}
	return e, err
}

// test parses a property with a comparison or a function. A property alone must be true.
func (p *statement) test() (*Expr, error) {
	from := p.at
	key := p.word()
	inList, list := key == "list" && p.take("("), false
	if inList {
		key = p.word()
	}
	if key == "" || key == "this" || key == "formula" || p.peek() == "(" || strings.ContainsAny(key[:1], "0123456789") {
		p.at = from
		return nil, p.fail(fmt.Sprintf("%q is not supported", strings.TrimSpace(p.src[from:])))
	}
	for {
		if inList && p.take(")") {
			inList, list = false, true
		}
		at := p.at
		if mark := p.peek(); mark != "." && mark != "[" {
			break
		}
		name := ""
		if p.take("[") {
			v, kind, err := p.literal()
			if err != nil || kind != Text || !p.take("]") {
				return nil, p.fail("an index is not supported")
			}
			name = v
		} else {
			p.at++
			name = p.word()
		}
		switch {
		case p.peek() == "(" && !inList:
			p.at++
			return p.call(key, name, list)
		case key == "note":
			key = "note." + name
		case key == "file" && slices.Contains(fileFields, name):
			key = "file." + name
		default:
			p.at = at
			return nil, p.fail(fmt.Sprintf("%s.%s is not supported", key, name))
		}
	}
	if op := p.peek(); inList || list {
		return nil, p.fail(fmt.Sprintf("%q after list( is not supported", op))
	}
	op := p.peek()
	if !slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="}, op) {
		return p.term(key, "true", "", Text), nil
	}
	p.at += len(op)
	v, kind, err := p.literal()
	if err != nil {
		return nil, err
	}
	if op == "!=" {
		return &Expr{Not: p.term(key, "==", v, kind)}, nil
	}
	return p.term(key, op, v, kind), nil
}

// term makes a term about a property. A key without a prefix is a property of the note.
func (p *statement) term(key, op, v string, kind Literal) *Expr {
	if !strings.HasPrefix(key, "file.") && !strings.HasPrefix(key, "note.") {
		key = "note." + key
	}
	return &Expr{Term: &Term{Name: "statement", Key: key, Op: op, Value: v, Literal: kind, At: 1}}
}

// call parses the arguments of a function and makes its terms.
func (p *statement) call(key, method string, list bool) (*Expr, error) {
	at := p.at
	var terms []*Expr
	for !p.take(")") {
		v, kind, err := p.literal()
		if err != nil {
			return nil, err
		}
		e := p.term(key, method, v, kind)
		switch {
		case key == "file" && method == "hasTag":
			e.Term = &Term{Name: "tag", Value: v, At: 1}
		case key == "file" && method == "hasProperty":
			e = p.term("note."+v, "has", "", Text)
		case key == "file":
			e = p.term("file.path", method, v, kind)
		case strings.HasPrefix(method, "contains"):
			e.Term.Op, e.Term.List = "contains", list
		}
		if terms = append(terms, e); p.peek() != ")" && !p.take(",") {
			return nil, p.fail("a parenthesis is not closed")
		}
	}
	known := []string{"contains", "containsAny", "containsAll", "startsWith", "endsWith", "isEmpty"}
	if key == "file" {
		known = []string{"hasTag", "hasLink", "hasProperty", "inFolder"}
	}
	if !slices.Contains(known, method) || p.peek() == "." {
		p.at = at
		return nil, p.fail(fmt.Sprintf("the function %s() is not supported", method))
	}
	switch {
	case method == "isEmpty":
		return p.term(key, method, "", Text), nil
	case len(terms) == 0:
		return nil, p.fail(method + "() needs a value")
	case method == "containsAll":
		return &Expr{All: terms}, nil
	}
	return &Expr{Any: terms}, nil
}

// literal parses a value: a text, a number, true, false, null, link("…"), or date("…"),
// today() or now(), to which a duration may be added.
func (p *statement) literal() (v string, kind Literal, err error) {
	if q := p.peek(); q == `"` || q == "'" {
		rest := p.src[p.at+1:]
		for i := 0; i < len(rest); i++ {
			switch {
			case rest[i] == q[0]:
				p.at += i + 2
				return v, Text, nil
			case rest[i] == '\\' && i+1 < len(rest):
				i++
			}
			v += rest[i : i+1]
		}
		return "", 0, p.fail("a quote is not closed")
	}
	from := p.at
	minus := p.take("-")
	v = p.word()
	if _, number := ReadNumber(v); number {
		if p.peek() == "." {
			p.at++
			v += "." + p.word()
		}
		if minus {
			v = "-" + v
		}
		return v, Number, nil
	}
	switch v {
	case "true", "false":
		return v, Bool, nil
	case "null":
		return v, Null, nil
	case "date", "link", "today", "now":
		arg := ""
		if p.take("(") && !p.take(")") {
			if arg, _, err = p.literal(); err != nil || !p.take(")") {
				return "", 0, p.fail(v + "() takes a text")
			}
		}
		if v == "link" {
			return strings.TrimSuffix(strings.TrimPrefix(arg, "[["), "]]"), Link, nil
		}
		return p.date(v, arg)
	case "this":
		return p.this()
	}
	p.at = from
	return "", 0, p.fail(fmt.Sprintf("%q is not supported as a value", strings.TrimSpace(p.src[from:])))
}

// this parses the rest of an expression after "this", the file that shows the base.
func (p *statement) this() (string, Literal, error) {
	field := ""
	for p.take(".") {
		if name := p.word(); field != "" || name != "file" {
			field += "." + name
		}
	}
	base := path.Base(p.This)
	switch {
	case p.This == "":
		return "", 0, p.fail("this, the note that shows the base, is not named: write base:\"File.base#View@Note\"; it occurs")
	case field == "":
		return p.This, Link, nil
	case field == ".name":
		return base, Text, nil
	case field == ".basename":
		return strings.TrimSuffix(base, path.Ext(base)), Text, nil
	case field == ".path":
		return p.This, Text, nil
	case field == ".folder":
		return strings.TrimSuffix(strings.TrimSuffix(p.This, base), "/"), Text, nil
	}
	return "", 0, p.fail(fmt.Sprintf("this%s is not supported", field))
}

// moment is the layout of a date in a Term.
const moment = "2006-01-02T15:04:05"

func (p *statement) date(function, arg string) (string, Literal, error) {
	y, m, d := p.Now.Date()
	at := time.Date(y, m, d, 0, 0, 0, 0, time.Local)
	if function == "now" {
		at = p.Now
	} else if function == "date" {
		var ok bool
		if at, _, ok = readDate(strings.ToLower(arg), p.Now); !ok {
			return "", 0, p.fail(fmt.Sprintf("invalid date %q", arg))
		}
	}
	for p.peek() == "+" || p.peek() == "-" {
		sign := 1
		if p.src[p.at] == '-' {
			sign = -1
		}
		p.at++
		text, _, err := p.literal()
		n, unit := 0, ""
		if _, err2 := fmt.Sscanf(strings.ReplaceAll(text, " ", ""), "%d%s", &n, &unit); err != nil || err2 != nil {
			return "", 0, p.fail(fmt.Sprintf("invalid duration %q", text))
		}
		if len(unit) > 1 {
			unit = strings.TrimSuffix(strings.Replace(unit, "month", "M", 1), "s")[:1]
		}
		switch n *= sign; unit {
		case "y":
			at = at.AddDate(n, 0, 0)
		case "M":
			at = at.AddDate(0, n, 0)
		case "w":
			at = at.AddDate(0, 0, 7*n)
		case "d":
			at = at.AddDate(0, 0, n)
		case "h", "m", "s":
			at = at.Add(time.Duration(n) * map[string]time.Duration{"h": time.Hour, "m": time.Minute, "s": time.Second}[unit])
		default:
			return "", 0, p.fail(fmt.Sprintf("invalid duration %q", text))
		}
	}
	return at.Format(moment), Date, nil
}

// Holds reports whether values of a property pass a statement's comparison. list is set
// if they are a list, even of one value.
func (t *Term) Holds(values []string, list bool) bool {
	empty := len(values) == 0
	list = list || t.List || t.Op == "contains" && !empty && isLink(values[0]) // contains compares a link as an element, not by its letters
	switch {
	case t.Op == "true":
		return !empty && (list || values[0] != "false" && values[0] != "" && values[0] != "0")
	case t.Op == "isEmpty":
		return empty || !list && values[0] == ""
	case t.Literal == Null:
		return t.Op == "==" && empty && !list
	case t.Op == "contains" && list:
		return slices.ContainsFunc(values, func(v string) bool {
			link := *t
			if link.Literal == Text && isLink(v) { // [[Note]] is equal to "Note" in a list
				link.Literal = Link
			}
			return link.compares("==", v)
		})
	case empty || list:
		return false
	}
	v := values[0]
	switch t.Op {
	case "contains":
		return strings.Contains(v, t.Value)
	case "startsWith":
		return strings.HasPrefix(v, t.Value)
	case "endsWith":
		return strings.HasSuffix(v, t.Value)
	}
	return t.compares(t.Op, v)
}

func (t *Term) compares(op, v string) bool {
	c := Test{op: strings.Replace(op, "==", "=", 1)}
	switch t.Literal {
	case Number:
		x, ok := ReadNumber(v)
		y, _ := ReadNumber(t.Value)
		return ok && c.orders(cmp.Compare(x, y))
	case Date:
		x, ok := ReadDate(v)
		y, _ := time.ParseInLocation(moment, t.Value, time.Local)
		return ok && c.orders(x.Compare(y))
	case Link:
		target, ok := strings.CutPrefix(v, "[[")
		target, _, _ = strings.Cut(strings.TrimSuffix(target, "]]"), "|")
		a, b := linkKey(target), linkKey(t.Value)
		return ok && op == "==" && (strings.HasSuffix(a, b) || strings.HasSuffix(b, a))
	}
	return c.orders(strings.Compare(v, t.Value))
}

func isLink(v string) bool { return strings.HasPrefix(v, "[[") && strings.HasSuffix(v, "]]") }

// linkKey returns the end of the path of a link's target.
func linkKey(target string) string {
	target, _, _ = strings.Cut(target, "#")
	return "/" + strings.ToLower(strings.TrimSuffix(target, ".md"))
}
