package patch

import (
	"fmt"
	"strings"

	"quarry/change"
	"quarry/fault"
)

const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
	addFile    = "*** Add File: "
	deleteFile = "*** Delete File: "
	updateFile = "*** Update File: "
	moveTo     = "*** Move to: "
	endOfFile  = "*** End of File"
)

// codex parses an envelope of Codex. As in Codex, lines that begin with *** may be surrounded
// by spaces.
func (p *parser) codex() ([]change.Op, error) {
	for strings.TrimSpace(p.line()) != beginPatch {
		p.at++
	}
	p.at++
	for p.more() {
		line := strings.TrimSpace(p.line())
		var err error
		switch {
		case line == endPatch:
			p.at++
			return p.codexEnd()
		case strings.HasPrefix(line, addFile):
			err = p.codexAdd(line[len(addFile):])
		case strings.HasPrefix(line, deleteFile):
			p.at++
			p.ops = append(p.ops, change.Op{Verb: change.DeletePath, Path: strings.TrimSpace(line[len(deleteFile):]), FileOnly: true, Origin: "delete file"})
		case strings.HasPrefix(line, updateFile):
			err = p.codexUpdate(line[len(updateFile):])
		default:
			err = p.fail(fmt.Sprintf("unknown line %q", fault.Clip(line, 80)), `each part begins with "*** Add File: ", "*** Delete File: " or "*** Update File: " and a path`)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, p.fail(fmt.Sprintf("%q is missing", endPatch), "end the patch with it")
}

func (p *parser) codexEnd() ([]change.Op, error) {
	for p.more() {
		if strings.TrimSpace(p.line()) != "" {
			return nil, p.fail("text after the end of the patch", "")
		}
		p.at++
	}
	if len(p.ops) == 0 {
		return nil, errEmpty
	}
	return p.ops, nil
}

func (p *parser) codexAdd(path string) error {
	p.at++
	var b strings.Builder
	for p.more() && strings.HasPrefix(p.line(), "+") {
		b.WriteString(p.line()[1:])
		b.WriteByte('\n')
		p.at++
	}
	p.ops = append(p.ops, change.Op{Verb: change.CreateFile, Path: strings.TrimSpace(path), Content: []byte(b.String()), Origin: "add file"})
	return nil
}

// codexUpdate parses the hunks of one file. Each becomes a separate edit, so that all hunks
// that don't match are reported.
func (p *parser) codexUpdate(path string) error {
	start := p.at
	op := change.Op{Verb: change.EditFile, Path: strings.TrimSpace(path), Origin: "update file"}
	p.at++
	if p.more() && strings.HasPrefix(strings.TrimSpace(p.line()), moveTo) {
		op.Verb, op.To = change.MovePath, strings.TrimSpace(strings.TrimSpace(p.line())[len(moveTo):])
		op.Origin = "move file"
		p.at++
	}
	for p.more() && !strings.HasPrefix(strings.TrimSpace(p.line()), "*** ") {
		if strings.TrimSpace(p.line()) == "" && len(op.Edits) > 0 {
			p.at++ // Codex allows blank lines between hunks
			continue
		}
		e, err := p.codexHunk(len(op.Edits) == 0)
		if err != nil {
			return err
		}
		op.Edits = append(op.Edits, e)
	}
	if len(op.Edits) == 0 && op.Verb == change.EditFile {
		p.at = start
		return p.fail("the update of "+op.Path+" has no hunk", "give lines that begin with a space, - or +")
	}
	p.ops = append(p.ops, op)
	return nil
}

// codexHunk parses one hunk: anchors, then its lines, then possibly the mark that the hunk is
// at the end of the file.
func (p *parser) codexHunk(first bool) (change.Edit, error) {
	e := change.Edit{Verb: change.ApplyHunk, Loose: true}
	for p.more() && strings.HasPrefix(p.line(), "@@") {
		if anchor := strings.TrimSpace(strings.TrimPrefix(p.line(), "@@")); anchor != "" {
			e.Anchor = anchor // the last anchor is the innermost
		}
		first = true
		p.at++
	}
	if !first {
		return e, p.fail(fmt.Sprintf("expected @@ before %q", fault.Clip(p.line(), 80)), "begin each further hunk with a line @@")
	}
	var b strings.Builder
	for ; p.more(); p.at++ {
		line := p.line()
		if strings.TrimSpace(line) == endOfFile {
			e.AtEnd = true
			p.at++
			break
		}
		if strings.HasPrefix(line, "@@") || strings.HasPrefix(strings.TrimSpace(line), "*** ") {
			break
		}
		if line != "" && !strings.ContainsRune(" +-", rune(line[0])) {
			return e, p.fail(fmt.Sprintf("the line %q begins with neither a space, - nor +", fault.Clip(line, 80)), "context lines begin with a space")
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	if e.Hunk = b.String(); strings.TrimSpace(e.Hunk) == "" {
		return e, p.fail("the hunk has no lines", "give lines that begin with a space, - or +")
	}
	return e, nil
}
