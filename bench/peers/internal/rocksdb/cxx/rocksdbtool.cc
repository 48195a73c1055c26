// rocksdbtool has RocksDB databases ingest tables and read them, for the Go
// package in the parent directory. Pairs and keys are length-prefixed, both on
// standard input and on standard output.

#include <memory>

#include "common.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"

namespace {

using rocksdb::Slice;
using rocksdb::Status;

// Open opens the database in dir, or creates it. Its own filters contain
// prefixes, too. The filters of ingested tables do not.
std::unique_ptr<rocksdb::DB> Open(
    const char* dir, const std::shared_ptr<rocksdb::Statistics>& statistics) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  rocksdb::Options options;
  options.create_if_missing = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(3));
  options.statistics = statistics;
  rocksdb::DB* db;
  Check(rocksdb::DB::Open(options, dir, &db));
  return std::unique_ptr<rocksdb::DB>(db);
}

// put DIR: writes the pairs from stdin.
int Put(rocksdb::DB* db) {
  uint32_t key_length, value_length;
  while (ReadU32(&key_length) && ReadU32(&value_length)) {
    const std::string key = ReadString(key_length);
    Check(db->Put(rocksdb::WriteOptions(), key, ReadString(value_length)));
  }
  return 0;
}

// ingest DIR FILE: ingests a copy of the table after verifying all checksums.
int Ingest(rocksdb::DB* db, const char* file) {
  rocksdb::IngestExternalFileOptions options;
  options.verify_checksums_before_ingest = true;
  Check(db->IngestExternalFile({file}, options));
  return 0;
}

// compact DIR: rewrites all tables.
int Compact(rocksdb::DB* db) {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction =
      rocksdb::BottommostLevelCompaction::kForce;
  Check(db->CompactRange(options, nullptr, nullptr));
  return 0;
}

// scan DIR: prints all pairs.
int Scan(rocksdb::DB* db) {
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(options));
  for (it->SeekToFirst(); it->Valid(); it->Next())
    WritePair(it->key(), it->value());
  Check(it->status());
  return 0;
}

// get DIR: prints how many keys from stdin Get finds, how many Seek finds
// within their prefix, and how many times a table filter ruled out a key for
// Get.
int Get(rocksdb::DB* db, rocksdb::Statistics* statistics) {
  rocksdb::ReadOptions prefix;
  prefix.prefix_same_as_start = true;
  uint64_t got = 0, sought = 0, useful = 0;
  uint32_t length;
  while (ReadU32(&length)) {
    const std::string key = ReadString(length);
    std::string value;
    const uint64_t before =
        statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL);
    const Status s = db->Get(rocksdb::ReadOptions(), key, &value);
    if (!s.IsNotFound()) Check(s);
    useful += statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL) - before;
    got += s.ok();
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(prefix));
    it->Seek(key);
    sought += it->Valid() && it->key() == Slice(key);
    Check(it->status());
  }
  std::printf("%llu %llu %llu\n", static_cast<unsigned long long>(got),
              static_cast<unsigned long long>(sought),
              static_cast<unsigned long long>(useful));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 2 ? argv[1] : "";
  const std::shared_ptr<rocksdb::Statistics> statistics =
      rocksdb::CreateDBStatistics();
  if (argc == 3 || (argc == 4 && command == "ingest")) {
    const std::unique_ptr<rocksdb::DB> db = Open(argv[2], statistics);
    if (argc == 4) return Ingest(db.get(), argv[3]);
    if (command == "put") return Put(db.get());
    if (command == "compact") return Compact(db.get());
    if (command == "scan") return Scan(db.get());
    if (command == "get") return Get(db.get(), statistics.get());
  }
  std::fprintf(stderr,
               "usage: rocksdbtool put DIR | ingest DIR FILE | compact DIR | "
               "scan DIR | get DIR\n");
  return 2;
}
