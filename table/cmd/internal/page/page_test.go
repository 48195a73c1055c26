package page

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sievetable/sievetable/internal/errtest"
)

// A page contains the script and the style unchanged, with their hashes, and the title escaped.
func TestWrite(t *testing.T) {
	t.Parallel()
	p := Page{Title: "</title><b>{{style}}", Script: Script(fstest.MapFS{"parts/main.js": {}}), Style: Style(parts, "parts/page.css")}
	var b strings.Builder
	errtest.NoError(t, p.Write(&b, "<p>first</p><p>{{script-hash}}</p>"))
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

// A page without a script allows no scripts.
func TestWriteWithoutScript(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	errtest.NoError(t, (Page{Style: "p{}"}).Write(&b, "<p>text</p>"))
	if got := b.String(); !strings.Contains(got, "script-src 'none';") || strings.Contains(got, "<script") {
		t.Errorf("the page is %s", got)
	}
}

// Script returns all scripts, main.js last.
func TestScript(t *testing.T) {
	t.Parallel()
	script := Script(fstest.MapFS{"parts/main.js": {Data: []byte("start();")}, "parts/more.js": {Data: []byte("let more;")}})
	if !strings.HasSuffix(script, "let more;start();})();\n") || !strings.Contains(script, Read(parts, "parts/picker.js")+Read(parts, "parts/probes.js")) {
		t.Errorf("the script ends in %q", script[len(script)-100:])
	}
}
