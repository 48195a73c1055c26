package rates

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/vg"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/theme"
)

var noError = errtest.NoError

// charts are configurations from a single line to many.
var charts = map[string]func(*Config){
	"two numbers of bits":       func(*Config) {},
	"one number of bits":        func(c *Config) { c.Bits = []int{10} },
	"a single line":             func(c *Config) { c.Bits, c.Shapes = []int{10}, []string{"random"} },
	"six, some never seen":      func(c *Config) { c.Bits = []int{1, 4, 8, 10, 30, 100} },
	"filters that are too full": func(c *Config) { c.Bits, c.Keys, c.Lookups = []int{1, 2}, 20, 100 },
	"all policies":              func(c *Config) { c.Policies, c.Bits = Policies(), []int{4, 8, 16} },
	"planned":                   func(c *Config) { c.Policies, c.Rate = Policies(), 0.01 },
	"filters of one key":        func(c *Config) { c.Keys, c.Policies, c.Bits = 1, Policies(), []int{4, 10} },
	"filters of seven keys":     func(c *Config) { c.Keys, c.Policies, c.Bits = 7, Policies(), []int{4, 10} },
	"sweeps of many k":          func(c *Config) { c.K, c.Width = Sweep{1, 24}, 390 },
	"sweeps of large k":         func(c *Config) { c.K, c.Policies = Sweep{10, 21}, []string{"bloom", "table-bloom", "independent"} },
	"sweeps of a few k":         func(c *Config) { c.K, c.Shapes, c.Width = Sweep{1, 13}, []string{"random"}, 340 },
	"sweep of k":                func(c *Config) { c.K = Sweep{1, 16} },
	"all k, three policies":     func(c *Config) { c.K, c.Policies = Sweep{1, 30}, []string{"bloom", "table-bloom", "independent"} },
	"two k":                     func(c *Config) { c.K, c.Own = Sweep{29, 30}, numbered(400) },
	"own keys":                  func(c *Config) { c.Own, c.Shapes = numbered(900), nil },
	"for a phone":               func(c *Config) { c.Width = 340 },
	"all policies, for a phone": func(c *Config) { c.Policies, c.Bits, c.Width = Policies(), []int{4, 10}, 390 },
	"a sweep, for a phone":      func(c *Config) { c.K, c.Width = Sweep{1, 30}, 390 },
	"of some width":             func(c *Config) { c.Policies, c.Bits, c.Width = Policies(), []int{4, 8}, 1000 },
	"own keys and all others":   func(c *Config) { c.Own, c.Policies, c.Bits = numbered(900), []string{"bloom", "fuse"}, []int{10} },
}

func chartOf(t *testing.T, change func(*Config)) (chart string, c Config) {
	t.Helper()
	c = small
	change(&c)
	var out bytes.Buffer
	noError(t, WriteSVG(&out, c, measure(t, c)))
	return out.String(), c
}

// A textBox is a text with its bounding box in any usual font.
type textBox struct {
	text                     string
	left, right, top, bottom float64
}

var (
	size     = regexp.MustCompile(`<svg width="([0-9.]+)" height="([0-9.]+)"`)
	fontSize = regexp.MustCompile(`font-size:([0-9.]+)px`)
)

// textBoxes returns the texts of a chart, which must be well-formed.
func textBoxes(t *testing.T, chart string) []textBox {
	t.Helper()
	var svg struct {
		Groups []struct {
			Texts []struct {
				X      float64 `xml:"x,attr"`
				Y      float64 `xml:"y,attr"`
				Anchor string  `xml:"text-anchor,attr"`
				Style  string  `xml:"style,attr"`
				Text   string  `xml:",chardata"`
			} `xml:"text"`
		} `xml:"g"`
	}
	noError(t, xml.Unmarshal([]byte(chart), &svg))
	var all []textBox
	for _, g := range svg.Groups {
		for _, text := range g.Texts {
			px := 0.0
			fmt.Sscan(fontSize.FindStringSubmatch(text.Style)[1], &px)
			width := float64(styled(vg.Length(px), theme.Ink).Width(text.Text))
			left := text.X - width*map[string]float64{"": 0, "middle": 0.5, "end": 1}[text.Anchor]
			// y is the baseline, with the y axis upwards, and is negative
			all = append(all, textBox{text.Text, left, left + 1.1*width, -text.Y + 0.7*px, -text.Y - 0.2*px})
		}
	}
	return all
}

func (a textBox) touches(b textBox) bool {
	return a.left < b.right && b.left < a.right && a.bottom < b.top && b.bottom < a.top
}

