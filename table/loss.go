package table

import "fmt"

// A Loss is a part of a table, a set or a database that cannot be read: a data block, a whole file, or writes of a
// log. The OnLoss options of iterators, sets and databases decide whether reading goes on without it.
type Loss struct {
	File   string // the table or log, as in errors; "" for a Reader without a Name
	Offset int64  // of the data block, or of the damage in the log; -1: the whole file is lost

	// From and To bound the lost keys: they are >= From and <= To. nil is no bound. In databases they are user
	// keys. The keys of lost writes of a log are unknown. The slices must not be changed.
	From, To []byte

	// Lost writes of a log have sequence numbers >= FirstSequence and, unless LastSequence is 0, <= LastSequence.
	FirstSequence, LastSequence uint64

	// OlderShow reports whether older versions of the lost entries can show in their place, also of keys that
	// were deleted.
	OlderShow bool

	// Err says what is wrong. For a data block it is a [*CorruptionError].
	Err error
}

// loss returns the loss of a data block.
func (e *CorruptionError) loss() Loss {
	return Loss{File: e.File, Offset: e.Offset, From: e.KeysAfter, To: e.KeysUpTo, Err: e}
}

// A HiddenError is the error of a lookup in several tables of which some cannot be read: they may have a newer
// version of the key. errors.Is and errors.As find the errors of the tables.
type HiddenError struct {
	Err error // why the tables cannot be read

	// Value is the value of the newest version in the other tables, if Found. The key may be deleted since, or have
	// another value.
	Value []byte
	Found bool
}

func (e *HiddenError) Error() string {
	if e.Found {
		return fmt.Sprintf("%v: an older version of the key was found, which may be deleted", e.Err)
	}
	return fmt.Sprintf("%v: whether the key exists is unknown", e.Err)
}

// Unwrap returns Err.
func (e *HiddenError) Unwrap() error { return e.Err }
