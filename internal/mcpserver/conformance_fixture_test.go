package mcpserver

//lint:file-ignore SA1019 the suite asks for logging, sampling and roots, which the newest protocol deprecates.

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The conformance suite expects tools, resources and prompts with specific answers. Most
// use protocol features that none of our tools use, so they exist only in this test.

type (
	handlerFunc = func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)
	object      = map[string]any
)

// An image with one pixel, and a sound.
var (
	pixel, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	silence  = append([]byte("RIFF\x26\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x02\x00\x00\x00"), 0, 0)
	anything = json.RawMessage(`{"type":"object"}`)
	someText = func(s string) *mcp.CallToolResult { return content(&mcp.TextContent{Text: s}) }
	always   = func(res *mcp.CallToolResult) handlerFunc {
		return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return res, nil }
	}
	embedding = func(uri string) *mcp.EmbeddedResource {
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "embedded"}}
	}
)

func content(c ...mcp.Content) *mcp.CallToolResult { return &mcp.CallToolResult{Content: c} }

const watched = "test://watched-resource"

// addFixtures adds everything the suite expects to a server.
func addFixtures(s *mcp.Server) {
	tools := map[string]handlerFunc{
		"test_simple_text":            always(someText("This is a simple text response for testing.")),
		"test_image_content":          always(content(&mcp.ImageContent{Data: pixel, MIMEType: "image/png"})),
		"test_audio_content":          always(content(&mcp.AudioContent{Data: silence, MIMEType: "audio/wav"})),
		"test_embedded_resource":      always(content(embedding("test://embedded-resource"))),
		"test_multiple_content_types": always(content(&mcp.TextContent{Text: "several"}, &mcp.ImageContent{Data: pixel, MIMEType: "image/png"}, embedding("test://mixed"))),
		"test_error_handling":         always(&mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "This tool intentionally returns an error for testing"}}}),
		"test_streaming_elicitation":  always(someText("nothing but this")),
		"test_tool_with_logging":      logThree,
		"test_logging_tool":           logThree,
		"test_tool_with_progress":     progressThree,
		"test_sampling":               sampling,
		"test_missing_capability":     needSampling,
		"test_reconnection":           reconnect,
		"json_schema_2020_12_tool":    always(someText("called")),
		"test_x_mcp_header":           always(someText("called")),
		"test_trigger_tool_change": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.AddTool(&mcp.Tool{Name: "passing_tool", Description: "Comes with a change.", InputSchema: anything}, always(someText("")))
			return someText("changed"), nil
		},
		"test_trigger_prompt_change": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			s.AddPrompt(&mcp.Prompt{Name: "passing_prompt", Description: "Comes with a change."}, onePrompt(&mcp.TextContent{}))
			return someText("changed"), nil
		},
	}
	maps.Copy(tools, elicitations())
	maps.Copy(tools, inputTools())
	schemas := map[string]json.RawMessage{
		"json_schema_2020_12_tool": json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
			"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
			"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
			"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
			"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
			"additionalProperties":false}`),
		"test_x_mcp_header": json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`),
	}
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		schema := schemas[name]
		if schema == nil {
			schema = anything
		}
		s.AddTool(&mcp.Tool{Name: name, Description: "For the conformance suite: " + name, InputSchema: schema}, tools[name])
	}
	addFixtureResources(s)
	addFixturePrompts(s)
}

func logThree(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for _, what := range []string{"started", "under way", "done"} {
		if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "Tool execution " + what}); err != nil {
			return nil, err
		}
	}
	return someText("logged"), nil
}

func progressThree(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for _, n := range []float64{0, 50, 100} {
		err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: n, Total: 100})
		if err != nil {
			return nil, err
		}
	}
	return someText(fmt.Sprint(req.Params.GetProgressToken())), nil
}

func arguments(req *mcp.CallToolRequest) (args struct{ Prompt, Message string }) {
	_ = json.Unmarshal(req.Params.Arguments, &args)
	return args
}

func failed(err error) (*mcp.CallToolResult, error) {
	res := &mcp.CallToolResult{}
	res.SetError(err)
	return res, nil
}

func sampling(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	answer, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
		MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: arguments(req).Prompt}}},
	})
	if err != nil {
		return failed(err)
	}
	text, _ := answer.Content.(*mcp.TextContent)
	return someText("LLM response: " + text.Text), nil
}

