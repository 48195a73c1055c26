// ldbtool writes and reads single tables with C++ LevelDB, for the Go package
// in the parent directory. Pairs and keys are length-prefixed, both on standard
// input and on standard output.

#include <memory>
#include <vector>

#include "common.h"
#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "leveldb/iterator.h"
#include "leveldb/options.h"
#include "leveldb/table.h"
#include "leveldb/table_builder.h"

namespace leveldb {

// Table's filtered lookup is accessible only to its friend TableCache, which is
// a class of the database. This class of the same name calls it for us.
class TableCache {
 public:
  static Status Get(Table* table, const ReadOptions& options,
                    const Slice& key, void* arg,
                    void (*handle)(void*, const Slice&, const Slice&)) {
    return table->InternalGet(options, key, arg, handle);
  }
};

}  // namespace leveldb

namespace {

using leveldb::Slice;
using leveldb::Status;

// CountingFile counts the reads of a table's file.
class CountingFile : public leveldb::RandomAccessFile {
 public:
  explicit CountingFile(leveldb::RandomAccessFile* file) : file_(file) {}
  Status Read(uint64_t offset, size_t n, Slice* result,
              char* scratch) const override {
    reads++;
    return file_->Read(offset, n, result, scratch);
  }
  mutable int reads = 0;

