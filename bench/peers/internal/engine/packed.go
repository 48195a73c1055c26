package engine

// Packed are strings of one width, one behind the other: going over them costs
// next to nothing, and the garbage collector has no pointers to follow.
type Packed struct {
	Data  []byte
	Width int
	N     int
}

// Pack packs strings of one width in the order of indexes, or their own if it is
// nil.
func Pack(strings [][]byte, order []int) Packed {
	p := Packed{N: len(strings)}
	if p.N == 0 {
		return p
	}
	p.Width = len(strings[0])
	p.Data = make([]byte, 0, p.N*p.Width)
	for i := range strings {
		if order != nil {
			i = order[i]
		}
		p.Data = append(p.Data, strings[i]...)
	}
	return p
}

// At returns string i.
func (p *Packed) At(i int) []byte {
	return p.Data[i*p.Width : (i+1)*p.Width : (i+1)*p.Width]
}

// Slice returns the strings from i to below j.
func (p *Packed) Slice(i, j int) Packed {
	return Packed{Data: p.Data[i*p.Width : j*p.Width], Width: p.Width, N: j - i}
}

// Pairs are a table's contents, in order.
type Pairs struct {
	Keys, Values Packed
}

// Bytes returns the size of keys and values.
func (p *Pairs) Bytes() int64 {
	return int64(len(p.Keys.Data) + len(p.Values.Data))
}

// Append gives all pairs to a writer's method, in order.
func (p *Pairs) Append(to func(key, value []byte) error) error {
	for i := range p.Keys.N {
		if err := to(p.Keys.At(i), p.Values.At(i)); err != nil {
			return err
		}
	}
	return nil
}
