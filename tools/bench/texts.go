package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// textCases are searches of one large file, for which only the engine and reading matter. Both
// programs map the file.
var textCases = []struct {
	name, file string // "" means the tree
	args       []string
}{
	{"an empty file", "empty", []string{"-c", "x"}},
	{"English, a name", "en", []string{"-c", "Sherlock Holmes"}},
	{"English, any case", "en", []string{"-c", "-i", "sherlock holmes"}},
	{"English, 5 names, any case", "en", []string{"-c", "-i", "sherlock holmes|john watson|irene adler|inspector lestrade|professor moriarty"}},
	{"English, every line", "en", []string{"-c", "$"}},
	{"English, .*.*=.*", "en", []string{"-c", ".*.*=.*"}},
	{"English, words then literal", "en", []string{"-c", `\w+\s+Holmes`}},
	{"the same across lines", "en", []string{"-c", "-U", `\w+\s+Holmes`}},
	{"English, bounded repeats", "en", []string{"-c", "[A-Za-z]{8,13}"}},
	{"English, keys", "en", []string{"-c", "(?:ASIA|AKIA|AROA|AIDA)([A-Z0-7]{16})"}},
	{"Russian, a word", "ru", []string{"-c", "Шерлок"}},
	{"Russian, 3 names", "ru", []string{"-c", "Шерлок Холмс|Джон Уотсон|Ирен Адлер"}},
	{"Russian, absent", "ru", []string{"-c", "Шерлокзз"}},
	{"Russian, ASCII absent", "ru", []string{"-c", "zzyzx"}},
	{"Russian, any case", "ru", []string{"-c", "-i", "шерлок холмс"}},
	{"Russian, 3 names, any case", "ru", []string{"-c", "-i", "шерлок холмс|джон уотсон|ирен адлер"}},
	{"Russian, whole words", "ru", []string{"-c", "-w", "он"}},
	{"Russian, long words", "ru", []string{"-c", `\b\w{12,}\b`}},
	{"a log, every line", "log", []string{"-n", ""}},
	{"a log, ERROR lines", "log", []string{"-n", "ERROR"}},
	{"records, 3 groups replaced", "records", []string{"-N", "-r", "$2 $1", `^([0-9A-F]+);([^;]+);([^;]+);.*`}},
	{"lines of 4 MB, counted", "wide", []string{"-c", "ERROR"}},
	{"lines of 4 MB, matches", "wide", []string{"-N", "-o", "ERROR"}},
	{"lines of 4 MB, printed", "wide", []string{"-N", "ERROR"}},
	{"lines of 4 MB, -U", "wide", []string{"-c", "-U", "ERROR"}},
	{"10,000 files, -C2 return", "", []string{"-C2", "-n", "return", "drivers/net"}},
}

func (b *bench) texts() error {
	exe, err := b.build()
	if err != nil {
		return err
	}
	b.header("one file of 64 MB (ratio below 1: quarry is faster)")
	for _, c := range textCases {
		args := slices.Clone(c.args)
		if c.file != "" {
			name, err := b.prose(c.file)
			if err != nil {
				return err
			}
			args = append(args, name)
		}
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
		b.row(c.name+note, q, r)
	}
	return nil
}

// Common words of both languages, and the texts to search for.
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

// proseSize is the size of a generated text.
const proseSize = 64 << 20

// prose writes a text and returns its path; the text is the same in every run. For a language it
// has lines of 3 to 14 words. One line in 200 has a name, and one in 1,000 an =. The other kinds
// are a log, a log with lines of 4 MB, and records of fields.
func (b *bench) prose(language string) (string, error) {
	name, err := filepath.Abs(filepath.Join(b.work, language+".txt"))
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(name); err == nil && (info.Size() >= proseSize || language == "empty") {
		return name, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if language == "empty" {
		return name, nil
	}
	w := bufio.NewWriterSize(f, 1<<20)
	next := lines(language)
	for size := 0; size < proseSize; {
		line := next()
		if _, err := w.WriteString(line); err != nil {
			return "", err
		}
		size += len(line)
	}
	return name, w.Flush()
}

// lines returns a function that returns the next line of a text.
func lines(kind string) func() string {
	r := rand.New(rand.NewPCG(1, 2))
	words, names := strings.Fields(english), strings.Split(englishNames, "|")
	if kind == "ru" {
		words, names = strings.Fields(russian), strings.Split(russianNames, "|")
	}
	// Words at the start of a list are more frequent.
	word := func() string { return words[min(r.IntN(len(words)), r.IntN(len(words)))] }
	some := func(n int) []string {
		line := make([]string, n)
		for i := range line {
			line[i] = word()
		}
		return line
	}
	t := 0
	log := func() string {
		t++
		level := "INFO"
		if r.IntN(100) == 0 {
			level = "ERROR"
		}
		return fmt.Sprintf("2026-11-16T02:%02d:%02d.%03d %s [worker-%d] %s", t/60000%60, t/1000%60, t%1000, level, t%16, strings.Join(some(8), " "))
	}
	switch kind {
	case "log":
		return func() string { return log() + "\n" }
	case "wide":
		return func() string {
			var b strings.Builder
			for b.Len() < 4<<20 {
				b.WriteString(log() + " ")
			}
			return b.String() + "\n"
		}
	case "records":
		return func() string {
			t++
			return fmt.Sprintf("%04X;%s;L%c;0;L;;;;;N;;;;%04X;\n", t, strings.ToUpper(strings.Join(some(1+r.IntN(4)), " ")), "ulmo"[r.IntN(4)], t+1)
		}
	}
	return func() string {
		line := some(3 + r.IntN(12))
		switch n := r.IntN(1000); {
		case n < 5:
			line[r.IntN(len(line))] = names[r.IntN(len(names))]
		case n == 5:
			line[r.IntN(len(line))] = "a = b"
		}
		return fmt.Sprintf("%s%c\n", strings.Join(line, " "), ".,!?"[r.IntN(4)])
	}
}
