package agents

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"quarry"
	"quarry/change"
	"quarry/fault"
	"quarry/internal/activity"
	"quarry/internal/mcpserver"
)

// tellActivity records the agents' tool calls for the page, unless mcp.activity = false. Failures
// are only logged, because the calls themselves don't need the record.
func (f *mcpFlags) tellActivity(set *toolset, ws *quarry.Workspace, log *slog.Logger) {
	var servers []*activity.Server
	for _, r := range ws.Roots() {
		if r.Workspace.Dir() == "" || !f.s.KeepsActivity(r.Workspace.Dir()) {
			continue
		}
		dir, err := f.s.ActivityDir(r.Workspace.Dir())
		var s *activity.Server
		if err == nil {
			s, err = activity.Open(dir)
		}
		if err != nil {
			log.Info("the page can't show the calls", "error", err)
			continue
		}
		servers = append(servers, s)
	}
	if len(servers) == 0 {
		return
	}
	closed := func(path string) bool { // reports whether a path, or everything in it if it is a folder, is closed to the agent
		info, err := ws.Stat(context.Background(), path)
		if fault.CodeOf(err) == fault.ProtectedPath || err == nil && !info.Folder {
			return err != nil
		}
		_, err = ws.Stat(context.Background(), path+"/x")
		return fault.CodeOf(err) == fault.ProtectedPath
	}
	set.answered = func(a mcpserver.Answer) {
		about := activity.About(a.Arguments, closed)
		if a.Code == fault.ProtectedPath {
			about = ""
		}
		c := activity.Call{
			Time: a.Began, Client: change.OneLine(cmp.Or(a.Client.Name, "unknown"), change.MaxName), Session: a.Client.Session, Tool: a.Tool.Name, About: about,
			Millis: time.Since(a.Began).Milliseconds(), Bytes: a.Bytes, Error: string(a.Code),
		}
		for _, s := range servers {
			s.Called(c)
		}
	}
	end := set.close
	set.close = func() error {
		for _, s := range servers {
			_ = s.Close()
		}
		return end()
	}
}
