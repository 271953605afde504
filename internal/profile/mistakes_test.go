package profile_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"quarry"
	"quarry/internal/profile"
	"quarry/internal/stress"
)

// project is a small code base for mistakes: identifiers in several styles, ignored and
// hidden files, notes, names with spaces and in several cases.
func project() fixture {
	return fixture{files: map[string]string{
		".gitignore":                     "node_modules/\ndist/\n*.log\n",
		".github/workflows/ci.yml":       "name: build\nruns-on: ubuntu-latest\n",
		"README.md":                      "# Basket\n\nInstall with `npm install`.\nThe checkout  flow is documented in docs.\n",
		"package.json":                   "{\n  \"name\": \"basket\",\n  \"version\": \"1.2.3\"\n}\n",
		"src/cart/calculateTotal.ts":     "export function calculateTotal(items: Item[]): number {\n  return items.reduce((sum, item) => sum + item.price, 0);\n}\n",
		"src/cart/discount.ts":           "const MAX_DISCOUNT_PERCENT = 30;\nexport function applyDiscount(total: number, code: string) {\n  if (code === 'SAVE10') {\n    return total * 0.9;\n  }\n  return total;\n}\n",
		"src/api/client.ts":              "export class ApiClient {\n  async fetchUser(id: string) {\n    const response = await fetch(`/api/users/${id}`);\n    return response.json();\n  }\n}\n",
		"src/api/retry.ts":               "export async function withRetry<T>(fn: () => Promise<T>, max_attempts = 3): Promise<T> {\n  // TODO: exponential backoff\n  return fn();\n}\n",
		"src/server/receive_message.py":  "def receive_message(queue, timeout_seconds=5):\n    \"\"\"Receive one message from the queue.\"\"\"\n    return queue.get(timeout=timeout_seconds)\n",
		"src/server/config.py":           "DATABASE_URL = os.environ['DATABASE_URL']\nMAX_CONNECTIONS = 10\n",
		"lib/skb.c":                      "static void reset(struct sk_buff **skb)\n{\n\t*skb = NULL;\n\tkfree(skb);\n}\n",
		"lib/list.h":                     "#define list_for_each_entry(pos, head, member) \\\n\tfor (pos = first(head); pos; pos = next(pos))\n",
		"test/cart.test.ts":              "describe('cart', () => {\n  it('adds up', () => { expect(calculateTotal([])).toBe(0); });\n});\n",
		"docs/Getting Started.md":        "# Getting started\n\nRun the authentication server first.\n",
		"docs/architecture.md":           "# Architecture\n\nThe message queue decouples the services.\nIt is durable.\n",
		"Notes/Meeting with Bob.md":      "# Budget\n\nWe talked about the quarterly budget.\n",
		"Notes/Ideas.md":                 "- recommendation engine\n- gift wrapping\n",
		"node_modules/left-pad/index.js": "module.exports = leftPad;\nfunction leftPad(str, len, ch) {}\n",
		"dist/bundle.js":                 "function minifiedBundleEntry(){}\n",
		"debug.log":                      "connection refused at startup\n",
		"src/utils/dateFormat.ts":        "export const formatDate = (d: Date) => d.toISOString();\n",
		"assets/logo.svg":                "<svg/>\n",
	}}
}

// mistake is a typical wrong call of a model, and a text that the answer must contain so
// that the next call can be right.
type mistake struct{ tool, args, fix string }

