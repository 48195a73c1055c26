//go:build leveldb && cgo

#include <malloc.h>

#include <atomic>

#include "leveldb/env.h"
#include "leveldb/iterator.h"
#include "leveldb/table.h"
#include "table.h"

using leveldb::Slice;
using leveldb::Status;

namespace leveldb {

// Table's filtered lookup is open to the class of this name only, which is the
// database's caller of it. This one calls it for us.
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

// MemoryFile is a file in memory. Reads return a part of it, as LevelDB's own
// mapped files do. Counting them costs an atomic increment of what no other
// thread uses but on a read.
class MemoryFile : public leveldb::RandomAccessFile {
 public:
  MemoryFile(const char* data, size_t size) : data_(data), size_(size) {}
  Status Read(uint64_t offset, size_t n, Slice* result,
              char* scratch) const override {
    if (offset > size_ || n > size_ - offset)
      return Status::IOError("read beyond the end");
    reads.fetch_add(1, std::memory_order_relaxed);
    *result = Slice(data_ + offset, n);
    return Status::OK();
  }

  mutable std::atomic<int64_t> reads{0};

 private:
  const char* const data_;
  const size_t size_;
};

// An Answer is what a lookup found.
struct Answer {
  Slice key;
  bool found;
};

void Handle(void* arg, const Slice& key, const Slice&) {
  Answer* a = static_cast<Answer*>(arg);
  a->found = key == a->key;
}

}  // namespace

struct ldb_table {
  const ldb_options* options;
  std::unique_ptr<MemoryFile> file;
  std::unique_ptr<leveldb::Table> table;
};

struct ldb_cursor {
  ldb_table* table;
  std::unique_ptr<leveldb::Iterator> it;
};

char* ldb_open(const ldb_options* options, const char* contents, size_t size,
               ldb_table** out) {
  std::unique_ptr<ldb_table> t(new ldb_table);
  t->options = options;
  t->file.reset(new MemoryFile(contents, size));
  leveldb::Table* table = nullptr;
  const Status s =
      leveldb::Table::Open(options->table, t->file.get(), size, &table);
  t->table.reset(table);
  if (s.ok()) *out = t.release();
  return Message(s);
}

void ldb_close(ldb_table* table) { delete table; }

int64_t ldb_reads(const ldb_table* table) { return table->file->reads; }

int64_t ldb_malloced(void) {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

ldb_cursor* ldb_cursor_new(ldb_table* table) {
  ldb_cursor* c = new ldb_cursor;
  c->table = table;
  c->it.reset(table->table->NewIterator(table->options->read));
  return c;
}

void ldb_cursor_free(ldb_cursor* cursor) { delete cursor; }

char* ldb_get(ldb_cursor* cursor, ldb_packed keys, int present) {
  const ldb_table* t = cursor->table;
  for (size_t i = 0; i < keys.n; i++) {
    Answer answer = {At(keys, i), false};
    const Status s = leveldb::TableCache::Get(
        t->table.get(), t->options->read, answer.key, &answer, Handle);
    if (!s.ok()) return Message(s);
    if (answer.found != (present != 0))
      return Wrong<Status>(answer.key, present != 0);
  }
  return nullptr;
}

char* ldb_scan(ldb_cursor* cursor, int backward, size_t* bytes) {
  return Scan(cursor->it.get(), backward != 0, bytes);
}

char* ldb_seek(ldb_cursor* cursor, ldb_packed keys) {
  return Seek(cursor->it.get(), keys);
}
