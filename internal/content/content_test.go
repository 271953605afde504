package content

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

func read(t *testing.T, o Options, path, bytes string) (string, error) {
	t.Helper()
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Text(t.Context(), path, strings.NewReader(bytes))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), r.Close()
}

func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		name        string
		o           Options
		path, bytes string
		want        string
	}{
		{"as it is", Options{}, "a.txt", "foo", "foo"},
		{"a label", Options{Encoding: "latin1"}, "a.txt", "gr\xfcn", "grün"},
		{"Japanese", Options{Encoding: "sjis"}, "a.txt", "\x84Y\x84u", "Ше"},
		{"gzip", Options{Zip: true}, "a.gz", packed("foo"), "foo"},
		{"only by name", Options{Zip: true}, "a.txt", packed("foo"), packed("foo")},
		{"unpacked, then decoded", Options{Zip: true, Encoding: "latin1"}, "a.gz", packed("\xfc"), "ü"},
	} {
		got, err := read(t, c.o, c.path, c.bytes)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

// TestMain lets the test program act as the program that TestCommand runs: the message of
// cat for a missing file depends on the system and its language.
func TestMain(m *testing.M) {
	switch os.Getenv("CONTENT_PROGRAM") {
	case "cat":
		in := os.Stdin
		if name := os.Args[1]; name != "-" {
			var err error
			if in, err = os.Open(name); err != nil {
				fmt.Fprintln(os.Stderr, "can't open it")
				os.Exit(1)
			}
		}
		io.Copy(os.Stdout, in)
	case "false":
		os.Exit(1)
	default:
		os.Exit(m.Run())
	}
}

func TestCommand(t *testing.T) {
	cat, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CONTENT_PROGRAM", "cat")
	got, err := read(t, Options{Command: cat}, "-", "foo")
	if err != nil || got != "foo" {
		t.Errorf("cat -: %q, %v", got, err)
	}
	if got, err = read(t, Options{Command: cat, Wanted: func(string) bool { return false }}, "x", "foo"); err != nil || got != "foo" {
		t.Errorf("not wanted: %q, %v", got, err)
	}
	t.Setenv("CONTENT_PROGRAM", "false")
	if _, err = read(t, Options{Command: cat}, "x", "foo"); err == nil || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("a program that fails: %v", err)
	}
	t.Setenv("CONTENT_PROGRAM", "cat")
	if _, err = read(t, Options{Command: cat}, "/no/such/file", "foo"); err == nil || !strings.Contains(err.Error(), "can't open it") {
		t.Errorf("what a program says: %v", err)
	}
	// The text is not read to its end.
	m, _ := New(Options{Command: cat})
	r, err := m.Text(t.Context(), "-", strings.NewReader(strings.Repeat("x", 1<<20)))
	if err != nil {
		t.Fatal(err)
	}
	r.Read(make([]byte, 10))
	if err := r.Close(); err != nil {
		t.Errorf("closed early: %v", err)
	}
}

func TestRefuses(t *testing.T) {
	for _, o := range []Options{{Encoding: "foobar"}, {Encoding: "csiso2022kr"}, {Command: "no-such-program-here"}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}
