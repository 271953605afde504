package printing

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

// Links turns paths into terminal hyperlinks; the zero value leaves them unchanged.
type Links struct {
	format string
	host   string
	dir    string // the current folder, to resolve relative paths
}

// linkFormats maps names of programs to their formats.
var linkFormats = map[string]string{
	"none": "", "": "",
	"default": "file://{host}{path}", "file": "file://{host}{path}",
	"grep+":  "grep+://{path}:{line}",
	"kitty":  "file://{host}{path}#{line}",
	"macvim": "mvim://open?url=file://{path}&line={line}&column={column}",
	"vscode": "vscode://file{path}:{line}:{column}", "vscode-insiders": "vscode-insiders://file{path}:{line}:{column}",
	"vscodium": "vscodium://file{path}:{line}:{column}", "cursor": "cursor://file{path}:{line}:{column}",
	"textmate": "txmt://open?url=file://{path}&line={line}&column={column}",
}

// NewLinks parses a format, which is a name in linkFormats or a URL with {path}, {host}, {line} and
// {column}.
func NewLinks(format, host, dir string) (Links, error) {
	if known, ok := linkFormats[format]; ok {
		format = known
	}
	if format == "" {
		return Links{}, nil
	}
	rest := strings.NewReplacer("{path}", "", "{host}", "", "{line}", "", "{column}", "", "{wslprefix}", "").Replace(format)
	switch {
	case strings.ContainsAny(rest, "{}"):
		return Links{}, fmt.Errorf("--hyperlink-format %q: it may contain only {path}, {host}, {line} and {column}", format)
	case !strings.Contains(format, "{path}"):
		return Links{}, fmt.Errorf("--hyperlink-format %q: {path} is missing", format)
	case !strings.Contains(format, "://"):
		return Links{}, fmt.Errorf("--hyperlink-format %q: it begins with a scheme, as file://", format)
	case strings.Contains(format, "{column}") && !strings.Contains(format, "{line}"):
		return Links{}, fmt.Errorf("--hyperlink-format %q: {column} needs {line}", format)
	}
	return Links{format, host, dir}, nil
}

// on reports whether paths become links.
func (l *Links) on() bool { return l.format != "" }

// open returns the escape sequence before the text of a link; close returns the one after it.
func (l *Links) open(path string, line, column int) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.dir, path)
	}
	u := url.URL{Path: filepath.ToSlash(path)}
	return "\x1b]8;;" + strings.NewReplacer("{path}", u.EscapedPath(), "{host}", l.host, "{wslprefix}", "",
		"{line}", strconv.Itoa(max(line, 1)), "{column}", strconv.Itoa(max(column, 1))).Replace(l.format) + "\x1b\\"
}

const closeLink = "\x1b]8;;\x1b\\"
