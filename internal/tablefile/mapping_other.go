//go:build !unix

package tablefile

import "os"

// Map returns nil: the file is read. Windows could map it, but then nobody could replace it.
func Map(*os.File, int64) *Mapping { return nil }
