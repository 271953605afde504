package terms

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEachPart(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"mutex lock", []string{"mutex", "lock"}},
		{"getUserName", []string{"get", "User", "Name"}},
		{"HTTPServer_id2", []string{"HTTP", "Server", "id2"}},
		{"parseURLs(x)", []string{"parse", "URLs", "x"}},
		{"__init__", []string{"init"}},
		{"größe.bar", []string{"größe", "bar"}},
		{"MAX_SIZE", []string{"MAX", "SIZE"}},
		{"sha256Sum", []string{"sha256", "Sum"}},
		{"-> ", nil},
	} {
		var got []string
		EachPart([]byte(c.text), func(s, e int, _ bool) { got = append(got, c.text[s:e]) })
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q:\n%s", c.text, diff)
		}
	}
}

// The forms of a word are one term; different words are not.
func TestAppend(t *testing.T) {
	for _, same := range []string{
		"parse parses parsed parsing parser parsers", "query queries", "validate validates validated validation validator validating",
		"retry retries retrying", "stop stops stopped stopping", "serialize serializer serialized serialization", "class classes",
		"config Config CONFIG configs", "route routes router routing", "handle handles handler handlers handling",
	} {
		words := strings.Fields(same)
		for _, w := range words[1:] {
			if a, b := string(Append(nil, []byte(words[0]))), string(Append(nil, []byte(w))); a != b {
				t.Errorf("%s is %s, %s is %s", words[0], a, w, b)
			}
		}
	}
	for _, differ := range []string{"for format", "class classic", "string strict", "test text", "user use", "path patch", "status stats", "bus busy"} {
		w := strings.Fields(differ)
		if a, b := string(Append(nil, []byte(w[0]))), string(Append(nil, []byte(w[1]))); a == b {
			t.Errorf("%s and %s are both %s", w[0], w[1], a)
		}
	}
}
