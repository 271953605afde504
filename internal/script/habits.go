package script

import (
	"regexp"
	"strings"
	"sync"
)

// Habits of Python that Starlark lacks, and how to write it instead. The first
// that fits the line of the error is the hint. They are compiled when a script fails:
// all commands would pay for it at their start.
var habits = []struct{ line, hint string }{
	{`^\s*(import|from)\b`, `Nothing is imported: all functions are there. help() lists them; findall(regex, text) stands for re.`},
	{`(^|[^\w"'])[fF]["']`, `There are no f-strings: write "%s:%d" % (path, n) or "{}:{}".format(path, n).`},
	{`^\s*(try|except|finally|raise)\b`, `There is no try: an error ends the script and nothing is changed. Test first, as "if x in text", or end with fail("why").`},
	{`^\s*with\b|\bopen\s*\(`, `Files are read with read(path) and written with write(path, text).`},
	{`^\s*class\b`, `There are no classes: use a dict, or struct-like values of the functions.`},
	{`^\s*(global|nonlocal)\b`, `There is no global: a function may change a list or a dict of the script.`},
	{`\byield\b|\basync\b|\bawait\b`, `There are no generators: build a list.`},
	{`\bis\s+(not\s+)?None\b|\bis\b`, `Compare with == and !=.`},
	{`^\s*assert\b`, `Write: if not x: fail("why").`},
	{`\bre\.`, `findall(regex, text) finds in a text; search(regex, path=…) in files.`},
	{`\bos\.|\bglob\.|\bpathlib\b|\bPath\(`, `files("*.go", path=…) lists files; read(path) reads one.`},
	{`\bsum\s*\(`, `There is no sum: add up in a loop, or len(list).`},
	{`\*\*`, `There is no power operator.`},
	{`^\s*\w+\s*:\s*\w+\s*=`, `There are no type annotations.`},
	{`^\s*del\b`, `There is no del: d.pop(key) removes from a dict.`},
	{`:=`, `There is no :=; assign on a line of its own.`},
}

// known are names of Python and shells that models try, and what stands for them.
var known = map[string]string{
	"grep": "search", "rg": "search", "find": "files", "glob": "files", "ls": "files", "cat": "read", "open": "read", "read_file": "read",
	"edit": "replace", "edit_file": "replace", "write_file": "write", "search_files": "search", "find_symbol": "definition", "outline": "symbols",
	"search_code": "rank", "rename": "move", "mv": "move", "rm": "delete", "uses": "references", "usages": "references", "refs": "references", "re": "findall", "sed": "sub", "json": "value", "yaml": "value", "toml": "value", "jq": "value", "yq": "value", "get_value": "value", "isfile": "exists", "isdir": "exists", "stat": "exists",
}

var undefined = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`undefined: (\w+)`)
})

// habit is the next step for an error, "" if nothing is known.
func habit(e *Error) string {
	if m := undefined().FindStringSubmatch(e.Message); m != nil {
		names := []string{"show", "print", "help"}
		for i := range Functions {
			names = append(names, Functions[i].Name)
		}
		if f := function(known[m[1]]); f != nil {
			return "Use " + f.signature() + ". " + f.About
		}
		if near := nearest(m[1], names); near != "" {
			return strings.ToUpper(near[2:3]) + near[3:]
		}
	}
	for _, h := range habits {
		if regexp.MustCompile(h.line).MatchString(e.Source) {
			return h.hint
		}
	}
	switch {
	case strings.Contains(e.Message, "called recursively"):
		return "There is no recursion: use a loop with a list of what is left to do."
	case strings.Contains(e.Message, "undefined:"):
		return "help() lists the functions."
	case strings.Contains(e.Message, "string += ") || strings.Contains(e.Message, "unknown binary op: string + "):
		return "Turn numbers into text with str(n)."
	}
	return ""
}

// nearest is "; did you mean X?" for the most similar of some names, "" if none is.
func nearest(name string, names []string) string {
	best, at := "", 3
	for _, n := range names {
		d := distance(strings.ToLower(name), n)
		if strings.HasPrefix(n, strings.ToLower(name)) || strings.HasPrefix(strings.ToLower(name), n) {
			d = min(d, 2)
		}
		if d < at {
			best, at = n, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance is Levenshtein's.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
