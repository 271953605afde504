package policy

import (
	"strings"
	"testing"
)

func TestHoldsCredential(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{"//registry.npmjs.org/:_authToken=npm_abc123", true},
		{"//registry.npmjs.org/:_authToken=${NPM_TOKEN}", false},
		{"_auth = dXNlcjpwYXNz", true}, {"//r.example/:_password=aGk=", true}, {"always-auth=true", false},
		{"registry=https://registry.npmjs.org/\nsave-exact=true\n", false},
		{"[pypi]\nusername = __token__\npassword = pypi-AgEIcHl\n", true},
		{"[distutils]\nindex-servers = pypi\n[pypi]\nrepository: https://upload.pypi.org/\nusername: me\n", false},
		{"password: hunter2", true},
		{"export GITHUB_TOKEN=ghp_x", true}, {"export GITHUB_TOKEN=$(pass show github)", false}, {"export A=1 API_KEY='x y'", true},
		{"use flake\nPATH_add bin\nexport GOFLAGS=-mod=mod\n", false}, {"layout python", false},
		{"DATABASE_URL=postgres://me:hunter2@db/x", true}, {"DATABASE_URL=postgres://me:${PW}@db/x", false}, {"DATABASE_URL=postgres://db:5432/x", false},
		{"KEY=\"-----BEGIN RSA PRIVATE KEY-----", true}, {"awsSecretAccessKey=wJalr", true}, {"STRIPE_KEY=sk_live_1", true}, {"APIKEY=1234", true},
		{"#TOKEN=abc123", true}, {"# the token: see the wiki", false}, {"# set PASSWORD = something long", false},
		{"TOKEN=", false}, {"TOKEN=\"\"", false}, {"TOKEN=<your token>", false}, {"SECRET=changeme", false}, {"TOKEN=your-token-here", false},
		{"MONKEY=banana", false}, {"TOKENIZER=bpe", false}, {"AUTHOR=me", false}, {"PORT=8080\nDEBUG=true\n", false}, {"", false},
		{"T\x00O\x00K\x00E\x00N\x00=\x00a\x00b\x00", true},
		{strings.Repeat("A=1\n", 1000) + "TOKEN=abc", true},
	} {
		if got := HoldsCredential([]byte(c.text)); got != c.want {
			t.Errorf("HoldsCredential(%.80q) = %v, want %v", c.text, got, c.want)
		}
	}
}
