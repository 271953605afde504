package profile

import (
	"context"
	"math"
	"slices"
	"sync"

	"quarry/search"
	"quarry/tool"
)

// dialect holds everything that distinguishes one profile from another: its tools with
// their wording and parameters, their scope, how much they show, and how an answer ends.
// Tools read the dialect of the current call and never test the profile's name, so a new
// profile needs only a new dialect. Each dialect has its own file, dialect_*.go.
type dialect struct {
	name  string
	about string // a description that fits in a sentence
	omits string // which files searches omit, for the instructions
	// listsUses lists in the instructions what each tool is for; otherwise the tools'
	// descriptions say so.
	listsUses bool
	// closed is a folder that the instructions name as inaccessible, in addition to .git and
	// .obsidian.
	closed string

	tools   []spec // in the order that models see
	inVault []spec // added if a root is an Obsidian vault
	asked   []spec // added only if Options.Tools names them

	// spellings accepts parameters under the names that other tools use.
	spellings bool
	// receipts ends an answer with one line in square brackets, for facts not in the
	// body.
	receipts bool
	// explains adds explanations to empty answers. For a missing path it suggests the
	// intended one, and for a pattern without matches a spelling that has some.
	explains bool
	// json answers in JSON: the text is the structured result.
	json bool
	// errorText words an error. badArguments is set if the arguments could not be read.
	errorText func(err *tool.Error, badArguments bool) string

	// manyRoots allows several roots; their names are the first element of paths.
	manyRoots bool
	// slashIsTop makes a leading slash of a path mean the top of the workspace.
	slashIsTop bool
	// notePaths resolves a missing path to the note of that name, in tools that read or
	// edit a file.
	notePaths bool
	// noteNames resolves a bare name to the note of that name in any folder, as a link
	// does, if there is exactly one.
	noteNames bool
	// top is the dialect's name for the workspace's folder.
	top string

	// scope limits searches and listings unless a parameter widens it. Its Dialect also
	// governs the syntax of globs.
	scope search.Scope
	// searched is the default glob of search_files.
	searched string
	// localGlobs makes a leading ./ of a glob mean the searched folder, and an absolute
	// glob inside the root relative to that folder.
	localGlobs bool
	// rootedGlobs accepts a glob that begins with the path of the searched folder.
	rootedGlobs bool

	// anyForm makes search_notes match inflected forms of words and read filters in the
	// query.
	anyForm bool
	// numbersNotes numbers the lines of whole notes.
	numbersNotes bool
	// around adds to a match the name of the definition that contains it.
	around bool
	// images lets read_file show pictures.
	images bool
	// onceOnly refuses to replace a text that occurs several times, unless a line number
	// or replace_all selects the occurrences.
	onceOnly bool
	// lenient accepts an old text as models write it: with other white space, line
	// numbers or elided parts. Otherwise it must match exactly.
	lenient bool
	// remaining reports after a single replacement how often the old text still occurs.
	remaining bool
	// folds folds the bodies of definitions in a file that doesn't fit.
	folds bool
	// plain shows a file's text unmodified, below a line with its path; otherwise every
	// line is numbered.
	plain bool
	// omitsKnown omits from the answer to a change the lines that the caller gave, or that
	// its dry run showed.
	omitsKnown bool
	// hidesVersions omits the versions of changed files, which edits by text don't need.
	hidesVersions bool
	// saysOnce mentions omitted files once per session, not in every answer.
	saysOnce bool
	// oldNames reports where the old name of a moved file still occurs.
	oldNames bool
	// shows ends the answer to a change with the lines that changed.
	shows bool
	// attachments moves a note's attachments with it if the vault's settings say so.
	attachments bool

	// pcre treats a Rust pattern with look-around or backreferences as PCRE2.
	pcre bool
	// position adds to an invalid pattern the position of the error, in characters.
	position bool
	// lookAround returns advice for a pattern with look-around; own is the error's own
	// advice.
	lookAround func(own string) string

	limits limits
}

// limits are the limits of a dialect's answers.
type limits struct {
	// answer limits the text of an answer in bytes, unless the options do.
	answer int
	// countedWhole shows as many results as the caller asked for, whatever their size,
	// because such a dialect has no offset to request the rest.
	countedWhole bool

	blocks, blockContext     int // search_files in Roo's form: results, and context lines
	files, context, excerpts int // search_files in the vault's form
	matches                  int // of file_search
	readLines, readBytes     int // of read_file
	codeTokens               int // of search_code without top_k; 0 means no limit

	// Above these numbers, answers show less of each item, unless the caller sets a
	// budget:
	uses             int // uses of a name: shown without their lines
	besideUses       int // lines of a definition that is shown together with its uses
	wholeNames       int // find_symbol: only locations
	wholeDefinitions int // definitions that contain matches: only the matching lines
	distinct         int // matched texts: those that differ only in strings are merged
	fileLines        int // files of a change: only counts
	similar          int // suggested names for an undefined one

	// countBytes is the room for the list of matching files if the caller expected another
	// number of matches; dryBytes is the room for the files of a dry run. 0 means no list.
	countBytes, dryBytes int
}

// documented holds the limits that the documented systems specify.
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
// six names wanted no bodies. Asking for the definitions around matches, to learn which
// functions contain 14 calls, returned 13 KB. Agents added invented names to a request for
// uses, only to avoid the text of the definition; with ten suggestions each, three
// invented names took more room than the wanted one.
var brief = documented.with(func(l *limits) {
	l.answer, l.readBytes = 16<<10, 40<<10
	l.uses, l.besideUses, l.wholeNames, l.wholeDefinitions, l.distinct = aroundLines, 0, 3, 5, 20
	l.fileLines, l.similar = 8, 4
	l.countBytes, l.dryBytes = 1000, 500
})

// with returns a modified copy of the limits.
func (l limits) with(change func(*limits)) limits {
	change(&l)
	return l
}

// action is the work of a tool, independent of its name in a dialect.
type action struct {
	output string // the schema of its structured result
	hints  tool.Hints
	run    func(ctx context.Context, c *call) (*answer, error)
}

// act builds an action of three steps: read parses the arguments, do does the work but
// words nothing, and write words the result for the dialect.
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

	// reading, if set, replaces the tool in a read-only server.
	reading *spec
}

// dialects lists the profiles, the default first. They are built on first use: a search
// from the command line needs none, and building them was the most expensive work before
// main.
var dialects = sync.OnceValue(func() []*dialect {
	return []*dialect{quarryDialect(), vaultDialect(), rooDialect(), godoctorDialect(), smcpDialect(), notesDialect(), codeDialect()}
})

// dialectOf returns the dialect of a profile, or nil if the name is unknown.
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

// reading returns the action with the hints of a tool that only reads.
func (a action) reading() action {
	a.hints = readOnly
	return a
}
