package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"quarry/internal/config"
	"quarry/internal/render"
	"quarry/internal/rootfs/outside"
)

// checkPlaces checks the folders in which Quarry stores data.
func (x *exam) checkPlaces(context.Context) error {
	state, err := config.StateDir(x.Getenv)
	if err != nil {
		return err
	}
	cache, err := config.CacheDir(x.Getenv)
	if err != nil {
		return err
	}
	for _, p := range []place{
		{state, "the undo log", "files can't be changed", "XDG_STATE_HOME"},
		{cache, "indexes", "searches have no index", "XDG_CACHE_HOME"},
	} {
		x.checkPlace(&p)
	}
	return nil
}

// place is one of Quarry's folders, with texts for findings: its contents, the effect if it
// is missing, and the environment variable that moves it.
type place struct{ dir, holds, without, variable string }

func (x *exam) checkPlace(p *place) {
	dir := p.dir
	info, err := os.Stat(dir)
	if missing(err) {
		if above := config.ExistingDir(dir); unwritable(above) != nil {
			what, fix, run := repairFolder(above, "set "+p.variable+" to a folder of yours that can be written to")
			x.find(Finding{
				ID: "place-missing", What: fmt.Sprintf("%s can't be made: %s.", dir, what),
				Why: "It holds " + p.holds + "; without it " + p.without + ".", Fix: fix, Run: run,
			})
			return
		}
		x.checkPrivate(p)
		return
	}
	switch {
	case err != nil || !info.IsDir():
		x.find(Finding{
			ID: "place-no-folder", What: dir + " is not a folder.",
			Why: "It has to hold " + p.holds + ".", Fix: "Move it out of the way; the folder is made when it is needed.",
			Run: []string{fmt.Sprintf("mv %s %s", render.ShellQuote(dir), render.ShellQuote(dir+".old"))},
		})
	case unwritable(dir) != nil:
		what, fix, run := repairFolder(dir, "set "+p.variable+" to a folder of yours that can be written to")
		x.find(Finding{
			ID: "place-read-only", What: what + ".", Why: "It has to hold " + p.holds + "; without it " + p.without + ".", Fix: fix, Run: run,
		})
	case info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/':
		x.find(Finding{
			ID: "place-open", What: fmt.Sprintf("%s is open to other users (mode %04o).", dir, info.Mode().Perm()),
			Why: "It holds " + p.holds + ", and so contents of your files.", Fix: "Close it.", Run: []string{"chmod 700 " + render.ShellQuote(dir)},
		})
	default:
		x.checkPrivate(p)
	}
}

// checkPrivate checks a folder in the same way as every change does before using it.
func (x *exam) checkPrivate(p *place) {
	// Changes use a subfolder for this workspace, in the folder for all of them.
	unverified, err := outside.CheckPrivate(filepath.Join(p.dir, config.RootID(x.Root)))
	if err != nil {
		x.find(Finding{
			ID: "place-not-private", What: fmt.Sprintf("%s can't hold %s: %v.", p.dir, p.holds, err),
			Why: "Other users could tamper with it, so it is refused: " + p.without + ".",
			Fix: "Set " + p.variable + " to a folder of yours.",
		})
		return
	}
	if unverified == "" || slices.ContainsFunc(x.findings, func(f Finding) bool { return f.ID == "owner-unverified" }) {
		return
	}
	x.find(Finding{
		ID: "owner-unverified", Note: true, What: fmt.Sprintf("The owner of %s can't be verified here.", unverified),
		Why: "In a user namespace, as bubblewrap and unshare make it, users outside of it have no names. Quarry takes such a folder above its own if neither its group nor others may write to it.",
	})
}

// repairFolder explains why a folder can't be written, and what to do: run chmod, or do
// what instead says. chmod only helps if the folder belongs to the user and its mode is
// the cause, not on a read-only volume or in a sandbox.
func repairFolder(dir, instead string) (what, fix string, run []string) {
	if errors.Is(unwritable(dir), syscall.EROFS) {
		return dir + " is on a file system mounted for reading only, as sandboxes do", strings.ToUpper(instead[:1]) + instead[1:] + ".", nil
	}
	info, err := os.Stat(dir)
	if err != nil || !isOurs(dir) || info.Mode().Perm()&0o200 != 0 {
		return dir + " is not writable", strings.ToUpper(instead[:1]) + instead[1:] + ".", nil
	}
	return dir + " is not writable", "Make it writable, or " + instead + ".", []string{"chmod u+w " + render.ShellQuote(dir)}
}
