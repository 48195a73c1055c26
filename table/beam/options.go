package setio

import (
	"fmt"
	"io"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// Options are options of [Write]. The zero value of each field is its default. A value out of
// range is an error of Write.
type Options struct {
	// EntriesPerTable is about how many keys each table has, 1 to 100,000,000. The mean is at most
	// 3 % larger. The largest table is seldom more than 1.15 times the mean. 0: 1,000,000.
	EntriesPerTable int

	// RunSize is how many bytes a worker sorts in memory at a time, 4 KiB to 1 GiB: those of the
	// keys, and 24 more for each key. The worker takes up to twice that. The larger it is, the
	// fewer pieces travel: each run is cut into a piece for each table. 0: 32 MiB.
	RunSize int

	// Writer is the name of the options that tables are written with: [RegisterWriter] has given it
	// to them. "": the defaults of [table.WriterOptions], and a Bloom filter of 10 bits per key for
	// each block.
	Writer string
}

// A number is an Option that is a number, with its range.
type number struct {
	name             string
	value            *int
	def, least, most int
}

// withDefaults returns a copy of o with defaults filled in.
func (o Options) withDefaults() (Options, error) {
	for _, n := range []number{
		{"EntriesPerTable", &o.EntriesPerTable, 1_000_000, 1, 100_000_000},
		{"RunSize", &o.RunSize, 32 << 20, 4 << 10, 1 << 30},
	} {
		if *n.value == 0 {
			*n.value = n.def
		}
		if *n.value < n.least || *n.value > n.most {
			return o, fmt.Errorf("setio: %s is %d, want %d to %d, or 0 for %d",
				n.name, *n.value, n.least, n.most, n.def)
		}
	}
	return o, checkWriter(o.Writer)
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
		panic(fmt.Sprintf("setio: RegisterWriter of %q, want a name that is not empty, once, and a function",
			name))
	}
	writers[name] = f
}

// writerOptions returns the options of that name.
func writerOptions(name string) (*table.WriterOptions, error) {
	f, found := writers[name]
	if !found {
		return nil, fmt.Errorf(
			"setio: Writer is %q, want a name that RegisterWriter was given in an init function", name)
	}
	return f(), nil
}

// checkWriter checks that tables can be written with the options of that name.
func checkWriter(name string) error {
	o, err := writerOptions(name)
	if err != nil {
		return err
	}
	w, err := set.NewTableWriter(io.Discard, o)
	if err != nil {
		return fmt.Errorf("setio: the options %q of RegisterWriter: %w", name, err)
	}
	return w.Abort()
}
