package script

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
)

// line is a record in a line, as print() and an error show it.
func (r *Record) line() string {
	switch r.kind {
	case "hit", "use":
		return fmt.Sprintf("%s:%d: %s", r.text("path"), r.number("line"), strings.TrimSpace(r.text("text")))
	case "line":
		return fmt.Sprintf("%d: %s", r.number("line"), r.text("text"))
	case "symbol", "definition":
		return fmt.Sprintf("%s:%s %s", r.text("path"), span(r.number("start"), r.number("end")), r.text("signature"))
	case "piece":
		return strings.TrimRight(fmt.Sprintf("%s:%s %s", r.text("path"), span(r.number("start"), r.number("end")), r.text("symbol")), " ")
	case "link":
		return fmt.Sprintf("%s:%d [[%s]]", r.text("source"), r.number("line"), r.text("link"))
	}
	var parts []string
	for i, n := range r.names {
		parts = append(parts, n+"="+r.values[i].String())
	}
	return r.kind + "(" + strings.Join(parts, ", ") + ")"
}

func span(first, last int) string {
	if last > first {
		return fmt.Sprintf("%d-%d", first, last)
	}
	return fmt.Sprint(first)
}

// shown is a value as show() prints it: what a reader wants to see of it, and no
// more. Lists of hits are grouped by file.
func shown(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.String:
		return strings.TrimSuffix(string(v), "\n")
	case *Record:
		return v.shown()
	case *starlark.Dict:
		var b strings.Builder
		for _, item := range v.Items() {
			fmt.Fprintf(&b, "%s: %s\n", plain(item[0]), plain(item[1]))
		}
		return strings.TrimSuffix(b.String(), "\n")
	case starlark.Indexable: // lists and tuples
		if v.Len() == 0 {
			return "none"
		}
		var b strings.Builder
		file, around := "", ""
		for i := range v.Len() {
			r, ok := v.Index(i).(*Record)
			if !ok {
				b.WriteString(shown(v.Index(i)) + "\n")
				file = ""
				continue
			}
			switch r.kind {
			case "hit", "use", "line":
				if p := r.text("path"); p != file {
					fmt.Fprintf(&b, "# %s\n", p)
					file, around = p, ""
				}
				if s := r.text("symbol"); s != "" && s != around {
					fmt.Fprintf(&b, "@@ %s\n", s)
					around = s
				}
				fmt.Fprintf(&b, "%d | %s\n", r.number("line"), r.text("text"))
			case "symbol":
				if p := r.text("path"); p != file {
					fmt.Fprintf(&b, "# %s\n", p)
					file = p
				}
				fmt.Fprintf(&b, "%s %s\n", span(r.number("start"), r.number("end")), r.text("signature"))
			default:
				b.WriteString(r.shown() + "\n")
				file = ""
			}
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	return plain(v)
}

// shown is a record in full: a definition and a piece with their text.
func (r *Record) shown() string {
	if (r.kind != "definition" && r.kind != "piece") || r.text("text") == "" {
		return r.line()
	}
	var b strings.Builder
	name := r.text("name")
	if c := r.text("container"); c != "" {
		name = c + "." + name
	}
	if r.kind == "piece" {
		name = r.text("symbol")
	}
	fmt.Fprintf(&b, "## %s\n", strings.TrimRight(fmt.Sprintf("%s:%s %s", r.text("path"), span(r.number("start"), r.number("end")), name), " "))
	for i, line := range strings.Split(strings.TrimSuffix(r.text("text"), "\n"), "\n") {
		fmt.Fprintf(&b, "%d | %s\n", r.number("start")+i, line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// plain is a value as print() writes it: a text without quotes.
func plain(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.String:
		return string(v)
	case *Record:
		return v.line()
	}
	return v.String()
}

// output collects what a script prints, up to a limit, and counts the rest.
type output struct {
	text  strings.Builder
	limit int
	cut   int // bytes that are missing
}

func (o *output) line(s string) {
	s += "\n"
	if room := o.limit - o.text.Len(); len(s) > room {
		at := strings.LastIndexByte(s[:max(room, 0)], '\n') + 1 // whole lines
		o.text.WriteString(s[:at])
		o.cut += len(s) - at
		o.limit = o.text.Len() // nothing that is shorter comes after a cut
		return
	}
	o.text.WriteString(s)
}
