package rootfs

import (
	"testing"
)

func TestNames(t *testing.T) {
	p, err := NewPolicy(Rules{})
	must(t, err)
	for _, c := range []struct {
		name string
		want Verdict
	}{
		{".git", InProtected}, {".GIT", InProtected}, {".Git", InProtected}, {".gİt", InProtected}, {".gıt", InProtected},
		{".g\u200cit", InProtected}, {"\ufeff.git", InProtected}, {".git\u200e", InProtected}, {".\u00adgit", InProtected},
		{".git.", InProtected}, {".git ", InProtected}, {".git . .", InProtected}, {".git::$INDEX_ALLOCATION", InProtected},
		{"git~1", InProtected}, {"GIT~1", InProtected}, {"GIT~9", InProtected}, {"git~1.", InProtected}, {"git~1::$DATA", InProtected},
		{"．ｇｉｔ", InProtected}, {"．ＧＩＴ", InProtected},
		{".obsidian", InProtected}, {".Obſidian", InProtected}, {"OBSIDI~1", InProtected}, {".obsidian:x", InProtected},
		{".smarthole", InProtected}, {".ſMARTHOLE", InProtected}, {"smarth~3", InProtected},
		{".trash", Unlisted}, {".Trash", Unlisted}, {tempPrefix + "0123456789abcdef0123456789abcdef", Unlisted},
		{".env", Secret}, {".ENV", Secret}, {".env.local", Secret}, {".env.production.local.backup.of.last.year", Secret},
		{".env.example.bak", Secret}, {".env ", Secret}, {".e\u200bnv", Secret},
		{"server.pem", Secret}, {"SERVER.PEM", Secret}, {"a.key", Secret}, {"x.p12", Secret}, {"x.pfx", Secret}, {".pem", Secret},
		{"a.key.", Secret}, {"a.pem ", Secret}, {"x.pem::$DATA", Secret}, {"schlüssel.key", Secret}, {"x.p\u200bem", Secret},
		{"a-rather-long-name-of-a-certificate-süd.p\u200cem", Secret}, {"ilong-name-that-does-not-fit-the-buffer.pem", Secret},
		{"id_rsa", Secret}, {"id_rsa.pub", Secret}, {"ID_RSA", Secret}, {"id_ed25519", Secret}, {"id_ed25519_sk_work_laptop_2024", Secret},

		{"git", Allowed}, {".github", Allowed}, {".gitignore", Allowed}, {".gitattributes", Allowed}, {".gi", Allowed}, {".gitt", Allowed},
		{"git~", Allowed}, {"git~0", Allowed}, {"git~10", Allowed}, {"a.git", Allowed}, {"obsidian", Allowed}, {".obsidian-x", Allowed},
		{"trash", Allowed}, {".env.example", Allowed}, {".ENV.Example", Allowed}, {".envrc", Allowed}, {"env", Allowed},
		{"pem", Allowed}, {"xpem", Allowed}, {"a.pem.txt", Allowed}, {"monkey", Allowed}, {"a.keys", Allowed}, {"id_dsa", Allowed},
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
			p.Entry(Path{"dir"}, s, false)
		}
	}); n != 0 {
		t.Errorf("Entry allocates %v times", n)
	}
}

func TestOwnersRules(t *testing.T) {
	p, err := NewPolicy(Rules{
		Deny:  []string{"Private/", "*.secret", "docs/**/draft.md", "certs/bad.pem"},
		Allow: []string{"certs/*.pem", "fixtures/.env", ".git/config"},
	})
	must(t, err)
	for _, c := range []struct {
		path string
		want Verdict
	}{
		{"Private", Denied}, {"Private/deep/x.md", Denied}, {"private/x.md", Denied}, {"a/PRIVATE/x", Denied},
		{"x.secret", Denied}, {"a/b/X.SECRET", Denied}, {"a/x.secret/y", Denied}, {"docs/a/b/draft.md", Denied},
		{"certs/ca.pem", Allowed}, {"other/ca.pem", Secret}, {"certs/bad.pem", Denied}, {"fixtures/.env", Allowed}, {".env", Secret},
		{".git/config", InProtected}, {".trash/x", Unlisted}, {"docs/a.md", Allowed}, {".", Allowed},
	} {
		path := Path{c.path}
		if c.path == "." {
			path = Path{}
		}
		if got := p.Path(path, false); got != c.want {
			t.Errorf("Path(%q) = %v, want %v", c.path, got, c.want)
		}
		if path.Depth() == 1 {
			continue
		}
		if dir := p.Path(path.Dir(), true); !dir.Refused() && !path.IsRoot() {
			want := c.want
			if dir == Unlisted {
				want = Allowed // the folder's verdict is the walker's to carry down
			}
			if got := p.Entry(path.Dir(), path.Base(), false); got != want {
				t.Errorf("Entry(%q, %q) = %v, want %v", path.Dir(), path.Base(), got, want)
			}
		}
	}
	all, err := NewPolicy(Rules{AllowSecrets: true})
	must(t, err)
	if v := all.Path(Path{"a/.env"}, false); v != Allowed {
		t.Errorf("AllowSecrets: .env is %v", v)
	}
	if v := all.Path(Path{"a/.git"}, false); v != InProtected {
		t.Errorf("AllowSecrets: .git is %v", v)
	}
	for _, bad := range []string{"", "/", " ", "!x"} {
		if _, err := NewPolicy(Rules{Deny: []string{bad}}); err == nil {
			t.Errorf("NewPolicy accepts the rule %q", bad)
		}
	}
	var none *Policy
	if none.Path(Path{".git/config"}, false) != Allowed || none.Entry(Path{}, ".env", false) != Allowed {
		t.Error("a trusted root must allow everything")
	}
}

func BenchmarkName(b *testing.B) {
	p, _ := NewPolicy(Rules{})
	for _, name := range []string{"main.go", ".gitignore", "überall.md"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Name(name)
			}
		})
	}
}
