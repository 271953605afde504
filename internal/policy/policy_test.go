package policy

import (
	"path"
	"testing"
)

func TestNames(t *testing.T) {
	p, err := New(Rules{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		want Verdict
	}{
		{".git", Protected}, {".GIT", Protected}, {".Git", Protected}, {".gİt", Protected}, {".gıt", Protected},
		{".g\u200cit", Protected}, {"\ufeff.git", Protected}, {".git\u200e", Protected}, {".\u00adgit", Protected},
		{".git.", Protected}, {".git ", Protected}, {".git . .", Protected}, {".git::$INDEX_ALLOCATION", Protected},
		{"git~1", Protected}, {"GIT~1", Protected}, {"GIT~9", Protected}, {"git~1.", Protected}, {"git~1::$DATA", Protected},
		{"．ｇｉｔ", Protected}, {"．ＧＩＴ", Protected},
		{".obsidian", Protected}, {".Obſidian", Protected}, {"OBSIDI~1", Protected}, {".obsidian:x", Protected},
		{".smarthole", Protected}, {".ſMARTHOLE", Protected}, {"smarth~3", Protected},
		{".trash", Unlisted}, {".Trash", Unlisted}, {TempPrefix + "0123456789abcdef0123456789abcdef", Unlisted},
		{".env", Secret}, {".ENV", Secret}, {".env.local", Secret}, {".env.production.local.backup.of.last.year", Secret},
		{".env.example.bak", Secret}, {".env ", Secret}, {".e\u200bnv", Secret}, {".netrc.conflict-1a2b3c4d", Secret}, {"x.key.conflict-1a2b3c4d.bak", Secret}, {".netrc.conflict-", Allowed},
		{"server.pem", Secret}, {"SERVER.PEM", Secret}, {"a.key", Secret}, {"x.p12", Secret}, {"x.pfx", Secret}, {".pem", Secret},
		{"a.key.", Secret}, {"a.pem ", Secret}, {"x.pem::$DATA", Secret}, {"schlüssel.key", Secret}, {"x.p\u200bem", Secret},
		{"a-rather-long-name-of-a-certificate-süd.p\u200cem", Secret}, {"ilong-name-that-does-not-fit-the-buffer.pem", Secret},
		{"id_rsa", Secret}, {"id_rsa.pub", Secret}, {"ID_RSA", Secret}, {"id_ed25519", Secret}, {"id_ed25519_sk_work_laptop_2024", Secret},

		{"git", Allowed}, {".github", Allowed}, {".gitignore", Allowed}, {".gitattributes", Allowed}, {".gi", Allowed}, {".gitt", Allowed},
		{"git~", Allowed}, {"git~0", Allowed}, {"git~10", Allowed}, {"a.git", Allowed}, {"obsidian", Allowed}, {".obsidian-x", Allowed},
		{"trash", Allowed}, {".env.example", Allowed}, {".ENV.Example", Allowed}, {".envrc", Allowed}, {"env", Allowed},
		{"pem", Allowed}, {"xpem", Allowed}, {"a.pem.txt", Allowed}, {"monkey", Allowed}, {"a.keys", Allowed}, {"id_ds", Allowed},
		{"index.html", Allowed}, {"", Allowed}, {".", Allowed}, {"..", Allowed}, {"...", Allowed}, {"a", Allowed}, {"~", Allowed}, {":", Allowed},
		{"\xff\xfe", Allowed}, {".g\xffit", Allowed}, {"日本語.md", Allowed}, {".g\u0301it", Allowed},
	} {
		if got := p.Name(c.name); got != c.want {
			t.Errorf("Name(%q) = %v, want %v", c.name, got, c.want)
		}
	}
	var names = []string{"main.go", ".gitignore", "README.md", "id.go", "überall.md", ".git", "some_longer_name_of_a_file.c"}
	if n := testing.AllocsPerRun(100, func() {
		for _, s := range names {
			p.Entry("dir", s, false)
		}
	}); n != 0 {
		t.Errorf("Entry allocates %v times", n)
	}
}

func TestOwnersRules(t *testing.T) {
	p, err := New(Rules{
		Deny:  []string{"Private/", "*.secret", "docs/**/draft.md", "certs/bad.pem"},
		Allow: []string{"certs/*.pem", "fixtures/.env", ".git/config"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		want Verdict
	}{
		{"Private", Denied}, {"Private/deep/x.md", Denied}, {"private/x.md", Denied}, {"a/PRIVATE/x", Denied},
		{"x.secret", Denied}, {"a/b/X.SECRET", Denied}, {"a/x.secret/y", Denied}, {"docs/a/b/draft.md", Denied},
		{"certs/ca.pem", Allowed}, {"other/ca.pem", Secret}, {"certs/bad.pem", Denied}, {"fixtures/.env", Allowed}, {".env", Secret},
		{".git/config", Protected}, {".trash/x", Unlisted}, {"docs/a.md", Allowed}, {".", Allowed},
	} {
		if got := p.Path(c.path, false); got != c.want {
			t.Errorf("Path(%q) = %v, want %v", c.path, got, c.want)
		}
		folder, base := path.Split(c.path)
		folder = path.Clean(folder)
		if c.path == "." {
			continue
		}
		if dir := p.Path(folder, true); !dir.Refused() {
			want := c.want
			if dir == Unlisted {
				want = Allowed // the walker applies the folder's verdict to its contents
			}
			if got := p.Entry(folder, base, false); got != want {
				t.Errorf("Entry(%q, %q) = %v, want %v", folder, base, got, want)
			}
		}
	}
	for _, path := range []string{".env", "a/.env", "a [1]/*?{x}.pem", `b\c.key`, ".aws/credentials"} {
		one, err := New(Rules{Allow: []string{AllowRule(path)}})
		if err != nil {
			t.Fatal(err)
		}
		if v := one.Path(path, false); v != Allowed {
			t.Errorf("%s with its own rule is %v", path, v)
		}
		if v := one.Path("x/"+path, false); v != Secret {
			t.Errorf("x/%s with the rule of another is %v", path, v)
		}
	}
	all, err := New(Rules{AllowSecrets: true})
	if err != nil {
		t.Fatal(err)
	}
	if v := all.Path("a/.env", false); v != Allowed {
		t.Errorf("AllowSecrets: .env is %v", v)
	}
	if v := all.Path("a/.git", false); v != Protected {
		t.Errorf("AllowSecrets: .git is %v", v)
	}
	for _, bad := range []string{"", "/", " ", "!x"} {
		if _, err := New(Rules{Deny: []string{bad}}); err == nil {
			t.Errorf("New accepts the rule %q", bad)
		}
	}
	var none *Policy
	if none.Path(".git/config", false) != Allowed || none.Entry("", ".env", false) != Allowed {
		t.Error("a trusted root must allow everything")
	}
}

func BenchmarkName(b *testing.B) {
	p, _ := New(Rules{})
	for _, name := range []string{"main.go", ".gitignore", "überall.md"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Name(name)
			}
		})
	}
}
