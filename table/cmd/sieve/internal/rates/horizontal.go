package rates

import "strconv"

// A horizontal is the axis from left to right: how full filters are or, in a sweep, their k.
type horizontal struct {
	from, to float64
	of       func(Point) float64
	ticks    []horizontalTick
	name     string  // stands before the first tick of a sweep, whose other ticks can be left out
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
	h.name = "k = "
	for i := k.From; i <= k.To; i++ {
		h.ticks = append(h.ticks, horizontalTick{float64(i), strconv.Itoa(i)})
	}
	return h
}

// dotShift returns the distance between the dots of two shapes.
func (h horizontal) dotShift() float64 { return (h.to - h.from) / 107 }

// each returns the ticks of a sweep at multiples of a number, the first one with the name.
func (h horizontal) each(every int) (ticks []horizontalTick) {
	name := h.name
	for _, t := range h.ticks {
		if h.name == "" || int(t.at)%every == 0 {
			ticks = append(ticks, horizontalTick{t.at, name + t.words})
			name = ""
		}
	}
	return ticks
}
