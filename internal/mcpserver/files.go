package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"quarry/fault"
	"quarry/tool"
)

// maxCompletions is the protocol's limit.
const maxCompletions = 100

// Root is a folder that serves its files as resources.
type Root struct {
	Name  string // "" if it is the only one
	Dir   string // absolute path: the URI of a file is file://Dir/path
	Files Files
}

// Files are the files of a root that a client may see. Paths are relative and use
// slashes. A refusal is a *tool.Error.
type Files interface {
	// Read returns a file's content.
	Read(ctx context.Context, path string) (*Content, error)
	// Complete returns at most n files and folders whose paths begin with prefix,
	// folders with a trailing slash, and whether there are more.
	Complete(ctx context.Context, prefix string, n int) (paths []string, more bool, err error)
}

// Content is a file's content: text, or Blob if it isn't text.
type Content struct {
	Text string
	Blob []byte
}

// files serves the resources of a server.
type files struct {
	roots   []fileRoot
	reading *shares // limits answers with a file that are being made or written
}

// maxReads limits the files in memory: each may have megabytes, and stays until the
// client takes the answer. One client may use half of them.
const maxReads = 16

type fileRoot struct {
	Root
	uriPath  string // decoded, without a trailing slash
	template string // URI template of its files
}

func newFiles(roots []Root) (*files, error) {
	f := &files{reading: newShares(maxReads)}
	for _, r := range roots {
		if !filepath.IsAbs(r.Dir) || r.Files == nil {
			return nil, fmt.Errorf("root %q: %q is not an absolute path, or has no files", r.Name, r.Dir)
		}
		p := filepath.ToSlash(r.Dir)
		if !strings.HasPrefix(p, "/") {
			p = "/" + p // C:/work
		}
		p = strings.TrimSuffix(p, "/")
		f.roots = append(f.roots, fileRoot{r, p, fileURI(p) + "/{+path}"})
	}
	return f, nil
}

// fileURI returns the URI of a path with only the characters that are allowed in literals
// of a URI template.
func fileURI(p string) string {
	u := url.URL{Scheme: "file", Path: p}
	return strings.NewReplacer("!", "%21", "'", "%27", "(", "%28", ")", "%29", "*", "%2A").Replace(u.String())
}

func (f *files) templates() []*mcp.ResourceTemplate {
	var list []*mcp.ResourceTemplate
	for _, r := range f.roots {
		name, what := "files", "A file of the workspace"
		if r.Name != "" {
			name, what = "files of "+r.Name, "A file of the root "+r.Name
		}
		list = append(list, &mcp.ResourceTemplate{
			Name: name, Title: what, URITemplate: r.template,
			Description: what + ", by its path from the root.",
		})
	}
	return list
}

// normalize rewrites the URI of resources/read to the form of the templates.
// resources/list stays empty: clients request all its pages at their start, which took 20 s
// in a large tree, and the templates reach every file.
func (f *files) normalize(req mcp.Request) {
	if req, ok := req.(*mcp.ReadResourceRequest); ok {
		if r, rel, ok := f.locate(req.Params.URI); ok {
			req.Params.URI = fileURI(r.uriPath + "/" + rel)
		}
	}
}

// locate returns the root and the path for a URI.
func (f *files) locate(uri string) (root *fileRoot, rel string, ok bool) {
	full, ok := filePath(uri)
	if !ok {
		return nil, "", false
	}
	for i := range f.roots {
		r := &f.roots[i]
		n := len(r.uriPath)
		if len(full) <= n || full[n] != '/' || !samePath(full[:n], r.uriPath) {
			continue
		}
		if root == nil || n > len(root.uriPath) {
			root, rel = r, full[n+1:]
		}
	}
	return root, rel, root != nil
}

