package match

import (
	"fmt"
	"testing"
)

func TestUnicodeSets(t *testing.T) {
	family, thumb, flag, keycap := "👨\u200d👩\u200d👧\u200d👦", "👍🏽", "🇩🇪", "1\uFE0F\u20E3"
	for _, c := range []struct{ name, expr, text, want string }{
		{"a sequence is one match", `\p{RGI_Emoji}`, family + thumb, "[" + family + " " + thumb + "]"},
		{"flags and keycaps", `^\p{RGI_Emoji}{2}$`, flag + keycap, "[" + flag + keycap + "]"},
		{"one character", `\p{RGI_Emoji}`, "a😀b", "[😀]"},
		{"one kind of sequence", `\p{RGI_Emoji_Flag_Sequence}`, "x" + thumb + flag, "[" + flag + "]"},
		{"difference with a string", `[\p{RGI_Emoji}--\q{😀|` + flag + `}]`, "😀" + flag + "🚀", "[🚀]"},
		{"intersection", `[\w&&[a-z\d]--[aeiou]]`, "", "error"},
		{"nested sets", `[[a-z]--[aeiou]]+`, "hello", "[h ll]"},
		{"strings, the longest first", `[\q{ab|abc|}x]`, "abcabx", "[abc ab x]"},
		{"a complement has no strings", `\P{RGI_Emoji}`, "", "error"},
		{"nor has a negated class", `[^\p{RGI_Emoji}]`, "", "error"},
	} {
		p, err := Compile(c.expr, Options{Syntax: ECMAScript, Mode: Text, UnicodeSets: true})
		if err != nil {
			if c.want != "error" {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var got []string
		p.NewMatcher().Each([]byte(c.text), func(start, end int) bool {
			got = append(got, c.text[start:end])
			return true
		})
		if s := fmt.Sprint(got); s != c.want {
			t.Errorf("%s: %q in %q: %s, want %s", c.name, c.expr, c.text, s, c.want)
		}
	}
	for _, o := range []Options{{Syntax: ECMAScript}, {Syntax: ECMAScript, Unicode: true}} {
		if p, err := Compile(`^\p{RGI_Emoji}$`, o); err == nil && o.Unicode {
			t.Errorf("%v: without the v flag a property of strings is accepted", p)
		}
	}
}
