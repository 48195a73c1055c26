package wal

import (
	"fmt"

	"github.com/sievetable/sievetable/table"
)

// A Corruption is damage of a database that is not in a table. It is table.ErrCorrupt.
type Corruption string

func (c Corruption) Error() string { return string(c) }

// Is reports whether target is table.ErrCorrupt.
func (Corruption) Is(target error) bool { return target == table.ErrCorrupt }

// Corruptionf returns a Corruption with a message as of fmt.Sprintf.
func Corruptionf(format string, args ...any) error { return Corruption(fmt.Sprintf(format, args...)) }
