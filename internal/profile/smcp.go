package profile

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"quarry"
	"quarry/internal/render"
	"quarry/internal/roots"
	"quarry/tool"
)

// codeAnswer is the answer of search_code.
type codeAnswer struct {
	Results []codeChunk `json:"results"`
	Total   int         `json:"totalResults"`
	Time    *int64      `json:"searchTimeMs,omitempty"`
	Receipt *receipt    `json:"receipt,omitempty"` // in the profile quarry
	remark
}

type codeChunk struct {
	Path  string  `json:"path"`
	Text  *string `json:"text,omitempty"`
	Score float64 `json:"score"`
	Start int     `json:"startLine"`
	End   int     `json:"endLine"`
}

const codeSchema = `{"type":"object","properties":{"results":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"},"score":{"type":"number"},"startLine":{"type":"integer"},"endLine":{"type":"integer"}},"required":["path","score","startLine","endLine"]}},"totalResults":{"type":"integer"},"searchTimeMs":{"type":"integer"},` + noteSchema + `},"required":["results","totalResults"]}`

func searchCode(e *env) *tool.Tool {
	return e.make(tool.Tool{
		Name: "search_code", Title: "Search code by words",
		Description: "Rank pieces of code and text by how well they answer some words; parts of identifiers count. " +
			"Use it when you know what you look for, but not how it is written.",
		Params: []tool.Param{
			{Name: "query", Kind: tool.String, Required: true, Min: tool.Limit(1), Max: tool.Limit(1000), Description: "Words, identifiers"},
			{Name: "top_k", Kind: tool.Integer, Default: 10, Min: tool.Limit(1), Max: tool.Limit(50), Description: "Most results"},
			boolean("compact", "Only paths, lines and scores, without text"),
		},
		OutputSchema: schema(codeSchema), Hints: readOnly,
	}, rankCode)
}

func rankCode(ctx context.Context, c *call) (*answer, error) {
	q := quarry.CodeQuery{Query: c.String("query"), Limit: c.Int("top_k")}
	q.IncludeHidden = c.is("smcp")
	r, err := c.ws.SearchCode(ctx, q)
	if errors.Is(err, quarry.ErrNoWords) {
		return nil, &tool.Error{Code: tool.InvalidArgument, Message: "query has no word to search for", Hint: "Give words or identifiers; for other characters use file_search."}
	}
	if err != nil {
		return nil, err
	}
	data := &codeAnswer{Results: []codeChunk{}, Total: r.Total}
	if c.is("smcp") {
		ms := r.Stats.Elapsed.Milliseconds()
		data.Time = &ms
	}
	size := 0
	for i := range r.Chunks {
		chunk := codeResult(&r.Chunks[i], c.Bool("compact"))
		if text, err := marshal(chunk, "  "); err == nil {
			// Two levels of indentation, eight lines.
			if size += len(text) + 40; size > c.limits().Budget && i > 0 {
				break
			}
		}
		data.Results = append(data.Results, chunk)
	}
	indent := "  "
	if c.Bool("compact") {
		indent = ""
	}
	text, err := marshal(data, indent)
	if err != nil {
		return nil, err
	}
	a := &answer{text: text, data: data}
	if c.union() {
		cut := ""
		if len(data.Results) < data.Total {
			cut = "results"
		}
		r.Stopped = ""
		sum := c.sumUp(ctx, &r.Summary, cut)
		data.Receipt = &sum
	}
	switch {
	case data.Total == 0:
		a.receipt = []string{"none of the words occurs in the workspace, without hidden and ignored files"}
		if s := skipped(&r.Summary); s != "" {
			a.receipt = append(a.receipt, s)
		}
	case len(data.Results) < data.Total:
		a.receipt = []string{"the best " + itoa(len(data.Results)) + " of " + itoa(data.Total) + " pieces; for more give a larger top_k (up to 50), or more words"}
	default:
		a.receipt = []string{"all results shown"}
	}
	return a, nil
}

// codeLimit cuts the text of one result.
const codeLimit = 8 << 10

func codeResult(k *quarry.Chunk, compact bool) codeChunk {
	out := codeChunk{Path: k.Path, Score: math.Round(k.Score*10000) / 10000, Start: k.StartLine, End: k.EndLine}
	if encoded := render.EncodedName(k.Path); encoded != "" {
		out.Path = encoded
	}
	if !compact {
		text := k.Text
		if len(text) > codeLimit {
			text = clip(text[:codeLimit], codeLimit) + " [truncated...]"
		}
		out.Text = &text
	}
	return out
}

// statusAnswer is the answer of get_index_status.
type statusAnswer struct {
	Root        string     `json:"root,omitempty"` // its name, if there are several
	Status      string     `json:"status"`         // ready, indexing, not_found or failed
	ProjectPath string     `json:"projectPath,omitempty"`
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

func getIndexStatus(e *env) *tool.Tool {
	return e.make(tool.Tool{
		Name: "get_index_status", Title: "Index status",
		Description:  "How the search index is doing. Searches are right without one, only slower.",
		OutputSchema: schema(statusSchema), Hints: readOnly,
	}, indexStatus)
}

func indexStatus(ctx context.Context, c *call) (*answer, error) {
	list, err := c.ws.IndexStatus(ctx)
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

// rootsStatus is the answer for several roots: the worst of them, and each.
type rootsStatus struct {
	Status string          `json:"status"`
	Roots  []*statusAnswer `json:"roots"`
}

var worstFirst = []string{"failed", "not_found", "indexing", "ready"}

// rootStatus describes the index of one root.
func (c *call) rootStatus(st *roots.Status) *statusAnswer {
	if c.o.NoIndex || st.State == "not_found" {
		return &statusAnswer{Status: "not_found"}
	}
	watching := st.Watches > 0
	data := &statusAnswer{
		Status: st.State, ProjectPath: st.Dir, TotalFiles: &st.Files, Bytes: &st.TextBytes,
		StorageSize: storageSize(st.DiskBytes), Watcher: &watching, Freshness: st.Freshness, Pending: &st.Pending, Error: st.Error,
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

// storageSize is a size on disk as in "45MB".
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
