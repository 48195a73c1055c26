//go:build rocksdb && cgo

#ifndef SIEVETABLE_ROCKSDB_TABLE_H_
#define SIEVETABLE_ROCKSDB_TABLE_H_

#include <memory>

#include "../cxxcursor/cursor.h"
#include "loops.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

// A table is the only one of a database in memory.
struct rdb_table {
  rdb_options options;
  std::unique_ptr<rocksdb::Env> env;
};

rocksdb::Options TableOptions(const rdb_options& options, rocksdb::Env* env,
                              size_t cache_bytes);

inline rocksdb::Slice At(const rdb_packed& p, size_t i) {
  return rocksdb::Slice(p.data + i * p.width, p.width);
}

#endif  // SIEVETABLE_ROCKSDB_TABLE_H_
