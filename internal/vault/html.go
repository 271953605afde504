package vault

import (
	"bytes"
	"slices"
	"strings"
)

// htmlKind is a kind of HTML block. It determines where the block ends.
type htmlKind uint8

const (
	noHTML   htmlKind = iota
	htmlRaw           // <script>, <pre>, <style>, <textarea>: ends at the closing tag
	htmlNote          // <!-- ends at -->
	htmlInfo          // <? ends at ?>
	htmlDecl          // <!X ends at >
	htmlData          // <![CDATA[ ends at ]]>
	// The following kinds end at a blank line. Their text is not Markdown, but links in
	// it are updated: if the block is an element inside a paragraph, Obsidian shows them
	// as links, and rewriting a link in text that isn't rendered does no harm.
	htmlBlock // a tag of htmlNames
	htmlAlone // any other tag, alone on its line
)

var htmlRawNames = []string{"script", "pre", "style", "textarea"}

// htmlNames are the elements that begin a block (CommonMark 0.31, kind 6).
var htmlNames = strings.Fields(`address article aside base basefont blockquote body caption center col colgroup dd
	details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr
	html iframe legend li link main menu menuitem nav noframes ol optgroup option p param search section summary table
	tbody td tfoot th thead title tr track ul`)

// startsHTML returns the kind of HTML block that a line begins, ignoring indentation.
// outside is set outside a paragraph: only there a tag in none of the lists begins a
// block.
func startsHTML(s []byte, outside bool) htmlKind {
	switch {
	case bytes.HasPrefix(s, []byte("<!--")):
		return htmlNote
	case bytes.HasPrefix(s, []byte("<?")):
		return htmlInfo
	case bytes.HasPrefix(s, []byte("<![CDATA[")):
		return htmlData
	case len(s) > 2 && s[1] == '!' && isLetter(s[2]):
		return htmlDecl
	}
	rest := s[1:]
	closing := len(rest) > 0 && rest[0] == '/'
	if closing {
		rest = rest[1:]
	}
	n := 0
	for n < len(rest) && (isLetter(rest[n]) || n > 0 && ('0' <= rest[n] && rest[n] <= '9' || rest[n] == '-')) {
		n++
	}
	name, after := strings.ToLower(string(rest[:n])), rest[n:]
	ends := len(after) == 0 || after[0] == ' ' || after[0] == '\t' || after[0] == '>'
	switch {
	case n == 0:
		return noHTML
	case slices.Contains(htmlRawNames, name):
		if ends && !closing {
			return htmlRaw
		}
	case slices.Contains(htmlNames, name) && (ends || bytes.HasPrefix(after, []byte("/>"))):
		return htmlBlock
	}
	if outside && !slices.Contains(htmlRawNames, name) {
		if w := htmlTag(s); w > 0 && len(bytes.TrimSpace(s[w:])) == 0 {
			return htmlAlone
		}
	}
	return noHTML
}

// htmlLine processes a line of an HTML block, possibly its last.
func (b *blockScanner) htmlLine(at, end, next int) {
	line := b.text[at:end]
	closed := -1
	switch b.html {
	case htmlRaw:
		lower := bytes.ToLower(line)
		for _, name := range htmlRawNames {
			if i := bytes.Index(lower, []byte("</"+name+">")); i >= 0 {
				closed = max(closed, i+len(name)+3)
			}
		}
	case htmlNote:
		closed = indexAfter(line, "-->")
	case htmlInfo:
		closed = indexAfter(line, "?>")
	case htmlDecl:
		closed = indexAfter(line, ">")
	case htmlData:
		closed = indexAfter(line, "]]>")
	default:
		b.para = append(b.para, Span{Start: at, End: next})
		return
	}
	if closed < 0 {
		return
	}
	if len(bytes.TrimSpace(line[closed:])) > 0 {
		b.para = append(b.para, Span{Start: at + closed, End: next})
	}
	b.closeLeaf()
}

func indexAfter(s []byte, mark string) int {
	if i := bytes.Index(s, []byte(mark)); i >= 0 {
		return i + len(mark)
	}
	return -1
}

// htmlTag returns the length of the tag at the start of s, or 0. A tag is <name
// attributes>, <name/>, or </name>.
func htmlTag(s []byte) int {
	i := 1
	closing := i < len(s) && s[i] == '/'
	if closing {
		i++
	}
	name := i
	for i < len(s) && (isLetter(s[i]) || i > name && (s[i] == '-' || '0' <= s[i] && s[i] <= '9')) {
		i++
	}
	if i == name {
		return 0
	}
	for {
		gap := skipBlank(s, i)
		if gap < len(s) && s[gap] == '>' {
			return gap + 1
		}
		if closing {
			return 0
		}
		if bytes.HasPrefix(s[gap:], []byte("/>")) {
			return gap + 2
		}
		if gap == i {
			return 0
		}
		if i = htmlAttribute(s, gap); i < 0 {
			return 0
		}
	}
}

// htmlAttribute returns the offset after the attribute at i, or -1 if there is none.
func htmlAttribute(s []byte, i int) int {
	if i >= len(s) || !isLetter(s[i]) && s[i] != '_' && s[i] != ':' {
		return -1
	}
	for i < len(s) && (isLetter(s[i]) || '0' <= s[i] && s[i] <= '9' || bytes.IndexByte([]byte("_.:-"), s[i]) >= 0) {
		i++
	}
	eq := skipBlank(s, i)
	if eq >= len(s) || s[eq] != '=' {
		return i
	}
	v := skipBlank(s, eq+1)
	if v >= len(s) {
		return -1
	}
	if s[v] == '"' || s[v] == '\'' {
		j := bytes.IndexByte(s[v+1:], s[v])
		if j < 0 {
			return -1
		}
		return v + 1 + j + 1
	}
	start := v
	for v < len(s) && !isBlank(s[v]) && bytes.IndexByte([]byte("\"'=<>`"), s[v]) < 0 {
		v++
	}
	if v == start {
		return -1
	}
	return v
}
