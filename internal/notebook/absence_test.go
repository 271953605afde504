package notebook_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"quarry"
	"quarry/internal/notebook"
	"quarry/internal/stress"
	"quarry/match"
	"quarry/search"
)

// scriptTexts are sentences in various scripts.
var scriptTexts = map[string]string{
	"Han": "如何登录系统并修改密码用户手册", "Katakana": "ログイン画面を表示するユーザー", "Thai": "วิธีเข้าสู่ระบบและเปลี่ยนรหัสผ่าน", "Hangul": "로그인 화면 비밀번호를 변경",
	"Latin": "Haushaltsplanung Übersicht Straße reliability getUserName naïve", "Cyrillic": "Перезагрузка сервера пользователя", "Greek": "Επανεκκίνηση διακομιστή",
	"Arabic": "إعادة تشغيل الخادم", "Hebrew": "הפעלה מחדש של השרת", "Devanagari": "सर्वर पुनः आरंभ करें", "Georgian": "მომხმარებელი სერვერი", "Khmer": "ការចូលប្រព័ន្ធ",
	"Long":    "სერვერი მომხმარებლისსერვერისგადატვირთვა", // contains a word of 93 bytes, which is too long to be counted
	"Bengali": "সার্ভার পুনরায় চালু করুন", "Tamil": "சேவையகத்தை மறுதொடக்கம்",
}

// If an answer says that a word doesn't occur, a plain search for it in the same files
// finds nothing either. QUARRY_SCRIPTS_CORPUS is a folder of Markdown files in many
// scripts, from which words are taken.
func TestAbsenceIsTrue(t *testing.T) {
	stress.SkipTiny(t)
	ctx := t.Context()
	dir := os.Getenv("QUARRY_SCRIPTS_CORPUS")
	if dir == "" {
		dir = t.TempDir()
		for name, text := range scriptTexts {
			os.WriteFile(filepath.Join(dir, name+".md"), []byte("---\nstatus: draft"+name+"\n---\n# "+text+"\n\n"+text+"\n"), 0o600)
			os.WriteFile(filepath.Join(dir, text+".md"), []byte(name+"\n"), 0o600)
		}
	}
	ws, err := quarry.Open(dir, &quarry.Options{Index: &quarry.IndexOptions{Dir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if err := ws.Index().Wait(ctx); err != nil {
		t.Skip("no index here:", err)
	}
	words := wordsByScript(t, dir)
	scripts := slices.Collect(func(yield func(string) bool) {
		for script := range words {
			if !yield(script) {
				return
			}
		}
	})
	slices.Sort(scripts)
	if len(scripts) < 12 {
		t.Fatalf("only %d scripts: %q", len(scripts), scripts)
	}
	names := definedNames(t, ctx, ws)
	run := stress.Start(t, "absence is true", 4_000, 5_500)
	present, absent := 0, 0
	for seed := range run.Cases() {
		r := stress.Rand(seed)
		word := randomPart(r, words[scripts[r.IntN(len(scripts))]], words[scripts[r.IntN(len(scripts))]])
		if word == "" {
			continue
		}
		there, err := falseAbsence(ctx, ws, word, names)
		if err != nil {
			run.Violation(seed, "%v", err)
		}
		if there {
			present++
		} else {
			absent++
		}
	}
	run.Tried(present + absent)
	t.Logf("%d scripts: %s; %d words occur, %d don't", len(scripts), strings.Join(scripts, ", "), present, absent)
	if present < absent || absent*20 < present {
		t.Errorf("%d words occur, %d don't: the test shows little", present, absent)
	}
}

// falseAbsence compares searches for a word with a plain search.
func falseAbsence(ctx context.Context, ws *quarry.Workspace, word string, names []string) (there bool, err error) {
	notes := search.Scope{Globs: []string{"**/*.md"}, Dialect: search.Plain}
	plain, err := ws.Search(ctx, search.Query{Pattern: word, Detail: search.Files, Match: match.Options{Syntax: match.Literal, Case: match.Insensitive}})
	if err != nil {
		return false, err
	}
	there = len(plain.Files) > 0
	code, err := ws.SearchCode(ctx, search.CodeQuery{Query: word})
	if err != nil {
		return there, err
	}
	if there && code.Total == 0 {
		return there, fmt.Errorf("%q is in %s, and search_code finds nothing", word, plain.Files[0].Path)
	}
	found, err := notebook.Open(ws).Search(ctx, notebook.Query{Query: word, Loose: true, Scope: notes})
	if err != nil {
		return there, err
	}
	if there && found.Total == 0 {
		return there, fmt.Errorf("%q is in %s, and search_notes finds nothing", word, plain.Files[0].Path)
	}
	defined, err := ws.Symbols(ctx, search.SymbolQuery{Name: word, Fuzzy: true})
	if err != nil {
		return there, err
	}
	if defined.Total == 0 && len(word) > 2 {
		for _, name := range names {
			if strings.Contains(name, strings.ToLower(word)) {
				return there, fmt.Errorf("%q is defined, and find_symbol of %q finds nothing", name, word)
			}
		}
	}
	return there, nil
}

// definedNames returns the names of all definitions, in lower case.
func definedNames(t *testing.T, ctx context.Context, ws *quarry.Workspace) (names []string) {
	t.Helper()
	r, err := ws.Symbols(ctx, search.SymbolQuery{Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Symbols {
		names = append(names, strings.ToLower(s.Name))
	}
	return names
}

// wordsByScript returns the words in a folder's texts, by the script of their first
// letter.
func wordsByScript(t *testing.T, dir string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(p) != ".md" {
			return err
		}
		text, err := os.ReadFile(p)
		for _, w := range strings.Fields(string(text)) {
			w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) })
			for _, c := range w {
				for name, table := range unicode.Scripts {
					if name != "Common" && name != "Inherited" && unicode.Is(table, c) {
						out[name] = append(out[name], w)
					}
				}
				break
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, list := range out {
		if len(list) < 2 {
			delete(out, name)
		}
	}
	return out
}

// randomPart returns a word, a part of one, or a text that hardly ever occurs.
func randomPart(r *rand.Rand, words, others []string) string {
	letters := []rune(words[r.IntN(len(words))])
	from := 0
	switch r.IntN(3) {
	case 0:
		from = r.IntN(len(letters))
	case 1:
		letters = letters[:1+r.IntN(len(letters))]
	}
	word := string(letters[from:])
	if r.IntN(4) == 0 { // not taken from a single text
		other := []rune(others[r.IntN(len(others))])
		word += string(other[r.IntN(len(other)):])
	}
	if strings.IndexFunc(word, unicode.IsLetter) < 0 || len(strings.Fields(word)) != 1 || strings.Contains(word, ":") {
		return ""
	}
	return word
}
