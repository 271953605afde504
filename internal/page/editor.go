package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// editor opens a file at a line by means of an address that the system passes to the editor.
type editor struct {
	Name string `json:"name"`
	// Address contains {path} and {line}; "" means that no editor is opened.
	Address string `json:"address"`
}

// editors lists known editors; the addresses are from their documentation.
var editors = []struct{ key, name, address string }{
	{"vscode", "VS Code", "vscode://file{path}:{line}"},
	{"vscodium", "VSCodium", "vscodium://file{path}:{line}"},
	{"cursor", "Cursor", "cursor://file{path}:{line}"},
	{"windsurf", "Windsurf", "windsurf://file{path}:{line}"},
	{"zed", "Zed", "zed://file{path}:{line}"},
	{"idea", "IntelliJ IDEA", "idea://open?file={path}&line={line}"},
	{"sublime", "Sublime Text", "subl://open?url=file://{path}&line={line}"},
	{"none", "", ""},
}

// Editors returns the names accepted by Options.Editor.
func Editors() []string {
	var names []string
	for _, e := range editors {
		names = append(names, e.key)
	}
	return names
}

func editorFor(given string) (editor, error) {
	given = cmp.Or(given, "vscode")
	for _, e := range editors {
		if e.key == given {
			return editor{e.name, e.address}, nil
		}
	}
	scheme, _, found := strings.Cut(given, ":")
	if !found || !strings.Contains(given, "{path}") {
		return editor{}, fmt.Errorf("unknown editor %q: use %s, or an address with {path} and {line} in it", given, strings.Join(Editors(), ", "))
	}
	// These schemes would replace the page or run a script in it.
	if slices.Contains([]string{"javascript", "data", "http", "https", "blob", "file", "vbscript"}, strings.ToLower(strings.TrimSpace(scheme))) {
		return editor{}, fmt.Errorf("invalid editor %q: the address has to begin with the editor's own scheme", given)
	}
	return editor{scheme, given}, nil
}
