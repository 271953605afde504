package page

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quarry/internal/review"
)

// book stores rules in memory instead of quarry.toml.
type book struct {
	mu    sync.Mutex
	rules []string // guarded by mu
}

func (b *book) load() ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rules, nil
}

// TestBrowserRules tries rules on the agents' earlier changes and saves them. Later changes follow
// the rules, and are marked accordingly.
func TestBrowserRules(t *testing.T) {
	s := serveAgents(t, map[string]string{"docs/a.md": "one\n", "src/x.go": "x\n", "go.lock": "l\n"})
	kept := &book{}
	s.opts.RuleBooks = []RuleBook{{
		Workspace: s.ws,
		Load: func() ([]string, string, review.Action, error) {
			rules, err := kept.load()
			return rules, "quarry.toml:1", review.Ask, err
		},
		Save: func(rules []string) error {
			kept.mu.Lock()
			defer kept.mu.Unlock()
			kept.rules = rules
			return nil
		},
	}}
	s.rulesOf = kept.load
	agent := s.agent(t, "claude-code", time.Minute)
	write := func(path, text string) <-chan string {
		return agent.start("write_file", map[string]any{"path": path, "content": text})
	}
	for path, text := range map[string]string{"docs/a.md": "two\n", "src/x.go": "y\n"} {
		answer := write(path, text)
		if _, err := s.opts.Review.Decide(t.Context(), s.opts.Decide, s.waiting(t, 1).ID, review.Decision{By: "page", Rest: review.Yes}); err != nil {
			t.Fatal(err)
		}
		<-answer
	}
	b := s.open(t, "/review", 1600, 1000, "light")
	b.has(".bar", "Nothing waits")
	b.keys("e")
	b.until(`document.querySelector("dialog.rules textarea")`)
	type_ := func(rules string) {
		t.Helper()
		eval[chromedp.Void](b, `(() => { const a = document.querySelector("dialog.rules textarea"); a.value = `+quote(rules)+`; a.dispatchEvent(new Event("input")); })()`)
	}
	press := func(label string) {
		t.Helper()
		eval[chromedp.Void](b, `[...document.querySelectorAll("dialog.rules button")].find((x) => x.textContent === `+quote(label)+`).click()`)
	}
	const saved = `![...document.querySelectorAll("dialog.rules button")].find((x) => x.textContent === "Save").disabled`
	type_("accept docs/** client:claude-code")
	press("Try on the last 50 changes")
	b.has(".trial", "its own word")
	type_("accept docs/**\nrefuse *.lock")
	press("Try on the last 50 changes")
	b.has(".trial", "1 accepted, 1 asked, 0 refused")
	b.until(saved)
	type_("accept **")
	if eval[bool](b, saved) {
		t.Error("rules can be saved that were not tried")
	}
	type_("accept docs/**\nrefuse *.lock")
	press("Save")
	b.has(".toast", "Saved: 2 rules")
	press("Close")
	if got := <-write("docs/a.md", "three\n"); !strings.Contains(got, "docs/a.md") || s.text(t, "docs/a.md") != "three\n" {
		t.Errorf("accepted by a rule: %s", got)
	}
	if got := <-write("go.lock", "m\n"); !strings.Contains(got, `user's rule "refuse *.lock"`) || s.text(t, "go.lock") != "l\n" {
		t.Errorf("refused by a rule: %s", got)
	}
	b.keys("2")
	b.has(".entry", "by rule")
	b.has(".facts .byrule", "accept docs/**")
	// Rules can't be saved before they are tried.
	for _, body := range []string{`{"root": "", "rules": ["accept **"], "tried": ""}`, `{"root": "", "rules": ["accept **"]}`, `{"root": "x", "rules": []}`, `{"root": "", "rules": ["what"]}`} {
		if res, text := s.request(t, "POST", "/api/rules", body); res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s = %d %s", body, res.StatusCode, text)
		}
	}
	if rules, _ := kept.load(); len(rules) != 2 {
		t.Errorf("the rules are %q", rules)
	}
}

