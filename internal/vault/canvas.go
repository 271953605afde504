package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// ScanCanvas returns the links in a .canvas file: the files shown by its nodes, the
// background pictures of groups, and the links in the Markdown of text nodes. Spans are
// offsets in the JSON. Invalid JSON is an error.
func ScanCanvas(ctx context.Context, text []byte) ([]Link, error) {
	start := 0
	if bytes.HasPrefix(text, []byte(bom)) {
		start = len(bom)
	}
	c := canvasScanner{text: text[start:]}
	if err := c.run(ctx); err != nil {
		return nil, fmt.Errorf("canvas: %w", err)
	}
	for i := range c.links {
		c.links[i].move(start)
	}
	sortLinks(c.links)
	return c.links, nil
}

type canvasScanner struct {
	text  []byte
	links []Link

	stack []canvasFrame
	node  map[string]decoded // string members of the current node
}

type canvasFrame struct {
	object bool
	key    string
	isKey  bool // the next string in an object is a key
}

// isNodeMember reports whether a string member of a node is needed to find links.
func isNodeMember(key string) bool {
	switch key {
	case "type", "file", "subpath", "background", "text":
		return true
	}
	return false
}

func (c *canvasScanner) run(ctx context.Context) error {
	if !json.Valid(c.text) { // this also limits the depth
		return fmt.Errorf("not valid JSON")
	}
	dec := json.NewDecoder(bytes.NewReader(c.text))
	dec.UseNumber() // 1e400 is valid JSON
	check := int64(0)
	for {
		before := dec.InputOffset()
		if before >= check {
			if check = before + checkEvery; ctx.Err() != nil {
				return ctx.Err()
			}
		}
		tok, err := dec.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := tok.(type) {
		case json.Delim:
			if err := c.delim(ctx, t); err != nil {
				return err
			}
		case string:
			c.str(t, int(before), int(dec.InputOffset()))
		default:
			c.valueDone()
		}
	}
}

func (c *canvasScanner) delim(ctx context.Context, d json.Delim) error {
	switch d {
	case '{', '[':
		c.stack = append(c.stack, canvasFrame{object: d == '{', isKey: d == '{'})
		if c.inNode() {
			c.node = map[string]decoded{}
		}
	default:
		if c.inNode() {
			if err := c.emit(ctx); err != nil {
				return err
			}
		}
		c.stack = c.stack[:len(c.stack)-1]
		c.valueDone()
	}
	return nil
}

// inNode reports whether the innermost object is an element of the top-level array
// "nodes".
func (c *canvasScanner) inNode() bool {
	return len(c.stack) == 3 && c.stack[0].object && c.stack[0].key == "nodes" && !c.stack[1].object && c.stack[2].object
}

func (c *canvasScanner) valueDone() {
	if n := len(c.stack); n > 0 {
		c.stack[n-1].isKey = c.stack[n-1].object
	}
}

func (c *canvasScanner) str(s string, before, end int) {
	if len(c.stack) == 0 {
		return
	}
	top := &c.stack[len(c.stack)-1]
	if top.isKey {
		top.key, top.isKey = s, false
		return
	}
	if c.inNode() && isNodeMember(top.key) {
		at := before + bytes.IndexByte(c.text[before:end], '"')
		c.node[top.key] = decodeJSONString(c.text, at, end)
	}
	c.valueDone()
}

// emit turns the collected members of a node into links.
func (c *canvasScanner) emit(ctx context.Context) error {
	switch string(c.node["type"].text) {
	case "file":
		c.file(c.node["file"], c.node["subpath"])
	case "group":
		c.file(c.node["background"], decoded{})
	case "text":
		d := c.node["text"]
		if len(d.text) == 0 {
			return nil
		}
		var n Note
		if err := n.scanBody(ctx, d.text, 0); err != nil {
			return err
		}
		for i := range n.Links {
			d.relocate(&n.Links[i], jsonString)
		}
		c.links = append(c.links, n.Links...)
	}
	return nil
}

func (c *canvasScanner) file(path, subpath decoded) {
	if len(path.text) == 0 {
		return
	}
	p := path.span(Span{Start: 0, End: len(path.text)})
	l := Link{Kind: CanvasFile, Path: string(path.text), PathSpan: p, Span: p, quote: jsonString,
		SubpathSpan: Span{Start: p.End, End: p.End}, AliasSpan: Span{Start: p.End, End: p.End}}
	l.External = isExternal(l.Path)
	if len(subpath.text) > 0 {
		l.Subpath, l.SubpathSpan = string(subpath.text), subpath.span(Span{Start: 0, End: len(subpath.text)})
	}
	c.links = append(c.links, l)
}

// decodeJSONString decodes the JSON string text[at:end], which is valid and includes the
// quotes.
func decodeJSONString(text []byte, at, end int) decoded {
	var d decoded
	for i := at + 1; i < end-1; i++ {
		if text[i] != '\\' {
			d.add(i, text[i])
			continue
		}
		c := text[i+1]
		switch c {
		case 'u':
			r, n := jsonRune(text[i:end])
			d.add(i, utf8.AppendRune(nil, r)...)
			i += n - 1
			continue
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		}
		d.add(i, c)
		i++
	}
	d.from = append(d.from, end-1)
	return d
}

// jsonRune decodes \uXXXX or a surrogate pair of them.
func jsonRune(s []byte) (rune, int) {
	unit := func(s []byte) rune {
		if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
			return -1
		}
		v, err := strconv.ParseUint(string(s[2:6]), 16, 16)
		if err != nil {
			return -1
		}
		return rune(v)
	}
	first := unit(s)
	if first < 0 {
		return utf8.RuneError, 2
	}
	if utf16.IsSurrogate(first) {
		if r := utf16.DecodeRune(first, unit(s[6:])); r != utf8.RuneError {
			return r, 12
		}
		return utf8.RuneError, 6
	}
	return first, 6
}
