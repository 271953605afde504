package review

import (
	"strings"
	"testing"

	"quarry/change"
)

func TestParseRules(t *testing.T) {
	for _, c := range []struct{ rule, wrong string }{
		{"accept docs/**", ""}, {"refuse *.lock", ""}, {"ask lines>200", ""}, {"ask client:cursor src/**", ""}, {`accept "my notes/**" lines<=20`, ""}, {"  ask\ttool:delete_file ", ""},
		{`refuse "tool:x"`, ""}, // quoted, so it is a path
		{`accept "ends in a space\\ "`, ""},
		{"accept client:claude-code", "its own word"}, {"accept docs/** client:x", "its own word"}, {"allow docs/**", "invalid action"}, {"", "empty"}, {"accept", "every change"},
		{"ask lines>many", "number of lines"}, {"ask lines=3", "invalid size"}, {"ask lines>1 lines>2", "number of lines"}, {"refuse !x", "negation"}, {"refuse tool:", "one name"},
		{"refuse tool:a tool:b", "one name"}, {`refuse "x`, "unclosed"}, {"refuse [z-", "glob"}, {"Accept docs/**", "invalid action"},
	} {
		_, err := ParseRules([]string{c.rule})
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("ParseRules(%q) = %v, want %q", c.rule, err, c.wrong)
		}
	}
	if _, err := ParseRules(make([]string, maxRules+1)); err == nil {
		t.Error("there is no limit")
	}
}

func TestJudge(t *testing.T) {
	rules := []string{"accept docs/**", "refuse *.lock", "ask docs/secret/**", "ask lines>10", "accept src/gen/** tool:write_file", "ask client:cursor docs/b.md"}
	r, err := ParseRules(rules)
	if err != nil {
		t.Fatal(err)
	}
	part := func(path string, lines int) RulePart { return RulePart{path, lines} }
	for _, c := range []struct {
		name, tool, client string
		parts              []RulePart
		before             int
		want               Action
		rule               string
	}{
		{"a path", "edit_file", "x", []RulePart{part("docs/a.md", 3)}, 0, Accept, rules[0]},
		{"no rule", "edit_file", "x", []RulePart{part("main.go", 3)}, 0, Ask, ""},
		{"the strictest counts", "edit_file", "x", []RulePart{part("docs/secret/a.md", 1)}, 0, Ask, rules[2]},
		{"refused beats all", "edit_file", "x", []RulePart{part("docs/secret/a.lock", 1)}, 0, Refuse, rules[1]},
		{"a mixed set asks", "edit_file", "x", []RulePart{part("docs/a.md", 1), part("main.go", 1)}, 0, Ask, ""},
		{"a mixed set is refused", "edit_file", "x", []RulePart{part("docs/a.md", 1), part("go.lock", 1)}, 0, Refuse, rules[1]},
		{"too large", "edit_file", "x", []RulePart{part("docs/a.md", 11)}, 0, Ask, rules[3]},
		{"large together with earlier changes", "edit_file", "x", []RulePart{part("docs/a.md", 1)}, 10, Ask, rules[3]},
		{"the letter case does not help", "edit_file", "x", []RulePart{part("docs/YARN.LOCK", 1)}, 0, Refuse, rules[1]},
		{"a letter that folds to another does not help", "edit_file", "x", []RulePart{part("docs/\u017fecret/a.md", 1)}, 0, Ask, rules[2]},
		{"a dot at the end does not help", "edit_file", "x", []RulePart{part("docs/yarn.lock. .", 1)}, 0, Refuse, rules[1]},
		{"another case does not bypass a rule", "edit_file", "x", []RulePart{part("DOCS/a.md", 1)}, 0, Ask, ""},
		{"a name that begins so", "edit_file", "x", []RulePart{part("docs2/a.md", 1)}, 0, Ask, ""},
		{"its tool", "write_file", "x", []RulePart{part("src/gen/a.go", 1)}, 0, Accept, rules[4]},
		{"another tool", "edit_file", "x", []RulePart{part("src/gen/a.go", 1)}, 0, Ask, ""},
		{"a client may tighten", "edit_file", "Cursor", []RulePart{part("docs/b.md", 1)}, 0, Ask, rules[5]},
		{"a client without a name too", "edit_file", "", []RulePart{part("docs/b.md", 1)}, 0, Ask, rules[5]},
		{"another client", "edit_file", "claude-code", []RulePart{part("docs/b.md", 1)}, 0, Accept, rules[0]},
	} {
		got := r.Judge(Asked{Tool: c.tool, Client: change.Client{Name: c.client}, Parts: c.parts, Before: func(string) int { return c.before }}, Ask)
		if got.Action != c.want || got.Rule != c.rule {
			t.Errorf("%s: %v by %q, want %v by %q", c.name, got.Action, got.Rule, c.want, c.rule)
		}
	}
}
