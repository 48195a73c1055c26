package wire

import "fmt"

// maxQuoted is how much of a key an error shows. Keys in a file can be as long
// as the file, and longer where they are compressed.
const maxQuoted = 128

// Quote returns key as an error shows it: quoted, and of a long one only the
// start and how long it is.
func Quote(key []byte) string {
	if len(key) <= maxQuoted {
		return fmt.Sprintf("%q", key)
	}
	return fmt.Sprintf("%q… (%d bytes)", key[:maxQuoted], len(key))
}
