// Package patch reads patches: Codex's envelope, unified diffs, git's diffs and SEARCH/REPLACE
// blocks. It returns the operations of a change.Set.
//
// The package reads no files. Hunks are located when the set is planned.
package patch

import (
	"fmt"
	"strings"

	"quarry/change"
	"quarry/fault"
)

// Error reports an invalid patch.
type Error struct {
	Line    int // line of the patch, from 1
	Problem string
	Next    string // what to do
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return "invalid patch: " + e.Problem
	}
	return fmt.Sprintf("invalid patch, line %d: %s", e.Line, e.Problem)
}

func (e *Error) Unwrap() error { return fault.InvalidArgument }

func (e *Error) Hint() string { return e.Next }

// Parse parses a patch and recognizes its format. strip is the number of leading names to
// remove from the paths of a unified or git diff, as with patch -p. If it is negative, git's
// a/ and b/ are removed if both are present.
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

// splitLines returns the lines without their line feeds; an empty last line is dropped.
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
