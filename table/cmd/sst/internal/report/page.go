package report

import (
	"bytes"
	"embed"
	"encoding/json"
	"html"
	"io"
	"strings"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/page"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

//go:embed page
var files embed.FS

// scripts are the scripts of the page, in the order in which they run.
var scripts = []string{
	"page/bytes.js", "page/model.js", "page/xxh3.js", "page/fuse.js", "page/expected.js", "page/filter.js", "page/lookup.js", "page/fills.js", "page/scale.js", "page/measures.js", "page/link.js",
	"page/map.js", "page/marked.js", "page/parts.js", "page/heat.js", "page/bits.js", "page/svg.js", "page/fillchart.js", "page/fuse_step.js", "page/filters.js", "page/histogram.js", "page/path.js", "page/main.js",
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
	name := text.Printable(m.File)
	before, after, _ := strings.Cut(page.Read(files, "page/page.html"), "{{data}}")
	before = strings.ReplaceAll(before, "{{file}}", html.EscapeString(name))
	p := page.Page{Title: name + " – table report", Script: page.Script(files, scripts...), Style: page.Style(files, "page/report.css")}
	return p.Write(w, before, data.String(), after)
}
