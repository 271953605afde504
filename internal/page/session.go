package page

import (
	"net/http"

	"quarry/fault"
)

// session returns all changes of one connection combined: a diff from the first to the last version
// of each file, and the effect of undoing everything.
func (s *Server) session(w http.ResponseWriter, r *http.Request) (any, error) {
	log, err := s.journal(r.Context(), 0)
	if err != nil {
		return nil, err
	}
	var ids []string
	rows, undo := []wireChange{}, []string{}
	inside := map[string]bool{}
	for i := range log.Changes {
		if c := &log.Changes[i]; c.Client.Session == r.PathValue("id") {
			inside[c.ID] = true
		}
	}
	for i := range log.Changes {
		c := &log.Changes[i]
		if !inside[c.ID] {
			continue
		}
		ids, rows = append(ids, c.ID), append(rows, s.changeOf(c))
		if c.UndoneBy == "" && c.NoUndo == "" && !c.Pending && !inside[c.Undoes] {
			undo = append(undo, c.ID)
		}
	}
	if len(rows) == 0 {
		return nil, fault.New(fault.NotFound, "no change of this session is in the journal", "")
	}
	all, err := s.ws.DiffAll(r.Context(), ids)
	if err != nil {
		return nil, err
	}
	files, one, err := diffFiles(r, all.Diffs)
	if one != nil || err != nil {
		return one, err
	}
	return map[string]any{"changes": rows, "files": files, "undo": undo, "warnings": append([]string{}, all.Warnings...), "client": rows[0].Client}, nil
}

// authors returns runs of lines of a file, each with the change that last modified it.
func (s *Server) authors(w http.ResponseWriter, r *http.Request) (any, error) {
	a, err := s.ws.Authors(r.Context(), pathOf(r.URL.Query().Get("path")))
	if err != nil {
		return nil, err
	}
	type run struct {
		From  int    `json:"from"`
		Count int    `json:"count"`
		ID    string `json:"id,omitempty"`
	}
	runs, rows := []run{}, map[string]wireChange{}
	for i, id := range a.Lines {
		if k := len(runs) - 1; k >= 0 && runs[k].ID == id {
			runs[k].Count++
		} else {
			runs = append(runs, run{i + 1, 1, id})
		}
	}
	for i := range a.Changes {
		rows[a.Changes[i].ID] = s.changeOf(&a.Changes[i])
	}
	return map[string]any{"version": a.Version, "runs": runs, "changes": rows}, nil
}
