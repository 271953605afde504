package page

import (
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"quarry/search"
)

const (
	maxRendered = 128 << 10 // bytes of Markdown: link definitions take the parser quadratic time
	maxElements = 50_000
	maxNested   = 50 // nesting depth, and quotes and lists opened in one line
	maxImage    = 20 << 20
)

// element is a tag, its attributes and its children, which are elements or texts. The page creates
// only elements with allowed tags. The browser never parses markup from a file, so raw HTML is
// shown as text.
type element []any

var markdown = sync.OnceValue(func() goldmark.Markdown { return goldmark.New(goldmark.WithExtensions(extension.GFM)) })

// rendered returns a Markdown file as elements. Links lead to files of the workspace or, if
// clicked, to other places. Images on other servers become links.
func (s *Server) rendered(w http.ResponseWriter, r *http.Request) (any, error) {
	file := pathOf(r.URL.Query().Get("path"))
	t, err := s.ws.Read(r.Context(), file, &search.ReadOptions{MaxBytes: maxRendered})
	if err != nil {
		return nil, err
	}
	top := element{"article", nil}
	lines := t.Lines
	if n := frontMatter(lines); n > 0 {
		top = append(top, element{"pre", nil, strings.Join(lines[1:n-1], "\n")})
		lines = lines[n:]
	}
	for i, l := range lines {
		// Nested quotes and lists take the parser quadratic time: 48 s for 100,000.
		if opened(l) > maxNested {
			return nil, badRequest("line " + strconv.Itoa(t.Total-len(lines)+i+1) + " is nested too deeply to be rendered")
		}
	}
	src := []byte(strings.Join(lines, "\n"))
	m := renderer{src: src, dir: path.Dir(t.Path), left: maxElements}
	top = append(top, m.children(markdown().Parser().Parse(text.NewReader(src)))...)
	return map[string]any{"version": t.Version, "cut": t.Cut || m.left <= 0, "content": top}, nil
}

// frontMatter returns the number of lines in the properties at the top, including the delimiters.
func frontMatter(lines []string) int {
	if len(lines) == 0 || lines[0] != "---" {
		return 0
	}
	for i, l := range lines[1:] {
		if l == "---" {
			return i + 2
		}
	}
	return 0
}

// opened returns the number of quotes and list items that begin at the start of a line.
func opened(line string) int {
	n := 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '>', strings.IndexByte("-+*.)", c) >= 0 && i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t'):
			n++
		case c != ' ' && c != '\t' && (c < '0' || c > '9'):
			return n
		}
	}
	return n
}

type renderer struct {
	src   []byte
	dir   string // folder of the file
	left  int    // number of elements that may still be created
	depth int
}

func (m *renderer) children(n ast.Node) []any {
	if m.depth++; m.depth > maxNested {
		m.left = 0
	}
	defer func() { m.depth-- }()
	var list []any
	for c := n.FirstChild(); c != nil && m.left > 0; c = c.NextSibling() {
		m.left--
		list = append(list, m.node(c)...)
	}
	return list
}

func (m *renderer) el(tag string, attrs map[string]string, n ast.Node) []any {
	return []any{append(element{tag, attrs}, m.children(n)...)}
}

func (m *renderer) node(n ast.Node) []any {
	switch n := n.(type) {
	case *ast.Heading:
		return m.el("h"+strconv.Itoa(n.Level), nil, n)
	case *ast.Paragraph:
		return m.el("p", nil, n)
	case *ast.Blockquote:
		return m.el("blockquote", nil, n)
	case *ast.ThematicBreak:
		return []any{element{"hr", nil}}
	case *ast.List:
		if n.IsOrdered() {
			return m.el("ol", map[string]string{"start": strconv.Itoa(n.Start)}, n)
		}
		return m.el("ul", nil, n)
	case *ast.ListItem:
		return m.el("li", nil, n)
	case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.HTMLBlock:
		return []any{element{"pre", nil, string(n.Lines().Value(m.src))}}
	case *ast.CodeSpan:
		return m.el("code", nil, n)
	case *ast.Emphasis:
		return m.el([]string{"em", "strong"}[min(n.Level, 2)-1], nil, n)
	case *east.Strikethrough:
		return m.el("del", nil, n)
	case *ast.Link:
		return m.el("a", m.target(string(n.Destination)), n)
	case *ast.AutoLink:
		return []any{element{"a", m.target(string(n.URL(m.src))), string(n.Label(m.src))}}
	case *ast.Image:
		return m.image(n)
	case *ast.Text:
		switch s := string(n.Value(m.src)); {
		case n.HardLineBreak():
			return []any{s, element{"br", nil}}
		case n.SoftLineBreak():
			return []any{s + "\n"}
		default:
			return []any{s}
		}
	case *ast.String:
		return []any{string(n.Value)}
	case *ast.RawHTML:
		return []any{string(n.Segments.Value(m.src))}
	case *east.TaskCheckBox:
		if n.IsChecked {
			return []any{"☑ "}
		}
		return []any{"☐ "}
	case *east.Table:
		return m.el("table", nil, n)
	case *east.TableHeader:
		return m.el("tr", nil, n)
	case *east.TableRow:
		return m.el("tr", nil, n)
	case *east.TableCell:
		if _, head := n.Parent().(*east.TableHeader); head {
			return m.el("th", nil, n)
		}
		return m.el("td", nil, n)
	default: // a text block, or a container without an element of its own
		return m.children(n)
	}
}

// target returns the destination of a link as an attribute: "file" in the workspace, or "href"
// elsewhere. For other schemes there is none, and only the link's text is shown.
func (m *renderer) target(to string) map[string]string {
	u, err := url.Parse(to)
	switch {
	case err != nil || u.Opaque != "" && u.Scheme != "mailto":
		return nil
	case u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "mailto":
		return map[string]string{"href": u.String()}
	case u.Scheme != "" || u.Host != "" || u.Path == "":
		return nil
	}
	p := path.Join(m.dir, u.Path)
	if strings.HasPrefix(u.Path, "/") {
		p = path.Clean(u.Path[1:])
	}
	if p == ".." || strings.HasPrefix(p, "../") {
		return nil
	}
	return map[string]string{"file": pathID(p)}
}

func (m *renderer) image(n *ast.Image) []any {
	alt := m.children(n)
	to := m.target(string(n.Destination))
	if to["file"] == "" {
		return []any{append(element{"a", to, "image: "}, alt...)}
	}
	return []any{append(element{"img", to}, alt...)}
}

// imageTypes lists the types of images that the page shows. They are types for which browsers run
// no scripts and load nothing else.
var imageTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".avif": "image/avif", ".bmp": "image/bmp", ".ico": "image/x-icon", ".svg": "image/svg+xml",
}

// image sends an image. Its type follows from the file name, which may be wrong. So if the browser
// opens the image as a page of its own, it does so in a sandbox without scripts.
func (s *Server) image(w http.ResponseWriter, r *http.Request) {
	file := pathOf(r.URL.Query().Get("path"))
	kind := imageTypes[strings.ToLower(path.Ext(file))]
	if kind == "" {
		fail(w, badRequest("the page shows no images of this type"))
		return
	}
	data, err := s.ws.ReadBytes(r.Context(), file, maxImage)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(data)
}
