package version

import "testing"

func TestVersionIs(t *testing.T) {
	v := Of([]byte("text"))
	whole := v.String()
	for _, c := range []struct {
		text     string
		is, fail bool
	}{
		{whole, true, false}, {whole[:12], true, false}, {whole[:20], true, false},
		{whole[:11], false, true}, {whole + "0", false, true}, {"", false, true}, {"zzzzzzzzzzzz", false, true},
		{Of([]byte("other")).String(), false, false}, {Of([]byte("other")).String()[:12], false, false},
	} {
		if is, err := v.Is(c.text); is != c.is || (err != nil) != c.fail {
			t.Errorf("Is(%q) = %v, %v", c.text, is, err)
		}
	}
}
