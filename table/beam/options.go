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

// Options configures [Write], [WriteKeys] and [WriteLines]. The zero value of each field is its default.
type Options struct {
	// EntriesPerTable is the approximate number of keys per table, from 1 to 100,000,000. The largest table rarely
	// exceeds the mean by more than 15 %. Zero means 1,000,000.
	EntriesPerTable int

	// RunSize is the number of bytes that a worker sorts in memory at a time, from 4 KiB to 1 GiB: keys, values, and
	// 24 bytes per key. The worker may use twice as much memory. Larger runs mean fewer pieces sent between workers.
	// Zero means 32 MiB.
	RunSize int

	// Writer is the name of the tables' options, as registered by [RegisterWriter]. If it is empty, the defaults of
	// [table.WriterOptions] are used, with a Bloom filter of 10 bits per key for each block.
	Writer string

	// Layer adds the entries to the existing set, as its newest layer, in which they may replace values. If there are
	// no entries and no Removals, the set does not change. See [set.Layer].
	Layer bool

	// Removals is a PCollection of []byte or string: the keys that the layer removes. A key that the layer also adds
	// is an error. Removals requires Layer. A set that contains only filters does not support it.
	Removals beam.PCollection
}

// sorter returns a sorter with these options.
func (o *Options) sorter() sorter {
	return sorter{RunSize: o.RunSize, Rate: sampleRate(o.EntriesPerTable)}
}

// check validates the options and the directory. It returns a copy of o with defaults filled in.
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
		return errors.New("setio: Removals is set without Layer: set both, or remove the keys from the input")
	case filterOnly:
		return errNoRemoval
	}
	return checkElements(s, "Removals", o.Removals, false, "[]byte or string")
}

// checkRange returns an error if n is out of its range.
func checkRange(name string, n, least, most, byDefault int) error {
	if n < least || n > most {
		return fmt.Errorf("setio: %s is %d: use %d to %d, or 0 for %d", name, n, least, most, byDefault)
	}
	return nil
}

// writers contains the functions of RegisterWriter, by name.
var writers = map[string]func() *table.WriterOptions{
	"": func() *table.WriterOptions { return &table.WriterOptions{FilterPolicy: filter.NewBloom(10)} },
}

// RegisterWriter names table options, for use as [Options].Writer. Workers on other machines find the options by that
// name, so call RegisterWriter in init:
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
// f is called for each table, possibly concurrently. It must always return the same options. RegisterWriter panics if
// name is empty or already registered, or if f is nil.
func RegisterWriter(name string, f func() *table.WriterOptions) {
	if _, found := writers[name]; found || f == nil {
		panic(fmt.Sprintf("setio: RegisterWriter(%q): the name is empty or already registered, or the function is nil", name))
	}
	writers[name] = f
}

// writerOptions returns the options registered as name.
func writerOptions(name string) (o table.WriterOptions, err error) {
	f, found := writers[name]
	if !found {
		return o, fmt.Errorf("setio: Writer is %q, which is not registered: call RegisterWriter in an init function", name)
	}
	if registered := f(); registered != nil { // nil means the defaults, as for table.NewWriter
		o = *registered
	}
	return o, nil
}

// checkWriter checks that tables can be written with the options registered as name.
func checkWriter(name string, o *table.WriterOptions) error {
	w, err := set.NewTableWriter(io.Discard, o)
	if err != nil {
		return fmt.Errorf("setio: options registered as %q: %w", name, err)
	}
	return w.Abort()
}
