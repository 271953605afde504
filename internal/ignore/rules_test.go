package ignore

import (
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		name, rules string
		yes, no     []string // a trailing slash marks a folder
	}{
		{"a name at any depth", "foo\n", []string{"foo", "a/foo", "foo/x", "a/foo/"}, []string{"foox", "xfoo"}},
		{"a folder only", "build/\n", []string{"build/", "a/build/", "build/x", "a/build/x/y"}, []string{"build", "a/build"}},
		{"anchored by a leading slash", "/foo\n", []string{"foo", "foo/x"}, []string{"a/foo"}},
		{"anchored by a slash inside", "a/foo\n", []string{"a/foo"}, []string{"b/a/foo"}},
		{"extension", "*.o\n", []string{"x.o", "a/.o", "a/b.c.o"}, []string{"x.op", "o"}},
		{"negation", "*.o\n!keep.o\n", []string{"x.o"}, []string{"keep.o", "a/keep.o"}},
		{"the last line decides", "!keep.o\n*.o\n", []string{"keep.o"}, nil},
		{"no way back into an ignored folder", "a/\n!a/keep\n", []string{"a/keep"}, nil},
		{"a way back when only the content is ignored", "a/*\n!a/keep\n", []string{"a/x"}, []string{"a/keep"}},
		{"leading **/", "**/foo/bar\n", []string{"foo/bar", "x/y/foo/bar"}, []string{"foo/x/bar"}},
		{"trailing /**", "abc/**\n", []string{"abc/x", "abc/x/y"}, []string{"abc", "abc/"}},
		{"inner /**/", "a/**/b\n", []string{"a/b", "a/x/b", "a/x/y/b"}, []string{"ab", "a/bx"}},
		{"** beside a character is *", "a**b/c\n", []string{"axb/c"}, []string{"x/ab/c"}},
		{"** behind a class is *", "[ab]**/c\n", []string{"ax/c", "b/c"}, []string{"a/x/c", "ac"}},
		{"** right behind plain text", "/foo**/bar\n", []string{"foobar", "foox/bar", "foo/bar"}, []string{"fo/bar"}},
		{"trailing spaces are cut", "foo  \nbar\\ \n", []string{"foo", "bar "}, []string{"foo  ", "bar"}},
		{"tabs are not", "foo\t\n", []string{"foo\t"}, []string{"foo"}},
		{"CRLF", "foo\r\nbar\r\n", []string{"foo", "bar"}, nil},
		{"comments and their escape", "#foo\n\\#bar\n", []string{"#bar"}, []string{"#foo", "foo"}},
		{"escaped !", "\\!foo\n", []string{"!foo"}, []string{"foo"}},
		{"a byte order mark", "\xef\xbb\xbffoo\n", []string{"foo"}, nil},
		{"no newline at the end", "foo", []string{"foo"}, nil},
		{"classes", "[a-c][!x]\n", []string{"ay", "c1"}, []string{"ax", "dy", "a/"}},
		{"an unclosed class matches nothing", "[ab\nfoo[\n", nil, []string{"[ab", "a", "foo["}},
		{"? is one byte, as in git", "?\n", []string{"a"}, []string{"é"}},
		{"a slash alone", "/\n//\n!\n!/\n", nil, []string{"a", "a/"}},
		{"an escape at the end", "foo\\\n", nil, []string{"foo", "foo\\"}},
	} {
		m := NewMatcher([]Folder{{Sets: []Set{{Kind: Git, Rules: Parse("", []byte(c.rules))}}}})
		check := func(paths []string, want bool) {
			for _, p := range paths {
				isDir := p[len(p)-1] == '/'
				if isDir {
					p = p[:len(p)-1]
				}
				if got := m.Match(p, isDir); got.Ignored != want {
					t.Errorf("%s: Match(%q) = %+v, want %v", c.name, p, got, want)
				}
			}
		}
		check(c.yes, true)
		check(c.no, false)
	}
}

