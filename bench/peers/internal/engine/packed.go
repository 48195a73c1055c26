package engine

// Packed are strings of one width, one behind the other: going over them costs
// next to nothing, and the garbage collector has no pointers to follow.
type Packed struct {
	Data  []byte
	Width int
	N     int
}

// Pack packs strings of one width, in their order.
func Pack(strings [][]byte) Packed {
	p := Packed{N: len(strings)}
	if p.N > 0 {
		p.Width = len(strings[0])
	}
	p.Data = make([]byte, 0, p.N*p.Width)
	for _, s := range strings {
		p.Data = append(p.Data, s...)
	}
	return p
}

// PackSome packs the strings of the indexes, in the order of these.
func PackSome(strings [][]byte, indexes []int) Packed {
	some := make([][]byte, len(indexes))
	for n, i := range indexes {
		some[n] = strings[i]
	}
	return Pack(some)
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
