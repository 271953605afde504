package value

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// scalar finds the end of a scalar and its kind.
func (r *yamlReader) scalar(n *yaml.Node, out *Node, inFlow bool) error {
	out.Text, out.Kind, out.form = n.Value, Text, plain
	var ok bool
	switch {
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		out.form = double
		if n.Style&yaml.SingleQuotedStyle != 0 {
			out.form = single
		}
		r.end, ok = quotedEnd(r.text, r.end)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		out.form = literal
		r.end, ok = r.literalEnd(r.end, n)
	default:
		if out.Tag == "" {
			out.Kind = coreKind(n.Value)
		}
		if out.Kind == Null {
			out.Text = ""
		}
		out.Plain = n.Tag == "!!timestamp" && out.Tag == ""
		if inFlow && strings.HasSuffix(n.Value, ":") { // YAML 1.2 reads the key a, YAML 1.1 the text "a:"
			r.d.unsure = "a colon before a comma or a bracket, as in {a:}"
		}
		r.end, ok = plainEnd(r.text, r.end, n.Value)
	}
	if !ok {
		return r.lost(n)
	}
	return nil
}

// quotedEnd returns the end of the quoted scalar at an offset.
func quotedEnd(text []byte, at int) (int, bool) {
	if at >= len(text) || text[at] != '"' && text[at] != '\'' {
		return at, false
	}
	quote := text[at]
	for i := at + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1, true
		}
	}
	return at, false
}

// plainEnd returns the end of a plain scalar. A scalar of several lines is folded: in its
// value, one line break becomes a blank, and n line breaks become n-1 line feeds.
func plainEnd(text []byte, at int, value string) (int, bool) {
	for i := 0; i < len(value); {
		if at >= len(text) {
			return at, false
		}
		breaks, to := 0, at
		for to < len(text) {
			if n := yamlBreak(text[to:]); n > 0 {
				breaks, to = breaks+1, to+n
			} else if text[to] == ' ' || text[to] == '\t' {
				to++
			} else {
				break
			}
		}
		switch {
		case breaks == 1 && value[i] == ' ':
			at, i = to, i+1
		case breaks > 1:
			n := 0
			for i+n < len(value) && yamlBreak([]byte(value[i+n:])) > 0 {
				n += yamlBreak([]byte(value[i+n:]))
			}
			if n == 0 {
				return at, false
			}
			at, i = to, i+n
		case text[at] == value[i]:
			at, i = at+1, i+1
		default:
			return at, false
		}
	}
	return at, true
}

// literalEnd returns the end of the last line of a block scalar that has text. If the scalar
// keeps trailing blank lines, it returns their end.
func (r *yamlReader) literalEnd(at int, n *yaml.Node) (int, bool) {
	head := r.text[at:]
	if i := bytes.IndexAny(head, "\r\n"); i >= 0 {
		head = head[:i]
	}
	if len(head) == 0 || head[0] != '|' && head[0] != '>' {
		return at, false
	}
	keeps := bytes.IndexByte(bytes.SplitN(head, []byte(" "), 2)[0], '+') >= 0
	end := at + len(head)
	next := lineEnd(r.text, end)
	indent := -1
	if i := bytes.IndexAny(head, "123456789 \t#"); i > 0 && head[i] >= '1' && head[i] <= '9' {
		indent = r.indentAbove(at) + int(head[i]-'0')
	}
	for next < len(r.text) {
		to := lineEnd(r.text, next)
		line := bytes.TrimRight(r.text[next:to], "\r\n")
		spaces := len(line) - len(bytes.TrimLeft(line, " "))
		switch {
		case len(bytes.TrimSpace(line)) == 0 && (indent < 0 || spaces < indent || spaces == len(line)):
			if keeps {
				end = next + len(line)
			}
		case indent < 0 && spaces > r.indentAbove(at):
			indent = spaces
			end = next + len(line)
		case indent >= 0 && spaces >= indent:
			end = next + len(line)
		default:
			return end, true
		}
		next = to
	}
	return end, true
}

// indentAbove returns the indentation of a block scalar's key or dash, or -1 at the top level.
// The scalar's lines are indented more than that.
func (r *yamlReader) indentAbove(at int) int {
	start := bytes.LastIndexByte(r.text[:at], '\n') + 1
	start = max(start, r.off)
	line := r.text[start:at]
	rest := bytes.TrimLeft(line, " ")
	deep := len(line) - len(rest)
	if len(rest) == 0 || bytes.HasPrefix(rest, []byte("---")) {
		return -1
	}
	for bytes.HasPrefix(rest, []byte("- ")) { // skip to the last dash, or the key after it
		next := bytes.TrimLeft(rest[1:], " ")
		if len(next) == 0 {
			break
		}
		if next[0] == '&' || next[0] == '!' {
			break
		}
		deep += len(rest) - len(next)
		rest = next
	}
	return deep
}