 private:
  std::unique_ptr<leveldb::RandomAccessFile> file_;
};

// TableOptions parses the bits per key. Below 0, there is no filter.
leveldb::Options TableOptions(const char* bits) {
  leveldb::Options options;
  options.paranoid_checks = true;
  const int n = std::atoi(bits);
  if (n >= 0) options.filter_policy = leveldb::NewBloomFilterPolicy(n);
  return options;
}

// build OUT bits block_size restart_interval compression: writes a table of the
// pairs from stdin.
int Build(char** args) {
  leveldb::Options options = TableOptions(args[1]);
  options.block_size = std::atoi(args[2]);
  options.block_restart_interval = std::atoi(args[3]);
  options.compression =
      static_cast<leveldb::CompressionType>(std::atoi(args[4]));
  leveldb::WritableFile* file;
  Check(leveldb::Env::Default()->NewWritableFile(args[0], &file));
  leveldb::TableBuilder builder(options, file);
  uint32_t key_length, value_length;
  while (ReadU32(&key_length) && ReadU32(&value_length)) {
    const std::string key = ReadString(key_length);
    builder.Add(key, ReadString(value_length));
  }
  Check(builder.Finish());
  Check(file->Sync());
  Check(file->Close());
  delete file;
  return 0;
}

struct OpenTable {
  std::unique_ptr<CountingFile> file;
  std::unique_ptr<leveldb::Table> table;
};

OpenTable Open(const char* name, const leveldb::Options& options) {
  uint64_t size;
  Check(leveldb::Env::Default()->GetFileSize(name, &size));
  leveldb::RandomAccessFile* file;
  Check(leveldb::Env::Default()->NewRandomAccessFile(name, &file));
  OpenTable t;
  t.file.reset(new CountingFile(file));
  leveldb::Table* table;
  Check(leveldb::Table::Open(options, t.file.get(), size, &table));
  t.table.reset(table);
  return t;
}

// scan FILE bits: prints all pairs forward, then all pairs backward.
int Scan(char** args) {
  const OpenTable t = Open(args[0], TableOptions(args[1]));
  leveldb::ReadOptions read;
  read.verify_checksums = true;
  std::unique_ptr<leveldb::Iterator> it(t.table->NewIterator(read));
  for (it->SeekToFirst(); it->Valid(); it->Next())
    WritePair(it->key(), it->value());
  Check(it->status());
  for (it->SeekToLast(); it->Valid(); it->Prev())
    WritePair(it->key(), it->value());
  Check(it->status());
  return 0;
}

struct Answer {
  Slice key;
  bool found;
};

// Has looks up the key as the database does, filter first.
bool Has(const OpenTable& t, const leveldb::ReadOptions& read,
         const Slice& key) {
  Answer answer = {key, false};
  Check(leveldb::TableCache::Get(t.table.get(), read, key, &answer,
                                 [](void* arg, const Slice& k, const Slice&) {
                                   Answer* a = static_cast<Answer*>(arg);
                                   a->found = k == a->key;
                                 }));
  return answer.found;
}

// get FILE bits: for each key from stdin, prints whether it is present and the
// number of reads of the lookup.
int Get(char** args) {
  const OpenTable t = Open(args[0], TableOptions(args[1]));
  leveldb::ReadOptions read;
  read.verify_checksums = true;
  read.fill_cache = false;
  uint32_t length;
  while (ReadU32(&length)) {
    const std::string key = ReadString(length);
    const int before = t.file->reads;
    const bool found = Has(t, read, key);
    std::printf("%d %d\n", found, t.file->reads - before);
  }
  return 0;
}

// lookups FILE bits cache_bytes present: reads keys of equal length, all of
// them present or all absent: their number, their length, and the keys. For
// each range from stdin, it looks up the keys from <= i < to, and prints a
// line. If there is a cache, it is filled before. If not, blocks are checked.
int Lookups(char** args) {
  leveldb::Options options = TableOptions(args[1]);
  const size_t cache_bytes = std::strtoull(args[2], nullptr, 10);
  std::unique_ptr<leveldb::Cache> cache;
  if (cache_bytes > 0) cache.reset(leveldb::NewLRUCache(cache_bytes));
  options.block_cache = cache.get();
  const OpenTable t = Open(args[0], options);
  leveldb::ReadOptions read;
  read.verify_checksums = cache == nullptr;
  const std::unique_ptr<leveldb::Iterator> it(t.table->NewIterator(read));
  for (it->SeekToFirst(); it->Valid() && cache != nullptr;) it->Next();
  const bool present = std::atoi(args[3]) != 0;
  uint32_t n, length, from, to;
  if (!ReadU32(&n) || !ReadU32(&length)) return 2;
  const std::string keys = ReadString(n * length);
  while (ReadU32(&from) && ReadU32(&to)) {
    for (uint32_t i = from; i < to; i++) {
      const Slice key(&keys[i * length], length);
      if (Has(t, read, key) != present)
        Check(Status::Corruption(key, "the result of the lookup is wrong"));
    }
    std::printf("done\n");
    std::fflush(stdout);
  }
  return 0;
}

// filter bits n: builds a filter of the first n keys from stdin, and writes its
// length as u32le and its bytes. For each further key, it writes a byte: 1 if
// the filter may contain it, or 0.
int Filter(char** args) {
  const std::unique_ptr<const leveldb::FilterPolicy> policy(
      leveldb::NewBloomFilterPolicy(std::atoi(args[0])));
  std::vector<std::string> keys(std::atoi(args[1]));
  uint32_t length;
  for (std::string& key : keys)
    if (ReadU32(&length)) key = ReadString(length);
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::string filter;
  policy->CreateFilter(slices.data(), slices.size(), &filter);
  WriteU32(filter.size());
  std::fwrite(filter.data(), 1, filter.size(), stdout);
  while (ReadU32(&length))
    std::putchar(policy->KeyMayMatch(ReadString(length), filter));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "version" && argc == 2) {
    std::printf("%d.%d\n", leveldb::kMajorVersion, leveldb::kMinorVersion);
    return 0;
  }
  if (command == "build" && argc == 7) return Build(argv + 2);
  if (command == "scan" && argc == 4) return Scan(argv + 2);
  if (command == "get" && argc == 4) return Get(argv + 2);
  if (command == "lookups" && argc == 6) return Lookups(argv + 2);
  if (command == "filter" && argc == 4) return Filter(argv + 2);
  std::fprintf(stderr,
               "usage: ldbtool version | build OUT bits block_size "
               "restart_interval compression | scan FILE bits | get FILE bits "
               "| lookups FILE bits cache_bytes present | filter bits n\n");
  return 2;
}
