package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"quarry/internal/cli/manual"
	"quarry/internal/config"
)

// configDoc returns the text of docs/CONFIG.md.
func configDoc(top *cobra.Command) string {
	var b strings.Builder
	b.WriteString(`# Configuration

<!-- Generated from the table of keys: go test ./internal/cli -run TestConfigDoc -update -->

Quarry needs no configuration. Flags that you would type each time can be set in ` + "`quarry.toml`" + `, in your
configuration folder: ` + "`$XDG_CONFIG_HOME/quarry`, else `~/.config/quarry` (Linux), `~/Library/Application Support/quarry`\n(macOS), `%APPDATA%\\quarry` (Windows)" + `. ` + "`QUARRY_CONFIG`" + ` names another file; ` + "`--no-config`" + ` ignores the file.

` + "```" + `
quarry config init             # write a file that has every key in a comment
quarry config                  # what is set for this workspace, and where
quarry config search.hidden    # one key, explained
` + "```" + `

` + "```toml" + `
[search]
hidden = true
glob = ["!vendor/**"]

[mcp]
read-only = true

[root."~/notes".mcp]           # in this folder and below
profile = "vault"
read-only = false
` + "```" + `

A key has the name of a flag, in the section of its command. If several places set it, the first of these wins:

1. the flag on the command line
2. the environment: ` + "`QUARRY_SEARCH_HIDDEN=true`" + ` is ` + "`search.hidden`" + `; the items of a list are separated by commas
3. the section of the folder, ` + "`[root.\"/path\"]`" + `; if several contain the workspace, the deepest
4. the rest of the file
5. the default

A ` + "`quarry.toml`" + ` in a workspace is never read, so no repository can choose what agents may see or change.

A flag also wins over keys that contradict it: ` + "`-s`" + ` on the command line over ` + "`smart-case`" + ` in the file.

If the file has a mistake, every command but ` + "`help`, `config`, `doctor`, `man` and `completion`" + ` refuses to start and names
the line and the key. ` + "`quarry doctor`" + ` gives the command that repairs it.

The last column names the commands that have the key as a flag.
`)
	for _, section := range config.Sections() {
		fmt.Fprintf(&b, "\n## %s\n\nFor %s.\n\n| key | takes | default | meaning | flag of |\n|---|---|---|---|---|\n", section, manual.SectionTexts[section])
		for _, k := range config.Keys() {
			if k.Section == section {
				writeKeyRow(&b, top, &k)
			}
		}
	}
	return b.String()
}

func writeKeyRow(b *strings.Builder, top *cobra.Command, k *config.Key) {
	takes := k.Kind.String()
	if len(k.Choices) > 0 {
		takes = "`" + strings.Join(k.Choices, "`, `") + "`"
	}
	def := k.FormatDefault(manual.KeyDefault(top, k))
	if def == `""` || def == "[]" {
		def = ""
	} else {
		def = "`" + def + "`"
	}
	var flags []string
	for _, c := range k.Commands {
		flags = append(flags, "`"+c+"`")
	}
	text := manual.KeyText(top, k)
	if k.With != "" {
		text += "; counts beside `--" + k.With + "`"
	}
	if k.Everywhere {
		text += "; not in the section of a folder"
	}
	fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", k.Path(), takes, def, strings.ReplaceAll(text, "|", `\|`), strings.Join(flags, ", "))
}
