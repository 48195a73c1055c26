// Command peers draws the results of BenchmarkLookups, in which sievetable, goleveldb, Pebble and C++ LevelDB look up
// the same keys in turns. From the root, in about two minutes:
//
//	go test -run '^$' -bench Lookups -count 6 ./bench/peers | tee bench/peers/lookups.txt
//	go run ./bench/peers
//
// It writes RESULTS.md, its charts, and a part of README.md.
//
// The tests of this directory exchange files with the same engines: tables with goleveldb, C++ LevelDB, Pebble and
// RocksDB, and databases with goleveldb and C++ LevelDB. They compare sst with the engines on databases that were
// closed, truncated, padded with zeros, corrupted, or left by a killed process. SIEVETABLE_KILLS is the number of kills:
//
//	SIEVETABLE_KILLS=100 go test -run KilledDatabases -v -timeout 30m ./bench/peers
//
// BenchmarkMerged compares iterators over eight tables:
//
//	go test -run '^$' -bench Merged -benchtime 5x ./bench/peers
//
// Command goldens has engines write the golden tables. Command repair compares repairs of corrupt databases. Command
// sets compares sets of tables with databases.
//
// Peers is a module of its own, so that the library does not depend on its peers. If C++ LevelDB, RocksDB (Debian:
// librocksdb-dev) or sst_dump (Debian: rocksdb-tools) is missing, its tests are skipped, or fail if
// SIEVETABLE_LEVELDB is "required".
package main