// TestKinds checks that the kind of a file has precedence over the depth of its folder.
func TestKinds(t *testing.T) {
	set := func(k Kind, text string) Set { return Set{Kind: k, Rules: Parse(k.String(), []byte(text))} }
	f := (*Frame)(nil).Push("", false, set(Global, "a\nb\nc\nd\n"), set(Exclude, "!a\nb\n"), set(Git, "!b\nc\n"), set(Dot, "!c\n"), set(Rg, "d\n"), set(Roo, "!d\n"))
	sub := f.Push("sub", false, set(Git, "c\n!e\n"), set(Extra, "z\n"))
	for _, c := range []struct {
		frame *Frame
		path  string
		want  bool
		kind  Kind
	}{
		{f, "a", false, Exclude}, {f, "b", false, Git}, {f, "c", false, Dot}, {f, "d", false, Roo},
		{sub, "sub/c", false, Dot}, // .ignore above has precedence over .gitignore here
		{sub, "sub/e", false, Git}, {sub, "sub/z", true, Extra},
	} {
		if d := c.frame.Decide(c.path, false); d.Ignored != c.want || d.Rule.Kind != c.kind {
			t.Errorf("Decide(%q) = %+v, want %v by %v", c.path, d, c.want, c.kind)
		}
	}
	inner := sub.Push("sub/repo", true, set(Git, "q\n"))
	for path, want := range map[string]bool{"sub/repo/q": true, "sub/repo/e": false, "sub/repo/z": true, "sub/repo/a": true} {
		if d := inner.Decide(path, false); d.Ignored != want {
			t.Errorf("in a repository of its own, Decide(%q) = %+v, want %v", path, d, want)
		}
	}
	var none *Frame
	if none.Answer("a", "a", true) != NoRule || none.Decide("a", true) != (Decision{}) || none.Push("x", false) != nil {
		t.Error("the nil frame ignores something")
	}
}

// TestAboveRoot checks that rules from the repository around the workspace apply to paths
// relative to their folder.
func TestAboveRoot(t *testing.T) {
	above := Set{Kind: Git, Above: "top/project", Rules: Parse("../../.gitignore", []byte("/top/project/out\n/src\n*.log\ntop/*/tmp/\n"))}
	m := NewMatcher([]Folder{{Sets: []Set{above, {Kind: Git, Rules: Parse(".gitignore", []byte("!keep.log\n"))}}}})
	if d := m.Match("", true); d.Ignored {
		t.Errorf("the root is ignored by %+v", d)
	}
	for path, want := range map[string]bool{"out": true, "src": false, "a/x.log": true, "keep.log": false, "tmp/x": true, "a/tmp/x": false} {
		if d := m.Match(path, false); d.Ignored != want {
			t.Errorf("Match(%q) = %+v, want %v", path, d, want)
		}
	}
}

func TestFileKind(t *testing.T) {
	for name, want := range map[string]Kind{".gitignore": Git, ".ignore": Dot, ".rgignore": Rg, ".rooignore": Roo} {
		if k, ok := FileKind(name); !ok || k != want || k.String() != name {
			t.Errorf("FileKind(%q) = %v, %v", name, k, ok)
		}
	}
	for _, name := range []string{"", "gitignore", ".gitignor", ".dockerignore", ".gitignore2"} {
		if k, ok := FileKind(name); ok {
			t.Errorf("FileKind(%q) = %v", name, k)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("foo\n!bar/\n/a/**/b\n[a-\\]x]\\ \n*.o\r\n\x00"), "a/b.o", true)
	f.Add([]byte("\xef\xbb\xbf#\n\\#\n**"), "é/#", false)
	f.Add([]byte("[[:alpha:][:x]\n***/a\n**\\/b"), "b", true)
	f.Fuzz(func(t *testing.T, data []byte, path string, isDir bool) {
		if len(data) > 500 || len(path) > 200 || path == "" || path[0] == '/' || path[len(path)-1] == '/' {
			return
		}
		r := Parse("f", data)
		m := NewMatcher([]Folder{{Sets: []Set{{Kind: Git, Rules: r}}}})
		d := m.Match(path, isDir)
		if d.Ignored && (d.Rule.Line < 1 || d.Rule.Pattern == "") {
			t.Fatalf("ignored by %+v", d)
		}
		// The shortcuts must agree with trying every rule in turn.
		name := path
		for i := len(path) - 1; i >= 0; i-- {
			if path[i] == '/' {
				name = path[i+1:]
				break
			}
		}
		want := int32(-1)
		for i := range r.list {
			u := &r.list[i]
			text := name
			if u.path {
				text = path
			}
			if (isDir || !u.dirOnly) && u.wild.Match(text) {
				want = int32(i)
			}
		}
		if got := r.match(path, name, isDir); got != want {
			t.Fatalf("%q, %q: rule %d, one by one %d", data, path, got, want)
		}
	})
}

func BenchmarkIgnored(b *testing.B) {
	rules := Parse(".gitignore", []byte(".*\n*.a\n*.asn1.[ch]\n*.bin\n*.o\n*.ko\n*.mod\n*.patch\n*.so\n*.tar\n/tags\n/vmlinux\nMODULE.symvers\nmodules.order\n!.gitignore\n!.clang-format\n/debian/\n/include/config/\n"))
	f := (*Frame)(nil).Push("", false, Set{Kind: Git, Rules: rules}).Push("drivers/gpu", false, Set{Kind: Git, Rules: Parse("", []byte("*.hex\n/gen_*\n"))})
	b.ReportAllocs()
	for b.Loop() {
		f.Answer("drivers/gpu/drm/amd/display/dc/dml/dcn20/display_mode_vba_20.c", "display_mode_vba_20.c", false)
	}
}
