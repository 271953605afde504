package profile

import (
	"encoding/json"

	"quarry/tool"
)

// Definition is everything a client learns of a tool.
type Definition struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  Annotations     `json:"annotations"`
}

// Annotations are the hints of a tool. Nothing here reaches beyond the
// workspace, so the world is never open.
type Annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// Definitions describes the tools of a registry.
func Definitions(r *tool.Registry) []Definition {
	var out []Definition
	for _, t := range r.Tools() {
		out = append(out, Definition{
			Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema(), OutputSchema: t.OutputSchema,
			Annotations: Annotations{ReadOnly: t.Hints.ReadOnly, Destructive: t.Hints.Destructive, Idempotent: t.Hints.Idempotent},
		})
	}
	return out
}
