package command

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/codecs"
)

// writerFlags are the flags of all commands that write a table.
type writerFlags struct {
	bits            int    // -1: no filter
	tableFilter     string // as in package tablefilter
	filterName      string
	filterBaseLg    int
	filterPrefix    string // delimiter:TEXT or length:NUMBER; "": none
	blockSize       int64
	restartInterval int
	compression     string
	retained        bool // compression is the input's
	properties      bool
	concurrency     int
	given           func(flag string) bool // whether a flag of the command was given
}

var compressions = map[string]table.Codec{
	"none":    table.NoCompression,
	"snappy":  table.Snappy,
	"zstd":    codecs.Zstd,
	"zlib":    codecs.Zlib,
	"deflate": codecs.Deflate,
}

func compressionNames() []string { return slices.Sorted(maps.Keys(compressions)) }

func (f *writerFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.given = flags.Changed
	flags.VarP(cli.Parsed(&f.bits, "value", "10", parseBits), "bits", "b", "`bits` per key of the block filters, or none")
	flags.StringVar(&f.tableFilter, "table-filter", tablefilter.None, "`filter`: table-bloom:N, fuse:N or paged:N")
	cli.Complete(cmd, "table-filter", tablefilter.Kinds...)
	flags.StringVar(&f.filterName, "filter-name", "", "list the block filters under this `name` only")
	cli.Complete(cmd, "filter-name", "leveldb.BuiltinBloomFilter", "leveldb.BuiltinBloomFilter2")
	flags.StringVar(&f.filterPrefix, "filter-prefix", "", "filter key `prefix`: delimiter:TEXT or length:N")
	cli.Complete(cmd, "filter-prefix", "delimiter:", "length:")
	flags.IntVar(&f.filterBaseLg, "filter-base-lg", filter.DefaultBaseLg, "log2 of the bytes that a block filter covers")
	flags.Var(cli.Size(&f.blockSize, "4096", 1, maxBlockSize, fmt.Sprintf("1 to %d bytes, such as 4096 or 64KiB", maxBlockSize)), "block-size", "uncompressed `size` of a data block")
	cli.CountVar(flags, &f.restartInterval, "restart-interval", "", 16, "entries per restart point")
	flags.VarP(cli.Choice(&f.compression, "snappy", compressionNames()...), "compression", "c", text.OneOf(compressionNames()...))
	flags.BoolVar(&f.properties, "properties", false, "write RocksDB's properties block")
	flags.IntVar(&f.concurrency, "concurrency", runtime.NumCPU(), "number of goroutines that compress blocks")
	cli.ExplainIn(cmd, "filters", "filter-name", "filter-prefix", "filter-base-lg")
	cli.ExplainIn(cmd, "tables", "restart-interval", "properties", "concurrency")
}

// parseBits parses a number of bits, or none, which is -1.
func parseBits(s string) (int, error) {
	if s == "none" {
		return -1, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxBits {
		return 0, fmt.Errorf("not 1 to %d or none", maxBits)
	}
	return n, nil
}

// errNoOutputTable is the error for a missing -o, in commands that can write to standard output.
var errNoOutputTable = cli.UsageErrorf("missing -o OUT (use - for standard output)")

// options returns the options of the Writer.
func (f *writerFlags) options(internal bool, order table.Comparer, stderr io.Writer) (*table.WriterOptions, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	o := &table.WriterOptions{
		FilterBaseLg: f.filterBaseLg, Properties: f.properties, BlockSize: int(f.blockSize), RestartInterval: f.restartInterval,
		Compression: compressions[f.compression], Concurrency: f.concurrency, Comparer: order,
	}
	if internal {
		o.Comparer = table.InternalComparer(order)
	}
	return o, f.filters(o, stderr)
}

// Upper limits of the flags.
const (
	maxBits            = 1000 // per key; much more than useful
	maxBlockSize       = 512 << 20
	maxBaseLg          = 30
	maxRestartInterval = math.MaxInt32
	maxFilterName      = 1024 // as in package table
)

// check checks the flags, so that errors name the flags and not the fields of the library.
func (f *writerFlags) check() error {
	if n := len(f.filterName); n > maxFilterName {
		return cli.UsageErrorf("--filter-name has %d bytes, more than %d", n, maxFilterName)
	}
	return cmp.Or(
		cli.CheckRange("--filter-base-lg", f.filterBaseLg, 1, maxBaseLg),
		cli.CheckRange("--restart-interval", f.restartInterval, 1, maxRestartInterval),
		cli.CheckRange("--concurrency", f.concurrency, 1, 1024),
	)
}

// filters sets the filter policies.
func (f *writerFlags) filters(o *table.WriterOptions, stderr io.Writer) (err error) {
	if f.bits > 0 {
		o.FilterPolicy = filter.NewBloom(f.bits)
		if f.filterName != "" {
			o.FilterPolicy = filter.Rename(o.FilterPolicy, f.filterName)
		}
	}
	if o.TableFilterPolicy, err = tablefilter.Parse(f.tableFilter); err != nil {
		return cli.UsageErrorf("--table-filter is %w", err)
	}
	if o.TableFilterPolicy != nil {
		o.TableFilterPolicy = tablefilter.Checked{TablePolicy: o.TableFilterPolicy, Stderr: stderr}
	}
	if f.filterPrefix == "" {
		return nil
	}
	if o.FilterPolicy == nil && o.TableFilterPolicy == nil {
		return cli.UsageErrorf("--filter-prefix needs filters: use --bits or --table-filter")
	}
	o.FilterPrefix, err = filterPrefixOf(f.filterPrefix)
	return err
}

// notRepaired maps compressions to engines that lack them. When these engines repair a database, they drop such
// tables silently: C++ LevelDB moves them away, and goleveldb deletes them.
var notRepaired = map[string]string{
	"zstd":    "C++ LevelDB ≤ 1.23",
	"zlib":    "C++ LevelDB",
	"deflate": "C++ LevelDB",
}

// prefixerNames is the start of the names of the Prefixers that --filter-prefix supports. The rest is the flag's
// value.
const prefixerNames = "sievetable.prefix."

// filterPrefixOf returns the Prefixer for a value of --filter-prefix. An empty delimiter or a length < 1 is an error,
// since no key would have a prefix.
func filterPrefixOf(value string) (filter.Prefixer, error) {
	if escaped, found := strings.CutPrefix(value, "delimiter:"); found {
		if delimiter, err := printable.Unescape(escaped); err == nil && len(delimiter) > 0 {
			return filter.PrefixUntil(string(delimiter)), nil
		}
	}
	digits, found := strings.CutPrefix(value, "length:")
	if n, err := strconv.Atoi(digits); found && err == nil && n > 0 && strconv.Itoa(n) == digits {
		return filter.PrefixOfLength(n), nil
	}
	return nil, cli.UsageErrorf("--filter-prefix is %s, not delimiter:TEXT, such as delimiter:/, or length:BYTES with 1 byte or more", format.Quote([]byte(value)))
}
