// Package clients runs coding agents in the same way as their users, but with a scripted model. The
// model is a server on this machine that implements three protocols. It makes the scripted tool
// calls in order, and records the answers as a model would see them.
package clients

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// Call is a tool call by the model. Tool is the name of one of Quarry's tools or of the client's
// own.
type Call struct {
	Tool   string
	Args   map[string]any
	Before func() // if set, called once before the model requests the tool call
}

// Talk records the conversation started by one prompt.
type Talk struct {
	calls []Call

	mu      sync.Mutex
	begun   []bool
	tools   []string
	results []string
	last    string
}

// Tools returns the names of the tools offered to the model in the last request. Results returns
// the answers to the calls, and Last the text of the last request.
func (t *Talk) Tools() []string   { t.mu.Lock(); defer t.mu.Unlock(); return t.tools }
func (t *Talk) Results() []string { t.mu.Lock(); defer t.mu.Unlock(); return t.results }
func (t *Talk) Last() string      { t.mu.Lock(); defer t.mu.Unlock(); return t.last }

// Model serves all talks. It stores only what the tests read. The number of results in a request
// determines the next call.
type Model struct {
	mu    sync.Mutex
	talks map[string]*Talk
}

// Script creates a talk. It returns the talk and the prompt that starts it.
func (m *Model) Script(calls ...Call) (*Talk, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.talks == nil {
		m.talks = map[string]*Talk{}
	}
	name := fmt.Sprintf("talk%d", len(m.talks)+1)
	m.talks[name] = &Talk{calls: calls, begun: make([]bool, len(calls))}
	return m.talks[name], "quarry-script=" + name
}

var scriptName = regexp.MustCompile(`quarry-script=(talk\d+)`)

// offered is a tool that the client offers to the model. space is Codex's name for the server that
// has the tool.
type offered struct{ name, space string }

// dialect implements one of the protocols.
type dialect struct {
	tools   func(b map[string]any) []offered
	results func(b map[string]any) []string
	answer  func(w http.ResponseWriter, r *http.Request, b map[string]any, text string, call *called)
}

type called struct {
	offered
	args map[string]any
}

// ServeHTTP answers the requests of all clients.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var d *dialect
	switch p := r.URL.Path; {
	case strings.HasSuffix(p, "/messages"):
		d = &anthropic
	case strings.HasSuffix(p, "/responses"):
		d = &openAI
	case strings.HasSuffix(p, ":generateContent"), strings.HasSuffix(p, ":streamGenerateContent"):
		d = &gemini
	case strings.HasSuffix(p, "/count_tokens"), strings.HasSuffix(p, ":countTokens"):
		respond(w, map[string]any{"input_tokens": 1, "totalTokens": 1})
		return
	case strings.HasSuffix(p, "/models"):
		respond(w, map[string]any{"object": "list", "data": []any{}, "models": []any{}})
		return
	default:
		http.Error(w, "{}", http.StatusNotFound)
		return
	}
	var b map[string]any
	if err := json.Unmarshal(raw, &b); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	tools := d.tools(b)
	var t *Talk
	if names := scriptName.FindAllSubmatch(raw, -1); len(names) > 0 {
		m.mu.Lock()
		t = m.talks[string(names[len(names)-1][1])]
		m.mu.Unlock()
	}
	if t == nil || len(tools) == 0 { // a request for a title or a topic, which gets a plain answer
		d.answer(w, r, b, "ok", nil)
		return
	}
	text, call := t.next(string(raw), tools, d.results(b))
	d.answer(w, r, b, text, call)
}

// next returns the model's answer to a request that contains the given results: a text, or a tool
// call.
func (t *Talk) next(raw string, tools []offered, results []string) (string, *called) {
	n := len(results)
	t.mu.Lock()
	if n >= len(t.results) {
		t.results, t.last = results, raw
	}
	t.tools = t.tools[:0]
	for _, o := range tools {
		t.tools = append(t.tools, o.name)
	}
	first := n < len(t.calls) && !t.begun[n]
	if first {
		t.begun[n] = true
	}
	t.mu.Unlock()
	if n >= len(t.calls) {
		return "done", nil
	}
	c := &t.calls[n]
	if first && c.Before != nil {
		c.Before()
	}
	want := offered{name: c.Tool}
	for _, o := range tools {
		ours := strings.Contains(o.space+o.name, "quarry")
		if o.name == c.Tool && (want.space == "" || ours) || ours && strings.HasSuffix(o.name, "_"+c.Tool) {
			if want = o; ours {
				break // the client has a tool of its own with this name
			}
		}
	}
	args := c.Args
	if args == nil {
		args = map[string]any{}
	}
	return "", &called{offered: want, args: args}
}

func respond(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// stream writes server-sent events. Each is named by its type, except in Gemini's protocol.
func stream(w http.ResponseWriter, events ...map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		if kind, ok := e["type"].(string); ok {
			fmt.Fprintf(w, "event: %s\n", kind)
		}
		data, _ := json.Marshal(e)
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

// list and object return v if it has the expected type, and otherwise an empty value.
func list(v any) []any { l, _ := v.([]any); return l }

func object(v any) map[string]any { o, _ := v.(map[string]any); return o }

func word(v any) string { s, _ := v.(string); return s }

// textOf returns the text in a value as the model would read it.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = textOf(v[i])
		}
		return strings.Join(parts, "\n")
	case map[string]any:
		if s, ok := v["text"].(string); ok {
			return s
		}
		if o, ok := v["output"]; ok {
			return textOf(o)
		}
		data, _ := json.Marshal(v)
		return string(data)
	}
	return fmt.Sprint(v)
}

