package policy

import "testing"

// An entry in a trash gets the same verdict as at its original path.
func TestTrash(t *testing.T) {
	p, err := New(Rules{})
	if err != nil {
		t.Fatal(err)
	}
	// Original names, and how programs name items in a trash: N is the stem and X the
	// extension.
	had := []struct{ name, stem, ext string }{
		{".env", ".env", ""}, {".env.local", ".env", ".local"}, {"server.pem", "server", ".pem"}, {"a.pem.bak", "a.pem", ".bak"},
		{".netrc", ".netrc", ""}, {"id_rsa", "id_rsa", ""}, {".env~", ".env~", ""},
		{".aws/credentials", "credentials", ""}, {".docker/config.json", "config", ".json"}, {".kube/config", "config", ""},
	}
	named := []func(stem, ext string) string{
		func(s, e string) string { return s + e },
		func(s, e string) string { return s + " 1" + e },
		func(s, e string) string { return s + " 2047" + e },
		func(s, e string) string { return s + " 15.04.05" + e },
		func(s, e string) string { return s + " 15.04.05 2" + e },
		func(s, e string) string { return s + " 3.04.05 PM" + e },
		func(s, e string) string { return s + " (1)" + e },
		func(s, e string) string { return s + "_1" + e },
		func(s, e string) string { return s + e + "_1" },
		func(s, e string) string { return s + ".2" + e },
		func(s, e string) string { return s + e + ".2" },
	}
	places := []string{".trash/", "sub/.trash/", ".TRASH/", ".Trash/1000/files/", ".Trash-1000/files/", "mnt/.Trash-0/files/", ".Trashes/501/"}
	tried := 0
	for _, h := range had {
		for _, at := range places {
			for _, as := range named {
				path := at + as(h.stem, h.ext)
				if v := p.Path(path, false); v != Secret {
					t.Errorf("Path(%q) = %v; it was %s", path, v, h.name)
				}
				dir, name := path[:len(path)-len(as(h.stem, h.ext))-1], as(h.stem, h.ext)
				if v := p.Entry(dir, name, false); v != Secret {
					t.Errorf("Entry(%q, %q) = %v; it was %s", dir, name, v, h.name)
				}
				tried++
			}
		}
	}
	for _, c := range []struct {
		path    string
		want    Verdict
		content bool
	}{
		{".trash/.aws 1/credentials", Secret, false}, {".trash/.git 1/config", Protected, false}, {".trash/x 1/.env", Secret, false},
		{".trash/.npmrc 1", Unlisted, true}, {".Trash-1000/files/.2.env", Secret, false}, {".trash/dev 1.env", Unlisted, true},
		{"$RECYCLE.BIN/S-1-5-21/$RABC123", Secret, false}, {"$Recycle.Bin/S-1-5-21/$RABC123/credentials", Secret, false},
		{"$Recycle.Bin/S-1-5-21/$RABC123/notes.md", Unlisted, false}, {"$Recycle.Bin/S-1-5-21/$RABC123.env", Secret, false},
		{".trash/note 1.md", Unlisted, false}, {".trash", Unlisted, false}, {".Trash-1000", Unlisted, false}, {".Trash-1000/info/a.md.trashinfo", Unlisted, false},
		{".trash/src/config.json", Unlisted, false}, {".Trash-x/.env 1", Allowed, false}, {"trash/.env 1", Allowed, false}, {"a/.env 1", Allowed, false},
		{"src/credentials", Allowed, false}, {"$x/config", Allowed, false},
	} {
		if v := p.Path(c.path, false); v != c.want || v == Unlisted && p.ByContent(c.path) != c.content {
			t.Errorf("Path(%q) = %v, by content %v", c.path, v, p.ByContent(c.path))
		}
	}
	deny, err := New(Rules{Deny: []string{"private/"}})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{".trash/a": true, "sub/.trash/a": true, ".Trash-7/files/a": true, "a/b": false} {
		if deny.ClosesTrash(path) != want {
			t.Errorf("ClosesTrash(%q) is not %v", path, want)
		}
	}
	t.Logf("%d names of %d in %d trashes", tried, len(had)*len(named), len(places))
}
