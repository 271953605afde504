package config

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func noEnv(string) string { return "" }

// effective lists the settings as KEY VALUE SOURCE.
func effective(t *testing.T, f *File, env Env, dir string) string {
	t.Helper()
	list, err := f.Effective(env, dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range list {
		if s.Source != FromDefault {
			b.WriteString(s.Path() + " " + s.Shown() + " " + string(s.Source) + " " + strings.TrimPrefix(s.Where, f.Name) + "\n")
		}
	}
	return b.String()
}

const example = `
# every workspace
[search]
hidden = true            # a comment
glob = ["*.go", '!vendor/**', # mine
  "a\tb"]
timeout = "90s"
context = 2

[mcp]
allow = ".env.example"
[journal]
keep-size = "1GB"
keep-age = "60d"

[root."~/notes".mcp]
profile = "vault"
[root."~/notes"]
search.hidden = false
find = { sort = "mtime", limit = 1_000 }
[root."~/notes/deep"]
search.context = 5
[root.'/srv/my app'.search]
color = "never"
`

// here adds a drive letter to the absolute paths in a text on Windows.
func here(text string) string {
	if runtime.GOOS != "windows" {
		return text
	}
	return regexp.MustCompile(`(^|["'])/(home|srv|a|r|h|c)\b`).ReplaceAllString(text, "${1}C:/$2")
}

func TestParse(t *testing.T) {
	f, err := Parse("f", []byte(here(example)), here("/home/u"))
	if err != nil {
		t.Fatal(err)
	}
	everywhere := `search.glob ["*.go", "!vendor/**", "a\tb"] file :5
search.hidden true file :4
search.context 2 file :8
search.timeout "1m30s" file :7
mcp.allow [".env.example"] file :11
journal.keep-size "1GB" file :13
journal.keep-age "60d" file :14
`
	for _, c := range []struct {
		name, dir string
		want      string
	}{
		{"elsewhere", "/srv", everywhere},
		{"a folder beside", "/home/u/notes2", everywhere},
		{"a section and what lies below", "/home/u/notes/deep/er", `search.glob ["*.go", "!vendor/**", "a\tb"] file :5
search.hidden false root section :19
search.context 5 root section :22
search.timeout "1m30s" file :7
find.sort "mtime" root section :20
find.limit 1000 root section :20
mcp.profile "vault" root section :17
mcp.allow [".env.example"] file :11
journal.keep-size "1GB" file :13
journal.keep-age "60d" file :14
`},
		{"a name with a space", "/srv/my app", strings.Replace(everywhere, "search.timeout", "search.color \"never\" root section :24\nsearch.timeout", 1)},
	} {
		got := effective(t, f, noEnv, filepath.FromSlash(here(c.dir)))
		want := strings.Split(strings.TrimSpace(c.want), "\n")
		lines := strings.Split(strings.TrimSpace(got), "\n")
		if diff := cmp.Diff(order(want), order(lines)); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

// order sorts lines in the order of keys.
func order(lines []string) []string {
	var out []string
	for _, k := range Keys() {
		for _, l := range lines {
			if strings.HasPrefix(l, k.Path()+" ") {
				out = append(out, l)
			}
		}
	}
	return out
}

// The environment takes precedence over the folder's section, and that over the rest of
// the file.
func TestPrecedence(t *testing.T) {
	f, err := Parse("f", []byte(here("search.context = 1\n[root.'/r']\nsearch.context = 2\n")), here("/home/u"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ env, dir, want string }{
		{"", "/x", "search.context 1 file :1\n"},
		{"", "/r", "search.context 2 root section :3\n"},
		{"3", "/r", "search.context 3 environment QUARRY_SEARCH_CONTEXT\n"},
	} {
		env := func(name string) string {
			if name == "QUARRY_SEARCH_CONTEXT" {
				return c.env
			}
			return ""
		}
		if got := effective(t, f, env, filepath.FromSlash(here(c.dir))); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	_, err = f.Effective(func(string) string { return "x" }, "/x")
	if err == nil || !strings.Contains(err.Error(), "QUARRY_SEARCH_SYNTAX") {
		t.Errorf("a wrong variable: %v", err)
	}
}

// Every error has the line and the key, and the key probably intended.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"\n[search]\nhiden = true\n", "f:3: search.hiden: unknown key\n  did you mean hidden?"},
		{"[serach]\nhidden = true\n", "f:1: serach: unknown section\n  did you mean search?"},
		{"hidden = true\n", "f:1: hidden: a key needs its section\n  did you mean search.hidden?"},
		{"search = true\n", "f:1: search: this is a section: write search.KEY = …, or [search] and its keys below"},
		{"[search]\nhidden = \"yes\"\n", `f:2: search.hidden: this is a text, it has to be true or false`},
		{"[search]\ncontext = true\n", `f:2: search.context: this is true or false, it has to be a number`},
		{"[search]\ncontext = -1\n", `f:2: search.context: invalid number "-1": write 0 or more`},
		{"[search]\ncontext = 1.5\n", `f:2: search.context: this is a number with a point, it has to be a number`},
		{"[search]\ncontext = 1979-05-27\n", `f:2: search.context: this is a date, it has to be a number`},
		{"[search]\nsyntax = \"rut\"\n", `f:2: search.syntax: "rut" is none of rust, javascript, javascript/u, javascript/v, literal: did you mean "rust"?`},
		{"[search]\nglob = [1]\n", "f:2: search.glob: every item of the list has to be a text in quotes"},
		{"[index]\nidle = \"soon\"\n", `f:2: index.idle: invalid time "soon": write 90s, 1h or 30d`},
		{"[journal]\nkeep-size = \"many\"\n", `f:2: journal.keep-size: invalid size "many": write a size as 512KB, 256MB or 2GB`},
		{"[search]\nhidden = true\nhidden = false\n", "f:3: search.hidden: it is set already, on line 2"},
		{"search.hidden = true\n[search]\nhidden = false\n", "f:3: search.hidden: it is set already, on line 1"},
		{"[search]\n[find]\n[search]\n", "f:3: search: the section is there already, on line 1"},
		{"[[search]]\n", "f:1: search: a section has single brackets here"},
		{"[search.more]\n", "f:1: search.more: a section has no sections of its own"},
		{"[root]\n", `f:1: root: the section of a folder is [root."/path/of/it"]`},
		{"[root.notes]\n", "f:1: root.notes: the folder of a section has to be absolute, or start with ~/"},
		{"[root.'/a']\n[root.'/a/']\n", `f:2: root."/a/": this is the folder of line 1`},
		{"[root.'/a']\nmcp.root = 'x'\n", `f:2: root."/a".mcp.root: this can't be set for one folder: put it into [mcp] at the top`},
		{"[root.'/a']\nhidden = true\n", "f:2: root.\"/a\".hidden: a key needs its section\n  did you mean search.hidden?"},
		{"[root]\n'/a' = 3\n", `f:1: root: the section of a folder is [root."/path/of/it"]`},
		{"\n\n[search\nhidden = true\n", "f:3: expected ']' to close table name"},
		{"[search]\nhidden = \n", "f:2: unexpected character U+000A at start of value"},
		{"[search]\nglob = \"a\n", "f:2: basic strings cannot have new lines"},
		{"[search]\nhidden = yes\n", "f:2: unexpected character U+0079 'y' at start of value"},
		{"a\xff = 1", "f:1: expected '=' after key"},
	} {
		_, err := Parse("f", []byte(here(c.text)), here("/home/u"))
		var fe *FileError
		if !errors.As(err, &fe) {
			t.Errorf("%q: %v", c.text, err)
		} else if fe.Error() != here(c.want) {
			t.Errorf("%q:\n got %s\nwant %s", c.text, fe, c.want)
		}
	}
}

func TestLoad(t *testing.T) {
	home := t.TempDir()
	vars := map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, "conf")}
	env := func(name string) string { return vars[name] }
	if f, err := Load(env); err != nil || f.Name != "" {
		t.Errorf("without a file: %+v %v", f, err)
	}
	name := filepath.Join(home, "conf", "quarry", FileName)
	write(t, name, "search.hidden = true\n")
	if f, err := Load(env); err != nil || f.Name != name || effective(t, f, noEnv, "/") != "search.hidden true file :1\n" {
		t.Errorf("with one: %+v %v", f, err)
	}
	vars["QUARRY_CONFIG"] = "~/other.toml"
	if _, err := Load(env); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "QUARRY_CONFIG") {
		t.Errorf("a file that is named and not there: %v", err)
	}
	write(t, filepath.Join(home, "other.toml"), "\xef\xbb\xbffind.hidden = true\n")
	if f, err := Load(env); err != nil || effective(t, f, noEnv, "/") != "find.hidden true file :1\n" {
		t.Errorf("another: %+v %v", f, err)
	}
	vars["QUARRY_CONFIG"] = os.DevNull
	if f, err := Load(env); err != nil || effective(t, f, noEnv, "/") != "" {
		t.Errorf("none: %+v %v", f, err)
	}
	vars["QUARRY_CONFIG"] = home
	if _, err := Load(env); err == nil {
		t.Error("a folder was read")
	}
}

