package symbols

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Names gives the same symbols as Of, for one text after the other.
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

// When the definitions of a sample change, Version must change.
func TestVersion(t *testing.T) {
	now := fmt.Sprintf("%d %08x\n", Version, crc32.ChecksumIEEE([]byte(ofSamples(t))))
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

// Keys of a sequence of names equal the keys of each name alone.
func TestKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	parts := []string{"get", "Get", "_", "-", "__", "Name", ".", " ", "größe", "ÄÖ", "x", "\xff", "REG_STATUS", "\x00", "\x01"}
	var k Keys
	var last []byte
	for range 20_000 {
		name := slices.Clone(last[:r.IntN(len(last)+1)])
		for range 1 + r.IntN(4) {
			name = append(name, parts[r.IntN(len(parts))]...)
		}
		if len(name) > 200 {
			name = name[:3]
		}
		shared := 0
		for shared < len(name) && shared < len(last) && name[shared] == last[shared] {
			shared++
		}
		if got, want := k.Next(name, r.IntN(shared+1)), AppendKey(nil, name); !bytes.Equal(got, want) {
			t.Fatalf("%q after %q: %q, want %q", name, last, got, want)
		}
		last = name
	}
}
