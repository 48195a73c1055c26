package report

import (
	"bytes"
	"image/color"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/sievetable/sievetable/internal/theme"
)

// Package theme reads what this vgsvg writes: colors of any opacity, and texts however they are
// aligned and turned. Its own tests have a copy of such elements.
func TestThemeOfRealCharts(t *testing.T) {
	t.Parallel()
	svg := vgsvg.New(200, 100)
	c := draw.New(svg)
	square := []vg.Point{{X: 1, Y: 1}, {X: 9, Y: 1}, {X: 9, Y: 9}}
	for _, base := range append(theme.Series[:], theme.Peers[:]...) {
		for _, opacity := range []uint8{0x10, 0x40, 0xb0, 0xff} {
			base.A = opacity
			c.FillPolygon(base, square)
			c.StrokeLines(draw.LineStyle{Color: base, Width: 1}, square)
		}
	}
	c.StrokeLines(draw.LineStyle{Color: color.Black, Width: 1}, square)
	turned := styled(noteSize, theme.Faint, draw.XCenter)
	turned.Rotation = math.Pi / 2
	c.FillText(turned, vg.Point{X: 50, Y: 50}, "up")
	c.FillText(styled(noteSize, theme.Ink, draw.XRight), vg.Point{X: 50, Y: 50}, "two\nlines")
	c.FillText(bold(styled(noteSize, color.Black, draw.XLeft)), vg.Point{X: 50, Y: 50}, "first <& last")
	var out bytes.Buffer
	if _, err := svg.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	themed, err := theme.Apply(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`fill:#b23c00;fill:var(--series-2);fill-opacity:0.25098"`, `stroke:#8c949c;stroke:var(--peer-3);stroke-opacity:0.69`,
		`stroke:#1f2328;stroke:var(--ink)`, `<text text-anchor="middle" x="50" `, `<text text-anchor="end" x="50" `,
		`<text x="50" `, `font-weight:bold;font-style:normal;font-size:12px">first &lt;&amp; last<`,
	} {
		if !strings.Contains(string(themed), want) {
			t.Errorf("no %s in\n%s", want, themed)
		}
	}
	if n := strings.Count(string(themed), `text-anchor="end"`); n != 2 {
		t.Errorf("%d lines are at their ends, want 2", n)
	}
	if got := labels(t, string(themed)); len(got) != 4 || got[1].text != "two" || got[2].text != "lines" {
		t.Errorf("texts %v", got)
	}
}

// white is a body with something white in it.
type white struct{}

func (white) height(vg.Length) vg.Length { return 100 }

func (white) draw(c draw.Canvas) error {
	c.FillPolygon(color.White, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max})
	return nil
}

func TestSaveRefusesBackground(t *testing.T) {
	t.Parallel()
	d := drawing{body: white{}}
	if err := d.save(filepath.Join(t.TempDir(), "x.svg"), width); err == nil || !strings.Contains(err.Error(), "#FFFFFF") {
		t.Errorf("error %v, want one for a white background", err)
	}
}
