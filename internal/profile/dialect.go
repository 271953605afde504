package profile

import (
	"context"
	"math"
	"slices"
	"sync"

	"quarry/search"
	"quarry/tool"
)

// dialect holds everything that distinguishes one profile from the others: its tools
// with their words and parameters, their scope, how much they show, and how an answer
// ends. Tools read the record of the current call and never test the profile's name, so
// a new profile only needs a new record. Each record has its own file, dialect_*.go.
type dialect struct {
	name  string
	about string // used within a sentence
	omits string // omitted files, for the instructions
	// listsUses lists the use of each tool in the instructions; in other dialects the
	// descriptions have it.
	listsUses bool
	// closed is a folder that the instructions name as closed, in addition to .git and .obsidian.
	closed string

	tools   []spec // in the order that models see
	inVault []spec // additional if a root is an Obsidian vault
	asked   []spec // additional only if Options.Tools names them

	// spellings accepts other tools' names of parameters.
	spellings bool
	// receipts ends an answer with one line in square brackets for facts that the body
	// doesn't have.
	receipts bool
	// explains explains an empty answer, and suggests the intended path for a missing one
	// and another spelling of a pattern that finds something.
	explains bool
	// json answers with the JSON of the structured result, as text and as data.
	json bool
	// errorText words an error. badArguments is set if the arguments could not be read.
	errorText func(err *tool.Error, badArguments bool) string

	// manyRoots allows a workspace of several roots, whose names are the first path element.
	manyRoots bool
	// slashIsTop resolves a leading slash of a path to the top of the workspace.
	slashIsTop bool
	// notePaths resolves a path that doesn't exist to the note of that name, in tools that
	// read or edit a file.
	notePaths bool
	// noteNames resolves a name that is not a path to the only note of that name in any
	// folder, as a link does.
	noteNames bool
	// top is the dialect's name for the workspace's folder.
	top string

	// scope limits searches and listings unless a parameter widens it; its Dialect applies
	// to globs.
	scope search.Scope
	// searched is the default glob of search_files.
	searched string
	// localGlobs resolves ./ before a glob to the searched folder, and makes an absolute
	// glob inside the root relative to it.
	localGlobs bool
	// rootedGlobs accepts a glob that begins with the path of the searched folder.
	rootedGlobs bool

	// anyForm lets search_notes match inflected forms of words, and read filters.
	anyForm bool
	// numbersNotes numbers the lines of whole notes.
	numbersNotes bool
	// around names the definition around a match.
	around bool
	// images lets read_file show pictures.
	images bool
	// onceOnly refuses to replace a text that occurs several times, unless a line or
	// replace_all selects the occurrences.
	onceOnly bool
	// lenient accepts edits as models write them: with other white space, line numbers or
	// elided text. Otherwise the old text must match exactly.
	lenient bool
	// remaining reports how many more places have a text that was replaced once.
	remaining bool
	// folds shows a file that doesn't fit with its bodies folded.
	folds bool
	// plain shows the unmodified text of files below a line with its place; otherwise every
	// line is numbered.
	plain bool
	// omitsKnown omits from the answer to a change the lines that the caller gave, or that
	// the applied dry run showed.
	omitsKnown bool
	// hidesVersions omits the versions of changed files: edits are by text.
	hidesVersions bool
	// saysOnce reports once in a session which files its searches omit.
	saysOnce bool
	// oldNames reports where the old name of a moved file still occurs.
	oldNames bool
	// shows ends the answer to a change with the lines that changed.
	shows bool
	// attachments moves a note's attachments with it if the vault's settings say so.
	attachments bool

	// pcre treats a Rust pattern with look-around or backreferences as PCRE2.
	pcre bool
	// position adds the character position of the error to an invalid pattern.
	position bool
	// lookAround is the advice for a pattern with look-around, if the error's own advice
	// doesn't help.
	lookAround func(own string) string

	limits limits
}

