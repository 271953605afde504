package glob

import "testing"

// A class that contains a slash matches a slash in ripgrep's globs, but not under git's rules.
func TestClassWithSlash(t *testing.T) {
	for _, c := range []struct {
		glob, path string
		want       bool
	}{
		{"abc[/]def", "abc/def", true},
		{"abc[!x]def", "abc/def", true},
		{"abc[!x]def", "z/abc/def", true},
		{"abc[!x]def", "abc-def", true},
		{"abc[!x]def", "abcxdef", false},
		{"/abc[.-0]def", "abc/def", true},
		{"a*[/x]*b", "axx/yb", true},
		{"a*[/x]*b", "axxyb", true},
		{"a[!/]b", "a/b", false},
		{"abc[/]def/", "abc/def/x", true},
		{"[!a]b", "b", false},
		{"[!a]*", "x/abc", false},
		{"[!a]*", "x/bc", true},
	} {
		g, err := Compile(c.glob, Gitignore)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Match(c.path); got != c.want {
			t.Errorf("Match(%q, %q) = %v, want %v", c.glob, c.path, got, c.want)
		}
	}
	if CompileWild("abc[/]def", true).Match("abc/def") {
		t.Error("a class of an ignore rule matches a slash")
	}
}

// A negated group before a star matches as in bash and minimatch 11. In older versions of
// minimatch !(b) considers the text after it.
func TestNegatedGroupBeforeStar(t *testing.T) {
	for _, c := range []struct {
		glob, path string
		want       bool
	}{
		{"a!(b)*", "ab", true},
		{"*.!(js)*", "foo.js.js", true},
		{"foo/**/!(bazqux)*.js", "foo/bazqux.js", true},
		{"a!(@(b|B))", "aB", false},
		{"a!(@(b|B))", "a", true},
		{"[[:punct:]]", "+", true},
	} {
		g, err := Compile(c.glob, Minimatch)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Match(c.path); got != c.want {
			t.Errorf("Match(%q, %q) = %v, want %v", c.glob, c.path, got, c.want)
		}
	}
}

// A walk that lists folders must not list entries below an excluded one.
func TestFilterPruning(t *testing.T) {
	f, err := CompileFilter(Gitignore, "*.go", "!two")
	if err != nil {
		t.Fatal(err)
	}
	p := f.Pruning()
	if p.Descend("two") || p.Descend("one/two") || !p.Descend("one") || !p.MatchFile("a.txt") || !p.MatchDir("two") {
		t.Error("a pruning filter must exclude the folder two, and let everything else pass")
	}
	if !f.ExcludesAbove("one/two/x.go") || f.ExcludesAbove("one/two") {
		t.Error("ExcludesAbove: want true below two, false for two itself")
	}
	if only, _ := CompileFilter(Gitignore, "*.go"); only.Pruning() != nil {
		t.Error("includes alone prune nothing")
	}
}
