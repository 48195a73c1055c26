package command

import (
	"cmp"
	"io"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/bloom"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
	"github.com/sievetable/sievetable/table/layout"
)

// showRetainedDefaults makes the help show that the defaults of these flags come from FILE.
func showRetainedDefaults(flags *pflag.FlagSet) {
	for _, name := range []string{"bits", "table-filter", "filter-base-lg", "filter-prefix", "compression", "properties", "block-size", "restart-interval"} {
		flags.Lookup(name).DefValue = "as in FILE"
	}
}

// showUsualDefaults makes the help show that an input can have other settings, which are kept.
func showUsualDefaults(flags *pflag.FlagSet) {
	for _, name := range []string{"bits", "table-filter", "compression", "block-size"} {
		f := flags.Lookup(name)
		f.DefValue = "usually " + f.DefValue
	}
}

// retainSettings sets the flags that were not given to the settings of a table. The settings come from a file, so
// they are limited: blocks, the index and the filter offsets must not take much more than most bytes.
func (f *writerFlags) retainSettings(s *tablestats.Stats, most int64) {
	byBlocks, whole := -1, tablefilter.None
	for _, filter := range s.Filters {
		switch {
		case filter.WholeTable:
			whole = retainedTableFilter(filter)
		case filter.NonEmpty == 0: // an empty table does not tell its bits per key
			byBlocks = f.bits
		default:
			byBlocks = retainedBits(filter)
			retain(f.given("filter-base-lg"), &f.filterBaseLg, retainedBaseLg(filter, s.DataRaw, most))
		}
	}
	retain(f.given("bits"), &f.bits, byBlocks)
	retain(f.given("table-filter"), &f.tableFilter, whole)
	retain(f.given("compression"), &f.compression, retainedCompression(s))
	retain(f.given("properties") || s.TableProperties == nil, &f.properties, true)
	retain(f.given("block-size"), &f.blockSize, retainedBlockSize(s, most))
	noFilters := f.bits <= 0 && f.tableFilter == tablefilter.None
	retain(f.given("filter-prefix") || noFilters, &f.filterPrefix, retainedFilterPrefix(s.TableProperties))
	retain(f.given("restart-interval"), &f.restartInterval, s.Estimate.RestartInterval(s.TableProperties))
}

// retain sets a flag to the value of a table, unless it was given.
func retain[T any](given bool, flag *T, value T) {
	if !given {
		*flag = value
	}
}

// retainedBlockSize returns the block size in the properties, or else the estimated one, within limits. A single data
// block stays single. If blocks of that size could have one entry each, and the index would then take more than most
// bytes, it returns a larger size.
func retainedBlockSize(s *tablestats.Stats, most int64) int64 {
	const byDefault = 4096
	written := cmp.Or(s.Estimate.BlockSize(s.TableProperties), max(byDefault, uint64(s.DataRaw)))
	size := int64(min(written, uint64(most)))
	if s.Entries == 0 {
		return size
	}
	perBlock := s.KeyBytes/int64(s.Entries) + indexEntryOverhead
	if int64(s.Entries)*perBlock <= most {
		return size
	}
	return min(max(size, s.DataRaw/(most/perBlock+1)), most)
}

// retainedBaseLg returns the base logarithm of the block filters, or the smallest one with
// which the filter offsets take at most most bytes. There is an offset of 4 bytes for each
// range of the file.
func retainedBaseLg(f tablestats.FilterStats, dataRaw, most int64) int {
	lg := min(max(f.BaseLg, 1), maxBaseLg)
	for lg < maxBaseLg && 4*(dataRaw>>lg) > most {
		lg++
	}
	return lg
}

// retainedTableFilter returns the name of a table filter like the one of FILE.
func retainedTableFilter(f tablestats.FilterStats) string {
	switch {
	case f.FingerprintBits > 0:
		return tablefilter.Fuse(f.FingerprintBits)
	case f.Name == paged.Policy{}.Name():
		return tablefilter.Paged(retainedPagedBits(f))
	case f.BitsPerKey > 0:
		return tablefilter.TableBloom(retainedLineBits(f))
	}
	return tablefilter.TableBloom(retainedBits(f))
}

// retainedPagedBits returns the bits per key of a paged filter.
func retainedPagedBits(f tablestats.FilterStats) int {
	return bitsLike(f, paged.Policy{}.BitsPerKey(), tablefilter.MaxPagedBits, func(bitsPerKey int) (k int, size uint64) {
		p, _ := paged.New(bitsPerKey) // always in range
		return p.K(), p.Size(uint64(f.Keys))
	})
}

