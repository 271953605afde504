package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"quarry/internal/cli/manual"
	"quarry/internal/config"
)

// configDoc is docs/CONFIG.md.
func configDoc(top *cobra.Command) string {
	var b strings.Builder
	b.WriteString(`# Configuration

<!-- Generated from the table of keys: go test ./internal/cli -run TestConfigDoc -update -->

Quarry needs no configuration. What you would type each time can stand in ` + "`quarry.toml`" + `, in the user's
configuration folder: ` + "`$XDG_CONFIG_HOME/quarry`, else `~/.config/quarry` (Linux), `~/Library/Application Support/quarry`\n(macOS), `%APPDATA%\\quarry` (Windows)" + `. ` + "`QUARRY_CONFIG`" + ` names another file; ` + "`--no-config`" + ` leaves the file out.

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

A key has the name of a flag and stands in the section of its command. What goes before what:

1. the flag on the command line
2. the environment: ` + "`QUARRY_SEARCH_HIDDEN=true`" + ` is ` + "`search.hidden`" + `; the items of a list are separated by commas
3. the section of the folder, ` + "`[root.\"/path\"]`" + `; of several that hold the workspace, the deepest
4. the rest of the file
5. the default

Only this one file counts, which is yours: a ` + "`quarry.toml`" + ` in a workspace is never read, whoever wrote it, so no
repository can choose what agents may see or change.

Flags that exclude each other do so here: ` + "`-s`" + ` on the command line wins over ` + "`smart-case`" + ` in the file.

A file with a mistake is not used in part: every command but ` + "`help`, `config`, `doctor`, `man` and `completion`" + `
refuses to start, and names the file, the line and the key. ` + "`quarry doctor`" + ` gives the command that repairs it.
`)
	for _, section := range config.Sections() {
		fmt.Fprintf(&b, "\n## %s\n\nFor %s.\n\n| key | takes | default | meaning | flag |\n|---|---|---|---|---|\n", section, manual.SectionTexts[section])
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
	flag := ""
	if len(flags) > 0 {
		flag = fmt.Sprintf("`--%s` of %s", k.Name, strings.Join(flags, ", "))
	}
	text := manual.KeyText(top, k)
	if k.With != "" {
		text += "; counts beside `--" + k.With + "`"
	}
	if k.Everywhere {
		text += "; not in the section of a folder"
	}
	fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", k.Path(), takes, def, strings.ReplaceAll(text, "|", `\|`), flag)
}
