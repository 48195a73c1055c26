package theme

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Middle and End, before a line of text, align its middle or its end with the point where it is drawn. The default
// is its start. gonum's alignments instead move a text by its width in gonum's font, which is right in that font
// only.
const (
	Middle = "\ue000"
	End    = "\ue001"
)

// families are fonts of about the same widths. gonum measures the first one.
const families = "'Liberation Sans',Arial,Helvetica,sans-serif"

// measured is vgsvg's style for a text in that font.
const measured = "font-family:Liberation Sans;font-variant:normal;"

var (
	head   = regexp.MustCompile(`<svg width="([0-9.]+)pt" height="([0-9.]+)pt"([^>]*)>`)
	styles = regexp.MustCompile(`style="[^"]*"`)
	paint  = regexp.MustCompile(`(fill|stroke):#[^;"]*`)
	middle = regexp.MustCompile(`<text ([^>]*)>` + Middle)
	end    = regexp.MustCompile(`<text ([^>]*)>` + End)
)

// Apply returns the chart that vgsvg wrote with its colors for light and for dark pages, whichever the reader
// prefers. Viewers without CSS variables show the light colors. A point becomes a CSS pixel. Texts in Liberation
// Sans are shown in similar fonts if it is missing, and aligned by Middle and End. A color that is not from this
// package is an error, since it would be wrong on one of the pages. So is text that XML cannot contain, such as
// control characters, which vgsvg writes unescaped. Black is treated as Ink.
func Apply(svg []byte) ([]byte, error) {
	if !head.Match(svg) {
		return nil, errors.New("theme: no <svg> with a size in points: not a chart from vgsvg")
	}
	if err := wellFormed(svg); err != nil {
		return nil, fmt.Errorf("theme: no viewer would show the chart: %w; are there control characters in a name?", err)
	}
	var unknown error
	out := styles.ReplaceAllFunc(svg, func(style []byte) []byte {
		style = bytes.Replace(style, []byte(measured), nil, 1)
		return paint.ReplaceAllFunc(style, func(p []byte) []byte {
			themed, err := variable(string(p))
			unknown = errors.Join(unknown, err)
			return []byte(themed)
		})
	})
	if unknown != nil {
		return nil, unknown
	}
	out = middle.ReplaceAll(out, []byte(`<text text-anchor="middle" $1>`))
	out = end.ReplaceAll(out, []byte(`<text text-anchor="end" $1>`))
	return head.ReplaceAll(out, []byte(`<svg width="$1" height="$2"$3>`+sheet())), nil
}

// wellFormed returns an error unless svg is well-formed XML.
func wellFormed(svg []byte) error {
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		if _, err := d.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// variable replaces a fill or stroke color by its light value, for viewers that ignore variables, followed by the
// variable.
func variable(declared string) (string, error) {
	property, hex, _ := strings.Cut(declared, ":#")
	value, err := strconv.ParseUint(hex, 16, 24) // a transparent color is not a number
	r, ok := roleOf(rgb(uint32(value)))
	if err != nil || !ok {
		return "", fmt.Errorf("theme: the chart has %s, which is no color of package theme", declared)
	}
	return fmt.Sprintf("%s:%s;%s:var(--%s)", property, hexOf(r.light), property, r.name), nil
}

// sheet declares the variables. Shapes and texts that vgsvg writes without a fill are black. The color scheme is for
// browsers that show the file on its own, because they choose the background.
func sheet() string {
	var light, dark strings.Builder
	for _, r := range roles {
		fmt.Fprintf(&light, "--%s:%s;", r.name, hexOf(r.light))
		fmt.Fprintf(&dark, "--%s:%s;", r.name, hexOf(r.dark))
	}
	return "\n<style>\nsvg{color-scheme:light dark;fill:var(--ink);font-family:" + families + ";" + light.String() + "}\n" +
		"@media (prefers-color-scheme:dark){svg{" + dark.String() + "}}\n</style>"
}

func hexOf(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