// retainedLineBits returns the bits per key of a filter.TableBloom.
func retainedLineBits(f tablestats.FilterStats) int {
	const usual, trailer = 10, 5
	keys := uint64(math.Round(8 * float64(f.Bytes-trailer) / f.BitsPerKey))
	return bitsLike(f, usual, maxBits, func(bitsPerKey int) (k int, size uint64) {
		p := filter.NewTableBloom(bitsPerKey)
		return p.K(), uint64(p.Size(keys))
	})
}

// bitsLike returns the fewest bits per key, up to most, with at least the k and the size of a table filter. If the
// usual number gives exactly these, it returns that. shape returns the k and size for a number of bits.
func bitsLike(f tablestats.FilterStats, usual, most int, shape func(bitsPerKey int) (k int, size uint64)) int {
	if k, size := shape(usual); k == f.KMax && size == f.Bytes {
		return usual
	}
	highest, _ := shape(most)
	return 1 + sort.Search(most-1, func(i int) bool {
		k, size := shape(i + 1)
		return k >= min(f.KMax, highest) && size >= f.Bytes
	})
}

// retainedBits returns the bits per key that FILE was probably written with: the number
// closest to the actual bits per key that gives its k. The actual number is larger in
// filters of few keys.
func retainedBits(f tablestats.FilterStats) int {
	k := min(f.KMax, bloom.MaxK)
	least := 1 + sort.Search(maxBits, func(i int) bool { return bloom.K(uint64(i+1)) >= k })
	most := max(least, sort.Search(maxBits, func(i int) bool { return bloom.K(uint64(i+1)) > k }))
	return int(min(max(math.Round(f.BitsPerKey), float64(least)), float64(most)))
}

// retainedCompression returns the compression of most of the compressed data blocks. If all of them are stored as they
// are, as small or random blocks can be with any compression, it returns the index's.
func retainedCompression(s *tablestats.Stats) string {
	name := mainCompression(s.Compression)
	if name == "none" && compressions[s.Index.Compression] != nil {
		return s.Index.Compression
	}
	return name
}

// mainCompression returns the compression of most of the compressed blocks.
func mainCompression(compression map[string]int) string {
	best := "none"
	for _, name := range slices.Sorted(maps.Keys(compression)) {
		if name != "none" && (best == "none" || compression[name] > compression[best]) {
			best = name
		}
	}
	return best
}

// The numbers of tables in a database, and of blocks in each, that are sampled for its compression.
const sampledTables, sampledBlocks = 16, 4

// retainCompression sets --compression, unless it was given, to the most frequent one in blocks of databases.
// Programs that use the databases may not read others.
func (f *writerFlags) retainCompression(all []*source.Source) {
	if f.given("compression") {
		return
	}
	blocks := map[string]int{}
	for _, s := range all {
		tables := 0
		for file := range s.Files() {
			sampleCompression(file, blocks)
			if tables++; tables == sampledTables {
				break
			}
		}
		for name, n := range s.Compressions {
			blocks[name] += n
		}
	}
	if name := mainCompression(blocks); len(blocks) > 0 && compressions[name] != nil {
		f.compression, f.retained = name, true
	}
}

// sampleCompression counts some data blocks of a table by their compressions, and its index if that is compressed: a
// small index, as of a table without entries, can be stored as it is with any compression.
func sampleCompression(file *dbfile.File, blocks map[string]int) {
	if file.Reader == nil || file.IsSorted() { // sorted entries are not stored as in the file
		return
	}
	l, err := file.Reader.Layout()
	if err != nil {
		return // reading the table reports the error
	}
	sample := []layout.Handle{l.Index}
	n := min(sampledBlocks, len(l.Data))
	for i := range n {
		at := uint64(i) * uint64(len(l.Data)) / uint64(n) // an int can have 32 bits
		sample = append(sample, l.Data[at].Handle)
	}
	for _, h := range sample {
		if _, id, err := l.ReadBlock(h); err == nil && (h != l.Index || id != table.NoCompression.ID()) {
			blocks[tablestats.Compression(file, h, id)]++
		}
	}
}

// retainedFilterPrefix returns the value of --filter-prefix for a table's Prefixer, or "" if there is none.
func retainedFilterPrefix(p *layout.Properties) string {
	if p == nil {
		return ""
	}
	name, found := strings.CutPrefix(p.FilterPrefix, prefixerNames)
	value := printable.Escape([]byte(name))
	if _, err := filterPrefixOf(value); err != nil || !found {
		return ""
	}
	return value
}

// notePrefixLoss prints a note if the filters of f contain prefixes, but those of the new table do not.
func (w *writerFlags) notePrefixLoss(stderr io.Writer, f *dbfile.File) {
	if p, err := f.Reader.Properties(); err == nil && p.FilterPrefix != "" && w.filterPrefix == "" {
		text.Note(stderr, "the new table's filters contain no prefixes, unlike the old table's (%s): use --filter-prefix", printable.Escape([]byte(p.FilterPrefix)))
	}
}
