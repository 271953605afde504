package vault

import "testing"

// FuzzSettings reads anything as a vault's app.json: there are usable settings
// and, where something was wrong, an error that says so.
func FuzzSettings(f *testing.F) {
	for _, s := range []string{
		"", "{}", `{"trashOption":"local","alwaysUpdateLinks":true,"userIgnoreFilters":["Archive/","/^x.*$/"]}`, `{"userIgnoreFilters":["/(/","",null]}`,
		`{"newLinkFormat":7}`, `{"trashOption":null}`, "[", "\xef\xbb\xbf{}", `{"userIgnoreFilters":"a"}`, `{"trashOption":"local","trashOption":"none"}`,
	} {
		f.Add([]byte(s), "Archive/x.md")
	}
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		s, _ := ParseSettings(data, nil)
		switch s.TrashOption {
		case TrashSystem, TrashLocal, TrashNone:
		default:
			t.Errorf("%q: trash %q", data, s.TrashOption)
		}
		switch s.NewLinkFormat {
		case Shortest, Relative, Absolute:
		default:
			t.Errorf("%q: links %q", data, s.NewLinkFormat)
		}
		s.Ignored(path)
	})
}
