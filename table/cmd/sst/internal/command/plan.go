package command

import (
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/plan"
)

// planMemory is the memory that plan keeps to. Building a fuse filter of 10 million keys takes
// most of it.
const planMemory memory.Limit = 480 << 20

// planFlags are the flags of plan as they are typed.
type planFlags struct {
	keys, rate                                       string
	bits                                             int
	bitsGiven                                        bool
	keySize, valueSize, blockSize, tableSize, memory string
	compression, present                             float64
	entriesPerTable, requestPrice, corePrice         string
	json                                             bool
}

const planLong = `Plan tables for N keys: compare the filters that they can have, by memory, disk and
false positives, and name the command that builds the best ones. Give either a rate of
false positives or a number of bits per key.

The filters have the names that sst build and sst fpr have for them. "bloom:10" are LevelDB's
filters, one for each 2 KiB of the file, as --bits 10 writes them. The others are filters of whole
tables, as --table-filter writes them: "table-bloom:10" is RocksDB's, and "fuse:12" is a binary
fuse filter with fingerprints of 12 bits. "bloom:10+table-bloom:11" is both. The first tables of
the comparison have keys and values. The last have nothing but a filter, and can only be
asked whether a key may be there: see sst build --filter-only.

With -p RATE, each kind of filter has the fewest bits whose predicted and measured rates are both
low enough. With --bits B, it has B bits per key, half of them in each of the filters if there
are both. A kind that cannot reach the rate has as many bits as are of use. All fingerprints of
fuse filters are compared, and where one is chosen, it is the one that takes the fewest bits for
the rate, or the nearest number to B.

If tables with --block-size do not fit in --memory, or do not reach the rate, larger blocks
up to 1MiB are tried: they make the index smaller, and LevelDB's filters better. A lookup then
reads more. If no size of blocks fits, those that reach the rate with the least memory are
shown. The rate of a fuse filter is known, 2 to the power of -bits, and is measured to
see it confirmed.

Rates are measured in filters with the planned number of keys, by 2 to 10 million lookups of
absent keys. With a probability of 95 % the rate is within the ± beside it. Keys are random
ones, always the same: others can have higher rates in LevelDB's and RocksDB's filters, see
sst help fpr. Predicted rates are those of packages filter and fuse. If a table has both
filters, one hash decides both answers, and they err together more often than by chance: the
prediction counts this in, but not for tables of few keys. With 35 keys the measured rate can be
2.5 times the predicted one, and hundreds of times with one key. Fuse filters that are not chosen
are measured with at most a million keys.

A table has at most --entries-per-table keys and takes at most --table-size of disk, unless a
single key takes more with its value. By default it takes at most 64MB, and has at most a million
keys if it has keys and values. With --entries-per-table, the default of --table-size is 4GiB, so
that mostly keys alone count.
Tables with a table-bloom filter never have more than a million keys, as more have higher rates,
and those with a fuse filter never more than 10 million. All tables but the last are planned full.

Memory is what open tables use for filters and index, all of which are kept in memory. It
does not include a block cache, or the rest of a program. With --memory, the plan says how
many machines are needed: "none" has enough if a single table takes more. Disk is filters,
index and data blocks.

Sizes are those of random keys. A data block leaves out the few bytes that such a key shares with
the one before it. The index has a separator for each block, which ends with the first byte in
which the keys on both sides differ, or is a whole key if these bytes follow each other. Memory
counts it twice, since lookups make a search tree of the index. Keys that begin alike, such as
URLs, have smaller blocks and longer separators: disk is then smaller than planned, a filter of
blocks has more keys, and the index can take a fifth more or less. --compression is the compressed
size of a data block, as a share of its uncompressed size: 0.5 if compression halves it, 1 without
compression.

The costs are those of a set of tables in object storage, see package set, with the filters
that are asked for. One request opens a table, and all tables stay open. Then one request reads
the block of a present key, and that of a false positive. Other lookups take no request, and
those in filters without keys never do. Blocks are not cached. --present says how many of the
lookups are for present keys. The others err at the measured rate. If that is only known to be
less than a bound, the bound is counted, and a ≤ is shown.

A core-hour is an hour of one processor's time. Those of building are computed from times that
were measured with URLs of 64 bytes without values. sst build --sorted takes 0.6 s for a
million keys that are in order, and the pipeline of table/beam 3.7 s for a million that are
not, on one machine. With other filters it is up to a fifth less or more, and for filters without
keys about half. Longer keys and values take longer.

--request-price is the price of a million read requests, and --core-price that of a core-hour.
The plan has prices where one of these is given, in the same currency. They do not include
storage, writes, transfers, or the machines that answer. Costs are rounded to three significant
digits, but not the number of requests that open all tables. With --json, each kind of filter
has open_requests and requests_per_billion_lookups, and build has sorted_core_hours and
unsorted_core_hours. A price is beside each if one is given.

A plan takes mostly less than 5 seconds, but up to 20 for rates near 0.0001 %, and at most 600 MB
of memory.

N and --entries-per-table can be written as 10000000000, 10_000_000_000, 10e9 or 10G, where k,
M, G and T are powers of 1000. RATE can be written as 0.01 or 1%, and a size as 64, 4KiB
(powers of 1024) or 64MB (powers of 1000). Printed sizes use powers of 1000.`

const planExamples = `  # A blacklist of ten billion URLs of 64 bytes, at 0.01 %, in 30 GB of memory.
  sst plan -n 10e9 -p 0.01% --key-size 64 --memory 30GB

  # Ten bits per key, data that compresses to half, tables as large as LevelDB's.
  sst plan -n 1M --bits 10 --value-size 100 --compression 0.5 --table-size 2MB

  # Requests and core-hours of a set in object storage, and their prices.
  sst plan -n 10e9 --bits 10 --key-size 64 --entries-per-table 1M \
    --present 0.1 --request-price 0.40 --core-price 0.05

  # JSON, for a program.
  sst plan -n 500_000_000 -p 1% --value-size 1000 --json`

func planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:         "plan [flags] -n N (-p RATE | --bits B)",
		Short:       "Plan filters for a number of keys by memory, disk and false positives",
		Long:        planLong,
		Example:     planExamples,
		Annotations: exitStatus{exitUsage: "wrong usage, or memory that is too small for a table"}.annotation(),
		Args:        cli.Arguments("flags only", 0, 0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.bitsGiven = cmd.Flags().Changed("bits")
			return f.plan(cmd.OutOrStdout())
		},
	}
	f.define(cmd)
	return cmd
}

// define adds the flags to the command.
func (f *planFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.keys, "keys", "n", "", "number of `keys`, 1 to 1e15 (required)")
	flags.StringVarP(&f.rate, "rate", "p", "", "false-positive `rate`, ≥ 1e-9 and < 1")
	flags.IntVar(&f.bits, "bits", 0, "`bits` per key, 1 to 100, instead of a rate")
	flags.StringVar(&f.keySize, "key-size", "16", "`size` of a key, up to 64KiB")
	flags.StringVar(&f.valueSize, "value-size", "0", "`size` of a value, up to 1GiB")
	flags.Float64Var(&f.compression, "compression", 1, "compressed size of data blocks as a `share` of their size, 0.01 to 1")
	flags.StringVar(&f.blockSize, "block-size", "4KiB", "`size` of a data block before compression, 256 to 1MiB")
	flags.StringVar(&f.tableSize, "table-size", "", "largest `size` of a table on disk, 1MiB to 4GiB (default 64MB, or 4GiB with --entries-per-table)")
	flags.StringVar(&f.entriesPerTable, "entries-per-table", "", "largest number of `keys` of a table (default 1M, if it has keys and values)")
	flags.StringVar(&f.memory, "memory", "", "`size` of the memory that a machine has for filters and index")
	flags.Float64Var(&f.present, "present", 0, "`share` of lookups that are for present keys, 0 to 1")
	flags.StringVar(&f.requestPrice, "request-price", "", "`price` of a million read requests to object storage")
	flags.StringVar(&f.corePrice, "core-price", "", "`price` of a core-hour")
	flags.BoolVar(&f.json, "json", false, "print a JSON object, with sizes in bytes and rates from 0 to 1")
}

// plan prints the plan.
func (f planFlags) plan(out io.Writer) error {
	q, err := f.query()
	if err != nil {
		return err
	}
	defer planMemory.Apply()()
	p, err := plan.New(q)
	if err != nil {
		return err
	}
	if f.json {
		return p.WriteJSON(out)
	}
	return p.WriteText(out)
}

// query parses the flags.
func (f planFlags) query() (q plan.Query, err error) {
	if f.keys == "" {
		return q, cli.UsageErrorf("-n is not given, want a number of keys, such as in: sst plan -n 10M -p 1%%")
	}
	q.BitsPerKey, q.Compression, q.Present = f.bits, f.compression, f.present
	if q.Keys, err = plan.ParseKeys("-n", f.keys, plan.MaxKeys); err != nil {
		return q, err
	}
	switch {
	case f.rate == "" && !f.bitsGiven:
		return q, cli.UsageErrorf("neither -p nor --bits is given, want a rate or bits per key, such as in: sst plan -n %s -p 1%%", f.keys)
	case f.bitsGiven && f.bits == 0:
		return q, cli.UsageErrorf("--bits is 0, want 1 or more")
	}
	if f.rate != "" {
		if q.Rate, err = plan.ParseRate(f.rate); err != nil {
			return q, err
		}
	}
	if err = f.setTables(&q); err != nil {
		return q, err
	}
	return q, f.setPrices(&q)
}

// setTables parses the flags that say how large things are.
func (f planFlags) setTables(q *plan.Query) (err error) {
	usualSize := "64MB"
	if f.entriesPerTable != "" {
		usualSize = "4GiB"
		if q.EntriesPerTable, err = plan.ParseKeys("--entries-per-table", f.entriesPerTable, plan.MaxKeys); err != nil {
			return err
		}
	}
	for _, s := range []struct {
		flag, text string
		value      *uint64
	}{
		{"--key-size", f.keySize, &q.KeySize},
		{"--value-size", f.valueSize, &q.ValueSize},
		{"--block-size", f.blockSize, &q.BlockSize},
		{"--table-size", cmp.Or(f.tableSize, usualSize), &q.TableSize},
		{"--memory", f.memory, &q.Memory},
	} {
		if s.text == "" {
			continue
		}
		size, err := cli.ParseSize(s.flag, s.text, "a size such as 64, 4KiB or 64MB")
		if err != nil {
			return err
		}
		*s.value = uint64(size)
	}
	if f.memory != "" && q.Memory == 0 {
		return cli.UsageErrorf("--memory is %s, want 1 byte or more", wire.Quote([]byte(f.memory)))
	}
	return nil
}

// setPrices parses the prices that are given.
func (f planFlags) setPrices(q *plan.Query) error {
	for _, p := range []struct {
		flag, text string
		value      **float64
	}{
		{"--request-price", f.requestPrice, &q.RequestPrice},
		{"--core-price", f.corePrice, &q.CorePrice},
	} {
		if p.text == "" {
			continue
		}
		price, err := plan.ParsePrice(p.flag, p.text)
		if err != nil {
			return err
		}
		*p.value = &price
	}
	return nil
}
