package patch

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"quarry/change"
	"quarry/fault"
)

var (
	// hereDocument matches a shell line that passes a patch to a program.
	hereDocument = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<<-?\s*['"]?(\w+)['"]?\s*$`) })
	searchLine   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(<{5,9}|-{5,9}) SEARCH>?\s*$`) })
	divideLine   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^={5,9}\s*$`) })
	replaceLine  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(>{5,9}|\+{5,9}) REPLACE>?\s*$`) })
)

// unwrap removes text that models put around a patch: a here-document, or the fence of a code block.
func unwrap(lines []string) []string {
	for {
		first, last := 0, len(lines)-1
		for first <= last && strings.TrimSpace(lines[first]) == "" {
			first++
		}
		for last > first && strings.TrimSpace(lines[last]) == "" {
			last--
		}
		if first >= last {
			return lines
		}
		head, tail := strings.TrimSpace(lines[first]), strings.TrimSpace(lines[last])
		word := hereDocument().FindStringSubmatch(head)
		switch {
		case word != nil && tail == word[1], strings.HasPrefix(head, "```") && tail == "```":
			lines = lines[first+1 : last]
		case word != nil:
			return lines[first+1:] // the end of the here-document or fence is missing
		default:
			return lines
		}
	}
}

// hasBlocks reports whether the text has SEARCH/REPLACE blocks.
func (p *parser) hasBlocks() bool {
	return slices.ContainsFunc(p.lines, func(l string) bool { return searchLine().MatchString(l) })
}

// blocks parses SEARCH/REPLACE blocks. A file's path is on its own line before the file's first
// block. A block becomes a hunk of whole lines without context; an empty SEARCH creates a file.
func (p *parser) blocks() ([]change.Op, error) {
	path := ""
	for ; p.more(); p.at++ {
		line := p.line()
		if !searchLine().MatchString(line) {
			if name := strings.Trim(strings.TrimSpace(line), "`*#: "); name != "" && !strings.HasPrefix(strings.TrimSpace(line), "```") {
				path = name
			}
			continue
		}
		if path == "" {
			return nil, p.fail("a SEARCH block without a path", "put the path on a line of its own before it")
		}
		start := p.at
		read := func(mark byte, end *regexp.Regexp) (string, bool) {
			var b strings.Builder
			for p.at++; p.more(); p.at++ {
				if end.MatchString(p.line()) {
					return b.String(), true
				}
				b.WriteByte(mark)
				b.WriteString(p.line())
				b.WriteByte('\n')
			}
			p.at = start
			return "", false
		}
		old, ok := read('-', divideLine())
		if !ok {
			return nil, p.fail("the SEARCH block has no line =======", "divide the old and the new text by it")
		}
		added, ok := read('+', replaceLine())
		if !ok {
			return nil, p.fail("the SEARCH block has no line >>>>>>> REPLACE", "end the block with it")
		}
		if old == "" {
			content, err := wholeFile([]change.Edit{{Hunk: added}}, '+')
			if err != nil {
				return nil, err
			}
			p.ops = append(p.ops, change.Op{Verb: change.CreateFile, Path: path, Content: content, Origin: "new file"})
			continue
		}
		e := change.Edit{Verb: change.ApplyHunk, Hunk: old + added, Loose: true}
		if n := len(p.ops); n > 0 && p.ops[n-1].Path == path && p.ops[n-1].Verb == change.EditFile {
			p.ops[n-1].Edits = append(p.ops[n-1].Edits, e)
			continue
		}
		p.ops = append(p.ops, change.Op{Verb: change.EditFile, Path: path, Edits: []change.Edit{e}, Origin: "changed file"})
	}
	return p.ops, nil
}

// looseHunk parses a hunk whose header has no numbers or wrong counts. It finds the end by the
// lines themselves, and excludes trailing blank lines.
func (p *parser) looseHunk() (change.Edit, error) {
	head := p.at
	start, _, _, numbered := hunkHeader(p.line())
	anchor := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(p.line(), "@@")), "@@"))
	if !numbered && (strings.HasPrefix(anchor, "-") || strings.HasPrefix(anchor, "+") || strings.HasPrefix(anchor, "@")) {
		return change.Edit{}, p.fail("invalid hunk header "+fault.Clip(p.line(), 80), "it has the form @@ -1,3 +1,4 @@, or is @@ alone")
	}
	var lines []string
	for p.at++; p.more() && !p.nextPart(); p.at++ {
		line := p.line()
		if strings.TrimRight(line, "\r") != "" && !strings.ContainsRune(" +-\\", rune(line[0])) {
			break
		}
		lines = append(lines, line)
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	old, changed := false, false
	for _, l := range lines {
		old = old || l == "" || l[0] == ' ' || l[0] == '-'
		changed = changed || l != "" && (l[0] == '-' || l[0] == '+')
	}
	end := p.at
	p.at = head
	switch {
	case !changed:
		return change.Edit{}, p.fail("the hunk changes nothing", "its lines begin with a space, - or +")
	case !old && !numbered:
		return change.Edit{}, p.fail("the hunk only adds lines, and nothing says where", "give lines of context, which begin with a space")
	}
	p.at = end
	e := change.Edit{Verb: change.ApplyHunk, Hunk: strings.Join(lines, "\n") + "\n", First: start}
	if !numbered {
		e.Loose = true
		if strings.Trim(anchor, ". ") != "" {
			e.Anchor = anchor
		}
	}
	return e, nil
}

// nextPart reports whether another hunk or file begins at the current line.
func (p *parser) nextPart() bool {
	line := p.line()
	return strings.HasPrefix(line, "@@") || strings.HasPrefix(line, "diff --git ") ||
		strings.HasPrefix(line, "--- ") && p.at+1 < len(p.lines) && strings.HasPrefix(p.lines[p.at+1], "+++ ")
}
