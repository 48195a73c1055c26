// Package rocksdbcgo has RocksDB write and read single tables, for measuring, in programs that are built
// with the tag rocksdb (Debian: librocksdb-dev). As in package leveldbcgo, all loops over keys are in C++.
package rocksdbcgo
