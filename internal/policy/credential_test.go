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
		{"DB_PASSWORD=#Str0ng!", true}, {"DB_PASSWORD='#Str0ng!'", true}, {"DB_PASSWORD= # the database", false}, {"DB_PASSWORD=#changeme", false}, {"DB_PASSWORD=#", false},
		{"ADMIN_PASSWORD=$2b$12$abcdefghijklmnopqrstuv", true}, {"PASSWORD=$y$j9T$abcdefghijklmnop", true}, {"PASSWORD=$tr0ng!pass", true},
		{"PASSWORD=$DB_PASSWORD", false}, {"PASSWORD=$1", false}, {"TOKEN=$HOME/.token", false}, {"DSN=$USER:$PASSWORD", false}, {"KEY=${A}${B}", false},
		{`GOOGLE_CREDENTIALS={"type":"service_account"}`, true}, {"PASSWORD={SSHA}mZ3wq", true}, {"PASSWORD={s3cret}", true}, {"PASSWORD={abc}", true}, {"PASSWORD={DB_PASS}", false},
		{"PASSWORD={password}", false}, {"PASSWORD={{ vault_password }}", false}, {"PASSWORD={{vault}}", false}, {"PASSWORD={}", false}, {"PASSWORD={", false},
		{"GH_PAT=ghp_1234567890abcdefghij", true}, {"X=\"glpat-1234567890abcdefghij\"", true}, {"GH_PAT=ghp_xxxxxxxxxxxxxxxxxxxx1", false}, {"GH_PAT=ghp_your_token_here_1", false}, {"GH_PAT=ghp_...", false},
		{"FILE_PAT=*.go", false}, {"JWT=eyJhbGciOi.eyJzdWIi.c2ln", true}, {"SESSION=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", true}, {"JWT=eyJ...", false}, {"JWT=", false},
		{"TOKEN=${TOKEN:-real}", true}, {"TOKEN=${TOKEN-r3al}", true}, {"TOKEN=${TOKEN:-}", false}, {"TOKEN=${TOKEN:-changeme}", false}, {"TOKEN=${TOKEN:-$OTHER}", false}, {"TOKEN=${TOKEN:?missing}", false},
		{"PASSWORD=%Str0ng", true}, {"PASSWORD=%PASSWORD%", false}, {"PASSWORD=<Str0ng", true}, {"PASSWORD=%(secret)s", false},
		{"[pypi]\nusername = __token__\npassword =\n    pypi-AgEIcHl\n", true}, {"[pypi]\npassword:\n\n  # mine\n\thunter2\n", true},
		{"[pypi]\npassword =\n    ${PYPI}\n", false}, {"[pypi]\npassword =\nusername = me\n", false}, {"[distutils]\nindex-servers =\n    pypi\n    other\n", false},
		{"PASSWORD=\nPORT=8080\n", false}, {"# PASSWORD:\n  - two\n", false},
		{"T\x00O\x00K\x00E\x00N\x00=\x00a\x00b\x00", true},
		{strings.Repeat("A=1\n", 1000) + "TOKEN=abc", true},
	} {
		if got := HoldsCredential([]byte(c.text)); got != c.want {
			t.Errorf("HoldsCredential(%.80q) = %v, want %v", c.text, got, c.want)
		}
	}
}