func needSampling(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if caps := req.ClientCapabilities(); caps != nil && caps.Sampling != nil {
		return someText("sampling is there"), nil
	}
	return nil, &jsonrpc.Error{
		Code: mcp.CodeMissingRequiredClientCapabilities, Message: "sampling is needed", Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`),
	}
}

func reconnect(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Extra != nil && req.Extra.CloseSSEStream != nil {
		req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
	}
	time.Sleep(100 * time.Millisecond) // so that the client reconnects
	return someText("reconnected"), nil
}

// elicitations has the tools that ask the user; they differ in the schema of the
// question.
func elicitations() map[string]handlerFunc {
	ask := func(fixed string, properties object, required ...string) handlerFunc {
		return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			message := fixed
			if m := arguments(req).Message; m != "" {
				message = m
			}
			schema := object{"type": "object", "properties": properties}
			if len(required) > 0 {
				schema["required"] = required
			}
			res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: message, RequestedSchema: schema})
			if err != nil {
				return failed(err)
			}
			return someText(fmt.Sprintf("User response: action=%s, content=%v", res.Action, res.Content)), nil
		}
	}
	options := []string{"option1", "option2", "option3"}
	titled := []object{{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}, {"const": "value3", "title": "Third"}}
	return map[string]handlerFunc{
		"test_elicitation": ask("Who are you?", object{"username": object{"type": "string"}, "email": object{"type": "string"}}, "username", "email"),
		"test_elicitation_sep1034_defaults": ask("Defaults", object{
			"name": object{"type": "string", "default": "John Doe"}, "age": object{"type": "integer", "default": 30},
			"score": object{"type": "number", "default": 95.5}, "verified": object{"type": "boolean", "default": true},
			"status": object{"type": "string", "enum": []string{"active", "inactive", "pending"}, "default": "active"},
		}),
		"test_elicitation_sep1330_enums": ask("Choices", object{
			"untitledSingle": object{"type": "string", "enum": options},
			"titledSingle":   object{"type": "string", "oneOf": titled},
			"legacyEnum":     object{"type": "string", "enum": []string{"opt1", "opt2", "opt3"}, "enumNames": []string{"One", "Two", "Three"}},
			"untitledMulti":  object{"type": "array", "items": object{"type": "string", "enum": options}},
			"titledMulti":    object{"type": "array", "items": object{"anyOf": titled}},
		}),
	}
}

// Responses that request input, as in protocol 2026-07-28.

func wantString(message, field string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: message, RequestedSchema: object{
		"type": "object", "properties": object{field: object{"type": "string"}}, "required": []string{field},
	}}
}

func wantConfirmation() *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: "Go on?", RequestedSchema: object{
		"type": "object", "properties": object{"ok": object{"type": "boolean"}}, "required": []string{"ok"},
	}}
}

func wantSampling(text string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}
}

// given returns the user's input for a request, or "" if there is none.
func given(answers mcp.InputResponseMap, key, field string) string {
	res, ok := answers[key].(*mcp.ElicitResult)
	if !ok || res == nil || res.Action != "accept" {
		return ""
	}
	s, _ := res.Content[field].(string)
	return s
}

func confirmed(answers mcp.InputResponseMap) bool {
	res, ok := answers["confirm"].(*mcp.ElicitResult)
	return ok && res != nil && res.Action == "accept"
}

func sampled(answers mcp.InputResponseMap, key string) (string, bool) {
	res, ok := answers[key].(*mcp.CreateMessageWithToolsResult)
	if !ok || res == nil || len(res.Content) == 0 {
		return "", false
	}
	text, _ := res.Content[0].(*mcp.TextContent)
	return text.Text, text != nil
}

func rootsOf(answers mcp.InputResponseMap) (int, bool) {
	res, ok := answers["client_roots"].(*mcp.ListRootsResult)
	if !ok || res == nil {
		return 0, false
	}
	return len(res.Roots), true
}

// inputTools returns tools that request input until they have it.
func inputTools() map[string]handlerFunc {
	finish := func(done func(mcp.InputResponseMap) string, state string, wants mcp.InputRequestMap) handlerFunc {
		return func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if s := req.Params.RequestState; s != "" && s != state {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "this requestState is not ours"}
			}
			if text := done(req.Params.InputResponses); text != "" {
				return someText(text), nil
			}
			return &mcp.CallToolResult{InputRequests: wants, RequestState: state}, nil
		}
	}
	hello := func(a mcp.InputResponseMap) string {
		if name := given(a, "user_name", "name"); name != "" {
			return "Hello, " + name + "!"
		}
		return ""
	}
	stateOK := func(a mcp.InputResponseMap) string {
		if confirmed(a) {
			return "state-ok: confirmed"
		}
		return ""
	}
	name, roots := wantString("Your name?", "name"), &mcp.ListRootsParams{}
	return map[string]handlerFunc{
		"test_input_required_result_elicitation": finish(hello, "", mcp.InputRequestMap{"user_name": name}),
		"test_input_required_result_sampling": finish(func(a mcp.InputResponseMap) string {
			text, ok := sampled(a, "capital_question")
			if !ok {
				return ""
			}
			return "Sampling response: " + text
		}, "", mcp.InputRequestMap{"capital_question": wantSampling("What is the capital of France?")}),
		"test_input_required_result_list_roots": finish(func(a mcp.InputResponseMap) string {
			n, ok := rootsOf(a)
			if !ok {
				return ""
			}
			return fmt.Sprintf("%d roots", n)
		}, "", mcp.InputRequestMap{"client_roots": roots}),
		"test_input_required_result_request_state":  finish(stateOK, "state-1", mcp.InputRequestMap{"confirm": wantConfirmation()}),
		"test_input_required_result_tampered_state": finish(stateOK, "state-2", mcp.InputRequestMap{"confirm": wantConfirmation()}),
		"test_input_required_result_multiple_inputs": finish(func(a mcp.InputResponseMap) string {
			greeting, ok := sampled(a, "greeting")
			n, have := rootsOf(a)
			if who := given(a, "user_name", "name"); ok && have && who != "" {
				return fmt.Sprintf("%s %s, %d roots", greeting, who, n)
			}
			return ""
		}, "state-3", mcp.InputRequestMap{"user_name": name, "greeting": wantSampling("Greet"), "client_roots": roots}),
		"test_input_required_result_multi_round":  twoRounds,
		"test_input_required_result_capabilities": byCapability,
	}
}

func twoRounds(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	who, second := strings.CutPrefix(req.Params.RequestState, "second:")
	switch {
	case req.Params.RequestState == "":
		return &mcp.CallToolResult{RequestState: "first", InputRequests: mcp.InputRequestMap{"step1": wantString("Your name?", "name")}}, nil
	case !second:
		who = given(req.Params.InputResponses, "step1", "name")
		return &mcp.CallToolResult{RequestState: "second:" + who, InputRequests: mcp.InputRequestMap{"step2": wantString("Your colour?", "color")}}, nil
	}
	return someText(who + " likes " + given(req.Params.InputResponses, "step2", "color")), nil
}

// byCapability requests only input that the client supports.
func byCapability(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	wants := mcp.InputRequestMap{}
	if caps := req.ClientCapabilities(); caps != nil && len(req.Params.InputResponses) == 0 {
		if caps.Elicitation != nil {
			wants["user_name"] = wantString("Your name?", "name")
		}
		if caps.Sampling != nil {
			wants["greeting"] = wantSampling("Greet")
		}
		if caps.RootsV2 != nil {
			wants["client_roots"] = &mcp.ListRootsParams{}
		}
	}
	if len(wants) == 0 {
		return someText("nothing to ask"), nil
	}
	return &mcp.CallToolResult{InputRequests: wants}, nil
}

func addFixtureResources(s *mcp.Server) {
	read := func(text string, blob []byte) mcp.ResourceHandler {
		return func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, Text: text, Blob: blob}}}, nil
		}
	}
	s.AddResource(&mcp.Resource{Name: "text", URI: "test://static-text", MIMEType: "text/plain"}, read("This is the content of the static text resource.", nil))
	s.AddResource(&mcp.Resource{Name: "binary", URI: "test://static-binary", MIMEType: "image/png"}, read("", pixel))
	s.AddResource(&mcp.Resource{Name: "watched", URI: watched, MIMEType: "text/plain"}, read("watched", nil))
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			text, err := json.Marshal(object{"id": id, "templateTest": true, "data": "Data for ID: " + id})
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, Text: string(text)}}}, err
		})
}

func onePrompt(c ...mcp.Content) mcp.PromptHandler {
	return func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		res := &mcp.GetPromptResult{}
		for _, part := range c {
			res.Messages = append(res.Messages, &mcp.PromptMessage{Role: "user", Content: part})
		}
		return res, nil
	}
}

func addFixturePrompts(s *mcp.Server) {
	text := func(t string) mcp.Content { return &mcp.TextContent{Text: t} }
	s.AddPrompt(&mcp.Prompt{Name: "test_simple_prompt", Description: "no arguments"}, onePrompt(text("This is a simple prompt for testing.")))
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_image", Description: "with an image"}, onePrompt(&mcp.ImageContent{Data: pixel, MIMEType: "image/png"}, text("Look.")))
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_arguments", Description: "with arguments", Arguments: []*mcp.PromptArgument{
		{Name: "arg1", Description: "the first", Required: true}, {Name: "arg2", Description: "the second", Required: true},
	}}, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		a := req.Params.Arguments
		return onePrompt(text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"])))(ctx, req)
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: "with a resource", Arguments: []*mcp.PromptArgument{
		{Name: "resourceUri", Description: "its address", Required: true},
	}}, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return onePrompt(embedding(req.Params.Arguments["resourceUri"]), text("Read it."))(ctx, req)
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "asks back"},
		func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if c := given(req.Params.InputResponses, "user_context", "context"); c != "" {
				return onePrompt(text("Context: "+c))(ctx, req)
			}
			return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": wantString("Which context?", "context")}}, nil
		})
}

// fixtureOptions announces the fixtures' capabilities.
func fixtureOptions(o *mcp.ServerOptions) {
	o.Capabilities = &mcp.ServerCapabilities{Logging: &mcp.LoggingCapabilities{}}
	nothing := errors.New("not watched")
	o.SubscribeHandler = func(_ context.Context, r *mcp.SubscribeRequest) error {
		if r.Params.URI != watched && !strings.HasPrefix(r.Params.URI, "test://") {
			return nothing
		}
		return nil
	}
	o.UnsubscribeHandler = func(context.Context, *mcp.UnsubscribeRequest) error { return nil }
	// The suite asks for completions, which Quarry itself does not offer.
	o.CompletionHandler = func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
		return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
	}
}
