package manual

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quarry/internal/cli/printing"
	"quarry/internal/config"
)

// SectionTexts say what a section is about.
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

// ConfigExample is the file that quarry config init writes: valid, and nothing
// in it set.
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

// keyFlag is the flag a key sets; nil when no command has one.
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

// KeyDefault is the value if nothing sets a key.
func KeyDefault(top *cobra.Command, k *config.Key) string {
	if fl := keyFlag(top, k); fl != nil {
		return fl.DefValue
	}
	return k.Default
}

// KeyText says what a key means: its flag's words.
func KeyText(top *cobra.Command, k *config.Key) string {
	fl := keyFlag(top, k)
	if fl == nil {
		return k.About
	}
	_, usage := pflag.UnquoteUsage(fl)
	return strings.Join(strings.Fields(usage), " ")
}

// KeyExample is a value one might set.
func KeyExample(top *cobra.Command, k *config.Key) string { return k.Sample(KeyDefault(top, k)) }
