package pagetest

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Widths are the widths of a phone and of a wide window, in pixels.
var Widths = []int64{390, 1200}

// mostStops is the maximum number of tab stops on a page.
const mostStops = 80

// A Control is an element of a page that can be operated by keyboard.
type Control struct {
	Element string // selector
	Name    string // role and name, as a screen reader reads them out
	Keys    string // the keys to press; none if the control only scrolls
	Shows   string // selector of the element that shows the effect of the keys
	Text    string // text that it then contains, and did not contain before
	Draws   string // selector of the canvas that the keys change; "" for none
}

// Operate operates the controls by keyboard alone, in tab order. Every tab stop must be one of the controls.
func (p *Tab) Operate(controls []Control) {
	p.Helper()
	var all []string
	for _, c := range controls {
		all = append(all, c.Element)
	}
	known := strings.Join(all, ",")
	for _, c := range controls {
		p.tabOver(c.Element, known)
		p.operate(c)
	}
	p.tabOver(controls[0].Element+", body", known)
}

// TabTo presses the Tab key until an element has the focus.
func (p *Tab) TabTo(selector string) {
	p.Helper()
	p.tabOver(selector, "*")
}

// tabOver is like TabTo, but every tab stop on the way must be a known element.
func (p *Tab) tabOver(selector, known string) {
	p.Helper()
	for range mostStops {
		stop := Call[string](p, `([selector, known]) => {
			const it = document.activeElement;
			return it.matches(selector) ? "there" : it.matches(known + ", body") ? "" : it.outerHTML.slice(0, 100);
		}`, []string{selector, known})
		if stop == "there" {
			return
		}
		if stop != "" {
			p.Errorf("the Tab key comes to a control without a test: %s", stop)
		}
		p.Do(chromedp.KeyEvent(kb.Tab))
	}
	p.Fatalf("the Tab key does not come to %s", selector)
}

// unseen is JavaScript that returns why the focus is not visible. A focused element needs an outline that
// contrasts with its background, and must be in the window, in front of all others.
const unseen = `(() => {` + Contrast + `
	const it = document.activeElement, style = getComputedStyle(it), box = it.getBoundingClientRect();
	if (style.outlineStyle !== "solid" || parseFloat(style.outlineWidth) < 2) return "it has no outline";
	if (contrast(style.outlineColor, it.parentElement) < 3) return "its outline has too little contrast";
	const x = (Math.max(box.left, 0) + Math.min(box.right, innerWidth)) / 2, y = (Math.max(box.top, 0) + Math.min(box.bottom, innerHeight)) / 2;
	const front = document.elementFromPoint(x, y);
	return it === front || it.contains(front) || front?.contains(it) && front.matches("label") ? "" : "it is not to be seen";
})()`

// operate presses the keys of the focused control, and checks their effect.
func (p *Tab) operate(c Control) {
	p.Helper()
	if why := Evaluate[string](p, unseen); why != "" {
		p.Errorf("%s has the focus, but %s", c.Element, why)
	}
	if name := p.focusedName(); name != c.Name {
		p.Errorf("%s is called %q, want %q", c.Element, name, c.Name)
	}
	if c.Keys == "" {
		return
	}
	if text := p.Text(c.Shows); strings.Contains(text, c.Text) {
		p.Errorf("%s, before the keys %+q: the page already says %q", c.Name, c.Keys, c.Text)
	}
	before := p.picture(c.Draws)
	p.Do(chromedp.KeyEvent(c.Keys))
	if text := p.waitFor(c.Shows, c.Text); text != "" {
		p.Errorf("%s, after the keys %+q: the page says %q, want %q", c.Name, c.Keys, text, c.Text)
	}
	if c.Draws != "" && !waitUntil(func() bool { return p.picture(c.Draws) != before }) {
		p.Errorf("%s, after the keys %+q: the picture %s is the same as before", c.Name, c.Keys, c.Draws)
	}
	p.CheckWidth(c.Name)
}

// focusedName returns the role and the name of the focused element, with single spaces. Browsers differ in the white
// space of labels.
func (p *Tab) focusedName() string {
	p.Helper()
	focused, err := chromedp.Call(p.ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: "document.activeElement"})
	p.Must(err)
	tree, err := chromedp.Call(p.ctx, accessibility.GetPartialAXTree, accessibility.GetPartialAXTreeParams{ObjectID: focused.Result.ObjectID, FetchRelatives: new(bool)})
	p.Must(err)
	name := ""
	for _, v := range []*accessibility.Value{tree.Nodes[0].Role, tree.Nodes[0].Name} {
		var word string
		if v != nil {
			_ = json.Unmarshal(v.Value, &word) // not a string otherwise
		}
		name += " " + word
	}
	return strings.Join(strings.Fields(name), " ")
}

// picture returns what a canvas shows, or "" if there is no selector.
func (p *Tab) picture(selector string) string {
	p.Helper()
	return Call[string](p, `(s) => s && document.querySelector(s).toDataURL()`, selector)
}

// waitFor waits until an element contains text. If it never does, waitFor returns the text that the element has.
func (p *Tab) waitFor(selector, text string) (says string) {
	p.Helper()
	if waitUntil(func() bool { says = p.Text(selector); return strings.Contains(says, text) }) {
		return ""
	}
	return cmp.Or(says, "nothing")
}

// waitUntil waits until isSo returns true, since some changes are shown with a delay. It reports whether that
// happened.
func waitUntil(isSo func() bool) bool {
	for start := time.Now(); time.Since(start) < 4*time.Minute; time.Sleep(10 * time.Millisecond) {
		if isSo() {
			return true
		}
	}
	return false
}

// CheckWidth checks that nothing on the page is wider than the window. Errors begin with what, the action before.
func (p *Tab) CheckWidth(what string) {
	p.Helper()
	for _, wrong := range Evaluate[[]string](p, `[
		...[...document.querySelectorAll("body *")]
			.filter((it) => it.getBoundingClientRect().right > innerWidth + 0.5 && it.checkVisibility() && !it.closest("thead"))
			.slice(0, 3).map((it) => "wider than the window: " + it.outerHTML.slice(0, 60)),
		...document.documentElement.scrollWidth > innerWidth ? ["the page is " + document.documentElement.scrollWidth + " pixels wide"] : [],
		...[...document.querySelectorAll(".scroll")].filter((it) => it.scrollWidth > it.clientWidth)
			.map((it) => "a table is cut: " + (it.ariaLabel ?? it.getAttribute("aria-labelledby")) + ", " + it.scrollWidth + " pixels"),
	]`) {
		p.Errorf("%s: %s", what, wrong)
	}
}
