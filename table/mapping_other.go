//go:build !unix

package table

import "os"

// mapFile returns nil: the file is read. Windows could map it, but then nobody could replace it.
func mapFile(*os.File, int64) *mapping { return nil }
