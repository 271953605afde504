package config

import "testing"

// FuzzGitConfig parses arbitrary text as a git configuration.
func FuzzGitConfig(f *testing.F) {
	for _, s := range []string{
		"[core]\n\texcludesFile = ~/.ignore\n", "[core] excludesfile=\"a b\" # c\n", "[Core]\nEXCLUDESFILE = \"un\\\"closed\n",
		"[core \"x\"]\nexcludesfile = y", "[core", "=", "[core]\nexcludesfile\n", "[core]\nexcludesfile = a\\\n b\n", "\xff\xfe",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if v, ok := excludesFile(text); !ok && v != "" {
			t.Errorf("%q: a value %q that is not there", text, v)
		}
	})
}
