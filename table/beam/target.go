package setio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/sievetable/sievetable/table/set"
)

// A target is the destination of a build.
type target struct {
	Dir      string
	Lease    string
	Writer   string // as in Options
	Layer    bool   // as in Options
	Removals bool   // the layer may contain removals
}

// options returns the options for writing to the directory.
func (t *target) options(st set.Store) (*set.BuilderOptions, error) {
	writer, err := writerOptions(t.Writer)
	o := &set.BuilderOptions{Layer: t.Layer, Lease: t.Lease, Writer: &writer}
	if t.Layer {
		o.Check = func(base *set.Manifest) error { return t.checkBase(st, base, writer.FilterOnly) }
	}
	return o, err
}

// prepare creates the directory and the lease. It fails early if an existing manifest cannot be replaced.
func (t *target) prepare(ctx context.Context) error {
	return withStore(ctx, t.Dir, func(st set.Store) error {
		o, err := t.options(st)
		if err == nil && !isRemote(t.Dir) {
			err = os.MkdirAll(t.Dir, 0o777)
		}
		if err != nil {
			return err
		}
		b, err := set.NewBuilder(ctx, st, o)
		if err != nil {
			return err
		}
		return b.Abort() // the lease stays
	})
}

// errNoRemoval is the error for Removals in a set of filters.
var errNoRemoval = errors.New("setio: keys cannot be removed from a set that contains only filters: " +
	"build the set again from the remaining keys, without Layer")

// checkBase checks that a layer can be added to the set with that manifest. filterOnly reports whether the layer
// contains only filters.
func (t *target) checkBase(st set.Store, base *set.Manifest, filterOnly bool) error {
	for table := range base.All() {
		ext := path.Ext(table.Name)
		if ext == filterExt && t.Removals {
			return errNoRemoval
		}
		if filterOnly && ext == tableExt || !filterOnly && ext == filterExt {
			return fmt.Errorf("%s and the Writer differ in FilterOnly: use the Writer of the set, or build the set again "+
				"without Layer", st.Path(table.Name))
		}
	}
	return nil
}

// The extensions of table files. A table with only a filter has its own, since LevelDB would read it as an empty
// table.
const tableExt, filterExt = ".ldb", ".filter"
