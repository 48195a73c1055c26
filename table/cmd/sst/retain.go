package main

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

// showRetainedDefaults has the help say of the flags that retain sets what their defaults are.
func showRetainedDefaults(flags *pflag.FlagSet) {
	for _, name := range []string{"bits", "table-bits", "filter-base-lg", "compression", "properties", "block-size", "restart-interval"} {
		flags.Lookup(name).DefValue = "as in FILE"
	}
}

// retainSettings sets the flags that were not given to what the table has. Nobody has asked for
// these values, and so they are such that the new table can be written, with no block, index
// or array of filters of much more than most bytes for them.
func (f *writerFlags) retainSettings(s *tablestats.Stats, most int64, given func(name string) bool) {
	set := func(name string, to *int, value int) {
		if !given(name) {
			*to = value
		}
	}
	byBlocks, whole := -1, -1
	for _, filter := range s.Filters {
		switch {
		case filter.WholeTable:
			whole = retainedBits(filter)
		case filter.NonEmpty == 0: // of an empty table: they do not tell how many bits a key had
			byBlocks = f.bits
		default:
			byBlocks = retainedBits(filter)
			set("filter-base-lg", &f.filterBaseLg, retainedBaseLg(filter, s.DataRaw, most))
		}
	}
	set("bits", &f.bits, byBlocks)
	set("table-bits", &f.tableBits, whole)
	if !given("compression") {
		f.compression = mainCompression(s.Compression)
	}
	p := s.TableProperties
	if p == nil {
		return
	}
	if !given("properties") {
		f.properties = true
	}
	if p.BlockSize > 0 && !given("block-size") {
		f.blockSize = strconv.FormatInt(retainedBlockSize(s, most), 10)
	}
	if n := p.RestartInterval; n > 0 {
		set("restart-interval", &f.restartInterval, int(min(n, maxRestartInterval)))
	}
}

// retainedBlockSize is what the properties say. A size that makes blocks of single entries, where
// the table has none such, would make an index that is too large.
func retainedBlockSize(s *tablestats.Stats, most int64) int64 {
	size := int64(min(s.TableProperties.BlockSize, uint64(most)))
	if s.Entries == 0 {
		return size
	}
	perBlock := s.KeyBytes/int64(s.Entries) + indexEntryOverhead
	if int64(s.Entries)*perBlock <= most {
		return size
	}
	return min(max(size, s.DataRaw/(most/perBlock+1)), most)
}

// retainedBaseLg is that of the filters, or the least with which the array of their offsets has
// at most so many bytes: 4 for each range of the file.
func retainedBaseLg(f tablestats.FilterStats, dataRaw, most int64) int {
	lg := min(max(f.BaseLg, 1), maxBaseLg)
	for lg < maxBaseLg && 4*(dataRaw>>lg) > most {
		lg++
	}
	return lg
}

// retainedBits is how many bits per key were asked for: what k allows, and is next to what
// there is. A filter of few keys has more than were asked for.
func retainedBits(f tablestats.FilterStats) int {
	const mostProbes = 30 // for any number of bits
	k := min(f.KMax, mostProbes)
	least := (100*k + 68) / 69
	most := (100*(k+1) - 1) / 69
	if k == mostProbes {
		most = maxBits
	}
	if k <= 1 {
		least = 1
	}
	return int(min(max(math.Round(f.BitsPerKey), float64(least)), float64(most)))
}

// mainCompression is the compression of most blocks that are compressed.
func mainCompression(compression map[string]int) string {
	best := "none"
	for _, name := range slices.Sorted(maps.Keys(compression)) {
		if name != "none" && (best == "none" || compression[name] > compression[best]) {
			best = name
		}
	}
	return best
}
