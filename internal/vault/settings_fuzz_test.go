package vault

import "testing"

// FuzzSettings parses arbitrary input as a vault's app.json: the settings must be usable,
// and invalid values must cause an error.
func FuzzSettings(f *testing.F) {
	for _, s := range []string{
		"", "{}", `{"trashOption":"local","alwaysUpdateLinks":true}`,
		`{"newLinkFormat":7}`, `{"trashOption":null}`, "[", "\xef\xbb\xbf{}", `{"trashOption":"local","trashOption":"none"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, _ := ParseSettings(data)
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
	})
}
