// Package patch reads patches: Codex's envelope, unified diffs, git's diffs and
// SEARCH/REPLACE blocks. The result is operations of a change.Set.
//
// The package reads no files. The place of a hunk is found when the set is planned, in
// the file as it is then.
package patch

import (
	"fmt"
	"strings"

	"quarry/change"
	"quarry/fault"
)

// Error reports an invalid patch.
type Error struct {
	Line    int // of the patch, from 1
	Problem string
	Next    string // what to do
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return "invalid patch: " + e.Problem
	}
	return fmt.Sprintf("invalid patch, line %d: %s", e.Line, e.Problem)
}

// Unwrap gives the code.
func (e *Error) Unwrap() error { return fault.InvalidArgument }

// Hint says what to do.
func (e *Error) Hint() string { return e.Next }

// Parse parses a patch; its format is recognized. Paths of a unified or git diff lose strip
// leading names, as with patch -p; a negative value removes git's a/ and b/ if both are there.
func Parse(text string, strip int) ([]change.Op, error) {
	p := &parser{lines: unwrap(splitLines(text)), strip: strip}
	for _, l := range p.lines {
		switch trimmed := strings.TrimSpace(l); {
		case trimmed == "":
			continue
		case trimmed == beginPatch:
			return p.codex()
		}
		break
	}
	if p.hasBlocks() {
		return p.blocks()
	}
	return p.diffs()
}

// splitLines removes the line feeds; an empty last line doesn't count.
func splitLines(text string) []string {
	lines := strings.Split(text, "\n")
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	}
	return lines
}

// parser parses a patch line by line.
type parser struct {
	lines []string
	at    int
	strip int
	ops   []change.Op
}

func (p *parser) more() bool { return p.at < len(p.lines) }

func (p *parser) line() string { return p.lines[p.at] }

func (p *parser) fail(problem, next string) error {
	return &Error{Line: p.at + 1, Problem: problem, Next: next}
}

var errEmpty = &Error{Problem: "it changes nothing", Next: "give at least one file with a change"}