// anthropic is the Messages API, which Claude Code uses.
var anthropic = dialect{
	tools: func(b map[string]any) (tools []offered) {
		for _, t := range list(b["tools"]) {
			tools = append(tools, offered{name: word(object(t)["name"])})
		}
		return tools
	},
	results: func(b map[string]any) (results []string) {
		for _, m := range list(b["messages"]) {
			for _, c := range list(object(m)["content"]) {
				if c := object(c); c["type"] == "tool_result" {
					results = append(results, textOf(c["content"]))
				}
			}
		}
		return results
	},
	answer: func(w http.ResponseWriter, _ *http.Request, b map[string]any, text string, call *called) {
		block, empty, delta := map[string]any{"type": "text", "text": text}, map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": text}
		stop := "end_turn"
		if call != nil {
			stop = "tool_use"
			id := fmt.Sprintf("toolu_%p", call)
			args, _ := json.Marshal(call.args)
			block = map[string]any{"type": "tool_use", "id": id, "name": call.name, "input": call.args}
			empty = map[string]any{"type": "tool_use", "id": id, "name": call.name, "input": map[string]any{}}
			delta = map[string]any{"type": "input_json_delta", "partial_json": string(args)}
		}
		usage := map[string]any{"input_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}
		message := map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": b["model"], "stop_sequence": nil, "usage": usage}
		if b["stream"] != true {
			message["content"], message["stop_reason"] = []any{block}, stop
			respond(w, message)
			return
		}
		message["content"], message["stop_reason"] = []any{}, nil
		stream(w,
			map[string]any{"type": "message_start", "message": message},
			map[string]any{"type": "content_block_start", "index": 0, "content_block": empty},
			map[string]any{"type": "content_block_delta", "index": 0, "delta": delta},
			map[string]any{"type": "content_block_stop", "index": 0},
			map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 1}},
			map[string]any{"type": "message_stop"})
	},
}

// openAI is the Responses API, which Codex uses.
var openAI = dialect{
	tools: func(b map[string]any) []offered { return codexTools(list(b["tools"]), "") },
	results: func(b map[string]any) (results []string) {
		for _, i := range list(b["input"]) {
			if i := object(i); strings.HasSuffix(word(i["type"]), "_output") {
				results = append(results, textOf(i["output"]))
			}
		}
		return results
	},
	answer: func(w http.ResponseWriter, _ *http.Request, _ map[string]any, text string, call *called) {
		item := map[string]any{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": text, "annotations": []any{}}}}
		if call != nil {
			args, _ := json.Marshal(call.args)
			id := fmt.Sprintf("%p", call)
			item = map[string]any{"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id, "name": call.name, "arguments": string(args), "status": "completed"}
			if call.space != "" {
				item["namespace"] = call.space
			}
		}
		usage := map[string]any{"input_tokens": 1, "input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens": 1, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": 2}
		stream(w,
			map[string]any{"type": "response.created", "response": map[string]any{"id": "resp_1", "object": "response", "status": "in_progress"}},
			map[string]any{"type": "response.output_item.added", "output_index": 0, "item": item},
			map[string]any{"type": "response.output_item.done", "output_index": 0, "item": item},
			map[string]any{"type": "response.completed", "response": map[string]any{"id": "resp_1", "object": "response", "status": "completed", "output": []any{item}, "usage": usage}})
	},
}

func codexTools(defs []any, space string) (tools []offered) {
	for _, t := range defs {
		t := object(t)
		if t["type"] == "namespace" {
			tools = append(tools, codexTools(list(t["tools"]), word(t["name"]))...)
		} else if name := word(t["name"]); name != "" {
			tools = append(tools, offered{name: name, space: space})
		}
	}
	return tools
}

// gemini is the API that Gemini CLI uses.
var gemini = dialect{
	tools: func(b map[string]any) (tools []offered) {
		for _, t := range list(b["tools"]) {
			for _, f := range list(object(t)["functionDeclarations"]) {
				tools = append(tools, offered{name: word(object(f)["name"])})
			}
		}
		return tools
	},
	results: func(b map[string]any) (results []string) {
		for _, c := range list(b["contents"]) {
			for _, p := range list(object(c)["parts"]) {
				if f := object(object(p)["functionResponse"]); f != nil {
					results = append(results, textOf(f["response"]))
				}
			}
		}
		return results
	},
	answer: func(w http.ResponseWriter, r *http.Request, _ map[string]any, text string, call *called) {
		part := map[string]any{"text": text}
		if call != nil {
			part = map[string]any{"functionCall": map[string]any{"name": call.name, "args": call.args}}
		}
		answer := map[string]any{
			"candidates":    []any{map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": []any{part}}, "finishReason": "STOP"}},
			"usageMetadata": map[string]any{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "scripted",
		}
		if strings.HasSuffix(r.URL.Path, ":streamGenerateContent") {
			stream(w, answer)
			return
		}
		respond(w, answer)
	},
}
