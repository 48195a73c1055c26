package blocked

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"sync/atomic"
)

const (
	growingMagic     = "SieveGro"
	growingVersion   = 1
	growingHeaderLen = 36 // with its checksum
	linkEndLen       = 20 // with its checksum

	// maxLinks is more than fit in memory: each link is for at least twice the keys of the one before.
	maxLinks = 32
)

// Size returns the length in bytes of the stored filter, about the memory that it takes.
func (g *Growing) Size() int64 { return g.chain.Load().size() }

func (c *chain) size() int64 {
	size := int64(growingHeaderLen)
	for i := range c.links {
		size += c.links[i].Size() + linkEndLen
	}
	return size
}

// WriteTo writes the filter to w, for [ReadGrowing]. It contains all keys whose Add returned before the call, and
// may contain keys that are added during the call. WriteTo takes 64 KiB of memory.
func (g *Growing) WriteTo(w io.Writer) (int64, error) {
	c := g.chain.Load()
	written, err := writeBytes(w, c.appendHeader(nil))
	for i := 0; i < len(c.links) && err == nil; i++ {
		var n int64
		n, err = c.links[i].writeTo(w)
		written += n
	}
	return written, err
}

func (c *chain) appendHeader(b []byte) []byte {
	b = append(b, growingMagic...)
	b = binary.LittleEndian.AppendUint32(b, growingVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.links)))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c.rate))
	return appendSum(binary.LittleEndian.AppendUint64(b, math.Float64bits(c.rest)))
}

func (l *link) writeTo(w io.Writer) (int64, error) {
	written, err := l.WriteTo(w)
	if err != nil {
		return written, err
	}
	b := binary.LittleEndian.AppendUint64(nil, l.room)
	b = binary.LittleEndian.AppendUint64(b, l.keys.Load()) // at least the keys whose bits were written
	n, err := writeBytes(w, appendSum(b))
	return written + n, err
}

func (f *Filter) bits() uint64 { return lineSize * 8 * uint64(len(f.lines)) }

// ReadGrowing returns a filter that resumes from the output of [Growing.WriteTo]. Errors and memory are as for
// [Read].
func ReadGrowing(r io.Reader) (*Growing, error) {
	buffer := make([]byte, chunkLines*lineSize)
	header := buffer[:growingHeaderLen]
	if err := readSummed(r, header, growingMagic, "header"); err != nil {
		return nil, err
	}
	c, links, err := parseGrowingHeader(header)
	for ; links > 0 && err == nil; links-- {
		var l link
		l, err = readLink(r, buffer)
		c.links = append(c.links, l)
	}
	if err != nil {
		return nil, err
	}
	g := new(Growing)
	g.chain.Store(c)
	return g, nil
}

// parseGrowingHeader returns a chain without links, and the number of links that follow.
func parseGrowingHeader(header []byte) (c *chain, links uint32, err error) {
	version, links := binary.LittleEndian.Uint32(header[8:]), binary.LittleEndian.Uint32(header[12:])
	if version != growingVersion {
		return nil, 0, fmt.Errorf("blocked: growing filter of version %d, not %d: update this package",
			version, growingVersion)
	}
	if links < 1 || links > maxLinks {
		return nil, 0, fmt.Errorf("blocked: growing filter of %d filters: must be 1 to %d", links, maxLinks)
	}
	rate := math.Float64frombits(binary.LittleEndian.Uint64(header[16:]))
	rest := math.Float64frombits(binary.LittleEndian.Uint64(header[24:]))
	least := rate / 17 * math.Pow(1-share, float64(links)) // Grow leaves ≥ 1/16, and each later link 3/4 of the rest
	if !(rest >= least && rest <= rate) {
		return nil, 0, fmt.Errorf("blocked: growing filter of %d filters with %g left of a rate of %g: must be at least %.3g",
			links, rest, rate, least)
	}
	return &chain{rate: rate, rest: rest}, links, checkRate(rate)
}

// readLink reads a filter and the numbers after it.
func readLink(r io.Reader, buffer []byte) (link, error) {
	f, err := read(r, buffer)
	if err != nil {
		return link{}, err
	}
	end := buffer[:linkEndLen]
	if err := readSummed(r, end, "", "numbers"); err != nil {
		return link{}, err
	}
	l, keys := link{*f, binary.LittleEndian.Uint64(end), new(atomic.Uint64)}, binary.LittleEndian.Uint64(end[8:])
	l.keys.Store(keys)
	// A larger room would let the file dictate the size of the next filter.
	if most := f.bits(); l.room > most || keys > maxKeys {
		return link{}, fmt.Errorf("blocked: filter for %d keys, with %d keys (maximum %d and %d)",
			l.room, keys, most, uint64(maxKeys))
	}
	return l, nil
}
