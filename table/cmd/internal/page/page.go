// Package page writes sst's web pages, and holds the parts that they share. A page is a single file that loads no
// other files.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html"
	"io"
	"io/fs"
	"strings"
)

//go:embed parts
var parts embed.FS

// A Page is a page without its body. The functions Script and Style return values for the fields of these names.
type Page struct {
	Title  string
	Style  string // CSS
	Script string // JavaScript; empty for none
}

// Write writes the page with body, which is HTML.
func (p Page) Write(w io.Writer, body string) error {
	script := ""
	if p.Script != "" {
		script = "<script>" + p.Script + "</script>\n"
	}
	_, err := strings.NewReplacer(
		"{{title}}", html.EscapeString(p.Title), "{{style}}", p.Style, "{{body}}", body, "{{script}}", script,
		"{{script-hash}}", source(p.Script), "{{style-hash}}", source(p.Style),
	).WriteString(w, Read(parts, "parts/page.html"))
	return err
}

// Script returns the shared scripts and the scripts in the folder parts of files, main.js last. They are wrapped
// in one function, so that their names are not global. Top-level code must not use names that a later script
// declares. Functions and classes may. The function is asynchronous: the page is ready when the promise
// window.ready is fulfilled.
func Script(files fs.FS) string {
	var b strings.Builder
	b.WriteString("window.ready = (async () => {\n\"use strict\";\n")
	for _, from := range []fs.FS{parts, files} {
		names, _ := fs.Glob(from, "parts/*.js") // the pattern is right
		for _, name := range names {
			if name != "parts/main.js" {
				b.WriteString(Read(from, name))
			}
		}
	}
	return b.String() + Read(files, "parts/main.js") + "})();\n"
}

// Style returns the shared style sheet and the named files.
func Style(files fs.FS, names ...string) string {
	style := Read(parts, "parts/page.css")
	for _, name := range names {
		style += Read(files, name)
	}
	return style
}

// source returns the source expression of an inline script or style for the content security policy: its hash, or
// 'none'.
func source(content string) string {
	if content == "" {
		return "'none'"
	}
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Read returns an embedded file. It panics if the file does not exist.
func Read(files fs.FS, name string) string {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err)
	}
	return string(content)
}
