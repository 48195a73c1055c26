package setio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/sievetable/sievetable/table/set"
)

// A target is where a build writes, and what.
type target struct {
	Dir    string
	Lease  string
	Writer string // as in Options
	Layer  bool   // as in Options

	// Removals is whether the layer can have removals.
	Removals bool
}

// options returns the options of what is written to the directory.
func (t *target) options(st set.Store) (*set.BuilderOptions, error) {
	writer, err := writerOptions(t.Writer)
	o := &set.BuilderOptions{Layer: t.Layer, Lease: t.Lease, Writer: &writer}
	if t.Layer {
		o.Check = func(base *set.Manifest) error { return t.checkBase(st, base, writer.FilterOnly) }
	}
	return o, err
}

// prepare makes the directory, and begins the lease. It finds out early whether the manifest that is
// there can be replaced.
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
		return b.Abort() // its lease stays
	})
}

// errNoRemoval is the error for a removal from a set that cannot show what its filters have.
var errNoRemoval = errors.New("setio: a set with filters only cannot have Removals, since its filters cannot be " +
	"read as keys: build it anew from the keys")

// checkBase checks that a layer can be added to the set of that manifest. filterOnly is whether it has
// filters only.
func (t *target) checkBase(st set.Store, base *set.Manifest, filterOnly bool) error {
	for table := range base.All() {
		ext := path.Ext(table.Name)
		if ext == filterExt && t.Removals {
			return errNoRemoval
		}
		if filterOnly && ext == tableExt || !filterOnly && ext == filterExt {
			return fmt.Errorf("%s and the Writer differ in FilterOnly: want the Writer of the set, or build the set anew",
				st.Path(table.Name))
		}
	}
	return nil
}

// The extensions of tables. For LevelDB, one with a filter only would be an empty table.
const tableExt, filterExt = ".ldb", ".filter"
