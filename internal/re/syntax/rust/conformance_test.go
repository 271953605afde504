package rust

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"quarry/internal/re/hir/hirtest"
)

// TestConformance parses every pattern of the vectors of Rust's regex crate, which are stored
// outside the repository. Patterns marked invalid must be refused, all others accepted.
func TestConformance(t *testing.T) {
	dir := os.Getenv("RUST_REGEX_VECTORS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "..", "shared", "conformance", "rust-regex")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.toml"))
	more, _ := filepath.Glob(filepath.Join(dir, "*", "*.toml"))
	files = append(files, more...)
	if len(files) == 0 {
		t.Skip("the vectors (../shared/conformance/rust-regex) aren't beside the checkout")
	}
	patterns, refused := 0, 0
	for _, file := range files {
		var doc struct {
			Test []struct {
				Name            string
				Regex           any
				Compiles        *bool
				CaseInsensitive bool   `toml:"case-insensitive"`
				LineTerminator  string `toml:"line-terminator"`
				Unicode         *bool
				UTF8            *bool
			}
		}
		data, err := os.ReadFile(file)
		if err == nil {
			err = toml.Unmarshal(data, &doc)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range doc.Test {
			flags := Flags{
				CaseInsensitive: c.CaseInsensitive,
				NoUnicode:       c.Unicode != nil && !*c.Unicode,
				UTF8:            c.UTF8 == nil || *c.UTF8,
			}
			switch c.LineTerminator {
			case "":
			case `\x00`:
				flags.LineTerminator = new(byte)
			case `\xFF`:
				flags.LineTerminator = new(byte(0xFF))
			default:
				flags.LineTerminator = &[]byte(c.LineTerminator)[0]
			}
			list, ok := c.Regex.([]any)
			if !ok {
				list = []any{c.Regex}
			}
			for _, pattern := range list {
				want := c.Compiles == nil || *c.Compiles
				patterns++
				if !want {
					refused++
				}
				got, err := Parse(pattern.(string), flags)
				if (err == nil) != want {
					t.Errorf("%s/%s: Parse(%q, %+v): %v", filepath.Base(file), c.Name, pattern, flags, err)
					continue
				}
				if err == nil {
					if err := hirtest.Check(got.Root); err != nil {
						t.Errorf("%s/%s: Parse(%q): %v", filepath.Base(file), c.Name, pattern, err)
					}
				}
			}
		}
	}
	t.Logf("%d patterns in %d files, %d to refuse", patterns, len(files), refused)
}