// filePath returns the path in a file's URI, with slashes. On Windows a host is a network
// share. Malformed URIs that some programs make by joining file:// and a path, such as
// file://C:\work\a.txt, are accepted.
func filePath(uri string) (string, bool) {
	if runtime.GOOS == "windows" {
		uri = strings.ReplaceAll(uri, `\`, "/")
	}
	u, err := url.Parse(uri)
	switch {
	case err != nil || u.Scheme != "file":
		return "", false
	case u.Host == "" || u.Host == "localhost":
		return u.Path, true
	case runtime.GOOS != "windows":
		return "", false
	case len(u.Host) == 2 && u.Host[1] == ':':
		return "/" + u.Host + u.Path, true
	}
	return "//" + u.Host + u.Path, true
}

func samePath(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// read is the handler of every template.
func (f *files) read(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	root, rel, ok := f.locate(uri)
	if !ok {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	if err := f.reading.take(ctx, req.Session.ID(), 1); err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { f.reading.give(req.Session.ID(), 1) }) // the SDK cancels it once the answer is written
	content, err := root.Files.Read(ctx, rel)
	if err != nil {
		return nil, resourceError(uri, err)
	}
	c := &mcp.ResourceContents{URI: uri, MIMEType: mimeType(rel, content), Text: content.Text, Blob: content.Blob}
	if c.Text == "" && c.Blob == nil {
		c.Blob = []byte{} // an empty file; without text and blob the answer would be invalid
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
}

func resourceError(uri string, err error) error {
	var e *tool.Error
	if !errors.As(err, &e) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	if e.Code == fault.NotFound {
		return mcp.ResourceNotFoundError(uri)
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: e.Message}
}

// mimeTypes maps file extensions. The system's own tables differ between machines, and
// have .ts as a video type.
var mimeTypes = map[string]string{
	".md": "text/markdown", ".markdown": "text/markdown", ".json": "application/json", ".html": "text/html", ".htm": "text/html",
	".css": "text/css", ".csv": "text/csv", ".xml": "application/xml", ".svg": "image/svg+xml",

	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".avif": "image/avif",
	".bmp": "image/bmp", ".ico": "image/x-icon", ".tif": "image/tiff", ".tiff": "image/tiff", ".heic": "image/heic",
	".pdf": "application/pdf", ".zip": "application/zip", ".gz": "application/gzip", ".wasm": "application/wasm",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg", ".flac": "audio/flac", ".m4a": "audio/mp4",
	".mp4": "video/mp4", ".webm": "video/webm", ".mov": "video/quicktime",
	".woff": "font/woff", ".woff2": "font/woff2", ".ttf": "font/ttf", ".otf": "font/otf",
}

// binaryType reports whether a type's content isn't text.
func binaryType(t string) bool {
	return !strings.HasPrefix(t, "text/") && t != "image/svg+xml" && t != "application/json" && t != "application/xml"
}

// mimeType derives the type from the name, if the content doesn't contradict it. nil
// content is unknown.
func mimeType(name string, c *Content) string {
	known := mimeTypes[strings.ToLower(path.Ext(name))]
	switch {
	case c == nil && known != "":
		return known
	case c == nil:
		return "text/plain"
	case c.Blob != nil && known != "" && binaryType(known):
		return known
	case c.Blob != nil:
		if t := http.DetectContentType(c.Blob); !strings.HasPrefix(t, "text/") {
			return t
		}
		return "application/octet-stream"
	case known != "" && !binaryType(known):
		return known
	}
	return "text/plain"
}

// complete completes the path of a template.
func (s *Server) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	res := &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}
	i := slices.IndexFunc(s.files.roots, func(r fileRoot) bool { return r.template == req.Params.Ref.URI })
	if req.Params.Ref.Type != "ref/resource" || i < 0 || req.Params.Argument.Name != "path" {
		return res, nil
	}
	prefix := req.Params.Argument.Value
	paths, more, err := s.files.roots[i].Files.Complete(ctx, prefix, maxCompletions)
	if err != nil {
		s.log.Debug("completion failed", "prefix", prefix, "error", err)
		return res, nil // no completions are not an error
	}
	if len(paths) > maxCompletions {
		paths, more = paths[:maxCompletions], true
	}
	res.Completion.Values = append(res.Completion.Values, paths...)
	res.Completion.HasMore = more
	return res, nil
}
