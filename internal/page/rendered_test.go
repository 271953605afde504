package page

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// attacks returns Markdown texts that would run a script, load something from another server or
// leave the page if they were interpreted as markup.
func attacks() []string {
	var list []string
	for _, to := range []string{
		"javascript:pwned()", "JaVaScRiPt:pwned()", "java\tscript:pwned()", "&#106;avascript:pwned()", "javascript&colon;pwned()", "\x01javascript:pwned()",
		"data:text/html,<script>pwned()</script>", "data:image/svg+xml,<svg onload=pwned()>", "vbscript:pwned()", "file:///etc/passwd", "//evil.example/x", "blob:http://evil.example/x",
		"../../etc/passwd", "/../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "http://evil.example/x.png", "x\" onerror=\"pwned()", "filesystem:http://evil.example/", "view-source:javascript:pwned()",
	} {
		list = append(list, "[link](<"+to+">)", "![image](<"+to+">)", "<"+to+">")
	}
	for _, h := range hostile()[:12] {
		list = append(list, h, "`"+h+"`", "## "+h, "| a |\n|---|\n| "+h+" |")
	}
	return append(list, "```html\n<script>pwned()</script>\n```", "[x]: javascript:pwned()\n\n[x]", "<!-- --><script>pwned()</script>", "<details open ontoggle=pwned()>", "<svg><style><img src=x onerror=pwned()>",
		"<math><mtext></p><script>pwned()</script>", "[a](x 'title\" onclick=\"pwned()')", "<a href=javascript:pwned()>x</a>", "<input onfocus=pwned() autofocus>")
}

// TestBrowserRenders checks that Markdown and images are rendered, and that the attacks remain
// text.
func TestBrowserRenders(t *testing.T) {
	png, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		t.Fatal(err)
	}
	bad := attacks()
	if len(bad) < 60 {
		t.Fatalf("%d attempts", len(bad))
	}
	svg := `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10" onload="parent.pwned()"><script>parent.pwned()</script><image href="http://evil.example/x.png"/><rect width="20" height="10"/></svg>`
	s := serve(t, map[string]string{
		"docs/a.md":   "---\ntitle: A\n---\n# Title\n\nSome *words* and [the other](b%20c.md#part), ![dot](../dot.png) ![far](https://evil.example/x.png)\n\n- [x] done\n- [ ] open\n\n| h |\n|---|\n| cell |\n\n~~gone~~ <b>raw</b>\n\n3. three\n",
		"docs/b c.md": "# Other\n", "dot.png": string(png), "bad.svg": svg, "bad.md": strings.Join(bad, "\n\n"),
		"draw.md": "![drawn](bad.svg)\n",
	}, nil)
	b := s.open(t, "/search?at=docs/a.md:1", 1600, 1000, "light")
	b.has(".peek .lines", "# Title")
	b.keys("v")
	b.until(`document.querySelector(".rendered h1")?.textContent === "Title"`)
	b.until(`document.querySelector(".rendered img")?.naturalWidth === 1`)
	b.until(`document.querySelector(".rendered td").textContent === "cell" && document.querySelector(".rendered ol").start === 3 && document.querySelector(".rendered del")`)
	b.has(".rendered", "<b>raw</b>")
	b.has(".rendered", "☑ done")
	if n := b.count(".rendered img"); n != 1 {
		t.Errorf("%d images are loaded, want only the one of the workspace", n)
	}
	b.click(`.rendered a[href*="b%20c.md"]`)
	b.has(".peek .lines", "# Other")

	for _, file := range []string{"bad.md", "draw.md", "bad.svg"} {
		b.do(chromedp.Navigate(s.base + "/search?at=" + url.QueryEscape(file+":1")))
		b.until(`document.querySelector(".peek .lines")`)
		b.keys("v")
		b.until(`document.querySelector(".rendered")`)
		if file != "bad.md" {
			b.until(`document.querySelector(".rendered img")?.naturalWidth === 20`)
		}
		if eval[bool](b, `"pwned" in window`) {
			t.Errorf("%s: a script ran", file)
		}
		type node struct{ Tag, Href, Src, Handlers string }
		got := eval[[]node](b, `[...document.querySelectorAll(".rendered *")].map((e) => ({ Tag: e.tagName, Href: e.getAttribute("href") ?? "", Src: e.getAttribute("src") ?? "", Handlers: [...e.attributes].filter((a) => /^on|style/i.test(a.name)).join() }))`)
		if len(got) == 0 {
			t.Fatalf("%s: nothing is rendered", file)
		}
		for _, n := range got {
			if slices.Contains([]string{"SCRIPT", "IFRAME", "STYLE", "BASE", "META", "OBJECT", "EMBED", "SVG", "FORM", "INPUT", "DETAILS"}, n.Tag) || n.Handlers != "" ||
				n.Src != "" && !strings.HasPrefix(n.Src, "blob:"+s.base) ||
				n.Href != "" && !strings.HasPrefix(n.Href, "/search?at=") && !strings.HasPrefix(n.Href, "http://") && !strings.HasPrefix(n.Href, "https://") {
				t.Errorf("%s: %+v", file, n)
			}
			if strings.Contains(n.Href, "..") {
				t.Errorf("%s leads out of the workspace: %+v", file, n)
			}
		}
		if out := eval[[]string](b, `performance.getEntriesByType("resource").map((e) => e.name).filter((n) => !n.startsWith(location.origin) && !n.startsWith("blob:" + location.origin))`); len(out) > 0 {
			t.Errorf("%s: requests elsewhere: %q", file, out)
		}
	}
}

