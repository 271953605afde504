package profile

import (
	"encoding/json"

	"quarry/tool"
)

// Definition describes a tool to a client.
type Definition struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  Annotations     `json:"annotations"`
}

// Annotations are the hints of a tool. No tool reaches beyond the workspace, so
// OpenWorld is always false. Destructive is omitted for tools that only read.
type Annotations struct {
	ReadOnly    bool  `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  bool  `json:"idempotentHint"`
	OpenWorld   bool  `json:"openWorldHint"`
}

// Definitions describes the tools of a registry, with their output schemas if structured
// is set.
func Definitions(r *tool.Registry, structured bool) []Definition {
	var out []Definition
	for _, t := range r.Tools() {
		d := Definition{
			Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema(),
			Annotations: Annotations{ReadOnly: t.Hints.ReadOnly, Idempotent: t.Hints.Idempotent},
		}
		if structured {
			d.OutputSchema = t.OutputSchema
		}
		if !t.Hints.ReadOnly {
			d.Annotations.Destructive = &t.Hints.Destructive
		}
		out = append(out, d)
	}
	return out
}

// Cost is the number of tokens that a tool's definition takes in a model's context.
type Cost struct {
	Tool   string `json:"tool"`
	Tokens int    `json:"tokens"`
}

// tokenBytes is the assumed size of a token: about four bytes of English or JSON.
const tokenBytes = 4

// Costs estimates the tokens of each definition, and of the whole list as tools/list
// sends it.
func Costs(r *tool.Registry, structured bool) (each []Cost, total int, err error) {
	bytes := len(`{"tools":[]}`)
	for _, d := range Definitions(r, structured) {
		b, err := marshal(d, "")
		if err != nil {
			return nil, 0, err
		}
		if d.OutputSchema != nil { // a server extends the schema so that errors satisfy it, too
			b = append(b, `{"anyOf":[,],"type":"object"}`+tool.ErrorSchema...)
		}
		bytes += len(b) + 1
		each = append(each, Cost{d.Name, (len(b) + tokenBytes - 1) / tokenBytes})
	}
	return each, (bytes + tokenBytes - 1) / tokenBytes, nil
}
