package symbols

import "bytes"

// parseMarkdown reads headings outside of code and of the metadata at the top.
func parseMarkdown(p *parser) {
	var fence []byte
	var prev span // the line before, for underlined headings
	var line []byte
	at := 0
	if bytes.HasPrefix(p.text, []byte("---\n")) {
		if n := bytes.Index(p.text, []byte("\n---\n")); n >= 0 {
			at = n + 5
		}
	}
	for at < len(p.text) {
		p.stepBy(1 + len(line)/8)
		end := at + len(p.text[at:])
		if n := bytes.IndexByte(p.text[at:], '\n'); n >= 0 {
			end = at + n
		}
		line = bytes.TrimRight(p.text[at:end], " \t\r")
		trimmed := bytes.TrimLeft(line, " ")
		indent := len(line) - len(trimmed)
		switch {
		case fence != nil:
			if indent < 4 && bytes.HasPrefix(trimmed, fence) && len(bytes.Trim(trimmed, string(fence[:1]))) == 0 {
				fence = nil
			}
			prev = span{}
		case indent < 4 && (bytes.HasPrefix(trimmed, []byte("```")) || bytes.HasPrefix(trimmed, []byte("~~~"))):
			fence = trimmed[:len(trimmed)-len(bytes.TrimLeft(trimmed, string(trimmed[:1])))]
			prev = span{}
		case indent < 4 && len(trimmed) > 0 && trimmed[0] == '#':
			p.hashHeading(at+indent, trimmed)
			prev = span{}
		case indent < 4 && prev.end > prev.start && underline(trimmed):
			level := 1
			if trimmed[0] == '-' {
				level = 2
			}
			p.heading(prev.start, p.text[prev.start:prev.end], level)
			prev = span{}
		case len(trimmed) == 0 || indent >= 4 || trimmed[0] == '|' || trimmed[0] == '>' || trimmed[0] == '-' || trimmed[0] == '*':
			prev = span{}
		default:
			prev = span{at + indent, at + len(line)}
		}
		at = end + 1
	}
	p.nestHeadings()
}

func underline(line []byte) bool {
	if len(line) < 2 || line[0] != '=' && line[0] != '-' {
		return false
	}
	return len(bytes.Trim(line, string(line[:1]))) == 0
}

func (p *parser) hashHeading(at int, line []byte) {
	level := len(line) - len(bytes.TrimLeft(line, "#"))
	rest := line[level:]
	if level > 6 || len(rest) > 0 && rest[0] != ' ' && rest[0] != '\t' {
		return
	}
	name := bytes.TrimSpace(rest)
	if cut := bytes.TrimRight(name, "#"); len(cut) < len(name) && (len(cut) == 0 || cut[len(cut)-1] == ' ') {
		name = bytes.TrimSpace(cut)
	}
	p.heading(at+level+(len(rest)-len(bytes.TrimLeft(rest, " \t"))), name, level)
}

func (p *parser) heading(at int, name []byte, level int) {
	if len(name) == 0 || len(name) > maxName {
		return
	}
	if len(p.out) >= maxSymbols {
		p.partial = true
		return
	}
	p.out = append(p.out, Symbol{Name: string(name), Kind: Heading, Start: at, NameAt: at, End: at + len(name), Level: level})
}

// nestHeadings extends each heading to the next one of the same or a higher level.
func (p *parser) nestHeadings() {
	var open [7]int // index+1 of the open heading of each level
	closeFrom := func(level, end int) {
		for l := level; l <= 6; l++ {
			if open[l] > 0 {
				p.out[open[l]-1].End = end
				open[l] = 0
			}
		}
	}
	for i := range p.out {
		s := &p.out[i]
		// The preceding heading ends on the line before this one.
		start := bytes.LastIndexByte(p.text[max(0, s.Start-400):s.Start], '\n')
		closeFrom(s.Level, max(0, s.Start-400)+max(start, 0))
		for l := s.Level - 1; l >= 1; l-- {
			if open[l] > 0 {
				s.Container = p.out[open[l]-1].Name
				break
			}
		}
		open[s.Level] = i + 1
	}
	closeFrom(1, len(p.text))
}