// coreKind returns the kind of a plain scalar in the core schema of YAML 1.2.
func coreKind(s string) Kind {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return Null
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return Bool
	}
	if yamlNumber().MatchString(s) {
		return Number
	}
	return Text
}

var yamlNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
})

// ambiguous reports whether YAML 1.1 or 1.2 reads an unquoted text as another type. When in
// doubt it returns true: for ports like 8080:80, for numbers with commas, which some parsers
// accept, and for keywords in any case.
func ambiguous(s string) bool {
	switch strings.ToLower(s) {
	case "", "~", "null", "true", "false", "yes", "no", "y", "n", "on", "off", "=", "<<":
		return true
	}
	return (strings.IndexByte("+-.", s[0]) >= 0 || s[0] >= '0' && s[0] <= '9') && notText().MatchString(s)
}

// notText matches texts that are numbers or dates in YAML 1.1 or 1.2.
var notText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:[-+]?(?:[0-9][0-9_,]*(?:\.[0-9_]*)?|\.[0-9_]*)(?:e[-+]?[0-9_]+)?|[-+]?0[box][0-9a-f_]*|[-+]?[0-9][0-9_]*(?::[0-9]+)+(?:\.[0-9_]*)?|[-+]?\.(?:inf|nan)|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[t \t][-+0-9:.,tz \t]*)?)$`)
})

// bareAmbiguous reports whether n contains an unquoted text that YAML 1.1 reads as another
// type, except for texts marked Plain, such as dates in headers.
func (n *Node) bareAmbiguous() bool {
	return n.Kind == Text && n.form == plain && !n.Plain && n.Tag == "" && ambiguous(n.Text) ||
		slices.ContainsFunc(n.Items, (*Node).bareAmbiguous) ||
		slices.ContainsFunc(n.Members, func(m *Member) bool { return m.Value.bareAmbiguous() })
}

// yamlNumbers rewrites numbers so that YAML 1.1 and 1.2 both read them as numbers: 1.1 accepts
// an exponent only with a sign and after a decimal point.
func yamlNumbers(n *Node) *Node {
	out := *n
	if at := strings.IndexAny(n.Text, "eE"); n.Kind == Number && at > 0 {
		digits, exponent := n.Text[:at], n.Text[at+1:]
		if !strings.Contains(digits, ".") {
			digits += ".0"
		}
		if exponent != "" && exponent[0] >= '0' && exponent[0] <= '9' {
			exponent = "+" + exponent
		}
		out.Text = digits + "e" + exponent
	}
	out.Items, out.Members = slices.Clone(n.Items), slices.Clone(n.Members)
	for i, item := range out.Items {
		out.Items[i] = yamlNumbers(item)
	}
	for i, m := range out.Members {
		out.Members[i] = &Member{Key: m.Key, Value: yamlNumbers(m.Value)}
	}
	return &out
}

// yamlCursor converts the lines and columns of YAML nodes to offsets. The parser counts
// columns in characters, and also ends lines at a lone CR, NEL, LS or PS. Positions should be
// looked up in document order: the text is then read once, and a long line takes linear time.
type yamlCursor struct {
	text      []byte
	line, col int // line and column of at, counted from 1
	at        int
}

// seek returns the offset of a position, and false if it doesn't exist.
func (c *yamlCursor) seek(line, col int) (int, bool) {
	if line < c.line || line == c.line && col < c.col {
		c.line, c.col, c.at = 1, 1, 0
	}
	for c.at < len(c.text) && (c.line < line || c.line == line && c.col < col) {
		if n := yamlBreak(c.text[c.at:]); n > 0 {
			if c.line == line {
				break
			}
			c.at, c.line, c.col = c.at+n, c.line+1, 1
			continue
		}
		_, n := utf8.DecodeRune(c.text[c.at:])
		c.at += n
		c.col++
	}
	return c.at, c.line == line && c.col == col
}

// yamlBreak returns the length of the line break at the start of s, or 0 if there is none.
func yamlBreak(s []byte) int {
	switch {
	case bytes.HasPrefix(s, []byte("\r\n")):
		return 2
	case s[0] == '\n' || s[0] == '\r':
		return 1
	case bytes.HasPrefix(s, []byte("\u0085")):
		return 2
	case bytes.HasPrefix(s, []byte("\u2028")) || bytes.HasPrefix(s, []byte("\u2029")):
		return 3
	}
	return 0
}
