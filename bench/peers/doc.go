// Command peers draws the results of the lookup benchmark. From the root:
//
//	go test -run '^$' -bench Lookups -count 6 ./bench/peers | tee bench/peers/lookups.txt
//	go run ./bench/peers
//
// BenchmarkLookups has this module, goleveldb, Pebble and C++ LevelDB look up the same keys, in turns. It takes
// some ten minutes. The command draws RESULTS.md, its chart, and the part of README.md that has their figures.
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
