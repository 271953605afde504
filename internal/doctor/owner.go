package doctor

import (
	"fmt"

	"quarry/internal/render"
	"quarry/search"
)

// checkOwner checks the status reported by the owner of the index.
func (x *exam) checkOwner(st *search.IndexStatus, socket string) {
	if st == nil {
		return
	}
	stop := []string{fmt.Sprintf("kill %d", st.PID), "rm -f " + render.ShellQuote(socket)}
	switch {
	case st.Version != "" && x.Version != "" && st.Version != x.Version:
		x.find(Finding{
			ID: "owner-version", What: fmt.Sprintf("Process %d, which owns the index, runs version %s; this program is %s.", st.PID, st.Version, x.Version),
			Why: "Its clients get what that version does, and programs of versions that don't understand each other scan.",
			Fix: "Restart it: end it, and start quarry serve or the client of MCP again.", Run: stop,
		})
	case st.ProgramReplaced:
		x.find(Finding{
			ID: "owner-program", What: fmt.Sprintf("Process %d, which owns the index, was started by a program that has been replaced since.", st.PID),
			Why: "It continues with the old one: its answers lack later fixes and features.",
			Fix: "Restart it: end it, and start quarry serve or the client of MCP again.", Run: stop,
		})
	}
	if st.FolderReplaced {
		x.find(Finding{
			ID: "root-replaced", Note: true, What: fmt.Sprintf("%s is not the folder that process %d indexed: it was replaced.", x.Root, st.PID),
			Why: "It was moved away, cloned anew or restored. The next search or change follows it and says so; earlier answers may describe the old one.",
		})
	}
	if st.Unwatched > 0 {
		x.find(Finding{
			ID: "unwatched", Note: true, What: fmt.Sprintf("%d parts of the tree are not watched by process %d.", st.Unwatched, st.PID),
			Why: "They are compared before each answer, which is slower: the limit on watches is reached, or they are on another kind of file system.",
		})
	}
}
