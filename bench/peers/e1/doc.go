// Command e1 measures goleveldb's whole engine on its own tables, and beside it the same engine on
// table/goleveldb. From this directory:
//
//	GOWORK=off go run .
//	GOWORK=off go run . -n 100000 -cache 8 -rounds 5
//
// It copies goleveldb's source from the module cache, builds a program of each engine, and starts
// both. They work in turns, each on a database of its own. The works are:
//
//   - fillrandom puts all keys in a random order, and CompactRange compacts them into one level.
//     What compactions still do when fillrandom ends counts for CompactRange.
//   - readrandom gets random keys, as many as there are. readhot gets as many of only a hundredth of
//     the keys, and readmissing gets absent ones, which lie between the others.
//   - seekrandom seeks a random key, each time by a new iterator, and moves on by ten entries.
//   - readseq and readreverse iterate over the whole database.
//
// Keys have 16 bytes and values 100, half of which Snappy removes. There is a Bloom filter of 10
// bits per key. All other options are goleveldb's defaults.
//
// The tables that e1 writes to stdout have, for each operation, the median of the rounds: the time
// of the processor, of all goroutines; and the memory that was allocated, in number and bytes. A
// ratio > 1 is in favour of our tables. The wall time's ratio depends on what else the machine
// does. Both engines must have found the same, or it is an error.
//
// It is a module of its own, since it builds goleveldb from copies of its source.
package main
