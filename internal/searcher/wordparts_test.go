package searcher_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"quarry"
	"quarry/match"
	"quarry/search"
)

// Queries find words in scripts without spaces, parts of compound words and beginnings of
// words if no text contains them as whole words.
func TestCodeByPartsOfWords(t *testing.T) {
	ws := workspace(t, map[string]string{
		"zh.md": "# 用户手册\n\n如何登录系统并修改密码。\n", "ja.md": "ログイン画面を表示する。\n", "th.md": "วิธีเข้าสู่ระบบ\n", "ko.md": "로그인화면\n",
		"de.md": "# Haushaltsplanung\n\nDie Übersicht.\n", "en.md": "How reliability is measured.\n", "ru.md": "Перезагрузка сервера\n",
	}, nil)
	for _, c := range []struct{ query, path string }{
		{"登录", "zh.md"}, {"怎么修改密码", "zh.md"}, {"画面", "ja.md"}, {"ระบบ", "th.md"}, {"화면", "ko.md"}, {"Haushalt", "de.md"}, {"haushaltsplan", "de.md"},
		{"reliab", "en.md"}, {"загрузка", "ru.md"}, {"ÜBERSICH", "de.md"},
	} {
		r, err := ws.SearchCode(ctx, search.CodeQuery{Query: c.query})
		if err != nil || len(r.Chunks) == 0 || r.Chunks[0].Path != c.path || r.Chunks[0].Text == "" {
			t.Errorf("%s: %+v, %v", c.query, r, err)
		}
	}
	if r, err := ws.SearchCode(ctx, search.CodeQuery{Query: "xyzzy 電話"}); err != nil || r.Total != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// If a ranked search finds nothing, a plain search for the same words finds nothing
// either.
func TestCodeAbsenceIsTrue(t *testing.T) {
	texts := []string{
		"如何登录系统并修改密码用户手册", "ログイン画面を表示するユーザー", "วิธีเข้าสู่ระบบและเปลี่ยนรหัสผ่าน", "로그인 화면 비밀번호를 변경", "Haushaltsplanung Übersicht Straße",
		"Перезагрузка сервера пользователя", "Επανεκκίνηση διακομιστή", "إعادة تشغيل الخادم", "הפעלה מחדש של השרת", "सर्वर पुनः आरंभ करें", "reliability getUserName HTTPServer", "მომხმარებელი სერვერი",
	}
	files := map[string]string{}
	for i, text := range texts {
		files[string(rune('a'+i))+".md"] = text + "\n"
	}
	ws := workspace(t, files, &quarry.Options{})
	r := rand.New(rand.NewPCG(5, 5))
	present, absent := 0, 0
	for range 1200 {
		letters := []rune(texts[r.IntN(len(texts))])
		from := r.IntN(len(letters) - 2)
		word := string(letters[from : from+2+r.IntN(min(6, len(letters)-from-1))])
		if r.IntN(3) == 0 { // not taken from a single text
			other := []rune(texts[r.IntN(len(texts))])
			word += string(other[r.IntN(len(other))])
		}
		word = strings.TrimSpace(word)
		if len(strings.Fields(word)) != 1 {
			continue
		}
		plain, err := ws.Search(ctx, search.Query{Pattern: word, Match: match.Options{Syntax: match.Literal, Case: match.Insensitive}})
		if err != nil {
			t.Fatal(err)
		}
		ranked, err := ws.SearchCode(ctx, search.CodeQuery{Query: word})
		if err != nil {
			t.Fatal(err)
		}
		if len(plain.Files) == 0 {
			absent++
			continue
		}
		present++
		if ranked.Total == 0 {
			t.Errorf("%q occurs in %s, and the ranked search finds nothing", word, plain.Files[0].Path)
		}
	}
	if present < 400 || absent < 100 {
		t.Errorf("%d words occur, %d don't", present, absent)
	}
}
