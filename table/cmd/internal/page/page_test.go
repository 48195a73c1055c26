package page

import (
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
)

// The script and the style are in the page as they are, with their hashes, and the title is
// text.
func TestWrite(t *testing.T) {
	t.Parallel()
	p := Page{Title: "</title><b>{{style}}", Script: Script(parts, "parts/text.js"), Style: Style(parts, "parts/page.css")}
	var b strings.Builder
	if err := p.Write(&b, "<p>first</p>", "<p>{{script-hash}}</p>"); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"<title>&lt;/title&gt;&lt;b&gt;{{style}}</title>", "<p>first</p><p>{{script-hash}}</p>",
		"<script>" + p.Script + "</script>", "<style>" + p.Style + "</style>",
		"script-src " + source(p.Script) + ";", "style-src " + source(p.Style) + ";",
	} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("the page does not have %.100q", part)
		}
	}
}

// A page without a script lets none in.
func TestWriteWithoutScript(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := (Page{Style: "p{}"}).Write(&b, "<p>text</p>"); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, "script-src 'none';") || strings.Contains(got, "<script") {
		t.Errorf("the page is %s", got)
	}
}

// All shared scripts are in a page.
func TestScriptsAreAll(t *testing.T) {
	t.Parallel()
	pagetest.CheckScripts(t, parts, "parts", scripts)
}
