package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"strings"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

//go:embed page
var files embed.FS

// scripts are the scripts of the page, in the order in which they run.
var scripts = []string{
	"bytes", "text", "format", "model", "filter", "lookup",
	"dom", "picker", "fills", "map", "parts", "heat", "bits", "filters", "histogram", "path", "main",
}

// Write writes the page. Data of the table is in it only as the escaped file name and as
// JSON. The JSON has no <, > or &, so it cannot end its element. Everything is printable.
func (m *Model) Write(w io.Writer) error {
	line, err := text.AppendJSON(nil, m)
	if err != nil {
		return err
	}
	var data bytes.Buffer
	json.HTMLEscape(&data, line)
	script, style := script(), read("page.css")
	before, after, _ := strings.Cut(read("page.html"), "{{data}}")
	fill := strings.NewReplacer(
		"{{file}}", html.EscapeString(text.Printable(m.File)),
		"{{script-hash}}", hashOf(script), "{{style-hash}}", hashOf(style),
		"{{script}}", script, "{{style}}", style,
	)
	for _, part := range []string{fill.Replace(before), data.String(), fill.Replace(after)} {
		if _, err := io.WriteString(w, part); err != nil {
			return err
		}
	}
	return nil
}

// script returns all scripts as one function, so that their names are not global.
func script() string {
	var b strings.Builder
	b.WriteString("(() => {\n\"use strict\";\n")
	for _, name := range scripts {
		b.WriteString(read(name + ".js"))
	}
	b.WriteString("})();\n")
	return b.String()
}

// hashOf returns the hash of an inline element for the content security policy.
func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// read returns an embedded file of the page. The file exists.
func read(name string) string {
	content, err := files.ReadFile("page/" + name)
	if err != nil {
		panic(err)
	}
	return string(content)
}