func mistakes() []mistake {
	return []mistake{
		// A letter wrong, missing, added or swapped.
		{"file_search", `{"query":"calculateTotl"}`, "calculateTotal"},
		{"file_search", `{"query":"recieve_message"}`, "receive_message"},
		{"file_search", `{"query":"aplyDiscount"}`, "applyDiscount"},
		{"file_search", `{"query":"DATABSE_URL"}`, "DATABASE_URL"},
		{"search_files", `{"regex":"fetchUsr"}`, "fetchUser"},
		{"search_files", `{"regex":"exponentail backoff"}`, "exponential backoff"},
		{"search_files", `{"pattern":"authentcation"}`, "authentication"},
		{"file_search", `{"query":"quaterly budget"}`, "quarterly budget"},
		{"file_search", `{"query":"ubuntu-latset"}`, "include_hidden"},
		{"search_code", `{"query":"recomendation"}`, "recommendation"},
		{"search_notes", `{"query":"recomendation"}`, "recommendation"},
		{"search_notes", `{"query":"quarterly budgett"}`, "budget"},
		// A name in another case style.
		{"file_search", `{"query":"calculate_total"}`, "calculateTotal"},
		{"file_search", `{"query":"receiveMessage"}`, "receive_message"},
		{"search_files", `{"regex":"maxDiscountPercent"}`, "MAX_DISCOUNT_PERCENT"},
		{"search_files", `{"regex":"list-for-each-entry"}`, "list_for_each_entry"},
		{"file_search", `{"query":"with retry"}`, "withRetry"},
		{"search_files", `{"pattern":"timeoutSeconds"}`, "timeout_seconds"},
		{"file_search", `{"query":"api_client"}`, "ApiClient"},
		// A name copied with call parentheses, a receiver, quotes or endings.
		{"file_search", `{"query":"kfree()"}`, `"kfree"`},
		{"file_search", `{"query":"calculateTotal()"}`, `"calculateTotal"`},
		{"file_search", `{"query":"client.fetchUser(42)"}`, `"fetchUser"`},
		{"search_files", `{"regex":"applyDiscount\\(\\)"}`, `"applyDiscount"`},
		{"file_search", `{"query":"'MAX_CONNECTIONS'"}`, `"MAX_CONNECTIONS"`},
		{"file_search", `{"query":"MAX_CONNECTIONS;"}`, `"MAX_CONNECTIONS"`},
		// A match outside the path, the filter or the flags.
		{"search_files", `{"regex":"calculateTotal","path":"lib"}`, "src/cart/calculateTotal.ts"},
		{"file_search", `{"query":"DATABASE_URL","path":"docs"}`, "src/server/config.py"},
		{"search_files", `{"regex":"kfree","file_pattern":"*.ts"}`, "lib/skb.c"},
		{"file_search", `{"query":"kfree","include":"*.h"}`, "without include"},
		{"search_files", `{"regex":"kfree","path":"src","file_pattern":"*.py"}`, "lib/skb.c"},
		{"file_search", `{"query":"runs-on"}`, "include_hidden"},
		{"file_search", `{"query":"leftPad"}`, "include_ignored"},
		{"search_files", `{"regex":"minifiedBundleEntry"}`, "include_ignored"},
		{"search_files", `{"regex":"connection refused"}`, "include_ignored"},
		{"search_files", `{"regex":"Max_Connections"}`, "letter case"},
		// A regular expression given as plain text, and the reverse.
		{"file_search", `{"query":"export (async )?function"}`, "search_files"},
		{"file_search", `{"query":"MAX_\\w+"}`, "search_files"},
		{"file_search", `{"query":"kfree|kmalloc"}`, "search_files"},
		{"file_search", `{"query":"^def "}`, "search_files"},
		{"search_files", `{"regex":"items.reduce((sum, item)"}`, "file_search"},
		{"search_files", `{"regex":"*skb = NULL"}`, "file_search"},
		{"search_files", `{"regex":"expect(calculateTotal([]))"}`, "file_search"},
		{"search_files", `{"regex":"os.environ['DATABASE_URL']"}`, "file_search"},
		{"search_files", `{"regex":"fetchUser(?=\\()"}`, "pattern"},
		// Line breaks and spaces.
		{"file_search", `{"query":"checkout flow"}`, "white space"},
		{"file_search", `{"query":"message queue decouples the services.\nIt is durable."}`, `"message queue decouples the services."`},
		{"search_files", `{"regex":"return total \\* 0\\.9;\\n  \\}"}`, "one"},
		{"file_search", `{"query":"quarterly   budget"}`, "Notes/Meeting with Bob.md"},
		// Missing paths.
		{"read_file", `{"path":"src/card/discount.ts"}`, "src/cart/discount.ts"},
		{"read_file", `{"path":"src/cart/discuont.ts"}`, "src/cart/discount.ts"},
		{"read_file", `{"path":"discount.ts"}`, "src/cart/discount.ts"},
		{"read_file", `{"path":"docs/Getting%20Started.md"}`, "docs/Getting Started.md"},
		{"read_file", `{"path":"src/api/client.ts:2"}`, "src/api/client.ts"},
		{"read_file", `{"path":"/src/apii/retry.ts"}`, "src/api/retry.ts"},
		{"search_files", `{"regex":"TODO","path":"scr"}`, `"src"`},
		{"list_files", `{"path":"src/utlis"}`, "src/utils"},
		{"edit_file", `{"path":"src/Server/config.py","old_text":"10","new_text":"20"}`, "src/server/config.py"},
		{"edit_file", `{"path":"src/server/config.py","old_text":"MAX_CONNECTIONS = 100","new_text":"x"}`, "MAX_CONNECTIONS = 10"},
		{"move_file", `{"source":"readme.md","destination":"docs/"}`, "README.md"},
		// Names of files.
		{"search_by_path", `{"pattern":"calculatetotal.ts"}`, "src/cart/calculateTotal.ts"},
		{"search_by_path", `{"pattern":"dateFromat.ts"}`, "src/utils/dateFormat.ts"},
		{"search_by_path", `{"pattern":"cart/*.ts"}`, "src/cart/"},
		{"search_by_path", `{"pattern":".*\\.svg$"}`, "assets/logo.svg"},
		{"search_by_path", `{"pattern":"bundle.js"}`, "include_ignored"},
		{"search_by_path", `{"pattern":"ci.yml"}`, "include_hidden"},
		{"search_by_path", `{"pattern":"retry"}`, "src/api/retry.ts"},
		{"list_files", `{"pattern":"*.svg"}`, "assets/logo.svg"},
		{"file_search", `{"query":"logo.svg"}`, "assets/logo.svg"},
	}
}

