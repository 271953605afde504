package page

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"path"
	"strconv"

	"quarry/change"
	"quarry/internal/review"
)

// RuleBook reads and writes the rules for changes in one root.
type RuleBook struct {
	Root      string // the root's name; "" if it is the only one
	Workspace review.TrialFiles
	// Load returns the rules, where they are defined, and the action for changes that match no
	// rule.
	Load func() (rules []string, where string, otherwise review.Action, err error)
	// Save writes the rules.
	Save func(rules []string) error
}

// triedOn is the number of recent changes on which new rules are tried before they are saved.
const triedOn = 50

type wireRules struct {
	Root      string   `json:"root"`
	Rules     []string `json:"rules"`
	Where     string   `json:"where,omitempty"`
	Otherwise string   `json:"otherwise"`
	Problem   string   `json:"problem,omitempty"`
}

func (b *RuleBook) wire() wireRules {
	rules, where, otherwise, err := b.Load()
	w := wireRules{Root: b.Root, Rules: append([]string{}, rules...), Where: where, Otherwise: otherwise.String()}
	if err == nil {
		_, err = review.ParseRules(rules)
	}
	if err != nil {
		w.Problem = err.Error()
	}
	return w
}

func (s *Server) rules(w http.ResponseWriter, r *http.Request) (any, error) {
	list := []wireRules{}
	for i := range s.opts.RuleBooks {
		list = append(list, s.opts.RuleBooks[i].wire())
	}
	return map[string]any{"books": list, "read_only": s.opts.ReadOnly}, nil
}

// ruleRequest has a root and rules for it.
type ruleRequest struct {
	Root  string   `json:"root"`
	Rules []string `json:"rules"`
	// Tried is the stamp from trying these rules; without it they can't be saved.
	Tried string `json:"tried"`
}

func (s *Server) readRules(w http.ResponseWriter, r *http.Request) (*RuleBook, *ruleRequest, *review.Rules, error) {
	var req ruleRequest
	if err := readBody(w, r, &req); err != nil {
		return nil, nil, nil, err
	}
	for i := range s.opts.RuleBooks {
		if b := &s.opts.RuleBooks[i]; b.Root == req.Root {
			rules, err := review.ParseRules(req.Rules)
			if err != nil {
				return nil, nil, nil, badRequest(err.Error())
			}
			return b, &req, rules, nil
		}
	}
	return nil, nil, nil, badRequest("unknown root " + strconv.Quote(req.Root))
}

// stamp returns a value that proves that the rules of a root were tried on this page.
func (s *Server) stamp(req *ruleRequest) string {
	data, _ := json.Marshal([]any{s.token, req.Root, req.Rules}) // marshalling strings can't fail
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// wireTried is a change with the decision that the new rules would have made.
type wireTried struct {
	wireChange
	Action string `json:"action"`
	Why    string `json:"why,omitempty"` // the rule that decided
	Path   string `json:"at,omitempty"`
}

// tryRules shows how rules would have decided the latest changes. It decides nothing.
func (s *Server) tryRules(w http.ResponseWriter, r *http.Request) (any, error) {
	b, req, rules, err := s.readRules(w, r)
	if err != nil {
		return nil, err
	}
	_, _, otherwise, _ := b.Load()
	log, err := b.Workspace.Changes(r.Context(), 0)
	if err != nil {
		return nil, err
	}
	held := s.held(b.Root, log.Changes)
	tried, err := review.Try(r.Context(), b.Workspace, rules, func(c *change.Change) review.Action {
		if held[c.Client.Name] {
			return review.Ask
		}
		return otherwise
	}, triedOn)
	if err != nil {
		return nil, err
	}
	rows, counts := []wireTried{}, map[string]int{}
	for i := range tried {
		t := &tried[i]
		row := wireTried{s.changeOf(&t.Change), t.Action.String(), t.Ruling.Rule, pathID(t.Path)}
		if t.Unknown {
			row.Action, row.Why, row.Path = "unknown", "", ""
		}
		rows = append(rows, row)
		counts[row.Action]++
	}
	return map[string]any{"changes": rows, "counts": counts, "otherwise": otherwise.String(), "tried": s.stamp(req)}, nil
}

// held returns the clients whose changes are held back by their server even if quarry.toml doesn't
// say so. They are those whose latest change without a matching rule had to be decided by a person.
func (s *Server) held(root string, changes []change.Change) map[string]bool {
	held := map[string]bool{}
	for i := range changes {
		c := &changes[i]
		if _, known := held[c.Client.Name]; known || c.Rule != "" {
			continue
		}
		if c.Proposal != "" && s.opts.Review != nil {
			if p, err := s.opts.Review.Get(path.Join(root, c.Proposal)); err == nil && p.Rule != "" {
				continue // held back by a rule
			}
		}
		held[c.Client.Name] = c.Proposal != ""
	}
	return held
}

// saveRules saves rules that were tried before.
func (s *Server) saveRules(w http.ResponseWriter, r *http.Request) (any, error) {
	b, req, _, err := s.readRules(w, r)
	switch {
	case err != nil:
	case req.Tried != s.stamp(req):
		err = badRequest("rules are tried on the last changes before they are saved")
	default:
		err = b.Save(req.Rules)
	}
	if err != nil {
		return nil, err
	}
	return b.wire(), nil
}
