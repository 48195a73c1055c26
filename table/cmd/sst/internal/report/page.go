package report

import (
	"bytes"
	"embed"
	"encoding/json"
	"html"
	"io"
	"strings"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/page"
)

//go:embed parts
var files embed.FS

// scripts are the scripts of the page, in the order in which they run.
var scripts = []string{
	"parts/bytes.js", "parts/model.js", "parts/xxh3.js", "parts/fuse.js", "parts/expected.js", "parts/filter.js", "parts/lookup.js", "parts/fills.js", "parts/scale.js", "parts/measures.js", "parts/link.js",
	"parts/map.js", "parts/marked.js", "parts/parts.js", "parts/heat.js", "parts/bits.js", "parts/svg.js", "parts/fillchart.js", "parts/fuse_step.js", "parts/filters.js", "parts/histogram.js", "parts/path.js", "parts/main.js",
}

// Write writes the page. Data of the table is in it only as the escaped file name and as
// JSON. The JSON has no <, > or &, so it cannot end its element. Everything is printable.
func (m *Model) Write(w io.Writer) error {
	line, err := printable.AppendJSON(nil, m)
	if err != nil {
		return err
	}
	var data bytes.Buffer
	json.HTMLEscape(&data, line)
	name := printable.String(m.File)
	before, after, _ := strings.Cut(page.Read(files, "parts/page.html"), "{{data}}")
	before = strings.ReplaceAll(before, "{{file}}", html.EscapeString(name))
	p := page.Page{Title: name + " – table report", Script: page.Script(files, scripts...), Style: page.Style(files, "parts/report.css")}
	return p.Write(w, before, data.String(), after)
}