// In any chart, no texts touch or leave the chart, each policy and number of bits has a panel, and each line has
// a label.
func TestCharts(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for name, change := range charts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chart, c := chartOf(t, change)
			boxes := textBoxes(t, chart)
			var width, height float64
			fmt.Sscan(strings.Join(size.FindStringSubmatch(chart)[1:], " "), &width, &height)
			if c.Width != 0 && width != float64(c.Width) {
				t.Errorf("the chart is %.0f wide, want %d", width, c.Width)
			}
			for i, a := range boxes {
				if a.left < 0 || a.right > width || a.bottom < 0 || a.top > height {
					t.Errorf("%q is from %.0f to %.0f, %.0f to %.0f in a chart of %.0f × %.0f", a.text, a.left, a.right, a.bottom, a.top, width, height)
				}
				for _, b := range boxes[:i] {
					if a.touches(b) {
						t.Errorf("%q and %q touch", a.text, b.text)
					}
				}
			}
			panels := max(1, len(c.Bits)) * len(c.Policies)
			if c.Rate > 0 {
				panels = len(c.Policies)
			}
			below := "1.5 × full" // at the end of the axis
			if !c.K.isNone() {
				below = "k = " // at its first tick
			}
			for _, s := range append(c.shapes(), keyShape{label: below}) {
				has := func(b textBox) bool {
					return b.text == s.label || b.text == s.label+": 0" || s.label == "k = " && strings.HasPrefix(b.text, s.label)
				}
				if n := len(slices.DeleteFunc(slices.Clone(boxes), func(b textBox) bool { return !has(b) })); n != panels {
					t.Errorf("%d labels %q, want %d", n, s.label, panels)
				}
			}
			if strings.Contains(chart, "NaN") || strings.Contains(chart, "Inf") {
				t.Error("the chart has a position that is no number")
			}
		})
	}
}

// A chart fits light and dark pages: it has no background and no fixed colors. Two runs draw the same chart.
func TestChartColors(t *testing.T) {
	t.Parallel()
	chart, _ := chartOf(t, charts["own keys and all others"])
	_, drawn, _ := strings.Cut(chart, "</style>")
	for _, declared := range regexp.MustCompile(`(fill|stroke):[^;"]*(;(fill|stroke):[^;"]*)?`).FindAllString(drawn, -1) {
		if !strings.Contains(declared, "var(--") && declared != "fill:none" && !strings.HasPrefix(declared, "fill:none;stroke:#") {
			t.Errorf("%s is no color of the theme", declared)
		}
	}
	for _, not := range []string{"<rect", "#FFFFFF", "#ffffff", "background"} {
		if strings.Contains(drawn, not) {
			t.Errorf("the chart has %s", not)
		}
	}
	if !strings.Contains(chart, "prefers-color-scheme:dark") {
		t.Error("the chart has no colors for dark pages")
	}
	if again, _ := chartOf(t, charts["own keys and all others"]); again != chart {
		t.Error("the chart is not the same twice")
	}
}

// The title states the finding with the measured numbers.
func TestFinding(t *testing.T) {
	t.Parallel()
	of := func(policy string, bits int, rates ...float64) panel {
		p := panel{policy: policyOf(policy), bits: bits}
		for _, r := range rates {
			p.series = append(p.series, series{points: []Point{{Keys: 1, Mean: 2 * r}, {Keys: 3, Mean: 3 * r}, {Keys: 4, Mean: 4 * r}, {Keys: 20, Mean: r}, {Keys: 30, Mean: 5 * r}}})
		}
		return p
	}
	for _, tt := range []struct {
		keys   int
		panels []panel
		want   string
	}{
		{20, []panel{of("bloom", 4, 0.2), of("bloom", 12, 0.00849, 0.0119)}, "A full filter of 12 bits per key lets 0.85–1.2 % of the absent keys through; with 1.5 times as many keys, 4.2–6.0 %"},
		{20, []panel{of("bloom", 10, 0, 0.00001)}, "A full filter of 10 bits per key lets 0–0.0010 % of the absent keys through; with 1.5 times as many keys, 0–0.0050 %"},
		{20, []panel{of("fuse", 8, 0)}, "A full filter of fingerprints of 8 bits lets none of the absent keys through; with 1.5 times as many keys, none"},
		{20, []panel{of("bloom", 10, 0.01), of("fuse", 8, 0.0039, 0.00391)}, "Of the absent keys, full filters let through: LevelDB’s (10 bits) 1.0 %, fuse (8 bits) 0.39 %"},
		{1, []panel{of("bloom", 10, 0.01)}, "A full filter of 10 bits per key lets 2.0 % of the absent keys through"},
		{3, []panel{of("bloom", 10, 0.01)}, "A full filter of 10 bits per key lets 3.0 % of the absent keys through; with 4 keys in place of 3, 4.0 %"},
	} {
		c := Config{Keys: tt.keys}
		for _, p := range tt.panels {
			if !slices.Contains(c.Policies, p.policy.name) {
				c.Policies = append(c.Policies, p.policy.name)
			}
		}
		if diff := cmp.Diff(tt.want, c.finding(tt.panels)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// The band excludes the lowest and the highest tenth of the runs.
func TestBand(t *testing.T) {
	t.Parallel()
	var rates []float64
	for i := range 100 {
		rates = append(rates, float64(1+i*37%100)/1000)
	}
	got := Config{}.band([]Point{{Load: 1, Rates: rates}})
	if low, high := got[1].Y, got[0].Y; math.Abs(low-0.01) > 0.001 || math.Abs(high-0.09) > 0.001 {
		t.Errorf("the band is from %g to %g, want 0.01 to 0.09", low, high)
	}
}

// All panels list their labels in the same order, whatever the rates.
func TestLabelsInOrder(t *testing.T) {
	t.Parallel()
	chart, c := chartOf(t, charts["six, some never seen"])
	var shapes, want []string
	for _, s := range c.shapes() {
		shapes = append(shapes, s.label)
	}
	var got []string
	for _, b := range textBoxes(t, chart) {
		if name := strings.TrimSuffix(b.text, ": 0"); slices.Contains(shapes, name) {
			got = append(got, name)
		}
	}
	for range c.Bits {
		want = append(want, shapes...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}
