package cli

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"quarry/internal/cli/env"
)

// Every command in the skill exists and has the flags shown there.
func TestSkillCommands(t *testing.T) {
	var text bytes.Buffer
	s := env.Streams{In: strings.NewReader(""), Out: &text, Err: &text}
	if code := Run(t.Context(), []string{"skill"}, s); code != 0 {
		t.Fatalf("exit code %d: %s", code, &text)
	}
	root := newRoot(env.Streams{Conf: &env.Settings{}}, "")
	commands := 0
	for _, m := range regexp.MustCompile("(?m)`quarry ([^`]+)`|^quarry ([^#\n]+)").FindAllStringSubmatch(text.String(), -1) {
		line := m[1] + m[2]
		words := strings.Fields(regexp.MustCompile(`'[^']*'`).ReplaceAllString(line, "X"))
		if words[0] == "COMMAND" {
			continue
		}
		cmd, rest, err := root.Find(words)
		if err != nil || cmd == root {
			t.Errorf("%s: no such command", line)
			continue
		}
		commands++
		for _, w := range rest {
			name := strings.TrimLeft(w, "-")
			if w == name || cmd.Flags().Lookup(name) != nil || cmd.InheritedFlags().Lookup(name) != nil {
				continue
			}
			if len(name) != 1 || cmd.Flags().ShorthandLookup(name) == nil {
				t.Errorf("%s: no flag %s", line, w)
			}
		}
	}
	if commands < 15 {
		t.Errorf("only %d commands", commands)
	}
}
