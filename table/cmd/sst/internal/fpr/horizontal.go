package fpr

import "strconv"

// A horizontal is the axis from left to right: how full filters are or, in a sweep, their k.
type horizontal struct {
	from, to float64
	of       func(Point) float64
	ticks    []horizontalTick
	line     float64 // where an upright line is
}

// A horizontalTick is a place on the axis, and what is below it.
type horizontalTick struct {
	at    float64
	words string
}

// horizontal returns the axis of a panel, whose filters have this k unless it is swept.
func (c Config) horizontal(k int) horizontal {
	if !c.K.isNone() {
		return c.K.horizontal(k)
	}
	h := horizontal{to: float64(maxLoadTenths) / 10, of: func(p Point) float64 { return p.Load }, line: 1}
	for i, words := range []string{"empty", "half full", "full", "1.5 × full"} {
		h.ticks = append(h.ticks, horizontalTick{float64(i) / 2, words})
	}
	return h
}

// horizontal returns the axis of a sweep.
func (k Sweep) horizontal(own int) horizontal {
	h := horizontal{from: float64(k.From) - 0.5, to: float64(k.To), of: func(p Point) float64 { return float64(p.K) }, line: float64(own)}
	words, every := "k = ", 1+(k.To-k.From)/12 // so that they do not touch
	for i := k.From; i <= k.To; i++ {
		if i%every == 0 {
			h.ticks = append(h.ticks, horizontalTick{float64(i), words + strconv.Itoa(i)})
			words = ""
		}
	}
	return h
}

// dotShift returns the distance between the dots of two shapes.
func (h horizontal) dotShift() float64 { return (h.to - h.from) / 107 }