func TestUnknownVariables(t *testing.T) {
	got := UnknownVariables([]string{"PATH=/bin", "QUARRY_CONFIG=x", "QUARRY_RG=/usr/bin/rg", "QUARRY_SEARCH_HIDDEN=1", "QUARRY_SEARCH_HIDEN=1"})
	if diff := cmp.Diff([]Variable{{"QUARRY_SEARCH_HIDEN", "QUARRY_SEARCH_HIDDEN"}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{{"a,b", []string{"a", "b"}}, {"*.{go,md}, x ,", []string{"*.{go,md}", "x"}}, {"", nil}, {"a{b,c", []string{"a{b,c"}}} {
		if diff := cmp.Diff(c.want, splitList(c.in)); diff != "" {
			t.Errorf("%q: %s", c.in, diff)
		}
	}
	for _, c := range []struct {
		in   string
		want int64
	}{{"7", 7}, {"1KB", 1 << 10}, {"2 mb", 2 << 20}, {"3GB", 3 << 30}, {"9999999999GB", -1}, {"-1", -1}, {"1TB", -1}} {
		got, err := ParseSize(c.in)
		if err != nil {
			got = -1
		} else if back, err := ParseSize(SizeText(got)); err != nil || back != got {
			t.Errorf("%s is written %s", c.in, SizeText(got))
		}
		if got != c.want {
			t.Errorf("%s: %d", c.in, got)
		}
	}
}

// No text makes the parser panic or return an error without a position. Accepted values
// have their line numbers.
func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("[root.\"~\"]\nsearch = {hidden = true}\n"))
	f.Add([]byte("a = \"\"\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("f", data, "/home/u")
		if err != nil {
			var fe *FileError
			if !errors.As(err, &fe) || fe.Line < 1 || fe.Line > strings.Count(string(data), "\n")+1 {
				t.Fatalf("%v", err)
			}
			return
		}
		if _, err := file.Effective(noEnv, "/home/u"); err != nil {
			t.Fatal(err)
		}
	})
}
