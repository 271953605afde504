package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// textCases are searches of one large file, where the engine and reading are all
// there is. ripgrep maps the file; we read it.
var textCases = []struct {
	name, file string
	args       []string
}{
	{"Russian, a word", "ru", []string{"-c", "Шерлок"}},
	{"Russian, absent", "ru", []string{"-c", "Шерлокзз"}},
	{"Russian, ASCII absent", "ru", []string{"-c", "zzyzx"}},
	{"Russian, any case", "ru", []string{"-c", "-i", "шерлок холмс"}},
	{"Russian, whole words", "ru", []string{"-c", "-w", "он"}},
	{"Russian, long words", "ru", []string{"-c", `\b\w{12,}\b`}},
	{"English, any case", "en", []string{"-c", "-i", "sherlock holmes"}},
	{"English, 5 names, any case", "en", []string{"-c", "-i", "sherlock holmes|john watson|irene adler|inspector lestrade|professor moriarty"}},
	{"English, every line", "en", []string{"-c", "$"}},
	{"English, .*.*=.*", "en", []string{"-c", ".*.*=.*"}},
	{"English, words then literal", "en", []string{"-c", `\w+\s+Holmes`}},
	{"the same across lines", "en", []string{"-c", "-U", `\w+\s+Holmes`}},
	{"English, bounded repeats", "en", []string{"-c", "[A-Za-z]{8,13}"}},
}

// texts compares searches of such files.
func (b *bench) texts() error {
	exe, err := b.build()
	if err != nil {
		return err
	}
	b.header("one file of 64 MB (ratio below 1: quarry is faster)")
	for _, c := range textCases {
		name, err := b.prose(c.file)
		if err != nil {
			return err
		}
		args := append(c.args, name)
		ours := append([]string{exe, "search"}, args...)
		theirs := append([]string{b.rg, "--no-config"}, args...)
		q, r, err := b.compare(ours, theirs)
		if err != nil {
			return err
		}
		note := ""
		if same, err := b.sameLines(ours, theirs); err != nil {
			return err
		} else if !same {
			note = "  OTHER COUNTS"
		}
		row(c.name+note, q, r)
	}
	return nil
}

// Common words of both languages, and what is searched for.
const (
	russian = "и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой что весь год от так о для ты же все тот мочь вы человек такой " +
		"его сказать только или ещё бы себя один как уже до время если сам когда другой вот говорить наш мой знать стать при чтобы дело жизнь кто первый очень " +
		"два день её новый рука даже во со раз где там под можно ну какой после их работа без самый потом надо хотеть правительство обстоятельство производство"
	english = "the of and to a in is that it was for on are with as his they be at one have this from or had by hot but some what there we can out other were all " +
		"your when up use word how said an each she which do their time if will way about many then them would write like so these her long make thing see him two " +
		"has look more day could go come did my sound no most number who over know water than call first people may down side been now find government development"
	russianNames = "Шерлок Холмс|Джон Уотсон|Ирен Адлер"
	englishNames = "Sherlock Holmes|John Watson|Irene Adler|Inspector Lestrade|Professor Moriarty"
)

// proseSize is the size of a text.
const proseSize = 64 << 20

// prose writes a text of words in lines of 3 to 14, with a name in one of 200 and
// an = in one of 1,000, the same each time.
func (b *bench) prose(language string) (string, error) {
	name, err := filepath.Abs(filepath.Join(b.work, language+".txt"))
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(name); err == nil && info.Size() >= proseSize {
		return name, nil
	}
	words, names := strings.Fields(english), strings.Split(englishNames, "|")
	if language == "ru" {
		words, names = strings.Fields(russian), strings.Split(russianNames, "|")
	}
	f, err := os.Create(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(1, 2))
	for size := 0; size < proseSize; {
		var line []string
		for range 3 + r.IntN(12) {
			// The first words of the lists are the most frequent.
			line = append(line, words[min(r.IntN(len(words)), r.IntN(len(words)))])
		}
		switch n := r.IntN(1000); {
		case n < 5:
			line[r.IntN(len(line))] = names[r.IntN(len(names))]
		case n == 5:
			line[r.IntN(len(line))] = "a = b"
		}
		n, err := fmt.Fprintf(w, "%s%c\n", strings.Join(line, " "), ".,!?"[r.IntN(4)])
		if err != nil {
			return "", err
		}
		size += n
	}
	return name, w.Flush()
}
