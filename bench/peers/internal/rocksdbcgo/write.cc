//go:build rocksdb && cgo

#include <dlfcn.h>

#include <string>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"
#include "table.h"

using rocksdb::Slice;
using rocksdb::Status;

namespace {

// Sink is a file that discards what is written to it.
class Sink : public rocksdb::WritableFile {
 public:
  Status Append(const Slice& data) override {
    size_ += data.size();
    return Status::OK();
  }
  Status Close() override { return Status::OK(); }
  Status Flush() override { return Status::OK(); }
  Status Sync() override { return Status::OK(); }
  uint64_t GetFileSize() override { return size_; }

 private:
  uint64_t size_ = 0;
};

// SinkEnv has no other new files than Sinks.
class SinkEnv : public rocksdb::EnvWrapper {
 public:
  SinkEnv() : EnvWrapper(rocksdb::Env::Default()) {}
  const char* Name() const override { return "SinkEnv"; }
  Status NewWritableFile(const std::string&,
                         std::unique_ptr<rocksdb::WritableFile>* file,
                         const rocksdb::EnvOptions&) override {
    file->reset(new Sink);
    return Status::OK();
  }
};

Status WriteTable(const rocksdb::Options& options, const char* file,
                  const rdb_packed& keys, const rdb_packed& values) {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  Status s = writer.Open(file);
  for (size_t i = 0; s.ok() && i < keys.n; i++)
    s = writer.Put(At(keys, i), At(values, i));
  return s.ok() ? writer.Finish() : s;
}

}  // namespace

const char* rdb_version(void) {
  static const std::string version = std::to_string(ROCKSDB_MAJOR) + "." +
                                     std::to_string(ROCKSDB_MINOR) + "." +
                                     std::to_string(ROCKSDB_PATCH);
  return version.c_str();
}

// Only libraries with assertions have points for tests to stop at.
int rdb_asserts(void) {
  return dlsym(RTLD_DEFAULT, "_ZN7rocksdb9SyncPoint11GetInstanceEv") != nullptr;
}

rocksdb::Options TableOptions(const rdb_options& options, rocksdb::Env* env,
                              size_t cache_bytes) {
  rocksdb::BlockBasedTableOptions table;
  if (options.bits_per_key > 0)
    table.filter_policy.reset(
        rocksdb::NewBloomFilterPolicy(options.bits_per_key));
  table.block_size = options.block_size;
  table.block_restart_interval = options.restart_interval;
  if (cache_bytes > 0) {
    table.block_cache = rocksdb::NewLRUCache(cache_bytes);
  } else {
    table.no_block_cache = true;
  }
  rocksdb::Options o;
  o.env = env;
  o.create_if_missing = true;
  o.compression =
      options.snappy ? rocksdb::kSnappyCompression : rocksdb::kNoCompression;
  o.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return o;
}

char* rdb_write(rdb_options options, rdb_packed keys, rdb_packed values) {
  SinkEnv env;
  return Message(
      WriteTable(TableOptions(options, &env, 0), "table", keys, values));
}

char* rdb_build(rdb_options options, rdb_packed keys, rdb_packed values,
                rdb_table** table) {
  std::unique_ptr<rdb_table> t(new rdb_table);
  t->options = options;
  t->env.reset(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  const rocksdb::Options o = TableOptions(options, t->env.get(), 0);
  Status s = WriteTable(o, "/table", keys, values);
  if (!s.ok()) return Message(s);
  rocksdb::DB* opened = nullptr;
  s = rocksdb::DB::Open(o, "/db", &opened);
  const std::unique_ptr<rocksdb::DB> db(opened);
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  if (s.ok()) s = db->IngestExternalFile({"/table"}, ingest);
  if (s.ok()) *table = t.release();
  return Message(s);
}

void rdb_table_free(rdb_table* table) { delete table; }