// limits bounds the answers of a dialect.
type limits struct {
	// answer bounds the text of an answer in bytes, unless the options do.
	answer int
	// countedWhole shows as many results as the caller asked for, whatever their size:
	// such a dialect has no offset to request the rest.
	countedWhole bool

	blocks, blockContext     int // of search_files in Roo's form, and lines around
	files, context, excerpts int // of search_files in the vault's form
	matches                  int // of file_search
	readLines, readBytes     int // of read_file
	codeTokens               int // of search_code without top_k; 0 means no limit

	// Above these numbers less is shown of each item, unless a budget is given:
	uses             int // of a name: without their lines
	besideUses       int // lines of a definition whose uses are asked for
	wholeNames       int // of find_symbol: only their places
	wholeDefinitions int // around matches: only the lines that match
	distinct         int // matched texts; texts that differ only in strings are merged
	fileLines        int // files of a change: only counts
	similar          int // names suggested for one that is not defined

	// Bytes for the files that match if another number of matches was expected, and for the
	// files of a dry run. 0 means none.
	countBytes, dryBytes int
}

// documented holds the limits that the documents name.
var documented = limits{
	answer: 60 << 10,
	blocks: 300, blockContext: 1,
	files: 10, context: 2, excerpts: 5,
	matches:   50,
	readLines: 2000, readBytes: 100 << 10,
	uses: math.MaxInt, besideUses: symbolLines, wholeNames: maxNames, wholeDefinitions: math.MaxInt, distinct: math.MaxInt,
	fileLines: maxFileLines, similar: symbolsShown,
}

// brief holds the limits of dialects with short answers. In trials, agents that asked for
// six names wanted no bodies. They asked for the definitions around matches to learn which
// functions contain 14 calls, and got 13 KB. They added invented names to get rid of the
// text of a definition whose uses they wanted. With ten similar names each, three invented
// names took more room than the wanted one.
var brief = documented.with(func(l *limits) {
	l.answer, l.readBytes = 16<<10, 40<<10
	l.uses, l.besideUses, l.wholeNames, l.wholeDefinitions, l.distinct = aroundLines, 0, 3, 5, 20
	l.fileLines, l.similar = 8, 4
	l.countBytes, l.dryBytes = 1000, 500
})

// with returns limits after a change.
func (l limits) with(change func(*limits)) limits {
	change(&l)
	return l
}

// action is what a tool does, independent of its name in a dialect.
type action struct {
	output string // the schema of its structured result
	hints  tool.Hints
	run    func(ctx context.Context, c *call) (*answer, error)
}

// act builds an action of three steps: read parses the arguments, do does the work without
// wording anything, and write words the result for a dialect.
func act[Q, R any](output string, hints tool.Hints, read func(context.Context, *call) (Q, error),
	do func(context.Context, *call, Q) (R, error), write func(context.Context, *call, Q, R) (*answer, error)) action {
	return action{output, hints, func(ctx context.Context, c *call) (*answer, error) {
		q, err := read(ctx, c)
		if err != nil {
			return nil, err
		}
		r, err := do(ctx, c, q)
		if err != nil {
			return nil, err
		}
		return write(ctx, c, q, r)
	}}
}

// spec is a tool as a dialect offers it.
type spec struct {
	name, title, about string
	use                string // a few words for the instructions of dialects that list uses
	params             []tool.Param
	action

	// reading replaces the tool in a read-only server if part of the tool only reads.
	reading *spec
}

// dialects lists the profiles, the default first. It is computed on first use: a search
// from the command line needs none, and building them was the most expensive work before
// main.
var dialects = sync.OnceValue(func() []*dialect {
	return []*dialect{quarryDialect(), vaultDialect(), rooDialect(), godoctorDialect(), smcpDialect(), notesDialect(), codeDialect()}
})

// dialectOf returns the record of a profile, or nil if the name is unknown.
func dialectOf(name string) *dialect {
	if name == "" {
		return dialects()[0]
	}
	i := slices.IndexFunc(dialects(), func(d *dialect) bool { return d.name == name })
	if i < 0 {
		return nil
	}
	return dialects()[i]
}

// named selects tools by name, in the order of the names.
func named(list []spec, names ...string) []spec {
	out := make([]spec, len(names))
	for i, name := range names {
		at := slices.IndexFunc(list, func(s spec) bool { return s.name == name })
		out[i] = list[at]
	}
	return out
}

// reading returns an action for a use that changes nothing.
func (a action) reading() action {
	a.hints = readOnly
	return a
}
