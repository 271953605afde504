//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// shot describes one picture.
type shot struct {
	name, path string
	wait       string // selector of an element to wait for
	press      string // keys to press then; G scrolls to the end
}

var shots = []shot{
	{"search", "/search?q=retryAfter&at=internal/payment/retry.go:20", ".peek .hit.on", ""},
	{"search-start", "/search", ".zero", ""},
	{"search-zero", "/search?q=retyrAfter&type=go", ".zero", ""},
	{"search-regex", "/search?q=func+(&mode=regex", ".notice.bad", ""},
	{"search-words", "/search?q=retry+policy+wait&mode=words", ".file", ""},
	{"search-paths", "/search?q=retr&mode=paths", ".pathhit", ""},
	{"search-cut", "/search?q=paid", ".tail .notice", "G"},
	{"hits", "/search?q=retryAfter", ".file", ""},
	{"keys", "/search?q=retryAfter", ".file", "?"},
	{"changes", "/changes", ".dfile, .duo:not(.reading) .entry", ""},
	{"change", "", ".dfile", ""},
	{"review", "/review", ".hunk, .empty, .entry", ""},
	{"proposal", "", ".hunk", ""},
	{"health", "/health", ".kv", ""},
}

// takePage makes a small project, in which a few agents make changes over MCP. It serves the page
// and takes pictures of it with Chromium.
func takePage(ctx context.Context, program, dir, all, root string) error {
	if root == "" {
		root = filepath.Join(dir, "orders-api")
		if err := makeProject(ctx, program, dir, root); err != nil {
			return err
		}
		if err := writeOrders(root, all); err != nil {
			return err
		}
	}
	address, stop, err := serve(ctx, program, dir, root)
	if err != nil {
		return err
	}
	defer stop()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("hide-scrollbars", true), chromedp.Flag("force-color-profile", "srgb"))
	ctx, cancel := chromedp.NewExecAllocator(ctx, opts...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	base, _, _ := strings.Cut(address, "/enter")
	if err := chromedp.Do(ctx, chromedp.Navigate(address), there(".zero")); err != nil {
		return err
	}
	if all == "" {
		data, err := photograph(ctx, base+"/review/p-0001", ".hunk", "ra", "light", 1400, 900)
		if err != nil {
			return err
		}
		return os.WriteFile("docs/page.png", data, 0o644)
	}
	return photographAll(ctx, base, all)
}

func photographAll(ctx context.Context, base, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, s := range shots {
		for _, width := range []int64{1600, 380} {
			for _, theme := range []string{"light", "dark"} {
				path := s.path
				if path == "" {
					if path = deep(ctx, base, s.name); path == "" {
						continue
					}
				}
				height := int64(1000)
				if width == 380 {
					height = 780
				}
				data, err := photograph(ctx, base+path, s.wait, s.press, theme, width, height)
				if err != nil {
					log.Printf("%s %d %s: %v", s.name, width, theme, err)
				}
				if data != nil {
					if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", s.name, width, theme)), data, 0o644); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// deep returns the address of the first change or proposal on a page.
func deep(ctx context.Context, base, name string) string {
	view := map[string]string{"change": "/changes", "proposal": "/review"}[name]
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1600, 1000), chromedp.Navigate(base+view), there(".entry")); err != nil {
		return ""
	}
	href, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector(".entry").getAttribute("href")`))
	return href
}

// there waits until the page has an element that matches selector.
func there(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](fmt.Sprintf("!!document.querySelector(%q)", selector), chromedp.WithPollingTimeout(30*time.Second))
}

func photograph(ctx context.Context, address, wait, press, theme string, width, height int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}); err != nil {
		return nil, err
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, height), chromedp.Navigate(address)); err != nil {
		return nil, err
	}
	waited := chromedp.Do(ctx, there(wait))
	for _, k := range press {
		key := fmt.Sprintf(`document.activeElement.blur(); document.body.dispatchEvent(new KeyboardEvent("keydown", {key: %q, bubbles: true}))`, string(k))
		if k == 'G' { // only when everything is drawn
			key = "new Promise((done) => setTimeout(() => { scrollTo(0, document.body.scrollHeight); done(); }, 900))"
		}
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](key)); err != nil {
			return nil, err
		}
	}
	// Wait for colours and counts, which are drawn later.
	if err := chromedp.Do(ctx, chromedp.Sleep(700*time.Millisecond)); err != nil {
		return nil, err
	}
	data, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	return data, errors.Join(err, waited)
}

// serve starts the page. It returns its address and a function to stop it.
func serve(ctx context.Context, program, dir, root string) (string, func(), error) {
	cmd := exec.CommandContext(ctx, program, "ui", "--no-open", "--editor", "zed", root)
	cmd.Env = environment(dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop := func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, err
	}
	return strings.TrimSpace(line), stop, nil
}

// environment returns an environment without the user's own state.
func environment(dir string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "TZ=UTC"}
	for _, name := range []string{"CONFIG", "STATE", "CACHE", "DATA"} {
		env = append(env, "XDG_"+name+"_HOME="+filepath.Join(dir, strings.ToLower(name)))
	}
	return append(env, "XDG_RUNTIME_DIR="+filepath.Join(dir, "runtime"))
}
