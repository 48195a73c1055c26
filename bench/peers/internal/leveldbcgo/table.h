//go:build leveldb && cgo

#ifndef SIEVETABLE_TABLE_H_
#define SIEVETABLE_TABLE_H_

#include <memory>

#include "../cxxcursor/cursor.h"
#include "leveldb/cache.h"
#include "leveldb/filter_policy.h"
#include "leveldb/options.h"
#include "leveldb/slice.h"
#include "leveldb/status.h"
#include "loops.h"

struct ldb_options {
  leveldb::Options table;
  leveldb::ReadOptions read;
  std::unique_ptr<const leveldb::FilterPolicy> policy;
  std::unique_ptr<leveldb::Cache> cache;
};

inline leveldb::Slice At(const ldb_packed& p, size_t i) {
  return leveldb::Slice(p.data + i * p.width, p.width);
}

#endif  // SIEVETABLE_TABLE_H_