// TestMistakes counts the answers that contain the fix: at least 54 of 60 must. Failures
// are logged.
func TestMistakes(t *testing.T) {
	ws := project().make(t)
	indexed := withIndex(t, ws.Dir())
	for name, ws := range map[string]*quarry.Workspace{"without an index": ws, "with one": indexed} {
		reg := tools(t, ws, profile.Options{})
		list := mistakes()
		if len(list) < 60 {
			t.Fatalf("only %d mistakes", len(list))
		}
		var missed []string
		for _, m := range list {
			text := call(t, reg, m.tool, m.args).Text
			if !strings.Contains(text, m.fix) {
				missed = append(missed, fmt.Sprintf("%s %s\n  wants %s\n  %s", m.tool, m.args, m.fix, strings.ReplaceAll(text, "\n", "\n  ")))
			}
		}
		t.Logf("%s: %d of %d answers contain the fix", name, len(list)-len(missed), len(list))
		if len(missed)*10 > len(list) {
			t.Errorf("%s: missed\n%s", name, strings.Join(missed, "\n"))
		} else {
			t.Log(strings.Join(missed, "\n"))
		}
	}
}

// An empty answer is the same every time, with and without an index.
func TestZeroIsSteady(t *testing.T) {
	stress.SkipTiny(t)
	ws := project().make(t)
	want, got := tools(t, ws, profile.Options{}), tools(t, withIndex(t, ws.Dir()), profile.Options{})
	for _, m := range mistakes() {
		if m.tool == "move_file" || m.tool == "edit_file" {
			continue
		}
		a, b := call(t, want, m.tool, m.args).Text, call(t, got, m.tool, m.args).Text
		if a != b || b != call(t, got, m.tool, m.args).Text {
			t.Errorf("%s %s\nwithout an index:\n%s\nwith one:\n%s", m.tool, m.args, a, b)
		}
	}
}

// withIndex opens a folder and waits for its index.
func withIndex(t *testing.T, dir string) *quarry.Workspace {
	t.Helper()
	ws, err := quarry.Open(dir, &quarry.Options{StateDir: t.TempDir(), Index: &quarry.IndexOptions{Dir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := ws.Index().Wait(ctx); err != nil {
		t.Fatal(err)
	}
	return ws
}
