package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

//go:embed tasks/*.json judges/*.json
var texts embed.FS

// kind is a kind of tasks. It is defined by a file in tasks/, which agents see as their brief, and
// a file in judges/, which they never see.
type kind struct {
	Name    string   `json:"-"`
	Use     string   `json:"use"`     // "tuning", or "measured": only used to measure a version
	Source  source   `json:"source"`  // the source of tasks that have none of their own
	Intro   string   `json:"intro"`   // of the brief
	Tasks   []task   `json:"tasks"`   //
	Compile bool     `json:"compile"` // agents are told that the judges compile but they can't
	Also    []source `json:"also"`    // sources of judges
}

type task struct {
	ID     string `json:"id"`
	Commit string `json:"commit"` // of the source's git repository
	Shared bool   `json:"shared"` // the tree is read-only, and all runs share it
	Text   string `json:"text"`
	Before []step `json:"before"` // changes made in the tree after its first commit
}

// step is a change that others made before the agent starts. The quarry arm records it.
type step struct {
	Script string `json:"script"` // for bash
	Undo   bool   `json:"undo"`   // the agent must undo it, and keep the other steps
}

// source is a tree that is not committed here: a git repository, a version of a Go module, or an
// unpacked Debian source package.
type source struct {
	Name    string            `json:"name"`
	Git     string            `json:"git"`     // where it is published; prepare takes -source NAME=DIR
	Module  string            `json:"module"`  // path@version, from the Go module proxy
	Package string            `json:"package"` // Debian package and version; prepare takes -source NAME=FOLDER
	Made    string            `json:"made"`    // by this program: "services"
	Add     map[string]string `json:"add"`     // files that we add to the tree
}

// judge states when a task is solved. All conditions that are set must hold.
type judge struct {
	From    string    `json:"from"`    // commit of the known solution
	Take    []string  `json:"take"`    // files of From to put into the tree first, such as upstream's tests
	Run     []command `json:"run"`     // must succeed in the tree
	Absent  []finding `json:"absent"`  // must not match
	Present []finding `json:"present"` // must match at least once each
	Changed *changed  `json:"changed"` // which files must differ from the original tree
	Exists  []string  `json:"exists"`  // paths that must exist
	Gone    []string  `json:"gone"`
	Answers []answer  `json:"answers"`
	Moves   []move    `json:"moves"`  // the links of a vault must lead to the same notes after these moves
	Values  string    `json:"values"` // the change that every file of services must show
	Kept    bool      `json:"kept"`   // the tree must be the steps before without those to be undone
	Solve   solution  `json:"solve"`  // if From does not name a commit
}

// solution is a known solution, which check uses to test the judge.
type solution struct {
	Script  string `json:"script"` // a bash script to run in the tree
	Answers string `json:"answers"`
}

type command struct {
	Args []string `json:"args"`
	Env  []string `json:"env"`
}

// finding is a regular expression and the files to search.
type finding struct {
	Regex  string   `json:"regex"`
	Files  string   `json:"files"`  // regular expression for their paths; "" means all
	Except []string `json:"except"` // paths to exclude
	Count  int      `json:"count"`  // if not 0, the exact number of matches (only in Present)
}

// changed compares a tree with the original tree. All files whose original text matches Had, but
// not HadNot, must be changed, and the new text must match Now. No other files may be changed,
// except those in Also.
type changed struct {
	Files  string   `json:"files"` // regular expression for the paths to compare
	Had    string   `json:"had"`
	HadNot string   `json:"had_not"`
	Now    string   `json:"now"`
	Also   []string `json:"also"`  // may be changed, created or deleted
	Lines  int      `json:"lines"` // maximum number of new lines in a changed file; 0 means no limit
}

// answer is a line of the agent's answer: "3 …", "3. …" or "3: …". It must match one of the regular
// expressions.
type answer struct {
	N   string   `json:"n"`
	Any []string `json:"any"`
	All []string `json:"all"`
	Not []string `json:"not"`
}

func kindNames() string {
	entries, _ := texts.ReadDir("tasks")
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return strings.Join(names, ", ")
}

func readKind(name string) (*kind, error) {
	k := kind{Name: name}
	if err := readJSON(path.Join("tasks", name+".json"), &k); err != nil {
		return nil, fmt.Errorf("unknown kind of task %q; there are %s (%w)", name, kindNames(), err)
	}
	return &k, nil
}

func readJudges(name string) (map[string]judge, error) {
	judges := map[string]judge{}
	return judges, readJSON(path.Join("judges", name+".json"), &judges)
}

func readJSON(name string, into any) error {
	data, err := texts.ReadFile(name)
	if err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (k *kind) task(id string) (task, error) {
	for _, t := range k.Tasks {
		if t.ID == id {
			return t, nil
		}
	}
	var ids []string
	for _, t := range k.Tasks {
		ids = append(ids, t.ID)
	}
	return task{}, fmt.Errorf("unknown task %q; there are %s", id, strings.Join(ids, ", "))
}
