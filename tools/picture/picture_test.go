//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/cli"
)

// TestMain lets the test binary act as the program in the picture.
func TestMain(m *testing.M) {
	if os.Getenv("QUARRY_PICTURE") != "" {
		os.Exit(cli.Run(context.Background(), os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	os.Exit(m.Run())
}

// Ids of changes begin with the time, so they differ in each run.
var changeID = regexp.MustCompile(`(change|undo) [0-9a-z]{8}\b`)

// The committed picture shows the program's current output.
func TestPictureIsTrue(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("QUARRY_PICTURE", "1")
	screen, err := record(t.Context(), self, t.TempDir())
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		t.Skip("no pseudo-terminal here: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile("../../docs/quarry.svg")
	if err != nil {
		t.Fatal(err)
	}
	mask := func(svg []byte) string { return changeID.ReplaceAllString(string(svg), "change ID") }
	if diff := cmp.Diff(mask(committed), mask(draw(screen))); diff != "" {
		t.Errorf("docs/quarry.svg differs from the program (-picture +program); scripts/tool picture draws it anew:\n%s", diff)
	}
	for _, l := range screen {
		n := 0
		for _, s := range l {
			n += len(s.text)
		}
		if n > columns {
			t.Errorf("a line of %d columns", n)
		}
	}
}

func TestDraw(t *testing.T) {
	svg := draw([]line{{{"a <b> & ", style{}}, {"c", style{bold: true, color: 31}}}, nil})
	var text []string
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := tok.(xml.CharData); ok && strings.TrimSpace(string(data)) != "" {
			text = append(text, string(data))
		}
	}
	if diff := cmp.Diff([]string{"a <b> & ", "c"}, text); diff != "" {
		t.Errorf("text of the picture:\n%s", diff)
	}
}

func TestParse(t *testing.T) {
	red := style{bold: true, color: 31}
	for _, c := range []struct {
		name, out string
		want      []line
	}{
		{"text", "ab\r\n\r\nc", []line{{{"ab", style{}}}, nil, {{"c", style{}}}}},
		{"colours", "a\x1b[0m\x1b[1m\x1b[31mb\x1b[0mc", []line{{{"a", style{}}, {"b", red}, {"c", style{}}}}},
		{"codes at once", "\x1b[1;31mb\x1b[m", []line{{{"b", red}}}},
		{"a tab", "a\tb", []line{{{"a       b", style{}}}}},
		{"the end of the line", strings.Repeat("x", columns+1), []line{{{strings.Repeat("x", columns), style{}}}, {{"x", style{}}}}},
	} {
		got, err := parse([]byte(c.out))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(span{}, style{})); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
	for _, bad := range []string{"\x1b[2J", "a\rb", "\x1b[38;5;1mx", "\x1b]0;title\a", "\x1b["} {
		if got, err := parse([]byte(bad)); err == nil {
			t.Errorf("parse(%q) = %v, want an error", bad, got)
		}
	}
}
