// Package leveldbcgo has C++ LevelDB write and read single tables, for
// measuring, in programs that are built with the tag leveldb (Debian:
// libleveldb-dev). All loops over keys are in C++, so that what it costs to
// call C++ from Go is not measured.
package leveldbcgo
