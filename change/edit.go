// Package change is the contract of changing files: the requests, their results, and their errors.
//
// A Set is a list of operations on any number of files. It is checked as a
// whole, applied as a whole or not at all, recorded as one entry of the journal
// and undone as one. Every new change of a workspace is a Set; undo and the trash
// have methods of their own.
//
// The package holds data only. It opens no file and imports nothing of Quarry but package
// fault. Verbs, reasons and operands are typed, and sentences are made from them, so
// programs need not parse sentences.
package change

// EditVerb is the kind of an Edit: ReplaceText, ReplaceLines, DeleteLines, InsertAfter,
// InsertBefore, ReplaceSpan, AppendText, ApplyHunk, SetValue, DeleteValue or RenameKey.
type EditVerb uint8

const (
	ReplaceText  EditVerb = iota // Old becomes New
	ReplaceLines                 // lines First to Last become the lines of New
	DeleteLines                  // lines First to Last are deleted, with their line endings
	InsertAfter                  // New is inserted as lines after line First; 0 inserts at the beginning
	InsertBefore                 // New is inserted as lines before line First
	ReplaceSpan                  // the bytes Start to End of the text become New
	AppendText                   // New is appended, after a line break if the last line has none
	ApplyHunk                    // Hunk is applied where its context matches exactly
	SetValue                     // the value At becomes New, which is JSON
	DeleteValue                  // the value At is deleted, with its key
	RenameKey                    // the key of the value At becomes New
)

// Edit is one edit of a text file. Texts, lines and spans refer to the file before the first edit of a set.
//
// Both \n and \r\n in Old match either of them in the file. In New they become the line
// ending of the surrounding lines. Common beginnings and ends of Old and New are not touched,
// so lines given only as context keep their bytes.
type Edit struct {
	Verb EditVerb
	Old  string // ReplaceText: the literal text
	New  string // the new text
	// Occurrence picks the occurrences of Old: Only, All, or one of them,
	// counted from 1.
	Occurrence int
	// Lenient is for texts from a model. If Old has no exact match, and Occurrence is not
	// All, it matches the only place whose lines differ just in insignificant white
	// space, or in the line numbers of a listing. New text with a line that replaces
	// omitted code ("// ... existing code ...") is an OmissionError, and an edit already
	// made an AlreadyError.
	Lenient bool
	// First and Last are lines, counted from 1, both included.
	First, Last int
	// Start and End are offsets in bytes of the text, decoded to UTF-8 and without a
	// byte order mark, as search.Line has them; an empty span inserts. With Verbatim
	// the line endings of New stay as they are.
	Start, End int
	Verbatim   bool

	// At is the path of a value in a file of JSON, YAML, TOML or ini, or in the YAML header of markdown:
	// jobs.build.steps[2].run, servers[name=quarry].args, paths."/users".get; tags[+] appends an item. Missing
	// parents of a value are created. All bytes outside the value are kept; a change that can't keep them is
	// refused.
	At string

	// Hunk has lines that begin with a space (context), "-" (to be removed), "+"
	// (to be added) or "\\" (the line before has no line ending). First is the
	// line where it should be, 0 if unknown. It is applied where its context and
	// removed lines match exactly, except for line endings. If they match in
	// several places, First decides, shifted like the earlier hunks, if one of
	// these confirms the numbering: Certain, a hunk that matches in one place
	// only, or three lines of context on either side. Otherwise the place must
	// follow the line Anchor.
	//
	// Without context, a hunk that only adds lines is applied if the file is empty, or with Certain or Loose.
	// One that removes lines is applied only at First, or if its text is long and occurs once.
	Hunk   string
	Anchor string
	// AtStart and AtEnd say that the hunk begins where the file begins, and ends
	// where it ends. Stated says that a person or a model may have written the hunk:
	// then a match at line First need not be at the start or end of the file, and a
	// hunk with little context need not match at line First.
	AtStart, AtEnd, Stated bool
	// Certain says that the hunk was made for this exact file.
	Certain bool
	// Loose is for formats that can't say whether the last line has a line ending: a last
	// line without one matches, and added lines end with one.
	Loose bool
}

// Values of Edit.Occurrence.
const (
	Only  = 0  // the text must occur once; else the edit is ambiguous
	First = 1  // the first one, even if there are more
	All   = -1 // every one, from left to right without overlap
)

// Outcome is the effect of one edit.
type Outcome struct {
	Kind Verb `json:"kind"` // Replaced, Inserted, DeletedLines, Appended, Prepended or Valued
	// Count is the number of occurrences replaced, lines inserted or lines
	// deleted.
	Count int `json:"count"`
	// Line is the line of the first replacement, the line after which text
	// was inserted (0: the beginning), or the first line deleted.
	Line int `json:"line"`
	// Before is set if the lines were inserted with InsertBefore, before line
	// Line+1.
	Before bool `json:"before,omitempty"`
	// Remaining counts the occurrences that were not replaced; RemainingLines has
	// the lines of the first of them.
	Remaining      int   `json:"remaining,omitempty"`
	RemainingLines []int `json:"remaining_lines,omitempty"`
	// Note says how a Lenient edit was interpreted.
	Note string `json:"note,omitempty"`
}
