package stress_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/internal/profile"
	"quarry/internal/stress"
	"quarry/internal/symbols"
)

// extensions has one file extension for each language.
var extensions = []string{
	".c", ".cpp", ".cs", ".java", ".kt", ".scala", ".swift", ".go", ".rs", ".zig", ".py", ".rb", ".php", ".pl", ".js", ".ts", ".ex", ".hs", ".lua", ".sh", ".sql", ".md",
}

// In every language, tools that read definitions process every shape, repeated to 4 MB, within two
// seconds of processor time. They report if they did not read everything.
func TestShapesOfEveryLanguage(t *testing.T) {
	stress.SkipRace(t)
	var names []string
	for _, ext := range extensions {
		names = append(names, symbols.Language("a"+ext, nil))
	}
	const languages = 22
	if slices.Sort(names); slices.Contains(names, "") || len(slices.Compact(names)) != languages || len(extensions) != languages {
		t.Fatalf("languages %q", names)
	}
	dir := stress.FastDir(t)
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: stress.FastDir(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	reg, err := profile.New(ws, &profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]func(path string) string{
		"outline":     func(path string) string { return `{"path": "` + path + `"}` },
		"search_code": func(string) string { return `{"query": "a const struct needle"}` },
		"find_symbol": func(path string) string { return `{"name": "needle", "fuzzy": true, "path": "` + path + `"}` },
		"read_file":   func(path string) string { return `{"path": "` + path + `", "fold": true}` },
	}
	size, at, tried, partly, longest := 4<<20/stress.Size(8, 1), 0, 0, 0, time.Duration(0)
	for _, ext := range extensions {
		// Subtests allow running a single language.
		t.Run(ext[1:], func(t *testing.T) {
			most := time.Duration(0)
			for _, shape := range stress.Shapes {
				if at++; !stress.Takes(at) {
					continue
				}
				file := "a" + ext
				put(t, filepath.Join(dir, file), strings.Repeat(shape, size/len(shape)+1))
				_, whole := symbols.Until(nil, file, []byte(strings.Repeat(shape, size/len(shape)+1)))
				for name, args := range calls {
					tried++
					began := stress.CPU()
					r := reg.Lookup(name).Execute(t.Context(), json.RawMessage(args(file)))
					took := stress.CPU() - began
					most = max(most, took)
					if took > 2*time.Second {
						t.Errorf("%s of %q as %s: %v of processor time for %d KB", name, shape, ext, took, size>>10)
					}
					said := strings.Contains(r.Text, "definitions are incomplete") && strings.Contains(r.Text, file)
					if name == "outline" || name == "find_symbol" {
						if said == whole {
							t.Errorf("%s of %q as %s: read whole: %v, but it says: %.300s", name, shape, ext, whole, r.Text[max(0, len(r.Text)-300):])
						}
						if said {
							partly++
						}
					}
				}
				if err := os.Remove(filepath.Join(dir, file)); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%v at most", most.Round(time.Millisecond))
			longest = max(longest, most)
		})
	}
	t.Logf("%d calls on texts of %d KB, %v at most; %d said that definitions are incomplete", tried, size>>10, longest.Round(time.Millisecond), partly)
	if tried == 0 || tried > 500 && partly == 0 {
		t.Error("nothing was tried")
	}
}
