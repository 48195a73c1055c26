//go:build !unix

package tablefile

import "os"

// Map returns nil, so that the file is read. Windows could map it, but nobody could replace a mapped file.
func Map(*os.File, int64) *Mapping { return nil }
