//go:build leveldb && cgo

#include <cstdlib>
#include <cstring>
#include <string>

#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/table_builder.h"
#include "table.h"

using leveldb::Slice;
using leveldb::Status;

namespace {

// MemoryFile keeps what is written to it, or discards it.
class MemoryFile : public leveldb::WritableFile {
 public:
  explicit MemoryFile(bool keep) : keep_(keep) {}
  Status Append(const Slice& data) override {
    if (keep_) contents.append(data.data(), data.size());
    return Status::OK();
  }
  Status Close() override { return Status::OK(); }
  Status Flush() override { return Status::OK(); }
  Status Sync() override { return Status::OK(); }

  std::string contents;

 private:
  const bool keep_;
};

}  // namespace

int ldb_major_version(void) { return leveldb::kMajorVersion; }
int ldb_minor_version(void) { return leveldb::kMinorVersion; }

ldb_options* ldb_options_new(int bits_per_key, size_t block_size,
                             int restart_interval, int snappy,
                             size_t cache_bytes) {
  ldb_options* o = new ldb_options;
  o->policy.reset(leveldb::NewBloomFilterPolicy(bits_per_key));
  o->table.filter_policy = o->policy.get();
  o->table.block_size = block_size;
  o->table.block_restart_interval = restart_interval;
  o->table.compression =
      snappy ? leveldb::kSnappyCompression : leveldb::kNoCompression;
  if (cache_bytes > 0) o->cache.reset(leveldb::NewLRUCache(cache_bytes));
  o->table.block_cache = o->cache.get();
  o->read.verify_checksums = cache_bytes == 0;
  return o;
}

void ldb_options_free(ldb_options* options) { delete options; }

char* ldb_write(const ldb_options* options, ldb_packed keys, ldb_packed values,
                char** out, size_t* size) {
  MemoryFile file(out != nullptr);
  leveldb::TableBuilder builder(options->table, &file);
  for (size_t i = 0; i < keys.n; i++) builder.Add(At(keys, i), At(values, i));
  const Status s = builder.Finish();
  if (s.ok() && out != nullptr) {
    *size = file.contents.size();
    *out = static_cast<char*>(std::malloc(*size));
    if (*out == nullptr) return strdup("out of memory");
    std::memcpy(*out, file.contents.data(), *size);
  }
  return Message(s);
}
