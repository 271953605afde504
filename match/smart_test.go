package match

import "testing"

func TestSmartCase(t *testing.T) {
	for expr, want := range map[string]bool{
		"foo": true, "Foo": false, "fOO": false, "élan": true, "Élan": false, "ⓐ": true, "Ⓐ": false,
		`\Wfoo\p{Lu}`: true, `\PLfoo`: true, `\p{Lu}`: false, `\w+`: false, ".": false, "": false, "^$": false, "(?:)": false,
		`\x6b`: true, `\x4B`: false, `\u{212A}`: false, `\u004B`: false, `\U0000004B`: false, `\x{6b}x`: true,
		"(?P<Name>foo)": true, "(?<Name>foo)": true, "(?P<Name>Foo)": false, "(?U:foo)": true, "(?R)foo": true, "(?U)": false,
		"[a-z]": true, "[A-Z]": false, "[^a]": true, "[[:Upper:]]": false, "[[:upper:]]": false, "[[:upper:]x]": true, `[\W]`: false,
		"[(?P<X>)]": false, "a{2,3}": true, ".{2}": false, `\b{start}A`: false, `\b{start}a`: true, `\bA`: false, `\Ba`: true, `\t`: true,
		`\.`: true, `\D\.S`: false, `\`: false, `\x`: false, "[": false, "(?P<": false, "日本": true,
	} {
		if got := foldCase([]string{expr}, Options{Case: Smart}); got != want {
			t.Errorf("smart case folds %q: %v, want %v", expr, got, want)
		}
	}
	js := Options{Case: Smart, Syntax: ECMAScript}
	for expr, want := range map[string]bool{
		`(?<Name>foo)\k<Name>`: true, "(?<=foo)bar": true, "(?<=Foo)bar": false, "(?!Foo)": false, "(?=foo)": true, "{A}": false, "{a}": true,
	} {
		if got := foldCase([]string{expr}, js); got != want {
			t.Errorf("smart case folds ECMAScript %q: %v, want %v", expr, got, want)
		}
	}
	if foldCase([]string{"foo", "Bar"}, Options{Case: Smart}) {
		t.Error("one of two patterns has an upper-case letter")
	}
	if foldCase([]string{`\Foo`}, Options{Case: Smart, Syntax: Literal}) || !foldCase([]string{"(?p<x>"}, Options{Case: Smart, Syntax: Literal}) {
		t.Error("literal text has no escapes and no groups")
	}
}
