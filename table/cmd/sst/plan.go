package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/plan"
)

// planFlags are the flags of plan as they are typed.
type planFlags struct {
	keys, rate                                       string
	bits                                             int
	keySize, valueSize, blockSize, tableSize, memory string
	compression                                      float64
	json                                             bool
}

const planLong = `Plan the size of tables for N keys with LevelDB's Bloom filters. Give either a
false-positive rate or a number of bits per key.

The plan is for tables as LevelDB, goleveldb and this library write them. Each 2 KiB of
the file have one filter, for the keys of the data blocks that start there. That is one
block or none, or several if compression makes blocks small. A filter takes at least 8
bytes, one byte for k, and 4 bytes for its offset. A filter without keys has an offset
too.

Some figures are upper bounds. Keys are counted in full, although a block leaves out the
prefix that a key shares with the key before it. Separators in the index are counted as
whole keys, although most are shorter. So disk and index may be smaller than planned, and
a filter may have more keys. --compression is the compressed size of a data block, as a
share of its uncompressed size: 0.5 if compression halves it, 1 without compression.

The plan shows two rates. The rate by the formula is the textbook formula with LevelDB's
k. The measured rate comes from real filters with the planned number of keys, queried for
2,000,000 absent random keys. It is higher than the formula's in filters as small as those
of data blocks, and the lower the rate, the larger the difference. If the measured rate is
higher than -p, the plan says so, and names bits or a block size that give the rate, if it
finds them. Keys that are not random can have higher rates: see sst help fpr.

Memory is what open tables use for filters and index, all of which are kept in memory. It
does not include a block cache, or the rest of a program.

N can be written as 10000000000, 10_000_000_000, 10e9 or 10G, where k, M, G and T are
powers of 1000. RATE can be written as 0.01 or 1%, and a size as 64, 4KiB (powers of 1024)
or 64MB (powers of 1000). Printed sizes use powers of 1000.`

const planExamples = `  # A blacklist of ten billion URLs of 64 bytes, at 0.01 %, in 30 GB of memory.
  sst plan -n 10e9 -p 0.01% --key-size 64 --memory 30GB

  # The same, with blocks of enough keys for filters with that rate.
  sst plan -n 10e9 -p 0.01% --key-size 64 --memory 30GB --block-size 64KiB

  # Ten bits per key, data that compresses to half, tables as large as LevelDB's.
  sst plan -n 1M --bits 10 --value-size 100 --compression 0.5 --table-size 2MB

  # JSON, for a program.
  sst plan -n 500_000_000 -p 1% --value-size 1000 --json`

func planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:     "plan -n N (-p RATE | --bits B)",
		Short:   "Plan filters, disk and memory for a number of keys",
		Long:    planLong,
		Example: planExamples,
		Args:    arguments("flags only", 0, 0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.plan(cmd.OutOrStdout()) },
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
	flags.StringVar(&f.tableSize, "table-size", "64MB", "`size` of a table on disk, 1MiB to 4GiB")
	flags.StringVar(&f.memory, "memory", "", "plan machines with this `size` of memory for filters and index")
	flags.BoolVar(&f.json, "json", false, "print a JSON object, with sizes in bytes and rates from 0 to 1")
}

// plan prints the plan.
func (f planFlags) plan(out io.Writer) error {
	q, err := f.query()
	if err != nil {
		return err
	}
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
		return q, errors.New("-n is not given, want a number of keys, such as 10_000_000, 10e6 or 10M")
	}
	q.BitsPerKey, q.Compression = f.bits, f.compression
	if q.Keys, err = plan.ParseKeys(f.keys); err != nil {
		return q, err
	}
	if f.rate != "" {
		if q.Rate, err = plan.ParseRate(f.rate); err != nil {
			return q, err
		}
	}
	for _, s := range []struct {
		flag, text string
		value      *uint64
	}{
		{"--key-size", f.keySize, &q.KeySize},
		{"--value-size", f.valueSize, &q.ValueSize},
		{"--block-size", f.blockSize, &q.BlockSize},
		{"--table-size", f.tableSize, &q.TableSize},
		{"--memory", f.memory, &q.Memory},
	} {
		if s.text == "" {
			continue
		}
		if *s.value, err = humanize.ParseBytes(s.text); err != nil {
			return q, fmt.Errorf("%s is %q, want a size such as 64, 4KiB or 64MB", s.flag, s.text)
		}
	}
	return q, nil
}
