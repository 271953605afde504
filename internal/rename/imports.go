package rename

import (
	"context"
	"path"
	"slices"
	"strings"

	"quarry/internal/symbols"
)

// origin tells where the renamed name comes from in a file that may import it.
type origin struct {
	rest    verdict            // verdict for occurrences outside import statements
	at      map[int]verdict    // verdicts in import statements, by token index
	modules map[string]verdict // verdicts for the name after a module's name and a dot
}

// imports determines where the renamed name comes from according to the file's imports.
// The result is cached.
func (c *code) imports() *origin {
	if c.from != nil {
		return c.from
	}
	c.from = &origin{at: map[int]verdict{}, modules: map[string]verdict{}}
	switch c.Language {
	case "Java", "Kotlin", "Scala":
		c.importsByPackage()
	case "Python":
		c.importsOfPython()
	case "JavaScript", "TypeScript":
		c.importsOfScript()
	default:
		if c.from.rest = (verdict{sure, ""}); !c.alone {
			c.from.rest = verdict{doubtful, "other definitions have the name"}
		}
		return c.from
	}
	if c.from.rest.class == sure && slices.ContainsFunc(c.defs, func(d symbols.Symbol) bool { return d.Name == c.name && isType(d.Kind.String()) == c.isType() }) {
		c.from.rest = verdict{doubtful, "the file defines another"}
	}
	return c.from
}

// findCarriers finds the files from which the name can be imported: they import it from
// the definition's file, directly or through others.
func (f *finder) findCarriers(ctx context.Context, from Source, paths []string) error {
	if f.member || !slices.Contains([]string{"Python", "JavaScript", "TypeScript"}, f.lang) {
		return nil
	}
	texts := f.out.Texts
	for known := -1; known != len(f.carriers); {
		known = len(f.carriers)
		for _, p := range paths {
			if lang := symbols.Language(p, nil); lang != f.lang && !related(lang, f.lang) || f.carriers[stem(p)] {
				continue
			}
			c, _, err := f.take(ctx, from, p)
			if err != nil {
				return err
			}
			if c == nil {
				continue
			}
			for _, v := range c.imports().at {
				if v.class == sure {
					f.carriers[stem(p)] = true
				}
			}
		}
	}
	f.out.Texts = texts
	return nil
}

// dotted reads the dotted name that begins at token k, and returns the index of the token
// after it.
func (c *code) dotted(k int) (words string, next int) {
	for c.word(k) && (words == "" || !c.Tokens[k].First) {
		words += c.str(k)
		if k++; !c.punct(k, ".") || !c.word(k+1) {
			break
		}
		words += "."
		k++
	}
	return words, k
}

// packageOf returns the package declared in a Java, Kotlin or Scala file.
func (c *code) packageOf() string {
	for k := range c.Tokens {
		if c.Tokens[k].First && c.str(k) == "package" {
			words, _ := c.dotted(k + 1)
			return words
		}
	}
	return ""
}

// importsByPackage reads the imports of Java, Kotlin and Scala. A name that a file does not
// import comes from the file's own package, or from a package that is imported as a whole.
func (c *code) importsByPackage() {
	o := c.from
	switch c.packageOf() {
	case c.pkg:
		o.rest = verdict{sure, ""}
	default:
		o.rest = verdict{left, "not imported"}
		if c.Language != "Java" {
			o.rest = verdict{doubtful, "no import says what it is"}
		}
	}
	own := strings.TrimPrefix(c.pkg+"."+c.whole(), ".")
	named := false
	for k := range c.Tokens {
		if !c.Tokens[k].First || c.str(k) != "import" {
			continue
		}
		if k++; c.str(k) == "static" {
			k++
		}
		words, next := c.dotted(k)
		switch v := (verdict{left, "of " + words}); {
		case c.punct(next, "{"):
			o.rest, named = verdict{doubtful, "imported with others"}, true
		case c.punct(next, ".") && !named && words+"."+c.name == own:
			o.rest = verdict{sure, ""}
		case words[strings.LastIndexByte(words, '.')+1:] == c.name:
			if words == own {
				v = verdict{sure, ""}
			}
			if o.at[next-1] = v; c.str(next) != "as" {
				o.rest, named = v, true
			}
		case c.str(next) == "as" && c.str(next+1) == c.name:
			o.rest, named, o.at[next+1] = v, true, v
		}
	}
	o.modules[strings.TrimSuffix(strings.TrimSuffix(own, c.name), ".")] = verdict{sure, ""}
}

// whole returns the definition's name, qualified by its container.
func (f *finder) whole() string { return qualified(&f.targets[0]) }

