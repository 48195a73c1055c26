//go:build rocksdb && cgo

#include "rocksdb/db.h"
#include "rocksdb/iterator.h"
#include "table.h"

using rocksdb::Status;

struct rdb_reader {
  std::unique_ptr<rocksdb::DB> db;
};

struct rdb_cursor {
  rocksdb::DB* db;
  std::unique_ptr<rocksdb::Iterator> it;
  rocksdb::PinnableSlice value;
};

char* rdb_open(rdb_table* table, size_t cache_bytes, rdb_reader** reader) {
  rocksdb::DB* db = nullptr;
  const Status s = rocksdb::DB::OpenForReadOnly(
      TableOptions(table->options, table->env.get(), cache_bytes), "/db", &db);
  if (!s.ok()) return Message(s);
  *reader = new rdb_reader{std::unique_ptr<rocksdb::DB>(db)};
  return nullptr;
}

void rdb_close(rdb_reader* reader) { delete reader; }

rdb_cursor* rdb_cursor_new(rdb_reader* reader) {
  rdb_cursor* c = new rdb_cursor;
  c->db = reader->db.get();
  c->it.reset(c->db->NewIterator(rocksdb::ReadOptions()));
  return c;
}

void rdb_cursor_free(rdb_cursor* cursor) { delete cursor; }

char* rdb_get(rdb_cursor* cursor, rdb_packed keys, int present) {
  const rocksdb::ReadOptions options;
  rocksdb::ColumnFamilyHandle* const family = cursor->db->DefaultColumnFamily();
  for (size_t i = 0; i < keys.n; i++) {
    cursor->value.Reset();
    const Status s = cursor->db->Get(options, family, At(keys, i),
                                     &cursor->value);
    if (!s.ok() && !s.IsNotFound()) return Message(s);
    if (s.ok() != (present != 0))
      return Wrong<Status>(At(keys, i), present != 0);
  }
  return nullptr;
}

char* rdb_scan(rdb_cursor* cursor, int backward, size_t* bytes) {
  return Scan(cursor->it.get(), backward != 0, bytes);
}

char* rdb_seek(rdb_cursor* cursor, rdb_packed keys) {
  return Seek(cursor->it.get(), keys);
}
