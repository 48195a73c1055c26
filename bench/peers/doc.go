// Command peers has this module and other engines do the same work side by
// side, in one process and in turns, and writes what it measured: results.json, and
// of that RESULTS.md, a page of tables, with its charts. From the root:
//
//	go run ./bench/peers
//	go run -tags leveldb,rocksdb ./bench/peers -o /tmp -run 'W1-snappy/get' -urls 0
//	go run ./bench/peers -draw
//
// With the tags leveldb and rocksdb, C++ LevelDB and RocksDB are among the engines; their loops
// are in C++ (Debian: apt-get install g++ libleveldb-dev librocksdb-dev). The others are
// goleveldb, Pebble and bbolt. The whole takes some ten minutes and up to 5 GB of memory, which
// -urls 1000000 makes less; -h lists the flags. With -draw nothing is measured: page and
// charts are written again from the results.json that is there. So is the part of README.md
// that has their figures. Colors are those of internal/theme. A row whose ratios are far apart
// is measured again, up to three times in all. A Bloom filter is also measured beside a
// sorted slice, a map and a list. The page says what each row is.
//
// The tests of this directory hold this module's tables and filters against the
// same engines: they exchange files with goleveldb, C++ LevelDB and Pebble, both
// ways, read databases that goleveldb and C++ LevelDB lived with, and have RocksDB's
// sst_dump read ours. Command goldens has engines write the golden tables, and
// command repair compares what sst repair and the repairs of the engines keep of damaged databases. Command sets
// measures sets of tables beside databases of Pebble, goleveldb and bbolt.
//
// Databases of goleveldb and C++ LevelDB, with their logs, are to sst what they are to
// the engine that recovers a copy of them: closed, cut, filled with zeros, damaged, and
// killed at work. A few of each engine's are killed, or as many as SIEVETABLE_KILLS says:
//
//	SIEVETABLE_KILLS=100 go test -run KilledDatabases -v -timeout 30m ./bench/peers
//
// Iterating over eight tables as one is measured by a benchmark, in which all engines take turns:
//
//	go test -run '^$' -bench Merged -benchtime 5x ./bench/peers
//
// It is a module of its own, so that no embedder of the library depends on its
// peers. The tests that need C++ LevelDB, RocksDB (Debian: librocksdb-dev), or sst_dump
// (Debian: rocksdb-tools), are skipped where these are not installed, unless SIEVETABLE_LEVELDB is set to
// "required", which makes them fail there.
package main
