package page

import (
	"fmt"
	"slices"
	"strings"
)

// editor opens a file at a line through an address that the system hands to
// it.
type editor struct {
	Name string `json:"name"`
	// Address has {path} and {line} in it; "" opens nothing.
	Address string `json:"address"`
}

// editors are known by name, as in their own documentation.
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

// Editors lists the names that Options.Editor knows.
func Editors() []string {
	var names []string
	for _, e := range editors {
		names = append(names, e.key)
	}
	return names
}

func editorFor(given string) (editor, error) {
	if given == "" {
		given = "vscode"
	}
	for _, e := range editors {
		if e.key == given {
			return editor{e.name, e.address}, nil
		}
	}
	scheme, _, found := strings.Cut(given, ":")
	if !found || !strings.Contains(given, "{path}") {
		return editor{}, fmt.Errorf("unknown editor %q: use %s, or an address with {path} and {line} in it", given, strings.Join(Editors(), ", "))
	}
	// These would run or load something in the page's place.
	if slices.Contains([]string{"javascript", "data", "http", "https", "blob", "file", "vbscript"}, strings.ToLower(strings.TrimSpace(scheme))) {
		return editor{}, fmt.Errorf("invalid editor %q: the address has to begin with the editor's own scheme", given)
	}
	return editor{scheme, given}, nil
}
