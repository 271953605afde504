package symbols

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Names gives what Of gives, one text after the other.
func TestNames(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) < 23 {
		t.Fatalf("%d files in testdata: %v", len(files), err)
	}
	var names Names
	total := 0
	for range 2 {
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			if !names.Read(file, data) {
				t.Errorf("%s is read in part", file)
			}
			names.Each(func(name string, kind Kind, container string) {
				got = append(got, fmt.Sprintf("%s %s in %q", kind, name, container))
			})
			for _, s := range Of(file, data) {
				want = append(want, fmt.Sprintf("%s %s in %q", s.Kind, s.Name, s.Container))
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s:\n%s", file, diff)
			}
			total += len(got)
		}
	}
	if total < 500 {
		t.Errorf("only %d definitions", total)
	}
}

// When the definitions of a sample change, Version has to.
func TestVersion(t *testing.T) {
	golden, err := os.ReadFile("testdata/symbols.golden")
	if err != nil {
		t.Fatal(err)
	}
	now := fmt.Sprintf("%d %08x\n", Version, crc32.ChecksumIEEE(golden))
	was, _ := os.ReadFile("testdata/version.golden")
	if string(was) == now {
		return
	}
	if version, _, _ := strings.Cut(string(was), " "); version == fmt.Sprint(Version) {
		t.Fatal("the samples have other definitions than with this Version: raise it, so that no index keeps the old ones")
	}
	if !*update {
		t.Fatal("go test -update writes the new version down")
	}
	if err := os.WriteFile("testdata/version.golden", []byte(now), 0o644); err != nil {
		t.Fatal(err)
	}
}
