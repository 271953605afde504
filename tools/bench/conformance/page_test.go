package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// The table in the document is this command's output: one row per suite, in its words, with figures
// that add up.
func TestPage(t *testing.T) {
	data, err := os.ReadFile("../../../docs/CONFORMANCE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "<!-- suites -->")
	table, _, found := strings.Cut(rest, "<!-- end of suites -->")
	if !found {
		t.Fatal("the page has no table of suites")
	}
	var rows []string
	for row := range strings.Lines(table) {
		if strings.HasPrefix(row, "|") {
			rows = append(rows, strings.TrimSpace(row))
		}
	}
	if len(rows) != len(suites)+2 {
		t.Fatalf("%d rows for %d suites", len(rows)-2, len(suites))
	}
	for i, s := range suites {
		if problem := checkRow(&s, rows[i+2]); problem != "" {
			t.Errorf("%s: %s\n%s", s.name, problem, rows[i+2])
		}
	}
}

// checkRow returns a part of row that this command would not write, or "".
func checkRow(s *suite, row string) string {
	cells := strings.Split(strings.Trim(row, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	if len(cells) != 7 {
		return strconv.Itoa(len(cells)) + " cells"
	}
	if cells[0] != s.name || cells[1] != s.what {
		return "another name or description"
	}
	if strings.HasPrefix(cells[3], "not run: ") {
		return ""
	}
	if cells[2] == "" || cells[2] == "unknown" {
		return "no revision"
	}
	documented, why, _ := strings.Cut(cells[5], ": ")
	var n [4]int
	for i, text := range []string{cells[3], cells[4], documented, cells[6]} {
		var err error
		if n[i], err = strconv.Atoi(text); err != nil {
			return err.Error()
		}
	}
	switch tried, pass, differ, fail := n[0], n[1], n[2], n[3]; {
	case tried != pass+differ+fail:
		return "the figures don't add up"
	case pass == 0:
		return "nothing passes"
	case differ > 0 && why != s.differs:
		return "the difference is not documented as " + strconv.Quote(s.differs)
	case differ == 0 && why != "":
		return "a reason without a difference"
	}
	return ""
}

// Rows that were changed by hand are detected.
func TestRowsChangedByHand(t *testing.T) {
	s := &suite{name: "a", what: "b", differs: "c"}
	good := "| a | b | 123 | 10 | 8 | 2: c | 0 |"
	if problem := checkRow(s, good); problem != "" {
		t.Errorf("%s: %s", good, problem)
	}
	for _, row := range []string{
		"| a | b | 123 | 10 | 9 | 2: c | 0 |",
		"| a | b | 123 | 10 | 8 | 2: other | 0 |",
		"| a | b | 123 | 8 | 8 | 0: c | 0 |",
		"| a | x | 123 | 10 | 8 | 2: c | 0 |",
		"| a | b | | 10 | 8 | 2: c | 0 |",
		"| a | b | 123 | 0 | 0 | 0 | 0 |",
		"| a | b | 123 | 10 | 8 | 2: c |",
		"| a | b | 123 | many | 8 | 2: c | 0 |",
	} {
		if checkRow(s, row) == "" {
			t.Errorf("%s passes", row)
		}
	}
}
