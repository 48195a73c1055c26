package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// The browser that all tests open their tabs in. Starting one takes a second of CPU.
var (
	browser     = sync.OnceValues(startBrowser)
	stopBrowser = func() {}
)

func TestMain(m *testing.M) {
	code := m.Run()
	stopBrowser()
	os.Exit(code)
}

// useBrowser returns the browser, or skips the test if there is none.
func useBrowser(t *testing.T) context.Context {
	t.Helper()
	ctx, err := browser()
	if errors.Is(err, exec.ErrNotFound) && os.Getenv("SIEVETABLE_CHROMIUM") != "required" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal("starting the browser:", err)
	}
	return ctx
}

func chromiumPath() (path string, err error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err = exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", err
}

func startBrowser() (context.Context, error) {
	path, err := chromiumPath()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sst-report-browser")
	if err != nil {
		return nil, err
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.Headless,
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.NoSandbox, chromedp.DisableGPU,
	}
	for _, flag := range []string{"disable-background-networking", "disable-component-update", "disable-sync", "disable-quic", "disable-dev-shm-usage"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(ctx)
	stopBrowser = func() {
		if err := chromedp.Cancel(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "closing the browser:", err)
		}
		cancel()
		removeProfile(dir)
	}
	return ctx, chromedp.Do(ctx)
}

// removeProfile removes a directory that may still be written to, by processes of the
// browser that end last.
func removeProfile(dir string) {
	var err error
	for range 50 {
		if err = os.RemoveAll(dir); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	fmt.Fprintln(os.Stderr, err)
}

// A tab shows one page. It takes anything on the console and any request but the
// page's own for a failure.
type tab struct {
	testing.TB
	ctx context.Context
	url string

	mu   sync.Mutex
	seen []string
}

// open opens a page, of width pixels, in a new tab of the browser.
func open(t *testing.T, browser context.Context, page string, width int64) *tab {
	t.Helper()
	path, err := filepath.Abs(page)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(browser, time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	p := &tab{TB: t, ctx: ctx, url: "file://" + path}
	if err := chromedp.Listen(ctx, p.watch); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.checkQuiet)
	_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	p.must(err)
	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	p.must(err)
	p.do(chromedp.EmulateViewport(width, 800), chromedp.Navigate(p.url))
	return p
}

func (p *tab) watch(event any) {
	var what string
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		what = fmt.Sprintf("console.%s was called", e.Type)
	case *runtime.EventExceptionThrown:
		what = fmt.Sprintf("exception: %s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
	case *log.EventEntryAdded:
		what = "browser log: " + e.Entry.Text
	case *network.EventRequestWillBeSent:
		if e.Request.URL == p.url {
			return
		}
		what = "request for " + e.Request.URL
	default:
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, what)
}

func (p *tab) checkQuiet() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, what := range p.seen {
		p.Error(what)
	}
}

func (p *tab) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	p.must(chromedp.Do(p.ctx, actions...))
}

// evaluate returns what an expression comes to in the page.
func evaluate[T any](p *tab, expression string) T {
	p.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	p.must(err)
	return v
}

// call calls a function of the page's with what argument is in JSON.
func call[T any](p *tab, function string, argument any) T {
	p.Helper()
	encoded, err := json.Marshal(argument)
	p.must(err)
	return evaluate[T](p, fmt.Sprintf("(%s)(%s)", function, encoded))
}

// text is what an element shows, each run of white space as a space.
func (p *tab) text(selector string) string {
	p.Helper()
	return strings.Join(strings.Fields(call[string](p, "(s) => document.querySelector(s).innerText", selector)), " ")
}
