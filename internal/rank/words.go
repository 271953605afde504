package rank

import (
	_ "embed"
	"strings"
	"sync"

	"quarry/internal/terms"
)

// alternatives returns other terms for a word in code: short forms that programmers
// write, and the long forms of short ones.
func alternatives(word, text string) []string {
	var out []string
	add := func(s string) {
		t := string(terms.Append(nil, []byte(s)))
		if t != text {
			for _, o := range out {
				if o == t {
					return
				}
			}
			out = append(out, t)
		}
	}
	for _, s := range shortForms()[text] {
		add(s)
	}
	return out
}

// shortForms maps each term to the other ways a word is written in names.
var shortForms = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for _, line := range strings.Split(shortFormLines, "\n") {
		words := strings.Fields(line)
		for _, w := range words {
			t := string(terms.Append(nil, []byte(w)))
			for _, o := range words {
				if o != w {
					m[t] = append(m[t], o)
				}
			}
		}
	}
	return m
})

// shortFormLines has a line for each word, with its forms.
//
//go:embed forms.txt
var shortFormLines string
