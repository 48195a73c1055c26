package setio

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// Options are options of [Write], [WriteKeys] and [WriteLines]. The zero value of each field is its
// default. A value out of range is an error of these functions.
type Options struct {
	// EntriesPerTable is about how many keys each table has, 1 to 100,000,000. The mean is at most
	// 3 % larger. The largest table is seldom more than 1.15 times the mean. 0: 1,000,000.
	EntriesPerTable int

	// RunSize is how many bytes a worker sorts in memory at a time, 4 KiB to 1 GiB: those of keys
	// and values, and 24 more for each key. The worker takes up to twice that. It merges and cuts
	// pieces of as many bytes at a time, as they travel. The larger it is, the fewer pieces travel:
	// there is one for each table of what is cut at a time. 0: 32 MiB.
	RunSize int

	// Writer is the name of the options that tables are written with: [RegisterWriter] has given it
	// to them. "": the defaults of [table.WriterOptions], and a Bloom filter of 10 bits per key for
	// each block.
	Writer string

	// Layer adds the tables to the set that is in the directory, as its newest layer: see
	// [set.Layer]. They have the entries that are added, or have another value. If there are
	// none, and no Removals, the set stays as it is.
	Layer bool

	// Removals are the keys that the layer removes: a PCollection of []byte or string. A key that is
	// an entry of the layer too is an error of the pipeline. The zero value: none. A set with
	// filters only cannot have Removals.
	Removals beam.PCollection
}

// sorter returns what sorts entries.
func (o *Options) sorter() sorter {
	return sorter{RunSize: o.RunSize, Rate: sampleRate(o.EntriesPerTable)}
}

// check checks all options and the directory. It returns a copy of o with defaults filled in.
func (o Options) check(s beam.Scope, dir string) (Options, error) {
	const entries, runSize = 1_000_000, 32 << 20
	o.EntriesPerTable, o.RunSize = cmp.Or(o.EntriesPerTable, entries), cmp.Or(o.RunSize, runSize)
	w, err := writerOptions(o.Writer)
	if err == nil {
		err = checkWriter(o.Writer, &w)
	}
	if err == nil && o.Removals.IsValid() {
		err = o.checkRemovals(s, w.FilterOnly)
	}
	return o, cmp.Or(
		checkRange("EntriesPerTable", o.EntriesPerTable, 1, 100_000_000, entries),
		checkRange("RunSize", o.RunSize, 4<<10, 1<<30, runSize),
		err, checkDir(dir))
}

func (o *Options) checkRemovals(s beam.Scope, filterOnly bool) error {
	switch {
	case !o.Layer:
		return errors.New("setio: Removals is set without Layer, want both: a new set has nothing to remove")
	case filterOnly:
		return errNoRemoval
	}
	return checkElements(s, "Removals", o.Removals, false, "[]byte or string")
}

// checkRange returns an error if a number is out of its range. 0 stands for byDefault.
func checkRange(name string, n, least, most, byDefault int) error {
	if n < least || n > most {
		return fmt.Errorf("setio: %s is %d, want %d to %d, or 0 for %d", name, n, least, most, byDefault)
	}
	return nil
}

// writers are the functions of RegisterWriter, by name.
var writers = map[string]func() *table.WriterOptions{
	"": func() *table.WriterOptions { return &table.WriterOptions{FilterPolicy: filter.NewBloom(10)} },
}

// RegisterWriter gives a name to options of tables, for [Options].Writer. Options themselves cannot
// travel to other machines, where the same program runs. So call it in init:
//
//	func init() {
//		policy, err := fuse.New(12)
//		if err != nil {
//			panic(err)
//		}
//		setio.RegisterWriter("fuse", func() *table.WriterOptions {
//			return &table.WriterOptions{TableFilterPolicy: policy}
//		})
//	}
//
// f is called for each table, by several goroutines at a time. It must return the same options each
// time. Like gob.Register, RegisterWriter panics if the name is empty or has been given before, or
// if f is nil.
func RegisterWriter(name string, f func() *table.WriterOptions) {
	if _, found := writers[name]; found || f == nil {
		panic(fmt.Sprintf("setio: RegisterWriter of %q, want a name that is not empty, once, and a function", name))
	}
	writers[name] = f
}

// writerOptions returns the options of that name.
func writerOptions(name string) (o table.WriterOptions, err error) {
	f, found := writers[name]
	if !found {
		return o, fmt.Errorf("setio: Writer is %q, want a name that RegisterWriter was given in an init function", name)
	}
	if registered := f(); registered != nil { // nil means the defaults, as for table.NewWriter
		o = *registered
	}
	return o, nil
}

// checkWriter checks that tables can be written with the options of that name.
func checkWriter(name string, o *table.WriterOptions) error {
	w, err := set.NewTableWriter(io.Discard, o)
	if err != nil {
		return fmt.Errorf("setio: the options %q of RegisterWriter: %w", name, err)
	}
	return w.Abort()
}