// A rule can be made from a proposal, and is tried at once. If a server holds a client's changes
// back although quarry.toml doesn't say so, the trial shows that changes without a matching rule
// wait. The dialog shows where rules are saved.
func TestBrowserRuleFromProposal(t *testing.T) {
	s := serveAgents(t, map[string]string{"docs/a.md": "one\n", "docs/b.md": "b\n"})
	kept := &book{}
	s.opts.RuleBooks = []RuleBook{{
		Workspace: s.ws,
		Load: func() ([]string, string, review.Action, error) {
			rules, err := kept.load()
			where := ""
			if len(rules) > 0 {
				where = "quarry.toml:7"
			}
			return rules, where, review.Accept, err
		},
		Save: func(rules []string) error {
			kept.mu.Lock()
			defer kept.mu.Unlock()
			kept.rules = rules
			return nil
		},
	}}
	s.rulesOf = kept.load
	agent := s.agent(t, "claude-code", time.Minute)
	write := func(path, text string) <-chan string {
		return agent.start("write_file", map[string]any{"path": path, "content": path + text})
	}
	answer := write("docs/a.md", " once\n")
	if _, err := s.opts.Review.Decide(t.Context(), s.opts.Decide, s.waiting(t, 1).ID, review.Decision{By: "page", Rest: review.Yes}); err != nil {
		t.Fatal(err)
	}
	<-answer
	answer = write("docs/b.md", " anew\n")
	b := s.open(t, "/review/"+s.waiting(t, 1).ID, 1280, 800, "light")
	b.has(".hunk.now", "1 of 1")
	press := func(in, label string) {
		t.Helper()
		eval[chromedp.Void](b, `[...document.querySelectorAll("`+in+` button")].find((x) => x.textContent === `+quote(label)+`).click()`)
	}
	press(".facts", "Accept changes like this…")
	b.until(`document.querySelector("dialog.rules textarea")?.value === "accept /docs/*.md tool:write_file"`)
	b.has(".trial", "1 accepted, 0 asked")
	b.has("dialog.rules", "No rules yet")
	eval[chromedp.Void](b, `(() => { const a = document.querySelector("dialog.rules textarea"); a.dataset.was = a.value; a.value = "accept src/**"; a.dispatchEvent(new Event("input")); })()`)
	press("dialog.rules", "Try on the last 50 changes")
	b.has(".trial", "0 accepted, 1 asked")
	eval[chromedp.Void](b, `(() => { const a = document.querySelector("dialog.rules textarea"); a.value = a.dataset.was; a.dispatchEvent(new Event("input")); })()`)
	press("dialog.rules", "Try on the last 50 changes")
	b.has(".trial", "1 accepted, 0 asked")
	press("dialog.rules", "Save")
	b.has(".toast", "Saved: 1 rule")
	b.has("dialog.rules", "In quarry.toml:7")
	if got := <-write("docs/a.md", " anew\n"); s.text(t, "docs/a.md") != "docs/a.md anew\n" {
		t.Errorf("accepted by the rule: %s", got)
	}
	b.keys(kb.Escape, "R")
	b.has("dialog[open]", "Refuse everything?")
	b.keys(kb.Enter)
	<-answer
	// A rule made from a deletion is for that file alone.
	answer = agent.start("delete_file", map[string]any{"path": "docs/b.md"})
	b.do(chromedp.Navigate(s.base + "/review/" + s.waiting(t, 1).ID))
	b.has(".hunk.now", "1 of 1")
	press(".facts", "Accept changes like this…")
	b.until(`document.querySelector("dialog.rules textarea")?.value.endsWith("\naccept /docs/b.md tool:delete_file")`)
	b.keys(kb.Escape, "R")
	b.has("dialog[open]", "Refuse everything?")
	b.keys(kb.Enter)
	<-answer
	b.has(".dfile .head", "not deleted")
}
