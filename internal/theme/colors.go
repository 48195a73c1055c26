// Package theme makes the project's charts look alike, and readable on light and dark pages.
//
// A chart is drawn by gonum.org/v1/plot, without a background and only in the colors of this package, and written by
// its vgsvg. Apply then gives each color a value for dark pages.
package theme

import "image/color"

// Colors of the parts of a chart. Text is drawn in Ink or Faint. Ours and OursToo are for the subject of the chart,
// and Peer for what it is compared with.
var (
	Ink     = rgb(0x1f2328)
	Faint   = rgb(0x59636e)
	Grid    = rgb(0xdde3e9)
	Ours    = rgb(0x0969da)
	OursToo = rgb(0x4f97ea)
	Peer    = rgb(0x737c86)
)

// Series are colors for unordered data. Color-blind readers can distinguish them too.
var Series = [6]color.NRGBA{Ours, rgb(0xb23c00), rgb(0x007a5a), rgb(0xb44a9c), rgb(0xad8a00), Ink}

// A role is a color's name, and its values on light and on dark pages.
type role struct {
	name        string
	light, dark color.NRGBA
}

var roles = []role{
	{"ink", Ink, rgb(0xe6edf3)},
	{"faint", Faint, rgb(0x9198a1)},
	{"grid", Grid, rgb(0x2a3038)},
	{"ours", Ours, rgb(0x58a6ff)},
	{"ours-too", OursToo, rgb(0x2f74c8)},
	{"peer", Peer, rgb(0x8b949e)},
	{"series-2", Series[1], rgb(0xf0743c)},
	{"series-3", Series[2], rgb(0x2ec4a0)},
	{"series-4", Series[3], rgb(0xe07cc4)},
	{"series-5", Series[4], rgb(0xe9d052)},
}

func rgb(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xff}
}

// roleOf returns the role of a color that vgsvg wrote. vgsvg multiplies the parts of a color and rounds them down,
// so that each can be less by 1. Black is gonum's default color.
func roleOf(c color.NRGBA) (role, bool) {
	if c == rgb(0) {
		return roles[0], true
	}
	for _, r := range roles {
		if r.light.R-c.R <= 1 && r.light.G-c.G <= 1 && r.light.B-c.B <= 1 {
			return r, true
		}
	}
	return role{}, false
}
