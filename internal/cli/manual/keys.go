package manual

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry/internal/cli/printing"
	"quarry/internal/config"
)

// SectionTexts holds the descriptions of the sections of quarry.toml.
var SectionTexts = map[string]string{
	"search":  "quarry search",
	"find":    "quarry find",
	"change":  "quarry edit, replace, patch, write, mkdir, mv, rm, note and undo",
	"log":     "quarry log",
	"index":   "quarry serve and quarry index",
	"mcp":     "what agents get: quarry mcp, call and tools",
	"ui":      "the local page: quarry ui",
	"review":  "changes that wait for a person: quarry mcp --review",
	"journal": "the undo log",
	"record":  "what other programs change",
}

// ConfigExample returns the file that quarry config init writes. It is valid and sets no key.
func ConfigExample(top *cobra.Command) string {
	var b strings.Builder
	b.WriteString(`# Configuration of Quarry. Every key stands here with an example; take the # in
# front of a line away to set it. "quarry config" shows what counts and where it
# comes from, "quarry config KEY" explains a key.
#
# A flag goes before the environment (search.hidden is QUARRY_SEARCH_HIDDEN),
# that before the section of a folder, that before the rest of the file.
`)
	for _, section := range config.Sections() {
		fmt.Fprintf(&b, "\n[%s] # %s\n", section, SectionTexts[section])
		for _, k := range config.Keys() {
			if k.Section == section {
				fmt.Fprintf(&b, "%s#%s = %s\n", printing.Wrap(KeyText(top, &k), "# "), k.Name, KeyExample(top, &k))
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

// keyFlag returns the flag that a key sets; nil if no command has it.
func keyFlag(top *cobra.Command, k *config.Key) *pflag.Flag {
	for _, name := range k.Commands {
		cmd, _, err := top.Find(strings.Fields(name))
		if err != nil {
			continue
		}
		for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.InheritedFlags()} {
			if fl := flags.Lookup(k.Name); fl != nil {
				return fl
			}
		}
	}
	return nil
}

// KeyDefault returns the default value of a key.
func KeyDefault(top *cobra.Command, k *config.Key) string {
	if fl := keyFlag(top, k); fl != nil {
		return fl.DefValue
	}
	return k.Default
}

// KeyText returns the description of a key, which is its flag's text.
func KeyText(top *cobra.Command, k *config.Key) string {
	fl := keyFlag(top, k)
	if fl == nil {
		return k.About
	}
	_, usage := pflag.UnquoteUsage(fl)
	return strings.Join(strings.Fields(usage), " ")
}

// KeyExample returns an example value of a key.
func KeyExample(top *cobra.Command, k *config.Key) string { return k.Sample(KeyDefault(top, k)) }
