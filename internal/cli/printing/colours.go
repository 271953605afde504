package printing

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Colours holds the escape codes that begin each part of an output line.
type Colours struct{ Path, Line, Column, Match string }

// defaultColours are ripgrep's: magenta paths, green line numbers, bold red matches, and
// plain columns and offsets.
var defaultColours = Colours{
	Path: "\x1b[0m\x1b[35m", Line: "\x1b[0m\x1b[32m", Column: "\x1b[0m", Match: "\x1b[0m\x1b[1m\x1b[31m",
}

// look is the style of one part of a line.
type look struct {
	fg, bg                           string
	bold, intense, underline, italic bool
}

var colourNames = map[string]int{"black": 0, "red": 1, "green": 2, "yellow": 3, "blue": 4, "magenta": 5, "cyan": 6, "white": 7}

// ParseColours applies specifications to ripgrep's colours, for example match:fg:blue,
// path:style:bold or line:none.
func ParseColours(specs []string) (Colours, error) {
	looks := map[string]*look{
		"path": {fg: "magenta"}, "line": {fg: "green"}, "column": {}, "match": {fg: "red", bold: true}, "highlight": {},
	}
	for _, spec := range specs {
		if err := applyColour(looks, spec); err != nil {
			return Colours{}, fmt.Errorf("--colors %q: %w", spec, err)
		}
	}
	c := Colours{looks["path"].codes(), looks["line"].codes(), looks["column"].codes(), looks["match"].codes()}
	if *looks["match"] == (look{}) {
		c.Match = "" // a match without a style gets no codes at all
	}
	return c, nil
}

func applyColour(looks map[string]*look, spec string) error {
	parts := strings.Split(spec, ":")
	l := looks[parts[0]]
	switch {
	case l == nil:
		return fmt.Errorf("unknown part %q: path, line, column or match", parts[0])
	case len(parts) == 2 && parts[1] == "none":
		*l = look{}
		return nil
	case len(parts) != 3:
		return errors.New("it is PART:fg:COLOUR, PART:bg:COLOUR, PART:style:STYLE or PART:none")
	}
	switch parts[1] {
	case "fg", "bg":
		if parts[2] != "none" {
			if _, err := colourCode(parts[2], parts[1] == "bg", false); err != nil {
				return err
			}
		}
		if parts[1] == "fg" {
			l.fg = parts[2]
		} else {
			l.bg = parts[2]
		}
		return nil
	case "style":
		on := !strings.HasPrefix(parts[2], "no")
		switch strings.TrimPrefix(parts[2], "no") {
		case "bold":
			l.bold = on
		case "intense":
			l.intense = on
		case "underline":
			l.underline = on
		case "italic":
			l.italic = on
		default:
			return fmt.Errorf("unknown style %q: bold, intense, underline or italic, or no before one of these", parts[2])
		}
		return nil
	}
	return fmt.Errorf("unknown attribute %q: fg, bg, style or none", parts[1])
}

// colourCode returns the code for a colour, given as a name, a number up to 255, or r,g,b.
func colourCode(name string, back, intense bool) (string, error) {
	kind := 3
	if back {
		kind = 4
	}
	if n, ok := colourNames[name]; ok {
		if intense {
			return fmt.Sprintf("\x1b[%d8;5;%dm", kind, n+8), nil
		}
		return fmt.Sprintf("\x1b[%d%dm", kind, n), nil
	}
	var numbers []string
	for part := range strings.SplitSeq(name, ",") {
		n, err := strconv.ParseUint(part, 0, 8)
		if err != nil {
			return "", fmt.Errorf("unknown colour %q: a name such as red, a number up to 255, or three of them, r,g,b", name)
		}
		numbers = append(numbers, strconv.FormatUint(n, 10))
	}
	switch len(numbers) {
	case 1:
		return fmt.Sprintf("\x1b[%d8;5;%sm", kind, numbers[0]), nil
	case 3:
		return fmt.Sprintf("\x1b[%d8;2;%sm", kind, strings.Join(numbers, ";")), nil
	}
	return "", fmt.Errorf("unknown colour %q: a name such as red, a number up to 255, or three of them, r,g,b", name)
}

func (l *look) codes() string {
	s := Reset
	for _, style := range []struct {
		on   bool
		code string
	}{{l.bold, "\x1b[1m"}, {l.italic, "\x1b[3m"}, {l.underline, "\x1b[4m"}} {
		if style.on {
			s += style.code
		}
	}
	for _, c := range []struct {
		name string
		back bool
	}{{l.fg, false}, {l.bg, true}} {
		if c.name != "" && c.name != "none" {
			code, _ := colourCode(c.name, c.back, l.intense)
			s += code
		}
	}
	return s
}
