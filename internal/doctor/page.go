package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"

	"quarry/fault"
	"quarry/internal/config"
	"quarry/internal/review"
)

// checkPage checks whether quarry ui could serve and open its page. It reports files left
// by killed pages, and waiting proposals.
func (x *exam) checkPage(context.Context) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		x.find(Finding{ID: "page-port", What: fmt.Sprintf("No port of 127.0.0.1 can be opened: %v.", err), Why: "quarry ui can't serve its page.", Fix: "Bring the loopback interface up, or allow it in the sandbox you are in.", Run: []string{"ip link set lo up"}})
	} else if err := l.Close(); err != nil {
		return err
	}
	if runtime.GOOS == "linux" && !x.HasBrowser() {
		x.find(Finding{ID: "page-browser", Note: true, What: "No program that opens addresses was found (xdg-open).", Why: "quarry ui prints its address and opens no browser.", Fix: "Set BROWSER, or open the address yourself."})
	}
	dir, err := config.RuntimeDir(x.Getenv)
	if err != nil {
		return err
	}
	left, err := filepath.Glob(filepath.Join(dir, "ui-*.html"))
	if err != nil {
		return err
	}
	stale := 0
	for _, f := range left {
		if !x.PageRuns(f) {
			stale++
		}
	}
	if stale > 0 {
		x.find(Finding{
			ID: "page-left", Note: true, What: fault.Count(stale, "address file") + " of pages that were killed " + map[bool]string{true: "is", false: "are"}[stale == 1] + " left.",
			Why: "They hold tokens of servers that are gone, and do no harm.", Fix: "The next quarry ui removes them.",
		})
	}
	return x.checkProposals()
}

// checkProposals counts the waiting proposals.
func (x *exam) checkProposals() error {
	base, err := config.StateDir(x.Getenv)
	if err != nil {
		return err
	}
	dir := filepath.Join(base, config.RootID(x.Root), "review")
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	store, err := review.Open(dir)
	if err != nil {
		return err
	}
	defer store.Close()
	list, err := store.Pending()
	if err != nil {
		x.find(Finding{ID: "proposals", What: fmt.Sprintf("Proposals can't be read: %v.", err), Why: "They can't be decided.", Fix: "Move the files named away; the agents can propose the changes again."})
	}
	if waiting := len(list); waiting > 0 {
		x.find(Finding{ID: "proposals-waiting", Note: true, What: fault.Count(waiting, "proposal") + " of agents " + map[bool]string{true: "waits", false: "wait"}[waiting == 1] + " for your decision.", Why: "Nothing of them is written before it.", Run: []string{"quarry review"}})
	}
	return nil
}
