package wire

import "fmt"

// Plural returns "1 byte" or "2 bytes", for messages.
func Plural(n uint64, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}
