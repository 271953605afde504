package textedit

import (
	"errors"
	"strings"
	"testing"

	"quarry/change"
	"quarry/internal/textfile"
)

// TestOtherSpace tests the rules for white space case by case. An empty want means that the
// edit is refused.
func TestOtherSpace(t *testing.T) {
	goFile := "func run() error {\n\tfor _, x := range list {\n\t\tif x.bad() {\n\t\t\treturn errBad\n\t\t}\n\t}\n\treturn nil\n}\n"
	python := "class A:\n    def run(self, items):\n        for item in items:\n            self.check(item)\n        return True\n"
	for _, c := range []struct{ name, file, text, old, new, want, note string }{
		{"4 spaces for tabs", "a.go", goFile, "        if x.bad() {\n            return errBad\n        }\n", "        if x.bad() {\n            log(x)\n            return errBad\n        }\n",
			strings.Replace(goFile, "\t\t\treturn errBad", "\t\t\tlog(x)\n\t\t\treturn errBad", 1), "tabs for 4 spaces"},
		{"2 spaces for tabs, one level deeper", "a.go", goFile, "    if x.bad() {\n      return errBad\n    }\n", "    if x.bad() {\n      if y {\n        log(x)\n      }\n      return errBad\n    }\n",
			strings.Replace(goFile, "\t\t\treturn errBad", "\t\t\tif y {\n\t\t\t\tlog(x)\n\t\t\t}\n\t\t\treturn errBad", 1), "tabs for 2 spaces"},
		{"without the indent", "a.go", goFile, "if x.bad() {\n\treturn errBad\n}\n", "if x.bad() {\n\tlog(x)\n\treturn errBad\n}\n",
			strings.Replace(goFile, "\t\t\treturn errBad", "\t\t\tlog(x)\n\t\t\treturn errBad", 1), "without the common indent"},
		{"no newline at the end of the text", "a.go", goFile, "            return errBad\n        }\n    }\n    return nil\n}", "            return errBad\n        }\n    }\n    return errDone\n}", strings.Replace(goFile, "return nil", "return errDone", 1), "tabs for 4 spaces"},
		{"any white space in Go", "a.go", goFile, "for _, x := range list {\n  if x.bad() {\n  return errBad\n", "for _, x := range list {\n  if x.bad() {\n  // worse\n  return errBad\n",
			"", ""},
		{"any white space in Go, and only known indents", "a.go", goFile, "for _, x := range list {\nif x.bad() {\n    return errBad\n", "for _, x := range list {\nif x.bad() {\n    log(x)\n    return errBad\n",
			strings.Replace(goFile, "\t\t\treturn", "\t\t\tlog(x)\n\t\t\treturn", 1), "other indentation"},
		{"at the ends of lines", "a.go", "\tfirst()  \n\tsecond()\t\n\tthird()\n", "\tfirst()\n\tsecond()\n", "\tfirst()\n\tsecond(2)\n", "\tfirst()  \n\tsecond(2)\n\tthird()\n", "at the ends of lines"},
		{"a line of 20 characters", "a.go", "\tx := compute(a, b, c, d, e)\n", "    x := compute(a, b, c, d, e)\n", "    x := compute(d)\n", "\tx := compute(d)\n", "tabs for 4 spaces"},
		{"at another depth", "a.go", goFile, "\t\t\tif x.bad() {\n\t\t\t\treturn errBad\n\t\t\t}\n", "\t\t\tif x.bad() {\n\t\t\t}\n", "", ""},
		{"the white space is right elsewhere", "a.md", "first line\nsecond line\nthird, changed\n\n  first line\n  second line\n  third line\n", "first line\nsecond line\nthird line\n", "one line\n", "", ""},
		{"too short", "a.go", "\tx := 1\n", "    x := 1\n", "    x := 2\n", "", ""},
		{"two braces", "a.go", "\t\t}\n\t}\n", "    }\n}\n", "    }\n    done()\n}\n", "", ""},
		{"two places, at the ends of lines", "a.go", "\tfirst(1, 2)  \n\tsecond(1, 2)\n\tfirst(1, 2)  \n\tsecond(1, 2)\n", "\tfirst(1, 2)\n\tsecond(1, 2)\n", "\tthird(1, 2)\n", "", ""},
		{"two places", "a.go", goFile + goFile, "    if x.bad() {\n        return errBad\n    }\n", "    if x.bad() {\n    }\n", "", ""},
		{"another word", "a.go", goFile, "    if x.bad() {\n        return errWorse\n    }\n", "    if x.bad() {\n    }\n", "", ""},
		{"only white space changes", "a.go", goFile, "    if x.bad() {\n        return errBad\n", "    if x.bad() {\n    return errBad\n", "", ""},
		{"an indent that is no multiple", "a.go", goFile, "        if x.bad() {\n            return errBad\n        }\n", "        if x.bad() {\n               log(x)\n            return errBad\n        }\n", "", ""},
		{"in a raw string", "a.go", "s := `\n\tfirst line of text\n\tsecond line of text\n`\n", "    first line of text\n    second line of text\n", "    first line\n    second line of text\n", "", ""},
		{"after a raw string", "a.go", "s := `\n\tx\n`\n\tfirst(1, 2, 3)\n\tsecond(1, 2, 3)\n", "    first(1, 2, 3)\n    second(1, 2, 3)\n", "    first(1)\n    second(1, 2, 3)\n", "s := `\n\tx\n`\n\tfirst(1)\n\tsecond(1, 2, 3)\n", "tabs for 4 spaces"},

		{"Python, indented less", "a.py", python, "for item in items:\n    self.check(item)\nreturn True\n", "for item in items:\n    if item:\n        self.check(item)\nreturn True\n",
			strings.Replace(python, "            self.check(item)", "            if item:\n                self.check(item)", 1), "without the common indent"},
		{"Python, tabs", "a.py", python, "\t\tfor item in items:\n\t\t\tself.check(item)\n", "\t\tfor item in items:\n\t\t\tself.check(item, 1)\n", strings.Replace(python, "(item)\n", "(item, 1)\n", 1), "4 spaces for tabs"},
		{"Python, another structure", "a.py", python, "        for item in items:\n            self.check(item)\n            return True\n", "        for item in items:\n            return True\n", "", ""},
		{"Python, the first line less", "a.py", python, "for item in items:\n            self.check(item)\n        return False\n", "x\n", "", ""},
		{"YAML, the same prefix", "a.yaml", "jobs:\n  build:\n    steps:\n      - run: make\n", "build:\n  steps:\n    - run: make\n", "build:\n  steps:\n    - run: make all\n", "jobs:\n  build:\n    steps:\n      - run: make all\n", "without the common indent"},
		{"YAML, another structure", "a.yaml", "jobs:\n  build:\n    steps:\n      - run: make\n", "  build:\n  steps:\n      - run: make\n", "  build:\n", "", ""},
		{"Makefile", "Makefile", "all:\n\tgo build ./...\n\tgo test ./...\n", "    go build ./...\n    go test ./...\n", "    go vet ./...\n", "", ""},
		{"here document", "a.sh", "cat <<'EOF'\n\tfirst line of text\n\tsecond line of text\nEOF\n", "    first line of text\n    second line of text\n", "    first\n", "", ""},
		{"after a here document", "a.sh", "cat <<EOF\nx\nEOF\n\tmake all install\n\tmake check install\n", "    make all install\n    make check install\n", "    make all\n    make check install\n", "cat <<EOF\nx\nEOF\n\tmake all\n\tmake check install\n", "tabs for 4 spaces"},
		{"CRLF", "a.go", "\tfirst(1, 2)\r\n\tsecond(1, 2)\r\n", "    first(1, 2)\n    second(1, 2)\n", "    first(1, 2)\n    more()\n    second(1, 2)\n", "\tfirst(1, 2)\r\n\tmore()\r\n\tsecond(1, 2)\r\n", "tabs for 4 spaces"},
	} {
		doc, err := textfile.New([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		ch, err := ApplyTo(c.file, textfile.InMemory(doc), DefaultMaxSize, nil, change.Edit{Old: c.old, New: c.new, Lenient: true})
		if c.want == "" {
			if missing, ok := errors.AsType[*change.NotFoundError](err); !ok {
				t.Errorf("%s: taken, or %v %v", c.name, missing, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, c.text)
			continue
		}
		if got := string(ch.Bytes()); got != c.want || !strings.Contains(ch.Outcomes[0].Note, "("+c.note+")") {
			t.Errorf("%s: %s\n%s\nwant %s\n%s", c.name, ch.Outcomes[0].Note, got, c.note, c.want)
		}
		if _, err := Apply(doc, change.Edit{Old: c.old, New: c.new}); err == nil {
			t.Errorf("%s: taken by an edit that is exact", c.name)
		}
	}
}

// TestMeant tests other mistakes that models make.
func TestMeant(t *testing.T) {
	text := "func a() {\n\tone(1, 2, 3)\n\ttwo(1, 2, 3)\n}\n\nfunc b(x map[string]int) bool { return x[\"<a>\"] < 3 && true }\n"
	for _, c := range []struct{ name, old, new, want, wrong string }{
		{"line numbers", "2: \tone(1, 2, 3)\n3: \ttwo(1, 2, 3)\n", "2: \tone(1)\n3: \ttwo(1, 2, 3)\n", "func a() {\n\tone(1)\n\ttwo", ""},
		{"line numbers of a search", "  2 | \tone(1, 2, 3)\n  3 | \ttwo(1, 2, 3)", "\tone(1)\n\ttwo(1, 2, 3)", "func a() {\n\tone(1)\n\ttwo", ""},
		{"numbers that don't count up", "2: \tone(1, 2, 3)\n7: \ttwo(1, 2, 3)\n", "\tone(1)\n", "", "not found"},
		{"some new lines have numbers", "2: \tone(1, 2, 3)\n3: \ttwo(1, 2, 3)\n", "2: \tone(1)\n\tmore()\n3: \ttwo(1, 2, 3)\n", "", "not found"},
		{"entities", "return x[\"&lt;a&gt;\"] &lt; 3 &amp;&amp; true", "return false", "", "not found"},
		{"already so", "\tzero(1, 2, 3)\n\ttwo(1, 2, 3)\n", "\tone(1, 2, 3)\n\ttwo(1, 2, 3)\n", "", "already so"},
		{"already so, but short", "\tzero()\n", "}\n", "", "not found"},
		{"a line of a comment", "\tone(1, 2, 3)\n", "\t/*\n\t * ...\n\t */\n\tone(1)\n", "", ""},
		{"existing code", "\tone(1, 2, 3)\n", "\tone(1)\n\t// ... existing code ...\n", "", "left out"},
		{"rest of the function", "\tone(1, 2, 3)\n", "\tone(1)\n\t// … rest of the function\n", "", "left out"},
		{"an ellipsis alone", "\tone(1, 2, 3)\n", "\tone(1)\n\t# ...\n", "", "left out"},
		{"rest, then an ellipsis", "\tone(1, 2, 3)\n", "\tone(1)\n\t/* rest of code unchanged ... */\n", "", "left out"},
		{"spread", "\tone(1, 2, 3)\n", "\tone(\n\t\t...args)\n\t// waits ... then goes on\n", "func a() {\n\tone(\n\t\t...args)\n\t// waits ... then", ""},
		{"white space that was made already", "    one(1, 2)\n    two(1, 2, 3)\n", "\tone(1, 2, 3)\n\ttwo(1, 2, 3)\n", "", "already so"},
	} {
		doc, err := textfile.New([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		ch, err := ApplyTo("a.go", textfile.InMemory(doc), DefaultMaxSize, nil, change.Edit{Old: c.old, New: c.new, Lenient: true})
		switch {
		case c.wrong != "":
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v, want %s", c.name, err, c.wrong)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case !strings.HasPrefix(string(ch.Bytes()), c.want):
			t.Errorf("%s: %s", c.name, ch.Bytes())
		}
	}
	doc, err := textfile.New([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Apply(doc, change.Edit{Old: "&lt;a&gt;", New: "x", Lenient: true})
	if missing, ok := errors.AsType[*change.NotFoundError](err); !ok || missing.Near == nil || !strings.Contains(missing.Near.Reason, "HTML entities") {
		t.Errorf("entities: %v", err)
	}
}
