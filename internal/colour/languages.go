package colour

import (
	_ "embed"
	"encoding/json"
	"strings"
)

// entry is a language in languages.json, with its file names and extensions.
type entry struct {
	Name, Files     string
	Line            []string
	Block           [][2]string
	Quotes          []string // keys of the map quotes
	Keywords, Types []string // separated by spaces
	Ident, Sigil    string
	Keys, Capital   string
	Nested, Fold    bool
	Calls, At, Hash bool
	Whole           string // name of the function that colours the whole text, if not this table
}

//go:embed languages.json
var table []byte

// quotes maps names to kinds of strings, which several languages share.
var quotes = map[string]quote{
	"double":        {open: `"`, close: `"`},
	"single":        {open: `'`, close: `'`},
	"char":          {open: `'`, close: `'`, letter: true},
	"backtick":      {open: "`", close: "`", lines: true},
	"raw backtick":  {open: "`", close: "`", lines: true, raw: true},
	"triple":        {open: `"""`, close: `"""`, lines: true},
	"triple single": {open: `'''`, close: `'''`, lines: true},
	"double lines":  {open: `"`, close: `"`, lines: true},
	"single lines":  {open: `'`, close: `'`, lines: true, raw: true},
	"double single": {open: "''", close: "''", lines: true, raw: true},
	"long bracket":  {open: "[[", close: "]]", lines: true, raw: true},
}

// languages parses the table of languages when it is first needed.
func languages() []entry {
	var list []entry
	if err := json.Unmarshal(table, &list); err != nil {
		panic(err)
	}
	return list
}

// language converts an entry of the table.
func (e *entry) language() *Language {
	l := &Language{
		Name: e.Name, line: e.Line, block: e.Block, nested: e.Nested, fold: e.Fold, ident: e.Ident, calls: e.Calls,
		sigil: e.Sigil, at: e.At, hash: e.Hash, keys: e.Keys, words: map[string]Class{},
	}
	if e.Capital != "" {
		l.capital = Class(e.Capital[0])
	}
	for _, name := range e.Quotes {
		l.quotes = append(l.quotes, quotes[name])
	}
	for class, lists := range map[Class][]string{Keyword: e.Keywords, Type: e.Types} {
		for _, w := range strings.Fields(strings.Join(lists, " ")) {
			l.words[w] = class
		}
	}
	l.whole = map[string]func(string, func(int, Class)){"xml": markup, "markdown": markdown, "diff": diff}[e.Whole]
	return l
}
