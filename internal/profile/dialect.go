package profile

import (
	"context"
	"math"
	"slices"
	"sync"

	"quarry/search"
	"quarry/tool"
)

// dialect is everything that one profile says and does differently from the
// others: its tools with their words and parameters, where they look, how much
// they show, and how an answer ends. Tools ask the record of the call they
// answer, never which profile it is, so that a new profile is a new record.
// Each stands in a file of its own, dialect_*.go.
type dialect struct {
	name  string
	about string // in a sentence
	omits string // for the instructions: which files are left out
	// listsUses lists in the instructions what each tool is for; elsewhere the
	// descriptions say it.
	listsUses bool
	// closed is a folder that the instructions name as closed, beside .git and .obsidian.
	closed string

	tools   []spec // in the order models see them
	inVault []spec // further ones if a root is an Obsidian vault
	asked   []spec // further ones that are there only if Options.Tools names them

	// spellings understands parameters as other tools spell them.
	spellings bool
	// receipts end an answer with one line in square brackets that tells what
	// the body can't.
	receipts bool
	// explains says why an answer is empty, which path was meant by one that is
	// missing, and which other spelling of a pattern would find something.
	explains bool
	// json answers with the JSON of the structured result, as text and as data.
	json bool
	// errorText words an error. badArguments says that the arguments could not
	// be read.
	errorText func(err *tool.Error, badArguments bool) string

	// manyRoots allows a workspace of several roots, whose names begin paths.
	manyRoots bool
	// slashIsTop takes a leading slash of a path for the top of the workspace.
	slashIsTop bool
	// notePaths takes a path that doesn't exist for the note of that name, in
	// tools that read or edit a file.
	notePaths bool
	// noteNames takes a name that is no path for the only note of that name, in
	// whichever folder it is, as a link does.
	noteNames bool
	// top is what the folder of the workspace is called.
	top string

	// scope is where searches and listings look, before a parameter widens it;
	// its dialect is that of globs.
	scope search.Scope
	// searched is the glob of files that search_files takes if none is given.
	searched string
	// localGlobs takes ./ before a glob for the searched folder, and an
	// absolute glob inside the root for one below it.
	localGlobs bool
	// rootedGlobs takes a glob that begins with the searched folder for one below it.
	rootedGlobs bool

	// anyForm lets search_notes find words in any form, and reads filters.
	anyForm bool
	// numbersNotes gives the lines of whole notes their numbers.
	numbersNotes bool
	// around names the definition around a match.
	around bool
	// images lets read_file show pictures.
	images bool
	// onceOnly refuses to replace a text that occurs several times, unless a line
	// or replace_all says which are meant.
	onceOnly bool
	// lenient understands edits as models write them: other white space, line
	// numbers, text that was left out. Otherwise a text has to stand there exactly.
	lenient bool
	// remaining says how many more places have a text that was replaced once.
	remaining bool
	// folds reads a file that doesn't fit with its bodies folded.
	folds bool
	// plain shows the text of files as it is in them, below a line with its place;
	// otherwise every line has its number.
	plain bool
	// omitsKnown leaves out of the answer to a change the lines that the caller gave,
	// or saw in the dry run that it applies.
	omitsKnown bool
	// hidesVersions gives no versions of changed files: edits are by text.
	hidesVersions bool
	// saysOnce says once in a session which files its searches don't look at.
	saysOnce bool
	// oldNames says where the old name of a moved file still occurs.
	oldNames bool
	// shows ends the answer to a change with the lines that changed.
	shows bool
	// attachments move with a note if the vault's settings say so.
	attachments bool

	// pcre reads look-around and backreferences in a Rust pattern as PCRE2 does.
	pcre bool
	// position adds to an invalid pattern at which character it is wrong.
	position bool
	// lookAround is the advice for a pattern with look-around, where the error's
	// own doesn't help.
	lookAround func(own string) string

	limits limits
}

// limits are how much the answers of a dialect show.
type limits struct {
	// answer bounds the text of an answer in bytes, unless the options do.
	answer int
	// countedWhole shows as many results as a caller asked for, however long:
	// such a dialect has no offset to get the rest with.
	countedWhole bool

	blocks, blockContext     int // of search_files in Roo's form, and lines around
	files, context, excerpts int // of search_files in the vault's form
	matches                  int // of file_search
	readLines, readBytes     int // of read_file
	codeTokens               int // of search_code without top_k; 0 is no limit

	// Where there are more, less is shown of each, unless a budget is given:
	uses             int // of a name: without their lines
	besideUses       int // lines of a definition whose uses are asked for
	wholeNames       int // of find_symbol: only their places
	wholeDefinitions int // around matches: only the lines that match
	distinct         int // texts that matched: those that differ only in strings are one
	fileLines        int // files of a change: only counts
	similar          int // names offered instead of one that is not defined

	// Bytes for the files that match where another number of matches was expected, and
	// for the files of a dry run. 0 is none.
	countBytes, dryBytes int
}

// documented are the limits that the documents name.
var documented = limits{
	answer: 60 << 10,
	blocks: 300, blockContext: 1,
	files: 10, context: 2, excerpts: 5,
	matches:   50,
	readLines: 2000, readBytes: 100 << 10,
	uses: math.MaxInt, besideUses: symbolLines, wholeNames: maxNames, wholeDefinitions: math.MaxInt, distinct: math.MaxInt,
	fileLines: maxFileLines, similar: symbolsShown,
}

// brief are the limits of dialects with short answers, found in trials: of six names
// agents wanted no bodies, they asked for definitions around matches to learn in which
// functions 14 calls are and got 13 KB, and they added names that don't exist to get rid
// of the text of a definition whose uses they wanted. With ten similar names, three
// made-up ones took more than the name that was meant.
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

// action is what a tool does, whatever the dialect calls it.
type action struct {
	output string // the schema of its structured result
	hints  tool.Hints
	run    func(ctx context.Context, c *call) (*answer, error)
}

// act makes an action of three steps: read takes the arguments, do does the work and
// words nothing, and write words the result as a dialect does.
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
	use                string // in a few words, for the instructions of dialects that list them
	params             []tool.Param
	action

	// reading takes its place where nothing can be changed, if a part of it only
	// reads.
	reading *spec
}

// dialects lists the profiles, the default first. They are made when one is asked
// for: a search from the command line needs none, and they were the dearest part of
// what the program does before main.
var dialects = sync.OnceValue(func() []*dialect {
	return []*dialect{quarryDialect(), vaultDialect(), rooDialect(), godoctorDialect(), smcpDialect(), notesDialect(), codeDialect()}
})

// dialectOf finds the record of a profile, nil if there is none of that name.
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

// named picks tools by name, in the order they are named.
func named(list []spec, names ...string) []spec {
	out := make([]spec, len(names))
	for i, name := range names {
		at := slices.IndexFunc(list, func(s spec) bool { return s.name == name })
		out[i] = list[at]
	}
	return out
}

// reading is an action that changes nothing with the parameters it is given.
func (a action) reading() action {
	a.hints = readOnly
	return a
}