// TestImage checks that only images of known types are served, with headers that put them in a
// sandbox.
func TestImage(t *testing.T) {
	s := serve(t, map[string]string{"a.png": "\x89PNG", "a.html": "<script>", ".env.png": "x", "secret.key": "k"}, nil)
	for path, want := range map[string]int{"a.png": 200, "a.html": 400, "secret.key": 400, "none.png": 404, "../a.png": 422} {
		res, body := s.request(t, "GET", "/api/image?path="+url.QueryEscape(path), "")
		if res.StatusCode != want {
			t.Errorf("%s: %s, want %d: %s", path, res.Status, want, body)
		}
		if want == 200 && (res.Header.Get("Content-Type") != "image/png" || !strings.Contains(res.Header.Get("Content-Security-Policy"), "sandbox")) {
			t.Errorf("%s: %v", path, res.Header)
		}
	}
}

// TestRenderedIsBounded checks that deeply nested or repeated markup takes bounded time.
func TestRenderedIsBounded(t *testing.T) {
	var steps strings.Builder
	for i := range 700 {
		steps.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	for name, text := range map[string]string{
		"steps": steps.String(), "emphasis": strings.Repeat("*a **b ", 30_000) + strings.Repeat("c** d*", 30_000), "html": strings.Repeat("<a", 100_000), "references": strings.Repeat("[a]: b\n", 50_000), "code": strings.Repeat("`a``", 50_000),
		"quotes": strings.Repeat("> ", 100_000), "lists": strings.Repeat("- ", 100_000), "stars": strings.Repeat("*a ", 100_000),
		"links": strings.Repeat("[", 100_000), "rows": "|a|\n|-|\n" + strings.Repeat("|b|\n", 100_000),
	} {
		s := serve(t, map[string]string{"a.md": text}, nil)
		start := time.Now()
		res, body := s.request(t, "GET", "/api/rendered?path=a.md", "")
		var got map[string]any
		if err := json.Unmarshal([]byte(body), &got); err != nil || res.StatusCode != 200 && res.StatusCode != 400 {
			t.Errorf("%s: %s, %v", name, res.Status, err)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		t.Logf("%s: %d bytes in %v", name, len(body), time.Since(start))
	}
}
