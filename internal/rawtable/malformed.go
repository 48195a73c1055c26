package rawtable

import (
	"math"
	"strings"
)

// A MalformedBlock is a block with a fault.
type MalformedBlock struct {
	Name     string // with the reason why it matters, if that is not obvious
	Contents string
	Want     string // the specific part of the error
}

const (
	entryC = "\x00\x01\x01c3"
	entryD = "\x00\x01\x01d4"
)

// MalformedBlocks are blocks that every reader must reject. Entries that a reader finds in them nevertheless must be
// in MalformedPairs.
var MalformedBlocks = []MalformedBlock{
	// Too small for a block. The smallest has a restart point and its count.
	{"block of no bytes", "", "block of 0 bytes (minimum 8"},
	{"block of 1 byte", "\x00", "block of 1 bytes"},
	{"block of 2 bytes", "\x00\x00", "block of 2 bytes"},
	{"block of 3 bytes: the count itself is cut", "\x01\x00\x00", "block of 3 bytes"},
	{"block of 7 bytes: the restart point is cut", "\x00\x00\x00\x01\x00\x00\x00", "block of 7 bytes"},

	// Restart points. Searches jump to them, so they must be where entries start.
	{"restart count 0: nowhere to start", entryC + "\x00\x00\x00\x00" + "\x00\x00\x00\x00", "restart count at 9 is 0"},
	{"restart count one too big", Restarts(0)[:4] + "\x02\x00\x00\x00", "restart count at 4 is 2, not 1 to 1"},
	{"restart count 2³²−1: its array would wrap", entryC + "\x00\x00\x00\x00" + "\xff\xff\xff\xff", "restart count at 9 is 4294967295"},
	{"restart count 2³⁰: four times it wraps in 32 bits", entryC + "\x00\x00\x00\x00" + "\x00\x00\x00\x40", "restart count at 9 is 1073741824"},
	{"first restart point is not 0", entryC + Restarts(5), "restart point 0 is 5, not 0"},
	{"restart point at the end of the entries", entryC + entryD + Restarts(0, 10), "restart point 1 is 10"},
	{"restart point in the array", entryC + entryD + Restarts(0, 14), "restart point 1 is 14"},
	{"restart point 2³²−1: negative in 32 bits", entryC + entryD + Restarts(0, math.MaxUint32), "restart point 1 is 4294967295"},
	{"restart points unsorted: a binary search goes astray", entryC + entryD + Entry(0, "e", "5") + Restarts(0, 10, 5), "restart point 2 is 5"},
	{"restart point inside an entry: its bytes can look like one", Entry(0, "c", entryD) + entryD + Restarts(0, 4), "restart point 1 is 4"},
	{"restart point twice", entryC + entryD + Restarts(0, 0), "restart point 1 is 0"},
	{"restart points without entries", Restarts(0, 0), "block without entries"},
	{"restart point that is not 0, without entries", Restarts(1), "block without entries"},

	// Shared lengths. A key builds on the one before.
	{"first entry shares", Entry(1, "c", "3") + Restarts(0), "entry at 0 shares 1 bytes at a restart point"},
	{"entry at a restart point shares", entryC + Entry(1, "d", "4") + Restarts(0, 5), "entry at 5 shares 1 bytes at a restart point"},
	{"shared length above the key before", entryC + Entry(2, "d", "4") + Restarts(0), "entry at 5 shares 2 bytes, but the key before it has 1"},
	{"shared length 2⁶³: negative", entryC + Entry(1<<63, "d", "4") + Restarts(0), "entry at 5 shares 9223372036854775808 bytes"},
	{"shared length 2⁶⁴−1: with the rest it wraps", entryC + Entry(math.MaxUint64, "dd", "4") + Restarts(0), "entry at 5 shares 18446744073709551615"},

	// Lengths of keys and values. Each must be compared with the remaining bytes.
	{"unshared length 2⁶²", Lengths(0, 1<<62, 1) + "c3" + Restarts(0), "key of 4611686018427387904 and value of 1 bytes, but 2 are left"},
	{"unshared length 2⁶³", Lengths(0, 1<<63, 1) + "c3" + Restarts(0), "key of 9223372036854775808"},
	{"value length 2⁶²", Lengths(0, 1, 1<<62) + "c3" + Restarts(0), "value of 4611686018427387904 bytes, but 2 are left"},
	{"value length 2⁶³", Lengths(0, 1, 1<<63) + "c3" + Restarts(0), "value of 9223372036854775808"},
	{"key and value lengths that wrap to 2 together", Lengths(0, math.MaxUint64, 3) + "c3" + Restarts(0), "key of 18446744073709551615 and value of 3"},
	{"key and value of 2⁶³ that wrap to 0 together", Lengths(0, 1<<63, 1<<63) + "c3" + Restarts(0), "key of 9223372036854775808"},
	{"key runs into the restart array", Lengths(0, 3, 0) + "c3" + Restarts(0), "key of 3 and value of 0 bytes, but 2 are left"},
	{"value runs into the restart array", Lengths(0, 1, 2) + "c3" + Restarts(0), "key of 1 and value of 2 bytes, but 2 are left"},

	// Varints.
	{"truncated varint: its end would be the restart array", "\x00\x01\x80" + Restarts(0), "entry at 0: its three lengths"},
	{"truncated varint of the second length", "\x00\x80" + Restarts(0), "entry at 0: its three lengths"},
	{"entry of two lengths", "\x00\x01" + Restarts(0), "entry at 0: its three lengths"},
	{"varint of eleven bytes", "\x00" + strings.Repeat("\x80", 10) + "\x01\x01c3" + Restarts(0), "entry at 0: its three lengths"},
	{"varint above 64 bits", "\x00" + strings.Repeat("\xff", 9) + "\x02\x01c3" + Restarts(0), "entry at 0: its three lengths"},
	{"varint that is not minimal: two readers may differ over it", "\x00\x81\x00\x01c3" + Restarts(0), "entry at 0: its three lengths"},
	{"shared length that is not minimal", "\x80\x00\x01\x01c3" + Restarts(0), "entry at 0: its three lengths"},

	// Order.
	{"keys out of order", Entries("d", "4", "c", "3"), `entry at 5 has key "c", which is not greater than the key before, "d"`},
	{"keys out of order after one restart point", entryD + entryC + Restarts(0), `entry at 5 has key "c", which is not greater than the key before, "d"`},
	{"keys out of order that share", Entry(0, "dd", "4") + Entry(1, "c", "3") + Restarts(0), `entry at 6 has key "dc", which is not greater than the key before`},
	{"equal keys: which value?", Entries("c", "3", "c", "4"), `entry at 5 has key "c", which is not greater than the key before`},
	{"equal keys that share all", entryC + Entry(1, "", "4") + Restarts(0), `entry at 5 has key "c", which is not greater than the key before`},
	{"a key that is the start of the one before", Entry(0, "dd", "4") + Entry(1, "", "3") + Restarts(0), `entry at 6 has key "d", which is not greater than the key before`},
}

// MalformedPairs are the keys and values of MalformedBlocks, alternating.
var MalformedPairs = []string{"c", "3", "c", "4", "c", entryD, "d", "3", "d", "4", "dc", "3", "dd", "4", "e", "5"}
