package theme

import (
	"image/color"
	"math"
	"testing"
)

// linear returns the linear intensities of the parts of a color, 0 to 1.
func linear(c color.NRGBA) (parts [3]float64) {
	for i, v := range [3]uint8{c.R, c.G, c.B} {
		parts[i] = float64(v) / 255
		if parts[i] <= 0.04045 {
			parts[i] /= 12.92
		} else {
			parts[i] = math.Pow((parts[i]+0.055)/1.055, 2.4)
		}
	}
	return parts
}

// contrast returns WCAG's contrast ratio, 1 to 21.
func contrast(a, b color.NRGBA) float64 {
	luminance := func(c color.NRGBA) float64 {
		l := linear(c)
		return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] + 0.05
	}
	la, lb := luminance(a), luminance(b)
	return max(la, lb) / min(la, lb)
}

// Text is legible and shapes are visible on GitHub's pages.
func TestContrast(t *testing.T) {
	t.Parallel()
	least := map[string]float64{"ink": 7, "faint": 4.5, "grid": 1.1}
	for _, r := range roles {
		want := 3.0
		if l, ok := least[r.name]; ok {
			want = l
		}
		if got := contrast(r.light, rgb(0xffffff)); got < want {
			t.Errorf("%s on white: contrast %.2f, want ≥ %v", r.name, got, want)
		}
		if got := contrast(r.dark, rgb(0x0d1117)); got < want {
			t.Errorf("%s on a dark page: contrast %.2f, want ≥ %v", r.name, got, want)
		}
	}
}

// Apply recognizes a color whatever its opacity was.
func TestRolesDiffer(t *testing.T) {
	t.Parallel()
	for _, r := range roles {
		for _, opacity := range []uint8{0xff, 0x80, 0x40, 0x10} {
			c := r.light
			c.A = opacity
			red, green, blue, alpha := c.RGBA()
			scale := 255 / float64(alpha) // as vgsvg does it
			written := color.NRGBA{R: uint8(float64(red) * scale), G: uint8(float64(green) * scale), B: uint8(float64(blue) * scale), A: 0xff}
			if got, ok := roleOf(written); !ok || got.name != r.name {
				t.Errorf("%s with opacity %d is written %v, and read as %q", r.name, opacity, written, got.name)
			}
		}
	}
}

// blindness has the colors that readers without red, green or blue cones see (Machado, Oliveira and Fernandes 2009).
var blindness = map[string][3][3]float64{
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// lab returns the visible color in CIELAB, where distances match perception.
func lab(c color.NRGBA, seen [3][3]float64) [3]float64 {
	l := linear(c)
	var s [3]float64
	for i, row := range seen {
		s[i] = min(1, max(0, row[0]*l[0]+row[1]*l[1]+row[2]*l[2]))
	}
	x := math.Cbrt((0.4124*s[0] + 0.3576*s[1] + 0.1805*s[2]) / 0.9505)
	y := math.Cbrt(0.2126*s[0] + 0.7152*s[1] + 0.0722*s[2])
	z := math.Cbrt((0.0193*s[0] + 0.1192*s[1] + 0.9505*s[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func TestSeriesForColorBlindReaders(t *testing.T) {
	t.Parallel()
	for i, a := range Series {
		for _, b := range Series[:i] {
			first, _ := roleOf(a)
			second, _ := roleOf(b)
			for name, seen := range blindness {
				for page, d := range map[string]float64{
					"light": distance(lab(first.light, seen), lab(second.light, seen)),
					"dark":  distance(lab(first.dark, seen), lab(second.dark, seen)),
				} {
					if d < 14 {
						t.Errorf("%s and %s differ by %.1f on a %s page with %s, want ≥ 14", first.name, second.name, d, page, name)
					}
				}
			}
		}
	}
}

func distance(a, b [3]float64) float64 {
	return math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
}
