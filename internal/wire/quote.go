package wire

import "fmt"

// maxQuoted is how much of a key an error shows. Keys in a file can be as long
// as the file, and longer where they are compressed.
const maxQuoted = 128

// Quote returns the key that parts make, as an error shows it: quoted, and of a
// long one only the start and how long it is.
func Quote(parts ...[]byte) string {
	var shown []byte
	length := 0
	for _, p := range parts {
		shown = append(shown, p[:min(len(p), maxQuoted-len(shown))]...)
		length += len(p)
	}
	if length <= maxQuoted {
		return fmt.Sprintf("%q", shown)
	}
	return fmt.Sprintf("%q… (%d bytes)", shown, length)
}
