package set

import (
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/table"
)

// Errors of a set. They are wrapped by errors that name the table or file.
var (
	// ErrMismatch means that a table differs from its line in the manifest. For a corrupt footer or index, the error
	// is a [*table.CorruptionError] instead.
	ErrMismatch = errors.New("table does not match the manifest: restore the table, or write the manifest again")

	// ErrReplaced means that a table's name now denotes another file or object. If the Source is a [Forgetter], the next
	// lookup opens the table again, and succeeds if it is the same table and can be identified: see ErrNotIdentified.
	ErrReplaced = errors.New("table was replaced since it was opened: try again, or open the set again")

	// ErrNotIdentified is reported by [Set.Verify] for an intact table without a digest of its data blocks: opening it
	// may not notice that it was replaced.
	ErrNotIdentified = errors.New("table is intact, but opening it may not notice that it was replaced")

	// ErrEmpty means that a [Builder] without entries did not replace a set, or add a layer, or that [Publish]
	// without tables did not replace a set. Most often, the program that produced the input failed. If there is no
	// old set, both write an empty one.
	ErrEmpty = errors.New("nothing to write")

	// ErrMissing means that a table of a new manifest is not in the Store.
	ErrMissing = errors.New("no table of that name and size")

	// ErrChanged means that another program has changed the file of a [Replacer].
	ErrChanged = errors.New("another program has changed it")

	// ErrGone means that a table was removed while a manifest that lists it was written. It wraps [table.ErrCorrupt].
	ErrGone error = corruptError{errors.New("removed while the manifest was written")}

	// ErrBuilding means that [Sweep] must wait for a build, or for 24 hours after one that failed.
	ErrBuilding = errors.New("a set is being built")
)

// A corruptError wraps its error and table.ErrCorrupt.
type corruptError struct{ error }

func (e corruptError) Unwrap() []error { return []error{e.error, table.ErrCorrupt} }

// A versionError is the error for a version that a manifest cannot have, or that a newer package has written.
type versionError int

func (v versionError) Error() string {
	if v == 1 {
		return "version is 1, which has no tailSum: write the manifest again with sst manifest"
	}
	return fmt.Sprintf("version is %d, but only %d to %d are supported: use the sievetable version that wrote it",
		v, formatVersion, layeredVersion)
}

func (v versionError) Is(target error) bool {
	return v > layeredVersion && target == errors.ErrUnsupported
}
