package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"quarry/internal/cli/printing"
	"quarry/internal/config"
)

// sectionTexts say what a section is about.
var sectionTexts = map[string]string{
	"search":  "quarry search",
	"find":    "quarry find",
	"change":  "quarry edit, write, mkdir, mv, rm, note and undo",
	"log":     "quarry log",
	"index":   "quarry serve and quarry index",
	"mcp":     "what agents get: quarry mcp, call and tools",
	"remote":  "repositories on servers: quarry search, find, read, mcp and call",
	"ui":      "the local page: quarry ui",
	"review":  "changes that wait for a person: quarry mcp --review",
	"journal": "the undo log",
}

// configExample is the file that quarry config init writes: valid, and nothing
// in it set.
func configExample(top *cobra.Command) string {
	var b strings.Builder
	b.WriteString(`# Configuration of Quarry. Every key stands here with an example; take the # in
# front of a line away to set it. "quarry config" shows what counts and where it
# comes from, "quarry config KEY" explains a key.
#
# A flag goes before the environment (search.hidden is QUARRY_SEARCH_HIDDEN),
# that before the section of a folder, that before the rest of the file.
`)
	for _, section := range config.Sections() {
		fmt.Fprintf(&b, "\n[%s] # %s\n", section, sectionTexts[section])
		for _, k := range config.Keys() {
			if k.Section == section {
				fmt.Fprintf(&b, "%s#%s = %s\n", printing.Wrap(keyText(top, &k), "# "), k.Name, keyExample(top, &k))
			}
		}
	}
	b.WriteString(`
# What counts in one folder and below it only.
#[root."~/notes"]
#mcp.profile = "vault"
#search.type = "markdown"
`)
	return b.String()
}
