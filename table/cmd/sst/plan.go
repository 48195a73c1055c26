package main

import (
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

const planLong = `Plan what N keys take in tables with LevelDB's Bloom filters, at a rate of false
positives or with so many bits per key.

The plan is of tables as LevelDB, goleveldb and this library write them. Each 2
KiB of the file have a filter with the keys of the data blocks that start there:
of one block or none, or of several where compression makes them small. A filter
takes at least 8 bytes, a byte for k, and an offset of 4 bytes, which there is
without keys too. Keys are counted in full, though blocks leave out the prefix that
a key shares with the one before it, and separators in the index are shorter than
keys, often by much: disk and index may be less than planned, and the keys in a
filter more. --compression is the share of its size that a data block keeps: 0.5
if Snappy halves it, 1 for tables that are not compressed.

Two rates are given. The formula's is the one of every textbook, with LevelDB's k.
The measured one is what filters of as many keys as planned do, which are built
and asked for 2,000,000 absent random keys. In filters as small as a data block's
it is higher, the more so the lower the rate. Where it is above -p, the plan says
so, and with which bits or blocks it was not, if that was found. Keys that are
not random can do worse: see "sst fpr".

Memory is what open tables take for filters and index, of which both are held as
a whole. It has no cache in it, and no program.

N may be written 10000000000, 10_000_000_000, 10e9 or 10G (k, M, G and T stand for
powers of a thousand); RATE 0.01 or 1%; sizes 64, 4KiB (1024s) or 64MB (1000s).
Printed sizes are in powers of a thousand.`

const planExamples = `  # A blacklist of ten billion URLs of 64 bytes, at 0.01 %, in 30 GB of memory.
  sst plan -n 10e9 -p 0.01% --key-size 64 --memory 30GB

  # The same with blocks that have keys enough for filters of that rate.
  sst plan -n 10e9 -p 0.01% --key-size 64 --memory 30GB --block-size 64KiB

  # Ten bits per key, values that compress to half, a table of LevelDB's size.
  sst plan -n 1M --bits 10 --value-size 100 --compression 0.5 --table-size 2MB

  # For a program.
  sst plan -n 500_000_000 -p 1% --value-size 1000 --json`

func planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:     "plan -n N (-p RATE | --bits B)",
		Short:   "Plan filters, disk and memory for a number of keys",
		Long:    planLong,
		Example: planExamples,
		Args:    arguments("flags alone", 0, 0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.plan(cmd.OutOrStdout()) },
	}
	f.define(cmd)
	return cmd
}

// define gives the command its flags.
func (f *planFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.keys, "keys", "n", "", "how many `keys`, 1 to 1e15")
	flags.StringVarP(&f.rate, "rate", "p", "", "false positives per absent key, a `rate` from 1e-9 to below 1")
	flags.IntVar(&f.bits, "bits", 0, "`bits` per key, 1 to 100, instead of a rate")
	flags.StringVar(&f.keySize, "key-size", "16", "`size` of a key, up to 64KiB")
	flags.StringVar(&f.valueSize, "value-size", "0", "`size` of a value, up to 1GiB")
	flags.Float64Var(&f.compression, "compression", 1, "what `share` of their size data blocks keep, 0.01 to 1")
	flags.StringVar(&f.blockSize, "block-size", "4KiB", "`size` of a data block before compression, 256 to 1MiB")
	flags.StringVar(&f.tableSize, "table-size", "64MB", "`size` of a table, 1MiB to 4GiB")
	flags.StringVar(&f.memory, "memory", "", "`size` of a machine's memory for filters and index: count machines")
	flags.BoolVar(&f.json, "json", false, "print an object of JSON, sizes in bytes and rates from 0 to 1")
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

// query reads what was typed.
func (f planFlags) query() (q plan.Query, err error) {
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
