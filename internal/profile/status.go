package profile

import (
	"context"
	"slices"
	"strconv"
	"time"

	"quarry/internal/gitdir"
	"quarry/search"
)

// statusAnswer is the answer of get_index_status.
type statusAnswer struct {
	Root        string     `json:"root,omitempty"` // the root's name, if there are several roots
	Status      string     `json:"status"`         // ready, indexing, not_found or failed
	ProjectPath string     `json:"projectPath,omitempty"`
	Branch      string     `json:"branch,omitempty"`
	TotalFiles  *int       `json:"totalFiles,omitempty"`
	Bytes       *int64     `json:"indexedBytes,omitempty"`
	LastUpdated *time.Time `json:"lastUpdated,omitempty"`
	StorageSize string     `json:"storageSize,omitempty"`
	Watcher     *bool      `json:"watcherActive,omitempty"`
	Freshness   string     `json:"freshness,omitempty"`
	Pending     *int       `json:"pendingFiles,omitempty"`
	Progress    *int       `json:"indexingProgress,omitempty"` // percent
	Error       string     `json:"error,omitempty"`
}

const statusSchema = `{"type":"object","properties":{"status":{"enum":["ready","indexing","not_found","failed"]},"totalFiles":{"type":"integer"},"pendingFiles":{"type":"integer"},"freshness":{"type":"string"}},"required":["status"]}`

var indexState = action{statusSchema, readOnly, indexStatus}

// rootIndex is the state of one root's index.
type rootIndex struct {
	Name, Dir string
	*search.IndexStatus
}

// indexes reports the state of each root's index.
func (e *env) indexes(ctx context.Context) ([]rootIndex, error) {
	var list []rootIndex
	for _, r := range e.ws.Roots() {
		st, err := r.Workspace.Index().Status(ctx)
		if err != nil {
			return nil, err
		}
		list = append(list, rootIndex{r.Name, r.Workspace.Dir(), st})
	}
	return list, nil
}

func indexStatus(ctx context.Context, c *call) (*answer, error) {
	list, err := c.indexes(ctx)
	if err == nil && slices.ContainsFunc(list, func(st rootIndex) bool { return st.State == "ready" }) {
		c.refresh(ctx)
		list, err = c.indexes(ctx)
	}
	if err != nil {
		return nil, err
	}
	var data any = c.rootStatus(&list[0])
	indent := "  "
	switch {
	case len(list) > 1:
		all := &rootsStatus{}
		for i := range list {
			st := c.rootStatus(&list[i])
			st.Root = list[i].Name
			all.Roots = append(all.Roots, st)
			if slices.Index(worstFirst, st.Status) < slices.Index(worstFirst, all.Status) || i == 0 {
				all.Status = st.Status
			}
		}
		data = all
	case data.(*statusAnswer).Status == "not_found":
		indent = ""
	}
	text, err := marshal(data, indent)
	return &answer{text: text, data: data}, err
}

// rootsStatus is the answer for several roots: the worst status, and the status of each
// root.
type rootsStatus struct {
	Status string          `json:"status"`
	Roots  []*statusAnswer `json:"roots"`
}

var worstFirst = []string{"failed", "not_found", "indexing", "ready"}

// refresh makes the index check for changes, as every search does, so that the reported
// status is current.
func (c *call) refresh(ctx context.Context) {
	if c.o.NoIndex {
		return
	}
	q := search.FindQuery{Limit: 1}
	q.MaxDepth = 1
	// The status itself reports any problem of the index.
	_, _ = c.ws.Find(ctx, q)
}

// rootStatus describes the index of one root.
func (c *call) rootStatus(st *rootIndex) *statusAnswer {
	if c.o.NoIndex || st.State == "not_found" {
		return &statusAnswer{Status: "not_found"}
	}
	watching := st.Watches > 0
	data := &statusAnswer{
		Status: st.State, ProjectPath: st.Dir, TotalFiles: &st.Files, Bytes: &st.TextBytes,
		StorageSize: storageSize(st.DiskBytes), Watcher: &watching, Freshness: st.Freshness, Pending: &st.Pending, Error: st.Error,
	}
	if c.d.receipts && st.Dir != "" {
		data.Branch = gitdir.Branch(st.Dir)
	}
	if st.Remote {
		data.Freshness = "remote"
	}
	if !st.Updated.IsZero() {
		updated := st.Updated.UTC().Truncate(time.Millisecond)
		data.LastUpdated = &updated
	}
	if built := st.Building; st.State == "indexing" && built.Total > 0 {
		percent := 100 * min(built.Files, built.Total) / built.Total
		data.Progress = &percent
	}
	return data
}

// storageSize formats a size on disk, such as "45MB".
func storageSize(n int64) string {
	switch {
	case n < 1<<10:
		return strconv.FormatInt(n, 10) + "B"
	case n < 1<<20:
		return strconv.FormatInt((n+1<<9)>>10, 10) + "KB"
	case n < 1<<30:
		return strconv.FormatInt((n+1<<19)>>20, 10) + "MB"
	}
	return strconv.FormatFloat(float64(n)/(1<<30), 'f', 1, 64) + "GB"
}