// importsOfPython reads Python's import and from statements.
func (c *code) importsOfPython() {
	o := c.from
	o.rest = verdict{left, "not imported"}
	for k := 0; k < len(c.Tokens); k++ {
		if !c.Tokens[k].First || c.str(k) != "from" && c.str(k) != "import" {
			continue
		}
		from, src := c.str(k) == "from", ""
		if k++; from {
			for ; c.punct(k, "."); k++ {
				src += "."
			}
			words, next := c.dotted(k)
			if c.str(k) == "import" {
				words, next = "", k
			}
			src += words
			k = next + 1
		}
		open := c.punct(k, "(")
		for ; k < len(c.Tokens) && (open || !c.Tokens[k].First) && !c.punct(k, ")") && !c.punct(k, ";"); k++ {
			if c.punct(k, "*") && o.rest.class != sure {
				o.rest = verdict{doubtful, "imported by * from " + src}
			}
			if !c.word(k) {
				continue
			}
			name, next := c.dotted(k)
			bound, at := name, next-1
			if c.str(next) == "as" {
				bound, next = c.str(next+1), next+2
			}
			if !from {
				o.modules[bound] = c.module(name)
			} else {
				if name == c.name {
					o.at[at] = c.module(src)
				}
				if o.modules[bound] = c.module(strings.TrimSuffix(src, ".") + "." + name); strings.Trim(src, ".") == "" {
					o.modules[bound] = c.module(src + name)
				}
			}
			if from && bound == c.name {
				if o.rest = c.module(src); name != c.name {
					o.rest, o.at[next-1] = verdict{left, "another name for " + name}, verdict{left, "another name for " + name}
				}
			}
			k = next - 1
		}
		k--
	}
}

// module judges a Python module: whether it is the definition's file or re-exports the
// name.
func (c *code) module(name string) verdict {
	at := strings.ReplaceAll(name, ".", "/")
	if dots := len(name) - len(strings.TrimLeft(name, ".")); dots > 0 {
		up := c.dir
		for range dots - 1 {
			up = path.Dir(up)
		}
		return c.judgeFile(path.Join(up, at[dots:]), name)
	}
	for root := c.dir; ; root = path.Dir(root) {
		if v := c.judgeFile(path.Join(root, at), name); v.class == sure || root == "." || root == "/" {
			if v.class != sure && !strings.HasSuffix(strings.TrimSuffix(stem(c.home), "/__init__"), "/"+at) {
				v = verdict{left, "of " + name}
			}
			return v
		}
	}
}

// judgeFile judges a file, given by its path without extension: whether it defines the
// name or imports it from the definition.
func (c *code) judgeFile(at, shown string) verdict {
	for _, p := range []string{at, at + "/index", at + "/__init__"} {
		if c.carriers[p] {
			return verdict{sure, ""}
		}
	}
	return verdict{doubtful, "imported from " + shown}
}

// stem returns a path without a source file's extension.
func stem(p string) string {
	p = strings.TrimSuffix(p, path.Ext(p))
	return strings.TrimSuffix(p, ".d")
}

// importsOfScript reads import, export and require of JavaScript and TypeScript.
func (c *code) importsOfScript() {
	o := c.from
	o.rest = verdict{doubtful, "no import says what it is"}
	for k := range c.Tokens {
		if (c.str(k) == "import" || c.str(k) == "export") && c.Tokens[k].First && o.rest.class == doubtful && len(o.at) == 0 {
			o.rest = verdict{left, "not imported"}
		}
		if c.Tokens[k].Kind != symbols.Text || c.str(k-1) != "from" && !(c.punct(k-1, "(") && c.str(k-2) == "require") {
			continue
		}
		src := strings.Trim(c.str(k), "\"'`")
		v := verdict{doubtful, "imported from " + src}
		if strings.HasPrefix(src, ".") {
			at := path.Join(c.dir, src)
			if v = c.judgeFile(at, src); v.class != sure && slices.Contains([]string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts"}, path.Ext(at)) {
				v = c.judgeFile(stem(at), src)
			}
		}
		first := k - 1
		for first > 0 && !(c.Tokens[first].First && slices.Contains([]string{"import", "export", "const", "let", "var"}, c.str(first))) {
			first--
		}
		for t := first + 1; t < k; t++ {
			if !c.word(t) {
				continue
			}
			open := c.opener(t)
			braces := open > first && c.punct(open, "{")
			switch aliased := c.str(t+1) == "as" || c.punct(t+1, ":"); {
			case !braces && (c.str(t-1) == "as" || c.str(first) != "import" && c.punct(t+1, "=")):
				o.modules[c.str(t)] = v
				fallthrough
			case !braces && c.str(t) == c.name, braces && c.str(t) == c.name && (c.str(t-1) == "as" || c.punct(t-1, ":")):
				if c.str(t) == c.name {
					other := verdict{left, "a name of this file"}
					o.at[t], o.rest = other, other
				}
			case braces && c.str(t) != c.name && o.modules[c.str(t)] == (verdict{}):
				o.modules[c.str(t)] = verdict{doubtful, "a member of what is imported from " + src}
			case braces && c.str(t) == c.name:
				if o.at[t] = v; !aliased && c.str(first) != "export" {
					o.rest = v
				}
			}
		}
	}
}
